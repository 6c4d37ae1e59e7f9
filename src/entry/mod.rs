//! How a request comes in, and what its caller hears.

pub mod guard;
mod setting;
pub mod shell;
mod statements;
pub mod steer;
pub mod world;
