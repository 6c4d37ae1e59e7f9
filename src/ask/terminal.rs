//! Whether a terminal is a person's.
//!
//! An agent can run a command on a pseudo-terminal of its own and type into it; a question there
//! would be answered by whom it asks about. So a terminal counts only when its leader end is held by
//! a known terminal emulator that nobody but root can change, or when it is the machine's console.
//! Everything else (a multiplexer, a remote login, a holder that cannot be seen) may have an agent at
//! its far side, and counts only after the user vouched for it. An emulator that an agent started is
//! the agent's: it can type there too.
//!
//! What a process of the same user does to a person's own window (its debugging interface, typing
//! through the desktop) cannot be seen here.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Unavailable;
use crate::sys::agents;
use crate::sys::proc::{self, Led, Process, Terminal};
use crate::sys::tty;

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
        Terminal::Pseudo(number) => {
            let place = Place { number, instance: tty::own_instance(&device) };
            return holders_allow(place, &own, vouched).map(|()| device);
        }
    };
    if allowed { Ok(device) } else { Err(not_persons("serial")) }
}

/// The name of this process's terminal, for a person.
#[must_use]
pub fn own_name() -> Option<String> {
    let path = Process::own()?.controlling_terminal()?.path()?;
    Some(path.to_string_lossy().into_owned())
}

fn not_persons(kind: &str) -> Unavailable {
    Unavailable::NotAPersons(kind.to_owned())
}

/// A pseudo-terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    number: u32,
    /// The file system that it lies in, as far as that is certain: another one has terminals of the same numbers.
    instance: Option<u64>,
}

/// How often a stranger must be seen.
const LOOKS: usize = 3;

/// Long enough for a program to become itself.
const PAUSE: Duration = Duration::from_millis(5);

/// What an emulator starts (another window's shell) holds all that the emulator does until it has become
/// itself. Who could type an answer is there for good.
fn holders_allow(place: Place, own: &Process, vouched: &[String]) -> Result<(), Unavailable> {
    let mut seen = holders_allow_now(place, own, vouched);
    for _ in 1..LOOKS {
        if seen.is_ok() {
            break;
        }
        std::thread::sleep(PAUSE);
        seen = holders_allow_now(place, own, vouched);
    }
    seen
}

fn holders_allow_now(place: Place, own: &Process, vouched: &[String]) -> Result<(), Unavailable> {
    let holders = holders(place, own);
    if holders.is_empty() {
        let kind = unseen_kind(own);
        let allowed = vouched.iter().any(|vouched| vouched == kind);
        return if allowed { Ok(()) } else { Err(not_persons(kind)) };
    }
    // One stranger among the holders is enough to type an answer.
    holders.iter().map(Holder::of).try_for_each(|holder| holder.may_ask(vouched))
}

/// What hides the holder. A remote login's end is held by a process that lets nobody look; its parent,
/// which is root's, tells what it is, and nobody but root gives a process of root's that name.
fn unseen_kind(own: &Process) -> &'static str {
    let above = own.ancestors(64);
    let hidden = above.iter().position(|process| process.led_terminals().is_none());
    let parent = hidden.and_then(|at| above.get(at + 1));
    let remote = parent.filter(|parent| parent.user() == Some(0)).and_then(|parent| shared(&parent.name));
    if remote == Some("sshd") { "sshd" } else { UNSEEN }
}

fn shared(name: &str) -> Option<&'static str> {
    SHARED.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// Those who hold the leader end. The ancestors are looked at like all others: a holder need not be
/// one, and one that is found early is no reason to overlook a second.
fn holders(place: Place, own: &Process) -> Vec<Process> {
    let holds = |led: &Led| led.may_be(place.number, place.instance);
    proc::all()
        .into_iter()
        .filter(|process| process.pid != own.pid)
        .filter(|process| process.led_terminals().is_some_and(|led| led.iter().any(holds)))
        .collect()
}

/// What holds a leader end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    program: Option<PathBuf>,
    name: String,
    /// Its file is root's and nobody else can change it.
    fixed: bool,
    /// The agent that started it.
    opened_by: Option<String>,
}

impl Holder {
    fn of(process: &Process) -> Self {
        let program = process.program();
        let fixed = program.as_deref().is_some_and(is_fixed);
        Self { program, name: process.name.clone(), fixed, opened_by: agents::above(process) }
    }

    fn base(&self) -> &str {
        let file = self.program.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        file.unwrap_or(&self.name)
    }

    fn shared_kind(&self) -> Option<&'static str> {
        shared(self.base())
    }

    fn kind(&self) -> String {
        match (self.shared_kind(), &self.program) {
            (Some(kind), _) => kind.to_owned(),
            (None, Some(program)) => super::sanitize::line(&program.to_string_lossy()),
            (None, None) => UNSEEN.to_owned(),
        }
    }

    fn may_ask(&self, vouched: &[String]) -> Result<(), Unavailable> {
        // Who names a program by its path has looked at it.
        let by_path = self.program.as_deref().is_some_and(|program| {
            vouched.iter().any(|entry| entry.starts_with('/') && Path::new(entry) == program)
        });
        // A name is only as good as the file behind it.
        let by_kind = self.shared_kind().is_some_and(|kind| vouched.iter().any(|entry| entry == kind));
        let by_name = self.fixed && (by_kind || EMULATORS.contains(&self.base()));
        match &self.opened_by {
            _ if by_path => Ok(()),
            Some(agent) if by_name => Err(Unavailable::OpenedByAgent(agent.clone())),
            None if by_name => Ok(()),
            _ => Err(not_persons(&self.kind())),
        }
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
        type Row = (Option<&'static str>, bool, Option<&'static str>, &'static [&'static str], bool);
        let table: [Row; 14] = [
            (Some("/usr/bin/xterm"), true, None, &[], true),
            (Some("/usr/bin/xterm"), true, Some("claude"), &[], false),
            (Some("/home/u/xterm"), false, None, &[], false),
            (Some("/usr/bin/tmux"), true, None, &[], false),
            (Some("/usr/bin/tmux"), true, None, &["tmux"], true),
            (Some("/usr/bin/tmux"), true, Some("codex"), &["tmux"], false),
            (Some("/usr/bin/tmux"), true, Some("codex"), &["/usr/bin/tmux"], true),
            (Some("/tmp/tmux"), false, None, &["tmux"], false),
            (Some("/usr/sbin/sshd"), true, None, &["tmux"], false),
            (Some("/opt/agent/agent"), true, None, &["tmux", "sshd", "container"], false),
            (Some("/opt/agent/agent"), false, None, &["/opt/agent/agent"], true),
            (Some("/opt/agent/agent"), false, None, &["agent"], false),
            (Some("/usr/bin/script"), true, None, &["tmux", "sshd"], false),
            (None, false, None, &["tmux"], false),
        ];
        for (program, fixed, agent, vouched, expected) in table {
            let opened_by = agent.map(str::to_owned);
            let holder =
                Holder { program: program.map(PathBuf::from), name: "x".to_owned(), fixed, opened_by };
            let vouched: Vec<String> = vouched.iter().map(|kind| (*kind).to_owned()).collect();
            assert_eq!(holder.may_ask(&vouched).is_ok(), expected, "{program:?} {agent:?} {vouched:?}");
        }
    }

    #[test]
    fn a_holder_that_cannot_be_seen_is_unknown() {
        let Ok((leader, follower)) = crate::sys::tty::Leader::open(None) else { return };
        let place = Place { number: number_of(&follower), instance: None };
        drop(leader);
        let Some(own) = Process::own() else { return };
        let refused = holders_allow(place, &own, &["tmux".to_owned()]);
        assert_eq!(refused, Err(not_persons(UNSEEN)));
        assert_eq!(holders_allow(place, &own, &[UNSEEN.to_owned()]), Ok(()));
    }

    #[test]
    fn a_terminal_held_by_a_test_is_no_persons() {
        let Ok((leader, follower)) = crate::sys::tty::Leader::open(None) else { return };
        let place = Place { number: number_of(&follower), instance: None };
        let _held = &leader;
        // Seen from the test's parent, the test is the stranger at the leader end.
        let Some(parent) = Process::own().and_then(|own| Process::read(own.parent)) else { return };
        let refused = holders_allow(place, &parent, &[]);
        assert!(matches!(refused, Err(Unavailable::NotAPersons(_))), "{refused:?}");
        let vouched = Process::own().and_then(|own| own.program()).map(|path| path.display().to_string());
        assert_eq!(holders_allow(place, &parent, &Vec::from_iter(vouched)), Ok(()));
    }

    fn number_of(follower: &std::os::fd::OwnedFd) -> u32 {
        use std::os::fd::AsRawFd;
        let link = std::fs::read_link(format!("/proc/self/fd/{}", follower.as_raw_fd())).unwrap_or_default();
        link.file_name().and_then(|name| name.to_str()?.parse().ok()).unwrap_or(0)
    }
}
