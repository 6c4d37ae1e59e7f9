//! What the verbs print.

pub mod rules;
pub mod status;
