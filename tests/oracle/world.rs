//! The small machine that scripts run on, inside the cage, and its table for the decision.

use std::path::{Path, PathBuf};

use gsh::host::table::TableHost;
use gsh::host::{Node, Program};
use serde::{Deserialize, Serialize};

/// The home of the cage's only user.
pub(crate) const HOME: &str = "/home/dev";

/// Where every script starts.
pub(crate) const PROJECT: &str = "/home/dev/proj";

/// The search path inside.
pub(crate) const PATH: &str = "/usr/bin:/bin:/usr/sbin:/probe";

/// Files that every script finds, with their content, made anew whenever one was changed.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("/home/dev/proj/README.md", "# Read me\n"),
    ("/home/dev/proj/Cargo.toml", "[package]\n"),
    ("/home/dev/proj/package.json", "{}\n"),
    ("/home/dev/proj/src/main.rs", "fn main() {}\n"),
    ("/home/dev/proj/src/lib.rs", "//! x\n"),
    ("/home/dev/proj/tests/t.rs", "// t\n"),
    ("/home/dev/proj/docs/guide.md", "guide\n"),
    ("/home/dev/proj/build/x.o", "o\n"),
    ("/home/dev/proj/a.txt", "alpha\nbeta\n"),
    ("/home/dev/proj/b.txt", "beta\ngamma\n"),
    ("/home/dev/proj/file.txt", "one\ntwo\n"),
    ("/home/dev/proj/in.txt", "in\n"),
    ("/home/dev/proj/out.txt", "out\n"),
    ("/home/dev/proj/data.json", "{}\n"),
    ("/home/dev/proj/app.log", "log\n"),
    ("/home/dev/notes.txt", "notes\n"),
    ("/home/dev/tmp/x/y", "y\n"),
    ("/tmp/old", "old\n"),
];

/// Programs that only write down how they were called; those of [`REAL`] then do their work.
pub(crate) const STAND_INS: &str = "ls cat head tail wc grep egrep fgrep rg find sed awk sort cut tr uniq diff stat file du df which \
    date env sh bash dash git rm mv cp ln dd tee chmod chown chgrp timeout nice nohup stdbuf setsid ionice taskset chrt sudo doas \
    xargs parallel tar zip unzip gzip python python3 node perl ruby make cargo npm npx yarn pnpm pip curl wget ssh scp rsync \
    docker kubectl touch mkdir rmdir truncate seq basename dirname realpath readlink md5sum sha256sum cksum nl tac rev paste \
    comm join fold fmt expand column tree jq yq xxd od hexdump strings id whoami uname hostname ps top free uptime less more \
    man bat fd ag ack cmp test true false sleep yes expr printf echo pwd go rustc rustfmt rustup tsc jest pytest mypy ruff \
    black eslint prettier gh glab shellcheck openssl install mktemp shred unlink split csplit shuf base64 locale getent tput \
    nproc arch lscpu lsof strace ltrace gdb objdump nm readelf ldd gcc cc clang cmake ninja java javac mvn gradle dotnet \
    systemctl journalctl service mount umount kill pkill killall crontab at batch screen tmux watch entr flock script su \
    chroot unshare nsenter busybox canary-probe";

/// Programs whose real work matters to what else runs, and can do no harm in the cage.
pub(crate) const REAL: &str = "bash sh dash cat head tail wc grep find sed awk sort cut tr uniq diff ls date env timeout nice nohup \
    stdbuf setsid xargs seq basename dirname realpath readlink nl tac rev paste comm fold expand cmp true false expr printf \
    echo pwd tee id uname tail base64 mktemp flock test";

/// One thing of the cage's file system, as the cage reports it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Thing {
    /// A directory.
    Directory(PathBuf),
    /// A regular file.
    File(PathBuf),
    /// A link and what it holds.
    Link(PathBuf, PathBuf),
    /// Anything else.
    Special(PathBuf),
}

/// The table of that machine.
pub(crate) fn host(things: &[Thing]) -> TableHost {
    let mut host = TableHost::default();
    for thing in things {
        match thing {
            Thing::Directory(path) => host.add(path, Node::Directory),
            Thing::File(path) => {
                host.add(path, Node::File);
                if let Some(name) = path.strip_prefix("/usr/bin").ok().and_then(Path::to_str) {
                    host.programs.insert(name.to_owned(), Program { path: path.clone(), trusted: true });
                }
            }
            Thing::Link(path, to) => {
                host.links.insert(path.clone(), to.clone());
            }
            Thing::Special(path) => host.add(path, Node::Special),
        }
    }
    for (name, value) in environment() {
        host.vars.insert(name.to_owned(), value.to_owned());
    }
    host.users.insert("dev".to_owned(), PathBuf::from(HOME));
    host.users.insert("root".to_owned(), PathBuf::from("/root"));
    host.project = Some(PathBuf::from(PROJECT));
    host.temporary = vec![PathBuf::from("/tmp")];
    host
}

/// The environment that every script starts with.
pub(crate) fn environment() -> [(&'static str, &'static str); 3] {
    [("HOME", HOME), ("USER", "dev"), ("PATH", PATH)]
}
