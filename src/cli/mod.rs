//! The command line: as typed, then as meant.

pub mod audit;
pub mod dispatch;
pub mod grants;
pub mod jobs;
mod manual;
pub mod rules;
pub mod setup;
pub mod shell_args;
mod simulate;
pub mod verbs;

pub use self::shell_args::{ShellCall, Text};
pub use self::verbs::{Call, Usage, read};
