//! Everything that bash takes as arguments, gsh in mode bypass takes as well, and does the same: output, errors and
//! status, with words that do no harm.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::machine::PATIENCE;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
/// What is run wherever the line says TEXT, in the file that FILE names, and on standard input.
const SCRIPT: &str = "echo \"$0:$#:$*:$-\"; echo a{b,c} *.none >&2; echo \"$SHELLOPTS $BASHOPTS\"";
/// Lines of arguments that follow no scheme.
const LINES: &str = include_str!("faithful/arguments.txt");
const LETTERS: &str = "abcefhiklmnprstuvxBCDEHPT";
const NO_LETTERS: &str = "dgIjoqwyzAFGLMNOQRSUVWXYZ059%=.";
const LONG: &str = "debug debugger dump-po-strings dump-strings help init-file login noediting noprofile norc posix \
    pretty-print rcfile restricted verbose version protected wordexp helps";
const NAMES: &str = "allexport braceexpand emacs errexit errtrace functrace hashall histexpand history ignoreeof \
    interactive-comments keyword monitor noclobber noexec noglob nolog notify nounset onecmd physical pipefail posix \
    privileged verbose vi xtrace nope errexi";

/// A home, a folder to work in, a script in it, and gsh under bash's name.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for below in ["home", "work", "work/folder", "path"] {
            std::fs::create_dir(folder.path().join(below)).expect("a folder");
        }
        let files: [(&str, &[u8]); 5] = [
            ("work/tale", SCRIPT.as_bytes()),
            ("work/empty", b""),
            ("work/binary", b"\x7fELF\x02\x01"),
            ("work/nul", b"echo a\0b\n"),
            ("path/on-path", b"echo \"$0 ${BASH_SOURCE[0]##*/}\"; no-such-command"),
        ];
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).expect("a file");
        }
        std::os::unix::fs::symlink(GSH, folder.path().join("bash")).expect("a link");
        Self(folder)
    }

    /// Status, output and errors.
    fn run(&self, program: &Path, words: &[&str]) -> (Option<i32>, String, String) {
        use std::io::Write;
        use std::os::unix::process::CommandExt;
        let at = |name: &str| self.0.path().join(name);
        let path = format!("/usr/bin:/bin:{}", at("path").display());
        let mut command = Command::new(program);
        command.arg0(at("bash")).args(words).env_clear().current_dir(at("work"));
        command.env("PATH", path).env("HOME", at("home")).env("LC_ALL", "C").env("GSH_MODE", "bypass");
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("it starts");
        // It may end without reading it.
        let _unread = child.stdin.take().expect("a pipe").write_all(SCRIPT.as_bytes());
        let (over, end) = std::sync::mpsc::channel::<()>();
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a number"));
        let watchdog = std::thread::spawn(move || {
            if end.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let _gone = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
        });
        let output = child.wait_with_output().expect("its end");
        drop(over);
        watchdog.join().expect("it ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // Whose group the shell is in is nobody's matter here.
        let told = |errors: String| match errors.split_once("process group (") {
            Some((before, after)) => {
                format!("{before}process group{}", after.trim_start_matches(|c| c != ')'))
            }
            None => errors,
        };
        (output.status.code(), text(&output.stdout), told(text(&output.stderr)))
    }

    /// Holds every line against bash.
    fn all(&self, lines: impl IntoIterator<Item = String>) {
        let (mut wrong, mut count) = (Vec::new(), 0);
        for line in lines {
            let words: Vec<&str> = line
                .split_whitespace()
                .map(|word| match word {
                    "TEXT" => SCRIPT,
                    "NOTHING" => "",
                    word => word,
                })
                .collect();
            let expected = self.run(Path::new("/bin/bash"), &words);
            let found = self.run(Path::new(GSH), &words);
            count += 1;
            if expected != found {
                wrong.push(format!("{line}\n  bash {expected:?}\n  gsh  {found:?}\n"));
            }
        }
        println!("{count} lines");
        assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.concat());
    }
}

#[test]
fn letters() {
    let every = LETTERS.chars().flat_map(|letter| {
        ["-L -c TEXT", "-cL TEXT n a", "+L tale a", "-L", "-eL -- tale -a"]
            .map(|form| form.replace('L', &letter.to_string()))
    });
    let others = NO_LETTERS.chars().flat_map(|letter| {
        ["-L -c TEXT", "-cL TEXT", "+L tale"].map(|form| form.replace('L', &letter.to_string()))
    });
    // Before start-up files a script is the text of `-c`.
    let known = ["+i tale a", "+l tale a", "-el -- tale -a", "-ei -- tale -a"];
    Place::new().all(every.chain(others).filter(|line| !known.contains(&line.as_str())));
}

#[test]
fn names() {
    let every = NAMES.split_whitespace().flat_map(|name| {
        ["-o N -c TEXT", "+o N -c TEXT", "-euo N tale", "-co N TEXT"].map(|form| form.replace('N', name))
    });
    // What stands after a `#` would run: that is asked about in every mode.
    Place::new().all(every.filter(|line| line != "+o interactive-comments -c TEXT"));
}

#[test]
fn switches() {
    let listed = Command::new("/bin/bash").args(["-c", "shopt"]).output().expect("bash");
    let listed = String::from_utf8(listed.stdout).expect("names");
    let names = listed.lines().filter_map(|line| line.split_whitespace().next()).chain(["nope"]);
    // Those that change what a text means are asked about in every mode.
    let asked = |name: &&str| gsh::cli::shell_args::changes_meaning(name);
    let every: Vec<String> = names
        .filter(|name| !asked(name))
        .flat_map(|name| ["-O N -c TEXT", "+O N tale a"].map(|form| form.replace('N', name)))
        .collect();
    assert!(every.len() > 50, "{every:?}");
    Place::new().all(every);
}

#[test]
fn long_options() {
    let every = LONG.split_whitespace().flat_map(|name| {
        ["--N -c TEXT", "-N tale", "--N", "-e --N -c TEXT", "--N=x -c TEXT", "--norc --N -e tale"]
            .map(|form| form.replace('N', name))
    });
    Place::new()
        .all(every.filter(|line| !["-login tale", "--norc --login -e tale"].contains(&line.as_str())));
}

#[test]
fn lines() {
    Place::new().all(LINES.lines().map(str::to_owned));
}
