//! What a write would change, where that can be told: literal text that is redirected or given to
//! `tee`, and a plain `sed -i 's/a/b/'`.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::contents::Contents;
use super::layout::{Line, Mark};
use super::{Question, sanitize};
use crate::facts::path::{Located, Target};
use crate::facts::{Change, Effect, EffectKind, Facts, Invocation};
use crate::host::Node;
use crate::syntax::visit::{Visit, walk_command, walk_simple};
use crate::syntax::{Command, Descriptor, Piece, Redirection, RedirectionOperator, Simple, Word};

/// Of a longer difference the rest is only counted.
const SHOWN: usize = 200;
/// Then what was found by then is shown, which is a difference too.
const PATIENCE: Duration = Duration::from_millis(100);

/// The differences that the question's text would make, in source order.
pub(super) fn changes(question: &Question<'_>, contents: &dyn Contents) -> Vec<Line> {
    let mut finder = Finder { facts: question.facts, found: Vec::new() };
    finder.script(question.script);
    let mut seen: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    for (place, act) in &finder.found {
        // A second change is one of what the first has left.
        if seen.contains(&place.real.as_str()) {
            lines.push(Line::plain(format!("{} is changed again", sanitize::line(&place.lexical))));
            continue;
        }
        seen.push(&place.real);
        lines.extend(shown(place, act, contents));
    }
    lines
}

/// What is done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Act {
    Write(String),
    Append(String),
    Replace { from: String, to: String, everywhere: bool },
}

impl Act {
    fn on(&self, old: &str) -> String {
        match self {
            Self::Write(text) => text.clone(),
            Self::Append(text) => format!("{old}{text}"),
            Self::Replace { from, to, everywhere } => {
                let most = if *everywhere { usize::MAX } else { 1 };
                old.split_inclusive('\n').map(|line| line.replacen(from, to, most)).collect()
            }
        }
    }
}

fn shown(place: &Located, act: &Act, contents: &dyn Contents) -> Vec<Line> {
    let name = sanitize::line(&place.lexical);
    if place.node == Node::Missing {
        return vec![Line::plain(format!("new file: {name}"))];
    }
    let Some(old) = contents.text(&place.real) else { return Vec::new() };
    let new = act.on(&old);
    if new == old {
        return vec![Line::plain(format!("{name} stays as it is"))];
    }
    let mut lines = vec![Line::plain(format!("what changes in {name}:"))];
    lines.extend(difference_of(&old, &new));
    lines
}

/// The difference of two texts; of a long one the rest is counted.
pub(super) fn difference_of(old: &str, new: &str) -> Vec<Line> {
    let mut lines = difference(old, new);
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    if more > 0 {
        lines.push(Line::plain(format!("({more} more lines of this difference are not shown)")));
    }
    lines
}

fn difference(old: &str, new: &str) -> Vec<Line> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        lines.push(Line::plain(hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let (mark, sign) = match change.tag() {
                ChangeTag::Delete => (Mark::Removed, '-'),
                ChangeTag::Insert => (Mark::Added, '+'),
                ChangeTag::Equal => (Mark::Plain, ' '),
            };
            let value: &str = change.value();
            let end = if change.missing_newline() { " (no newline at the end)" } else { "" };
            let text = sanitize::line(value.strip_suffix('\n').unwrap_or(value));
            lines.push(Line::new(mark, format!("{sign}{text}{end}")));
        }
    }
    lines
}

struct Finder<'a> {
    facts: &'a Facts,
    found: Vec<(Located, Act)>,
}

impl Finder<'_> {
    /// The one invocation that this simple command is, with all its words known and nothing open.
    fn invocation(&self, simple: &Simple) -> Option<(usize, &Invocation)> {
        let span = simple.words.first()?.span;
        let mut here = self.facts.invocations.iter().enumerate().filter(|(_, each)| each.span == span);
        let (index, found) = here.next()?;
        (here.next().is_none() && found.explained && found.certain() && found.base.is_none())
            .then_some((index, found))
    }

    fn writes(&self, wanted: impl Fn(&Effect) -> bool) -> Vec<(Located, Change)> {
        let write = |effect: &Effect| match &effect.kind {
            EffectKind::Write { target: Target::Known(place), change } => Some((place.clone(), *change)),
            _ => None,
        };
        self.facts.effects.iter().filter(|effect| wanted(effect)).filter_map(write).collect()
    }

    fn add(&mut self, writes: Vec<(Located, Change)>, text: &str) {
        for (place, change) in writes {
            let act = match change {
                Change::Append => Act::Append(text.to_owned()),
                Change::Write | Change::Create => Act::Write(text.to_owned()),
                _ => continue,
            };
            self.found.push((place, act));
        }
    }

    /// Literal output that one redirection takes.
    fn redirected(&mut self, simple: &Simple) -> Option<()> {
        let (_, invocation) = self.invocation(simple)?;
        let text = output(&words(invocation)?, given(simple))?;
        let mut to = simple.redirections.iter().filter(|each| !reads(each));
        let only = to.next()?;
        let first = matches!(only.descriptor, None | Some(Descriptor::Number(1)));
        let plain = matches!(
            only.operator,
            RedirectionOperator::Write | RedirectionOperator::Clobber | RedirectionOperator::Append
        );
        if to.next().is_none() && first && plain {
            let writes = self.writes(|effect| effect.span == only.span);
            self.add(writes, &text);
        }
        Some(())
    }

    /// `tee` with literal input: its own, or what comes through the pipe.
    fn tee(&mut self, simple: &Simple, piped: Option<String>) -> Option<()> {
        let (index, invocation) = self.invocation(simple)?;
        if invocation.words.first()?.text()? != "tee" {
            return None;
        }
        let text = given(simple).or(piped)?;
        let words: Vec<_> = invocation.words.iter().skip(1).map(|word| word.span).collect();
        let writes = self.writes(|effect| effect.by == Some(index) && words.contains(&effect.span));
        self.add(writes, &text);
        Some(())
    }

    /// `sed -i 's/a/b/' FILE` of letters that stand for themselves.
    fn sed(&mut self, simple: &Simple) -> Option<()> {
        let (index, invocation) = self.invocation(simple)?;
        let words = words(invocation)?;
        let ["sed", "-i" | "--in-place", script, _file, ..] = words.as_slice() else { return None };
        let act = substitution(script)?;
        for (place, change) in self.writes(|effect| effect.by == Some(index)) {
            if change == Change::Edit {
                self.found.push((place, act.clone()));
            }
        }
        Some(())
    }
}

impl Visit for Finder<'_> {
    fn command(&mut self, command: &Command) {
        if let Command::Pipeline { parts, .. } = command {
            for pair in parts.windows(2) {
                if let [Command::Simple(from), Command::Simple(to)] = pair {
                    let piped = self.piped(from);
                    let _no_tee = piped.and_then(|piped| self.tee(to, Some(piped)));
                }
            }
        }
        walk_command(self, command);
    }

    fn simple(&mut self, simple: &Simple) {
        let _each_looks_for_its_own = (self.redirected(simple), self.tee(simple, None), self.sed(simple));
        walk_simple(self, simple);
    }
}

impl Finder<'_> {
    fn piped(&self, from: &Simple) -> Option<String> {
        let (_, invocation) = self.invocation(from)?;
        let leaves = from.redirections.iter().any(|each| !reads(each));
        output(&words(invocation)?, given(from)).filter(|_| !leaves)
    }
}

fn words(invocation: &Invocation) -> Option<Vec<&str>> {
    invocation.words.iter().map(|word| word.text()).collect()
}

fn reads(redirection: &Redirection) -> bool {
    matches!(
        redirection.operator,
        RedirectionOperator::Read | RedirectionOperator::HereDocument | RedirectionOperator::HereString
    )
}

/// The literal text on its standard input, where one redirection gives it.
fn given(simple: &Simple) -> Option<String> {
    let mut inputs = simple.redirections.iter().filter(|each| reads(each));
    let only = inputs.next().filter(|each| matches!(each.descriptor, None | Some(Descriptor::Number(0))))?;
    let text = literal(&only.target)?;
    match (inputs.next(), only.operator) {
        (None, RedirectionOperator::HereDocument) => Some(text),
        (None, RedirectionOperator::HereString) => Some(text + "\n"),
        _ => None,
    }
}

fn literal(word: &Word) -> Option<String> {
    let text = |piece: &Piece| match piece {
        Piece::Text { text, .. } => Some(text.clone()),
        _ => None,
    };
    word.pieces.iter().map(text).collect()
}

/// What `echo`, `printf` and `cat` print of what is known.
fn output(words: &[&str], input: Option<String>) -> Option<String> {
    match words {
        ["cat"] | ["cat", "-"] => input,
        ["echo", "-n", rest @ ..] if plain(rest) => Some(rest.join(" ")),
        ["echo", rest @ ..] if plain(rest) => Some(rest.join(" ") + "\n"),
        ["printf", format] if !format.contains(['%', '\\']) => Some((*format).to_owned()),
        ["printf", format] if !format.contains('%') => {
            let text = format.replace("\\n", "\n").replace("\\t", "\t");
            Some(text).filter(|text| !text.contains('\\'))
        }
        ["printf", "%s\\n" | "%s\n", rest @ ..] if !rest.is_empty() => {
            Some(rest.iter().map(|word| format!("{word}\n")).collect())
        }
        ["printf", "%s", rest @ ..] => Some(rest.concat()),
        _ => None,
    }
}

/// Words that `echo` prints as they are, whatever its settings.
fn plain(words: &[&str]) -> bool {
    words.first().is_none_or(|word| !word.starts_with('-')) && !words.iter().any(|word| word.contains('\\'))
}

/// `s/from/to/` or `s/from/to/g` where no letter means anything but itself.
fn substitution(script: &str) -> Option<Act> {
    let rest = script.strip_prefix('s')?;
    let delimiter = rest.chars().next().filter(|letter| "/|#,:@!".contains(*letter))?;
    let fields: Vec<&str> = rest.get(1..)?.split(delimiter).collect();
    let [from, to, flags @ ("" | "g")] = fields.as_slice() else { return None };
    let itself = |text: &str, special: &[char]| !text.contains(special) && !text.contains(char::is_control);
    let simple = !from.is_empty()
        && itself(from, &['.', '*', '[', ']', '^', '$', '\\', '+', '?', '(', ')', '{', '}', '|'])
        && itself(to, &['&', '\\']);
    simple.then(|| Act::Replace { from: (*from).to_owned(), to: (*to).to_owned(), everywhere: *flags == "g" })
}

#[cfg(test)]
mod tests {
    use super::super::testing::shown;
    use super::*;

    /// a.txt holds two lines, the others nothing that is told.
    struct Two;

    impl Contents for Two {
        fn text(&self, path: &str) -> Option<String> {
            path.ends_with("/a.txt").then(|| "one one\ntwo\n".to_owned())
        }
    }

    fn lines(text: &str) -> Vec<String> {
        shown(text, |question| changes(question, &Two)).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn what_is_known_of_a_write_is_shown() {
        let a = "what changes in /home/dev/proj/a.txt:";
        let table: [(&str, &[&str]); 13] = [
            ("echo three > a.txt", &[a, "@@ -1,2 +1 @@", "-one one", "-two", "+three"]),
            ("echo three >> a.txt", &[a, "@@ -1,2 +1,3 @@", " one one", " two", "+three"]),
            ("printf '%s\\n' 'one one' > a.txt", &[a, "@@ -1,2 +1 @@", " one one", "-two"]),
            ("cat > a.txt <<'E'\none one\n2\nE", &[a, "@@ -1,2 +1,2 @@", " one one", "-two", "+2"]),
            ("printf x | tee a.txt", &[a, "@@ -1,2 +1 @@", "-one one", "-two", "+x (no newline at the end)"]),
            ("tee -a a.txt <<< 3", &[a, "@@ -1,2 +1,3 @@", " one one", " two", "+3"]),
            ("sed -i s/one/1/ a.txt", &[a, "@@ -1,2 +1,2 @@", "-one one", "+1 one", " two"]),
            ("sed -i 's|one|1|g' a.txt", &[a, "@@ -1,2 +1,2 @@", "-one one", "+1 1", " two"]),
            ("sed -i s/four/4/ a.txt", &["/home/dev/proj/a.txt stays as it is"]),
            ("x=3; echo $x > a.txt", &[a, "@@ -1,2 +1 @@", "-one one", "-two", "+3"]),
            ("echo x > new.txt", &["new file: /home/dev/proj/new.txt"]),
            (
                "printf '\\n' >> a.txt; echo y > a.txt",
                &[a, "@@ -1,2 +1,3 @@", " one one", " two", "+", "/home/dev/proj/a.txt is changed again"],
            ),
            ("printf '\\n\\x1b[2J' > a.txt", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(lines(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_shown() {
        for text in [
            "echo $UNKNOWN > a.txt",
            "echo -e 'a\\tb' > a.txt",
            "echo x 2> a.txt",
            "echo x > b.txt",
            "echo x > .env",
            "sed -i 's/o.e/1/' a.txt",
            "sed -i 's/one/&1/' a.txt",
            "sed -i 's/one/1/w b.txt' a.txt",
            "echo() { rm x; }; echo x > a.txt",
            "ls > a.txt",
        ] {
            assert_eq!(lines(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn long_and_hostile_differences_are_counted_and_visible() {
        let text = format!("echo '{}\u{1b}[2J' > a.txt", "x\n".repeat(SHOWN + 50));
        let found = lines(&text);
        assert!(found.last().is_some_and(|line| line.contains("more lines")), "{found:?}");
        assert!(!found.concat().contains('\u{1b}'));
    }
}
