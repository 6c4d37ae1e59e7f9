//! A reviewer that is asked while a person is: the first answer counts, and from the first key on the person's alone.

use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::reviewed::{Opinion, weigh};
use super::sanitize::line;
use crate::policy::Mode;
use crate::review::{Begun, Reviewed, Reviewer};

/// Whoever may answer while a question is open at a terminal.
pub trait Rival {
    /// Readable as soon as it has answered; None where that is known.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
    /// Whether its answer, if it is here, settles the question. One that does not leaves it to the person.
    fn settles(&self) -> bool;
    /// The person has pressed a key: it is not waited for, and all that it does is ended. Whether it was waited for
    /// until now.
    fn leave(&self) -> bool;
    /// What the person is told of it.
    fn told(&self) -> String;
}

/// The reviewer beside an open question.
pub(super) struct RacingReview<'a> {
    reviewer: &'a Reviewer,
    mode: Mode,
    end: Option<OwnedFd>,
    /// The review, until it has ended.
    asked: RefCell<Option<Begun<'a>>>,
    /// What came of it then.
    heard: RefCell<Option<Reviewed>>,
}

impl<'a> RacingReview<'a> {
    /// From a review that was begun.
    #[must_use]
    pub(super) fn new(reviewer: &'a Reviewer, mode: Mode, begun: Begun<'a>) -> Self {
        let end = begun.end();
        Self { reviewer, mode, end, asked: RefCell::new(Some(begun)), heard: RefCell::new(None) }
    }

    /// The review: to its end, unless there is a word why it is not waited for.
    pub(super) fn into_reviewed(self, why: impl FnOnce() -> Option<&'static str>) -> Option<Reviewed> {
        let end = |begun: Begun<'a>| match why() {
            Some(why) => begun.dropped(why),
            None => begun.finish(),
        };
        self.asked.into_inner().map(end).or(self.heard.into_inner())
    }

    fn take(&self, end: impl FnOnce(Begun<'a>) -> Reviewed) -> bool {
        let begun = self.asked.take();
        let was_asked = begun.is_some();
        if let Some(begun) = begun {
            self.heard.replace(Some(end(begun)));
        }
        was_asked
    }
}

impl Rival for RacingReview<'_> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().filter(|_| self.asked.borrow().is_some()).map(AsFd::as_fd)
    }

    fn settles(&self) -> bool {
        let here = self.descriptor().is_some_and(|end| {
            let mut ends = [PollFd::new(end, PollFlags::POLLIN)];
            matches!(poll(&mut ends, PollTimeout::ZERO), Ok(1..))
        });
        if here {
            self.take(Begun::finish);
        }
        // That nobody could say is no answer while a person may.
        let said = self.heard.borrow().clone().filter(|reviewed| reviewed.outcome.is_ok());
        said.is_some_and(|reviewed| matches!(weigh(self.reviewer, self.mode, reviewed), Opinion::Settled(_)))
    }

    fn leave(&self) -> bool {
        self.take(|begun| begun.dropped("a person took the question"))
    }

    fn told(&self) -> String {
        let name = line(&self.reviewer.set.name());
        let Some(reviewed) = self.heard.borrow().clone() else {
            return format!("a reviewer is asked too ({name}); any key makes the answer yours");
        };
        if reviewed.was_dropped() {
            return format!("you answer; the reviewer is asked no longer ({name})");
        }
        match weigh(self.reviewer, self.mode, reviewed) {
            Opinion::Asks(Some(why), _) => format!("you answer; {}", line(&why)),
            Opinion::Asks(None, _) | Opinion::Settled(_) => {
                format!("you answer; the reviewer gave no answer ({name})")
            }
        }
    }
}
