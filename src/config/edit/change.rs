//! Changes of a text, as splices: what is not changed stays byte for byte.

use std::ops::Range;

use super::entries::{Entries, Entry, Form, Listing};
use super::lines::{Written, begins_blank, end_of_line, newline, start_of_line};
use crate::policy::{Capability, pattern};

/// Why a rule cannot be put where it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cannot {
    /// The rules stand in an inline table or something odder.
    Fixed,
    /// The two stand in tables whose order is theirs.
    Apart,
}

/// Where a rule goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// Before or behind another one.
    Beside {
        /// The other one.
        other: usize,
        /// Before it.
        before: bool,
    },
    /// Before whatever could decide in its place.
    Top,
    /// Behind it.
    Bottom,
}

/// What to put in the place of bytes.
type Splice = (Range<usize>, String);

/// The text with one more rule, which comes last of all that apply to the same requests.
///
/// A file's tables apply before its explicit rules, wherever they stand. So a rule is put into its
/// capability's table only if nothing that applies later could decide in its place; else it becomes
/// the last explicit rule.
pub(super) fn added(text: &str, entries: &Entries, rule: &Written) -> Result<String, Cannot> {
    let table = entries.tables.iter().enumerate().find(|(index, table)| {
        let has = |entry: &Entry| entry.form == Form::Nested(*index) && entry.pattern == rule.pattern;
        table.is_plain && table.capability == rule.capability && !entries.all.iter().any(has)
    });
    if let Some((index, table)) = table.filter(|_| rule.is_plain()) {
        let last = entries.all.iter().rposition(|entry| entry.form == Form::Nested(index));
        let later = last.map(|last| entries.all.get(last + 1..).unwrap_or_default());
        if later.is_some_and(|later| !later.iter().any(|entry| overlap(&entry.capability, &rule.capability)))
        {
            return Ok(spliced(text, vec![insertion(text, table.end, rule.nested(newline(text)))]));
        }
    }
    match &entries.listing {
        Listing::Closed => Err(Cannot::Fixed),
        Listing::Array(array) => Ok(spliced(text, in_array(text, array, entries, rule))),
        Listing::Blocks => {
            let last = entries.all.last().filter(|entry| entry.form == Form::Block);
            let at = last.map_or(text.len(), |entry| entry.own.end);
            Ok(spliced(text, vec![block_at(text, at, &rule.block(newline(text)))]))
        }
    }
}

/// The text without a rule.
pub(super) fn removed(text: &str, entry: &Entry) -> Result<String, Cannot> {
    Ok(spliced(text, vec![(cut(text, entry).ok_or(Cannot::Fixed)?, String::new())]))
}

/// The text with a rule in another place; None when it stands there.
pub(super) fn moved(
    text: &str,
    entries: &Entries,
    which: usize,
    goal: Goal,
) -> Result<Option<String>, Cannot> {
    let entry = entries.all.get(which).ok_or(Cannot::Fixed)?;
    let rivals = |(index, other): &(usize, &Entry)| *index != which && is_rival(entry, other);
    let mut all = entries.all.iter().enumerate();
    let beside = match goal {
        Goal::Beside { other, before } => Some((other, before)),
        Goal::Top => all.find(rivals).filter(|(other, _)| *other < which).map(|(other, _)| (other, true)),
        Goal::Bottom => {
            all.rfind(rivals).filter(|(other, _)| *other > which).map(|(other, _)| (other, false))
        }
    };
    let Some((other, before)) = beside.filter(|(other, _)| *other != which) else { return Ok(None) };
    let neighbour = entries.all.get(other).ok_or(Cannot::Fixed)?;
    if other == if before { which + 1 } else { which.wrapping_sub(1) } {
        return Ok(None);
    }
    match beside_it(text, entries, (entry, neighbour), before) {
        Err(Cannot::Apart) if goal == Goal::Bottom && entry.form != Form::Shorthand => {
            let without = removed(text, entry)?;
            let entries = Entries::of(&without).ok_or(Cannot::Fixed)?;
            let rule = written(entry);
            added(&without, &entries, &rule).map(Some)
        }
        moved => moved.map(Some),
    }
}

/// Whether the order of the two can matter. A catch-all that allows or asks gives way to every other
/// rule wherever it stands.
fn is_rival(entry: &Entry, other: &Entry) -> bool {
    (entry.form == Form::Shorthand) == (other.form == Form::Shorthand)
        && overlap(&entry.capability, &other.capability)
}

/// Whether some request could be both's. A rule in an agent's form is taken to be for all.
fn overlap(one: &str, other: &str) -> bool {
    let covers = |name: &str, capability: &str| {
        !crate::config::schema::names_capability(name) || pattern::matches(name, capability)
    };
    Capability::ALL.iter().any(|each| covers(one, each.word()) && covers(other, each.word()))
}

/// The text with a rule right before or behind another one, in that one's form where it must be.
fn beside_it(
    text: &str,
    entries: &Entries,
    (entry, other): (&Entry, &Entry),
    before: bool,
) -> Result<String, Cannot> {
    let mut own = text.get(entry.own.clone()).ok_or(Cannot::Fixed)?.to_owned();
    if !own.ends_with('\n') {
        own.push_str(newline(text));
    }
    let at = if before { other.own.start } else { other.own.end };
    let cut = (cut(text, entry).ok_or(Cannot::Fixed)?, String::new());
    let put = match (&entry.form, &other.form) {
        (Form::Fixed | Form::Element, _) | (_, Form::Fixed | Form::Element) => return Err(Cannot::Fixed),
        (Form::Shorthand, Form::Shorthand) => insertion(text, at, own),
        (Form::Nested(one), Form::Nested(same)) if one == same => insertion(text, at, own),
        (Form::Block, Form::Block) => block_at(text, at, &own),
        (Form::Nested(_), Form::Block) => block_at(text, at, &written(entry).block(newline(text))),
        (_, Form::Nested(table)) if entries.tables.get(*table).is_some_and(|table| table.is_plain) => {
            if entry.form == Form::Shorthand || entry.capability != other.capability {
                return Err(Cannot::Apart);
            }
            insertion(text, at, written(entry).nested(newline(text)))
        }
        _ => return Err(Cannot::Apart),
    };
    Ok(spliced(text, vec![cut, put]))
}

fn written(entry: &Entry) -> Written {
    let Entry { capability, pattern, terms, comments, .. } = entry.clone();
    Written { capability, pattern, terms, comments }
}

/// Lines at the beginning of a line; where the text before ends without a line's end, it gets one.
fn insertion(text: &str, at: usize, lines: String) -> Splice {
    let is_whole = at == 0 || text.get(..at).is_some_and(|before| before.ends_with('\n'));
    (at..at, if is_whole { lines } else { format!("{}{lines}", newline(text)) })
}

/// A block with a blank line around it.
fn block_at(text: &str, at: usize, block: &str) -> Splice {
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at..).unwrap_or_default());
    let newline = newline(text);
    let mut put = String::new();
    if !before.is_empty() && !before.ends_with('\n') {
        put.push_str(newline);
    }
    if before.lines().next_back().is_some_and(|line| !line.trim().is_empty()) {
        put.push_str(newline);
    }
    put.push_str(block.trim_end());
    put.push_str(newline);
    if !begins_blank(after) {
        put.push_str(newline);
    }
    (at..at, put)
}

/// One more element of an array, behind the last.
fn in_array(text: &str, array: &Range<usize>, entries: &Entries, rule: &Written) -> Vec<Splice> {
    let elements = entries.all.iter().filter(|entry| entry.form == Form::Element);
    let Some(last) = elements.map(|entry| entry.own.clone()).next_back() else {
        return vec![(array.clone(), format!("[{}]", rule.element()))];
    };
    let inside = text.get(last.end..array.end).unwrap_or_default();
    let comma =
        inside.trim_start().starts_with(',').then(|| last.end + inside.find(',').unwrap_or_default() + 1);
    if !inside.contains('\n') {
        let (at, between) = comma.map_or((last.end, ", "), |at| (at, " "));
        return vec![(at..at, format!("{between}{}", rule.element()))];
    }
    // Behind what stands in the last element's line: a comment there is its own.
    let end = end_of_line(text, comma.unwrap_or(last.end));
    let start = start_of_line(text, last.start);
    let indent: String =
        text.get(start..).unwrap_or_default().chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let line = (end..end, format!("{indent}{},{}", rule.element(), newline(text)));
    match comma {
        Some(_) => vec![line],
        None => vec![(last.end..last.end, ",".to_owned()), line],
    }
}

/// The bytes that a rule takes with it. None when it cannot be taken away.
fn cut(text: &str, entry: &Entry) -> Option<Range<usize>> {
    let Range { start, end } = entry.own;
    let rest = text.get(end..)?;
    match entry.form {
        Form::Fixed => None,
        Form::Shorthand | Form::Nested(_) => Some(start..end),
        // With one of the blank lines around it.
        Form::Block if !rest.is_empty() && begins_blank(rest) => Some(start..end_of_line(text, end)),
        Form::Block => {
            let above = start_of_line(text, start.saturating_sub(1));
            let is_blank = start > 0 && text.get(above..start).is_some_and(|line| line.trim().is_empty());
            Some(if is_blank { above } else { start }..end)
        }
        Form::Element => {
            let comma = rest.trim_start_matches([' ', '\t']);
            let end = match comma.strip_prefix(',') {
                Some(after) => text.len() - after.len(),
                None => end,
            };
            let line = start_of_line(text, start)..end_of_line(text, end);
            let is_alone = text.get(line.start..start)?.trim().is_empty()
                && text.get(end..line.end)?.trim().is_empty()
                && line.start > 0;
            Some(if is_alone { line } else { start..end })
        }
    }
}

/// The text with the splices made.
fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    // From the end, so that no place moves; what is cut before what is put in the same place.
    splices.sort_by_key(|(range, _)| std::cmp::Reverse((range.start, range.end)));
    let mut text = text.to_owned();
    for (range, put) in splices {
        text.replace_range(range, &put);
    }
    text
}
