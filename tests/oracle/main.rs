//! The oracle: real bash, in a cage, on scripts made for it. Every program it starts and every file it
//! changes must be in the facts, or the facts must say that the text is not understood.
//!
//! `GSH_ORACLE=20000 GSH_ORACLE_SEED=7 cargo test --test oracle` runs so many scripts from that seed. So many or
//! more also fail where a construct, a pair of them or a kind of node was met too rarely (`counts.rs`).
#[cfg(target_os = "linux")]
mod cage;
#[cfg(target_os = "linux")]
mod campaign;
#[cfg(target_os = "linux")]
mod canary;
#[path = "../common/cases.rs"]
#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod checks;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod counts;
#[cfg(target_os = "linux")]
mod generate;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod kinds;
#[cfg(target_os = "linux")]
mod known;
#[cfg(target_os = "linux")]
mod mutate;
#[cfg(target_os = "linux")]
mod nested;
#[cfg(target_os = "linux")]
mod state;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(target_os = "linux")]
mod world;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("\n**** ORACLE SKIPPED, NOTHING WAS TRIED: namespaces are Linux's ****\n");
    if std::env::var_os("GSH_ORACLE").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    inside::stage(&argv)
        .unwrap_or_else(|| cage::in_cages("ORACLE", &argv, cage::Workshop::open, campaign::run))
}
