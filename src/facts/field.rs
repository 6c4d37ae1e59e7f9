//! Fields on their way from words to arguments: characters and holes, split as the shell splits.

use std::rc::Rc;

use super::arg::{Arg, Hole, HoleKind, Part};
use crate::syntax::Cause;

/// A character or hole on its way through splitting and path expansion.
#[derive(Debug, Clone)]
pub(super) enum Unit {
    /// A character; `active`: unquoted, so wildcards count; `splits`: it came from an unquoted
    /// expansion, so blanks end the field.
    Char { character: char, active: bool, splits: bool },
    /// Unknown characters.
    Hole(Hole),
    /// Quotes that may hold nothing: the field exists even if it is empty.
    Quotes,
    /// The end of a field (`"$@"`).
    Break,
}

/// A word with holes: output that is glued to other text, or stands beside a wildcard, makes other words
/// than the parts say.
pub(super) fn glued(mut arg: Arg, wild: bool) -> Arg {
    let several = arg.parts.len() > 1;
    for part in &mut arg.parts {
        let Part::Hole(hole) = part else { continue };
        let patterns = matches!(&hole.kind, HoleKind::OneOf(values)
            if hole.splits && values.iter().any(|value| value.contains(['*', '?', '['])));
        if wild || patterns || several && hole.lines && hole.splits {
            *hole = Hole { kind: HoleKind::Any(Cause::DynamicWord), splits: true, lines: true };
        } else if several
            && hole.lines
            && let HoleKind::OneOf(values) = &hole.kind
        {
            let values = values.iter().cloned().chain([String::new()]).collect();
            hole.kind = HoleKind::OneOf(Rc::new(values));
        }
    }
    arg
}

pub(super) fn fixed(character: char) -> Unit {
    Unit::Char { character, active: false, splits: false }
}

pub(super) fn push_parts(parts: &[Part], quoted: bool, units: &mut Vec<Unit>) {
    for part in parts {
        match part {
            Part::Text(text) => units.extend(text.chars().map(|character| Unit::Char {
                character,
                active: !quoted,
                splits: !quoted,
            })),
            Part::Hole(hole) => units.push(Unit::Hole(Hole { splits: !quoted, ..hole.clone() })),
        }
    }
}

pub(super) fn push_list(list: &[Arg], quoted: bool, separate: bool, units: &mut Vec<Unit>) {
    for (index, arg) in list.iter().enumerate() {
        if index > 0 {
            if quoted && !separate {
                units.push(fixed(' '));
            } else {
                units.push(Unit::Break);
            }
        }
        if quoted {
            units.push(Unit::Quotes);
        }
        // An element that a pattern or an unquoted word made may stand for several.
        let first = units.len();
        push_parts(&arg.parts, quoted, units);
        for unit in units.iter_mut().skip(first) {
            if let Unit::Hole(hole) = unit {
                hole.splits |= matches!(hole.kind, HoleKind::Any(_)) || hole.lines;
            }
        }
    }
}

/// Splits at blanks that came from unquoted expansions, or at the characters of a known `IFS`.
pub(super) fn split(units: Vec<Unit>, separators: Option<&str>) -> Vec<Vec<Unit>> {
    let blank = |character: char| matches!(character, ' ' | '\t' | '\n');
    let separates = |character: char| separators.map_or(blank(character), |all| all.contains(character));
    let mut fields = Vec::new();
    let mut field: Vec<Unit> = Vec::new();
    // The field has something in it, or ended at blanks only.
    let (mut any, mut after_blank) = (false, false);
    for unit in units {
        let (ends, hard) = match &unit {
            Unit::Break => (true, false),
            Unit::Char { character, splits: true, .. } => (separates(*character), !blank(*character)),
            _ => (false, false),
        };
        if !ends {
            (any, after_blank) = (true, false);
            field.push(unit);
            continue;
        }
        // Blanks end a field that is there; any other separator ends one even if it is empty.
        if any || hard && !after_blank {
            fields.push(std::mem::take(&mut field));
        }
        (any, after_blank) = (false, any && !hard);
    }
    if any {
        fields.push(field);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::{Unit, split};

    #[test]
    fn fields_end_where_bash_ends_them() {
        for (text, separators, expected) in [
            (" a  b ", None, vec!["a", "b"]),
            ("a,b", None, vec!["a,b"]),
            ("a,b c", Some(","), vec!["a", "b c"]),
            (",a,,b,", Some(","), vec!["", "a", "", "b"]),
            ("a , b", Some(", "), vec!["a", "b"]),
            ("a b", Some(""), vec!["a b"]),
        ] {
            let units = text.chars().map(|character| Unit::Char { character, active: true, splits: true });
            let fields: Vec<String> = split(units.collect(), separators)
                .iter()
                .map(|field| {
                    let letter = |unit: &Unit| match unit {
                        Unit::Char { character, .. } => Some(*character),
                        _ => None,
                    };
                    field.iter().filter_map(letter).collect()
                })
                .collect();
            assert_eq!(fields, expected, "{text:?} at {separators:?}");
        }
    }
}
