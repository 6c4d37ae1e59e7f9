//! What running under supervision costs, against bash alone. Targets: what it adds at most 1.3 of `bash -c
//! true`; a relayed stream at least 0.9 of a direct one; the caller let go within 50 ms of the shell's end or of
//! its limit, also on a busy machine; a supervisor at most 1 MB of its own.

mod common;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{GSH, PAIRS, command, median};

const BASH: &str = "/bin/bash";

fn main() {
    // `cargo test --benches` only wants to see that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place { home: folder.path().join("home"), project: folder.path().join("home/project") };
    fs::create_dir_all(&place.project).expect("a project");
    let program = place.project.join("opaque");
    fs::write(&program, "#!/bin/true\n").expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its mode");
    place.start();
    place.first_byte();
    place.stream();
    place.room();
    place.release("idle");
    let busy: Vec<Busy> = (0..4).map(|_| Busy::start()).collect();
    place.release("four busy loops");
    drop(busy);
}

/// A home and a project.
struct Place {
    home: PathBuf,
    project: PathBuf,
}

impl Place {
    /// A call whose caller reads from a pipe. Every question is answered by the mode.
    fn call(&self, program: &str, text: &str) -> Command {
        let mut command = command(program, &self.home, &self.project);
        command.env("GSH_MODE", "bypass").args(["-c", text]).stdout(Stdio::piped());
        command
    }

    /// An opaque program against one that is explained: what supervision adds.
    fn start(&self) {
        let texts = [(BASH, "true"), (BASH, "./opaque; true"), (GSH, "./opaque; true"), (GSH, "true; true")];
        let [least, bash, ours, alone] = in_turn(texts.map(|(program, text)| {
            move || {
                let started = Instant::now();
                self.call(program, text).output().expect("it runs");
                started.elapsed()
            }
        }));
        println!("supervised: {ours:.2} ms, bash {bash:.2} ms, unsupervised {alone:.2} ms");
        let adds = (ours - bash - (alone - least)) / least;
        println!("  supervision adds {adds:.2} of `bash -c true` ({least:.2} ms)");
    }

    /// From the call to the first byte of a command that prints and goes on.
    fn first_byte(&self) {
        let texts = [(BASH, "echo x; ./opaque"), (GSH, "echo x; ./opaque")];
        let [bash, ours] = in_turn(texts.map(|(program, text)| {
            move || {
                let started = Instant::now();
                let mut child = self.call(program, text).spawn().expect("it starts");
                child.stdout.as_mut().expect("its output").read_exact(&mut [0]).expect("a byte");
                let elapsed = started.elapsed();
                child.wait().expect("its end");
                elapsed
            }
        }));
        println!("first byte: {ours:.2} ms, bash {bash:.2} ms");
    }

    /// A GiB through a pipe to a reader that counts.
    fn stream(&self) {
        const LENGTH: u64 = 1 << 30;
        let rate = |program: &str| {
            let started = Instant::now();
            let mut child = self
                .call(program, &format!("head -c {LENGTH} /dev/zero; true &"))
                .spawn()
                .expect("it starts");
            let output = child.stdout.take().expect("its output");
            let counted = Command::new("wc").arg("-c").stdin(output).output().expect("wc");
            child.wait().expect("its end");
            assert_eq!(String::from_utf8_lossy(&counted.stdout).trim(), LENGTH.to_string());
            LENGTH as f64 / started.elapsed().as_secs_f64() / 1e9
        };
        let rates: Vec<[f64; 2]> = (0..9).map(|_| [rate(BASH), rate(GSH)]).collect();
        let of = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let [bash, ours] = [0, 1].map(|which| of(rates.iter().map(|pair| pair[which]).collect()));
        let ratio = of(rates.iter().map(|[bash, ours]| ours / bash).collect());
        println!("stream: {ours:.2} GB/s, bash {bash:.2} GB/s, ratio of pairs {ratio:.2}");
    }

    /// What the supervisor of a job holds in memory.
    fn room(&self) {
        let mut call = self.call(GSH, "sleep 2; true");
        call.env("GSH_TIMEOUT", "50ms").status().expect("it runs");
        let jobs = fs::read_dir(self.home.join(".local/state/gsh/jobs")).expect("jobs");
        let newest = jobs.filter_map(|entry| {
            let path = entry.ok()?.path();
            path.extension().is_some_and(|extension| extension == "json").then_some(path)
        });
        let record = fs::read_to_string(newest.max().expect("a job")).expect("its record");
        let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
        let sums = format!("/proc/{}/smaps_rollup", record["supervisor"]["pid"]);
        let sums = fs::read_to_string(sums).expect("it runs");
        let of = |name: &str| sums.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        println!("supervisor: {} / {} / {}", of("Rss:"), of("Pss:"), of("Private_Dirty:"));
    }

    /// From the shell's end, and from the limit's, to the caller's return, while something stays.
    fn release(&self, beside: &str) {
        let limit = Duration::from_millis(100);
        let after_end = (0..PAIRS).map(|_| {
            let output = self.call(GSH, "sleep 0.3 & date +%s%N").output().expect("it runs");
            let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a time");
            let told = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a time");
            now.saturating_sub(Duration::from_nanos(told))
        });
        println!("let go after the end, {beside}: {}", spread(after_end.collect()));
        let after_limit = (0..PAIRS / 2).map(|_| {
            let started = Instant::now();
            let mut call = self.call(GSH, "sleep 0.3; true");
            call.env("GSH_TIMEOUT", "100ms").output().expect("it runs");
            started.elapsed().saturating_sub(limit)
        });
        println!("let go after a limit, with its start, {beside}: {}", spread(after_limit.collect()));
    }
}

/// Each so often, in turn; the medians in milliseconds.
fn in_turn<const N: usize>(mut acts: [impl FnMut() -> Duration; N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..PAIRS {
        for (act, times) in acts.iter_mut().zip(&mut times) {
            times.push(act());
        }
    }
    times.map(median)
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1000.0;
    format!("median {:.1} ms, 95 of 100 {:.1} ms, worst {:.1} ms", at(50), at(95), at(100))
}

/// Something else that wants a processor, for a while at most.
struct Busy(Child);

impl Busy {
    fn start() -> Self {
        let mut command = Command::new("timeout");
        Self(command.args(["60", BASH, "-c", "while :; do :; done"]).spawn().expect("it starts"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let pid = i32::try_from(self.0.id()).expect("a number");
        // `timeout` ends what it started when it is told to end.
        let _gone =
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGTERM);
        let _ended = self.0.wait();
    }
}
