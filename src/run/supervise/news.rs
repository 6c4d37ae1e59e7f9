//! What the supervisor tells the process that the caller waits for.

use crate::sys::process::Ended;

/// The length of one message.
pub(super) const LENGTH: usize = 25;

/// One message; each is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// The command could not be started, for this `errno`.
    NotStarted(i32),
    /// It ended.
    Ended(Ended, Summary),
    /// It outlived its limit.
    Limited(Summary),
}

/// What went on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// How much the caller got of standard output and error.
    pub(super) bytes: [u64; 2],
    /// The job that goes on.
    pub(super) job: Option<u32>,
}

impl News {
    /// As sent.
    pub(super) fn to_bytes(self) -> [u8; LENGTH] {
        let (letter, number, summary) = match self {
            Self::NotStarted(errno) => (b'n', errno, Summary::default()),
            Self::Ended(Ended::Status(status), summary) => (b'e', status, summary),
            Self::Ended(Ended::Signal(signal), summary) => (b'k', signal, summary),
            Self::Limited(summary) => (b'l', 0, summary),
        };
        let [output, errors] = summary.bytes.map(u64::to_le_bytes);
        let job = summary.job.unwrap_or(0).to_le_bytes();
        let parts: [&[u8]; 5] = [&[letter], &number.to_le_bytes(), &output, &errors, &job];
        let mut bytes = [0; LENGTH];
        bytes.iter_mut().zip(parts.concat()).for_each(|(to, from)| *to = from);
        bytes
    }

    /// As received.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (letter, rest) = bytes.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (output, rest) = rest.split_first_chunk()?;
        let (errors, rest) = rest.split_first_chunk()?;
        let number = i32::from_le_bytes(*number);
        let job = u32::from_le_bytes(rest.try_into().ok()?);
        let bytes = [u64::from_le_bytes(*output), u64::from_le_bytes(*errors)];
        let summary = Summary { bytes, job: (job != 0).then_some(job) };
        match letter {
            b'n' => Some(Self::NotStarted(number)),
            b'e' => Some(Self::Ended(Ended::Status(number), summary)),
            b'k' => Some(Self::Ended(Ended::Signal(number), summary)),
            b'l' => Some(Self::Limited(summary)),
            _ => None,
        }
    }
}

/// What the caller's process tells the supervisor: a signal that came to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// Its number.
    pub(super) signal: u8,
    /// The command has had it too.
    pub(super) delivered: bool,
}

impl Told {
    /// As sent.
    pub(super) fn to_byte(self) -> u8 {
        self.signal | if self.delivered { 0x80 } else { 0 }
    }

    /// As received.
    pub(super) fn from_byte(byte: u8) -> Self {
        Self { signal: byte & 0x7f, delivered: byte & 0x80 != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_their_journey() {
        let summary = Summary { bytes: [1 << 40, 7], job: Some(12) };
        for news in [
            News::NotStarted(2),
            News::Ended(Ended::Status(255), Summary::default()),
            News::Ended(Ended::Signal(9), summary),
            News::Limited(summary),
        ] {
            assert_eq!(News::from_bytes(&news.to_bytes()), Some(news));
        }
        assert_eq!(News::from_bytes(&[b'?'; LENGTH]), None);
        for told in [Told { signal: 15, delivered: true }, Told { signal: 64, delivered: false }] {
            assert_eq!(Told::from_byte(told.to_byte()), told);
        }
    }
}
