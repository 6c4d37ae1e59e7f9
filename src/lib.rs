//! gsh, the guarded shell.
//!
//! ```text
//! argv ─► cli ─► entry ─► pipeline ────────────────────────────────────────────► exit status
//!                           │ syntax    text → Script
//!                           │ facts     Script × Host → Facts
//!                           │ policy    floor + composed layers
//!                           │ decision  Facts × Policy → Decision
//!                           │ review    a second opinion, where one is configured
//!                           │ ask       a person's answer
//!                           │ run       exec | pty
//!                           └ audit     one record, opened before, closed after
//! ```

pub mod ask;
pub mod audit;
pub mod cli;
pub mod commands;
pub mod config;
pub mod decision;
pub mod entry;
pub mod envelope;
pub mod facts;
pub mod host;
pub mod pipeline;
pub mod policy;
pub mod report;
pub mod request;
pub mod review;
pub mod run;
pub mod store;
pub mod syntax;
pub mod sys;

pub use cli::dispatch::main;
