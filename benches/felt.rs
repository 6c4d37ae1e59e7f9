//! What a person waits for: at their own shell from Enter to the next prompt, with gsh looking over their shoulder
//! and without, in turn, on a terminal; and in gsh's own shell from a key to the verdict behind the line. Targets:
//! less than 5 ms more, less than 5 ms.
//!
//! `cargo bench --bench felt`; with GSH_BUSY=N that many busy loops run beside it.

mod common;
#[path = "../tests/common/terminal.rs"]
#[allow(dead_code, reason = "tests look at what holds the terminal, too")]
mod terminal;

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use common::{GSH, PAIRS, command, median};
use portable_pty::CommandBuilder;

/// What no line prints.
const PROMPT: &str = "P>>";

const LINES: [&str; 4] = ["true", "cd .", "ls src | head -3", "git status --short"];

/// A shell, its arguments, what it reads first.
const SHELLS: [(&str, &[&str], &str, &str); 3] = [
    ("/bin/bash", &["--noprofile", "-i"], ".bashrc", "PS1='P>''>'\n"),
    ("/usr/bin/zsh", &["-d", "-i"], ".zshrc", "PS1='P>''>'\nunsetopt promptsp\n"),
    (
        "/usr/bin/fish",
        &["-i"],
        ".config/fish/config.fish",
        "set -g fish_greeting\nfunction fish_prompt; echo -n 'P>''>'; end\nset -g fish_autosuggestion_enabled 0\n",
    ),
];

fn main() {
    // `cargo test --benches` only wants to see that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let busy: usize = std::env::var("GSH_BUSY").ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    let _beside: Vec<Busy> = (0..busy).map(|_| Busy::start()).collect();
    println!(
        "{:<6} {:<20} {:>9} {:>9} {:>9} {:>12}",
        "shell", "line", "with", "without", "adds", "95 of 100"
    );
    for shell in SHELLS {
        if Path::new(shell.0).exists() {
            measure(shell);
        } else {
            println!("no {} on this machine", shell.0);
        }
    }
    keys(0);
    keys(500);
}

/// From the last key of a line to the verdict that is shown behind it, in a shell with so many functions from a file
/// that gsh did not read.
fn keys(functions: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path();
    fs::create_dir_all(home.join("project/.git")).expect("a project");
    fs::create_dir_all(home.join(".config/gsh")).expect("a folder");
    let holder = std::env::current_exe().expect("this program");
    let config = format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string());
    fs::write(home.join(".config/gsh/config.toml"), config).expect("a configuration");
    let library: String =
        (0..functions).map(|number| format!("f{number}() {{ git log -{number}; }}\n")).collect();
    fs::write(home.join("project/library"), library).expect("a file");
    let mut terminal = Terminal::start(GSH, &["--yolo"], home);
    terminal.shown("> ");
    if functions > 0 {
        terminal.type_keys("eval \"$(cat library)\"; echo rea\"dy\"\r");
        terminal.shown("[y] allow once");
        terminal.quiet();
        terminal.type_keys("y");
        terminal.shown("\nready");
    }
    terminal.quiet();
    for line in
        ["ls", "git status --short", "find . -name '*.o' -delete", "git log | head -3 && make -j4 all"]
    {
        let (all_but_one, last) = line.split_at(line.len() - 1);
        let mut times = Vec::new();
        for _ in 0..PAIRS {
            terminal.type_keys(all_but_one);
            terminal.quiet();
            let begun = Instant::now();
            terminal.type_keys(last);
            times.push(terminal.shown("   [") - begun);
            terminal.type_keys("\x15");
            terminal.quiet();
        }
        times.sort();
        let rare = times[times.len() * 95 / 100].as_secs_f64() * 1000.0;
        println!(
            "gsh    {line:<36} {functions:>4} functions: key to verdict {:>6.2} ms, 95 of 100 {rare:>6.2} ms",
            median(times)
        );
    }
}

fn measure((program, args, rc, text): (&str, &[&str], &str, &str)) {
    let name = program.rsplit('/').next().unwrap_or(program);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("shell-integration/gsh.{name}"));
    let ours = format!("{text}source {} {GSH}\n", script.display());
    let [mut with, mut without] = [("with", ours.as_str()), ("without", text)].map(|(place, text)| {
        let home = folder.path().join(place);
        fs::create_dir_all(home.join("project/.git")).expect("a project");
        fs::create_dir_all(home.join("project/src")).expect("a folder");
        let rc = home.join(rc);
        fs::create_dir_all(rc.parent().expect("a folder")).expect("its folder");
        fs::write(rc, text).expect("what it reads first");
        let mut terminal = Terminal::start(program, args, &home);
        terminal.prompt(false);
        terminal
    });
    for line in LINES {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..PAIRS / 2 + 5 {
            let (own, other) = (with.enter(line), without.enter(line));
            if round >= 5 {
                ours.push(own);
                theirs.push(other);
            }
        }
        let mut all = ours.clone();
        all.sort();
        let rare = all[all.len() * 95 / 100].as_secs_f64() * 1000.0;
        let (own, other) = (median(ours), median(theirs));
        println!(
            "{name:<6} {line:<20} {own:>6.2} ms {other:>6.2} ms {:>6.2} ms {:>9.2} ms",
            own - other,
            rare - other
        );
    }
}

/// A shell on a terminal, at its prompt.
struct Terminal(terminal::Terminal);

impl Terminal {
    fn start(program: &str, args: &[&str], home: &Path) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        command.env("HOME", home);
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("TERM", "xterm");
        command.env("LANG", "C.UTF-8");
        command.cwd(home.join("project"));
        Self(terminal::Terminal::start(command, 200, 30))
    }

    /// Waits for a prompt, below what stands there where that is said, and until nothing comes behind it.
    fn prompt(&mut self, below: bool) -> Instant {
        let mut seen = String::new();
        let mut at = None;
        loop {
            let patience = Duration::from_millis(if at.is_some() { 15 } else { 20_000 });
            match self.0.output.recv_timeout(patience) {
                Ok(bytes) => {
                    seen.push_str(&String::from_utf8_lossy(&bytes));
                    // An editor may paint the line once more before it gives it up.
                    let new = if below { seen.split_once('\n').map_or("", |(_, new)| new) } else { &seen };
                    if at.is_none() && new.contains(PROMPT) {
                        at = Some(Instant::now());
                    }
                }
                Err(_) => return at.unwrap_or_else(|| panic!("no prompt: {seen}")),
            }
        }
    }

    /// Waits for a text that comes new.
    fn shown(&mut self, text: &str) -> Instant {
        let mut seen = String::new();
        while !seen.contains(text) {
            match self.0.output.recv_timeout(Duration::from_secs(20)) {
                Ok(bytes) => seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no {text:?}: {seen}"),
            }
        }
        Instant::now()
    }

    /// Waits until nothing comes.
    fn quiet(&mut self) {
        while self.0.output.recv_timeout(Duration::from_millis(15)).is_ok() {}
    }

    /// Enters a line that stands in the editor already; how long it takes to the next prompt.
    fn enter(&mut self, line: &str) -> Duration {
        self.type_keys(line);
        self.quiet();
        let begun = Instant::now();
        self.type_keys("\r");
        self.prompt(true) - begun
    }

    fn type_keys(&mut self, keys: &str) {
        self.0.keys.write_all(keys.as_bytes()).expect("keys arrive");
        self.0.keys.flush().expect("keys arrive");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _gone = self.0.child.kill();
        let _ended = self.0.child.wait();
    }
}

/// Something else that wants a processor, for a while at most.
struct Busy(Child);

impl Busy {
    fn start() -> Self {
        let mut command = command("timeout", Path::new("/"), Path::new("/"));
        Self(command.args(["120", "/bin/bash", "-c", "while :; do :; done"]).spawn().expect("it starts"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let pid = i32::try_from(self.0.id()).expect("a number");
        let pid = nix::unistd::Pid::from_raw(pid);
        // `timeout` ends what it started when it is told to end.
        let _gone = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        let _ended = self.0.wait();
    }
}
