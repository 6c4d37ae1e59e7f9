//! Whole commands against the real bash, alternating, medians. Targets: a simple command at most 0.75 of
//! `bash -c`, a compound one at most 1.4; a batch of short commands at least 2,000 a second. What the running
//! itself costs is in `running.rs`.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{GSH, PAIRS, command, median};

fn main() {
    // `cargo test --benches` only wants to see that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (home, project) = (folder.path().join("home"), folder.path().join("home/project"));
    fs::create_dir_all(project.join("src")).expect("a project");
    fs::write(project.join("src/main.rs"), "fn main() {}\n").expect("a file");
    let git = Command::new("git").args(["init", "-q"]).current_dir(&project).env("HOME", &home).status();
    assert!(git.expect("git").success());
    rules(&home);
    println!("{:<44} {:>9} {:>9} {:>7}", "command", "gsh ms", "bash ms", "ratio");
    for text in [
        "git status",
        "/bin/true",
        "ls src",
        "ls src; git status",
        "git status && ls src | sort",
        "for f in src/*; do echo \"$f\"; done",
    ] {
        pair(&home, &project, text);
    }
    batch(&home, &project);
    starts(&folder.path().join("homes"), &project);
}

/// How many rules a user's file has where starts are compared.
const RULES: [usize; 4] = [0, 100, 1_000, 10_000];

/// What a start takes with more and more rules that were read before. Target: within 0.1 ms of none.
fn starts(homes: &Path, project: &Path) {
    let homes: Vec<_> = RULES.iter().map(|count| (homes.join(count.to_string()), *count)).collect();
    for (home, count) in &homes {
        rules_of(home, *count);
        // A reading is kept once its file is old enough to be known by its state.
        std::thread::sleep(Duration::from_millis(2100));
        timed(started(home, project, "/bin/true"));
    }
    // The second needs the rules for programs, the first does not.
    for text in ["/bin/true", "tool7 run x"] {
        let mut times = vec![Vec::new(); homes.len()];
        for _ in 0..PAIRS {
            for ((home, _), times) in homes.iter().zip(&mut times) {
                times.push(timed(started(home, project, text)));
            }
        }
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        for ((_, count), time) in homes.iter().zip(&medians) {
            println!(
                "start with {count:>5} rules: {text:<20} {time:>8.3} ms, {:>+7.3} ms",
                time - medians[0]
            );
        }
    }
}

fn started(home: &Path, project: &Path, text: &str) -> Command {
    let mut command = command(GSH, home, project);
    command.args(["-c", text]);
    command
}

/// A user's file with 100 rules.
fn rules(home: &Path) {
    rules_of(home, 100);
}

fn rules_of(home: &Path, count: usize) {
    let mut text = String::from("[permissions.\"process.execute\"]\n");
    for index in 0..count {
        text.push_str(&format!("\"tool{index} run *\" = \"allow\"\n"));
    }
    let config = home.join(".config/gsh");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("config.toml"), text).expect("a file");
}

fn timed(mut command: Command) -> Duration {
    let started = Instant::now();
    command.status().expect("it starts");
    started.elapsed()
}

fn pair(home: &Path, project: &Path, text: &str) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let run = |program: &str| {
        let mut command = command(program, home, project);
        command.args(["-c", text]);
        timed(command)
    };
    for index in 0..PAIRS + 10 {
        let (own, bash) = (run(GSH), run("/bin/bash"));
        if index >= 10 {
            ours.push(own);
            theirs.push(bash);
        }
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!("{text:<44} {ours:>9.2} {theirs:>9.2} {:>7.2}", ours / theirs);
}

fn batch(home: &Path, project: &Path) {
    const LINES: usize = 10_000;
    let commands = [
        "git status",
        "ls -la src",
        "grep -rn main src | head",
        "npm test",
        "cat README.md && git diff --stat",
    ];
    let mut input = String::new();
    for index in 0..LINES {
        input.push_str(&format!("{{\"id\":{index},\"command\":{:?}}}\n", commands[index % commands.len()]));
    }
    let mut command = command(GSH, home, project);
    command.args(["check", "--batch"]).stdin(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().expect("gsh starts");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it reads");
    child.wait().expect("it ends");
    let rate = LINES as f64 / started.elapsed().as_secs_f64();
    println!("check --batch: {rate:.0} commands a second");
}
