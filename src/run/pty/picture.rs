//! How a terminal is set by what is shown on it: what a full-screen program switches on and, interrupted,
//! leaves on.

/// The private modes that are followed: keys of the cursor, the cursor (on at first), another screen in its
/// three forms, the mouse in its forms, focus, brackets around what is pasted.
const FOLLOWED: [u16; 12] = [1, 25, 47, 1047, 1049, 1000, 1002, 1003, 1004, 1006, 1015, 2004];
/// The cursor is the one that is on at first.
const CURSOR: u16 = 25;
/// A longer sequence is none of these.
const LONGEST: usize = 32;

/// What is switched on now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::run) struct Picture {
    changed: Vec<u16>,
    /// The beginning of a sequence whose end has not come yet.
    part: Vec<u8>,
}

impl Picture {
    /// Follows what is shown.
    pub(super) fn follow(&mut self, shown: &[u8]) {
        let joined;
        let mut rest = if self.part.is_empty() {
            shown
        } else {
            joined = [std::mem::take(&mut self.part).as_slice(), shown].concat();
            joined.as_slice()
        };
        while let Some(start) = rest.iter().position(|byte| *byte == 0x1b) {
            rest = rest.get(start..).unwrap_or_default();
            match self.sequence(rest) {
                Some(length) => rest = rest.get(length..).unwrap_or_default(),
                None => {
                    self.part = rest.to_vec();
                    return;
                }
            }
        }
    }

    /// Reads what begins with an escape; how long it is, or None where its end has not come.
    fn sequence(&mut self, bytes: &[u8]) -> Option<usize> {
        let Some(body) = bytes.strip_prefix(b"\x1b[?") else {
            return (!b"\x1b[?".starts_with(bytes)).then_some(1);
        };
        let Some(end) = body.iter().position(|byte| !byte.is_ascii_digit() && *byte != b';') else {
            return (body.len() > LONGEST).then_some(1);
        };
        let on = match body.get(end) {
            Some(b'h') => true,
            Some(b'l') => false,
            _ => return Some(1),
        };
        let numbers = std::str::from_utf8(body.get(..end)?).unwrap_or_default();
        for mode in numbers.split(';').filter_map(|number| number.parse().ok()) {
            if FOLLOWED.contains(&mode) {
                self.changed.retain(|known| *known != mode);
                if on != (mode == CURSOR) {
                    self.changed.push(mode);
                }
            }
        }
        Some(bytes.len().min(end + 4))
    }

    /// What makes a fresh terminal like this one.
    pub(super) fn enter(&self) -> String {
        self.changed.iter().map(|mode| set(*mode, *mode != CURSOR)).collect()
    }

    /// What makes this one as a fresh one is.
    pub(super) fn leave(&self) -> String {
        let modes: String = self.changed.iter().rev().map(|mode| set(*mode, *mode == CURSOR)).collect();
        if modes.is_empty() { modes } else { modes + "\x1b[0m" }
    }

    /// The places of the switched on among all that are followed.
    pub(super) fn modes(&self) -> Vec<u8> {
        let place = |mode: &u16| FOLLOWED.iter().position(|known| known == mode);
        self.changed.iter().filter_map(|mode| u8::try_from(place(mode)?).ok()).collect()
    }

    /// Whether a program has a screen of its own.
    pub(super) fn is_taken(&self) -> bool {
        self.changed.iter().any(|mode| matches!(mode, 47 | 1047 | 1049))
    }
}

/// What switches on the followed mode of this place.
pub(in crate::run) fn entered(place: u8) -> String {
    FOLLOWED.get(usize::from(place)).map(|mode| set(*mode, *mode != CURSOR)).unwrap_or_default()
}

fn set(mode: u16, on: bool) -> String {
    format!("\x1b[?{mode}{}", if on { 'h' } else { 'l' })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_switched_on_is_followed_however_it_is_cut() {
        let table: [(&[u8], &str, &str); 8] = [
            (b"plain \x1b[1mbold", "", ""),
            (b"\x1b[?1049h\x1b[?25l", "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l\x1b[0m"),
            (b"\x1b[?1049hx\x1b[?1049l", "", ""),
            (b"\x1b[?1000;1006h", "\x1b[?1000h\x1b[?1006h", "\x1b[?1006l\x1b[?1000l\x1b[0m"),
            (b"\x1b[?25h\x1b[?7h\x1b[?12l", "", ""),
            (b"\x1b\x1b[?2004h", "\x1b[?2004h", "\x1b[?2004l\x1b[0m"),
            (b"\x1b[?2004$p\x1b[?x", "", ""),
            (b"\x1b[?99999999999999999999999999999999999999h\x1b[?1h", "\x1b[?1h", "\x1b[?1l\x1b[0m"),
        ];
        for (shown, enter, leave) in table {
            for cut in 0..=shown.len() {
                let mut picture = Picture::default();
                picture.follow(&shown[..cut]);
                picture.follow(&shown[cut..]);
                assert_eq!(
                    (picture.enter(), picture.leave()),
                    (enter.to_owned(), leave.to_owned()),
                    "{shown:?}"
                );
            }
        }
    }
}
