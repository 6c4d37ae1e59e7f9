//! Texts as a record keeps them: long ones by head, length and hash, bodies of here-documents by length and hash.

use std::ops::Range;

use serde_json::{Value, json};

use crate::syntax::document_bodies;

/// A text up to this length is kept whole; of a longer one its head, its length and its hash.
pub(super) const WHOLE_TEXT: usize = 8 * 1024;

/// A text with a mark in the place of each here-document's body; the length and hash of each.
pub(super) fn without_documents(bytes: &[u8]) -> (Vec<u8>, Vec<Value>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return (bytes.to_vec(), Vec::new()) };
    let bodies: Vec<Range<usize>> =
        document_bodies(text).into_iter().filter(|body| !body.is_empty()).collect();
    let (mut kept, mut from) = (String::new(), 0);
    let mut told = Vec::new();
    for body in bodies {
        let content = text.get(body.clone()).unwrap_or_default();
        kept.push_str(text.get(from..body.start).unwrap_or_default());
        kept.push_str(&format!("[here-document {}]\n", told.len() + 1));
        told.push(content_of(content.as_bytes()));
        from = body.end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    (kept.into_bytes(), told)
}

/// What is told of a content that is not written: how long it is, and its hash.
#[must_use]
pub fn content_of(bytes: &[u8]) -> Value {
    json!({ "length": bytes.len(), "sha256": crate::store::hash(bytes) })
}

pub(super) fn text(bytes: &[u8]) -> Value {
    if bytes.len() <= WHOLE_TEXT
        && let Ok(whole) = std::str::from_utf8(bytes)
    {
        return whole.into();
    }
    let mut cut = bytes.len().min(WHOLE_TEXT);
    // Not in the middle of a letter.
    while cut > 0 && bytes.get(cut).is_some_and(|byte| byte & 0xc0 == 0x80) {
        cut -= 1;
    }
    let head = String::from_utf8_lossy(bytes.get(..cut).unwrap_or_default());
    let hash = crate::store::hash(bytes);
    json!({ "head": head, "length": bytes.len(), "sha256": hash })
}
