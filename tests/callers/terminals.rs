//! Programs that open a terminal for the shell: script, tmux.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::place::{Caller, PATIENCE, Place, Seen, Shell, caller, find};

pub(super) fn callers() -> Vec<Caller> {
    vec![
        caller("script -c", &["script"], |place, text| {
            let mut command = place.command("script");
            place.run(command.args(["-q", "-e", "-E", "never", "-c", text, "/dev/null"]), "")
        }),
        caller("tmux new-window", &["tmux"], |place, text| {
            tmux(place, &["set-option", "-g", "default-shell", &place.shell()], Some(text))
        }),
        caller("tmux default-command", &["tmux"], |place, text| {
            tmux(place, &["set-option", "-g", "default-command", text], None)
        }),
    ]
}

/// A server of its own, which ends with this.
struct Tmux<'a> {
    place: &'a Place,
    /// Its socket: one that has just ended may still take its own away.
    name: String,
}

impl<'a> Tmux<'a> {
    fn new(place: &'a Place) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        Self { place, name: format!("callers-{}", STARTED.fetch_add(1, Ordering::Relaxed)) }
    }

    fn call(&self, args: &[&str]) -> Seen {
        let mut command = self.place.command("tmux");
        command.env("TMUX_TMPDIR", self.place.at("kept")).env("TERM", "xterm");
        self.place.run(command.args(["-L", &self.name, "-f", "/dev/null"]).args(args), "")
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _none = self.call(&["kill-server"]);
    }
}

/// What a window shows in the end, of a server with this setting.
fn tmux(place: &Place, setting: &[&str], text: Option<&str>) -> Seen {
    let server = Tmux::new(place);
    // The first window only keeps the server.
    let first = server.call(&["new-session", "-d", "-s", "t", "-x", "300", "-y", "50", "/bin/sleep 600"]);
    assert_eq!(first.status, "0", "{first:?}");
    for setting in [
        &["set-option", "-g", "default-shell", &place.shell()],
        setting,
        &["set-option", "-g", "remain-on-exit", "on"],
    ] {
        server.call(setting);
    }
    let folder = place.text_at("work");
    let opened = server.call(&[&["new-window", "-t", "t:1", "-c", &folder][..], text.as_slice()].concat());
    assert_eq!(opened.status, "0", "{opened:?}");
    let begun = Instant::now();
    // How it ended is not always known when it is over, and then never: tmux's own affair.
    while !server.call(&["display-message", "-p", "-t", "t:1", "#{pane_dead}"]).stdout.starts_with('1') {
        assert!(begun.elapsed() < PATIENCE, "the window never ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let shown = server.call(&["capture-pane", "-p", "-J", "-S", "-", "-t", "t:1"]).stdout;
    let lines = shown.lines().filter(|line| !line.starts_with("Pane is dead")).map(str::trim_end);
    let stdout: Vec<&str> = lines.collect();
    Seen { stdout: stdout.join("\n").trim_end().to_owned(), ..Seen::default() }
}

/// What starts a shell without a text gets one that reads what is typed.
#[test]
fn a_start_without_a_text_is_a_shell_that_is_typed_at() {
    let place = Place::new();
    if find("script").is_some() {
        place.fresh(Shell::Gsh(super::DEFAULT));
        let typed = "echo ty\"ped\"\nexit 5\n";
        let session = place.run(place.command("script").args(["-q", "-e", "/dev/null"]), typed);
        assert!(session.status == "5" && session.stdout.contains("typed"), "{session:?}");
    }
}
