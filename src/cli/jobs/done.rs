//! What is done with jobs.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::{JobsCall, JobsVerb};
use crate::cli::dispatch::{failed, print};
use crate::commands::jobs::{self, Desk, JobError};
use crate::entry::shell::{self, Asked};
use crate::entry::world::Surrounds;
use crate::request::ReadingOptions;
use crate::run::pty::Left;
use crate::run::sent::Sending;
use crate::run::{ForJob, NO_PLACE, Outcome};
use crate::store::jobs::{Job, Jobs};
use crate::sys::process::Ended;

/// What is waited for did not come in time.
const TIME_IS_OVER: u8 = 124;
/// gsh itself failed.
const FAILED: u8 = 125;
/// More than this is not sent at once.
const LONGEST_TEXT: u64 = 1 << 20;

/// Does what is to be done with jobs.
pub(in crate::cli) fn with_jobs(call: JobsCall) -> ExitCode {
    let surrounds = Surrounds::of_process();
    let Some(folders) = &surrounds.folders else {
        return failed(&JobError::NoFolder.to_string());
    };
    let jobs = Jobs::in_state(&folders.state);
    let beneath = surrounds.above.is_some();
    let only = beneath.then(|| surrounds.session.id.clone());
    let desk = Desk::new(jobs.clone(), only);
    let done = match call.what {
        JobsVerb::Start { start, text } => Ok(started(ForJob::Start(start), text, call.json)),
        JobsVerb::Send { ref id, text, ends } => sent((&jobs, id, &surrounds), (text, ends)).map(|asked| {
            let ended = if call.json { sent_as_json } else { Outcome::imitate };
            shell::run(Asked { ended, ..asked })
        }),
        JobsVerb::Attach { .. } if beneath => Err(JobError::NoPerson),
        what => done(&desk, JobsCall { what, json: call.json }),
    };
    done.unwrap_or_else(|error| match error {
        // A reader that went away is no failure.
        JobError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        error => {
            eprintln!("gsh: {error}");
            ExitCode::FAILURE
        }
    })
}

fn done(desk: &Desk, JobsCall { what, json }: JobsCall) -> Result<ExitCode, JobError> {
    let object = |value: &Value| print(&format!("{value}\n"));
    let numbers = |ids: &[String]| ids.iter().map(|id| desk.number(id)).collect::<Result<Vec<_>, _>>();
    Ok(match what {
        JobsVerb::List if json => object(&desk.json()),
        JobsVerb::List => print(&desk.text()),
        JobsVerb::Log { id, follow: false } if json => object(&desk.log_json(desk.number(&id)?)?),
        JobsVerb::Log { id, follow } => {
            desk.log(desk.number(&id)?, follow, io::stdout().lock())?;
            ExitCode::SUCCESS
        }
        JobsVerb::Stop { ids, grace } => {
            let stopped = desk.stop(&numbers(&ids)?, grace)?;
            if json { object(&desk.objects(&stopped)) } else { ExitCode::SUCCESS }
        }
        JobsVerb::Wait { id, timeout } => match desk.wait(desk.number(&id)?, timeout)? {
            None => ExitCode::from(TIME_IS_OVER),
            Some(job) => {
                if json {
                    object(&desk.objects(std::slice::from_ref(&job)));
                }
                status_of(&job)
            }
        },
        JobsVerb::Clean => {
            let gone = desk.clean()?;
            if json { object(&gone.into()) } else { ExitCode::SUCCESS }
        }
        JobsVerb::Attach { id } => attached(desk, desk.number(&id)?, json)?,
        JobsVerb::Start { .. } | JobsVerb::Send { .. } => ExitCode::FAILURE,
    })
}

fn status_of(job: &Job) -> ExitCode {
    match jobs::ended(job) {
        Ended::Status(status) => ExitCode::from(u8::try_from(status & 0xff).unwrap_or(u8::MAX)),
        Ended::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
    }
}

fn attached(desk: &Desk, id: u32, json: bool) -> Result<ExitCode, JobError> {
    let left = desk.attach(id)?;
    if json {
        print(&format!("{}\n", json!({ "job": id, "left": left.word() })));
    } else {
        eprintln!("gsh: {}", desk.said(id, left));
    }
    Ok(match left {
        Left::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        Left::Key | Left::Stopped | Left::Over => ExitCode::SUCCESS,
    })
}

/// A call of gsh as a shell, that has to do with a job.
fn asked(job: ForJob, text: OsString, reading: ReadingOptions) -> Asked {
    let (argv0, options) = ("bash".into(), vec!["-c".into()]);
    Asked { argv0, options, reading, job: Some(job), ..Asked::text(text) }
}

fn started(job: ForJob, text: OsString, json: bool) -> ExitCode {
    let reading = ReadingOptions { leaves: true, ..ReadingOptions::default() };
    let ended = if json { started_as_json } else { started_as_text };
    shell::run(Asked { ended, ..asked(job, text, reading) })
}

/// The job that an approved start became.
fn begun(outcome: Outcome) -> Result<u32, ExitCode> {
    outcome.watched.and_then(|watched| watched.job).ok_or_else(|| {
        eprintln!("gsh: it was ended again, since there is no place to keep a job in: {NO_PLACE}");
        ExitCode::from(FAILED)
    })
}

fn started_as_text(outcome: Outcome) -> ExitCode {
    begun(outcome).map_or_else(|failed| failed, |id| print(&format!("{id}\n")))
}

fn started_as_json(outcome: Outcome) -> ExitCode {
    let id = match begun(outcome) {
        Ok(id) => id,
        Err(failed) => return failed,
    };
    let object = Surrounds::of_process().folders.and_then(|folders| {
        let jobs = Jobs::in_state(&folders.state);
        let job = jobs.read(id).ok()?;
        Some(Desk::new(jobs, None).object(&job))
    });
    print(&format!("{}\n", object.unwrap_or_else(|| json!({ "id": id }))))
}

fn sent_as_json(outcome: Outcome) -> ExitCode {
    let _printed = print("{\"sent\":true}\n");
    outcome.imitate()
}

/// The call that hands a text to a job.
fn sent(
    (jobs, id, surrounds): (&Jobs, &str, &Surrounds),
    (text, ends): (Option<Vec<u8>>, bool),
) -> Result<Asked, JobError> {
    use std::os::unix::ffi::OsStringExt;
    let desk = Desk::new(jobs.clone(), None);
    let job = desk.reader(desk.number(id)?)?;
    let text = match text {
        Some(text) => text,
        None => {
            let mut text = Vec::new();
            io::stdin().lock().take(LONGEST_TEXT + 1).read_to_end(&mut text)?;
            if text.len() as u64 > LONGEST_TEXT {
                return Err(JobError::TooMuch(LONGEST_TEXT));
            }
            text
        }
    };
    let foreign = !job.is_of(&surrounds.session.id);
    let reading = ReadingOptions { input: true, foreign, ..ReadingOptions::default() };
    let to = ForJob::Send(Sending { jobs: jobs.clone(), id: job.id, ends });
    let name = Some(job.origin.command.into());
    Ok(Asked { name, ..asked(to, OsString::from_vec(text), reading) })
}
