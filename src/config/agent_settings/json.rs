//! JSON, with comments or without: the concrete text is changed, so that everything else stays.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::{Before, CannotEdit, Edit, Edited, Kind, is_ours};

pub(super) fn apply(text: Option<&str>, edits: &[Edit]) -> Result<Edited, CannotEdit> {
    let (mark, text) = marked(text.unwrap_or_default());
    let root = read(if text.trim().is_empty() { "{}\n" } else { text })?;
    let before = edits.iter().map(|edit| one(&root, edit)).collect::<Result<_, _>>()?;
    Ok(Edited { text: format!("{mark}{root}"), before })
}

pub(super) fn revert(text: &str, edits: &[(Edit, Before)]) -> Result<String, CannotEdit> {
    let (mark, text) = marked(text);
    let root = read(text)?;
    for (edit, before) in edits.iter().rev() {
        back(&root, edit, before)?;
    }
    Ok(format!("{mark}{root}"))
}

/// The byte order mark that some editors put in front, and the text behind it.
fn marked(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

pub(super) fn value_at(text: &str, key: &[&str]) -> Option<Value> {
    let root = read(marked(text).1).ok()?;
    let (last, above) = key.split_last()?;
    let mut object = root.object_value()?;
    for name in above {
        object = property(&object, name).ok()??.object_value()?;
    }
    property(&object, last).ok()??.value()?.to_serde_value()
}

fn read(text: &str) -> Result<CstRootNode, CannotEdit> {
    // What beyond comments the parser would take, agents do not, and a change of it would go wrong.
    let strict = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &strict).map_err(|error| CannotEdit::Unreadable(error.to_string()))
}

/// The property of this name. A name that stands twice means something else to every reader.
fn property(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, CannotEdit> {
    let mut found =
        object.properties().into_iter().filter(|each| each.decoded_name().as_deref() == Some(name));
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(CannotEdit::Unexpected(name.to_owned())),
        (found, None) => Ok(found),
    }
}

fn one(root: &CstRootNode, edit: &Edit) -> Result<Before, CannotEdit> {
    let wrong = || CannotEdit::Unexpected(edit.key.join("."));
    let mut object = root.object_value_or_create().ok_or_else(wrong)?;
    let (last, above) = edit.key.split_last().ok_or_else(wrong)?;
    let mut depth = 0;
    for name in above {
        depth += usize::from(property(&object, name)?.is_some());
        object = object.object_value_or_create(name).ok_or_else(wrong)?;
    }
    let here = property(&object, last)?;
    depth += usize::from(here.is_some());
    if let Kind::Entry(end) = &edit.kind {
        let list = object.array_value_or_create(last).ok_or_else(wrong)?;
        return Ok(Before { old: entry(&list, &edit.value, end), depth });
    }
    let Some(here) = here else {
        object.append(last, input(&edit.value));
        return Ok(Before { old: None, depth });
    };
    let old = here.value().and_then(|value| value.to_serde_value());
    if edit.kind == Kind::Set && old.as_ref() != Some(&edit.value) {
        here.set_value(input(&edit.value));
        return Ok(Before { old, depth });
    }
    Ok(Before { old: None, depth })
}

/// Puts the entry at the end of the list, or in the place of an older one of ours, which is returned.
fn entry(list: &CstArray, value: &Value, end: &str) -> Option<Value> {
    let ours = |node: &CstNode| {
        node.to_serde_value().filter(|found| is_ours(found, end)).map(|old| (node.clone(), old))
    };
    let Some((node, old)) = list.elements().iter().find_map(ours) else {
        list.append(input(value));
        return None;
    };
    if old == *value {
        return None;
    }
    if holds_others(&old, end) {
        take_out(&node, end);
        list.append(input(value));
        return None;
    }
    replace(node, value);
    Some(old)
}

/// Whether an entry of ours is a group, with entries of somebody else's in it.
fn holds_others(group: &Value, end: &str) -> bool {
    let lists = group.as_object().into_iter().flat_map(|group| group.values()).filter_map(Value::as_array);
    lists.flatten().any(|item| !is_ours(item, end))
}

/// Takes ours out of a group.
fn take_out(group: &CstNode, end: &str) {
    let lists = group.as_object().into_iter().flat_map(|group| group.properties());
    for node in lists.filter_map(|list| list.array_value()).flat_map(|list| list.elements()) {
        if node.to_serde_value().is_some_and(|found| is_ours(&found, end)) {
            node.remove();
        }
    }
}

fn replace(node: CstNode, value: &Value) {
    if let Some(object) = node.as_object() {
        object.replace_with(input(value));
    } else if let Some(text) = node.as_string_lit() {
        text.replace_with(input(value));
    }
}

fn back(root: &CstRootNode, edit: &Edit, before: &Before) -> Result<(), CannotEdit> {
    let (Some(object), Some((last, above))) = (root.object_value(), edit.key.split_last()) else {
        return Ok(());
    };
    let mut path = vec![object];
    for name in above {
        let Some(inner) = path.last().map(|object| property(object, name)).transpose()?.flatten() else {
            return Ok(());
        };
        let Some(object) = inner.object_value() else { return Ok(()) };
        path.push(object);
    }
    let Some(here) = path.last().map(|object| property(object, last)).transpose()?.flatten() else {
        return Ok(());
    };
    if taken_back(here, edit, before) {
        prune(&path, &edit.key, before.depth);
    }
    Ok(())
}

/// Puts one place back; whether something may be left empty there.
fn taken_back(here: CstObjectProp, edit: &Edit, before: &Before) -> bool {
    let is_there = here.value().and_then(|value| value.to_serde_value()).as_ref() == Some(&edit.value);
    match (&edit.kind, &before.old) {
        (Kind::Entry(end), old) => {
            let Some(list) = here.array_value() else { return false };
            for node in list.elements() {
                let Some(found) = node.to_serde_value().filter(|found| is_ours(found, end)) else { continue };
                match old {
                    _ if holds_others(&found, end) => take_out(&node, end),
                    Some(old) => replace(node, old),
                    None => node.remove(),
                }
            }
            if list.elements().is_empty() && before.depth < edit.key.len() {
                here.remove();
            }
        }
        (Kind::Set, Some(old)) if is_there => here.set_value(input(old)),
        (Kind::Set | Kind::Default, None) if is_there && before.depth < edit.key.len() => here.remove(),
        _ => return false,
    }
    true
}

/// Removes the objects that an edit made and that hold nothing now.
fn prune(path: &[CstObject], key: &[String], depth: usize) {
    for (at, object) in path.iter().enumerate().skip(1).rev() {
        if at <= depth || !object.properties().is_empty() {
            return;
        }
        let holder = at.checked_sub(1).and_then(|above| path.get(above).zip(key.get(above)));
        if let Some((holder, name)) = holder
            && let Some(inner) = holder.get(name)
        {
            inner.remove();
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
