//! Names in the form that servers know (`xn--…`), as they would be shown, and labels of more than one script.

use super::hosts::{BASE, FIRST, LAST, adapted, ascii_form};

/// Each name of a text with a label in servers' form, with what it would be shown as, once.
pub(super) fn encoded(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')));
    for name in names.map(|name| name.trim_matches(['.', '-'])) {
        let known = found.iter().any(|(known, _)| known == name);
        let (false, Some(shown)) = (known, shown(name)) else { continue };
        // Only what leads back to it is its meaning.
        if ascii_form(&shown).is_some_and(|form| form.eq_ignore_ascii_case(name)) {
            found.push((name.to_owned(), shown));
        }
    }
    found
}

fn shown(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    if !lower.split('.').any(|label| label.starts_with("xn--")) {
        return None;
    }
    let labels = lower.split('.').map(|label| match label.strip_prefix("xn--") {
        Some(code) => decoded(code),
        None => Some(label.to_owned()),
    });
    labels.collect::<Option<Vec<_>>>().map(|labels| labels.join("."))
}

/// RFC 3492 for one label, back.
fn decoded(code: &str) -> Option<String> {
    let (basic, digits) = code.rsplit_once('-').unwrap_or(("", code));
    let mut letters: Vec<char> = basic.chars().collect();
    let (mut next, mut at, mut bias) = (128_u32, 0_u32, 72_u32);
    let mut digits = digits.chars().peekable();
    while digits.peek().is_some() {
        let (before, mut weight, mut position) = (at, 1_u32, BASE);
        loop {
            let digit = digits.next()?.to_digit(36)?;
            // Letters stand for 0 to 25, and digits for what follows.
            let digit = if digit < 10 { digit + 26 } else { digit - 10 };
            at = at.checked_add(digit.checked_mul(weight)?)?;
            let threshold = position.saturating_sub(bias).clamp(FIRST, LAST);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(BASE - threshold)?;
            position = position.checked_add(BASE)?;
        }
        let count = u32::try_from(letters.len()).ok()?.checked_add(1)?;
        bias = adapted(at - before, count, before == 0);
        next = next.checked_add(at / count)?;
        at %= count;
        letters.insert(usize::try_from(at).ok()?, char::from_u32(next)?);
        at += 1;
    }
    Some(letters.into_iter().collect())
}

/// Two alphabets that share the looks of letters, in one label of a name.
pub(super) fn mixed(name: &str) -> Option<&'static str> {
    let mixes = |label: &str| {
        let has = |range: std::ops::RangeInclusive<char>| label.chars().any(|c| range.contains(&c));
        let latin = label.chars().any(|c| c.is_ascii_alphabetic() || ('\u{c0}'..='\u{24f}').contains(&c));
        match (latin, has('\u{370}'..='\u{3ff}'), has('\u{400}'..='\u{52f}')) {
            (true, _, true) => Some("Latin and Cyrillic"),
            (true, true, _) => Some("Latin and Greek"),
            (_, true, true) => Some("Greek and Cyrillic"),
            _ => None,
        }
    };
    name.split('.').find_map(mixes)
}

/// What a name reads like, where a whole label is made of letters that look like Latin ones and the name ends as
/// a Latin one does.
pub(super) fn imitated(name: &str) -> Option<String> {
    let end = name.rsplit('.').next().unwrap_or_default();
    if !end.is_ascii() || name.is_ascii() {
        return None;
    }
    let label = |label: &str| label.chars().map(latin).collect::<Option<String>>();
    name.split('.').map(label).collect::<Option<Vec<_>>>().map(|labels| labels.join("."))
}

/// The Latin letter that a letter is taken for; what is plain stands for itself.
fn latin(letter: char) -> Option<char> {
    let code = u32::from(letter);
    let of = |first: u32| char::from_u32(u32::from('a') + (code - first));
    Some(match letter {
        _ if letter.is_ascii() => letter,
        'а' | 'α' | 'ɑ' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' => 'e',
        'ɡ' | 'ɢ' => 'g',
        'һ' => 'h',
        'і' | 'ι' | 'ı' | 'ɩ' | 'ɪ' => 'i',
        'ј' | 'ϳ' => 'j',
        'κ' => 'k',
        'ӏ' => 'l',
        'ո' | 'ɴ' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'ʀ' => 'r',
        'ѕ' => 's',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'ү' | 'γ' | 'ʏ' => 'y',
        // The same letters at another width.
        '\u{ff41}'..='\u{ff5a}' => of(0xff41)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_servers_form_are_shown_as_what_they_mean() {
        let table = [
            ("xn--bcher-kva.example", Some("bücher.example")),
            ("www.xn--mnchen-3ya.de", Some("www.münchen.de")),
            ("xn--r8jz45g.jp", Some("例え.jp")),
            ("XN--e1afmkfd.xn--80akhbyknj4f", Some("пример.испытание")),
            ("xn--strae-oqa.de", Some("straße.de")),
            ("example.com", None),
            ("xn--.de", None),
            ("xn--99999999999.de", None),
        ];
        for (name, expected) in table {
            let text = format!("curl https://{name}/x");
            let found = encoded(&text);
            assert_eq!(found.first().map(|(_, shown)| shown.as_str()), expected, "{name}");
        }
    }

    #[test]
    fn mixed_labels_are_named() {
        let table = [
            ("gіthub.com", Some("Latin and Cyrillic")),
            ("αpple.com", Some("Latin and Greek")),
            ("пример.com", None),
            ("bücher.example", None),
        ];
        for (name, expected) in table {
            assert_eq!(mixed(name), expected, "{name}");
        }
    }
}
