//! Whether the program tables tell the truth: what they claim to be read-only is run by the real
//! program, in the cage, and nothing may have changed, been reached for or been started from elsewhere.
//!
//! An ordinary run tries every fifth line. `GSH_TRUTH=lines cargo test --test truth` tries all, `GSH_TRUTH=all`
//! also one line for every option that a table shows as harmless; `GSH_TRUTH=help` prints which options of
//! `--help` each table lacks, `GSH_TRUTH=loads` only proves what is obeyed.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "there is no cage elsewhere"))]

#[cfg(target_os = "linux")]
#[path = "../oracle/cage.rs"]
mod cage;
#[cfg(target_os = "linux")]
#[path = "../oracle/canary.rs"]
mod canary;
#[cfg(target_os = "linux")]
mod claims;
#[cfg(target_os = "linux")]
mod help;
#[cfg(target_os = "linux")]
#[path = "../oracle/inside.rs"]
mod inside;
#[cfg(target_os = "linux")]
mod loads;
#[cfg(target_os = "linux")]
#[path = "../oracle/trace.rs"]
mod trace;
#[cfg(target_os = "linux")]
#[path = "../oracle/world.rs"]
mod world;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("\n**** TRUTH SKIPPED, NOTHING WAS TRIED: namespaces are Linux's ****\n");
    if std::env::var_os("GSH_TRUTH").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    // The ordinary cage is proved first: the whole one differs from it in what it shows, not in its walls.
    let shop = || cage::Workshop::open().and_then(|_| cage::Workshop::whole());
    inside::stage(&argv).unwrap_or_else(|| cage::in_cages("TRUTH", &argv, shop, truth))
}

#[cfg(target_os = "linux")]
fn truth(shop: &cage::Workshop) -> ExitCode {
    let asked = std::env::var("GSH_TRUTH").unwrap_or_default();
    if asked == "loads" {
        return if loads::run(shop) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let told = claims::run(shop, asked == "all");
    let known = help::run(shop, asked == "help");
    let obeyed = loads::run(shop);
    if told && known && obeyed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
