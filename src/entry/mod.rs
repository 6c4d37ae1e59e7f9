//! How a request comes in, and what its caller hears.

pub mod guard;
pub mod hook;
mod inner;
mod inside;
mod interactive;
mod moment;
pub mod shell;
mod statements;
pub mod steer;
pub mod typed;
pub mod world;
