//! Whether a terminal is a person's.
//!
//! An agent can run a command on a pseudo-terminal of its own and type into it; a question there
//! would be answered by whom it asks about. So a terminal counts only when its leader end is held by
//! a known terminal emulator that nobody but root can change, or when it is the machine's console.
//! Everything else (a multiplexer, a remote login, a holder that cannot be seen) may have an agent at
//! its far side, and counts only after the user vouched for it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Unavailable;
use crate::sys::proc::{self, Process, Terminal};

/// Emulators whose only far side is a window and a keyboard.
const EMULATORS: [&str; 26] = [
    "alacritty",
    "blackbox",
    "contour",
    "cosmic-term",
    "deepin-terminal",
    "foot",
    "footserver",
    "ghostty",
    "gnome-terminal-server",
    "kgx",
    "kitty",
    "konsole",
    "lxterminal",
    "mate-terminal",
    "mlterm",
    "ptyxis-agent",
    "qterminal",
    "rio",
    "sakura",
    "st",
    "terminology",
    "tilix",
    "urxvt",
    "wezterm-gui",
    "xfce4-terminal",
    "xterm",
];

/// Programs that a person may sit behind, and an agent too: the kind to vouch for.
const SHARED: [(&str, &str); 7] = [
    ("tmux", "tmux"),
    ("screen", "screen"),
    ("SCREEN", "screen"),
    ("zellij", "zellij"),
    ("sshd", "sshd"),
    ("sshd-session", "sshd"),
    ("mosh-server", "mosh"),
];

/// The kind of a terminal whose holder is not visible, as in a container.
const UNSEEN: &str = "container";

/// The device of the terminal of this process, if it is a person's.
///
/// # Errors
/// When there is none, or it may be somebody else's.
pub fn persons(vouched: &[String]) -> Result<PathBuf, Unavailable> {
    let own = Process::own().ok_or(Unavailable::NoTerminal)?;
    let terminal = own.controlling_terminal().ok_or(Unavailable::NoTerminal)?;
    let device = terminal.path().unwrap_or_else(|| "/dev/tty".into());
    let allowed = match terminal {
        Terminal::Console(_) => true,
        Terminal::Other => vouched.iter().any(|kind| kind == "serial"),
        Terminal::Pseudo(number) => return holders_allow(number, &own, vouched).map(|()| device),
    };
    if allowed { Ok(device) } else { Err(not_persons("serial")) }
}

fn not_persons(kind: &str) -> Unavailable {
    Unavailable::NotAPersons(kind.to_owned())
}

/// How often a stranger must be seen.
const LOOKS: usize = 3;

/// Long enough for a program to become itself.
const PAUSE: Duration = Duration::from_millis(5);

/// What an emulator starts (another window's shell) holds all that the emulator does until it has become
/// itself. Who could type an answer is there for good.
fn holders_allow(number: u32, own: &Process, vouched: &[String]) -> Result<(), Unavailable> {
    let mut seen = holders_allow_now(number, own, vouched);
    for _ in 1..LOOKS {
        if seen.is_ok() {
            break;
        }
        std::thread::sleep(PAUSE);
        seen = holders_allow_now(number, own, vouched);
    }
    seen
}

fn holders_allow_now(number: u32, own: &Process, vouched: &[String]) -> Result<(), Unavailable> {
    let holders = holders(number, own);
    if holders.is_empty() {
        let allowed = vouched.iter().any(|kind| kind == UNSEEN);
        return if allowed { Ok(()) } else { Err(not_persons(UNSEEN)) };
    }
    // One stranger among the holders is enough to type an answer.
    match holders.iter().map(Holder::of).find(|holder| !holder.is_allowed(vouched)) {
        None => Ok(()),
        Some(stranger) => Err(not_persons(&stranger.kind())),
    }
}

/// Those who hold the leader end. The ancestors are looked at like all others: a holder need not be
/// one, and one that is found early is no reason to overlook a second.
fn holders(number: u32, own: &Process) -> Vec<Process> {
    proc::all()
        .into_iter()
        .filter(|process| process.pid != own.pid)
        .filter(|process| process.led_terminals().is_some_and(|led| led.contains(&number)))
        .collect()
}

/// What holds a leader end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    program: Option<PathBuf>,
    name: String,
    /// Its file is root's and nobody else can change it.
    fixed: bool,
}

impl Holder {
    fn of(process: &Process) -> Self {
        let program = process.program();
        let fixed = program.as_deref().is_some_and(is_fixed);
        Self { program, name: process.name.clone(), fixed }
    }

    fn base(&self) -> &str {
        let file = self.program.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        file.unwrap_or(&self.name)
    }

    fn shared_kind(&self) -> Option<&'static str> {
        SHARED.iter().find(|(name, _)| *name == self.base()).map(|(_, kind)| *kind)
    }

    fn kind(&self) -> String {
        match (self.shared_kind(), &self.program) {
            (Some(kind), _) => kind.to_owned(),
            (None, Some(program)) => super::sanitize::line(&program.to_string_lossy()),
            (None, None) => UNSEEN.to_owned(),
        }
    }

    fn is_allowed(&self, vouched: &[String]) -> bool {
        if self.fixed && EMULATORS.contains(&self.base()) {
            return true;
        }
        let by_path = self.program.as_deref().is_some_and(|program| {
            vouched.iter().any(|entry| entry.starts_with('/') && Path::new(entry) == program)
        });
        // A name is only as good as the file behind it.
        let by_kind =
            self.shared_kind().is_some_and(|kind| self.fixed && vouched.iter().any(|entry| entry == kind));
        by_path || by_kind
    }
}

fn is_fixed(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|data| data.uid() == 0 && data.mode() & 0o022 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_or_vouched_holders_count() {
        let table: [(Option<&str>, bool, &[&str], bool); 10] = [
            (Some("/usr/bin/xterm"), true, &[], true),
            (Some("/home/u/xterm"), false, &[], false),
            (Some("/usr/bin/tmux"), true, &[], false),
            (Some("/usr/bin/tmux"), true, &["tmux"], true),
            (Some("/tmp/tmux"), false, &["tmux"], false),
            (Some("/usr/sbin/sshd"), true, &["tmux"], false),
            (Some("/opt/agent/agent"), true, &["tmux", "sshd", "container"], false),
            (Some("/opt/agent/agent"), false, &["/opt/agent/agent"], true),
            (Some("/opt/agent/agent"), false, &["agent"], false),
            (None, false, &["tmux"], false),
        ];
        for (program, fixed, vouched, expected) in table {
            let holder = Holder { program: program.map(PathBuf::from), name: "x".to_owned(), fixed };
            let vouched: Vec<String> = vouched.iter().map(|kind| (*kind).to_owned()).collect();
            assert_eq!(holder.is_allowed(&vouched), expected, "{program:?} {vouched:?}");
        }
    }

    #[test]
    fn a_terminal_held_by_a_test_is_no_persons() {
        let Ok((leader, _follower)) = crate::sys::tty::Leader::open(None) else { return };
        let number = leader_number(&leader);
        // Seen from the test's parent, the test is the stranger at the leader end.
        let Some(parent) = Process::own().and_then(|own| Process::read(own.parent)) else { return };
        let refused = holders_allow(number, &parent, &[]);
        assert!(matches!(refused, Err(Unavailable::NotAPersons(_))), "{refused:?}");
        let vouched = Process::own().and_then(|own| own.program()).map(|path| path.display().to_string());
        assert_eq!(holders_allow(number, &parent, &Vec::from_iter(vouched)), Ok(()));
    }

    fn leader_number(leader: &crate::sys::tty::Leader) -> u32 {
        let text = format!("{leader:?}");
        text.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    }
}
