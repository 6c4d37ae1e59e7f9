//! What many short processes of a session share: verdicts, and how often was refused.

use serde_json::Value;

use super::server::{Server, says, verdict};
use super::{asks, executable, machine, work};
use crate::common::machine::{Gsh, records};

/// So many at once.
const MANY: usize = 30;

/// All at once; how each ended.
fn at_once(gsh: &Gsh, words: impl Fn(usize) -> String) -> Vec<Option<i32>> {
    let calls = (0..MANY)
        .map(|number| gsh.detached(["-c", &format!("./work {}", words(number))]).spawn().expect("started"));
    let calls: Vec<_> = calls.collect();
    calls.into_iter().map(|call| call.wait_with_output().expect("its end").status.code()).collect()
}

fn told(gsh: &Gsh, key: &str, value: &str) -> usize {
    let records = records(&gsh.at("home/.local/state/gsh/audit"));
    records.iter().filter(|record| record[key] == value).count()
}

#[test]
fn verdicts_of_many_at_once_are_all_kept() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let gsh = machine(&format!("{}cache = \"1h\"\n", asks(&server)).replace("20s", "60s"), "");
    assert_eq!(at_once(&gsh, |number| format!("w{number}")), [Some(0); MANY]);
    assert_eq!(server.asked().len(), MANY);
    assert_eq!(at_once(&gsh, |number| format!("w{number}")), [Some(0); MANY]);
    assert_eq!(server.asked().len(), MANY, "each was judged before");
    assert_eq!(told(&gsh, "by", "cache"), MANY);
}

#[test]
fn refusals_of_many_at_once_are_all_counted() {
    let server = Server::start(&[says(&verdict("deny", "high"))]);
    let gsh = machine(&asks(&server).replace("20s", "60s"), "[refusals]\nin_a_row = 3");
    assert_eq!(at_once(&gsh, |number| format!("w{number}")), [Some(126); MANY]);
    let refused = told(&gsh, "by", "reviewer");
    assert!((3..=MANY).contains(&refused), "{refused}");
    let file = ["run/gsh", "home/.local/state/gsh"].map(|below| gsh.at(below).join("sessions/reviewed.json"));
    let file = file.iter().find(|file| file.exists()).expect("what is remembered of the session");
    let memory: Value = serde_json::from_slice(&std::fs::read(file).expect("read")).expect("whole");
    assert_eq!(memory["streak"], refused, "{memory}");
    let asked = server.asked().len();
    let run = work(gsh.again(), "more");
    assert_eq!((run.status, server.asked().len()), (Some(126), asked), "{}", run.stderr());
    assert!(run.stderr().contains("refusals in a row"), "{}", run.stderr());
}

/// An agent that an agent starts has a session of its own: what was judged for one is judged anew for the other.
#[test]
fn an_agent_beneath_shares_no_verdict_with_the_one_above() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let gsh = machine(&asks(&server), "");
    let gsh_itself = env!("CARGO_BIN_EXE_gsh");
    let inner = format!("printf '#!/bin/bash\\n{gsh_itself} -c \"./work now\"\\nexit\\n' > claude");
    let gsh = gsh.project_file("s.sh", &format!("#!/bin/bash\n{inner}; chmod +x claude; ./claude; exit\n"));
    executable(&gsh, "project/s.sh");
    let path = gsh.at("home/.config/gsh/config.toml");
    let config = std::fs::read_to_string(path).expect("read");
    let gsh = gsh.config(&config.replace("[reviewer]", "\"./s.sh\" = \"allow\"\n[reviewer]"));
    let run = work(gsh, "now");
    let run = work(run.machine.again(), "now");
    assert_eq!((run.status, server.asked().len()), (Some(0), 1), "{}", run.stderr());
    let run = run.machine.again().args(["-c", "./s.sh"]).run();
    assert_eq!((run.status, server.asked().len()), (Some(0), 2), "{}{}", run.stdout(), run.stderr());
}
