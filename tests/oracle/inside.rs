//! What runs inside: the stages that build the cage around themselves, the first process, which runs
//! the scripts, and the stand-ins for programs. No stage has the tester's rights.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{OFlag, openat};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getgid, getuid, pivot_root};
use serde::{Deserialize, Serialize};

use crate::trace;
use crate::world::{self, FILES, HOME, PROJECT, Thing};

/// The stage that leaves the tester's namespaces.
pub(crate) const OUTER: &str = "--oracle-cage-outer";

/// The stage that becomes the first process of the new ones.
pub(crate) const INIT: &str = "--oracle-cage-init";

/// Stands in the cage's root only: a program that sees it is inside.
pub(crate) const MARK: &str = "/.oracle-cage";

/// The user that scripts are, as they see themselves.
const USER: u32 = 1000;

/// Where stand-ins write down their calls.
const CALLS: &str = "/log/calls";

/// Where the tracer of a whole cage writes.
const TRACE: &str = "/log/trace";

/// The real programs behind stand-ins.
const REAL: &str = "/real";

/// If this process is a stage of a cage, or a program inside one: does what it is for.
pub(crate) fn stage(argv: &[String]) -> Option<ExitCode> {
    if Path::new(MARK).exists() {
        return Some(stand_in(argv));
    }
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let staged = match words.as_slice() {
        [_, OUTER, staging] => outer(Path::new(staging)),
        [_, INIT, staging] => init(Path::new(staging)).map(|()| ExitCode::SUCCESS),
        _ => return None,
    };
    Some(staged.unwrap_or_else(|error| {
        eprintln!("no cage: {error}");
        ExitCode::FAILURE
    }))
}

/// What the cage is built from.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The machine's own programs, unchanged and under a tracer, in place of stand-ins.
    pub(crate) whole: bool,
    /// Files: from, to.
    pub(crate) files: Vec<(PathBuf, PathBuf)>,
    /// The program that stands in for others.
    pub(crate) stand_in: PathBuf,
}

/// A script to run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// The text for `bash -c`.
    pub(crate) text: String,
    /// Its time in milliseconds; what it has left behind gets the same again.
    pub(crate) time: u64,
}

/// One program start.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub(crate) struct Start {
    /// The directory it was started in; empty where a tracer saw it.
    pub(crate) cwd: String,
    /// The program's file, where a tracer saw it.
    pub(crate) path: String,
    /// Its words.
    pub(crate) argv: Vec<String>,
}

/// What a script did.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Programs that were started, in the order they said so.
    pub(crate) starts: Vec<Start>,
    /// Files made, changed or removed.
    pub(crate) changed: Vec<String>,
    /// Addresses that it tried to reach (whole cages only).
    pub(crate) reached: Vec<String>,
    /// The beginning of what it said on standard output (whole cages only).
    pub(crate) said: String,
    /// The beginning of what it said on standard error.
    pub(crate) errors: String,
    /// It did not end by itself.
    pub(crate) stopped: bool,
}

/// Leaves every namespace of the tester's, maps to the foreign user, starts the first process.
fn outer(staging: &Path) -> io::Result<ExitCode> {
    close_inherited()?;
    let (user, group) = (getuid(), getgid());
    if user.is_root() {
        return Err(io::Error::other("the cage must be built by an unprivileged user"));
    }
    unshare(
        CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWPID
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWIPC
            | CloneFlags::CLONE_NEWUTS,
    )?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    let mut init = Command::new(std::env::current_exe()?).arg(INIT).arg(staging).spawn()?;
    let status = init.wait()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Descriptors that a careless ancestor left open lead out of the cage.
fn close_inherited() -> io::Result<()> {
    let open: Vec<i32> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd > 2)
        .collect();
    for fd in open {
        // The listing's own descriptor is closed by now.
        let _ = nix::unistd::close(fd);
    }
    Ok(())
}

/// The first process of the cage: builds its file system, gives up every right, runs jobs.
fn init(staging: &Path) -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("not the first process of a namespace"));
    }
    // In a session of its own, or a signal to "my process group" would reach the stage outside; it dies
    // with that stage, also while it builds.
    nix::unistd::setsid()?;
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    let manifest: Manifest = serde_json::from_slice(&fs::read(staging.join("manifest"))?)?;
    build(staging, &manifest).map_err(|error| said("building its file system", &error))?;
    give_up_rights().map_err(|error| said("giving up rights", &error))?;
    // Again: a change of credentials clears it.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    nix::sys::prctl::set_no_new_privs()?;
    limit(manifest.whole)?;
    serve(manifest.whole)
}

fn said(doing: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{doing}: {error}"))
}

fn build(staging: &Path, manifest: &Manifest) -> io::Result<()> {
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    let root = staging.join("root");
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("cage"), &root, Some("tmpfs"), safe, Some("mode=755,size=256m,nr_inodes=8k"))?;
    for folder in ["dev", "proc", "etc", "home", "tmp", "log", "var", "root"] {
        fs::create_dir_all(root.join(folder))?;
    }
    if manifest.whole {
        machine(&root)?;
        copy(&manifest.stand_in, &root.join("probe/canary-probe"))?;
    } else {
        stand_ins(&root, manifest)?;
    }
    fs::write(
        root.join("etc/passwd"),
        format!("root:x:0:0::/root:/bin/bash\ndev:x:{USER}:{USER}::{HOME}:/bin/bash\n"),
    )?;
    fs::write(root.join(inside(&root, Path::new(MARK))), "")?;
    devices(&root)?;
    for folder in ["home", "tmp", "log"] {
        let limits = Some("mode=755,size=64m,nr_inodes=2k");
        mount(Some("cage"), &root.join(folder), Some("tmpfs"), safe, limits)?;
    }
    mount(Some("proc"), &root.join("proc"), Some("proc"), safe | MsFlags::MS_NOEXEC, none)?;
    let sealed = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_BIND | safe;
    mount(none, &root, none, sealed, none)?;
    std::env::set_current_dir(&root)?;
    pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    std::env::set_current_dir("/")
}

/// Stand-ins, with the few real programs behind them.
fn stand_ins(root: &Path, manifest: &Manifest) -> io::Result<()> {
    for folder in ["usr/bin", "usr/lib", "real"] {
        fs::create_dir_all(root.join(folder))?;
    }
    symlink("usr/bin", root.join("bin"))?;
    for (from, to) in &manifest.files {
        copy(from, &inside(root, to))?;
    }
    let first = root.join("usr/bin/canary-probe");
    copy(&manifest.stand_in, &first)?;
    for name in world::STAND_INS.split_whitespace().filter(|name| *name != "canary-probe") {
        fs::hard_link(&first, root.join("usr/bin").join(name))?;
    }
    Ok(())
}

/// The programs of this machine, which nobody can change in there, and what they need to start.
fn machine(root: &Path) -> io::Result<()> {
    let none = None::<&str>;
    for folder in ["/usr", "/etc/alternatives"] {
        let to = inside(root, Path::new(folder));
        fs::create_dir_all(&to)?;
        mount(Some(folder), &to, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)?;
        let sealed = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        mount(none, &to, none, sealed | MsFlags::MS_NOSUID | MsFlags::MS_NODEV, none)?;
    }
    for folder in ["bin", "sbin", "lib", "lib64"] {
        symlink(Path::new("usr").join(folder), root.join(folder))?;
    }
    // Nobody is asked for the names of this machine itself.
    let own = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = own.trim();
    fs::write(root.join("etc/hosts"), format!("127.0.0.1 localhost {own}\n::1 localhost {own}\n"))?;
    fs::write(root.join("etc/nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n")?;
    for file in ["/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/magic"].map(Path::new) {
        if file.exists() {
            copy(file, &inside(root, file))?;
        }
    }
    Ok(())
}

/// A path of the cage as seen from outside its root.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o555))
}

fn devices(root: &Path) -> io::Result<()> {
    let none = None::<&str>;
    for name in ["null", "zero", "urandom"] {
        let place = root.join("dev").join(name);
        File::create(&place)?;
        mount(Some(&Path::new("/dev").join(name)), &place, none, MsFlags::MS_BIND, none)?;
    }
    for (name, to) in [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        symlink(to, root.join("dev").join(name))?;
    }
    Ok(())
}

/// A last user namespace, in which this process owns nothing of what was mounted; no further one can
/// be made. What is left of /proc shows processes of the cage only, and cannot be written.
fn give_up_rights() -> io::Result<()> {
    fs::write("/proc/sys/user/max_user_namespaces", "1")?;
    let own = nix::fcntl::open(
        "/proc/self",
        OFlag::O_DIRECTORY | OFlag::O_RDONLY | OFlag::O_CLOEXEC,
        Mode::empty(),
    )?;
    // Over the first one: the kernel lets nobody mount a /proc who does not see one already.
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
    mount(Some("proc"), "/proc", Some("proc"), flags, Some("subset=pid"))?;
    unshare(CloneFlags::CLONE_NEWUSER)?;
    for (name, content) in [("setgroups", "deny"), ("uid_map", "1000 0 1"), ("gid_map", "1000 0 1")] {
        let file = openat(own.as_fd(), name, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?;
        File::from(file).write_all(content.as_bytes())?;
    }
    Ok(())
}

fn limit(whole: bool) -> io::Result<()> {
    // Some interpreters map far more than they use.
    let space = if whole { 32 << 30 } else { 1 << 30 };
    for (what, soft, hard) in [
        (Resource::RLIMIT_AS, space, space),
        (Resource::RLIMIT_FSIZE, 4 << 20, 4 << 20),
        (Resource::RLIMIT_NPROC, 64, 64),
        (Resource::RLIMIT_NOFILE, 128, 128),
        (Resource::RLIMIT_CORE, 0, 0),
        (Resource::RLIMIT_CPU, 3, 120),
    ] {
        setrlimit(what, soft, hard)?;
    }
    Ok(())
}

/// Reports the file system, then answers one line for each line.
fn serve(whole: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    fresh(&BTreeMap::new())?;
    let mut things = Vec::new();
    if whole {
        ended(Some(repository()?), Duration::from_secs(20));
        for folder in ["/home", "/tmp", "/dev"] {
            survey(Path::new(folder), &mut things)?;
        }
    } else {
        survey(Path::new("/"), &mut things)?;
    }
    writeln!(out, "{}", serde_json::to_string(&things)?)?;
    out.flush()?;
    let (clean, empty) = (snapshot()?, BTreeMap::new());
    for line in io::stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let outcome = run(&job, &clean, whole)?;
        if !outcome.changed.is_empty() {
            fresh(if whole { &clean } else { &empty })?;
        }
        writeln!(out, "{}", serde_json::to_string(&outcome)?)?;
        out.flush()?;
    }
    Ok(())
}

/// Makes the project a repository with one commit.
fn repository() -> io::Result<Pid> {
    let text = "git init -q -b main . && git add -A && \
                git -c user.name=dev -c user.email=dev@localhost commit -q -m first";
    let mut bash = Command::new("/usr/bin/bash");
    bash.args(["-c", text]).env_clear().envs(world::environment()).current_dir(PROJECT);
    let child = bash.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    Ok(Pid::from_raw(child.id().cast_signed()))
}

/// The writable part as every script finds it, with what a snapshot kept.
fn fresh(kept: &BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    for folder in ["/home", "/tmp", "/log"] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o700));
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path)?
            } else {
                fs::remove_file(path)?
            }
        }
    }
    for (path, content) in FILES {
        fs::create_dir_all(Path::new(path).parent().unwrap_or(Path::new("/")))?;
        fs::write(path, content)?;
    }
    for (path, seen) in kept {
        let space = seen.iter().position(|byte| *byte == b' ').unwrap_or(seen.len());
        let (mode, content) = seen.split_at(space);
        let mode = std::str::from_utf8(mode).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
        if mode.is_some_and(|mode| mode & 0o170_000 == 0o40_000) {
            fs::create_dir_all(path)?;
        } else {
            fs::write(path, content.get(1..).unwrap_or_default())?;
        }
        fs::set_permissions(path, fs::Permissions::from_mode(mode.unwrap_or(0o644) & 0o7777))?;
    }
    Ok(())
}

fn survey(dir: &Path, things: &mut Vec<Thing>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let kind = path.symlink_metadata()?.file_type();
        things.push(if kind.is_symlink() {
            Thing::Link(path.clone(), fs::read_link(&path)?)
        } else if kind.is_dir() {
            Thing::Directory(path.clone())
        } else if kind.is_file() {
            Thing::File(path.clone())
        } else {
            Thing::Special(path.clone())
        });
        if kind.is_dir() && path != Path::new("/proc") {
            survey(&path, things)?;
        }
    }
    Ok(())
}

/// Every writable path with its kind and content.
fn snapshot() -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::from("/home"), PathBuf::from("/tmp")];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            let data = path.symlink_metadata()?;
            let kind = data.file_type();
            let mode = data.permissions().mode();
            let mut seen = format!("{mode:o} ").into_bytes();
            if kind.is_dir() {
                waiting.push(path.clone());
            } else if kind.is_file() {
                seen.extend(fs::read(&path).unwrap_or_default());
            }
            found.insert(path, seen);
        }
    }
    Ok(found)
}

fn run(job: &Job, clean: &BTreeMap<PathBuf, Vec<u8>>, whole: bool) -> io::Result<Outcome> {
    File::create(CALLS)?;
    let errors = File::create("/log/errors")?;
    let mut bash = if whole { traced() } else { Command::new(format!("{REAL}/bash")) };
    if !whole {
        bash.arg0("bash");
    }
    bash.arg("-c").arg(&job.text).env_clear().envs(world::environment()).current_dir(PROJECT);
    let output = if whole { Stdio::from(File::create("/log/output")?) } else { Stdio::null() };
    bash.process_group(0).stdin(Stdio::null()).stdout(output).stderr(errors);
    let child = bash.spawn()?;
    let time = Duration::from_millis(job.time);
    let stopped = !ended(Some(Pid::from_raw(child.id().cast_signed())), time) || !ended(None, time);
    while stopped && !ended(None, Duration::from_millis(20)) {
        let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    }
    let calls = fs::read_to_string(CALLS).unwrap_or_default();
    let trace = String::from_utf8_lossy(&fs::read(TRACE).unwrap_or_default()).into_owned();
    let starts = match whole {
        // The first start is that of bash itself.
        true => trace::starts(&trace).into_iter().skip(1).collect(),
        false => calls.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    };
    let reached = trace::reached(&trace);
    let said = beginning("/log/output", 64 << 10);
    let now = snapshot()?;
    let touched = now.iter().filter(|(path, seen)| clean.get(*path) != Some(*seen)).map(|(path, _)| path);
    let gone = clean.keys().filter(|path| !now.contains_key(*path));
    let changed = touched.chain(gone).map(|path| path.to_string_lossy().into_owned()).collect();
    let errors = beginning("/log/errors", 400);
    Ok(Outcome { starts, changed, reached, said, errors, stopped })
}

fn beginning(path: &str, most: usize) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).chars().take(most).collect()
}

/// The real bash under a tracer that writes down what is started and what is reached.
fn traced() -> Command {
    let mut tracer = Command::new("/usr/bin/strace");
    tracer.args(["-f", "-qq", "-s", "4096", "-e", "trace=execve,connect,sendto,sendmsg,sendmmsg"]);
    tracer.args(["-e", "signal=none", "-o", TRACE, "--", "/usr/bin/bash"]);
    tracer
}

/// Waits for one child, or for all that is left; false when the time was too short.
fn ended(one: Option<Pid>, time: Duration) -> bool {
    let until = Instant::now() + time;
    loop {
        match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) if Instant::now() > until => return false,
            Ok(WaitStatus::StillAlive) => std::thread::sleep(Duration::from_micros(200)),
            Ok(status) if one.is_some() && status.pid() == one => return true,
            Ok(_) => {}
            Err(_) => return true,
        }
    }
}

/// A program of the cage: says that it was called, then is the real one, or nothing.
fn stand_in(argv: &[String]) -> ExitCode {
    let cwd = std::env::current_dir().map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    let start = Start { cwd, path: String::new(), argv: argv.to_vec() };
    let line = serde_json::to_string(&start).map(|line| line + "\n").unwrap_or_default();
    if let Ok(mut calls) = OpenOptions::new().append(true).open(CALLS) {
        let _ = calls.write_all(line.as_bytes());
    }
    let Some((first, rest)) = argv.split_first() else { return ExitCode::FAILURE };
    let name = first.rsplit('/').next().unwrap_or(first);
    let real = Path::new(REAL).join(name);
    if name == "canary-probe" {
        return probe(rest);
    }
    if real.exists() {
        let _ = Command::new(real).arg0(first).args(rest).exec();
        return ExitCode::from(126);
    }
    match (name, rest) {
        ("sudo" | "doas", [command, words @ ..]) if !command.starts_with('-') => {
            let _ = Command::new(command).args(words).exec();
            return ExitCode::from(127);
        }
        ("git", [verb, what, ..]) if verb == "rev-parse" && what == "HEAD" => {
            println!("0123456789abcdef0123456789abcdef01234567");
        }
        // With a pattern only what fits it, or loops over sources would be given other files.
        ("git", [verb, words @ ..]) if verb == "ls-files" => {
            let suffix = words.last().and_then(|word| word.strip_prefix('*')).unwrap_or_default();
            let files = ["a.txt", "src/lib.rs", "src/main.rs"].map(|name| Path::new(PROJECT).join(name));
            let here = std::env::current_dir().unwrap_or_default();
            let names = files.iter().filter_map(|file| file.strip_prefix(&here).ok()?.to_str());
            names.filter(|name| name.ends_with(suffix)).for_each(|name| println!("{name}"));
        }
        _ => {}
    }
    ExitCode::SUCCESS
}

/// Tries from inside what the canary tests cannot write as a script; each line is a leak.
fn probe(words: &[String]) -> ExitCode {
    let mut leaks = Vec::new();
    let made = "/tmp/device";
    if mknod(made, SFlag::S_IFBLK, Mode::S_IRWXU, makedev(254, 0)).is_ok() && File::open(made).is_ok() {
        leaks.push("a block device can be made and opened".to_owned());
    }
    if unshare(CloneFlags::CLONE_NEWUSER).is_ok() {
        leaks.push("a further user namespace can be made".to_owned());
    }
    if mount(Some("x"), "/tmp", Some("tmpfs"), MsFlags::empty(), None::<&str>).is_ok() {
        leaks.push("something can be mounted".to_owned());
    }
    if umount2("/proc", MntFlags::MNT_DETACH).is_ok() {
        leaks.push("/proc can be unmounted".to_owned());
    }
    for entry in fs::read_dir("/dev").into_iter().flatten().flatten() {
        let known = ["null", "zero", "urandom", "fd", "stdin", "stdout", "stderr"];
        let block = entry.file_type().is_ok_and(|kind| kind.is_block_device());
        if block || !known.iter().any(|name| entry.file_name() == *name) {
            leaks.push(format!("{} is in /dev", entry.path().display()));
        }
    }
    for path in words.iter().map(Path::new).filter(|path| path.exists()) {
        leaks.push(format!("{} can be seen", path.display()));
    }
    let numbers = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    if numbers.count() > 16 {
        leaks.push("processes from outside can be seen".to_owned());
    }
    let _ = fs::write("/tmp/leaks", leaks.join("\n"));
    for leak in leaks {
        eprintln!("leak: {leak}");
    }
    ExitCode::SUCCESS
}
