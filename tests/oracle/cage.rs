//! The cage from outside: what goes into it, its start, its deadline.
//!
//! Scripts run in namespaces of their own (user, process, mount, network, IPC, host name) as a user
//! that owns nothing on this machine, on a file system in memory, without any device but three
//! harmless ones. A cage is used for one batch of scripts and killed whole. It is only handed out by
//! [`Workshop::open`], after [`crate::canary`] has tried to get out of one.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getuid};

use crate::inside::{Job, Manifest, OUTER, Outcome};
use crate::world::{REAL, Thing};

/// The time a whole cage gets.
const CAGE_TIME: Duration = Duration::from_secs(300);

/// Why there is no cage.
#[derive(Debug)]
pub(crate) enum NoCage {
    /// This machine, or this user, cannot make one.
    Impossible(io::Error),
    /// It was made, and does not hold.
    Leaks(io::Error),
}

impl From<io::Error> for NoCage {
    fn from(error: io::Error) -> Self {
        Self::Impossible(error)
    }
}

/// Runs a test in cages. Without one nothing runs; who asks for a campaign by name, in the environment's
/// `GSH_NAME`, wants it to fail then.
pub(crate) fn in_cages(
    name: &str,
    argv: &[String],
    shop: impl FnOnce() -> Result<Workshop, NoCage>,
    run: impl FnOnce(&Workshop) -> ExitCode,
) -> ExitCode {
    if argv.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    match shop() {
        Ok(shop) => run(&shop),
        Err(NoCage::Leaks(error)) => {
            println!("\n**** {name} STOPPED, THE CAGE DOES NOT HOLD: {error} ****\n");
            ExitCode::FAILURE
        }
        Err(NoCage::Impossible(error)) => {
            println!("\n**** {name} SKIPPED, NOTHING WAS TRIED: {error} ****\n");
            let asked = std::env::var_os(format!("GSH_{name}")).is_some();
            if asked { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
    }
}

/// Everything that cages are built from.
pub(crate) struct Workshop {
    staging: tempfile::TempDir,
    /// The user outside whom all of a cage runs as: in no user table, so owner of nothing.
    pub(crate) foreign: u32,
}

impl Workshop {
    /// Prepares cages, and proves on one that nothing gets out.
    ///
    /// # Errors
    /// When this machine cannot make the cage, or the proof failed.
    pub(crate) fn open() -> Result<Self, NoCage> {
        Self::build(false)
    }

    /// Prepares cages with the machine's own programs, and proves on one that nothing gets out.
    ///
    /// # Errors
    /// As [`Self::open`]; also without a tracer.
    #[allow(dead_code, reason = "the oracle, which shares this file, has stand-ins")]
    pub(crate) fn whole() -> Result<Self, NoCage> {
        if !Path::new("/usr/bin/strace").exists() {
            return Err(io::Error::other("strace is not installed").into());
        }
        Self::build(true)
    }

    fn build(whole: bool) -> Result<Self, NoCage> {
        if !getuid().is_root() {
            let why = "only the superuser can map a cage to a user that is not the tester's";
            return Err(io::Error::other(why).into());
        }
        let staging = tempfile::Builder::new().prefix("oracle-cage-").tempdir()?;
        fs::set_permissions(staging.path(), fs::Permissions::from_mode(0o755))?;
        fs::create_dir(staging.path().join("root"))?;
        let own = staging.path().join("oracle");
        fs::copy(std::env::current_exe()?, &own)?;
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755))?;
        let manifest = if whole {
            Manifest { whole, stand_in: own.clone(), ..Manifest::default() }
        } else {
            manifest(&own)?
        };
        let manifest = serde_json::to_string(&manifest).map_err(io::Error::from)?;
        fs::write(staging.path().join("manifest"), manifest)?;
        let shop = Self { staging, foreign: foreign()? };
        crate::canary::prove(&shop)?;
        Ok(shop)
    }

    /// The program of the stages, for others that must run as the foreign user.
    pub(crate) fn folder(&self) -> &Path {
        self.staging.path()
    }

    /// A new cage.
    pub(crate) fn cage(&self, time: Option<Duration>) -> io::Result<Cage> {
        let mut outer = Command::new(self.staging.path().join("oracle"));
        outer.arg(OUTER).arg(self.staging.path()).env_clear().current_dir("/");
        outer.uid(self.foreign).gid(self.foreign).process_group(0);
        let mut outer =
            outer.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let (jobs, outcomes) = (outer.stdin.take(), outer.stdout.take().map(BufReader::new));
        let (done, over) = mpsc::channel::<()>();
        let stage = outer.id();
        thread::spawn(move || {
            // Whatever ends first: the cage's use, which drops the sender, or its time.
            if over.recv_timeout(time.unwrap_or(CAGE_TIME)) == Err(mpsc::RecvTimeoutError::Timeout) {
                stop(stage);
            }
        });
        let (Some(jobs), Some(outcomes)) = (jobs, outcomes) else {
            return Err(io::Error::other("a cage without pipes"));
        };
        let mut cage = Cage { outer, jobs, outcomes, done: Some(done), things: Vec::new() };
        cage.things = serde_json::from_str(&cage.line()?)?;
        Ok(cage)
    }
}

/// The time one script gets.
const SCRIPT_TIME: u64 = 3_000;

/// A running cage.
pub(crate) struct Cage {
    outer: Child,
    jobs: ChildStdin,
    outcomes: BufReader<ChildStdout>,
    done: Option<mpsc::Sender<()>>,
    /// Its file system, as every script finds it.
    pub(crate) things: Vec<Thing>,
}

impl Cage {
    /// Runs one script with `bash -c`.
    pub(crate) fn run(&mut self, text: &str) -> io::Result<Outcome> {
        self.run_for(text, SCRIPT_TIME)
    }

    /// The same, in so many milliseconds.
    pub(crate) fn run_for(&mut self, text: &str, time: u64) -> io::Result<Outcome> {
        let job = Job { text: text.to_owned(), time };
        writeln!(self.jobs, "{}", serde_json::to_string(&job)?)?;
        self.jobs.flush()?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.outcomes.read_line(&mut line)? == 0 {
            return Err(io::Error::other("the cage is gone"));
        }
        Ok(line)
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        stop(self.outer.id());
        let _ = self.outer.wait();
        drop(self.done.take());
    }
}

/// Kills the first process of a cage, which takes every other one with it. The stage that started it
/// waits for its end; where that child is not to be found, it dies after the stage, by its own wish.
fn stop(stage: u32) {
    let children = fs::read_to_string(format!("/proc/{stage}/task/{stage}/children")).unwrap_or_default();
    let first = children.split_whitespace().next().and_then(|number| number.parse().ok());
    let _ = kill(Pid::from_raw(first.unwrap_or(stage.cast_signed())), Signal::SIGKILL);
}

/// A user of no table, another one for each run of this test.
fn foreign() -> io::Result<u32> {
    // The table as a file: a static program cannot load the C library's other sources of users.
    let table = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let taken: Vec<&str> = table.lines().filter_map(|line| line.split(':').nth(2)).collect();
    let free = |user: &u32| !taken.contains(&user.to_string().as_str());
    let from = 60_000 + std::process::id() % 5_000;
    (from..65_000).find(free).ok_or_else(|| io::Error::other("every user is somebody"))
}

/// The real programs that exist here, with their libraries.
fn manifest(own: &Path) -> io::Result<Manifest> {
    let mut files = BTreeSet::new();
    let mut programs = vec![own.to_owned()];
    for name in REAL.split_whitespace() {
        let found =
            ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists());
        if let Some(real) = found.and_then(|path| path.canonicalize().ok()) {
            files.insert((real.clone(), Path::new("/real").join(name)));
            programs.push(real);
        }
    }
    if !files.iter().any(|(_, to)| to.ends_with("real/bash")) {
        return Err(io::Error::other("there is no bash here"));
    }
    for library in libraries(&programs)? {
        let real = library.canonicalize()?;
        files.insert((real, library));
    }
    // stdbuf preloads this one by itself.
    let preloaded = Path::new("/usr/libexec/coreutils/libstdbuf.so");
    if preloaded.exists() {
        files.insert((preloaded.to_owned(), preloaded.to_owned()));
    }
    Ok(Manifest { whole: false, files: files.into_iter().collect(), stand_in: own.to_owned() })
}

fn libraries(programs: &[PathBuf]) -> io::Result<BTreeSet<PathBuf>> {
    let output = Command::new("ldd").args(programs).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths = text
        .lines()
        .filter(|line| line.starts_with('\t'))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from));
    Ok(paths.collect())
}
