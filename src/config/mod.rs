//! The files that people write: found, read with every mistake shown, trusted or not, and joined to a
//! policy.

pub mod agent_settings;
pub mod cache;
pub mod edit;
pub mod find;
pub mod import;
pub mod line;
pub mod load;
pub mod new_rule;
pub mod read;
mod reviewer;
mod rule;
pub mod schema;
pub mod shape;
pub mod trust;

#[cfg(test)]
mod shape_tests;
#[cfg(test)]
mod tests;
