//! A supervisor that keeps a job, in little room: it begins anew as a program that knows nothing but its
//! job, since the one that decided and started the command may be large, and jobs may be many and long.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Instant;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::Watch;
use super::channel::{Channel, Sink};
use super::supervisor::{Main, State, Supervisor};
use crate::store::jobs::Jobs;
use crate::sys::child;
use crate::sys::signal::Listening;
use crate::sys::tree;

/// Becomes [`keep`]. Where that fails this process goes on as it is, which is as good but larger.
pub(super) fn in_little_room(supervisor: &mut Supervisor<'_>) {
    let Some((jobs, job)) = &supervisor.job else { return };
    for channel in &mut supervisor.channels {
        // What was copied already would not survive.
        channel.flush(&mut supervisor.log);
    }
    let sources: Vec<OwnedFd> =
        std::mem::take(&mut supervisor.channels).into_iter().filter_map(Channel::into_source).collect();
    let numbers: Vec<String> = sources.iter().map(|source| source.as_raw_fd().to_string()).collect();
    let main = if supervisor.main.ended.is_some() { 0 } else { supervisor.main.pid };
    let words = [
        "gsh".to_owned(),
        "jobs".to_owned(),
        "keep".to_owned(),
        format!("--main={main}"),
        format!("--pipes={}", numbers.join(",")),
        job.id.to_string(),
    ];
    let _too_long_or_gone = become_keeper(jobs, &words, &sources);
    supervisor.channels = sources.into_iter().map(|source| Channel::new(source, Sink::Log)).collect();
}

fn become_keeper(jobs: &Jobs, words: &[String], sources: &[OwnedFd]) -> io::Result<()> {
    let words = words.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    let folder = [b"GSH_JOBS=", jobs.folder().as_os_str().as_encoded_bytes()].concat();
    let environment = [CString::new(folder)?];
    let inherited =
        |flags| sources.iter().try_for_each(|source| fcntl(source, FcntlArg::F_SETFD(flags)).map(drop));
    inherited(FdFlag::empty())?;
    let Err(error) = nix::unistd::execve(c"/proc/self/exe", &words, &environment);
    inherited(FdFlag::FD_CLOEXEC)?;
    Err(error.into())
}

/// Looks after a job to its end. Only the process that its record names may.
///
/// # Errors
/// When this is another process, or the record cannot be read.
pub fn keep(folder: &Path, id: u32, main: i32, pipes: Vec<OwnedFd>) -> io::Result<()> {
    let jobs = Jobs::at(folder);
    let job = jobs.read(id).map_err(io::Error::other)?;
    if !job.supervisor.is_alive() || u32::try_from(job.supervisor.pid) != Ok(std::process::id()) {
        return Err(io::Error::other("this is the supervisor's own way to go on, not a command"));
    }
    let listening = Listening::start()?;
    tree::adopt_orphans()?;
    child::call_itself(c"gsh-job");
    let log = jobs.open_log(id)?;
    let ended = None;
    let mut supervisor = Supervisor {
        listening: &listening,
        front: None,
        main: Main { pid: main, ended },
        channels: pipes.into_iter().map(|pipe| Channel::new(pipe, Sink::Log)).collect(),
        watch: Watch::default(),
        begun: Instant::now(),
        state: State::Kept,
        unwanted: false,
        out_of_time: false,
        childless: false,
        job: Some((jobs, job)),
        log: Some(log),
    };
    supervisor.run()
}
