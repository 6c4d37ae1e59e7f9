//! How much of a program's own `--help` its table knows.

use std::collections::BTreeSet;

use gsh::facts::programs::claims;

use crate::cage::Workshop;
use crate::claims::installed;

/// Programs that agents use most: their tables must know nearly all.
const MOST_USED: &str = "ls cat head tail grep rg find fd sed awk cut sort uniq wc tr tee xargs cp mv rm mkdir rmdir touch ln \
    chmod chown stat file du df ps kill date echo env which basename dirname realpath readlink diff cmp comm tar gzip zip \
    unzip less more man tree jq git docker curl wget ssh scp rsync make gcc python3 node npm cargo pip3";

/// Asks every installed program; whether the tables know enough.
pub(crate) fn run(shop: &Workshop, tells: bool) -> bool {
    let installed = installed();
    let mut asked = 0;
    let mut found: Vec<(f64, String, Vec<String>)> = Vec::new();
    let Ok(mut cage) = shop.cage(None) else { return false };
    for words in claims::names() {
        let (Some(name), Some(known)) = (words.first(), claims::options(&words)) else { continue };
        // Of a subcommand's help each program has another notion.
        let most = MOST_USED.split_whitespace().any(|most| most == *name);
        asked += 1;
        let chosen = tells || most && words.len() == 1 || asked % 5 == 0;
        if !chosen {
            continue;
        }
        if !installed.contains_key(*name) || words.len() > 1 && *name != "git" {
            continue;
        }
        let line = if words.len() > 1 { format!("{} -h", words.join(" ")) } else { format!("{name} --help") };
        let Ok(outcome) = cage.run_for(&line, 8_000) else {
            match shop.cage(None) {
                Ok(new) => cage = new,
                Err(_) => return false,
            }
            continue;
        };
        let told = options(&format!("{}\n{}", outcome.said, outcome.errors));
        if told.len() < 3 {
            continue;
        }
        let known: BTreeSet<&str> = known.into_iter().collect();
        let has = |option: &String| {
            known.contains(option.as_str())
                || option
                    .strip_prefix("--no-")
                    .is_some_and(|rest| known.contains(format!("--{rest}").as_str()))
        };
        let lacking: Vec<String> = told.iter().filter(|option| !has(option)).cloned().collect();
        let share = 1.0 - lacking.len() as f64 / told.len() as f64;
        found.push((share, words.join(" "), lacking));
    }
    found.sort_by(|left, right| left.0.total_cmp(&right.0));
    let median = found.get(found.len() / 2).map_or(1.0, |(share, ..)| *share);
    let most: BTreeSet<&str> = MOST_USED.split_whitespace().collect();
    let poor: Vec<_> =
        found.iter().filter(|(share, name, _)| *share < 0.9 && most.contains(name.as_str())).collect();
    println!(
        "help: {} tables compared, the median knows {:.0} % of the options; {} of the most used below 90 %",
        found.len(),
        median * 100.0,
        poor.len()
    );
    for (share, name, lacking) in found.iter().filter(|(share, ..)| tells && *share < 1.0) {
        println!("    {:3.0} % {name}: {}", share * 100.0, lacking.join(" "));
    }
    for (share, name, lacking) in &poor {
        println!("    most used, {:.0} %: {name}: {}", share * 100.0, lacking.join(" "));
    }
    median >= 0.7 && poor.is_empty()
}

/// The options that a help text names: words behind blanks at the start of a line, and those behind a comma.
fn options(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let mut rest = line.trim_start();
        // Only lines that begin with an option explain one.
        while rest.starts_with('-') {
            let end = rest.find([' ', ',', '=', '[', '\t', '|', '<', '\x1b', ')']).unwrap_or(rest.len());
            let (option, after) = rest.split_at(end);
            let name = option.trim_start_matches('-');
            let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_?".contains(letter));
            if !name.is_empty() && is_name && (option.starts_with("--") || name.len() == 1) {
                found.insert(option.to_owned());
            }
            let next = after.find([',', '|']).map(|at| after.get(at + 1..).unwrap_or_default().trim_start());
            match next {
                Some(next) if after.trim_start().starts_with([',', '|']) || after.len() - next.len() < 24 => {
                    rest = next
                }
                _ => break,
            }
        }
    }
    found
}
