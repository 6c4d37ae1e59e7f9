//! What a person sees before a file is trusted.

use std::fmt::Write;

use super::diff;
use crate::ask::sanitize::line as visible;
use crate::config::find::Source;
use crate::config::read::{Origin, read};
use crate::config::trust::Entry;
use crate::policy::LayerRules;
use crate::store::places::Folders;

/// The file as it would count.
pub(super) fn layer(source: &Source, folders: &Folders, content: &[u8]) -> LayerRules {
    let (root, home) = (source.root.as_deref(), folders.home.to_str());
    let origin = Origin { layer: source.layer, path: &source.path, root, home };
    read(&String::from_utf8_lossy(content), &origin).layer
}

/// What was trusted before, where it is still kept.
type Before<'a> = Option<(&'a Entry, Option<Vec<u8>>)>;

/// In words, then line by line.
pub(super) fn page(
    name: &str,
    layer: &LayerRules,
    (before, now): (Before<'_>, &[u8]),
    colours: bool,
) -> String {
    let meaning = layer.meaning();
    let mut text = String::new();
    for (title, entries) in [
        ("Trusted, it loosens:", meaning.loosens),
        ("It asks about, also where a rule of yours refuses:", meaning.asks),
        ("It tightens, trusted or not:", meaning.tightens),
        ("Without effect in such a file:", meaning.idle),
    ] {
        if entries.is_empty() {
            continue;
        }
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{title}");
        for entry in entries {
            let _ = writeln!(text, "  {}", visible(&entry));
        }
        text.push('\n');
    }
    let (old, label) = match before {
        None => (Vec::new(), "nothing was trusted before".to_owned()),
        Some((entry, Some(content))) => {
            (content, format!("as trusted {} by {}", entry.when, visible(&entry.who)))
        }
        Some((entry, None)) => (Vec::new(), format!("what was trusted {} is not kept any more", entry.when)),
    };
    let _ = write!(text, "--- {label}\n+++ {name}\n{}", diff::unified(&old, now, colours));
    text
}
