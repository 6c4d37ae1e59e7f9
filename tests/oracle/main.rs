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
mod world;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    skipped("namespaces are Linux's")
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::path::Path;
    let argv: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if Path::new(inside::MARK).exists() {
        return inside::stand_in(&argv);
    }
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let staged = match words.as_slice() {
        [_, inside::OUTER, staging] => inside::outer(Path::new(staging)),
        [_, inside::INIT, staging] => inside::init(Path::new(staging)).map(|()| ExitCode::SUCCESS),
        _ => return oracle(&words),
    };
    staged.unwrap_or_else(|error| {
        eprintln!("oracle: no cage: {error}");
        ExitCode::FAILURE
    })
}

/// Without a cage nothing runs. Who asks for a campaign by name wants it to fail then.
fn skipped(why: &str) -> ExitCode {
    println!("\n**** ORACLE SKIPPED, NOTHING WAS COMPARED: {why} ****\n");
    if std::env::var_os("GSH_ORACLE").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(target_os = "linux")]
fn oracle(words: &[&str]) -> ExitCode {
    if words.contains(&"--list") {
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
