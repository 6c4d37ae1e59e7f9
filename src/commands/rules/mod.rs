//! `gsh rules …`: the rules as they hold, and changes to the files that hold them.

pub mod change;
pub mod import;
pub mod lint;
pub mod list;
pub mod schema;
pub mod test;
