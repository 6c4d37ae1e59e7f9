//! How a supervisor lets its caller go, and how it comes to its own end.

use std::io::Write;
use std::time::Instant;

use super::channel::{Channel, Sink};
use super::events::SHORT_GRACE;
use super::news::{News, Summary};
use super::supervisor::{NAME, State, Supervisor, own};
use super::terminal::Terminal;
use crate::store::jobs::{Beginning, Ending, Job, Jobs, Log, Reach, Reason, Seen};
use crate::sys::door::Door;
use crate::sys::proc::Process;
use crate::sys::{child, tree};

impl Supervisor<'_> {
    /// Goes on to the next state, where what was awaited has come.
    pub(super) fn settle(&mut self) {
        let left = self.terminal.as_ref().is_none_or(Terminal::caller_has_left);
        let delivered = left && self.channels.iter().all(Channel::is_done);
        match self.state {
            State::Draining { .. } if self.childless && delivered => self.finish(),
            State::Draining { limited, until, .. } => {
                if left && until <= Instant::now() && self.channels.iter().all(Channel::is_paid) {
                    self.release(limited);
                }
            }
            State::Ending { .. } | State::Kept if self.childless && (delivered || self.front.is_none()) => {
                self.finish();
            }
            State::Running | State::Kept | State::Ending { .. } | State::Over => {}
        }
    }

    /// The caller goes on, and what still runs becomes a job.
    pub(super) fn release(&mut self, limited: bool) {
        let limited = limited && self.main.ended.is_none();
        if self.watch.start.is_none() && (self.childless || all_are_supervisors()) {
            // What still holds our pipes is no descendant of the command, and what a gsh beneath us keeps
            // has its supervisor.
            return self.finish();
        }
        let sink = match self.begin(limited) {
            Some((jobs, job, log)) => {
                // Without it nobody can sit down there, and the job is what it was.
                let reachable = job.reach.terminal || job.reach.input;
                self.door = reachable.then(|| Door::open(&jobs.door(job.id)).ok()).flatten();
                (self.job, self.log) = (Some((jobs, job)), Some(log));
                || Sink::Log
            }
            // There is no place for a job. What was left behind runs on as it would have without us; what
            // outlived its limit would be lost, so it is ended.
            None if limited => {
                self.out_of_time = true;
                return self.end(SHORT_GRACE);
            }
            None => || Sink::Nowhere,
        };
        if let Some(terminal) = &mut self.terminal {
            terminal.free(true);
            terminal.begin(&mut self.log);
        }
        // What runs on is beneath a call that is about to end; from now on that is ours.
        if let (Some((calls, call)), Some(own)) = (&self.watch.call, Process::own()) {
            let _mode_is_in_the_environment = calls.enter(&own, call);
        }
        self.tell(limited);
        self.channels.iter_mut().for_each(|channel| channel.redirect(sink()));
        self.state = State::Kept;
        // It may now be here for days.
        child::take_little_room();
    }

    /// Writes down that it is a job.
    fn begin(&mut self, limited: bool) -> Option<(Jobs, Job, Log)> {
        let jobs = self.watch.jobs.clone()?;
        let reason = match &self.watch.start {
            Some(_) => Reason::Started,
            None if limited && self.hung_up => Reason::HungUp,
            None if limited => Reason::Limit,
            None => Reason::LeftBehind,
        };
        let typed = self.terminal.as_ref().is_some_and(|terminal| terminal.takes_input);
        let beginning = Beginning {
            origin: std::mem::take(&mut self.watch.origin),
            reach: Reach { terminal: self.terminal.is_some(), input: typed || self.input.is_some() },
            processes: tree::below(own()).into_iter().map(Seen::from).collect(),
            ended: self.main.ended.map(Ending::now),
        };
        let (job, log) = jobs.begin(reason, beginning).ok()?;
        Some((jobs, job, log))
    }

    /// Nothing is left to look after.
    fn finish(&mut self) {
        self.tell(self.out_of_time);
        if let Some(terminal) = &mut self.terminal {
            terminal.finish(&mut self.log);
        }
        self.door = None;
        let drained: Vec<(bool, bool)> = self.channels.iter().map(|_| (true, false)).collect();
        self.on_output(&drained);
        if let (State::Kept | State::Ending { .. }, Some((calls, _)), Some(own)) =
            (self.state, &self.watch.call, Process::own())
        {
            calls.leave(&own);
        }
        self.write_down(|job| job.over = Some(jiff::Timestamp::now().to_string()));
        self.state = State::Over;
    }

    /// The last word to the caller's process.
    fn tell(&mut self, limited: bool) {
        let Some(mut front) = self.front.take() else { return };
        let mut passed = self.channels.iter().map(Channel::passed);
        let bytes = [passed.next().unwrap_or(0), passed.next().unwrap_or(0)];
        let summary = Summary { bytes, job: self.job.as_ref().map(|(_, job)| job.id), pid: self.main.pid };
        let news = match self.main.ended {
            Some(ended) if !limited => News::Ended(ended, summary),
            _ => News::GoesOn(summary),
        };
        let _gone = front.write_all(&news.to_bytes());
    }

    pub(super) fn write_down(&mut self, change: impl FnOnce(&mut Job)) {
        if let Some((jobs, job)) = &mut self.job {
            change(job);
            job.processes = tree::below(own()).into_iter().map(Seen::from).collect();
            // The job goes on without its record being true; there is nobody to tell.
            let _stale = jobs.update(job);
        }
    }
}

/// Whether everything that is left is below supervisors of a gsh that was called by the command.
fn all_are_supervisors() -> bool {
    let (own, program) = (own(), std::fs::read_link("/proc/self/exe").ok());
    let mut children = tree::below(own).into_iter().filter(|process| process.parent == own);
    program.is_some()
        && children.all(|child| child.name == NAME.to_string_lossy() && child.program() == program)
}
