//! A door: a socket with a name, through which one process hands descriptors to another of the same user.

use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::cmsg_space;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, getsockopt, recvmsg, sendmsg,
};

use super::raw;

/// How long whoever knocks may take to say what they want.
const PATIENCE: Duration = Duration::from_millis(500);

/// The side that hands out.
#[derive(Debug)]
pub struct Door {
    listener: UnixListener,
    path: PathBuf,
}

impl Door {
    /// Opens one under this name, which must be in a folder of the user's alone.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn open(path: &Path) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = by_short_name(path, |short| UnixListener::bind(short))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Whoever knocks.
    ///
    /// # Errors
    /// When they are gone already.
    pub fn accept(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.listener.accept()?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _gone_already = fs::remove_file(&self.path);
    }
}

/// Knocks.
///
/// # Errors
/// When there is no such door, or nobody behind it.
pub fn knock(path: &Path) -> io::Result<UnixStream> {
    by_short_name(path, |short| UnixStream::connect(short))
}

/// A socket's name has room for some hundred bytes; a path may be longer.
fn by_short_name<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = File::open(folder)?;
    act(&Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))
}

/// Says a word, and hands over a descriptor with it.
///
/// # Errors
/// When the other side is gone.
pub fn say(to: &UnixStream, word: &[u8], descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let descriptors: Vec<_> = descriptor.iter().map(AsRawFd::as_raw_fd).collect();
    let message = [ControlMessage::ScmRights(&descriptors)];
    let messages = if descriptors.is_empty() { &[][..] } else { &message[..] };
    let words = [IoSlice::new(word)];
    let length = sendmsg::<SockaddrStorage>(to.as_raw_fd(), &words, messages, MsgFlags::MSG_NOSIGNAL, None)?;
    if length == word.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Hears a word, no longer than this, and takes what is handed over with it. An empty one is the end.
///
/// # Errors
/// When the other side is gone, or silent for too long.
pub fn hear(from: &UnixStream, longest: usize) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut word = vec![0; longest];
    let mut space = cmsg_space!(std::os::fd::RawFd);
    let (length, descriptor) = {
        let mut words = [IoSliceMut::new(&mut word)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let message = recvmsg::<SockaddrStorage>(from.as_raw_fd(), &mut words, Some(&mut space), flags)?;
        let mut given = Vec::new();
        for each in message.cmsgs()? {
            if let ControlMessageOwned::ScmRights(descriptors) = each {
                given.extend(descriptors.into_iter().map(raw::received));
            }
        }
        (message.bytes, given.pop())
    };
    word.truncate(length);
    Ok((word, descriptor))
}

/// The process on the other side, as it was when it knocked.
#[must_use]
pub fn who(stream: &UnixStream) -> Option<i32> {
    getsockopt(stream, PeerCredentials).ok().map(|who| who.pid())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn descriptors_go_through_a_door_of_a_long_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let long = folder.path().join("long".repeat(50));
        fs::create_dir(&long).expect("a folder with a long name");
        let path = long.join("7.door");
        assert!(knock(&path).is_err());
        let door = Door::open(&path).expect("a door");
        let outside = knock(&path).expect("somebody behind it");
        let inside = door.accept().expect("somebody outside");
        assert_eq!(who(&inside), i32::try_from(std::process::id()).ok());
        let (mut reader, writer) = io::pipe().expect("a pipe");
        say(&inside, b"here", Some(writer.as_fd())).expect("said");
        drop(writer);
        let (word, given) = hear(&outside, 16).expect("heard");
        assert_eq!(word, b"here");
        File::from(given.expect("a descriptor")).write_all(b"text").expect("written");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("the end");
        assert_eq!(text, "text");
        drop((inside, door));
        assert!(hear(&outside, 16).is_ok_and(|(word, given)| word.is_empty() && given.is_none()));
        assert!(!path.exists());
    }
}
