//! Brace expansion: `{a,b}` and `{1..9}`, before every other expansion.

/// A character of a word, or a place that a later expansion fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// A character, with whether quotes protect it.
    Char(char, bool),
    /// The piece with this index.
    Piece(usize),
}

/// The most words that one word may expand to.
const MOST: usize = 256;

/// The most opening braces of one word that are tried: for each one the rest of the word is looked through.
const BRACES: usize = 64;

/// Every word that the units expand to, in order; None when there are too many.
pub(super) fn expand(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let opening = units.iter().filter(|unit| **unit == Unit::Char('{', false)).count();
    if opening > BRACES { None } else { expanded(units) }
}

fn expanded(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let Some(found) = find(units) else { return Some(vec![units.to_vec()]) };
    let (start, end, choices) = found;
    let tails = expanded(units.get(end..).unwrap_or_default())?;
    let mut words = Vec::new();
    for choice in choices {
        for middle in expanded(&choice)? {
            for tail in &tails {
                let mut word = units.get(..start).unwrap_or_default().to_vec();
                word.extend(middle.iter().copied());
                word.extend(tail.iter().copied());
                words.push(word);
                if words.len() > MOST {
                    return None;
                }
            }
        }
    }
    Some(words)
}

/// The words of an unquoted text with its braces expanded; itself when they are too many.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let units: Vec<Unit> = text.chars().map(|character| Unit::Char(character, false)).collect();
    let text_of = |units: &Vec<Unit>| -> String {
        let characters = units.iter().filter_map(|unit| match unit {
            Unit::Char(character, _) => Some(*character),
            Unit::Piece(_) => None,
        });
        characters.collect()
    };
    expand(&units).map_or_else(|| vec![text.to_owned()], |words| words.iter().map(text_of).collect())
}

/// The first group that expands: where it starts, where it ends, its choices.
fn find(units: &[Unit]) -> Option<(usize, usize, Vec<Vec<Unit>>)> {
    for start in 0..units.len() {
        if units.get(start) != Some(&Unit::Char('{', false)) {
            continue;
        }
        let Some((end, commas)) = closing(units, start) else { continue };
        let body = units.get(start + 1..end - 1)?;
        if !commas.is_empty() {
            return Some((start, end, split(units, start + 1, end - 1, &commas)));
        }
        if let Some(choices) = sequence(body) {
            return Some((start, end, choices));
        }
    }
    None
}

/// The position after the matching brace, and the commas of its own level.
fn closing(units: &[Unit], start: usize) -> Option<(usize, Vec<usize>)> {
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (index, unit) in units.iter().enumerate().skip(start) {
        match unit {
            Unit::Char('{', false) => depth += 1,
            Unit::Char('}', false) => {
                depth -= 1;
                if depth == 0 {
                    return Some((index + 1, commas));
                }
            }
            Unit::Char(',', false) if depth == 1 => commas.push(index),
            _ => {}
        }
    }
    None
}

fn split(units: &[Unit], start: usize, end: usize, commas: &[usize]) -> Vec<Vec<Unit>> {
    let mut choices = Vec::new();
    let mut from = start;
    for &comma in commas.iter().chain(std::iter::once(&end)) {
        choices.push(units.get(from..comma).unwrap_or_default().to_vec());
        from = comma + 1;
    }
    choices
}

/// `a..b` and `1..9..2`.
fn sequence(body: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let text: String = body
        .iter()
        .map(|unit| match unit {
            Unit::Char(character, false) => Some(*character),
            _ => None,
        })
        .collect::<Option<String>>()?;
    let mut ends = text.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() {
        return None;
    }
    let word = |text: String| text.chars().map(|character| Unit::Char(character, true)).collect();
    let step: i64 = step.map_or(Some(1), |step| step.parse().ok())?;
    let step = step.unsigned_abs().max(1);
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let width = if padded(text.split("..").next()?) || padded(text.split("..").nth(1)?) {
            text.split("..").take(2).map(str::len).max().unwrap_or(0)
        } else {
            0
        };
        return Some(numbers(first, last, step)?.map(|number| word(format!("{number:0width$}"))).collect());
    }
    let single = |text: &str| {
        let mut characters = text.chars();
        characters.next().filter(|c| c.is_ascii_alphabetic() && characters.next().is_none())
    };
    let (first, last) = (single(first)?, single(last)?);
    let letters = numbers(i64::from(u32::from(first)), i64::from(u32::from(last)), step)?;
    Some(
        letters
            .filter_map(|code| u32::try_from(code).ok().and_then(char::from_u32))
            .map(|letter| word(letter.to_string()))
            .collect(),
    )
}

/// Whether a number is written with leading zeros.
fn padded(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() > 1 && digits.starts_with('0')
}

/// The numbers from one end to the other, at most [`MOST`].
fn numbers(first: i64, last: i64, step: u64) -> Option<impl Iterator<Item = i64>> {
    let count = usize::try_from(first.abs_diff(last) / step).ok()? + 1;
    let step = i64::try_from(step).ok()? * if first <= last { 1 } else { -1 };
    (count <= MOST).then(|| (0..count).filter_map(move |i| first.checked_add(step * i64::try_from(i).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_bash_expands() {
        for (word, expected) in [
            ("a", vec!["a"]),
            ("{a,b}", vec!["a", "b"]),
            ("x{a,b}y", vec!["xay", "xby"]),
            ("{a,b}{1,2}", vec!["a1", "a2", "b1", "b2"]),
            ("{a,{b,c}}", vec!["a", "b", "c"]),
            ("{a}", vec!["{a}"]),
            ("{}", vec!["{}"]),
            ("{a,}", vec!["a", ""]),
            ("{1..3}", vec!["1", "2", "3"]),
            ("{3..1}", vec!["3", "2", "1"]),
            ("{01..03}", vec!["01", "02", "03"]),
            ("{1..9..4}", vec!["1", "5", "9"]),
            ("{a..c}", vec!["a", "b", "c"]),
            ("{a..", vec!["{a.."]),
            ("/etc{,.bak}", vec!["/etc", "/etc.bak"]),
        ] {
            assert_eq!(words(word), expected, "{word}");
        }
    }
}
