//! Everyday texts with a few tokens moved, doubled, dropped or brought in from elsewhere.

use crate::generate::Numbers;

/// Tokens that change what a shell makes of their neighbours.
const SPLICES: &[&str] = &[
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    " ",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "$",
    "${",
    "}",
    "<",
    ">",
    ">>",
    "<<",
    "<<<",
    "2>",
    "!",
    "#",
    " #",
    "=",
    "*",
    "?",
    "[",
    "]",
    "[[ ",
    " ]]",
    "((",
    "))",
    "$((",
    "~",
    "-",
    "\\\n",
    "\t",
    "ls m1",
    "rm m2",
    "$(ls m3)",
    "`ls m4`",
    "<(ls m5)",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "for x in ",
    "case x in ",
    "esac",
    "time ",
    "eval ",
    "bash -c ",
    "xargs ",
    "env ",
    "cd src",
    "x=1",
    "$x",
    "<<EOF\n",
    "\nEOF\n",
    "EOF",
    "{a,b}",
    "$'",
    "function ",
    "() ",
    ";;",
    "in ",
    "while ",
    "2>&1",
    "&>",
    "|&",
    "$@",
    "\"$@\"",
    "-exec ls m6 {} ;",
    "%",
    ":",
    ",",
    "--",
];

/// A text a few splices away from one of these, or from a mix of two.
pub(crate) fn mutant(numbers: &mut Numbers, texts: &[String]) -> String {
    let mut tokens = tokens(numbers.pick::<String>(texts));
    for _ in 0..1 + numbers.below(3) {
        let at = numbers.below(tokens.len() + 1);
        match numbers.below(7) {
            0..=2 => tokens.insert(at, (*numbers.pick(SPLICES)).to_owned()),
            3 if at < tokens.len() => {
                tokens.remove(at);
            }
            4 if at < tokens.len() => {
                let to = numbers.below(tokens.len());
                tokens.swap(at, to);
            }
            5 if at < tokens.len() => tokens[at] = (*numbers.pick(SPLICES)).to_owned(),
            _ => {
                let other = self::tokens(numbers.pick::<String>(texts));
                let from = numbers.below(other.len());
                let count = 1 + numbers.below(4);
                let piece: Vec<String> = other.into_iter().skip(from).take(count).collect();
                tokens.splice(at..at, piece);
            }
        }
    }
    tokens.concat()
}

/// Runs of word characters, runs of blanks, and single others.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || "_-./".contains(c) => 0,
        ' ' | '\t' => 1,
        _ => 2,
    };
    let mut found: Vec<String> = Vec::new();
    let mut last = 3;
    for c in text.chars() {
        let now = kind(c);
        match found.last_mut() {
            Some(token) if now == last && now != 2 => token.push(c),
            _ => found.push(c.to_string()),
        }
        last = now;
    }
    found
}
