//! The proof that comes first: what is tried inside a cage must not be felt outside.
//!
//! Every attempt is harmless even where it succeeds: signals and forks belong to a user that owns
//! nothing else, the device is opened and not written, the key asks the kernel for its help text.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cage::{NoCage, Workshop};

/// Tries to get out of a cage.
///
/// # Errors
/// Says what got out, or why there is no cage.
pub(crate) fn prove(shop: &Workshop) -> Result<(), NoCage> {
    works(shop)?;
    holds(shop).map_err(NoCage::Leaks)
}

fn holds(shop: &Workshop) -> io::Result<()> {
    let before = processes_of(shop.foreign)?;
    let witness =
        Command::new("sleep").arg("60").uid(shop.foreign).gid(shop.foreign).stdin(Stdio::null()).spawn()?;
    let mut witness = Witness(witness);
    signals_stay_inside(shop, &mut witness)?;
    files_stay_outside(shop)?;
    network_is_closed(shop)?;
    forks_are_bounded(shop)?;
    deadlines_hold(shop)?;
    witness.alive()?;
    drop(witness);
    check(processes_of(shop.foreign)? <= before, "processes of a cage outlive it")
}

/// A process outside, of the same foreign user.
struct Witness(Child);

impl Witness {
    fn alive(&mut self) -> io::Result<()> {
        check(self.0.try_wait()?.is_none(), "a signal from inside killed a process outside")
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check(holds: bool, what: &str) -> io::Result<()> {
    if holds { Ok(()) } else { Err(io::Error::other(what.to_owned())) }
}

/// The cage sees what it should: otherwise nothing that follows proves anything.
fn works(shop: &Workshop) -> io::Result<()> {
    let mut cage = shop.cage(None)?;
    let outcome = cage
        .run("ls 'm 1'; env -i cat m2; for i in 1 2; do /bin/rm $i; done; echo > made; echo > /dev/null")?;
    let starts: Vec<String> = outcome.starts.iter().map(|start| start.argv.join("|")).collect();
    let expected = ["ls|m 1", "env|-i|cat|m2", "cat|m2", "/bin/rm|1", "/bin/rm|2"];
    check(starts == expected, &format!("calls are not seen: {starts:?} {}", outcome.errors))?;
    check(
        outcome.changed == ["/home/dev/proj/made"],
        &format!("changes are not seen: {:?}", outcome.changed),
    )?;
    check(cage.run("ls made")?.changed.is_empty(), "changes outlive their script")
}

fn signals_stay_inside(shop: &Workshop, witness: &mut Witness) -> io::Result<()> {
    let mut cage = shop.cage(None)?;
    cage.run("kill -9 -1")?;
    cage.run("kill -9 1 $PPID; kill -9 -1 & kill -TERM 0")?;
    for text in [format!("kill -9 {}", witness.0.id()), format!("kill -9 {}", std::process::id())] {
        cage.run(&text)?;
    }
    check(!cage.run("ls m1")?.starts.is_empty(), "a cage does not survive its scripts")?;
    witness.alive()
}

fn files_stay_outside(shop: &Workshop) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777))?;
    let known = folder.path().join("known");
    fs::write(&known, "unchanged")?;
    fs::set_permissions(&known, fs::Permissions::from_mode(0o666))?;
    let mut cage = shop.cage(None)?;
    let path = known.display();
    for text in [
        format!("echo x > {path}"),
        format!("echo x > /proc/1/root{path}; echo x > /proc/1/cwd/../../../../..{path}"),
        format!("cd /; cd ../../..; echo x >> .{path}"),
        "for x in /proc/[0-9]*/fd/*; do [ -f \"$x\" ] && echo leak > \"$x\"; done".to_owned(),
    ] {
        cage.run(&text)?;
    }
    check(fs::read_to_string(&known)? == "unchanged", "a file outside can be written")?;
    let devices = "for x in /dev/[a-z]d[a-z]* /dev/nvme* /dev/kmsg /dev/mem; do { : >> $x; } 2>/dev/null && touch leak $x; done";
    check(cage.run(devices)?.starts.is_empty(), "a device can be opened for writing")?;
    for text in [
        "echo h > /proc/sysrq-trigger && ls leak",
        "echo 1 > /proc/sys/kernel/sysrq && ls leak",
        "echo x > /proc/sys/kernel/hostname && ls leak",
        "echo x > /usr/bin/new && ls leak",
        "echo x > /real/bash && ls leak",
    ] {
        check(cage.run(text)?.starts.is_empty(), text)?;
    }
    let outside = [shop.folder(), folder.path()].map(|path| path.display().to_string()).join(" ");
    let outcome =
        cage.run(&format!("canary-probe {outside} /sys/kernel /proc/sysrq-trigger /proc/sys /boot"))?;
    check(
        !outcome.starts.is_empty() && outcome.errors.is_empty(),
        &format!("the probe found: {}", outcome.errors),
    )
}

fn network_is_closed(shop: &Workshop) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let outcome = shop.cage(None)?.run(&format!("echo x > /dev/tcp/127.0.0.1/{port} && ls leak"))?;
    check(outcome.starts.is_empty() && listener.accept().is_err(), "the network is open")
}

fn forks_are_bounded(shop: &Workshop) -> io::Result<()> {
    let mut cage = shop.cage(None)?;
    let most = std::thread::scope(|scope| {
        let counting = scope.spawn(|| {
            let until = Instant::now() + Duration::from_secs(1);
            let mut most = 0;
            while Instant::now() < until {
                most = most.max(processes_of(shop.foreign).unwrap_or(usize::MAX));
                std::thread::sleep(Duration::from_millis(50));
            }
            most
        });
        let outcome = cage.run_for("f() { f | f & }; f; while :; do f; done", 700);
        (counting.join().unwrap_or(usize::MAX), outcome)
    });
    check((20..120).contains(&most.0), &format!("forks are not bounded, or none were made: {}", most.0))?;
    check(most.1?.stopped, "a script that never ends was not stopped")?;
    check(!cage.run("ls m1")?.starts.is_empty(), "a cage does not survive a fork loop")
}

fn deadlines_hold(shop: &Workshop) -> io::Result<()> {
    let mut cage = shop.cage(Some(Duration::from_millis(500)))?;
    let started = Instant::now();
    let outcome = cage.run("trap '' TERM INT HUP; while :; do :; done");
    check(outcome.is_err() && started.elapsed() < Duration::from_secs(2), "a cage outlives its deadline")
}

/// How many processes of a user there are.
fn processes_of(user: u32) -> io::Result<usize> {
    use std::os::unix::fs::MetadataExt;
    let all = fs::read_dir("/proc")?.flatten();
    let numbered = all.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok());
    Ok(numbered.filter(|entry| entry.metadata().is_ok_and(|data| data.uid() == user)).count())
}
