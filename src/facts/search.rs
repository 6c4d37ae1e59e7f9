//! What a program that reads whole trees prints of them.

use super::EffectKind;
use super::environment::names_secret;
use super::gather::Gatherer;
use super::path::{self, Target};
use super::programs::{Reading, Role, Use};
use super::state::State;
use crate::report::Span;
use crate::syntax::{Cause, ParameterForm, Piece, Simple};

/// Words in a search pattern that go looking for secrets.
const SECRET_WORDS: &[&str] = &["key", "token", "secret", "passw", "credential", "api_", "bearer", "private"];

/// The same, as they are written where secrets are: a key's first line, a cloud's variables.
const SECRET_MARKS: &[&str] = &["BEGIN", "AWS", "-----"];

impl Gatherer<'_> {
    /// Writes down that a tree is read, with the files in it where more than matching lines is printed.
    pub(super) fn read_tree(
        &mut self,
        state: &State,
        reading: &Reading,
        (each, tree): (&Use, Target),
        by: usize,
    ) {
        let searches = each.role == Role::SearchTree;
        let whole = searches && self.holds_a_home(&tree);
        let narrow = searches && (is_narrow(reading) || reading.skips_hidden && !whole);
        let files = match &tree {
            Target::Known(place) if !narrow && !whole => self.enumerate(state, &place.lexical, None),
            _ => None,
        };
        if !narrow && files.is_none() {
            let place = each.arg.display();
            let detail = if whole {
                format!("{place} is a whole home: a search like this prints secrets that are kept there")
            } else {
                format!("which files below {place} it reads cannot be listed")
            };
            self.doubt(Cause::DynamicPath, detail, each.arg.span, false);
        }
        self.effect(EffectKind::ReadTree { tree, narrow, files }, Some(by), each.arg.span);
    }

    /// `echo "$SOME_TOKEN"`: says so when the shell that asks was given such a variable.
    pub(super) fn prints_variables(&mut self, state: &State, simple: &Simple, by: Option<usize>) {
        let mut words = simple.words.iter();
        let first = words.next().map(|word| &word.pieces[..]);
        if !matches!(first, Some([Piece::Text { text, .. }]) if text == "echo" || text == "printf") {
            return;
        }
        let secret = |piece: &Piece| match piece {
            Piece::Parameter { name, form, .. } => {
                let shown = match form {
                    ParameterForm::Plain | ParameterForm::Edit { .. } => true,
                    ParameterForm::Fallback { operator, .. } => !operator.ends_with('+'),
                    ParameterForm::Length | ParameterForm::Indirect => false,
                };
                let given = !state.vars.contains_key(name) && self.host.var(name).is_some();
                shown && given && names_secret(name)
            }
            _ => false,
        };
        if words.any(|word| word.pieces.iter().any(secret)) {
            self.effect(EffectKind::RevealSecrets, by, Span::default());
        }
    }

    /// Whether a home is this tree, or lies in it.
    fn holds_a_home(&self, tree: &Target) -> bool {
        let Target::Known(place) = tree else { return false };
        let homes = self.host.homes();
        let homes = homes.iter().filter_map(|home| home.to_str()).chain(["/root"]);
        homes
            .into_iter()
            .any(|home| path::is_below(home, &place.lexical) || path::is_below(home, &place.real))
    }
}

/// Whether a search prints only lines with an ordinary word in them.
fn is_narrow(reading: &Reading) -> bool {
    let mut patterns = reading.uses.iter().filter(|each| each.role == Role::Pattern).peekable();
    patterns.peek().is_some()
        && patterns.all(|each| {
            each.arg.text().is_some_and(|text| {
                let lower = text.to_lowercase();
                let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
                letters >= 2
                    && !SECRET_WORDS.iter().any(|word| lower.contains(word))
                    && !SECRET_MARKS.iter().any(|mark| text.contains(mark))
            })
        })
}
