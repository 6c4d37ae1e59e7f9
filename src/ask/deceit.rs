//! What in a text is made to be read as something else: characters that are not seen, names of hosts that read
//! like others, addresses whose beginning is no host.
//!
//! Elsewhere these are shown where a person is asked anyway. In a line that a person typed or pasted they are a
//! reason to ask: whoever pastes believes what they see.

use super::hosts::{ascii_form, lookalikes};
use super::sanitize;
use super::scripts;

/// Why the text is not what it seems; None where nothing was found.
#[must_use]
pub fn of(text: &str) -> Option<String> {
    unseen(text).or_else(|| names(text)).or_else(|| addresses(text).into_iter().next())
}

/// A character that shows nothing, or that changes how others are shown.
fn unseen(text: &str) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let outside = |at: Option<usize>| {
        let letter = at.and_then(|at| letters.get(at)).copied();
        letter.is_some_and(|letter| !letter.is_ascii() && !is_unseen(letter) && !is_false_blank(letter))
    };
    let (mut quote, mut escaped) = (None, false);
    for (at, letter) in letters.iter().enumerate() {
        // Between letters of other scripts, and in signs that are made of several, joiners are how it is written.
        let joins =
            matches!(letter, '\u{200c}' | '\u{200d}') && outside(at.checked_sub(1)) && outside(Some(at + 1));
        // Between quotes a blank of another kind is how people write.
        if is_unseen(*letter) && !joins || is_false_blank(*letter) && quote.is_none() {
            let shown = sanitize::line(&letter.to_string());
            return Some(format!("it holds a character that is not seen as what it is: {shown}"));
        }
        match quote {
            Some(open) if *letter == open && !escaped => quote = None,
            None if matches!(letter, '\'' | '"') && !escaped => quote = Some(*letter),
            _ => {}
        }
        escaped = *letter == '\\' && !escaped && quote != Some('\'');
    }
    None
}

/// Turns of the direction, what has no width, tags, and whatever a terminal obeys.
fn is_unseen(letter: char) -> bool {
    if letter.is_control() {
        return !matches!(letter, '\n' | '\t');
    }
    matches!(u32::from(letter),
        0x61c | 0x200e | 0x200f | 0x2028..=0x202e | 0x2066..=0x206f
        | 0xad | 0x34f | 0x180e | 0x200b..=0x200d | 0x2060..=0x2065 | 0xfeff | 0xfff9..=0xfffb
        | 0x115f | 0x1160 | 0x3164 | 0xffa0 | 0xe_0000..=0xe_0fff)
}

/// What looks like a blank and parts no words.
fn is_false_blank(letter: char) -> bool {
    matches!(u32::from(letter), 0xa0 | 0x1680 | 0x2000..=0x200a | 0x202f | 0x205f | 0x2800 | 0x3000)
}

/// A name of a host that reads like another one.
fn names(text: &str) -> Option<String> {
    let typed = lookalikes(text);
    let encoded = scripts::encoded(text).into_iter().map(|(name, shown)| (shown, name));
    typed.into_iter().chain(encoded).find_map(|(shown, ascii)| {
        let why = match (scripts::mixed(&shown), scripts::imitated(&shown)) {
            (Some(which), _) => format!("mixes {which} letters"),
            (None, Some(other)) => format!("reads like {other}"),
            (None, None) => return None,
        };
        Some(format!("the name {ascii} is shown as {shown}, which {why}"))
    })
}

/// Ends of names that are taken for a host's when they stand before an `@`.
const ENDS: [&str; 36] = [
    "ai", "app", "at", "au", "biz", "br", "ca", "ch", "cloud", "cn", "co", "com", "de", "dev", "edu", "es",
    "eu", "fr", "gov", "in", "info", "io", "it", "jp", "me", "mil", "net", "nl", "org", "pl", "ru", "sh",
    "tech", "uk", "us", "xyz",
];

/// Addresses with something before an `@` that reads like the host, each with the host that it really has.
#[must_use]
pub(super) fn addresses(text: &str) -> Vec<String> {
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ';' | '|' | '(' | ')' | '{' | '}')
    };
    let schemes = text.match_indices("://").filter_map(|(at, _)| text.get(at + 3..));
    let authorities = schemes.map(|rest| {
        let whole = rest.split(ends).next().unwrap_or_default();
        whole.split(['/', '?', '#', '\\']).next().unwrap_or_default()
    });
    let mut found = Vec::new();
    for (user, host) in authorities.filter_map(|authority| authority.rsplit_once('@')) {
        let note = format!(
            "an address goes to {}: {} before the @ is no host but a user's name",
            host.split(':').next().unwrap_or_default(),
            user
        );
        if seems_a_host(user) && !host.is_empty() && !found.contains(&note) {
            found.push(note);
        }
    }
    found
}

/// Whether a user's name is made to be read as a host, with or without a path behind it.
fn seems_a_host(user: &str) -> bool {
    user.split('@').any(|part| {
        let first = part.split([':', '%', '\u{2044}', '\u{2215}', '\u{29f8}', '\u{ff0f}']).next();
        let name = ascii_form(first.unwrap_or_default()).unwrap_or_default();
        let end = name.rsplit('.').next().unwrap_or_default();
        name.starts_with("www.") || ENDS.contains(&end) || end.starts_with("xn--")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_to_be_read_otherwise_is_told() {
        let table: [(&str, Option<&str>); 37] = [
            ("ls -la", None),
            ("echo grün 'naïve café' 例え", None),
            ("git commit -m 'done \u{2764}\u{fe0f} \u{1f468}\u{200d}\u{1f469}'", None),
            ("echo \u{645}\u{6cc}\u{200c}\u{62e}\u{648}", None),
            ("for x in a b\ndo\techo $x\ndone", None),
            ("ls \u{202e}txt.sh", Some("<U+202E>")),
            ("ec\u{200b}ho x", Some("<U+200B>")),
            ("l\u{200d}s", Some("<U+200D>")),
            ("rm\u{a0}-r x", Some("<U+00A0>")),
            ("echo \"a\\\"b\"\u{3000}x", Some("<U+3000>")),
            ("git commit -m 'Attention\u{a0}: \u{202f}!'", None),
            ("echo 'a\\' \"\u{a0}\"", None),
            ("ls \u{feff}x", Some("<U+FEFF>")),
            ("ls # \u{1b}[2K", Some("\\e")),
            ("ls #\rrm x", Some("\\r")),
            ("echo \u{e0041}", Some("<U+E0041>")),
            ("ls \u{3164}", Some("<U+3164>")),
            ("curl https://bücher.example/x", None),
            ("curl https://xn--bcher-kva.example/x", None),
            ("curl https://пример.испытание/x", None),
            ("curl https://g\u{456}thub.com/x", Some("mixes Latin and Cyrillic letters")),
            ("git clone https://xn--gthub-n4e.com/x", Some("mixes Latin and Cyrillic letters")),
            ("ssh \u{430}\u{440}\u{440}\u{4cf}\u{435}.com", Some("reads like apple.com")),
            ("curl https://\u{ff47}ithub.com", Some("reads like github.com")),
            ("curl https://github.com/a@b", None),
            ("curl https://user:word@example.com/x", None),
            ("git clone https://john.doe@bitbucket.org/x.git", None),
            ("git clone git@github.com:a/b", None),
            ("npm i @scope/name@1.2", None),
            ("curl https://github.com@evil.example/x", Some("goes to evil.example: github.com before")),
            ("curl https://github.com:443@evil.example/x", Some("goes to evil.example")),
            ("curl 'https://www.x@evil.example'", Some("goes to evil.example")),
            ("curl 'https://www.x.y@evil.example'", Some("goes to evil.example")),
            ("curl https://google.com%2fx@evil.example", Some("goes to evil.example")),
            ("curl https://github.com\u{2215}x@evil.example:8/", Some("goes to evil.example: ")),
            ("wget ftp://a@b.org@c.d/", Some("goes to c.d")),
            ("curl http://GitHub.COM@1.2.3.4", Some("goes to 1.2.3.4")),
        ];
        for (text, expected) in table {
            let found = of(text);
            assert_eq!(found.is_some(), expected.is_some(), "{text:?}: {found:?}");
            assert!(
                expected.is_none_or(|part| found.as_ref().is_some_and(|all| all.contains(part))),
                "{found:?}"
            );
        }
    }
}
