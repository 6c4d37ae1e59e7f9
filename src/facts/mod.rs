//! What a script would do, as plain data.
#![forbid(clippy::disallowed_methods)]

pub mod arg;
pub mod programs;
