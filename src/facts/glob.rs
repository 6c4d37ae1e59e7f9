//! Path patterns of the shell: matching, and expansion against the machine.

use super::path::normal;
use crate::host::{Host, Node};
use std::path::Path;

/// The most words a pattern may expand to.
const MOST: usize = 2048;

/// What looking at a name costs, in the unit of all expansions.
const NAME: usize = 4;

/// Whether `name` matches a shell pattern in which a backslash protects the next character.
/// `*` and `?` match any character, slashes included: callers match one component at a time.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    // Most patterns differ from most names in their first characters.
    let plain = |byte: &u8| !matches!(byte, b'*' | b'?' | b'[' | b'\\');
    let head = pattern.bytes().take_while(plain).count();
    if pattern.as_bytes().get(..head) != name.as_bytes().get(..head) {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // The usual two-pointer match: on a mismatch go back to the last star and let it eat one more.
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = pattern.get(p).and_then(|_| one(&pattern, p, name.get(n).copied()?));
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
        } else if let Some(next) = step {
            p = next;
            n += 1;
        } else if let Some((at, eaten)) = star {
            p = at + 1;
            n = eaten + 1;
            star = Some((at, n));
        } else {
            return false;
        }
    }
    while pattern.get(p) == Some(&'*') {
        p += 1;
    }
    p == pattern.len()
}

/// The pattern position after the element at `p`, if it matches this character.
fn one(pattern: &[char], p: usize, character: char) -> Option<usize> {
    match pattern.get(p)? {
        '?' => Some(p + 1),
        '[' => bracket(pattern, p, character)
            .map_or_else(|| (character == '[').then_some(p + 1), |(end, hit)| hit.then_some(end)),
        '\\' if p + 1 < pattern.len() => (pattern.get(p + 1) == Some(&character)).then_some(p + 2),
        other => (*other == character).then_some(p + 1),
    }
}

/// A bracket expression: the position after it and whether the character is in it. None when the
/// text is no bracket expression. Classes, equivalence classes and collating symbols are single elements.
fn bracket(pattern: &[char], start: usize, character: char) -> Option<(usize, bool)> {
    let mut p = start + 1;
    let negated = matches!(pattern.get(p), Some('!' | '^'));
    if negated {
        p += 1;
    }
    let first = p;
    let mut hit = false;
    loop {
        let low = *pattern.get(p)?;
        if low == ']' && p > first {
            return Some((p + 1, hit != negated));
        }
        if let Some((end, name)) = named(pattern, p) {
            hit |= match pattern.get(p + 1) {
                Some(':') => in_class(&name, character),
                _ => name.chars().eq([character]),
            };
            p = end;
            continue;
        }
        if pattern.get(p + 1) == Some(&'-') && pattern.get(p + 2).is_some_and(|high| *high != ']') {
            let high = *pattern.get(p + 2)?;
            hit |= (low..=high).contains(&character);
            p += 3;
        } else {
            hit |= low == character;
            p += 1;
        }
    }
}

/// The position after `[:name:]`, `[=x=]` or `[.x.]` inside a bracket expression, and what it names.
fn named(pattern: &[char], start: usize) -> Option<(usize, String)> {
    let kind = *pattern.get(start + 1).filter(|kind| matches!(kind, ':' | '=' | '.'))?;
    if pattern.get(start) != Some(&'[') {
        return None;
    }
    let rest = pattern.get(start + 2..)?;
    let length = rest.windows(2).position(|pair| pair == [kind, ']'])?;
    Some((start + 2 + length + 2, rest.get(..length)?.iter().collect()))
}

fn in_class(name: &str, character: char) -> bool {
    match name {
        "alpha" => character.is_alphabetic(),
        "digit" => character.is_ascii_digit(),
        "alnum" => character.is_alphanumeric(),
        "upper" => character.is_uppercase(),
        "lower" => character.is_lowercase(),
        "space" => character.is_whitespace(),
        "blank" => matches!(character, ' ' | '\t'),
        "punct" => !character.is_alphanumeric() && !character.is_whitespace() && !character.is_control(),
        "print" => !character.is_control(),
        "graph" => !character.is_control() && !character.is_whitespace(),
        "cntrl" => character.is_control(),
        "xdigit" => character.is_ascii_hexdigit(),
        "word" => character.is_alphanumeric() || character == '_',
        "ascii" => character.is_ascii(),
        _ => false,
    }
}

/// Whether a text holds an active wildcard. A `[` that nothing closes is none.
#[must_use]
pub fn is_pattern(text: &str) -> bool {
    let mut escaped = false;
    text.char_indices().any(|(at, character)| {
        let closes = || text.get(at + 2..).is_some_and(|rest| rest.contains(']'));
        let active = !escaped && (matches!(character, '*' | '?') || character == '[' && closes());
        escaped = character == '\\' && !escaped;
        active
    })
}

/// Whether a component matches whatever there is: it names nothing (`*`, `.*`, `.[!.]*`, `[a-z]*`).
#[must_use]
pub fn is_broad(component: &str) -> bool {
    let mut depth = false;
    let mut star = false;
    for character in component.chars() {
        match character {
            '[' => depth = true,
            ']' => depth = false,
            '*' => star = true,
            '?' | '.' => {}
            _ if depth => {}
            _ => return false,
        }
    }
    star
}

/// The text without its protecting backslashes.
#[must_use]
pub fn plain(pattern: &str) -> String {
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            text.extend(characters.next());
        } else {
            text.push(character);
        }
    }
    text
}

/// What bash would make of a pattern, sorted; empty when nothing matches, None past a limit.
///
/// Every name that is looked at is paid for; None as well when one cannot be.
pub(super) fn expand(
    host: &dyn Host,
    cwd: Option<&str>,
    pattern: &str,
    pays: &dyn Fn(usize) -> bool,
) -> Option<Vec<String>> {
    let absolute = pattern.starts_with('/');
    if !absolute {
        cwd?;
    }
    let mut heads = vec![if absolute { "/".to_owned() } else { String::new() }];
    let mut components = pattern.split('/').filter(|part| !part.is_empty()).peekable();
    while let Some(component) = components.next() {
        let last = components.peek().is_none();
        let mut next = Vec::new();
        for head in &heads {
            let looked = step((host, cwd), head, component, &mut next)?;
            pays(looked * NAME).then_some(())?;
        }
        if !last {
            for head in &mut next {
                head.push('/');
            }
        }
        heads = next;
    }
    if pattern.ends_with('/') {
        heads.retain(|head| host.node(Path::new(&full(cwd, head))) == Node::Directory);
        heads.iter_mut().for_each(|head| head.push('/'));
    }
    heads.sort();
    Some(heads)
}

/// Follows one component below `head`; how many names were looked at.
fn step(
    (host, cwd): (&dyn Host, Option<&str>),
    head: &str,
    component: &str,
    next: &mut Vec<String>,
) -> Option<usize> {
    let dir = full(cwd, head);
    if !is_pattern(component) {
        let path = format!("{head}{}", plain(component));
        if host.node(Path::new(&full(cwd, &path))) != Node::Missing {
            next.push(path);
        }
        return Some(1);
    }
    let mut names = host.list(Path::new(&dir)).unwrap_or_default();
    if component.starts_with('.') {
        names.extend([".".to_owned(), "..".to_owned()]);
    }
    let looked = names.len() + 1;
    for name in names {
        let hidden = name.starts_with('.');
        if (!hidden || component.starts_with('.')) && matches(component, &name) {
            next.push(format!("{head}{name}"));
        }
    }
    (next.len() <= MOST).then_some(looked)
}

fn full(cwd: Option<&str>, path: &str) -> String {
    if path.starts_with('/') {
        return normal(path);
    }
    normal(&format!("{}/{path}", cwd.unwrap_or("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_fnmatch() {
        for (pattern, name, expected) in [
            ("*", "abc", true),
            ("a*c", "abc", true),
            ("a*c", "abd", false),
            ("?", "a", true),
            ("?", "", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a]", "b", true),
            ("[]a]", "]", true),
            ("[a", "[a", true),
            ("[[:lower:]]x", "ax", true),
            ("[[:lower:]]x", "Ax", false),
            ("[![:lower:]]", "A", true),
            ("[![:lower:]]", "a", false),
            ("[[:digit:]a-c_]", "b", true),
            ("[[:digit:]a-c_]", "7", true),
            ("[[=e=]]", "e", true),
            ("[[.e.]]", "f", false),
            ("[[:none:]]", "e", false),
            ("[[:]", ":", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("d?v", "dev", true),
            ("*.rs", "main.rs", true),
            ("*.rs", "main.rs.bak", false),
            ("**", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn broad_components_name_nothing() {
        for (component, expected) in [
            ("*", true),
            (".*", true),
            (".[!.]*", true),
            ("[a-z]*", true),
            ("*.tmp", false),
            ("a*", false),
            ("?", false),
        ] {
            assert_eq!(is_broad(component), expected, "{component}");
        }
    }
}
