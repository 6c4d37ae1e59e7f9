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
    /// A person has to say yes.
    pub(crate) asks: bool,
    /// It leaves a job behind.
    pub(crate) job: bool,
    /// It is none of gsh's business where gsh is not the shell.
    pub(crate) of_shell: bool,
}

const PLAIN: Case = Case {
    name: "allowed",
    command: "printf 'seen-%s\\n' allowed",
    shows: &["seen-allowed"],
    hides: &[],
    asks: false,
    job: false,
    of_shell: false,
};

/// The script in the project that is asked about, since no table knows it.
pub(crate) const GREET: &str = "#!/bin/sh\nprintf 'hello-%s\\n' person\n";

/// gsh's configuration: questions wait, what is left running is not asked about, and nothing takes long.
pub(crate) const CONFIG: &str = "on_ask_without_terminal = 'queue'\n[permissions]\n'process.background' = 'allow'\n\
                                 [run]\ntimeout = '5s'\n";

const CASES: [Case; 5] = [
    PLAIN,
    Case {
        name: "refused",
        command: "printf 'seen-%s\\n' before; gsh-canary-deny x",
        shows: &["gsh: ", "canary"],
        hides: &["seen-before"],
        ..PLAIN
    },
    Case { name: "asked", command: "./greet", shows: &["hello-person"], asks: true, ..PLAIN },
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
