//! What a person sees of a tool's use beside its name: what a write would change, or what the tool is given.

use super::changes::difference_of;
use super::contents::Contents;
use super::layout::{Line, Mark};
use super::{Question, sanitize};
use crate::facts::EffectKind;
use crate::facts::path::{Located, Target};
use crate::host::Node;
use crate::request::Act;

/// Of a longer input the rest is only counted; its hash is what an answer is bound to.
const SHOWN: usize = 400;

/// What each act of the tool would change, and what the tool is given.
pub(super) fn given(question: &Question<'_>, contents: &dyn Contents) -> Vec<Line> {
    let Some(tool) = &question.request.tool else { return Vec::new() };
    let mut lines: Vec<Line> = tool.acts.iter().flat_map(|act| of_act(question, act, contents)).collect();
    let input: Vec<&str> = tool.input.lines().collect();
    lines.extend(input.iter().take(SHOWN).map(|line| Line::new(Mark::Command, sanitize::line(line))));
    if let Some(more) = input.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        lines.push(Line::plain(format!("({more} more lines are not shown)")));
    }
    lines
}

fn of_act(question: &Question<'_>, act: &Act, contents: &dyn Contents) -> Vec<Line> {
    let (path, change): (&str, &dyn Fn(&str) -> String) = match act {
        Act::Write { path, content } => (path, &|_| content.clone()),
        Act::Edit { path, parts } => {
            (path, &|old| parts.iter().fold(old.to_owned(), |text, (from, to)| replaced(&text, from, to)))
        }
        _ => return Vec::new(),
    };
    let Some(place) = place(question, path) else { return Vec::new() };
    let name = sanitize::line(&place.lexical);
    let old = match place.node {
        Node::Missing => Some(String::new()),
        _ => contents.text(&place.real),
    };
    let Some(old) = old else { return vec![Line::plain(format!("what stands in {name} is not shown"))] };
    let head = if place.node == Node::Missing { "new file" } else { "what changes in" };
    [Line::plain(format!("{head} {name}:"))].into_iter().chain(difference_of(&old, &change(&old))).collect()
}

/// A part that stands nowhere is told as what it is: something new.
fn replaced(text: &str, from: &str, to: &str) -> String {
    if from.is_empty() || !text.contains(from) { format!("{text}{to}") } else { text.replacen(from, to, 1) }
}

/// The place that the facts found for a path.
fn place<'q>(question: &Question<'q>, path: &str) -> Option<&'q Located> {
    question.facts.effects.iter().find_map(|effect| {
        let by = question.facts.invocations.get(effect.by?)?;
        let named = by.words.get(1).and_then(|word| word.text()) == Some(path);
        match &effect.kind {
            EffectKind::Write { target: Target::Known(place), .. } if named => Some(place),
            _ => None,
        }
    })
}
