//! Whole commands against the real bash, alternating, medians. Targets: a simple command at most 0.75 of
//! `bash -c`, a compound one at most 1.4; a batch of short commands at least 2,000 a second; what supervision
//! adds at most 1.3 of `bash -c true`; a relayed stream at least 0.9 of a direct one; a supervisor at most
//! 1 MB of its own.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const PAIRS: usize = 200;

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
    supervised(&home, &project);
    stream(&home, &project);
    room(&home, &project);
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
    let mut command = command(env!("CARGO_BIN_EXE_gsh"), home, project);
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

fn command(program: &str, home: &Path, project: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(project).env_clear().env("HOME", home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn timed(mut command: Command) -> Duration {
    let started = Instant::now();
    command.status().expect("it starts");
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
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

/// An opaque program whose caller reads from a pipe.
fn supervised(home: &Path, project: &Path) {
    let program = project.join("opaque");
    fs::write(&program, "#!/bin/true\n").expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its mode");
    let run = |program: &str, text: &str| {
        let mut command = command(program, home, project);
        command.env("GSH_MODE", "bypass").args(["-c", text]).stdout(Stdio::piped());
        let started = Instant::now();
        command.output().expect("it runs");
        started.elapsed()
    };
    let texts = [
        ("/bin/bash", "true"),
        ("/bin/bash", "./opaque; true"),
        (GSH, "./opaque; true"),
        (GSH, "true; true"),
    ];
    let mut times = texts.map(|_| Vec::new());
    for _ in 0..PAIRS {
        for ((program, text), times) in texts.iter().zip(&mut times) {
            times.push(run(program, text));
        }
    }
    let [least, bash, ours, alone] = times.map(median);
    println!("supervised: {ours:.2} ms, bash {bash:.2} ms, unsupervised {alone:.2} ms");
    println!(
        "  supervision adds {:.2} of `bash -c true` ({least:.2} ms)",
        (ours - bash - (alone - least)) / least
    );
}

/// A GiB through a pipe to a reader that counts.
fn stream(home: &Path, project: &Path) {
    const LENGTH: u64 = 1 << 30;
    let rate = |program: &str| {
        let mut command = command(program, home, project);
        command.env("GSH_MODE", "bypass").args(["-c", &format!("head -c {LENGTH} /dev/zero; true &")]);
        let started = Instant::now();
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let output = child.stdout.take().expect("its output");
        let counted = Command::new("wc").arg("-c").stdin(output).output().expect("wc");
        child.wait().expect("its end");
        assert_eq!(String::from_utf8_lossy(&counted.stdout).trim(), LENGTH.to_string());
        LENGTH as f64 / started.elapsed().as_secs_f64() / 1e9
    };
    let rates: Vec<[f64; 2]> = (0..5).map(|_| [rate("/bin/bash"), rate(GSH)]).collect();
    let best = |which: usize| rates.iter().map(|pair| pair[which]).fold(0.0, f64::max);
    println!("stream: {:.2} GB/s, bash {:.2} GB/s, ratio {:.2}", best(1), best(0), best(1) / best(0));
}

/// What the supervisor of a job holds in memory.
fn room(home: &Path, project: &Path) {
    let mut command = command(GSH, home, project);
    command
        .env("GSH_MODE", "bypass")
        .args(["--timeout", "50ms", "-c", "sleep 2; true"])
        .status()
        .expect("it runs");
    let jobs = home.join(".local/state/gsh/jobs");
    let newest = fs::read_dir(jobs).expect("jobs").filter_map(|entry| {
        let path = entry.ok()?.path();
        path.extension().is_some_and(|extension| extension == "json").then_some(path)
    });
    let record = fs::read_to_string(newest.max().expect("a job")).expect("its record");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    let sums =
        fs::read_to_string(format!("/proc/{}/smaps_rollup", record["supervisor"]["pid"])).expect("it runs");
    let of = |name: &str| sums.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    println!("supervisor: {} / {} / {}", of("Rss:"), of("Pss:"), of("Private_Dirty:"));
}
