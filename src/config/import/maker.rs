//! The words of an agent's pattern to patterns of gsh: as gsh quotes words, and in every spelling where
//! something is refused.

use super::carry::{Lost, Shadow};
use super::words::{CommandPattern, Glyph, Word};
use crate::policy::Verdict;
use crate::policy::pattern::escape;
use crate::syntax::quote;

/// How many patterns a rule may become.
const MOST: usize = 16;

/// Programs that run what follows them: gsh judges that as well.
const RUNNERS: &str = "sudo doas su pkexec run0 xargs find parallel watch ssh env nice ionice time timeout nohup \
    setsid stdbuf command builtin exec eval bash sh dash zsh chroot unshare docker podman kubectl";

/// Makes gsh's patterns.
pub(super) struct Maker {
    action: Verdict,
    /// In what they are stricter than the agent's.
    pub(super) stricter: Vec<String>,
}

impl Maker {
    /// For rules with this action.
    pub(super) fn new(action: Verdict) -> Self {
        Self { action, stricter: vec![] }
    }

    fn allows(&self) -> bool {
        self.action == Verdict::Allow
    }

    /// Adds in what they are stricter.
    pub(super) fn note(&mut self, why: &str) {
        if !self.stricter.iter().any(|known| known == why) {
            self.stricter.push(why.to_owned());
        }
    }

    /// The patterns for a whole command.
    pub(super) fn patterns(
        &mut self,
        whole: &CommandPattern,
        mut words: Vec<Word>,
    ) -> Result<Vec<String>, Lost> {
        let assigned = words.iter().take_while(|word| word.assigns()).count();
        if assigned > 0 && (self.allows() || assigned == words.len()) {
            return Err(Lost::command("gsh matches a command without the variables before it"));
        }
        if assigned > 0 {
            words.drain(..assigned);
            self.note("whatever the variables before the command");
        }
        if words.iter().any(|word| word.joins) {
            if self.allows() {
                return Err(Lost::new("an allow is for one command, there as here", Shadow::Nothing));
            }
            self.note("however the text is spaced, and for each list and pipeline within a script");
        }
        let mut forms = self.program(words.first())?;
        for word in words.iter().skip(1) {
            forms = product(&forms, &self.forms(word)?)?;
        }
        self.runner(words.first());
        self.ended(whole, &words, &mut forms);
        Ok(forms)
    }

    /// How the pattern ends.
    fn ended(&mut self, whole: &CommandPattern, words: &[Word], forms: &mut [String]) {
        let runs = whole.glyphs.iter().filter(|glyph| **glyph == Glyph::Run).count();
        if whole.open {
            forms.iter_mut().for_each(|form| form.push_str(" *"));
        } else if words.len() > 1
            && words.last().is_some_and(Word::is_run)
            && runs > 1
            && !whole.tail_is_optional
        {
            if self.allows() {
                forms.iter_mut().for_each(|form| form.insert(form.len() - 1, '?'));
            } else {
                self.note("also without the last argument");
            }
        }
    }

    /// The forms of the program's word. gsh calls a program that PATH finds by its name.
    fn program(&mut self, word: Option<&Word>) -> Result<Vec<String>, Lost> {
        let Some(word) = word else { return Err(Lost::command("it names no command")) };
        let mut forms = self.forms(word)?;
        let slash = word.glyphs.iter().rposition(|glyph| *glyph == Glyph::Char('/'));
        let Some(name) = slash.and_then(|at| word.glyphs.get(at + 1..)) else { return Ok(forms) };
        let is_absolute = word.glyphs.first() != Some(&Glyph::Char('.'));
        if self.allows() {
            if is_absolute {
                self.note("not where PATH finds this very program, which gsh calls by its name");
            }
            return Ok(forms);
        }
        if name.iter().all(|glyph| *glyph == Glyph::Run) {
            return Err(Lost::command("gsh calls a program that PATH finds by its name, without its folder"));
        }
        self.note("by whatever path the program is called");
        let bare = Word { glyphs: name.to_vec(), begun: true, ..word.clone() };
        forms.extend(self.forms(&bare)?);
        Ok(forms)
    }

    fn runner(&mut self, word: Option<&Word>) {
        let name = word.and_then(Word::text).unwrap_or_default();
        if self.allows() && RUNNERS.split_whitespace().any(|runner| runner == name) {
            self.note("gsh wants what it runs allowed as well");
        }
    }

    /// The patterns of one word.
    fn forms(&mut self, word: &Word) -> Result<Vec<String>, Lost> {
        if word.joins {
            return Ok(vec![word.pattern()]);
        }
        if word.expands && self.allows() {
            return Err(Lost::command(
                "gsh matches the files that a pattern in a command names, not the pattern",
            ));
        }
        if word.expands {
            self.note("whatever stands where the shell puts in names of files");
            return Ok(vec!["*".to_owned()]);
        }
        if let Some(text) = word.text() {
            return Ok(vec![escape(&quote(&text))]);
        }
        if word.is_run() {
            return Ok(vec!["*".to_owned()]);
        }
        let chars: String =
            word.glyphs.iter().filter_map(|g| if let Glyph::Char(c) = g { Some(*c) } else { None }).collect();
        let is_plain = chars.is_empty() || quote(&chars) == chars;
        if chars.contains('\'') {
            return Err(Lost::command("a wildcard beside a quote cannot be said"));
        }
        match (self.allows(), is_plain && !word.quoted) {
            (true, true) => Ok(vec![word.pattern()]),
            (true, false) => {
                self.note("only where the argument needs quotes");
                Ok(vec![word.pattern_quoted(true)])
            }
            (false, _) => {
                self.note("also where the argument needs quotes");
                Ok(vec![word.pattern(), word.pattern_quoted(false)])
            }
        }
    }
}

/// Each of the beginnings with each of the ends.
fn product(heads: &[String], tails: &[String]) -> Result<Vec<String>, Lost> {
    if heads.len() * tails.len() > MOST {
        return Err(Lost::command("it would take too many rules"));
    }
    Ok(heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head} {tail}"))).collect())
}
