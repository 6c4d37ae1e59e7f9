//! The forms in which bash prints variables (`declare -p`) and aliases (`alias -p`).

use std::collections::BTreeMap;

/// A variable as it is printed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Printed<'a> {
    pub name: &'a str,
    /// Its attributes, as letters.
    pub flags: &'a str,
    /// None where it has no value.
    pub held: Option<Held>,
}

/// What a variable holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// One text.
    Text(String),
    /// Elements from 0 on, without a gap.
    List(Vec<String>),
    /// Elements with other keys.
    Other,
}

/// What `declare -p` prints; None where it is in no form of that kind.
pub(super) fn variables(text: &str) -> Option<Vec<Printed<'_>>> {
    let mut rest = text;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (flags, after) = rest.strip_prefix("declare -")?.split_once(' ')?;
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let (name, after) = after.split_at_checked(end)?;
        let (held, after) = match after.strip_prefix('=') {
            Some(after) => held(after).map(|(held, after)| (Some(held), after))?,
            None => (None, after),
        };
        rest = after.strip_prefix('\n')?;
        found.push(Printed { name, flags, held });
    }
    Some(found)
}

/// What `alias -p` prints.
pub(super) fn aliases(text: &str) -> Option<BTreeMap<String, String>> {
    let mut rest = text;
    let mut found = BTreeMap::new();
    while !rest.is_empty() {
        let after = rest.strip_prefix("alias ")?;
        let (name, after) = after.strip_prefix("-- ").unwrap_or(after).split_once('=')?;
        let (value, after) = word(after, "\n")?;
        rest = after.strip_prefix('\n')?;
        found.insert(name.to_owned(), value);
    }
    Some(found)
}

fn held(text: &str) -> Option<(Held, &str)> {
    let Some(mut rest) = text.strip_prefix('(') else {
        return word(text, "\n").map(|(value, rest)| (Held::Text(value), rest));
    };
    let mut list = Vec::new();
    let mut gaps = false;
    loop {
        rest = rest.trim_start_matches(' ');
        if let Some(after) = rest.strip_prefix(')') {
            return Some((if gaps { Held::Other } else { Held::List(list) }, after));
        }
        let (key, after) = word(rest.strip_prefix('[')?, "]")?;
        let (value, after) = word(after.strip_prefix("]=")?, " )")?;
        gaps |= key != list.len().to_string();
        list.push(value);
        rest = after;
    }
}

/// A word up to one of these characters outside of quotes, without its quotes, and what follows it.
fn word<'a>(text: &'a str, ends: &str) -> Option<(String, &'a str)> {
    let mut value = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if ends.contains(letter) => return Some((value, text.get(at..)?)),
            '\'' => loop {
                match letters.next()?.1 {
                    '\'' => break,
                    inner => value.push(inner),
                }
            },
            '"' => loop {
                match letters.next()?.1 {
                    '"' => break,
                    '\\' => value.push(letters.next()?.1),
                    inner => value.push(inner),
                }
            },
            '$' if letters.peek().is_some_and(|(_, next)| *next == '\'') => {
                letters.next();
                loop {
                    match letters.next()?.1 {
                        '\'' => break,
                        '\\' => value.push(escaped(&mut letters)?),
                        inner => value.push(inner),
                    }
                }
            }
            '\\' => value.push(letters.next()?.1),
            inner => value.push(inner),
        }
    }
    ends.contains('\n').then_some((value, ""))
}

/// What follows a backslash in `$'…'`, as bash writes it.
fn escaped(letters: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> Option<char> {
    let letter = letters.next()?.1;
    Some(match letter {
        'a' => '\x07',
        'b' => '\x08',
        't' => '\t',
        'n' => '\n',
        'v' => '\x0b',
        'f' => '\x0c',
        'r' => '\r',
        'E' | 'e' => '\x1b',
        '\'' | '"' | '\\' | '?' => letter,
        '0'..='7' => {
            let mut code = letter.to_digit(8)?;
            while let Some(digit) =
                letters.peek().and_then(|(_, next)| next.to_digit(8)).filter(|_| code < 0o40)
            {
                code = code * 8 + digit;
                letters.next();
            }
            // A byte that is no text by itself.
            char::from_u32(code).filter(char::is_ascii)?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_bash_prints_them() {
        let text = "declare -x A=\"a b\\\"c\\$d\"\ndeclare -- B=\"two\nlines\"\ndeclare -r N\n\
                    declare -a L=([0]=\"x\" [1]=$'a\\tb' [2]=\"\")\ndeclare -a G=([1]=\"x\")\n\
                    declare -A M=([k]=\"v\" [\"a b\"]=\"w\" )\ndeclare -- IFS=$' \\t\\n'\ndeclare -a E=()\n";
        let found = variables(text).expect("known forms");
        let text = |text: &str| Some(Held::Text(text.to_owned()));
        let held: Vec<_> = found.into_iter().map(|each| (each.name, each.flags, each.held)).collect();
        let list = ["x", "a\tb", ""].map(str::to_owned).to_vec();
        let expected = vec![
            ("A", "x", text("a b\"c$d")),
            ("B", "-", text("two\nlines")),
            ("N", "r", None),
            ("L", "a", Some(Held::List(list))),
            ("G", "a", Some(Held::Other)),
            ("M", "A", Some(Held::Other)),
            ("IFS", "-", text(" \t\n")),
            ("E", "a", Some(Held::List(Vec::new()))),
        ];
        assert_eq!(held, expected);
        for wrong in ["A=1\n", "declare -- A=\"open\n", "declare -- A=$'\\xff'\n"] {
            assert_eq!(variables(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn aliases_are_read_as_bash_prints_them() {
        let found = aliases("alias ll='ls -l'\nalias q='echo '\\''a'\\'''\nalias -- -='cd -'\n")
            .expect("known forms");
        let expected = [("-", "cd -"), ("ll", "ls -l"), ("q", "echo 'a'")];
        assert!(found.iter().map(|(name, text)| (name.as_str(), text.as_str())).eq(expected), "{found:?}");
        assert_eq!(aliases("ll='ls'\n"), None);
    }
}
