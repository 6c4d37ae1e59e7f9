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
    skipped("namespaces are Linux's")
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    inside::stage(&argv).unwrap_or_else(|| oracle(&argv))
}

/// Without a cage nothing runs. Who asks for a campaign by name wants it to fail then.
fn skipped(why: &str) -> ExitCode {
    println!("\n**** ORACLE SKIPPED, NOTHING WAS COMPARED: {why} ****\n");
    if std::env::var_os("GSH_ORACLE").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(target_os = "linux")]
fn oracle(words: &[String]) -> ExitCode {
    if words.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    match cage::Workshop::open() {
        Ok(shop) => campaign::run(&shop),
        Err(cage::NoCage::Leaks(error)) => {
            println!("\n**** ORACLE STOPPED, THE CAGE DOES NOT HOLD: {error} ****\n");
            ExitCode::FAILURE
        }
        Err(cage::NoCage::Impossible(error)) => skipped(&error.to_string()),
    }
}
