//! What the supervisor tells the process that the caller waits for.

use crate::sys::process::Ended;

/// The length of one message.
pub(in crate::run) const LENGTH: usize = 29;

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum News {
    /// The command could not be started, for this `errno`. The last.
    NotStarted(i32),
    /// It was stopped on its terminal (`^Z`).
    Stopped,
    /// What is still to be read of its terminal is to be read now, and then the terminal be left to the
    /// supervisor; the command itself has ended, or its time.
    LetGo {
        /// It has ended.
        ended: bool,
    },
    /// It ended. The last.
    Ended(Ended, Summary),
    /// It goes on without its caller. The last.
    GoesOn(Summary),
}

/// What went on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::run) struct Summary {
    /// How much the caller got of standard output and error.
    pub(in crate::run) bytes: [u64; 2],
    /// The job that goes on.
    pub(in crate::run) job: Option<u32>,
    /// The command's first process.
    pub(in crate::run) pid: i32,
}

impl News {
    /// As sent.
    pub(in crate::run) fn to_bytes(self) -> [u8; LENGTH] {
        let (letter, number, summary) = match self {
            Self::NotStarted(errno) => (b'n', errno, Summary::default()),
            Self::Ended(Ended::Status(status), summary) => (b'e', status, summary),
            Self::Ended(Ended::Signal(signal), summary) => (b'k', signal, summary),
            Self::GoesOn(summary) => (b'l', 0, summary),
            Self::Stopped => (b's', 0, Summary::default()),
            Self::LetGo { ended } => (b'd', ended.into(), Summary::default()),
        };
        let [output, errors] = summary.bytes.map(u64::to_le_bytes);
        let job = summary.job.unwrap_or(0).to_le_bytes();
        let pid = summary.pid.to_le_bytes();
        let parts: [&[u8]; 6] = [&[letter], &number.to_le_bytes(), &output, &errors, &job, &pid];
        let mut bytes = [0; LENGTH];
        bytes.iter_mut().zip(parts.concat()).for_each(|(to, from)| *to = from);
        bytes
    }

    /// As received.
    pub(in crate::run) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (letter, rest) = bytes.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (output, rest) = rest.split_first_chunk()?;
        let (errors, rest) = rest.split_first_chunk()?;
        let (job, rest) = rest.split_first_chunk()?;
        let number = i32::from_le_bytes(*number);
        let job = u32::from_le_bytes(*job);
        let pid = i32::from_le_bytes(rest.try_into().ok()?);
        let bytes = [u64::from_le_bytes(*output), u64::from_le_bytes(*errors)];
        let summary = Summary { bytes, job: (job != 0).then_some(job), pid };
        match letter {
            b'n' => Some(Self::NotStarted(number)),
            b'e' => Some(Self::Ended(Ended::Status(number), summary)),
            b'k' => Some(Self::Ended(Ended::Signal(number), summary)),
            b'l' => Some(Self::GoesOn(summary)),
            b's' => Some(Self::Stopped),
            b'd' => Some(Self::LetGo { ended: number != 0 }),
            _ => None,
        }
    }
}

/// What the caller's process, or whoever sits at a job's terminal, tells the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Told {
    /// A signal came.
    Signal {
        /// Its number.
        signal: u8,
        /// The command has had it too.
        delivered: bool,
    },
    /// This of the followed modes is switched on ([`crate::run::pty`]).
    Shows(u8),
    /// The terminal is the supervisor's now.
    Left,
    /// The person's terminal was closed.
    HungUp,
}

const LEFT: u8 = 0;
/// Beyond all signals; some sixteen modes are followed.
const SHOWS: u8 = 0x60;
const MODES: u8 = 0x1e;
const HUNG_UP: u8 = 0x7f;

impl Told {
    /// As sent.
    pub(in crate::run) fn to_byte(self) -> u8 {
        match self {
            Self::Signal { signal, delivered } => signal | if delivered { 0x80 } else { 0 },
            Self::Shows(mode) => SHOWS + mode.min(MODES),
            Self::Left => LEFT,
            Self::HungUp => HUNG_UP,
        }
    }

    /// As received.
    pub(in crate::run) fn from_byte(byte: u8) -> Self {
        match byte {
            LEFT => Self::Left,
            HUNG_UP => Self::HungUp,
            SHOWS..HUNG_UP => Self::Shows(byte - SHOWS),
            _ => Self::Signal { signal: byte & 0x7f, delivered: byte & 0x80 != 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_their_journey() {
        let summary = Summary { bytes: [1 << 40, 7], job: Some(12), pid: 1 << 21 };
        for news in [
            News::NotStarted(2),
            News::Ended(Ended::Status(255), Summary::default()),
            News::Ended(Ended::Signal(9), summary),
            News::GoesOn(summary),
            News::Stopped,
            News::LetGo { ended: true },
            News::LetGo { ended: false },
        ] {
            assert_eq!(News::from_bytes(&news.to_bytes()), Some(news));
        }
        assert_eq!(News::from_bytes(&[b'?'; LENGTH]), None);
        for told in [
            Told::Signal { signal: 15, delivered: true },
            Told::Signal { signal: 64, delivered: false },
            Told::Shows(0),
            Told::Shows(11),
            Told::Left,
            Told::HungUp,
        ] {
            assert_eq!(Told::from_byte(told.to_byte()), told);
        }
    }
}
