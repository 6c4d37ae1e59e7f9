//! Codex, Gemini CLI, opencode and Cursor, each from its documentation.

use super::second::{About, Says, Second, Spoken, Wild, ignored, matches_wild, parts, sampled, split};
use super::typed::Typed;

fn second(rules: Vec<Spoken>, strictest_wins: bool) -> Second {
    Second {
        rules,
        strictest_wins,
        looks_through: &[],
        overlooks: &[],
        redirection_asks: false,
        lost: vec![],
    }
}

/// The text that is compared where nothing is looked through.
fn texts(typed: &Typed, says: Says) -> Vec<String> {
    let before = typed.assignments.iter().map(|(name, value)| format!("{name}={value} "));
    let before = before.chain(typed.wrapper.iter().map(|word| format!("{word} "))).collect::<String>();
    let mut texts = vec![format!("{before}{}", typed.canonical())];
    if says != Says::Allow {
        texts.push(format!("{before}{}", typed.bare()));
    }
    texts
}

/// The words of a command as Codex sees them.
fn words(typed: &Typed) -> Option<Vec<String>> {
    if !typed.assignments.is_empty() {
        return None;
    }
    let mut words: Vec<String> = typed.wrapper.iter().map(|word| (*word).to_owned()).collect();
    let mut own = typed.argv.clone();
    own.first_mut()?.insert_str(0, typed.folder);
    words.extend(own);
    words.extend(typed.glob.map(str::to_owned));
    Some(words)
}

/// Codex: the first words, each one of those at its place; the strictest holds.
pub(crate) fn codex(files: &[(&str, bool)]) -> Second {
    let mut rules = vec![];
    for (file, (text, _)) in files.iter().enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("prefix_rule(")) {
            let end = lines.iter().skip(index).position(|line| line.ends_with(')')).unwrap_or_default();
            let statement = lines[index..=index + end].concat();
            let argument = |name: &str| {
                let rest = statement.split_once(&format!("{name}="))?.1;
                let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
                stream.next()?.ok()
            };
            let Some(pattern) = argument("pattern") else { continue };
            let places: Vec<Vec<String>> = pattern
                .as_array()
                .into_iter()
                .flatten()
                .map(|place| match place {
                    serde_json::Value::Array(words) => {
                        words.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
                    }
                    word => vec![word.as_str().unwrap_or_default().to_owned()],
                })
                .collect();
            let says = match argument("decision").as_ref().and_then(|word| word.as_str()) {
                Some("forbidden") => Says::Deny,
                Some("prompt") => Says::Ask,
                _ => Says::Allow,
            };
            let pick = |at: usize| {
                places.iter().map(|words| words[at.min(words.len() - 1)].clone()).collect::<Vec<_>>()
            };
            let samples = vec![pick(0), pick(1), [pick(0), vec!["x".to_owned()]].concat()];
            let test = move |typed: &Typed| {
                words(typed).is_some_and(|words| {
                    places.len() <= words.len()
                        && places.iter().zip(&words).all(|(place, word)| place.contains(word))
                })
            };
            rules.push(Spoken {
                at: (file, index + 1),
                says,
                about: About::Commands(Box::new(test)),
                redirects: false,
                samples,
            });
        }
    }
    second(rules, true)
}

/// Gemini CLI: prefixes to the end of a word, expressions anchored at their beginning; the highest priority
/// holds, and a redirection turns an allow into a question.
pub(crate) fn gemini(files: &[(&str, bool)]) -> Second {
    let mut rules: Vec<(u32, Spoken)> = vec![];
    for (file, (text, _)) in files.iter().enumerate() {
        let starts: Vec<usize> =
            text.lines().enumerate().filter(|(_, line)| *line == "[[rule]]").map(|(at, _)| at).collect();
        for start in starts {
            let block: Vec<&str> =
                text.lines().skip(start + 1).take_while(|line| line.contains('=')).collect();
            let value = |name: &str| {
                let line = block.iter().find(|line| line.starts_with(&format!("{name} =")))?;
                serde_json::from_str::<serde_json::Value>(line.split_once('=')?.1.trim()).ok()
            };
            let word = |name: &str| value(name).and_then(|value| value.as_str().map(str::to_owned));
            let says = match word("decision").as_deref() {
                Some("deny") => Says::Deny,
                Some("ask_user") => Says::Ask,
                _ => Says::Allow,
            };
            // Decided here in the default mode, with a terminal, by no helper.
            let holds = value("modes").is_none_or(|modes| modes.to_string().contains("\"default\""))
                && value("interactive").is_none_or(|truth| truth == true);
            let (about, samples) = gemini_about(&value, says, holds);
            let priority = value("priority").and_then(|value| value.as_u64()).unwrap_or_default();
            let redirects = value("allowRedirection").is_some_and(|truth| truth == true);
            let spoken = Spoken { at: (file, start + 1), says, about, redirects, samples };
            rules.push((u32::try_from(priority).unwrap_or_default(), spoken));
        }
    }
    rules.sort_by_key(|(priority, rule)| (*priority, rule.says));
    Second { redirection_asks: true, ..second(rules.into_iter().map(|(_, rule)| rule).collect(), false) }
}

fn gemini_about(
    value: &dyn Fn(&str) -> Option<serde_json::Value>,
    says: Says,
    holds: bool,
) -> (About, Vec<Vec<String>>) {
    if let (Some(server), Some(tool)) = (value("mcpName"), value("toolName")) {
        let name =
            format!("mcp__{}__{}", server.as_str().unwrap_or_default(), tool.as_str().unwrap_or_default());
        let samples = vec![vec![name.clone()]];
        return (About::Tools(Box::new(move |tool| tool == name)), samples);
    }
    let prefixes: Vec<String> = match value("commandPrefix") {
        Some(serde_json::Value::Array(items)) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        Some(item) => item.as_str().map(str::to_owned).into_iter().collect(),
        None => vec![],
    };
    // One with alternatives is only written out here.
    let regex = value("commandRegex").and_then(|regex| regex.as_str().map(str::to_owned));
    let starts: Vec<String> = match regex.as_deref() {
        Some("git (push|reset) .*") => vec!["git push ".to_owned(), "git reset ".to_owned()],
        Some(regex) => vec![regex.trim_end_matches(".*").to_owned()],
        None => vec![],
    };
    let mut samples: Vec<Vec<String>> = prefixes.iter().chain(&starts).map(|text| split(text)).collect();
    samples.extend(prefixes.iter().chain(&starts).map(|text| split(&format!("{text} x"))));
    let test = move |typed: &Typed| {
        let of_prefix = |text: &String| {
            prefixes.iter().any(|prefix| {
                text == prefix
                    || text.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.starts_with([' ', '"']))
            })
        };
        holds
            && texts(typed, says)
                .iter()
                .any(|text| of_prefix(text) || starts.iter().any(|start| text.starts_with(start.as_str())))
    };
    (About::Commands(Box::new(test)), samples)
}

/// opencode: wildcards over the text of a command; the last that matches holds. A project's file is laid over
/// the user's: a key that is there keeps its place.
pub(crate) fn opencode(files: &[(&str, bool)]) -> Second {
    let mut found: Vec<(String, Spoken)> = vec![];
    for (file, (text, _)) in files.iter().enumerate() {
        let mut tool = String::new();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('"').collect();
            if let [_, key, _] = words[..]
                && line.ends_with('{')
            {
                tool = key.to_owned();
            }
            let [_, key, _, action, _] = words[..] else { continue };
            let says = match action {
                "allow" => Says::Allow,
                "ask" => Says::Ask,
                _ => Says::Deny,
            };
            let key = key.to_owned();
            let (about, samples) = if tool == "bash" {
                opencode_bash(&key, says)
            } else if key == "webfetch" {
                (About::Tools(Box::new(|name: &str| name == "webfetch")), vec![vec!["webfetch".to_owned()]])
            } else {
                (About::Writes(Box::new(|_: &str| true)), vec![vec!["/home/dev/proj/src/new.rs".to_owned()]])
            };
            let spoken = Spoken { at: (file, index + 1), says, about, redirects: false, samples };
            let key = format!("{tool} {key}");
            match found.iter().position(|(known, _)| *known == key) {
                Some(at) => found[at] = (key, spoken),
                None => found.push((key, spoken)),
            }
        }
    }
    second(found.into_iter().map(|(_, rule)| rule).collect(), false)
}

fn opencode_bash(key: &str, says: Says) -> (About, Vec<Vec<String>>) {
    let samples = if key == "*" {
        ["npm test", "ls -la", "frob x"].map(split).to_vec()
    } else {
        sampled(&key.replace('?', "x"))
    };
    let pattern: Vec<Wild> = key
        .chars()
        .map(|c| match c {
            '*' => Wild::Any,
            '?' => Wild::One,
            c => Wild::Is(c),
        })
        .collect();
    let test = move |typed: &Typed| {
        let without = pattern.strip_suffix(&[Wild::Is(' '), Wild::Any]);
        texts(typed, says).iter().any(|text| {
            matches_wild(&pattern, text) || without.is_some_and(|before| matches_wild(before, text))
        })
    };
    (About::Commands(Box::new(test)), samples)
}

/// Cursor: the first word, with wildcards; refusals before allows.
pub(crate) fn cursor(files: &[(&str, bool)]) -> Second {
    let mut rules = vec![];
    for (file, (text, is_users)) in files.iter().enumerate() {
        let mut says = None;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            says = match line.split('"').nth(1) {
                Some("allow" | "terminalAllowlist" | "mcpAllowlist") if line.ends_with('[') => {
                    Some(Says::Allow)
                }
                Some("deny") if line.ends_with('[') => Some(Says::Deny),
                _ => says,
            };
            let rule = serde_json::from_str::<String>(line.trim_end_matches(','));
            let (Ok(rule), Some(says)) = (rule, says) else { continue };
            let (about, samples) = cursor_about(&rule, *is_users);
            rules.push(Spoken { at: (file, index + 1), says, about, redirects: false, samples });
        }
    }
    second(rules, true)
}

fn cursor_about(rule: &str, is_users: bool) -> (About, Vec<Vec<String>>) {
    let Some((tool, inside)) =
        rule.split_once('(').map(|(tool, rest)| (tool, rest.trim_end_matches(')').to_owned()))
    else {
        if let Some((server, tool)) = rule.split_once(':') {
            let (name, all) = (format!("mcp__{server}__{}", tool.trim_matches('*')), tool == "*");
            let samples = vec![vec![format!("{name}x")]];
            return (
                About::Tools(Box::new(move |tool| tool == name || (all && tool.starts_with(&name)))),
                samples,
            );
        }
        let text = rule.to_owned();
        return (
            About::Commands(Box::new(move |typed| texts(typed, Says::Allow).contains(&text))),
            vec![split(rule)],
        );
    };
    match tool {
        "Shell" => {
            let (first, more) = inside
                .split_once(' ')
                .map_or((inside.clone(), None), |(first, more)| (first.to_owned(), Some(more.to_owned())));
            let samples = sampled(&inside.replace('?', "x"))
                .into_iter()
                .flat_map(|words| [words.clone(), [words, vec!["x".to_owned()]].concat()])
                .collect();
            let test = move |typed: &Typed| {
                let pattern: Vec<Wild> = first
                    .chars()
                    .map(|c| match c {
                        '*' => Wild::Any,
                        '?' => Wild::One,
                        c => Wild::Is(c),
                    })
                    .collect();
                let all = texts(typed, Says::Allow);
                let mut words = all[0].split(' ');
                let is_first = words.next().is_some_and(|word| matches_wild(&pattern, word));
                is_first && more.as_deref().is_none_or(|more| words.next() == Some(more))
            };
            (About::Commands(Box::new(test)), samples)
        }
        "Read" | "Write" => {
            let plain = inside.trim_end_matches("/**").replace("**/", "a/").replace('*', "x");
            let samples = vec![vec![format!("/home/dev/proj/{plain}")]];
            let test = move |path: &str| {
                let deep = if inside.contains('/') { inside.clone() } else { format!("**/{inside}") };
                path.strip_prefix("/home/dev/proj/")
                    .is_some_and(|below| ignored(&parts(&deep), &parts(below)))
            };
            let _ = is_users;
            (
                if tool == "Read" { About::Reads(Box::new(test)) } else { About::Writes(Box::new(test)) },
                samples,
            )
        }
        "Mcp" => {
            let name = format!("mcp__{}", inside.replace(", ", "__"));
            let samples = vec![vec![name.clone()]];
            (About::Tools(Box::new(move |tool| tool == name)), samples)
        }
        _ => (About::Other, vec![]),
    }
}
