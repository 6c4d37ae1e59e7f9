//! How a request comes in, and what its caller hears.

pub mod guard;
pub mod hook;
mod inner;
mod inside;
pub mod shell;
pub mod steer;
pub mod world;
