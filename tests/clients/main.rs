//! The real agents against gsh, without a network, an account or a model: `GSH_REAL_CLIENTS=1 cargo test --test clients`.
//!
//! A cell that an agent itself keeps from working is listed with its cause in `clients.toml`: it fails the run where it
//! holds after all, or fails otherwise. `GSH_BLESS=1` puts the table of a whole run into `docs/clients.md`.
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
mod report;
#[cfg(target_os = "linux")]
mod table;
#[path = "../common/terminal.rs"]
mod terminal;
#[cfg(target_os = "linux")]
mod trial;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
use report::{State, Step};

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
    let (mut steps, mut missing) = (Vec::new(), 0);
    let clients = table::clients();
    for client in clients.iter().filter(|client| chosen(words, &client.name, &table::names())) {
        if !client.is_here() {
            println!("\n**** {} {} SKIPPED: its package is not here ****\n", client.name, client.version);
            missing += 1;
            continue;
        }
        let doors = table::Door::ALL.into_iter().filter(|door| door.is_of(client));
        for door in doors.filter(|door| chosen(words, door.word(), &table::Door::words())) {
            for line in cage::run(client, door) {
                println!("{line}");
                steps.push(Step::of(&line));
            }
        }
    }
    let [held, known, failed] = [State::Ok, State::Known, State::Failed]
        .map(|state| steps.iter().filter(|step| step.state == state).count());
    let table = report::table(&clients, &steps);
    println!("\n{table}\n{held} held, {known} failed as known, {failed} FAILED, {missing} agents skipped");
    // Whoever asks for the real agents wants to know that they were there.
    let good = failed == 0 && missing == 0 && held > 0;
    if good && words.is_empty() && std::env::var_os("GSH_BLESS").is_some() {
        report::bless(&table).expect("docs/clients.md");
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the words choose this one: they name it, or none of its kind.
#[cfg(target_os = "linux")]
fn chosen(words: &[String], name: &str, kind: &[String]) -> bool {
    let of_kind = |word: &&String| kind.contains(*word);
    words.iter().filter(of_kind).count() == 0 || words.iter().any(|word| word == name)
}
