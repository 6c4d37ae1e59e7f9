//! Where a caller is tried: one folder for both shells, so that no path tells them apart.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use portable_pty::CommandBuilder;

use crate::common::machine::{Screen, starting};

pub(super) const GSH: &str = env!("CARGO_BIN_EXE_gsh");
/// Nothing here takes a second on an idle machine, but what starts with a large program.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

/// A way that some program starts a shell.
#[derive(Clone, Copy)]
pub(super) struct Caller {
    /// Its name.
    pub(super) name: &'static str,
    /// The programs it takes.
    pub(super) needs: &'static [&'static str],
    /// Has the shell run this text, as this caller does.
    pub(super) run: fn(&Place, &str) -> Seen,
    /// The texts that differ by right; each caller says why.
    pub(super) except: &'static [&'static str],
    /// A rule that this caller takes in the default mode, for a program that it has the shell start.
    pub(super) rule: &'static str,
    /// Whether what a shell says on standard error arrives anywhere.
    pub(super) told: bool,
}

impl Caller {
    pub(super) fn without(self, except: &'static [&'static str]) -> Self {
        Self { except, ..self }
    }

    pub(super) fn deaf(self) -> Self {
        Self { told: false, ..self }
    }
}

/// A caller without exceptions.
pub(super) fn caller(
    name: &'static str,
    needs: &'static [&'static str],
    run: fn(&Place, &str) -> Seen,
) -> Caller {
    Caller { name, needs, run, except: &[], rule: "", told: true }
}

/// The shell of a pass.
#[derive(Clone, Copy)]
pub(super) enum Shell<'a> {
    /// The real one.
    Bash,
    /// gsh, with this configuration of the user's.
    Gsh(&'a str),
}

/// What can be seen of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The caller's exit status, or the signal it died of.
    pub(super) status: String,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// What lies in the project afterwards.
    pub(super) files: BTreeMap<String, String>,
}

impl Seen {
    /// Everything that arrived anywhere.
    pub(super) fn whole(&self) -> String {
        // A terminal or a pager breaks lines where it likes.
        [&self.stdout, &self.stderr].map(|text| text.replace("\r\n", "\n")).concat()
    }
}

/// A folder with a home, a project and the shell.
pub(super) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::Builder::new().prefix("callers-").tempdir().expect("a folder") }
    }

    /// A path in it.
    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The same as text.
    pub(super) fn text_at(&self, path: &str) -> String {
        self.at(path).to_str().expect("a path in ASCII").to_owned()
    }

    /// The folder itself.
    pub(super) fn root(&self) -> String {
        self.text_at("").trim_end_matches('/').to_owned()
    }

    /// The shell, under the same name whichever it is.
    pub(super) fn shell(&self) -> String {
        self.text_at("bin/gsh")
    }

    /// Begins anew, with this shell.
    pub(super) fn fresh(&self, shell: Shell<'_>) {
        for folder in ["home", "work", "bin", "run"] {
            let _none = std::fs::remove_dir_all(self.at(folder));
        }
        for folder in ["home/.config/gsh", "work/.git", "bin", "run", "kept"] {
            std::fs::create_dir_all(self.at(folder)).expect("a folder");
        }
        self.write("work/made-before", "one\ntwo\n");
        let program = match shell {
            Shell::Bash => "/bin/bash",
            Shell::Gsh(config) => {
                self.write("home/.config/gsh/config.toml", config);
                GSH
            }
        };
        std::os::unix::fs::symlink(program, self.at("bin/gsh")).expect("a link");
    }

    /// Writes a file.
    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        // A script must not be open in a program that starts meanwhile: it could not be executed.
        let _turn = starting();
        std::fs::write(path, text).expect("a file");
    }

    /// A program in the project, with nothing of the tester's environment.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(find(program).unwrap_or_else(|| program.into()));
        command.env_clear().envs(self.variables()).current_dir(self.at("work")).process_group(0);
        command
    }

    /// Its environment.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned()),
            ("HOME", self.text_at("home")),
            ("SHELL", self.shell()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("PWD", self.text_at("work")),
        ]
    }

    /// Runs it to its end with this on standard input, and shows what can be seen.
    pub(super) fn run(&self, command: &mut Command, input: &str) -> Seen {
        let (status, stdout, stderr) = ended(command, input.as_bytes().to_vec());
        let [stdout, stderr] = [stdout, stderr].map(|bytes| same_names(&String::from_utf8_lossy(&bytes)));
        Seen { status, stdout, stderr, files: BTreeMap::new() }
    }

    /// A program in the project, on a terminal.
    pub(super) fn screen(&self, program: &str, args: &[&str]) -> Screen {
        let mut command = CommandBuilder::new(find(program).expect("installed"));
        command.args(args);
        command.env_clear();
        self.variables().into_iter().for_each(|(name, value)| command.env(name, value));
        command.env("TERM", "xterm");
        command.cwd(self.at("work"));
        Screen::start(command, 100, 30, None)
    }

    /// What lies in the project.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.at("work"), "", &mut files);
        files
    }
}

/// Where a program is.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    // The machine's own, not what a version manager of the tester's puts before them.
    ["/usr/bin", "/usr/local/bin", "/bin", "/usr/sbin", "/sbin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file())
}

fn ended(command: &mut Command, input: Vec<u8>) -> (String, Vec<u8>, Vec<u8>) {
    let mut child = started(command);
    let mut to = child.stdin.take().expect("a pipe");
    // Whoever does not read it may be gone before it is written.
    let writer = std::thread::spawn(move || drop(to.write_all(&input)));
    let readers = [
        std::thread::spawn({
            let from = child.stdout.take().expect("a pipe");
            move || whole(from)
        }),
        std::thread::spawn({
            let from = child.stderr.take().expect("a pipe");
            move || whole(from)
        }),
    ];
    let status = in_time(&mut child, command);
    writer.join().expect("it ends");
    let [stdout, stderr] = readers.map(|reader| reader.join().expect("it ends"));
    (status, stdout, stderr)
}

fn started(command: &mut Command) -> Child {
    let begun = Instant::now();
    loop {
        let turn = starting();
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        drop(turn);
        match spawned {
            // What another test starts has for a moment our descriptors, and so a script still open.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && begun.elapsed() < PATIENCE => {}
            result => return result.expect("the caller starts"),
        }
    }
}

fn whole(mut from: impl Read) -> Vec<u8> {
    let mut bytes = vec![];
    from.read_to_end(&mut bytes).map(|_| bytes).expect("its output")
}

fn in_time(child: &mut Child, command: &Command) -> String {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("its state") {
            let signal = status.signal().map(|signal| format!("signal {signal}"));
            return status.code().map(|code| code.to_string()).or(signal).unwrap_or_default();
        }
        if begun.elapsed() > PATIENCE {
            let _gone = kill(Pid::from_raw(-child.id().cast_signed()), Signal::SIGKILL);
            panic!("it never ended: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Numbers of processes and terminals, and other long ones, differ from run to run.
pub(super) fn same_names(text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_digit() {
            digits.push(character);
            continue;
        }
        // A status has three digits.
        let long = digits.len() > 3 && !digits.starts_with('0');
        let terminal = !digits.is_empty() && out.ends_with("pts/");
        out.push_str(if long || terminal { "N" } else { &digits });
        digits.clear();
        out.push(character);
    }
    out.truncate(out.len() - 1);
    out
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok) {
        let name = format!("{below}/{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            files.insert(name.clone(), "folder".to_owned());
            // What is in there has times in it.
            if name != "/.git" {
                collect(&entry.path(), &name, files);
            }
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        } else {
            files.insert(name, "other".to_owned());
        }
    }
}
