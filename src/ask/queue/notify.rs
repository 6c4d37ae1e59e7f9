//! Telling of a new question: programs that are started beside us and looked after by nobody but a deadline. None of
//! them delays a question or changes its answer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::store::pending::{Bound, Bytes};
use crate::sys::process::{self, Program};

/// The word for the approver's own terminal bell, which `gsh approvals` rings.
pub const BELL: &str = "bell";

/// A program that takes longer is ended.
const DEADLINE: Duration = Duration::from_secs(20);
/// How much of a command is told.
const TOLD: usize = 200;

/// Whether somebody in the list may open a list of questions for the person.
pub(super) fn may_open(list: &[String]) -> bool {
    list.iter().any(|entry| entry == "tmux" || entry.starts_with('/'))
}

/// Tells everyone in the list.
pub(super) fn tell(list: &[String], id: &str, bound: &Bound, environment: &[(OsString, OsString)]) {
    for entry in list {
        if let Some((path, words)) = program(entry, id, bound, environment) {
            let mut argv = vec![path.clone().into_os_string()];
            argv.extend(words);
            let stdin = process::nameless_file(about(id, bound).as_bytes()).ok().map(Into::into);
            let program = Program { path, argv, environment: environment.to_vec(), stdin, script: None };
            // A question waits as well when nobody could be told of it.
            let _ = process::start_aside(program, DEADLINE);
        }
    }
}

/// What a program reads on its standard input.
fn about(id: &str, bound: &Bound) -> String {
    let Bytes(text) = &bound.text;
    let about = json!({
        "question": id,
        "command": String::from_utf8_lossy(text),
        "directory": bound.directory,
        "session": bound.session,
    });
    about.to_string() + "\n"
}

/// The program for an entry with its words: no shell reads any of them.
fn program(
    entry: &str,
    id: &str,
    bound: &Bound,
    environment: &[(OsString, OsString)],
) -> Option<(PathBuf, Vec<OsString>)> {
    let has = |name: &str| environment.iter().any(|(known, value)| known == name && !value.is_empty());
    match entry {
        "tmux" if has("TMUX") => {
            let gsh = std::env::current_exe().ok()?;
            // tmux gives one word to a shell: the path must need no quoting, and the name never does.
            let plain = gsh.to_str()?.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            let command = plain.then(|| format!("{} approvals --only {id}", gsh.display()))?;
            Some((installed("tmux")?, ["display-popup", "-E", &command].map(OsString::from).into()))
        }
        "desktop" => {
            let Bytes(text) = &bound.text;
            let command: String = String::from_utf8_lossy(text).chars().take(TOLD).collect();
            let body = crate::ask::sanitize::line(&command);
            let title = format!("gsh asks ({id})");
            match installed("notify-send") {
                Some(path) => Some((path, ["--", &title, &escaped(&body)].map(OsString::from).into())),
                None => {
                    let script = "on run {t, b}\ndisplay notification b with title t\nend run";
                    Some((installed("osascript")?, ["-e", script, &title, &body].map(OsString::from).into()))
                }
            }
        }
        path if path.starts_with('/') => {
            Some((path.into(), [OsString::from(id), OsString::from(&bound.directory)].into()))
        }
        _ => None,
    }
}

/// Desktops read marks in the text of a notification.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Where the system has it; PATH is the caller's word.
fn installed(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];
    folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}
