//! How a request comes in, and what its caller hears.

pub mod guard;
mod inner;
mod inside;
pub mod shell;
pub mod steer;
pub mod typed;
pub mod world;
