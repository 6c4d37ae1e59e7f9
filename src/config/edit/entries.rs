//! Where the rules of a file stand in its text.

use std::ops::Range;

use toml_edit::{Document, Item, Key, RawString, Table, TableLike};

use crate::policy::agent_form::translate;

use super::lines::{comments_below, end_of_line, is_end_of_run, line, start_of_line, with_comments};

/// How a rule is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// `capability = action`.
    Shorthand,
    /// A line of a capability's table: which of the tables.
    Nested(usize),
    /// A block `[[permissions.rules]]`.
    Block,
    /// An element of `rules = [ … ]`.
    Element,
    /// In an inline table, or spread over the file: it is left to a person's hand.
    Fixed,
}

/// One rule as it is written; it may mean several.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// How.
    pub(super) form: Form,
    /// Its capability, or a rule in an agent's form in its place.
    pub(super) capability: String,
    /// Its pattern, where it has one.
    pub(super) pattern: Option<String>,
    /// The line that it is known by.
    pub(super) line: usize,
    /// Its text: whole lines with the comments that are its own; of an element the element alone.
    pub(super) own: Range<usize>,
    /// What it says beside: keys, and values as they are spelled.
    pub(super) terms: Vec<(String, String)>,
    /// The comments among its own lines, which go with it into another form.
    pub(super) comments: Vec<String>,
}

impl Entry {
    /// Whether it is written so, or in an agent's form that means the same.
    pub(super) fn says(&self, capability: Option<&str>, pattern: &str) -> bool {
        match (&self.pattern, capability) {
            (Some(written), _) => written == pattern && capability.is_none_or(|name| name == self.capability),
            (None, Some(name)) => pattern == "*" && name == self.capability,
            (None, None) => {
                let meant = translate(pattern);
                self.capability == pattern || meant.is_some() && meant == translate(&self.capability)
            }
        }
    }
}

/// A capability's table.
#[derive(Debug)]
pub(super) struct Nested {
    /// The capability.
    pub(super) capability: String,
    /// It has a header of its own and one line a rule.
    pub(super) is_plain: bool,
    /// Behind its last line.
    pub(super) end: usize,
}

/// Where explicit rules are listed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// Nowhere, or in blocks.
    Blocks,
    /// In an array: its place.
    Array(Range<usize>),
    /// Where no rule can be added.
    Closed,
}

/// The rules of a file, in the order in which they apply.
#[derive(Debug)]
pub(super) struct Entries {
    /// Each rule.
    pub(super) all: Vec<Entry>,
    /// The tables of capabilities.
    pub(super) tables: Vec<Nested>,
    /// The explicit rules.
    pub(super) listing: Listing,
}

impl Entries {
    /// Finds them. None when the text is no TOML.
    pub(super) fn of(text: &str) -> Option<Self> {
        let document = Document::parse(text).ok()?;
        let mut found = Self { all: vec![], tables: vec![], listing: Listing::Blocks };
        let Some(item) = document.get("permissions") else { return Some(found) };
        let Some(table) = item.as_table_like() else {
            found.listing = Listing::Closed;
            return Some(found);
        };
        let mut keyed = keyed(table);
        // As the reader does: tables in the order of their first place, and explicit rules behind them.
        keyed.sort_by_key(|(key, _)| key.span().map_or(0, |span| span.start));
        let is_inline = item.is_inline_table();
        for (key, item) in keyed.iter().filter(|(key, _)| key.get() != "rules") {
            found.of_capability(text, key, item, is_inline);
        }
        for (_, item) in keyed.iter().filter(|(key, _)| key.get() == "rules") {
            found.listed(text, item, is_inline);
        }
        if is_inline {
            found.listing = Listing::Closed;
            found.all.iter_mut().for_each(|entry| entry.form = Form::Fixed);
        }
        Some(found)
    }

    /// A capability's shorthand or table.
    fn of_capability(&mut self, text: &str, key: &Key, item: &Item, is_inline: bool) {
        let capability = key.get();
        if item.is_str() {
            let own = own_lines(text, key, item);
            let terms = vec![("action".to_owned(), spelled(text, item.span()))];
            let line = line_of(text, key);
            self.all.push(Entry {
                form: Form::Shorthand,
                capability: capability.to_owned(),
                pattern: None,
                line,
                own,
                terms,
                comments: vec![],
            });
            return;
        }
        let Some(table) = item.as_table_like() else { return };
        let item_is_inline = item.is_inline_table();
        let header = item.as_table().filter(|table| !table.is_dotted() && !table.is_implicit());
        let mut end = header.and_then(Table::span).map_or(0, |span| end_of_line(text, span.end));
        for (key, item) in keyed(table) {
            // A table of its own, or one put together from dotted keys, is no line.
            let is_line = !is_inline && !item_is_inline && item.is_value();
            let form = if is_line { Form::Nested(self.tables.len()) } else { Form::Fixed };
            let own = own_lines(text, key, item);
            end = end.max(end_of_line(text, last_byte(item).unwrap_or_default()));
            let comments = comments(text, &own, &around(key, item));
            self.all.push(Entry {
                form,
                capability: capability.to_owned(),
                pattern: Some(key.get().to_owned()),
                line: line_of(text, key),
                own,
                terms: terms(text, item),
                comments,
            });
        }
        self.tables.push(Nested { capability: capability.to_owned(), is_plain: header.is_some(), end });
    }

    /// The explicit rules.
    fn listed(&mut self, text: &str, item: &Item, is_inline: bool) {
        if let Some(blocks) = item.as_array_of_tables() {
            for table in blocks.iter() {
                let Some(span) = table.span() else { continue };
                let last = last_byte_of(table).unwrap_or(span.end);
                let end = comments_below(text, end_of_line(text, last));
                let own = with_comments(text, table.decor().prefix(), start_of_line(text, span.start))..end;
                let form =
                    if table.iter().all(|(_, item)| item.is_value()) { Form::Block } else { Form::Fixed };
                let mut around = vec![table.decor().prefix(), table.decor().suffix()];
                around.extend(keyed(table).into_iter().flat_map(|(key, item)| self::around(key, item)));
                let mut comments = comments(text, &own, &around);
                let below = text.get(end_of_line(text, last)..end).unwrap_or_default();
                comments.extend(below.lines().map(|line| line.trim().to_owned()));
                self.all.extend(explicit(text, table, form, own).map(|entry| Entry { comments, ..entry }));
            }
            return;
        }
        let array = item.as_array().filter(|_| !is_inline);
        self.listing = array.and_then(|array| array.span()).map_or(Listing::Closed, Listing::Array);
        for value in item.as_array().into_iter().flatten() {
            let (Some(table), Some(own)) = (value.as_inline_table(), value.span()) else { continue };
            self.all.extend(explicit(text, table, Form::Element, own));
        }
    }
}

/// A rule of the explicit form. One without a capability is none.
fn explicit(text: &str, table: &dyn TableLike, form: Form, own: Range<usize>) -> Option<Entry> {
    let capability = table.get("capability")?;
    let pattern = table.get("pattern").filter(|item| item.is_str());
    let at = pattern.unwrap_or(capability).span()?.start;
    let beside = |(key, _): &(&Key, &Item)| !matches!(key.get(), "capability" | "pattern");
    let terms = keyed(table).into_iter().filter(beside);
    Some(Entry {
        form,
        capability: capability.as_str()?.to_owned(),
        pattern: pattern.and_then(Item::as_str).map(str::to_owned),
        line: line(text, at),
        own,
        terms: terms.map(|(key, item)| (key.get().to_owned(), spelled(text, item.span()))).collect(),
        comments: vec![],
    })
}

/// What a rule in a capability's table says: an action, or a table with more.
fn terms(text: &str, item: &Item) -> Vec<(String, String)> {
    match item.as_inline_table() {
        Some(table) => {
            let of_key = |(key, item): (&Key, &Item)| (key.get().to_owned(), spelled(text, item.span()));
            keyed(table).into_iter().map(of_key).collect()
        }
        None => vec![("action".to_owned(), spelled(text, item.span()))],
    }
}

fn keyed(table: &dyn TableLike) -> Vec<(&Key, &Item)> {
    table.iter().filter_map(|(name, _)| table.get_key_value(name)).collect()
}

fn spelled(text: &str, span: Option<Range<usize>>) -> String {
    span.and_then(|span| text.get(span)).unwrap_or_default().to_owned()
}

/// What stands before a key and behind its value.
fn around<'i>(key: &'i Key, item: &'i Item) -> Vec<Option<&'i RawString>> {
    let behind = item.as_value().and_then(|value| value.decor().suffix());
    vec![key.leaf_decor().prefix(), behind]
}

/// The comments there, as far as they are a rule's own.
fn comments(text: &str, own: &Range<usize>, around: &[Option<&RawString>]) -> Vec<String> {
    let spans = around.iter().filter_map(|raw| raw.and_then(RawString::span));
    let texts = spans.filter_map(|span| text.get(span.start.max(own.start)..span.end.min(own.end)));
    texts
        .flat_map(str::lines)
        .map(str::trim)
        .filter(|line| line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn line_of(text: &str, key: &Key) -> usize {
    line(text, key.span().map_or(0, |span| span.start))
}

/// The lines of a key and its value. Comments above them are theirs, unless more lines follow: then
/// they head them all.
fn own_lines(text: &str, key: &Key, item: &Item) -> Range<usize> {
    let start = start_of_line(text, key.span().map_or(0, |span| span.start));
    let end = end_of_line(text, last_byte(item).unwrap_or(start));
    let is_alone = text.get(end..).is_none_or(is_end_of_run);
    let comments = key.leaf_decor().prefix().filter(|_| is_alone);
    with_comments(text, comments, start)..end
}

/// Where an item ends.
fn last_byte(item: &Item) -> Option<usize> {
    match item {
        Item::Value(value) if value.span().is_some() => value.span().map(|span| span.end),
        Item::Table(table) => last_byte_of(table),
        _ => item.span().map(|span| span.end),
    }
}

fn last_byte_of(table: &Table) -> Option<usize> {
    table.iter().filter_map(|(_, item)| last_byte(item)).max()
}
