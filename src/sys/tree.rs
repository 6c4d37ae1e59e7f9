//! The processes below one: found, signalled, frozen and ended, also while they start more.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::proc::Process;

/// So many looks for new processes are enough: each is stopped as soon as it is seen, and a stopped one
/// starts none.
const LOOKS: usize = 64;
/// How long one waits between two tries to end what is left.
const PAUSE: Duration = Duration::from_millis(5);

/// This process takes over what its descendants leave behind, instead of `init`.
///
/// # Errors
/// When the kernel has no such thing.
pub fn adopt_orphans() -> nix::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)
}

/// Every process below this one, parents before their children; not the one itself.
#[must_use]
pub fn below(root: i32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut next = children(root);
    while let Some(pid) = next.pop() {
        let Some(process) = Process::read(pid) else { continue };
        next.extend(children(pid));
        found.push(process);
    }
    found
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Whether a process with this number and start is there.
#[must_use]
pub fn is_alive(pid: i32, started: u64) -> bool {
    Process::read(pid).is_some_and(|process| process.started == started && !process.is_dead())
}

/// Sends a signal to one process. One that is gone already is no error.
pub fn signal_one(pid: i32, signal: Signal) {
    // 0 and negative numbers mean groups, 1 is the machine's: never one of a tree.
    if pid > 1 {
        let _gone_or_not_ours = kill(Pid::from_raw(pid), signal);
    }
}

/// Sends a signal to everything below these processes, each once, those that appear meanwhile too.
pub fn signal_below(roots: &[i32], signal: Signal) -> Vec<Process> {
    let mut told = HashSet::new();
    let mut all = Vec::new();
    for _ in 0..LOOKS {
        let new: Vec<Process> = roots
            .iter()
            .flat_map(|root| below(*root))
            .filter(|process| told.insert((process.pid, process.started)))
            .collect();
        if new.is_empty() {
            break;
        }
        new.iter().for_each(|process| signal_one(process.pid, signal));
        all.extend(new);
    }
    all
}

/// Asks everything below these processes to end. It is stopped first, so that nothing new appears in
/// between, and told all at once.
pub fn ask_to_end(roots: &[i32]) {
    let all = signal_below(roots, Signal::SIGSTOP);
    for signal in [Signal::SIGTERM, Signal::SIGCONT] {
        all.iter().for_each(|process| signal_one(process.pid, signal));
    }
}

/// As [`ask_to_end`], the processes themselves included.
pub fn ask_to_end_with(roots: &[i32]) {
    roots.iter().for_each(|root| signal_one(*root, Signal::SIGSTOP));
    let all = signal_below(roots, Signal::SIGSTOP);
    for signal in [Signal::SIGTERM, Signal::SIGCONT] {
        all.iter()
            .map(|process| process.pid)
            .chain(roots.iter().copied())
            .for_each(|pid| signal_one(pid, signal));
    }
}

/// As [`kill_below`], the processes themselves included.
pub fn kill_with(roots: &[i32]) {
    roots.iter().for_each(|root| signal_one(*root, Signal::SIGSTOP));
    kill_below(roots);
    roots.iter().for_each(|root| signal_one(*root, Signal::SIGKILL));
}

/// Ends everything below these processes at once, as far as it is there now.
pub fn kill_below(roots: &[i32]) {
    let all = signal_below(roots, Signal::SIGSTOP);
    all.iter().for_each(|process| signal_one(process.pid, Signal::SIGKILL));
}

/// What became of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// This one ended so.
    One(i32, super::process::Ended),
    /// This one was stopped (`^Z`).
    Stopped(i32),
    /// None has ended by now.
    NoneYet,
    /// There are no children.
    NoChild,
}

/// Takes the end of one child, or hears that one was stopped, whichever it is.
#[must_use]
pub fn reap_any() -> Reaped {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::StillAlive) => return Reaped::NoneYet,
            Ok(WaitStatus::Stopped(pid, _)) => return Reaped::Stopped(pid.as_raw()),
            Ok(status) => {
                if let (Some(pid), Some(ended)) = (status.pid(), super::process::ended(status)) {
                    return Reaped::One(pid.as_raw(), ended);
                }
            }
            Err(Errno::EINTR) => {}
            Err(_) => return Reaped::NoChild,
        }
    }
}

/// Ends everything below this very process: asked first, killed after `grace`, until nothing is left.
pub fn end_own(grace: Duration) {
    let own = nix::unistd::getpid().as_raw();
    ask_to_end(&[own]);
    let begun = Instant::now();
    loop {
        match reap_any() {
            Reaped::NoChild => return,
            Reaped::One(..) | Reaped::Stopped(_) => continue,
            Reaped::NoneYet if begun.elapsed() >= grace => kill_below(&[own]),
            Reaped::NoneYet => {}
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_is_found_and_ended() {
        let mut shell = std::process::Command::new("/bin/bash")
            .args(["-c", "trap '' TERM; sleep 60 & (sleep 60; :) & wait; wait"])
            .spawn()
            .expect("bash");
        let root = i32::try_from(shell.id()).expect("a number");
        let begun = Instant::now();
        while below(root).len() < 3 && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(PAUSE);
        }
        let all = below(root);
        assert_eq!(all.len(), 3, "{all:?}");
        assert!(all.iter().all(|each| is_alive(each.pid, each.started) && !is_alive(each.pid, 0)));
        kill_below(&[root]);
        assert!(shell.wait().expect("its end").code().is_some());
        // A killed process may take a moment to go.
        while all.iter().any(|each| is_alive(each.pid, each.started)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "{all:?}");
            std::thread::sleep(PAUSE);
        }
    }
}
