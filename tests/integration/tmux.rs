//! tmux: the questions that wait are one key away.

use std::path::Path;
use std::process::{Command, Stdio};

use super::GSH;
use crate::common::machine::{Gsh, Screen};

const TMUX: &str = "/usr/bin/tmux";

/// A server of its own, ended with the test.
struct Server {
    screen: Screen,
    socket: String,
}

impl Server {
    fn start(gsh: Gsh, configuration: &str) -> Self {
        let socket = gsh.at("run/tmux").display().to_string();
        let file = gsh.at("home/.tmux.conf");
        std::fs::write(&file, configuration).expect("its configuration");
        let args = ["-S".to_owned(), socket.clone(), "-f".to_owned(), file.display().to_string()];
        let args = args
            .into_iter()
            .chain(["new-session", "env PS1='pane> ' bash --norc --noprofile"].map(str::to_owned));
        let gsh = gsh.program(TMUX).again().args(args).env("PS1", "pane> ").env("LANG", "C.UTF-8");
        let mut screen = gsh.pty(120, 40);
        screen.wait_for("pane>");
        Self { screen, socket }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut command = Command::new(TMUX);
        command.args(["-S", &self.socket, "kill-server"]).stdout(Stdio::null()).stderr(Stdio::null());
        let _ended = command.status();
    }
}

#[test]
fn init_binds_a_key_that_shows_what_waits_wherever_gsh_is() {
    if !Path::new(TMUX).exists() {
        eprintln!("SKIPPED: no {TMUX} on this machine");
        return;
    }
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let gsh = Gsh::new(GSH).config(&format!("[ask]\nterminals = [{holder:?}, \"tmux\"]\n"));
    let (gsh, said) = super::init(gsh, "init tmux --yes");
    assert!(said.contains("prefix and G"), "{said}");
    let configuration = std::fs::read_to_string(gsh.at("home/.tmux.conf")).expect("its configuration");
    // A question that waits for a person.
    let state = gsh.at("home/.local/state/gsh");
    let mut asking = gsh.detached(["-c", "gsh-test-no-such-program --in-tmux"]).spawn().expect("it starts");
    let begun = std::time::Instant::now();
    let kept = || std::fs::read_dir(state.join("pending")).map_or(0, Iterator::count);
    while kept() == 0 {
        assert!(begun.elapsed() < crate::common::machine::PATIENCE, "no question is kept");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let _ended = asking.wait();
    // gsh is on no PATH of this tmux.
    let mut server = Server::start(gsh, &configuration);
    server.screen.type_keys("\u{2}G");
    server.screen.wait_for("gsh-test-no-such-program --in-tmux");
    server.screen.type_keys("q");
    // The popup takes keys until it is gone.
    let begun = std::time::Instant::now();
    while server.screen.text().matches("pane>").count() < 2 {
        assert!(begun.elapsed() < crate::common::machine::PATIENCE, "{}", server.screen.text());
        server.screen.type_keys("\r");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    server.screen.type_keys("echo back | tr a-z A-Z\r");
    server.screen.wait_for("BACK");
    server.screen.type_keys("exit\r");
}

#[test]
fn a_pane_is_a_persons_only_after_they_said_so() {
    if !Path::new(TMUX).exists() || !Path::new("/bin/bash").exists() {
        eprintln!("SKIPPED: no {TMUX} on this machine");
        return;
    }
    for (vouched, expected) in [("", "nobody can be asked"), ("[ask]\nterminals = [\"tmux\"]\n", "gsh asks")]
    {
        let gsh = Gsh::new(GSH).config(vouched);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("shell-integration/gsh.bash");
        let rc = format!("PS1='P> '\nsource {} {GSH}\n", script.display());
        std::fs::write(gsh.at("home/.bashrc"), rc).expect("what it reads first");
        let mut server = Server::start(gsh, "set -g status off\n");
        server.screen.type_keys("exec bash --noprofile -i\r");
        server.screen.wait_for("P>");
        server.screen.type_keys("gsh-test-no-such-program\r");
        server.screen.wait_for(expected);
    }
}
