//! What `/proc` tells of processes: who started whom, and who holds a terminal's leader end.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use super::tty;

/// A process at one moment. The start time tells it from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// Who started it, or took it over.
    pub parent: i32,
    /// The name of its program, as the kernel keeps it (15 characters).
    pub name: String,
    /// The leader of its session of processes.
    pub leader: i32,
    /// When it started, in clock ticks since the machine did.
    pub started: u64,
    /// Its controlling terminal's device number; 0 for none.
    pub terminal: u64,
    /// Its state, as the kernel's letter.
    pub state: char,
    /// How long it has computed, in clock ticks.
    pub computed: u64,
}

impl Process {
    /// The process with this number. None when there is none or it cannot be looked at.
    #[must_use]
    pub fn read(pid: i32) -> Option<Self> {
        // The kernel makes the whole line for one read; this stands on the path of every command.
        let mut line = [0; 1024];
        let length = fs::File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut line).ok()?;
        Self::parse(pid, line.get(..length)?)
    }

    /// This process.
    #[must_use]
    pub fn own() -> Option<Self> {
        Self::read(i32::try_from(std::process::id()).ok()?)
    }

    fn parse(pid: i32, stat: &[u8]) -> Option<Self> {
        // The name stands in parentheses and may hold any byte, also `)`.
        let (start, end) = (stat.iter().position(|b| *b == b'(')?, stat.iter().rposition(|b| *b == b')')?);
        let name = String::from_utf8_lossy(stat.get(start + 1..end)?).into_owned();
        let mut fields = std::str::from_utf8(stat.get(end + 1..)?).ok()?.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let leader = fields.nth(1)?.parse().ok()?;
        let terminal = fields.next()?.parse::<i64>().ok().and_then(|n| u64::try_from(n).ok())?;
        let [user, system] = [fields.nth(6)?, fields.next()?].map(|ticks| ticks.parse::<u64>().ok());
        let started = fields.nth(6)?.parse().ok()?;
        let computed = user?.saturating_add(system?);
        Some(Self { pid, parent, name, leader, started, terminal, state, computed })
    }

    /// It has ended, and only its parent has not taken notice yet.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// The file it runs, as far as it may be looked at.
    #[must_use]
    pub fn program(&self) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/exe", self.pid)).ok()
    }

    /// The words it was started with, as far as they may be looked at.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut line = Vec::with_capacity(4096);
        let file = fs::File::open(format!("/proc/{}/cmdline", self.pid));
        let read = file.and_then(|file| file.take(4096).read_to_end(&mut line));
        let words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        if read.is_ok() { words.collect() } else { Vec::new() }
    }

    /// Whether its standard input is a terminal, as far as that may be looked at.
    #[must_use]
    pub fn reads_a_terminal(&self) -> bool {
        let input = fs::read_link(format!("/proc/{}/fd/0", self.pid)).unwrap_or_default();
        let terminals = ["/dev/pts/", "/dev/tty", "/dev/console"];
        input.to_str().is_some_and(|input| terminals.iter().any(|terminal| input.starts_with(terminal)))
    }

    /// The real user it runs for.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    }

    /// Those above it, nearest first, at most so many.
    #[must_use]
    pub fn ancestors(&self, most: usize) -> Vec<Self> {
        let mut above = Vec::new();
        let mut next = self.parent;
        while next > 0 && above.len() < most {
            let Some(process) = Self::read(next) else { break };
            next = process.parent;
            above.push(process);
        }
        above
    }

    /// Its controlling terminal.
    #[must_use]
    pub fn controlling_terminal(&self) -> Option<Terminal> {
        Terminal::from_device(self.terminal)
    }

    /// The pseudo-terminals whose leader end it holds. None when it may not be looked at.
    #[must_use]
    pub fn led_terminals(&self) -> Option<Vec<Led>> {
        let mut led = Vec::new();
        for entry in fs::read_dir(format!("/proc/{}/fd", self.pid)).ok()? {
            let entry = entry.ok()?;
            // A descriptor may be closed while we look; what remains is looked at.
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            if !target.to_string_lossy().ends_with("/ptmx") {
                continue;
            }
            let number = entry.file_name();
            let info = format!("/proc/{}/fdinfo/{}", self.pid, number.to_string_lossy());
            let text = match fs::read_to_string(info) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(_) => return None,
            };
            match text.lines().find_map(|line| line.strip_prefix("tty-index:")) {
                Some(index) => {
                    led.push(Led {
                        number: index.trim().parse().ok()?,
                        instance: tty::instance(&entry.path()),
                    });
                }
                // Its number may belong to another file by now.
                None if fs::read_link(entry.path()).ok() != Some(target) => {}
                None => return None,
            }
        }
        Some(led)
    }
}

/// The leader end of a pseudo-terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Led {
    /// The terminal's number, which each file system of terminals has for itself.
    pub number: u32,
    /// The file system, where the leader end was opened in it. What was opened outside of it, as `/dev/ptmx` often
    /// is, may belong to any.
    pub instance: Option<u64>,
}

impl Led {
    /// Whether this may be the leader end of the terminal of this number in this file system.
    #[must_use]
    pub fn may_be(self, number: u32, instance: Option<u64>) -> bool {
        let other = self.instance.zip(instance).is_some_and(|(theirs, ours)| theirs != ours);
        self.number == number && !other
    }
}

/// A process and those above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// The process.
    pub own: Process,
    /// Those above it, nearest first.
    pub above: Vec<Process>,
}

/// More generations than this are not looked at: nobody starts programs so deeply by accident.
const GENERATIONS: usize = 64;

impl Lineage {
    /// That of this process. None where `/proc` cannot be read.
    #[must_use]
    pub fn own() -> Option<Self> {
        let own = Process::own()?;
        let above = own.ancestors(GENERATIONS);
        Some(Self { own, above })
    }

    /// The process, then those above it.
    pub fn all(&self) -> impl Iterator<Item = &Process> {
        std::iter::once(&self.own).chain(&self.above)
    }
}

/// The words of a process's command line; none where it may not be looked at.
#[must_use]
pub fn words(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Every process that can be listed.
#[must_use]
pub fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Process::read)
        .collect()
}

/// A terminal device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// `/dev/pts/N`.
    Pseudo(u32),
    /// `/dev/ttyN`: the machine's own screen and keyboard.
    Console(u32),
    /// A serial line or something else.
    Other,
}

impl Terminal {
    /// From the number in `/proc/PID/stat`. None for no terminal.
    #[must_use]
    pub fn from_device(device: u64) -> Option<Self> {
        let major = (device >> 8) & 0xfff;
        let minor = u32::try_from((device & 0xff) | ((device >> 12) & 0xf_ff00)).ok()?;
        match major {
            0 => None,
            4 if (1..64).contains(&minor) => Some(Self::Console(minor)),
            136..=143 => Some(Self::Pseudo(u32::try_from(major - 136).ok()? * 0x10_0000 + minor)),
            _ => Some(Self::Other),
        }
    }

    /// Its device file, where the name follows from the number.
    #[must_use]
    pub fn path(self) -> Option<PathBuf> {
        match self {
            Self::Pseudo(number) => Some(format!("/dev/pts/{number}").into()),
            Self::Console(number) => Some(format!("/dev/tty{number}").into()),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_are_read_whatever_the_name() {
        let tail = "S 7 10 10 34817 10 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 1 2";
        for name in ["bash", "a b", "x) S 1 (y", ")"] {
            let process = Process::parse(10, format!("10 ({name}) {tail}").as_bytes());
            let expected = Process {
                pid: 10,
                parent: 7,
                name: name.to_owned(),
                leader: 10,
                started: 99,
                terminal: 34817,
                state: 'S',
                computed: 11,
            };
            assert_eq!(process, Some(expected), "{name}");
        }
        assert_eq!(Process::parse(10, b"10 bash S 7"), None);
    }

    #[test]
    fn device_numbers_name_terminals() {
        let table = [
            (0, None),
            (34817, Some(Terminal::Pseudo(1))),
            (0x88ff | (1 << 20), Some(Terminal::Pseudo(511))),
            (0x0401, Some(Terminal::Console(1))),
            (0x0440, Some(Terminal::Other)),
            (0x0500, Some(Terminal::Other)),
        ];
        for (device, expected) in table {
            assert_eq!(Terminal::from_device(device), expected, "{device:#x}");
        }
    }

    #[test]
    fn a_number_counts_in_its_own_file_system() {
        let table = [
            // The leader's, ours, whether they may be one terminal.
            ((5, Some(24)), (5, Some(24)), true),
            ((5, Some(26)), (5, Some(24)), false),
            ((5, None), (5, Some(24)), true),
            ((5, Some(26)), (5, None), true),
            ((4, Some(24)), (5, Some(24)), false),
        ];
        for ((number, instance), ours, expected) in table {
            let led = Led { number, instance };
            assert_eq!(led.may_be(ours.0, ours.1), expected, "{led:?} {ours:?}");
        }
    }

    #[test]
    fn the_holder_of_a_leader_end_is_found() {
        let Ok((leader, _follower)) = crate::sys::tty::Leader::open(None) else { return };
        let own = Process::own();
        let led = own.as_ref().and_then(Process::led_terminals).unwrap_or_default();
        assert!(!led.is_empty(), "{leader:?}");
        assert!(own.is_some_and(|own| !own.ancestors(8).is_empty()));
    }
}
