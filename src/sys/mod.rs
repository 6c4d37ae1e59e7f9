//! The machine itself: processes, signals, terminals, private files, and the real [`Host`].
//!
//! Unsafe code lives in `raw` alone; everything else here and elsewhere is safe.
//!
//! [`Host`]: crate::host::Host

pub mod agents;
pub mod answer;
pub mod apart;
pub mod cgroup;
pub mod child;
pub mod door;
pub mod fault;
pub mod file;
pub mod git;
mod gitconfig;
pub mod machine;
pub mod own;
pub mod passwd;
pub mod path;
pub mod pipe;
pub mod proc;
pub mod process;
pub mod random;
mod raw;
pub mod script;
pub mod signal;
pub mod sources;
pub mod tree;
pub mod tty;
pub mod watch;
