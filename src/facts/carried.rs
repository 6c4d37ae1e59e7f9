//! Commands that stand among the words of a program that is not explained: one that runs its words, or a shell's
//! text in one of them.
//!
//! Where a program is known to run such words, a danger in them is one. Of an unknown program it is a guess.

use super::arg::Arg;
use super::gather::Gatherer;
use super::programs;
use super::state::State;
use crate::report::Span;

/// The most words of one command that are tried as the beginning of another.
const TRIED: usize = 8;

/// Programs that run some of their words as a command.
const RUNNERS: &[&str] = &[
    "arch",
    "aws-vault",
    "bpftrace",
    "bubblewrap",
    "bundle",
    "bwrap",
    "caffeinate",
    "capsh",
    "chamber",
    "chpst",
    "conda",
    "cpulimit",
    "daemonize",
    "dbus-launch",
    "devbox",
    "direnv",
    "distrobox",
    "doppler",
    "dotenv",
    "dumb-init",
    "eatmydata",
    "envdir",
    "fakechroot",
    "fakeroot",
    "faketime",
    "firejail",
    "flatpak-spawn",
    "foreman",
    "gdb",
    "gnome-terminal",
    "gosu",
    "guix",
    "hatch",
    "heaptrack",
    "heroku",
    "infisical",
    "konsole",
    "kitty",
    "ld-linux-x86-64.so.2",
    "ld.so",
    "ltrace",
    "mamba",
    "micromamba",
    "mise",
    "nix",
    "nix-shell",
    "nodemon",
    "npm",
    "op",
    "pdm",
    "perf",
    "pipenv",
    "pixi",
    "pnpm",
    "poetry",
    "proot",
    "proxychains",
    "proxychains4",
    "reptyr",
    "rr",
    "rye",
    "sandbox-exec",
    "screen",
    "sem",
    "setpriv",
    "setuidgid",
    "sg",
    "softlimit",
    "start-stop-daemon",
    "strace",
    "su-exec",
    "systemd-cat",
    "systemd-inhibit",
    "tini",
    "tmux",
    "torify",
    "torsocks",
    "tsp",
    "uftrace",
    "uv",
    "valgrind",
    "varlock",
    "watchexec",
    "xterm",
    "x-terminal-emulator",
    "yarn",
    "wsl",
    "wsl.exe",
    "zellij",
    "asdf",
    "alacritty",
    "at-spi2",
    "run-one",
    "chronic",
    "errno",
    "ifne",
    "pee",
    "xdotool",
    "cgexec",
    "runcon",
    "newrole",
    "busybox",
];

/// Programs that hand a word to a shell.
const SHELL_WORDS: &[&str] = &[
    "capsh",
    "daemonize",
    "entr",
    "expect",
    "gdb",
    "hyperfine",
    "ifne",
    "lftp",
    "mc",
    "nc",
    "ncat",
    "nix-shell",
    "nodemon",
    "pee",
    "screen",
    "sem",
    "sg",
    "socat",
    "sqlite3",
    "start-stop-daemon",
    "tmux",
    "tsp",
    "watchexec",
    "xterm",
    "zellij",
    "kitty",
    "konsole",
    "gnome-terminal",
    "alacritty",
    "psql",
    "mysql",
    "ftp",
    "concurrently",
];

/// Builtins that evaluate a word, or a name's subscript, once more.
const EVALUATORS: &[&str] = &[
    "[",
    "compgen",
    "complete",
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "test",
    "typeset",
    "unset",
    "wait",
];

/// Options whose value a shell runs, by program.
const SHELL_OPTIONS: &[(&str, &[&str])] = &[
    (
        "git",
        &["-x", "--exec", "--extcmd", "-O", "--open-files-in-pager", "--upload-pack", "--receive-pack", "-c"],
    ),
    ("compgen", &["-C"]),
    ("complete", &["-C"]),
    ("less", &["+"]),
    ("mapfile", &["-C"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("more", &["+"]),
    ("npm", &["-c", "--call"]),
    ("npx", &["-c", "--call"]),
    ("readarray", &["-C"]),
    ("rg", &["--pre"]),
    ("scp", &["-S", "-o"]),
    ("sftp", &["-S", "-o"]),
    ("split", &["--filter"]),
    ("ssh", &["-o"]),
    ("sort", &["--compress-program"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Git settings whose value git runs: how their keys end.
const GIT_PROGRAMS: &[&str] = &[
    "pager",
    "editor",
    "sshcommand",
    "command",
    "cmd",
    "textconv",
    "clean",
    "smudge",
    "process",
    "driver",
    "fsmonitor",
    "helper",
    "program",
    "external",
    "askpass",
];

/// Programs whose words may be a danger: those that the floor is about, and those that run others.
const DANGEROUS: &[&str] = &[
    "rm",
    "dd",
    "shred",
    "wipefs",
    "blkdiscard",
    "chmod",
    "chown",
    "chgrp",
    "mv",
    "find",
    "tee",
    "truncate",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "init",
    "systemctl",
    "kill",
    "pkill",
    "killall",
    "git",
    "sh",
    "bash",
    "dash",
    "sudo",
    "su",
    "doas",
    "cp",
    "rsync",
    "userdel",
    "gsh",
    "gsh-canary-deny",
    "env",
    "xargs",
    "timeout",
    "busybox",
    "fdisk",
    "sfdisk",
    "mkswap",
];

impl Gatherer<'_> {
    /// Looks at commands among the words.
    pub(super) fn carried(&mut self, state: &State, name: &str, words: &[Arg]) {
        let known = programs::is_known(name);
        let runner = RUNNERS.contains(&name);
        if !known || runner {
            self.tails(words, known);
        }
        if runner || !known {
            self.carried_words(state, words, runner);
        }
        let span = words.first().map_or_else(Span::default, |word| word.span);
        let mut texts: Vec<&str> = Vec::new();
        if SHELL_WORDS.contains(&name) {
            texts.extend(words.iter().skip(1).filter_map(Arg::text).filter(|text| text.contains(' ')));
        }
        if let Some((_, options)) = SHELL_OPTIONS.iter().find(|(program, _)| *program == name) {
            texts.extend(values(words, options));
        }
        if EVALUATORS.contains(&name) {
            let substitutes = |text: &&str| text.contains("$(") || text.contains('`');
            texts.extend(words.iter().skip(1).filter_map(Arg::text).filter(substitutes));
        }
        for text in texts.into_iter().take(TRIED).filter_map(|text| shell_text(name, text)) {
            self.glance(state, &Arg::literal(text, span));
        }
    }

    fn carried_words(&mut self, state: &State, words: &[Arg], runner: bool) {
        let starts = words.iter().enumerate().skip(1).filter(|(_, word)| {
            let name = word.text().map(super::path::name);
            name.is_some_and(|name| {
                DANGEROUS.contains(&name)
                    || name.starts_with("mkfs")
                    || runner && super::code::Tongue::of(name).is_some()
            })
        });
        let starts: Vec<usize> = starts.map(|(at, _)| at).take(TRIED).collect();
        for at in starts {
            let argv = words.get(at..).unwrap_or_default().to_vec();
            if runner {
                self.glance_at_words(state, argv);
            } else {
                self.guess(state, argv);
            }
        }
    }
}

/// The values of these options, attached or not.
fn values<'a>(words: &'a [Arg], options: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut texts = words.iter().skip(1).filter_map(Arg::text).peekable();
    while let Some(text) = texts.next() {
        for option in options {
            match text.strip_prefix(option) {
                Some("") => found.extend(texts.peek().copied()),
                Some(rest) if option.starts_with("--") => found.extend(rest.strip_prefix('=')),
                Some(rest) => found.push(rest),
                None => {}
            }
        }
    }
    found
}

/// The shell's text in such a word.
fn shell_text<'a>(name: &str, text: &'a str) -> Option<&'a str> {
    match name {
        // `-c KEY=VALUE`; aliases are followed elsewhere.
        "git" if text.split_once('=').is_some_and(|(key, _)| key.contains('.') && !key.contains(' ')) => {
            let (key, value) = text.split_once('=')?;
            let key = key.to_ascii_lowercase();
            GIT_PROGRAMS.iter().any(|end| key.ends_with(end)).then_some(value.trim_start_matches('!'))
        }
        "less" | "more" => text.split_once('!').map(|(_, command)| command),
        "ssh" | "scp" | "sftp" => {
            let (key, command) = text.split_once(['=', ' '])?;
            key.to_ascii_lowercase().ends_with("command").then_some(command)
        }
        "socat" => text.split_once(':').map(|(_, command)| command),
        "gdb" => ["shell ", "!", "pipe "].iter().find_map(|word| text.strip_prefix(word)),
        "expect" => text.split_once("spawn ").map(|(_, command)| command),
        "sqlite3" => [".shell ", ".system "].iter().find_map(|word| text.strip_prefix(word)),
        "psql" | "mysql" | "lftp" | "ftp" | "mc" => {
            let text = text.trim_start();
            ["\\!", "!", "system "].iter().find_map(|word| text.strip_prefix(word))
        }
        _ => Some(text),
    }
}
