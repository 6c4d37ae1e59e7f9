//! `${name#pattern}` and its kin.

use super::arg::Part;
use super::expand::unset;
use super::glob;
use super::state::{Value, is_number};

/// Longer values are not edited, nor by longer operands: where a pattern may end is tried from place to place.
const LONGEST: usize = 1024;

/// What an edit may cost: the square of the value's length, for it is matched from place to place.
pub(super) fn cost(value: Option<&Value>, operand: &str) -> usize {
    match value {
        Some(Value::Text(arg)) if arg.length() <= LONGEST => {
            arg.length() * (arg.length() + operand.len().min(LONGEST)) / 8
        }
        _ => 0,
    }
}

/// `${name#pattern}` and its kin on a value that is known; else a hole.
pub(super) fn edited(value: Option<&Value>, operator: &str, operand: &str) -> Vec<Part> {
    let text = match value {
        Some(Value::Text(arg)) => arg.text().filter(|text| text.len().max(operand.len()) <= LONGEST),
        _ => None,
    };
    text.and_then(|text| edit(text, operator, operand)).map_or_else(unset, |text| vec![Part::Text(text)])
}

fn edit(text: &str, operator: &str, operand: &str) -> Option<String> {
    if operand.contains(['$', '`']) {
        return None;
    }
    let ends = || text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len()));
    let cut_front = |at: &usize| text.get(..*at).is_some_and(|head| glob::matches(operand, head));
    let cut_back = |at: &usize| text.get(*at..).is_some_and(|tail| glob::matches(operand, tail));
    match operator {
        "#" => Some(ends().find(cut_front).map_or(text, |at| text.get(at..).unwrap_or("")).to_owned()),
        "##" => Some(ends().rfind(cut_front).map_or(text, |at| text.get(at..).unwrap_or("")).to_owned()),
        "%" => Some(ends().rfind(cut_back).map_or(text, |at| text.get(..at).unwrap_or("")).to_owned()),
        "%%" => Some(ends().find(cut_back).map_or(text, |at| text.get(..at).unwrap_or("")).to_owned()),
        "^^" if operand.is_empty() => Some(text.to_uppercase()),
        ",," if operand.is_empty() => Some(text.to_lowercase()),
        ":" => substring(text, operand),
        "/" | "//" => replaced(text, operator, operand),
        _ => None,
    }
}

fn substring(text: &str, operand: &str) -> Option<String> {
    let (offset, length) = operand.split_once(':').map_or((operand, None), |(a, b)| (a, Some(b)));
    if !is_number(offset.trim()) || length.is_some_and(|length| !is_number(length.trim())) {
        return None;
    }
    let characters: Vec<char> = text.chars().collect();
    let count = i64::try_from(characters.len()).ok()?;
    let place = |number: i64| if number < 0 { count + number } else { number.min(count) };
    let start = place(offset.trim().parse().ok()?);
    let end = match length {
        Some(length) => {
            let length: i64 = length.trim().parse().ok()?;
            if length < 0 { count + length } else { start.checked_add(length)?.min(count) }
        }
        None => count,
    };
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    Some(characters.get(start..end.max(start))?.iter().collect())
}

fn replaced(text: &str, operator: &str, operand: &str) -> Option<String> {
    let (pattern, with) = operand.split_once('/').unwrap_or((operand, ""));
    if glob::is_pattern(pattern)
        || pattern.is_empty()
        || pattern.starts_with(['#', '%'])
        || with.contains('&')
    {
        return None;
    }
    let (pattern, with) = (glob::plain(pattern), glob::plain(with));
    Some(if operator == "//" { text.replace(&pattern, &with) } else { text.replacen(&pattern, &with, 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_as_bash() {
        for (text, operator, operand, expected) in [
            ("/home/dev", "##", "*/", Some("dev")),
            ("/home/dev", "#", "*/", Some("home/dev")),
            ("a.tar.gz", "%", ".*", Some("a.tar")),
            ("a.tar.gz", "%%", ".*", Some("a")),
            ("/home/dev", ":", "0:5", Some("/home")),
            ("/home/dev", ":", " -3", Some("dev")),
            ("aXbX", "/", "X/-", Some("a-bX")),
            ("aXbX", "//", "X/-", Some("a-b-")),
            ("aXb", "//", "X", Some("ab")),
            ("a", "/", "*/b", None),
            ("abc", "^^", "", Some("ABC")),
            ("a", "@", "P", None),
        ] {
            assert_eq!(edit(text, operator, operand).as_deref(), expected, "{text} {operator}{operand}");
        }
    }
}
