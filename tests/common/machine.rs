//! The one builder for end-to-end tests: gsh in a machine of its own, with a home, a project and
//! nothing of the caller's environment.

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize};

use super::terminal::Terminal;

/// A screen that does not show what is waited for by then never will.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Held while a program is started. A terminal's end is for a moment one that programs inherit, and gsh
/// would rightly take whoever holds it for somebody behind that terminal.
pub(crate) fn starting() -> MutexGuard<'static, ()> {
    static STARTING: Mutex<()> = Mutex::new(());
    // A test that failed meanwhile says nothing about this one.
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call of gsh, being put together.
pub(crate) struct Gsh {
    folder: tempfile::TempDir,
    program: PathBuf,
    args: Vec<OsString>,
    stdin: Vec<u8>,
    environment: Vec<(String, OsString)>,
    folder_to_start: Option<PathBuf>,
}

impl Gsh {
    /// With an empty home and an empty project, in which it starts.
    pub(crate) fn new(program: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for below in ["home/.config/gsh", "home/.local/state", "run", "project/.git"] {
            std::fs::create_dir_all(folder.path().join(below)).expect("a folder below it");
        }
        Self {
            folder,
            program: program.into(),
            args: Vec::new(),
            stdin: Vec::new(),
            environment: Vec::new(),
            folder_to_start: None,
        }
    }

    /// A path below the machine's own folder.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The user's configuration.
    pub(crate) fn config(self, text: &str) -> Self {
        std::fs::write(self.at("home/.config/gsh/config.toml"), text).expect("the configuration");
        self
    }

    /// A file in the project, with its folders.
    pub(crate) fn project_file(self, path: &str, text: &str) -> Self {
        let path = self.at("project").join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&path)).expect("the file's folder");
        std::fs::write(path, text).expect("the file");
        self
    }

    /// More arguments.
    pub(crate) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// What stands on standard input.
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Another program, which starts what is meant itself.
    pub(crate) fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The same machine, for the next call.
    pub(crate) fn again(mut self) -> Self {
        self.args.clear();
        self.stdin.clear();
        self
    }

    /// Starts elsewhere than in the project.
    pub(crate) fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder_to_start = Some(folder.into());
        self
    }

    /// One more variable.
    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// One more call on this machine, beside whatever runs there: without a controlling terminal, as agents
    /// start their shells.
    pub(crate) fn detached<A: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new("/usr/bin/setsid");
        command.arg(&self.program).args(args).env_clear().envs(self.variables());
        command.current_dir(self.at("project"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// One more call on this machine, on a terminal of its own of this size.
    pub(crate) fn beside_of_size(&self, args: &[&str], columns: u16, rows: u16) -> Screen {
        let args: Vec<OsString> = args.iter().map(Into::into).collect();
        Screen::start(self.on_terminal(&args), columns, rows, None)
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        let home = self.at("home");
        let mut all = vec![
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".to_owned(), home.clone().into()),
            ("XDG_CONFIG_HOME".to_owned(), home.join(".config").into()),
            ("XDG_STATE_HOME".to_owned(), home.join(".local/state").into()),
            ("XDG_RUNTIME_DIR".to_owned(), self.at("run").into()),
        ];
        all.extend(self.environment.iter().cloned());
        all
    }

    /// Runs it to its end, with pipes.
    pub(crate) fn run(self) -> Run {
        let turn = starting();
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .envs(self.variables())
            .current_dir(self.folder_to_start.clone().unwrap_or_else(|| self.at("project")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(turn);
        let mut input = child.stdin.take().expect("a pipe to it");
        let bytes = self.stdin.clone();
        // It may end without reading everything: no error of this test.
        let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
        let output = child.wait_with_output().expect("its end");
        writer.join().expect("the writer ends");
        Run {
            status: output.status.code(),
            signal: output.status.signal(),
            stdout: output.stdout,
            stderr: output.stderr,
            machine: self,
        }
    }

    /// One more call of another program on this machine, on a terminal of its own.
    pub(crate) fn program_beside(&self, program: &str, args: &[&str]) -> Screen {
        let mut command = CommandBuilder::new(program);
        command.args(args);
        Screen::start(self.furnished(command), 80, 24, None)
    }

    /// Starts it as the first program of the terminal with this follower end.
    pub(crate) fn on(&self, follower: &OwnedFd) -> std::process::Child {
        self.on_with(follower, &self.args)
    }

    /// As [`Gsh::on`], with these arguments.
    pub(crate) fn on_with<A: AsRef<std::ffi::OsStr>>(
        &self,
        follower: &OwnedFd,
        args: &[A],
    ) -> std::process::Child {
        let end = || Stdio::from(follower.try_clone().expect("one more end"));
        Command::new("/usr/bin/setsid")
            .arg("--ctty")
            .arg(&self.program)
            .args(args)
            .env_clear()
            .envs(self.variables())
            .env("TERM", "xterm")
            .current_dir(self.at("project"))
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("the program starts")
    }

    /// Starts it on a terminal of this size.
    pub(crate) fn pty(self, columns: u16, rows: u16) -> Screen {
        let command = self.on_terminal(&self.args);
        Screen::start(command, columns, rows, Some(self))
    }

    /// Starts one more of it on a terminal, while the machine stays here for others.
    pub(crate) fn beside(&self, args: &[&str]) -> Screen {
        self.beside_of_size(args, 400, 30)
    }

    fn on_terminal(&self, args: &[OsString]) -> CommandBuilder {
        let mut command = CommandBuilder::new(&self.program);
        command.args(args);
        self.furnished(command)
    }

    fn furnished(&self, mut command: CommandBuilder) -> CommandBuilder {
        command.env_clear();
        for (name, value) in self.variables() {
            command.env(name, value);
        }
        command.env("TERM", "xterm");
        command.cwd(self.folder_to_start.clone().unwrap_or_else(|| self.at("project")));
        command
    }
}

/// How a call ended, and its machine.
pub(crate) struct Run {
    /// The exit status, unless it died of a signal.
    pub(crate) status: Option<i32>,
    /// The signal it died of.
    pub(crate) signal: Option<i32>,
    /// Standard output.
    pub(crate) stdout: Vec<u8>,
    /// Standard error.
    pub(crate) stderr: Vec<u8>,
    /// Where it ran.
    pub(crate) machine: Gsh,
}

impl Run {
    /// Standard output as text.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// A path below the machine's own folder.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.machine.at(path)
    }

    /// Every record, in the order of the files' names and lines.
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        records(&self.machine.at("home/.local/state/gsh/audit"))
    }
}

/// The records in a folder.
pub(crate) fn records(folder: &Path) -> Vec<serde_json::Value> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).expect("a readable file"));
    texts
        .flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect::<Vec<_>>()
        })
        .collect()
}

/// A program on a terminal whose screen can be read.
pub(crate) struct Screen {
    parser: vt100::Parser,
    output: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    // Held so that the terminal and the machine outlive the program.
    leader: Box<dyn MasterPty + Send>,
    machine: Option<Gsh>,
}

impl Screen {
    /// Starts a command on a terminal of this size.
    pub(crate) fn start(command: CommandBuilder, columns: u16, rows: u16, machine: Option<Gsh>) -> Self {
        let turn = starting();
        let Terminal { output, keys, leader, child } = Terminal::start(command, columns, rows);
        drop(turn);
        let [rows, columns] = [rows, columns].map(|n| NonZero::new(n).expect("a size"));
        let parser = vt100::Parser::new(rows, columns, 200);
        Self { parser, output, keys, child, leader, machine }
    }

    /// What the screen shows now.
    pub(crate) fn text(&mut self) -> String {
        while let Ok(bytes) = self.output.try_recv() {
            self.parser.process(&bytes);
        }
        self.parser.screen().contents()
    }

    /// The lines that the screen shows now, without blank ends.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        self.text().lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Whether anything on the screen is coloured or bold.
    pub(crate) fn is_coloured(&mut self) -> bool {
        self.text();
        let screen = self.parser.screen();
        let (rows, columns) = screen.size();
        let plain = |cell: &vt100::Cell| cell.fgcolor() == vt100::Color::Default && !cell.bold();
        let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
        cells.filter_map(|(row, column)| screen.cell(row, column)).any(|cell| !plain(cell))
    }

    /// Gives the window another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.text();
        let [high, wide] = [rows, columns].map(|n| NonZero::new(n).expect("a size"));
        self.parser.set_size(high, wide);
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.leader.resize(size).expect("another size");
    }

    /// Whether it shows the screen of a program that uses all of it.
    pub(crate) fn is_taken(&mut self) -> bool {
        self.text();
        self.parser.screen().alternate_screen()
    }

    /// Whether the terminal gathers keys to lines and shows them, as before a question.
    pub(crate) fn is_cooked(&self) -> bool {
        let wanted = nix::libc::ICANON | nix::libc::ECHO | nix::libc::ISIG;
        let settings = self.leader.get_termios().expect("its settings");
        settings.local_flags.bits() & wanted == wanted
    }

    /// The name of the program that is in front of the terminal.
    pub(crate) fn in_front(&self) -> String {
        let group = self.leader.process_group_leader().unwrap_or(0);
        std::fs::read_to_string(format!("/proc/{group}/comm")).unwrap_or_default().trim_end().to_owned()
    }

    /// Presses keys.
    pub(crate) fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys arrive");
        self.keys.flush().expect("keys arrive");
    }

    /// Waits until the screen shows this; fails the test with the screen if it never does.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.text().contains(text) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(RecvTimeoutError::Disconnected) if self.text().contains(text) => return,
                Err(_) => panic!("no {text:?} on the screen:\n{}", self.text()),
            }
        }
    }

    /// Waits until the screen shows this below that.
    pub(crate) fn wait_for_later(&mut self, text: &str, above: &str) {
        let begun = Instant::now();
        while !self.text().rsplit_once(above).is_some_and(|(_, below)| below.contains(text)) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(_) => panic!("no {text:?} below {above:?} on the screen:\n{}", self.text()),
            }
        }
    }

    /// Waits until the screen shows one of these.
    pub(crate) fn wait_for_any(&mut self, texts: &[&str]) {
        let begun = Instant::now();
        while !texts.iter().any(|text| self.text().contains(text)) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(_) if texts.iter().any(|text| self.text().contains(text)) => return,
                Err(_) => panic!("none of {texts:?} on the screen:\n{}", self.text()),
            }
        }
    }

    /// The program's process.
    pub(crate) fn pid(&self) -> i32 {
        self.child.process_id().and_then(|pid| i32::try_from(pid).ok()).expect("it runs")
    }

    /// A path below its machine's own folder.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.machine.as_ref().expect("a machine").at(path)
    }

    /// Every record of its machine.
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        let machine = self.machine.as_ref().expect("a machine");
        records(&machine.at("home/.local/state/gsh/audit"))
    }

    /// Waits for the program's end, which must be this signal's.
    pub(crate) fn wait_for_death(&mut self, of: &str) {
        let status = self.end();
        assert_eq!(status.signal(), Some(of), "{status:?}: {}", self.text());
    }

    /// Its machine, for the next call.
    pub(crate) fn into_machine(self) -> Gsh {
        self.machine.expect("a machine")
    }

    /// Waits for the program's end; its exit status.
    pub(crate) fn wait(&mut self) -> u32 {
        self.end().exit_code()
    }

    /// How it ended; fails the test with the screen when it never does.
    fn end(&mut self) -> portable_pty::ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("its end") {
                return status;
            }
            if begun.elapsed() > PATIENCE {
                self.child.kill().expect("killed");
                panic!("it goes on, with this on the screen:\n{}", self.text());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
