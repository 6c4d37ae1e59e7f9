//! How a request comes in, and what its caller hears.

pub mod steer;
