//! The session that the README shows (`examples/session.cast`, `examples/session.svg`): played for real each time, and
//! written anew with `GSH_RECORD=1 cargo test --test all recording`.

mod picture;

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use picture::Cast;
use portable_pty::{Child, CommandBuilder, MasterPty};

use crate::common::machine::{PATIENCE, starting};
use crate::common::terminal::Terminal;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const COLUMNS: u16 = 96;
/// So many that nothing of it scrolls away.
const ROWS: u16 = 64;
const PROMPT: &str = "shop $ ";

#[test]
fn the_session_goes_as_it_is_shown() {
    let records = std::env::var_os("GSH_RECORD").is_some();
    let folder = tempfile::tempdir().expect("a folder");
    // What is shown has a name that reads well; where it is taken already, a test has no need of one.
    let place = if records { PathBuf::from("/tmp/demo") } else { folder.path().join("demo") };
    fs::create_dir(&place).expect("a place that is nobody's yet");
    let _gone_at_the_end = records.then(|| Gone(place.clone()));
    let mut session = Session::start(&place, records);
    session.play();
    let text = session.cast();
    if records {
        let cast = Cast::read(&text).expect("a recording");
        fs::write(example("session.cast"), &text).expect("the recording");
        fs::write(example("session.svg"), cast.picture()).expect("the picture");
    }
}

#[test]
fn the_picture_is_what_the_recording_shows() {
    let [cast, picture] =
        ["session.cast", "session.svg"].map(|name| fs::read_to_string(example(name)).expect(name));
    let cast = Cast::read(&cast).expect("asciinema's second form");
    assert!(cast.events.windows(2).all(|pair| pair[0].0 <= pair[1].0), "time goes backwards");
    complete(&cast.screen().contents());
    assert_eq!(picture, cast.picture(), "GSH_RECORD=1 writes it anew");
}

/// Whether all that is to be shown is on a screen: what is allowed, asked, refused, left running, and on record.
fn complete(screen: &str) {
    for part in [
        "serve.sh  src",
        "gsh asks: Write",
        "gsh: refused: gsh-canary-deny --everything",
        "Leave running: ./serve.sh",
        "running  ",
        "ended (",
        "gsh audit tail",
        "floor",
    ] {
        assert!(screen.contains(part), "{part} in\n{screen}");
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

/// Goes with the test, however that ends.
struct Gone(PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        let _left_behind = fs::remove_dir_all(&self.0);
    }
}

/// A shell in a project, with what it shows kept with its times.
struct Session {
    parser: vt100::Parser,
    output: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _leader: Box<dyn MasterPty + Send>,
    begun: Instant,
    events: Vec<(f64, String)>,
    /// All that was shown.
    shown: String,
    /// Bytes of a letter whose rest is still to come.
    rest: Vec<u8>,
    /// Slowly, as a person does it.
    slow: bool,
}

impl Session {
    fn start(place: &Path, slow: bool) -> Self {
        let project = place.join("shop");
        furnish(place, &project);
        let mut command = CommandBuilder::new("/bin/bash");
        command.args(["--norc", "--noprofile", "-i"]);
        command.env_clear();
        for (name, value) in
            [("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("TZ", "UTC"), ("HISTFILE", "")]
        {
            command.env(name, value);
        }
        command.env("PS1", format!("\\[\\e[1;32m\\]{}\\[\\e[0m\\]", PROMPT));
        command.env("HOME", place.join("home"));
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", place.join("bin").display()));
        command.cwd(&project);
        let turn = starting();
        let Terminal { output, keys, leader, child } = Terminal::start(command, COLUMNS, ROWS);
        drop(turn);
        let [rows, columns] = [ROWS, COLUMNS].map(|n| NonZero::new(n).expect("a size"));
        Self {
            parser: vt100::Parser::new(rows, columns, 200),
            output,
            keys,
            child,
            _leader: leader,
            begun: Instant::now(),
            events: Vec::new(),
            shown: String::new(),
            rest: Vec::new(),
            slow,
        }
    }

    /// The session itself.
    fn play(&mut self) {
        self.wait(PROMPT);
        self.line("gsh -c 'ls; wc -l serve.sh'");
        self.prompts(2);
        self.line("gsh -c 'rm -r build && ls'");
        self.wait("[Tab] details");
        self.pause(2500);
        self.key("y");
        self.prompts(3);
        self.line("gsh -c 'gsh-canary-deny --everything'");
        self.prompts(4);
        self.pause(1500);
        self.line("gsh -c './serve.sh &'");
        self.wait("Leave running");
        self.wait("[Tab] details");
        self.pause(1500);
        self.key("y");
        self.prompts(5);
        self.pause(2200);
        self.line("gsh jobs");
        self.prompts(6);
        self.line("gsh jobs log 1");
        self.prompts(7);
        self.line("gsh jobs stop 1 && gsh jobs");
        self.prompts(8);
        self.line("gsh audit tail");
        self.prompts(9);
        self.pause(2500);
        complete(&self.parser.screen().contents());
        self.keys.write_all(b"\x04").expect("keys arrive");
        let _ended = self.child.wait();
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.rest.extend(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        self.shown += &text;
        if !text.is_empty() {
            self.events.push((self.begun.elapsed().as_secs_f64(), text));
        }
    }

    /// Waits until this holds of the screen, or of all that was shown.
    fn until(&mut self, what: &str, holds: impl Fn(&str, &str) -> bool) {
        let begun = Instant::now();
        while !holds(&self.parser.screen().contents(), &self.shown) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => panic!("no {what} on the screen:\n{}", self.parser.screen().contents()),
            }
        }
    }

    fn wait(&mut self, text: &str) {
        self.until(text, |screen, _| screen.contains(text));
    }

    /// Waits for the prompt for the so-many-th time.
    fn prompts(&mut self, count: usize) {
        self.until(PROMPT, |_, shown| shown.matches(PROMPT).count() >= count);
        self.pause(700);
    }

    fn pause(&mut self, milliseconds: u64) {
        let end = Instant::now() + Duration::from_millis(if self.slow { milliseconds } else { 0 });
        while let Ok(bytes) = self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.take(&bytes);
        }
    }

    fn key(&mut self, key: &str) {
        std::thread::sleep(Duration::from_millis(400));
        self.keys.write_all(key.as_bytes()).expect("keys arrive");
    }

    fn line(&mut self, text: &str) {
        for letter in text.chars() {
            self.keys.write_all(letter.to_string().as_bytes()).expect("keys arrive");
            self.pause(45);
        }
        self.wait(text);
        self.pause(400);
        self.keys.write_all(b"\r").expect("keys arrive");
    }

    /// All of it in asciinema's second form.
    fn cast(&self) -> String {
        let head = serde_json::json!({
            "version": 2, "width": COLUMNS, "height": ROWS, "title": "A session with gsh",
            "env": { "TERM": "xterm-256color", "SHELL": "/bin/bash" },
        });
        let mut text = format!("{head}\n");
        for (time, data) in &self.events {
            let rounded = (time * 1000.0).round() / 1000.0;
            text += &format!("{}\n", serde_json::json!([rounded, "o", data]));
        }
        text
    }
}

/// A project with something to delete and something to leave running, and gsh on PATH.
fn furnish(place: &Path, project: &Path) {
    for folder in ["home/.config/gsh", "bin", "shop/build", "shop/src"] {
        fs::create_dir_all(place.join(folder)).expect("a folder");
    }
    let holder = std::env::current_exe().expect("this program");
    let configuration = format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string());
    fs::write(place.join("home/.config/gsh/config.toml"), configuration).expect("the configuration");
    fs::write(project.join("build/shop.o"), "").expect("a file");
    fs::write(project.join("src/shop.c"), "int main(void) { return 0; }\n").expect("a file");
    let serve = project.join("serve.sh");
    fs::write(&serve, "#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do\n  sleep 1\n  echo \"served $n\"\ndone\n")
        .expect("a script");
    fs::set_permissions(&serve, fs::Permissions::from_mode(0o755)).expect("its mode");
    std::os::unix::fs::symlink(GSH, place.join("bin/gsh")).expect("a link");
    let git = Command::new("git")
        .args(["init", "-q"])
        .current_dir(project)
        .env("HOME", place.join("home"))
        .status();
    assert!(git.is_ok_and(|status| status.success()), "git init");
}
