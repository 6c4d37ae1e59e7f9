//! Our own files: where they lie, and how they are opened without being fooled.

pub mod places;
pub mod safe;
