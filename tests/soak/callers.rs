//! The process that calls, and what it must look after: its own children, and every orphan of theirs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gsh::sys::proc::Process;
use gsh::sys::tree;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

pub(crate) const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// Questions are kept for a second, so that their end is seen too. What a job prints is bounded anyway.
const CONFIG: &str = "[ask]\nkeep = 1\n";

pub(crate) struct Callers {
    folder: tempfile::TempDir,
    /// The children that a caller waits for. Held while one starts, so that nobody else takes its end.
    own: Mutex<BTreeSet<i32>>,
}

impl Callers {
    /// With a home and a project. This process gets every orphan from here on.
    pub(crate) fn new() -> Self {
        tree::adopt_orphans().expect("a subreaper");
        let folder = tempfile::Builder::new().prefix("soak-").tempdir().expect("a folder");
        for below in ["home/.config/gsh", "project/.git"] {
            fs::create_dir_all(folder.path().join(below)).expect("a folder");
        }
        fs::write(folder.path().join("home/.config/gsh/config.toml"), CONFIG).expect("a file");
        Self { folder, own: Mutex::default() }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// A call, with nothing of the tester's environment.
    pub(crate) fn gsh(&self, args: &[&str], mode: &str) -> Command {
        let mut command = Command::new(GSH);
        command.args(args).env_clear().current_dir(self.at("project")).process_group(0);
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.at("home")).env("GSH_MODE", mode);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts it as one of our own.
    pub(crate) fn start(&self, command: &mut Command) -> Child {
        let mut own = self.own.lock().expect("the children");
        let child = command.spawn().expect("gsh starts");
        own.insert(child.id().cast_signed());
        child
    }

    /// One of our own has been waited for.
    pub(crate) fn forget(&self, pid: u32) {
        self.own.lock().expect("the children").remove(&pid.cast_signed());
    }

    /// Takes the ends of orphans, until this holds; how many.
    pub(crate) fn reap_until(&self, over: impl Fn() -> bool) -> usize {
        let mut count = 0;
        while !over() {
            count += self.reap();
            std::thread::sleep(Duration::from_millis(20));
        }
        count
    }

    fn reap(&self) -> usize {
        let own = self.own.lock().expect("the children");
        let orphans = children().into_iter().filter(|pid| !own.contains(pid));
        let gone = |pid: &i32| {
            let end = waitpid(Pid::from_raw(*pid), Some(WaitPidFlag::WNOHANG));
            end.is_ok_and(|end| end != WaitStatus::StillAlive)
        };
        orphans.filter(gone).count()
    }

    /// Waits until nothing is below this process; what does not end by itself is a leak, and is killed.
    pub(crate) fn wait_for_the_last(&self, longest: Duration) -> Vec<String> {
        let begun = Instant::now();
        while !children().is_empty() && begun.elapsed() < longest {
            self.reap();
            std::thread::sleep(Duration::from_millis(20));
        }
        println!("the last process was gone after {:.1} s more", begun.elapsed().as_secs_f64());
        let left = tree::below(std::process::id().cast_signed());
        let named = |process: &Process| {
            let words = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            format!("left running: {} {} {} {words}", process.pid, process.state, process.name)
        };
        let wrong = left.iter().map(named).collect();
        for process in left {
            let _gone = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
        }
        wrong
    }
}

/// The children of all threads of this process, dead ones included.
fn children() -> Vec<i32> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}
