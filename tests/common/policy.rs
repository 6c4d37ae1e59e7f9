//! The policy of a machine without any configuration.

use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Places, Policy};

use super::fixture;

/// The builtin rules alone.
pub(crate) fn builtin_policy() -> Policy {
    let places = Places {
        home: Some("/home/dev".to_owned()),
        project: Some(fixture::PROJECT.to_owned()),
        temporaries: vec!["/tmp".to_owned()],
        path_folders: vec!["/usr/bin".to_owned(), "/bin".to_owned()],
        homes: vec!["/home/dev".to_owned(), "/root".to_owned()],
    };
    compose(Vec::new(), Composition::new(places, "2026-01-01"))
}
