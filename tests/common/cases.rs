//! Case files: a kind, a tab, a command, one a line (see `tests/cases/README.md`).

/// One case.
pub(crate) struct Row {
    /// What the first column says.
    pub(crate) kind: String,
    /// The command, decoded.
    pub(crate) command: String,
}

/// The rows of a case file's text.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("## "))
        .map(|line| {
            let (kind, command) = line.split_once('\t').expect("a case is: kind, tab, command");
            Row { kind: kind.to_owned(), command: decoded(command) }
        })
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        match rest.next().expect("a backslash is followed by its kind") {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            '\\' => bytes.push(b'\\'),
            'x' => bytes.push(u8::try_from(code(&mut rest, 2)).expect("two digits are a byte")),
            'u' => {
                let character = char::from_u32(code(&mut rest, 4)).expect("a character");
                bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
            }
            other => panic!("unknown escape \\{other} in {text}"),
        }
    }
    String::from_utf8(bytes).expect("cases are UTF-8")
}

fn code(rest: &mut std::str::Chars<'_>, digits: usize) -> u32 {
    let text: String = rest.take(digits).collect();
    u32::from_str_radix(&text, 16).expect("hexadecimal digits")
}
