//! How a supervisor lets its caller go, and how it comes to its own end.

use std::io::Write;
use std::time::Instant;

use super::channel::{Channel, Sink};
use super::news::{News, Summary};
use super::supervisor::{NAME, SHORT_GRACE, State, Supervisor, own};
use crate::store::jobs::{Ending, Job, Reason, Seen};
use crate::sys::proc::Process;
use crate::sys::{child, tree};

impl Supervisor<'_> {
    /// Goes on to the next state, where what was awaited has come.
    pub(super) fn settle(&mut self) {
        let delivered = self.channels.iter().all(Channel::is_done);
        match self.state {
            State::Draining { .. } if self.childless && delivered => self.finish(),
            State::Draining { limited, until, .. } => {
                if until <= Instant::now() && self.channels.iter().all(Channel::is_paid) {
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
    fn release(&mut self, limited: bool) {
        let limited = limited && self.main.ended.is_none();
        if self.childless || all_are_supervisors() {
            // What still holds our pipes is no descendant of the command, and what a gsh beneath us keeps
            // has its supervisor.
            return self.finish();
        }
        let reason = if limited { Reason::Limit } else { Reason::LeftBehind };
        let processes: Vec<Seen> = tree::below(own()).into_iter().map(Seen::from).collect();
        let begun = self.watch.jobs.clone().and_then(|jobs| {
            let origin = std::mem::take(&mut self.watch.origin);
            let ended = self.main.ended.map(Ending::now);
            let (job, log) = jobs.begin(origin, reason, processes, ended).ok()?;
            Some((jobs, job, log))
        });
        let sink = match begun {
            Some((jobs, job, log)) => {
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

    /// Nothing is left to look after.
    fn finish(&mut self) {
        self.tell(self.out_of_time);
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
        let summary = Summary { bytes, job: self.job.as_ref().map(|(_, job)| job.id) };
        let news = match self.main.ended {
            Some(ended) if !limited => News::Ended(ended, summary),
            _ => News::Limited(summary),
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
