//! What a model asks for, and what it must hear. Only harmless commands, and the word that the floor refuses.

use super::table::Door;

/// One command.
pub(crate) struct Case {
    /// Its name.
    pub(crate) name: &'static str,
    /// What the model asks for.
    pub(crate) command: &'static str,
    /// What the tool's answer has.
    pub(crate) shows: &'static [&'static str],
    /// What it must not have.
    pub(crate) hides: &'static [&'static str],
    /// When a person has to say yes.
    pub(crate) asks: Asks,
    /// It leaves a job behind.
    pub(crate) job: bool,
    /// It is none of gsh's business where gsh is not the shell.
    pub(crate) of_shell: bool,
}

/// When a person says yes from another terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Nobody is asked.
    Never,
    /// While the command waits.
    Waiting,
    /// After it was refused, since nobody was there; then the model asks for it once more.
    Later,
}

const PLAIN: Case = Case {
    name: "allowed",
    command: "printf 'seen-%s\\n' allowed",
    shows: &["seen-allowed"],
    hides: &[],
    asks: Asks::Never,
    job: false,
    of_shell: false,
};

/// The script in the project that is asked about, since no table knows it.
pub(crate) const GREET: &str = "#!/bin/sh\nprintf 'hello-%s\\n' person\n";

/// gsh's configuration: questions wait, what is left running is not asked about, and nothing takes long.
pub(crate) fn config(driver: &str, case: Option<&Case>) -> String {
    let wait = case.filter(|case| case.asks == Asks::Later).map_or("", |_| "wait = 2\n");
    format!(
        "on_ask_without_terminal = 'queue'\n[permissions]\n'process.background' = 'allow'\n[run]\ntimeout = '5s'\n\
         [ask]\nterminals = [{driver:?}]\n{wait}"
    )
}

const CASES: [Case; 6] = [
    PLAIN,
    Case {
        name: "refused",
        command: "printf 'seen-%s\\n' before; gsh-canary-deny x",
        shows: &["gsh: ", "canary"],
        hides: &["seen-before"],
        ..PLAIN
    },
    Case { name: "asked", command: "./greet", shows: &["hello-person"], asks: Asks::Waiting, ..PLAIN },
    Case { name: "later", command: "./greet", shows: &["hello-person"], asks: Asks::Later, ..PLAIN },
    Case {
        name: "background",
        command: "tail -f /dev/null & printf 'begun-%s\\n' now",
        shows: &["begun-now"],
        job: true,
        // Without gsh as the shell what is left running is the agent's own affair; Gemini waits for it.
        of_shell: true,
        ..PLAIN
    },
    Case {
        name: "long",
        command: "printf 'first-%s\\n' part; tail -f /dev/null; printf 'last-%s\\n' part",
        shows: &["first-part", "still running as job"],
        hides: &["last-part"],
        job: true,
        of_shell: true,
        ..PLAIN
    },
];

/// The cases of a door.
pub(crate) fn of(door: Door) -> impl Iterator<Item = &'static Case> {
    const { &CASES }.iter().filter(move |case| !case.of_shell || door != Door::Hook)
}

/// The names of all.
pub(crate) fn names() -> [&'static str; CASES.len()] {
    const { &CASES }.each_ref().map(|case| case.name)
}

/// Whether a command of a record is one that a model asked for. Copilot writes the one word of a script out.
pub(crate) fn is_one(command: &str) -> bool {
    let written_out = |case: &Case| case.asks != Asks::Never && is_script(command);
    const { &CASES }.iter().any(|case| case.command == command || written_out(case))
}

fn is_script(command: &str) -> bool {
    let path = command.strip_prefix("command '").and_then(|rest| rest.strip_suffix("/project/greet'"));
    path.is_some_and(|path| !path.contains('\''))
}
