//! All integration tests in one program: they share what is in `common`, and link once.

mod abuse;
mod architecture;
mod ask;
mod cases;
mod common;
mod edit;
mod failures;
mod faithful;
mod floor;
mod fuzz;
mod grants;
mod import;
mod jobs;
mod laws;
mod limits;
mod misparse;
mod nested;
mod panel;
mod prompts;
mod queue;
mod reading;
mod record;
mod ruled;
mod rules;
#[cfg(feature = "cross-check")]
mod second;
mod secrets;
mod shell;
mod stdin;
mod terminal;
mod trust;
mod verbs;
mod witness;
