//! Hearing of a change in a folder without looking again and again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

/// Becomes readable when a file of a folder appears, is put in another's place, or is gone.
#[derive(Debug)]
pub struct Watch(Inotify);

impl Watch {
    /// Starts to listen. What was there before is not told.
    ///
    /// # Errors
    /// When the folder is missing or the system has no more watches: the caller then looks by itself.
    pub fn on(folder: &Path) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
        let what = AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_MOVED_FROM | AddWatchFlags::IN_DELETE;
        inotify.add_watch(folder, what)?;
        Ok(Self(inotify))
    }

    /// Forgets what was told so far.
    pub fn drain(&self) {
        while !matches!(self.0.read_events(), Err(Errno::EAGAIN | Errno::EINVAL | Errno::EBADF)) {}
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::*;

    fn heard(watch: &Watch) -> bool {
        poll(&mut [PollFd::new(watch.as_fd(), PollFlags::POLLIN)], PollTimeout::ZERO).is_ok_and(|n| n > 0)
    }

    #[test]
    fn a_file_put_in_place_is_heard_of_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let watch = Watch::on(folder.path()).expect("a watch");
        assert!(!heard(&watch));
        std::fs::write(folder.path().join("new"), "x").expect("written");
        std::fs::rename(folder.path().join("new"), folder.path().join("a")).expect("renamed");
        assert!(heard(&watch));
        watch.drain();
        assert!(!heard(&watch));
        assert!(Watch::on(&folder.path().join("none")).is_err());
    }
}
