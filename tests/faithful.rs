//! bash is the oracle: each script, run by bash and by gsh, has the same output, status and files, in every
//! way of running that can take it. The scripts are one a line in `faithful/*.txt`; they touch nothing but
//! their own folder, and end within a second.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::machine::records;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const PATIENCE: Duration = Duration::from_secs(60);
/// What stands on standard input.
const INPUT: &str = "one\ntwo\nthree\n";
const TABLES: [(&str, &str); 5] = [
    ("words", include_str!("faithful/words.txt")),
    ("descriptors", include_str!("faithful/descriptors.txt")),
    ("signals", include_str!("faithful/signals.txt")),
    ("background", include_str!("faithful/background.txt")),
    ("ends", include_str!("faithful/ends.txt")),
];

/// How a script is handed over, and how it is made to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// gsh becomes the command: the program itself where one is all there is, else the shell.
    Exec,
    /// Under a supervisor.
    Pipes,
    /// On a terminal of gsh's own.
    Terminal,
    /// Beyond its time limit from the start: what is left of it is a job's.
    Job,
    /// As a script file, as the facts choose.
    File,
    /// As a script on standard input, where it arrives: statement by statement.
    Stdin,
    /// As a script on standard input that is a file.
    Input,
}

impl Way {
    fn config(self) -> &'static str {
        match self {
            Self::Exec => "[run]\nway = \"exec\"\npty = \"never\"\n",
            Self::Pipes => "[run]\nway = \"pipes\"\npty = \"never\"\n",
            Self::Terminal => "[run]\npty = \"always\"\n",
            Self::Job | Self::File | Self::Stdin | Self::Input => "[run]\npty = \"never\"\n",
        }
    }
}

/// What a run left to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    /// Exit status, or 128 and the signal.
    status: i32,
    stdout: String,
    stderr: String,
    files: BTreeMap<String, String>,
}

impl Seen {
    /// All lines of both streams, whichever came first.
    fn lines(&self, log: &str) -> Vec<String> {
        let all = [&self.stdout, &self.stderr, log].map(numberless);
        let mut all: Vec<String> = all.iter().flat_map(|text| text.lines().map(str::to_owned)).collect();
        all.sort();
        all
    }
}

impl Seen {
    /// Everything that was written, where a line may be cut in two between its caller and its job's log.
    fn letters(&self, log: &str) -> Vec<char> {
        let all = [&self.stdout, &self.stderr, log].concat();
        let mut all: Vec<char> =
            all.chars().filter(|letter| !letter.is_ascii_digit() && !matches!(letter, 'N' | ' ')).collect();
        all.sort_unstable();
        all
    }
}

struct Place {
    folder: tempfile::TempDir,
    way: Way,
}

impl Place {
    fn new(way: Way) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("home/.config/gsh")).expect("a home");
        std::fs::write(folder.path().join("home/.config/gsh/config.toml"), way.config()).expect("a file");
        // As `bash` gsh is only a shell; whatever looks at its name finds the same.
        std::os::unix::fs::symlink(GSH, folder.path().join("bash")).expect("a link");
        Self { folder, way }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the script in a fresh folder, always the same.
    fn run(&self, program: &Path, script: &str) -> Seen {
        let work = self.at("work");
        let _none = std::fs::remove_dir_all(&work);
        std::fs::create_dir(&work).expect("a folder");
        let mut command = Command::new(program);
        command.arg0(self.at("bash")).env_clear().current_dir(&work).process_group(0);
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.at("home")).env("LC_ALL", "C");
        command.env("GSH_MODE", "bypass").env("PWD", &work);
        if self.way == Way::Job {
            command.env("GSH_TIMEOUT", "1ms");
        }
        let mut input = INPUT.to_owned();
        match self.way {
            Way::File => {
                std::fs::write(self.at("script"), format!("{script}\n")).expect("a file");
                command.arg("../script");
            }
            Way::Stdin | Way::Input => input = format!("{script}\n{INPUT}"),
            _ => drop(command.args(["-c", script])),
        }
        command.stdin(Stdio::piped());
        if self.way == Way::Input {
            std::fs::write(self.at("input"), std::mem::take(&mut input)).expect("a file");
            command.stdin(std::fs::File::open(self.at("input")).expect("the file"));
        }
        let (status, stdout, stderr) = ended(command, input, script);
        let mut files = BTreeMap::new();
        collect(&work, "", &mut files);
        Seen { status, stdout: text(&stdout), stderr: numberless(&text(&stderr)), files }
    }

    fn jobs(&self, args: &[&str]) -> (i32, String) {
        let output =
            Command::new(GSH).arg("jobs").args(args).env("HOME", self.at("home")).output().expect("gsh");
        (output.status.code().unwrap_or(-1), text(&output.stdout))
    }

    /// What a script made of gsh, with what went to a job's log; and how it was run.
    fn gsh(&self, script: &str) -> (Seen, String) {
        let _fresh = std::fs::remove_dir_all(self.at("home/.local/state/gsh/audit"));
        let mut seen = self.run(Path::new(GSH), script);
        let mut log = String::new();
        if self.at("home/.local/state/gsh/jobs/1.json").exists() {
            let (status, _) = self.jobs(&["wait", "1", "--timeout", "30s"]);
            log = self.jobs(&["log", "1"]).1;
            let told = "gsh: still running as job 1 (gsh jobs log 1)\n";
            if let Some(before) = seen.stderr.strip_suffix(told) {
                seen.stderr = before.to_owned();
                seen.status = status;
                seen.files.clear();
                collect(&self.at("work"), "", &mut seen.files);
            }
            self.jobs(&["stop", "1", "--grace", "0"]);
            self.jobs(&["clean"]);
        }
        (seen, log)
    }

    /// The word of the record for the way it went.
    fn how(&self) -> String {
        let records = records(&self.at("home/.local/state/gsh/audit"));
        records.last().and_then(|record| record["how"].as_str().map(str::to_owned)).unwrap_or_default()
    }
}

fn ended(mut command: Command, input: String, script: &str) -> (i32, Vec<u8>, Vec<u8>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let to = child.stdin.take();
    // Whoever does not read it may be gone before it is written.
    let writer = std::thread::spawn(move || drop(to.map(|mut to| to.write_all(input.as_bytes()))));
    let (mut out, mut err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let reader = std::thread::spawn(move || {
        let mut bytes = vec![];
        out.read_to_end(&mut bytes).map(|_| bytes).expect("its output")
    });
    let errors = std::thread::spawn(move || {
        let mut bytes = vec![];
        err.read_to_end(&mut bytes).map(|_| bytes).expect("its errors")
    });
    let status = in_time(&mut child, script);
    writer.join().expect("it ends");
    (status, reader.join().expect("it ends"), errors.join().expect("it ends"))
}

fn in_time(child: &mut Child, script: &str) -> i32 {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("its state") {
            return status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        }
        if begun.elapsed() > PATIENCE {
            let _gone = child.kill();
            panic!("it never ended: {script}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Numbers of processes differ from run to run.
fn numberless(text: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_digit() {
            digits.push(character);
            continue;
        }
        if digits.len() > 2 {
            // They are padded to a width.
            out.truncate(out.trim_end_matches(' ').len());
            out.push_str(" N");
        } else {
            out.push_str(&digits);
        }
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
            collect(&entry.path(), &name, files);
        } else if kind.is_file() {
            files.insert(name, text(&std::fs::read(entry.path()).unwrap_or_default()));
        } else {
            files.insert(name, "other".to_owned());
        }
    }
}

/// Whether gsh did what bash did, as far as this way of running can tell.
fn same(way: Way, expected: &Seen, found: &Seen, log: &str) -> bool {
    let told = match way {
        Way::Job => found.letters(log) == expected.letters("") && found.status == expected.status,
        _ if log.is_empty() => found == expected,
        // What came after the command's end is the job's.
        _ => found.lines(log) == expected.lines("") && found.status == expected.status,
    };
    told && found.files == expected.files
}

/// Runs every script that this way takes, and counts by table and by what the record says.
fn all_by(way: Way, exceptions: &[&str]) {
    let place = Place::new(way);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = String::new();
    let mut met = 0;
    for (table, scripts) in TABLES {
        for script in scripts.lines() {
            if exceptions.contains(&script) {
                met += 1;
                continue;
            }
            let both = || {
                let expected = place.run(Path::new("/bin/bash"), script);
                let (found, log) = place.gsh(script);
                (same(way, &expected, &found, &log), expected, found, log)
            };
            let (mut is_same, mut expected, mut found, mut log) = both();
            if !is_same {
                // On a busy machine bash differs from itself now and then: what counts happens twice.
                println!("once only: {script}: bash {expected:?} gsh {found:?} log {log:?}");
                (is_same, expected, found, log) = both();
            }
            if is_same {
                *counts.entry(format!("{table}, {}", place.how())).or_default() += 1;
            } else {
                let _ =
                    writeln!(wrong, "{table}: {script}\n  bash {expected:?}\n  gsh  {found:?} log {log:?}");
            }
        }
    }
    let total: usize = counts.values().sum();
    println!("{total} scripts are the same: {counts:?}");
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(met, exceptions.len(), "an exception that names no script");
}

#[test]
fn exec() {
    all_by(Way::Exec, &[]);
}

#[test]
fn pipes() {
    all_by(Way::Pipes, &[]);
}

#[test]
fn terminal() {
    let not_the_same = [
        // nohup looks at whether it writes on a terminal.
        "nohup bash -c 'kill -HUP $$; echo still here' 2>/dev/null",
        "nohup echo hup 2>/dev/null & wait",
        // The terminal ends with the command that it was made for.
        "setsid bash -c 'echo own session'",
        "exec > >(cat); echo late",
    ];
    all_by(Way::Terminal, &not_the_same);
}

#[test]
fn job() {
    all_by(Way::Job, &[]);
}

#[test]
fn file() {
    all_by(Way::File, &[]);
}

#[test]
fn stdin() {
    let not_the_same = [
        // bash shows what it reads, and so what gsh puts around it.
        "set -v; echo verbose",
        // The rest of the script would be in the file; what is there was not decided.
        "echo a > f; exec < f; read x; echo $x",
        // Before it there was what takes over the caller's standard input.
        "echo ${PIPESTATUS[@]}; true | false | true; echo ${PIPESTATUS[@]}",
    ];
    all_by(Way::Stdin, &not_the_same);
}

#[test]
fn input() {
    // Refused, for what the lines that follow it would do.
    let not_the_same = ["trap 'cleanup' EXIT; cleanup() { echo cleaned; rm -f tmp; }; touch tmp; ls; exit 1"];
    all_by(Way::Input, &not_the_same);
}
