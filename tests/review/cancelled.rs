//! Whoever ends gsh ends a review: what it does, what is written down, and that nothing runs.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use gsh::sys::proc::Process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::server::{Act, Server, says, verdict};
use super::{asks, executable, machine, ran, settled, work};
use crate::common::machine::{Gsh, records};
use crate::jobs::wait_until;

/// How gsh ended, what it said, and its records, when this signal came while a review was waited for.
fn ended(
    gsh: &Gsh,
    signal: Signal,
    is_asked: impl Fn() -> bool,
) -> (std::process::ExitStatus, String, Vec<Value>) {
    let mut child = gsh.detached(["-c", "./work now"]).spawn().expect("started");
    wait_until("it is asked", is_asked);
    let pid = i32::try_from(child.id()).expect("a number");
    kill(Pid::from_raw(pid), signal).expect("it runs");
    let status = child.wait().expect("its end");
    let mut said = String::new();
    child.stderr.take().expect("its errors").read_to_string(&mut said).expect("read");
    (status, said, records(&gsh.at("home/.local/state/gsh/audit")))
}

fn event<'r>(records: &'r [Value], name: &str) -> Option<&'r Value> {
    records.iter().find(|record| record["event"] == name)
}

#[test]
fn a_signal_ends_an_endpoints_review() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let server = Server::start(&[Act::Silent]);
        let gsh = machine(&asks(&server), "");
        let (status, said, records) = ended(&gsh, signal, || server.asked().len() == 1);
        assert_eq!(status.signal(), Some(signal as i32), "{status:?}: {said}");
        let denied = event(&records, "PermissionDenied").unwrap_or_else(|| panic!("{records:#?}"));
        assert_eq!(denied["review"]["cause"], "cancelled", "{denied}");
        wait_until("the connection is closed", || server.left() == 1);
        assert!(!gsh.at("project/ran").exists());
        assert_eq!(event(&records, "closed").expect("closed")["why"], "question abandoned", "{records:#?}");
    }
}

fn pids(folder: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[test]
fn a_signal_ends_a_programs_review_with_all_that_it_started() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let gsh = machine("program = [\"/no/judge\"]\ntimeout = \"60s\"", "");
        let file = gsh.at("pids");
        let script = format!(
            "#!/bin/sh\necho $$ >> '{0}'\n(setsid sh -c 'echo $$ >> \"{0}\"; exec sleep 600' &)\nsleep 600\n",
            file.display()
        );
        std::fs::write(gsh.at("judge"), script).expect("the judge");
        executable(&gsh, "judge");
        let path = gsh.at("home/.config/gsh/config.toml");
        let config = std::fs::read_to_string(path)
            .expect("read")
            .replace("/no/judge", &gsh.at("judge").to_string_lossy());
        let gsh = gsh.config(&config);
        let folder = gsh.at("");
        let (status, said, records) = ended(&gsh, signal, || pids(&folder).len() == 2);
        assert_eq!(status.signal(), Some(signal as i32), "{status:?}: {said}");
        let all = pids(&folder);
        let gone = |pid: &i32| Process::read(*pid).is_none_or(|process| process.is_dead());
        wait_until("all of it is gone", || all.iter().all(gone));
        assert!(!gsh.at("project/ran").exists());
        if signal != Signal::SIGKILL {
            assert_eq!(event(&records, "PermissionDenied").expect("settled")["review"]["cause"], "cancelled");
        }
    }
}

/// A machine whose endpoint's key is printed by this script.
fn with_key(server: &Server, script: &str, timeout: &str) -> Gsh {
    let reviewer = format!("{}key_command = [\"/no/key\", \"one\"]\n", asks(server)).replace("20s", timeout);
    let gsh = machine(&reviewer, "");
    std::fs::write(gsh.at("key"), format!("#!/bin/sh\n{script}\n")).expect("the program");
    executable(&gsh, "key");
    let path = gsh.at("home/.config/gsh/config.toml");
    let config =
        std::fs::read_to_string(path).expect("read").replace("/no/key", &gsh.at("key").to_string_lossy());
    gsh.config(&config)
}

#[test]
fn a_key_that_a_program_prints_is_seen_by_the_endpoint_alone() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let run = work(with_key(&server, "echo \"  sk-printed-very-private-$1 \"; echo noise >&2", "20s"), "now");
    assert_eq!((run.status, ran(&run)), (Some(0), true), "{}", run.stderr());
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.head.contains("Bearer sk-printed-very-private-one")), "{asked:?}");
    let environment = std::fs::read_to_string(run.at("project/ran")).expect("its environment");
    let all = format!("{environment}{:?}{}{}", run.records(), run.stdout(), run.stderr());
    assert!(!all.contains("sk-printed") && !all.contains("noise"), "{all}");
    // It is written nowhere else either.
    let mut folders = vec![run.at("home"), run.at("run")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read(&path) {
                let text = String::from_utf8_lossy(&text).into_owned();
                assert!(!text.contains("sk-printed"), "{}", path.display());
            }
        }
    }
}

#[test]
fn a_key_that_cannot_be_had_is_a_failed_review() {
    for (script, timeout, cause) in [
        ("sleep 600", "1s", "timeout"),
        ("sleep 600 & echo x; sleep 600", "1s", "timeout"),
        ("echo sk-half-a-key; exit 4", "20s", "provider-error"),
        ("while :; do echo 0123456789012345678901234567890123456789; done", "20s", "provider-error"),
    ] {
        let server = Server::start(&[says(&verdict("allow", "low"))]);
        let run = work(with_key(&server, script, timeout), "now");
        assert_eq!((run.status, ran(&run)), (Some(126), false), "{script}: {}", run.stderr());
        let settled = settled(&run);
        assert_eq!(settled["review"]["cause"], cause, "{script}: {settled}");
        assert_eq!(server.asked().len(), 0, "{script}");
        assert!(!format!("{:?}", run.records()).contains("sk-half"), "{script}");
    }
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let reviewer = format!("{}key_command = [\"/no/such/key\"]\n", asks(&server));
    assert_eq!(settled(&work(machine(&reviewer, ""), "now"))["review"]["cause"], "provider-error");
}
