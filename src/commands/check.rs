//! `gsh check`: decide, run nothing.

use std::collections::HashMap;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::config::load::Options;
use crate::decision::answer::{Answer, requested};
use crate::entry::world::Surrounds;
use crate::host::Host;
use crate::pipeline::{Checked, check};
use crate::policy::{Policy, Verdict};
use crate::request::{Entry, ReadingOptions, Request, Setting};

/// The longest line of a batch that is read as one: a command of many megabytes is refused for its length
/// in any case.
const LONGEST_LINE: u64 = 64 << 20;

/// The exit status that says a verdict.
#[must_use]
pub fn status(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Review => 10,
        Verdict::Ask => 11,
        Verdict::Deny => 12,
    }
}

/// A request for a text in a directory.
#[must_use]
pub fn request(text: Vec<u8>, cwd: PathBuf) -> Request {
    Request {
        setting: Setting::default(),
        text,
        cwd,
        name: None,
        args: Vec::new(),
        options: ReadingOptions::default(),
        entry: Entry::Check,
        tool: None,
    }
}

/// One line for a person: the verdict and why; with `why`, each request and the rule that decided it.
#[must_use]
pub fn text(checked: &Checked, why: bool) -> String {
    let decision = &checked.decision;
    let mut out = format!("{}: {}\n", decision.verdict.word(), decision.reason);
    if !why {
        return out;
    }
    for each in requested(&decision.requests) {
        let rule = match &each.rule {
            Some(rule) => match rule.file {
                Some(file) => format!("{file}:{} {}", rule.line, rule.pattern),
                None => format!("{} {}", rule.layer.word(), rule.pattern),
            },
            None => "builtin".to_owned(),
        };
        let line =
            format!("  {} {} {}  [{rule}]\n", each.verdict.word(), each.capability.word(), each.subject);
        out.push_str(&line);
    }
    for problem in &decision.not_understood {
        out.push_str(&format!("  not understood at byte {}: {}\n", problem.span.start, problem.detail));
    }
    out
}

/// The answer as one JSON object on a line, with its schema's number.
///
/// # Errors
/// Never for the data of an answer; the serialiser's own error is handed on.
pub fn json(checked: &Checked, micros: u128) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Object<'a> {
        schema: u32,
        #[serde(flatten)]
        answer: Answer<'a>,
        micros: u128,
    }
    let answer = Answer::new(&checked.decision, &checked.facts);
    serde_json::to_string(&Object { schema: 1, answer, micros }).map(|line| line + "\n")
}

/// One line of a batch.
#[derive(Debug, Deserialize)]
struct Line {
    id: serde_json::Value,
    command: String,
    cwd: Option<PathBuf>,
}

/// What a batch prints for one line.
#[derive(Serialize)]
struct Printed<'a> {
    id: &'a serde_json::Value,
    #[serde(flatten)]
    answer: Answer<'a>,
    micros: u128,
}

/// Decides JSON Lines from `input`, one answer each, in order. A bad line is denied with the reason,
/// and the next one goes on.
///
/// # Errors
/// When reading or writing fails.
pub fn batch(
    surrounds: &Surrounds,
    cwd: &Path,
    options: &Options,
    input: impl BufRead,
    mut output: impl Write,
) -> std::io::Result<()> {
    let mut policies: HashMap<Option<PathBuf>, Policy> = HashMap::new();
    let mut input = input;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let started = Instant::now();
        let line: Line = match serde_json::from_slice(&line) {
            Ok(line) => line,
            Err(error) => {
                writeln!(output, "{}", bad(&line, &error.to_string()))?;
                continue;
            }
        };
        let cwd = line.cwd.unwrap_or_else(|| cwd.to_owned());
        // Each line is decided as a fresh process would decide it; only the files' reading is shared.
        let machine = surrounds.machine(&cwd);
        let policy =
            policies.entry(machine.project()).or_insert_with(|| surrounds.policy(&machine, options.clone()));
        machine.widen(&policy.knobs.allow_roots);
        let checked = check(&request(line.command.into_bytes(), cwd), policy, &machine);
        let answer = Answer::new(&checked.decision, &checked.facts);
        let printed = Printed { id: &line.id, answer, micros: started.elapsed().as_micros() };
        serde_json::to_writer(&mut output, &printed)?;
        output.write_all(b"\n")?;
    }
    output.flush()
}

/// The answer to a line that is no request. Its id is kept when it can be read.
fn bad(line: &[u8], why: &str) -> String {
    let id = serde_json::from_slice::<serde_json::Value>(line)
        .ok()
        .and_then(|value| value.get("id").cloned())
        .unwrap_or(serde_json::Value::Null);
    serde_json::json!({
        "id": id, "verdict": "deny", "floor": null, "reason": format!("not a request: {why}"), "requests": [],
        "invocations": [], "not_understood": [], "suggestions": [], "micros": 0,
    })
    .to_string()
}
