//! Whether zsh or fish takes a line as bash does. Known are the plainest forms; whatever else a line holds is said
//! to be read otherwise, and asks.

use super::Typist;

/// What of the text this shell reads in its own way; None where it reads it as bash does.
pub(super) fn otherwise(typist: Typist, text: &str) -> Option<&'static str> {
    if typist == Typist::Bash {
        return None;
    }
    let mut look = Look { typist, before: ' ', quote: None };
    let letters: Vec<char> = text.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        if let Some(found) = look.letter(*letter, letters.get(at + 1..).unwrap_or_default()) {
            return Some(found);
        }
    }
    None
}

const ZSH: &str = "zsh reads this in its own way";
const FISH: &str = "fish reads this in its own way";

struct Look {
    typist: Typist,
    before: char,
    quote: Option<char>,
}

impl Look {
    fn letter(&mut self, letter: char, after: &[char]) -> Option<&'static str> {
        let next = after.first().copied().unwrap_or(' ');
        let odd = match self.typist {
            Typist::Bash => false,
            // A backslash in quotes ends other things there, and backquotes are no substitution.
            Typist::Fish => letter == '\\' || self.quote != Some('\'') && self.odd_in_fish(letter, next),
            Typist::Zsh => self.quote != Some('\'') && self.odd_in_zsh(letter, after),
        };
        if odd {
            return Some(if self.typist == Typist::Zsh { ZSH } else { FISH });
        }
        let escaped = self.before == '\\' && self.quote != Some('\'');
        match self.quote {
            Some(quote) if letter == quote && !escaped => self.quote = None,
            None if matches!(letter, '\'' | '"') && !escaped => self.quote = Some(letter),
            _ => {}
        }
        // Two backslashes are one, which escapes nothing.
        self.before = if escaped && letter == '\\' { ' ' } else { letter };
        None
    }

    fn begins(&self) -> bool {
        self.before.is_whitespace() || matches!(self.before, ';' | '|' | '&' | '(' | '=' | ':')
    }

    fn odd_in_fish(&self, letter: char, next: char) -> bool {
        let name = next.is_ascii_alphabetic() || next == '_';
        match letter {
            '$' => !name,
            '`' => true,
            '[' if self.quote.is_some() => self.before.is_ascii_alphanumeric() || self.before == '_',
            _ if self.quote.is_some() => false,
            '(' | ')' | '{' | '}' | '[' | ']' | '#' | '^' => true,
            '!' => self.begins(),
            '*' | '|' => next == letter && letter == '*' || next == '&',
            '<' => matches!(next, '<' | '(' | '&'),
            '&' => next == '>' || self.before == '>' && next == '-',
            _ => false,
        }
    }

    fn odd_in_zsh(&self, letter: char, after: &[char]) -> bool {
        let next = after.first().copied().unwrap_or(' ');
        match letter {
            '$' => odd_expansion(after),
            '!' => !(next.is_whitespace() || matches!(next, '=' | '"')),
            _ if self.quote.is_some() || self.before == '\\' => false,
            '#' | '=' | '^' if self.begins() => true,
            '#' => true,
            '^' => !(next.is_whitespace() || next.is_ascii_digit() || matches!(next, '^' | '~' | ':' | '.')),
            '~' if self.begins() => next.is_alphanumeric() || matches!(next, '_' | '+' | '-' | '['),
            '(' => !(self.begins() && self.before != '=' || self.before == '$'),
            '{' => self.before != '$' && next.is_whitespace(),
            '*' => next == '*',
            '<' => next.is_ascii_digit() || next == '-',
            '>' => next == '!',
            '&' => matches!(next, '|' | '!'),
            _ => false,
        }
    }
}

/// Whether what follows a `$` is more than a name, a parameter or a substitution.
fn odd_expansion(after: &[char]) -> bool {
    let word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    match after.first() {
        Some('{') => {
            let name = after.iter().skip(1).take_while(|c| word(c)).count();
            name == 0 || after.get(name + 1) != Some(&'}') || after.get(name + 2) == Some(&'[')
        }
        Some('(' | '?' | '$' | '!') | None => false,
        Some(c) if word(c) => {
            let name = after.iter().take_while(|c| word(c)).count();
            matches!(after.get(name), Some('[' | ':'))
        }
        Some(c) => !(c.is_whitespace() || *c == '"'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_are_read_alike_and_odd_ones_are_not() {
        let table: [(&str, bool, bool); 46] = [
            // text, read otherwise by zsh, by fish
            ("ls -la src | head -3 && echo 'a b' > x", false, false),
            ("git log --oneline HEAD~3..HEAD", false, false),
            ("git show HEAD^", false, true),
            ("cd ~/src; ls *.rs", false, false),
            ("echo \"$HOME/x\" $d", false, false),
            ("make 2>&1 | tail", false, false),
            ("sleep 1 &", false, false),
            ("echo $(date)", false, true),
            ("(cd x && ls)", false, true),
            ("echo `date`", false, true),
            ("echo a\\ b", false, true),
            ("mkdir {a,b}", false, true),
            ("ls # ; x", true, true),
            ("ls a#b", true, true),
            ("=ls", true, false),
            ("rm *(.)", true, true),
            ("rm ^a", true, true),
            ("rm a^b", true, true),
            ("rm **/x", true, true),
            ("cd ~name", true, false),
            ("echo ${(e)x}", true, true),
            ("echo ${x}", false, true),
            ("echo ${x:-y}", true, true),
            ("echo $x[1]", true, true),
            ("echo \"$x[1]\"", true, true),
            ("echo $x:h", true, false),
            ("a=(1 2)", true, true),
            ("cat <(ls)", true, true),
            ("cat =(ls)", true, true),
            ("ls >! x", true, false),
            ("ls &!", true, true),
            ("ls &|", true, false),
            ("echo <1-5>", true, false),
            ("echo !x", true, true),
            ("echo hi !", false, true),
            ("{ ls }", true, true),
            ("echo '$x[1] # ~name (a)'", false, false),
            ("echo 'a\\'", false, true),
            ("echo \"a\\\"b\"", false, true),
            ("cat <<E", false, true),
            ("echo [a]", false, true),
            ("echo \"(a)\"", false, false),
            ("echo \"#\"", false, false),
            ("ls |& cat", false, true),
            ("ls &> x", false, true),
            ("echo $1 $@", true, true),
        ];
        for (text, zsh, fish) in table {
            assert_eq!(otherwise(Typist::Zsh, text).is_some(), zsh, "zsh: {text}");
            assert_eq!(otherwise(Typist::Fish, text).is_some(), fish, "fish: {text}");
            assert_eq!(otherwise(Typist::Bash, text), None);
        }
    }
}
