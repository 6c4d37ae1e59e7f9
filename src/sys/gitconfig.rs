//! git's configuration files, as git reads them.

/// One setting: the lower-case key with its section and subsection, and the value.
pub(super) type Setting = (String, String);

/// The settings of a file's text, in order. None where git would refuse the file.
pub(super) fn parse(text: &str) -> Option<Vec<Setting>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { left: text.chars().peekable(), section: String::new(), settings: Vec::new() };
    while let Some(next) = reader.left.next() {
        match next {
            '#' | ';' => reader.skip_line(),
            '[' => reader.header()?,
            other if other.is_whitespace() => {}
            other if other.is_ascii_alphabetic() => reader.setting(other)?,
            _ => return None,
        }
    }
    Some(reader.settings)
}

struct Reader<'a> {
    left: std::iter::Peekable<std::str::Chars<'a>>,
    section: String,
    settings: Vec<Setting>,
}

impl Reader<'_> {
    fn skip_line(&mut self) {
        for next in self.left.by_ref() {
            if next == '\n' {
                break;
            }
        }
    }

    /// `[section]`, `[section.sub]`, `[section "sub"]`.
    fn header(&mut self) -> Option<()> {
        let mut section = String::new();
        loop {
            match self.left.next()? {
                ']' => break,
                ' ' | '\t' if !section.is_empty() => {
                    section.push('.');
                    self.subsection(&mut section)?;
                    break;
                }
                next if next.is_ascii_alphanumeric() || matches!(next, '-' | '.') => {
                    section.push(next.to_ascii_lowercase());
                }
                _ => return None,
            }
        }
        self.section = section;
        Some(())
    }

    fn subsection(&mut self, section: &mut String) -> Option<()> {
        while matches!(self.left.peek(), Some(' ' | '\t')) {
            self.left.next();
        }
        if self.left.next()? != '"' {
            return None;
        }
        loop {
            match self.left.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => section.extend(self.left.next()?.to_lowercase()),
                next => section.extend(next.to_lowercase()),
            }
        }
        (self.left.next()? == ']').then_some(())
    }

    /// `name`, `name = value`.
    fn setting(&mut self, first: char) -> Option<()> {
        let mut name = String::from(first.to_ascii_lowercase());
        while let Some(next) = self.left.next_if(|next| next.is_ascii_alphanumeric() || *next == '-') {
            name.push(next.to_ascii_lowercase());
        }
        while self.left.next_if(|next| matches!(next, ' ' | '\t' | '\r')).is_some() {}
        let value = match self.left.next() {
            None | Some('\n') => "true".to_owned(),
            Some('=') => self.value()?,
            Some('#' | ';') => {
                self.skip_line();
                "true".to_owned()
            }
            Some(_) => return None,
        };
        if self.section.is_empty() {
            return None;
        }
        self.settings.push((format!("{}.{name}", self.section), value));
        Some(())
    }

    fn value(&mut self) -> Option<String> {
        let (mut value, mut quoted) = (String::new(), false);
        // What stands before this is kept even if it is a blank: it was quoted or escaped.
        let mut keep = 0;
        loop {
            match self.left.next() {
                None | Some('\n') if quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some('"') => {
                    quoted = !quoted;
                    keep = value.len();
                }
                Some('\\') => {
                    self.escape(&mut value)?;
                    keep = value.len();
                }
                Some(next) if next.is_whitespace() && !quoted => {
                    if !value.is_empty() {
                        value.push(next);
                    }
                }
                Some(next) => {
                    value.push(next);
                    keep = value.len();
                }
            }
        }
        value.truncate(keep);
        Some(value)
    }

    fn escape(&mut self, value: &mut String) -> Option<()> {
        match self.left.next()? {
            '\n' => {}
            '\r' => {
                self.left.next_if_eq(&'\n')?;
            }
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'b' => value.push('\u{8}'),
            same @ ('"' | '\\') => value.push(same),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_git_reads_them() {
        let table: [(&str, &[(&str, &str)]); 14] = [
            ("[core]\n\tfsmonitor = a b  ; c\n", &[("core.fsmonitor", "a b")]),
            ("[Core]\nFSMonitor\n", &[("core.fsmonitor", "true")]),
            ("[alias]st = status # x", &[("alias.st", "status")]),
            ("[alias]\nx = \"!f() { a; }; f\" ;y", &[("alias.x", "!f() { a; }; f")]),
            ("[filter \"LFS \\\"x\"]\nclean = c\n", &[("filter.lfs \"x.clean", "c")]),
            ("[a.B]\nk = v", &[("a.b.k", "v")]),
            ("[a]\nk = one\\\n  two\n", &[("a.k", "one  two")]),
            ("[a]\nk = \" x \" \n", &[("a.k", " x ")]),
            ("[a]\nk = a\\tb\\\\\\\"\n", &[("a.k", "a\tb\\\"")]),
            ("[a]\nk =\nl= 1\r\n", &[("a.k", ""), ("a.l", "1")]),
            ("[include]\npath = ~/x\n", &[("include.path", "~/x")]),
            ("# only\n;comments\n", &[]),
            ("[a] # c\nk = v", &[("a.k", "v")]),
            ("[a]\nk = a\"b;c\"d#e\n", &[("a.k", "ab;cd")]),
        ];
        for (text, expected) in table {
            let expected: Vec<Setting> =
                expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_git_refuses_is_refused() {
        for text in
            ["k = v", "[a", "[a]\nk = \"x\n", "[a]\nk = \\q\n", "[a \"b]\nk=1\n", "[a]\n=x", "[a b]\n"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
