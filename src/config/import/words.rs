//! Patterns for commands: an agent matches the text as it was typed, gsh the words of it, requoted only where
//! needed. Here the first becomes the second.

use super::carry::{Lost, Meaning, Shadow, commands, every_command};
use super::maker::Maker;
use crate::policy::Verdict;
use crate::policy::pattern::escape;
use crate::syntax::quote;

/// One element of an agent's pattern, its own escapes gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Glyph {
    /// This character.
    Char(char),
    /// Any one character.
    One,
    /// Any run of characters.
    Run,
}

/// A pattern for the text of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandPattern {
    pub(super) glyphs: Vec<Glyph>,
    /// Further words may follow.
    pub(super) open: bool,
    /// A blank and a run at the end may be missing although there are other runs.
    pub(super) tail_is_optional: bool,
}

/// One word of a pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) glyphs: Vec<Glyph>,
    /// It was begun, though perhaps by quotes around nothing.
    pub(super) begun: bool,
    pub(super) quoted: bool,
    /// It holds a pattern for file names, or braces, that the shell would replace.
    pub(super) expands: bool,
    /// It joins commands.
    pub(super) joins: bool,
}

impl CommandPattern {
    /// A text that stands for itself.
    pub(super) fn exact(text: &str) -> Self {
        let glyphs = text.chars().map(Glyph::Char).collect();
        Self { glyphs, open: false, tail_is_optional: false }
    }

    /// A text and whatever words follow it.
    pub(super) fn prefix(text: &str) -> Self {
        Self { open: true, ..Self::exact(text) }
    }

    /// A pattern with wildcards.
    pub(super) fn wild(glyphs: Vec<Glyph>) -> Self {
        Self { glyphs, open: false, tail_is_optional: false }
    }

    /// What it means as a rule with this action.
    pub(super) fn meaning(&self, action: Verdict, home: Option<&str>) -> Result<Meaning, Lost> {
        let words = Reader { glyphs: &self.glyphs, at: 0, home, words: vec![] }.words()?;
        let mut made = Maker::new(action);
        if self.open && matches!(self.glyphs.last(), Some(Glyph::Char(' ' | '\t'))) {
            if action == Verdict::Allow {
                return Err(Lost::command("it ends in a blank, after which the agent wants another one"));
            }
            made.note("also where only one blank follows");
        }
        let patterns = made.patterns(self, words)?;
        if patterns.iter().any(|pattern| pattern == "*" || pattern == "* *") {
            return Ok(every_command(action));
        }
        let mut meaning = commands(&patterns, action);
        meaning.stricter = made.stricter;
        Ok(meaning)
    }
}

/// Takes a pattern apart as the shell would take its text.
struct Reader<'a> {
    glyphs: &'a [Glyph],
    at: usize,
    home: Option<&'a str>,
    words: Vec<Word>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<Glyph> {
        let glyph = self.glyphs.get(self.at).copied();
        self.at += 1;
        glyph
    }

    /// Whether these characters stand here, followed by a slash, a blank or the end.
    fn stands(&self, text: &str) -> bool {
        let mut rest = self.glyphs.get(self.at..).unwrap_or_default().iter();
        text.chars().all(|c| rest.next() == Some(&Glyph::Char(c)))
            && matches!(rest.next(), None | Some(Glyph::Char('/' | ' ' | '\t' | '"')))
    }

    /// Not to be carried: what its commands begin with is known as far as it was read.
    fn lost(&self, why: &str) -> Lost {
        let whole = self.words.iter().map(|word| word.text().map(|text| quote(&text)));
        let known: Vec<String> = whole.map_while(|text| text).collect();
        let head = if known.is_empty() { String::new() } else { format!("{} ", known.join(" ")) };
        Lost::new(why, Shadow::Commands(head))
    }

    fn words(mut self) -> Result<Vec<Word>, Lost> {
        let mut word = Word::default();
        while let Some(glyph) = self.next() {
            match glyph {
                Glyph::Char(' ' | '\t') => self.end(&mut word),
                Glyph::Char(c) => self.unquoted(&mut word, c)?,
                glyph => word.push(glyph),
            }
        }
        self.end(&mut word);
        if self.words.is_empty() { Err(Lost::command("it names no command")) } else { Ok(self.words) }
    }

    fn end(&mut self, word: &mut Word) {
        let mut word = std::mem::take(word);
        if word.begun {
            let has = |c| !word.quoted && word.glyphs.contains(&Glyph::Char(c));
            word.expands |= has('{') && (has(',') || has('.'));
            self.words.push(word);
        }
    }

    fn unquoted(&mut self, word: &mut Word, c: char) -> Result<(), Lost> {
        match c {
            '\'' | '"' => self.quoted(word, c)?,
            '\\' => match self.next() {
                Some(Glyph::Char('\n') | Glyph::One | Glyph::Run) | None => {
                    return Err(self.lost("nothing that can be told stands behind a backslash"));
                }
                Some(glyph) => word.push_quoted(glyph),
            },
            '$' => self.variable(word)?,
            '~' if !word.begun => self.tilde(word)?,
            '|' | '&' => self.operator(word, c)?,
            '`' | '(' | ')' | ';' | '<' | '>' | '\n' => {
                return Err(self.lost("gsh matches the words of one command, without redirections"));
            }
            '#' if !word.begun => return Err(self.lost("what follows `#` is a comment")),
            '*' | '?' | '[' => {
                word.expands = true;
                word.push(Glyph::Char(c));
            }
            c => word.push(Glyph::Char(c)),
        }
        Ok(())
    }

    fn quoted(&mut self, word: &mut Word, mark: char) -> Result<(), Lost> {
        word.begun = true;
        word.quoted = true;
        loop {
            match self.next() {
                None => return Err(self.lost("a quote in it has no end")),
                Some(Glyph::Char(c)) if c == mark => return Ok(()),
                Some(Glyph::Char('$')) if mark == '"' => self.variable(word)?,
                Some(Glyph::Char('`')) if mark == '"' => {
                    return Err(self.lost("what a substitution becomes is known only when it runs"));
                }
                Some(Glyph::Char('\\')) if mark == '"' => {
                    let next = self.next().ok_or_else(|| self.lost("a quote in it has no end"))?;
                    if !matches!(next, Glyph::Char('"' | '\\' | '$' | '`')) {
                        word.push_quoted(Glyph::Char('\\'));
                    }
                    word.push_quoted(next);
                }
                Some(glyph) => word.push_quoted(glyph),
            }
        }
    }

    fn variable(&mut self, word: &mut Word) -> Result<(), Lost> {
        let name = ["HOME", "{HOME}"].into_iter().find(|name| word.glyphs.is_empty() && self.stands(name));
        match (name, self.home) {
            (Some(name), Some(home)) => {
                self.at += name.chars().count();
                home.chars().for_each(|c| word.push(Glyph::Char(c)));
                Ok(())
            }
            _ => Err(self.lost("gsh matches what a word becomes, and a variable is known only when it runs")),
        }
    }

    fn tilde(&mut self, word: &mut Word) -> Result<(), Lost> {
        match self.home.filter(|_| self.stands("")) {
            Some(home) => {
                home.chars().for_each(|c| word.push(Glyph::Char(c)));
                Ok(())
            }
            None => Err(self.lost("gsh matches the folder that a `~` becomes, and that is not known")),
        }
    }

    fn operator(&mut self, word: &mut Word, c: char) -> Result<(), Lost> {
        let doubled = self.glyphs.get(self.at) == Some(&Glyph::Char(c));
        let after = self.at + usize::from(doubled);
        let apart = !word.begun && matches!(self.glyphs.get(after), Some(Glyph::Char(' ' | '\t')));
        if !apart || (c == '&' && !doubled) {
            return Err(self.lost("gsh matches the words of one command, without what joins it to others"));
        }
        self.at = after;
        (0..=usize::from(doubled)).for_each(|_| word.push(Glyph::Char(c)));
        word.joins = true;
        Ok(())
    }
}

impl Word {
    fn push(&mut self, glyph: Glyph) {
        self.begun = true;
        self.glyphs.push(glyph);
    }

    fn push_quoted(&mut self, glyph: Glyph) {
        self.quoted = true;
        self.push(glyph);
    }

    /// The text, if it has no wildcard.
    pub(super) fn text(&self) -> Option<String> {
        let chars = self.glyphs.iter().map(|glyph| match glyph {
            Glyph::Char(c) => Some(*c),
            _ => None,
        });
        if self.expands { None } else { chars.collect() }
    }

    pub(super) fn is_run(&self) -> bool {
        self.glyphs == [Glyph::Run] && !self.quoted
    }

    pub(super) fn assigns(&self) -> bool {
        let chars = self.glyphs.iter().map_while(|glyph| match glyph {
            Glyph::Char(c) => Some(*c),
            _ => None,
        });
        let name: String =
            chars.take_while(|c| *c == '_' || *c == '=' || c.is_ascii_alphanumeric()).collect();
        name.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with(char::is_numeric))
    }

    /// As a pattern, its characters protected.
    pub(super) fn pattern(&self) -> String {
        self.glyphs.iter().fold(String::new(), |mut pattern, glyph| {
            match glyph {
                Glyph::Char(c) => pattern.push_str(&escape(c.encode_utf8(&mut [0; 4]))),
                Glyph::One => pattern.push('?'),
                Glyph::Run => pattern.push('*'),
            }
            pattern
        })
    }

    /// The pattern for the word where gsh quotes it; a run at either end takes the quote in.
    pub(super) fn pattern_quoted(&self, around_runs: bool) -> String {
        let mark = |at: Option<&Glyph>| if at == Some(&Glyph::Run) && !around_runs { "" } else { "'" };
        format!("{}{}{}", mark(self.glyphs.first()), self.pattern(), mark(self.glyphs.last()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern in the notation of these tables: `*` and `?` are wildcards, `%` is a star.
    fn pattern(text: &str) -> CommandPattern {
        let glyph = |c| match c {
            '*' => Glyph::Run,
            '?' => Glyph::One,
            '%' => Glyph::Char('*'),
            c => Glyph::Char(c),
        };
        CommandPattern::wild(text.chars().map(glyph).collect())
    }

    fn of(pattern: &CommandPattern, action: Verdict) -> Result<Vec<String>, Lost> {
        let mut patterns: Vec<String> = vec![];
        for rule in pattern.meaning(action, Some("/home/u"))?.rules {
            if !patterns.contains(&rule.pattern) {
                patterns.push(rule.pattern);
            }
        }
        Ok(patterns)
    }

    #[test]
    fn what_allows() {
        for (text, expected) in [
            ("git status", "git status"),
            (" git   status ", "git status"),
            ("git *", "git *"),
            ("git * *", "git * ?*"),
            ("npm run test*", "npm run test*"),
            (r#"echo "a b""#, "echo 'a b'"),
            (r#"echo 'a'"b""#, "echo ab"),
            (r"echo a\ b", "echo 'a b'"),
            ("echo 'it*s'", "echo 'it*s'"),
            (r#"echo "%""#, r"echo '\*'"),
            ("cat ~/x $HOME/y", "cat /home/u/x /home/u/y"),
            ("./x.sh", "./x.sh"),
            ("a?c", "a?c"),
            ("*", "*"),
        ] {
            assert_eq!(of(&pattern(text), Verdict::Allow), Ok(vec![expected.to_owned()]), "{text}");
        }
    }

    #[test]
    fn what_refuses_refuses_every_spelling() {
        for (text, expected) in [
            ("git push", &["git push"][..]),
            ("curl http*", &["curl http*", "curl 'http*"]),
            ("ls %.rs x", &["ls * x"]),
            ("/usr/bin/npm x", &["/usr/bin/npm x", "npm x"]),
            ("A=1 B=2 npm x", &["npm x"]),
            ("curl * | sh", &["curl * | sh"]),
            ("*", &["?*"]),
        ] {
            let expected = expected.iter().map(|pattern| (*pattern).to_owned()).collect();
            assert_eq!(of(&pattern(text), Verdict::Deny), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_said() {
        let head = |text: &str| Shadow::Commands(text.to_owned());
        for (text, action, shadow) in [
            ("ls %.rs", Verdict::Allow, head("")),
            ("echo $X", Verdict::Deny, head("echo ")),
            ("git 'a b' `x`", Verdict::Deny, head("git 'a b' ")),
            ("a; b", Verdict::Deny, head("")),
            ("a > b", Verdict::Allow, head("a ")),
            ("a | b", Verdict::Allow, Shadow::Nothing),
            ("a & b", Verdict::Deny, head("a ")),
            ("echo 'x", Verdict::Deny, head("echo ")),
            ("A=1 npm x", Verdict::Allow, head("")),
            ("/usr/*", Verdict::Deny, head("")),
            ("ls ~other/x", Verdict::Deny, head("ls ")),
            ("ls #x", Verdict::Deny, head("ls ")),
            (r"x\*", Verdict::Deny, head("")),
            ("", Verdict::Deny, head("")),
        ] {
            let found = of(&pattern(text), action).map_err(|lost| lost.shadow);
            assert_eq!(found, Err(shadow), "{text}");
        }
    }
}
