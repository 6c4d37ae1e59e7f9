//! The one shape of YAML that we change: a list of plain words below a key at the left edge, as in
//!
//! ```yaml
//! set-env:
//!   - NAME=value
//! ```
//!
//! Whatever is written otherwise is left to a person: a whole reader of YAML that keeps comments is a large thing.

use serde_json::Value;

use super::{Before, CannotEdit, Edit, Edited};

/// A text, line by line, with the ends of lines.
struct Page {
    lines: Vec<String>,
    end: &'static str,
}

pub(super) fn apply(text: Option<&str>, edits: &[Edit]) -> Result<Edited, CannotEdit> {
    let mut page = Page::read(text.unwrap_or_default())?;
    let before = edits.iter().map(|edit| page.put(edit)).collect::<Result<_, _>>()?;
    Ok(Edited { text: page.lines.concat(), before })
}

pub(super) fn revert(text: &str, edits: &[(Edit, Before)]) -> Result<String, CannotEdit> {
    let mut page = Page::read(text)?;
    for (edit, before) in edits.iter().rev() {
        page.take(edit, before)?;
    }
    Ok(page.lines.concat())
}

/// The value of `NAME=value` in the list.
pub(super) fn value_at(text: &str, key: &[&str]) -> Option<Value> {
    let [list, name] = key else { return None };
    let page = Page::read(text).ok()?;
    let found = page.items(page.find(list)?).ok()?;
    let mut words = found.into_iter().filter_map(|at| page.lines.get(at).and_then(|line| item(line)));
    words.find_map(|(_, word)| word.strip_prefix(&format!("{name}=")).map(|value| value.to_owned().into()))
}

impl Page {
    fn read(text: &str) -> Result<Self, CannotEdit> {
        let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        for line in &lines {
            let body = line.trim_end();
            if body.starts_with("---") || body.starts_with("...") || body.starts_with('%') {
                return Err(CannotEdit::Unsure("it has marks of documents"));
            }
            if line.starts_with(['{', '[', '"', '\'', '&', '!', '|', '>', '\t', '}', ']', '?']) {
                return Err(CannotEdit::Unsure("its left edge holds more than plain keys"));
            }
            let is_key = || body.split_once(':').is_some_and(|(name, _)| !name.contains(' '));
            if !body.is_empty() && !line.starts_with([' ', '#', '-']) && !is_key() {
                return Err(CannotEdit::Unsure("its left edge holds more than plain keys"));
            }
        }
        let end = if lines.iter().any(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        Ok(Self { lines, end })
    }

    /// The line of a key at the left edge.
    fn find(&self, key: &str) -> Option<usize> {
        self.lines.iter().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
    }

    /// The lines of the items below a key.
    fn items(&self, key: usize) -> Result<Vec<usize>, CannotEdit> {
        let odd = CannotEdit::Unsure("the list is not written as one plain word a line");
        let head =
            self.lines.get(key).and_then(|line| line.split_once(':')).map_or("", |(_, rest)| rest.trim());
        if !(head.is_empty() || head.starts_with('#')) {
            return Err(odd);
        }
        let mut found = vec![];
        for (at, line) in self.lines.iter().enumerate().skip(key + 1) {
            match item(line) {
                Some(_) => found.push(at),
                None if line.trim().is_empty() || line.trim_start().starts_with('#') => {}
                None if line.starts_with(' ') || line.starts_with('-') => return Err(odd),
                None => break,
            }
        }
        Ok(found)
    }

    fn put(&mut self, edit: &Edit) -> Result<Before, CannotEdit> {
        let (key, name, word) = parts(edit)?;
        let Some(at) = self.find(key) else {
            if let Some(last) = self.lines.last_mut().filter(|last| !last.ends_with('\n')) {
                last.push_str(self.end);
            }
            self.lines.push(format!("{key}:{}", self.end));
            self.lines.push(format!("  - {word}{}", self.end));
            return Ok(Before { old: None, depth: 0 });
        };
        let items = self.items(at)?;
        let words = items.iter().filter_map(|at| self.lines.get(*at).and_then(|line| item(line)));
        match words.map(|(_, found)| found).find(|found| found.starts_with(&format!("{name}="))) {
            Some(found) if found == word => return Ok(Before { old: None, depth: 2 }),
            Some(_) => return Err(CannotEdit::Unexpected(edit.key.join("."))),
            None => {}
        }
        let last = items.last().copied();
        let indent = last
            .and_then(|at| self.lines.get(at).and_then(|line| item(line)))
            .map_or("  ", |(indent, _)| indent);
        let line = format!("{indent}- {word}{}", self.end);
        let place = last.unwrap_or(at);
        if let Some(above) = self.lines.get_mut(place).filter(|above| !above.ends_with('\n')) {
            above.push_str(self.end);
        }
        self.lines.insert(place + 1, line);
        Ok(Before { old: None, depth: 1 })
    }

    fn take(&mut self, edit: &Edit, before: &Before) -> Result<(), CannotEdit> {
        let (key, _, word) = parts(edit)?;
        let Some(at) = self.find(key).filter(|_| before.depth < edit.key.len()) else { return Ok(()) };
        let items = self.items(at)?;
        let is_ours = |at: &usize| {
            self.lines.get(*at).and_then(|line| item(line)).is_some_and(|(_, found)| found == word)
        };
        let Some(ours) = items.iter().copied().find(is_ours) else { return Ok(()) };
        self.lines.remove(ours);
        if items.len() == 1 && before.depth == 0 {
            self.lines.remove(at);
        }
        Ok(())
    }
}

/// The key of the list, the name and the word `NAME=value` of an edit.
fn parts(edit: &Edit) -> Result<(&str, &str, String), CannotEdit> {
    let ([key, name], Some(value)) = (edit.key.as_slice(), edit.value.as_str()) else {
        return Err(CannotEdit::Unsure("only a list of variables is changed"));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ',');
    if value.is_empty() || !value.chars().all(plain) {
        return Err(CannotEdit::Unsure("the path would have to be quoted"));
    }
    Ok((key, name, format!("{name}={value}")))
}

/// The indentation and the word of a line `- word`.
fn item(line: &str) -> Option<(&str, &str)> {
    let (indent, word) = line.split_once('-')?;
    let word = word.strip_prefix(' ')?.trim();
    let word = word.split(" #").next().unwrap_or(word).trim_end();
    let plain =
        !word.is_empty() && !word.starts_with(['"', '\'', '{', '[', '&', '*', '!', '|', '>', '#', '-']);
    (indent.chars().all(|c| c == ' ') && plain && !word.contains(": ")).then_some((indent, word))
}
