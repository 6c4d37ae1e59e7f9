//! The real agents against gsh, without a network, an account or a model: `GSH_REAL_CLIENTS=1 cargo test --test clients`.
//!
//! `GSH_REAL_CLIENTS=fetch` first gets their packages, some 2 GB, by npm as it is set up here, into
//! `GSH_CLIENTS_CACHE` (else `gsh-clients` in the user's cache). Words after `--` choose: `-- claude hook`. Each agent
//! runs in a cage of its own, see [`cage`]. To look into a failure: `GSH_CLIENTS_SHOW=1` prints what agent and model
//! said, `GSH_CLIENTS_KEEP=FOLDER` leaves the homes in a folder.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "there is no cage elsewhere"))]

#[cfg(target_os = "linux")]
mod cage;
#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod fetch;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
#[path = "../common/machine.rs"]
#[allow(dead_code, reason = "the other tests use all of it")]
mod machine;
#[cfg(target_os = "linux")]
mod model;
#[cfg(target_os = "linux")]
mod table;

use std::process::ExitCode;

const NOT_ASKED: &str = "set GSH_REAL_CLIENTS=1";

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("\n**** CLIENTS SKIPPED, NOTHING WAS TRIED: namespaces are Linux's ****\n");
    if std::env::var_os("GSH_REAL_CLIENTS").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--nocapture").collect();
    if words.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    if let [inside, client, door, ..] = words.as_slice()
        && inside == inside::WORD
    {
        return inside::run(client, door);
    }
    match std::env::var("GSH_REAL_CLIENTS").as_deref() {
        Err(_) => {
            println!("\n**** CLIENTS SKIPPED, NOTHING WAS TRIED: {NOT_ASKED} ****\n");
            ExitCode::SUCCESS
        }
        Ok("fetch") => fetch::all(&words),
        Ok(_) => all(&words),
    }
}

/// Every chosen agent by every chosen door, one after the other.
#[cfg(target_os = "linux")]
fn all(words: &[String]) -> ExitCode {
    let (mut passed, mut failed, mut missing) = (0, 0, Vec::new());
    for client in
        table::clients().iter().filter(|client| chosen(words, client.name.as_str(), &table::names()))
    {
        if !client.is_here() {
            println!("\n**** {} {} SKIPPED: its package is not here ****\n", client.name, client.version);
            missing.push(client.name.clone());
            continue;
        }
        let doors = table::Door::ALL.into_iter().filter(|door| door.is_of(client));
        for door in doors.filter(|door| chosen(words, door.word(), &table::Door::words())) {
            for line in cage::run(client, door) {
                println!("{line}");
                if line.starts_with("ok ") {
                    passed += 1;
                } else {
                    failed += 1;
                }
            }
        }
    }
    println!("\n{passed} passed, {failed} failed, {} skipped", missing.len());
    // Whoever asks for the real agents wants to know that they were there.
    if failed == 0 && missing.is_empty() && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the words choose this one: they name it, or none of its kind.
#[cfg(target_os = "linux")]
fn chosen(words: &[String], name: &str, kind: &[String]) -> bool {
    let of_kind = |word: &&String| kind.contains(*word);
    words.iter().filter(of_kind).count() == 0 || words.iter().any(|word| word == name)
}
