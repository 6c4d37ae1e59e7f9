//! A review by a program of the user's own: the matter as one JSON object on its standard input, the verdict on its
//! standard output. It is ended with all that it started at the deadline.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::prompt::Told;
use super::verdict::{of_text, schema};
use super::{Cause, Failed, Spoken};
use crate::sys::answer::{self, Answer, Bounds};
use crate::sys::process::{Ended, Program, nameless_file};

/// Where its own programs are found; the caller's `PATH` is the caller's word.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What it is given of the environment besides.
const PLAIN: [&str; 10] = [
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
];

/// The environment of a program of ours: plain variables and those that the configuration names. Whoever can set
/// others for gsh must not choose what the program loads.
#[must_use]
pub(super) fn environment(given: &[(OsString, OsString)], named: &[String]) -> Vec<(OsString, OsString)> {
    let kept = |name: &OsString| {
        name.to_str().is_some_and(|name| PLAIN.contains(&name) || named.iter().any(|each| each == name))
    };
    let path = (OsString::from("PATH"), OsString::from(PATH));
    let given = given.iter().filter(|(name, _)| kept(name) && name != "PATH").cloned();
    given.chain([path]).collect()
}

/// What it reads: the command comes last.
#[must_use]
pub(super) fn input(system: &str, told: &Told) -> Value {
    json!({
        "schema": 1,
        "task": "review",
        "instructions": system,
        "verdict_schema": schema(),
        "message": told.message,
        "request": told.data,
    })
}

/// Asks the program.
///
/// # Errors
/// When it gave no verdict.
pub(super) fn ask(
    words: &[String],
    environment: Vec<(OsString, OsString)>,
    (input, sent): (&Value, &str),
    bounds: Bounds,
) -> Result<Spoken, Failed> {
    let said = run(words, environment, format!("{input}\n").as_bytes(), bounds)?;
    let judged = of_text(&String::from_utf8_lossy(&said), sent);
    let missing = || Failed::new(Cause::InvalidOutput, "the program printed no verdict");
    judged.map(|judged| Spoken { judged, rounds: 0 }).ok_or_else(missing)
}

/// What a program prints; nothing of it goes on.
///
/// # Errors
/// When it could not be started, failed, took too long or said too much.
pub(super) fn run(
    words: &[String],
    environment: Vec<(OsString, OsString)>,
    input: &[u8],
    bounds: Bounds,
) -> Result<Vec<u8>, Failed> {
    let broken = |why: String| Failed::new(Cause::ProviderError, &why);
    let path = PathBuf::from(words.first().map(String::as_str).unwrap_or_default());
    let stdin = nameless_file(input).map_err(|error| broken(error.to_string()))?;
    let argv = words.iter().map(OsString::from).collect();
    let program = Program { path, argv, environment, stdin: Some(stdin.into()), script: None };
    let name = program.path.display().to_string();
    let answer = answer::of_program(program, bounds).map_err(|error| broken(format!("{name}: {error}")))?;
    match heard(answer)? {
        (said, Some(Ended::Status(0))) => Ok(said),
        (_, Some(Ended::Status(status))) => Err(broken(format!("{name} ended with status {status}"))),
        (_, Some(Ended::Signal(signal))) => Err(broken(format!("{name} was ended by signal {signal}"))),
        (_, None) => Err(broken(format!("how {name} ended is not known"))),
    }
}

/// What a helper said, if it came to an end by itself.
///
/// # Errors
/// When it did not.
pub(super) fn heard(answer: Answer) -> Result<(Vec<u8>, Option<Ended>), Failed> {
    match answer {
        Answer::Said(bytes, ended) => Ok((bytes, ended)),
        Answer::Late => Err(Failed::new(Cause::Timeout, "it took too long")),
        Answer::TooMuch => Err(Failed::new(Cause::ProviderError, "the answer is too long")),
        Answer::Cancelled(signal) => {
            let told = Failed::new(Cause::Cancelled, &format!("signal {signal} came"));
            Err(Failed { signal: Some(signal), ..told })
        }
    }
}
