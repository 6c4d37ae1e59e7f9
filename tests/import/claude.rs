//! Claude Code, from its documentation: deny before ask before allow; `X:*` is X and what follows after a
//! blank; a star is any text; a blank and a star at the end may be missing.

use super::second::{About, Says, Second, Spoken, Wild, ignored, matches_wild, parts, sampled, split};
use super::typed::{Style, Typed, spell};

const LOOKS_THROUGH: &[&str] = &["timeout", "time", "nice", "stdbuf", "nohup", "command", "builtin"];
const OVERLOOKS: &[&str] = &["NODE_ENV", "LANG"];

/// Files with one rule a line; the flag says whether it is the user's own, for all projects.
pub(crate) fn read(files: &[(&str, bool)]) -> Second {
    let mut rules = vec![];
    for (file, (text, is_users)) in files.iter().enumerate() {
        let mut says = None;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            says = match line.split('"').nth(1) {
                Some("allow") if line.ends_with('[') => Some(Says::Allow),
                Some("ask") if line.ends_with('[') => Some(Says::Ask),
                Some("deny") if line.ends_with('[') => Some(Says::Deny),
                _ => says,
            };
            let rule = serde_json::from_str::<String>(line.trim_end_matches(','));
            if let (Ok(rule), Some(says)) = (rule, says) {
                let (about, samples) = about(&rule, says, *is_users);
                rules.push(Spoken { at: (file, index + 1), says, about, redirects: false, samples });
            }
        }
    }
    Second {
        rules,
        strictest_wins: true,
        looks_through: LOOKS_THROUGH,
        overlooks: OVERLOOKS,
        redirection_asks: false,
        lost: vec![],
    }
}

fn about(rule: &str, says: Says, is_users: bool) -> (About, Vec<Vec<String>>) {
    let (tool, inside) = match rule.split_once('(') {
        Some((tool, rest)) => (tool, rest.trim_end_matches(')').to_owned()),
        None => (rule, "*".to_owned()),
    };
    match tool {
        "Bash" => bash(inside, says),
        "Read" => {
            let samples = paths(&inside);
            (About::Reads(Box::new(move |path| ignores(&inside, is_users, path))), samples)
        }
        "Edit" => {
            let samples = paths(&inside);
            (About::Writes(Box::new(move |path| ignores(&inside, is_users, path))), samples)
        }
        tool if tool.starts_with("mcp__") && tool != "mcp__*" => {
            let whole = tool.trim_end_matches("__*").to_owned();
            let samples = vec![vec![whole.replace('*', "_x")]];
            let test = move |name: &str| {
                let pattern: Vec<Wild> =
                    whole.chars().map(|c| if c == '*' { Wild::Any } else { Wild::Is(c) }).collect();
                let server = whole.matches("__").count() == 1;
                matches_wild(&pattern, name) || (server && name.starts_with(&format!("{whole}__")))
            };
            (About::Tools(Box::new(test)), samples)
        }
        _ => (About::Other, vec![]),
    }
}

/// A pattern with words for samples: the second word of each tells nothing.
fn bash(inside: String, says: Says) -> (About, Vec<Vec<String>>) {
    if inside == "*" {
        let samples = ["npm test", "ls -la", "frob x", "git push"].map(split).to_vec();
        return (About::Commands(Box::new(|_| true)), samples);
    }
    if inside.is_empty() || [" | ", " && ", " > "].iter().any(|sign| inside.contains(sign)) {
        return (About::Other, vec![]);
    }
    // A rule is compared by its words, so its quotes and its home are put as gsh and the shell have them.
    let inside = inside.replace(" ~/", " /home/dev/").replace(" $HOME/", " /home/dev/");
    // One that names a variable is meant with it.
    let named = inside.split_once(' ').and_then(|(first, rest)| Some((first.split_once('=')?, rest)));
    let (needs, inside) = match named {
        Some(((name, value), rest)) => (Some((name.to_owned(), value.to_owned())), rest.to_owned()),
        None => (None, inside),
    };
    let (body, open) = inside.strip_suffix(":*").map_or((inside.as_str(), false), |body| (body, true));
    let is_wild = body.replace("\\*", "").contains('*');
    let normal =
        |body: &str| split(body).iter().map(|word| spell(word, Style::Plain)).collect::<Vec<_>>().join(" ");
    let normal = if is_wild || body.ends_with(' ') && open {
        body.to_owned()
    } else {
        normal(body).replace('*', "\\*")
    };
    let inside = if open { format!("{normal}:*") } else { normal };
    let samples = match inside.strip_suffix(":*") {
        Some(prefix) => vec![split(prefix), split(&format!("{prefix} x"))],
        None => sampled(inside.trim()),
    };
    let test = move |typed: &Typed| {
        let mut texts = vec![typed.canonical(), typed.doubled()];
        if says != Says::Allow {
            texts.push(typed.bare());
        }
        if typed.wrapper.first().is_some_and(|name| !LOOKS_THROUGH.contains(name))
            && typed.wrapper != ["xargs"]
        {
            texts = texts.iter().map(|text| format!("{} {text}", typed.wrapper.join(" "))).collect();
        }
        let overlooked = |(name, _): &(&str, &str)| says != Says::Allow || OVERLOOKS.contains(name);
        let has_it = needs
            .as_ref()
            .is_none_or(|(name, value)| typed.assignments.iter().any(|(n, v)| n == name && v == value));
        has_it
            && (needs.is_some() || typed.assignments.iter().all(overlooked))
            && texts.iter().any(|text| says_of(&inside, text))
    };
    (About::Commands(Box::new(test)), samples)
}

fn says_of(inside: &str, text: &str) -> bool {
    if let Some(prefix) = inside.strip_suffix(":*") {
        return !prefix.ends_with(' ') && (text == prefix || text.starts_with(&format!("{prefix} ")));
    }
    let mut pattern = vec![];
    let mut chars = inside.chars().peekable();
    while let Some(c) = chars.next() {
        pattern.push(match c {
            '*' => Wild::Any,
            '\\' if matches!(chars.peek(), Some('*' | '\\')) => Wild::Is(chars.next().unwrap_or('\\')),
            c => Wild::Is(c),
        });
    }
    let stars = pattern.iter().filter(|piece| **piece == Wild::Any).count();
    let without = pattern.strip_suffix(&[Wild::Is(' '), Wild::Any]).filter(|_| stars == 1);
    matches_wild(&pattern, text) || without.is_some_and(|before| matches_wild(before, text))
}

/// Whether a pattern for files matches, seen from the project.
fn ignores(pattern: &str, is_users: bool, path: &str) -> bool {
    let (start, rest) = match pattern {
        "*" | "**" => return true,
        _ if pattern.starts_with("//") => (String::new(), pattern[2..].to_owned()),
        _ if pattern.starts_with("~/") => ("/home/dev".to_owned(), pattern[2..].to_owned()),
        _ if pattern.starts_with('/') && is_users => {
            ("/home/dev/.claude".to_owned(), pattern[1..].to_owned())
        }
        _ if pattern.starts_with('/') => ("/home/dev/proj".to_owned(), pattern[1..].to_owned()),
        _ => {
            let rest = pattern.trim_start_matches("./");
            let deep = !rest.trim_end_matches('/').contains('/') && rest == pattern;
            let rest = if deep { format!("**/{rest}") } else { rest.to_owned() };
            ("/home/dev/proj".to_owned(), rest)
        }
    };
    let below = path.strip_prefix(&format!("{start}/"));
    below.is_some_and(|below| ignored(&parts(&rest), &parts(below)))
}

fn paths(pattern: &str) -> Vec<Vec<String>> {
    let plain = pattern
        .trim_end_matches("/**")
        .replace("**/", "a/")
        .replace("[a-z]", "b")
        .replace('*', "x")
        .replace('?', "a");
    let whole = match pattern {
        _ if pattern.starts_with("//") => plain[1..].to_owned(),
        _ if pattern.starts_with("~/") => format!("/home/dev{}", &plain[1..]),
        _ => format!(
            "/home/dev/proj/{}",
            plain.trim_start_matches(['.', '/'].as_slice()).trim_end_matches('/')
        ),
    };
    let whole = if pattern.starts_with('.') && !pattern.starts_with("./") {
        format!("/home/dev/proj/{plain}")
    } else {
        whole
    };
    vec![vec![whole]]
}
