//! The cage of an agent: namespaces of their own (user, process, mount, network, IPC, host name) with the loopback
//! interface and nothing else, a file system of `/usr`, the agent and gsh, all read-only, and a home in memory. No
//! file, credential or process of this machine's user can be seen from it. It ends with its first process, or when
//! its time is over.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::inside::{CLIENTS, DRIVER, GSH, HOME, WORD};
use super::table::{Client, Door};

/// What all cases of one agent by one door may take.
const TIME: Duration = Duration::from_secs(420);

/// Runs every case in a cage; a line for each, that begins with `ok` where it held, and with `known` where it failed
/// as the table says.
pub(crate) fn run(client: &Client, door: Door) -> Vec<String> {
    match caged(client, door) {
        Ok(lines) => lines,
        Err(error) => vec![format!("FAILED {} {} no cage: {error}", client.name, door.word())],
    }
}

fn caged(client: &Client, door: Door) -> io::Result<Vec<String>> {
    let staging = tempfile::Builder::new().prefix("gsh-clients-").tempdir()?;
    fs::write(staging.path().join("passwd"), format!("root:x:0:0:root:{HOME}:/bin/bash\n"))?;
    fs::write(staging.path().join("hosts"), "127.0.0.1 localhost\n")?;
    let out = staging.path().join("out");
    let mut cage = command(client, door, staging.path())?;
    cage.stdin(Stdio::null()).stdout(fs::File::create(&out)?).stderr(Stdio::inherit()).process_group(0);
    let mut cage = cage.spawn()?;
    let begun = Instant::now();
    let over = loop {
        if let Some(status) = cage.try_wait()? {
            break if status.success() { None } else { Some(format!("its cage ended with {status}")) };
        }
        if begun.elapsed() > TIME {
            killpg(Pid::from_raw(cage.id().cast_signed()), Signal::SIGKILL)?;
            cage.wait()?;
            break Some("its time was over".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let mut lines: Vec<String> = fs::read_to_string(&out)?.lines().map(str::to_owned).collect();
    if let Some(why) = over.filter(|_| lines.iter().all(|line| !line.starts_with("FAILED "))) {
        lines.push(format!("FAILED {} {} {why}", client.name, door.word()));
    }
    Ok(lines)
}

fn command(client: &Client, door: Door, staging: &Path) -> io::Result<Command> {
    let mut cage = Command::new("bwrap");
    cage.args(["--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0", "--die-with-parent"]);
    cage.args(["--new-session", "--clearenv", "--ro-bind", "/usr", "/usr"]);
    for folder in ["bin", "sbin", "lib", "lib64"] {
        cage.args(["--symlink", &format!("usr/{folder}"), &format!("/{folder}")]);
    }
    for file in ["/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs"] {
        cage.args(["--ro-bind-try", file, file]);
    }
    for file in ["passwd", "hosts"] {
        cage.arg("--ro-bind").arg(staging.join(file)).arg(format!("/etc/{file}"));
    }
    cage.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
    match std::env::var_os("GSH_CLIENTS_KEEP") {
        Some(folder) => cage.arg("--bind").arg(folder).arg(HOME),
        None => cage.args(["--tmpfs", HOME]),
    };
    let folder = format!("{CLIENTS}/{}", client.name);
    cage.arg("--ro-bind").arg(client.folder()).arg(&folder);
    cage.args([
        "--symlink",
        &format!("{folder}/{}", client.program),
        &format!("{CLIENTS}/bin/{}", client.link),
    ]);
    cage.arg("--ro-bind").arg(fs::canonicalize(env!("CARGO_BIN_EXE_gsh"))?).arg(GSH);
    cage.arg("--ro-bind").arg(std::env::current_exe()?).arg(DRIVER);
    // The machines of the tests lie in the temporary folder of the driver, which is not the one of its programs.
    cage.args([
        "--setenv",
        "TMPDIR",
        HOME,
        "--setenv",
        "PATH",
        "/usr/local/bin:/usr/bin:/bin",
        "--chdir",
        HOME,
    ]);
    for name in
        ["GSH_CLIENTS_SHOW", "GSH_CLIENTS_KEEP"].iter().filter(|name| std::env::var_os(name).is_some())
    {
        cage.args(["--setenv", name, "1"]);
    }
    cage.args([DRIVER, WORD, &client.name, door.word()]);
    cage.args(std::env::args().filter(|word| super::cases::names().contains(&word.as_str())));
    Ok(cage)
}
