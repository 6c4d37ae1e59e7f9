//! JSON as agents' files have it: with comments, and each value with its line.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{ReadError, line_of};

/// A value with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) line: usize,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text(String),
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Other,
}

/// Reads a whole file.
pub(super) fn read(text: &str) -> Result<Node, ReadError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let value = parsed.map_err(|error| (line_of(text, error.range().start), error.kind().to_string()))?.value;
    Ok(value.map_or(Node { line: 1, kind: Kind::Object(vec![]) }, |value| node(&value, text)))
}

fn node(value: &Value<'_>, text: &str) -> Node {
    let kind = match value {
        Value::StringLit(string) => Kind::Text(string.value.to_string()),
        Value::Array(array) => Kind::Array(array.elements.iter().map(|each| node(each, text)).collect()),
        Value::Object(object) => {
            let mut entries: Vec<(String, Node)> = vec![];
            for property in &object.properties {
                let (name, value) = (property.name.as_str().to_owned(), node(&property.value, text));
                // A key that is repeated keeps its first place and its last value.
                match entries.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, old)) => *old = value,
                    None => entries.push((name, value)),
                }
            }
            Kind::Object(entries)
        }
        _ => Kind::Other,
    };
    Node { line: line_of(text, value.start()), kind }
}

impl Node {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The keys and values of an object, in order.
    pub(super) fn entries(&self) -> &[(String, Node)] {
        if let Kind::Object(entries) = &self.kind { entries } else { &[] }
    }

    /// The values of an array.
    pub(super) fn items(&self) -> &[Node] {
        if let Kind::Array(items) = &self.kind { items } else { &[] }
    }

    /// The text of a string.
    pub(super) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// Whether it is an array.
    pub(super) fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_))
    }

    /// Whether it is an object.
    pub(super) fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }
}
