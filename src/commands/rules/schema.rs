//! `gsh rules schema`: the JSON Schema of the configuration.

use crate::config::shape;

/// The schema.
#[must_use]
pub fn text() -> String {
    shape::json_schema()
}

#[cfg(test)]
mod tests {
    /// `GSH_BLESS=1` writes the page anew.
    #[test]
    fn the_kept_schema_is_as_the_types_are() {
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/config.schema.json");
        if std::env::var_os("GSH_BLESS").is_some() {
            std::fs::write(&page, super::text()).expect("written");
        }
        let kept = std::fs::read_to_string(&page).unwrap_or_default();
        assert!(kept == super::text(), "docs/config.schema.json is old: run the tests once with GSH_BLESS=1");
    }
}
