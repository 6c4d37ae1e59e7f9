//! The machine that case files think of, as a table: a git repository below a home.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gsh::decision::Decision;
use gsh::host::table::TableHost;
use gsh::host::{GitState, Node, Program};
use gsh::policy::Policy;
use gsh::request::{Entry, ReadingOptions, Request, Setting};

/// The project root of [`host`].
pub(crate) const PROJECT: &str = "/home/dev/proj";

/// The files of the project.
pub(crate) const FILES: &[&str] = &[
    "README.md",
    "Cargo.toml",
    "package.json",
    "src/main.rs",
    "src/lib.rs",
    "tests/t.rs",
    "docs/guide.md",
    "build/x.o",
    "a.txt",
    "b.txt",
    "file.txt",
    ".env",
    "in.txt",
    "out.txt",
    "data.csv",
    "data.json",
    "app.log",
    "list.txt",
    "a.tar",
    ".git/HEAD",
    ".git/config",
];

const SYSTEM: &[&str] = &[
    "/bin/",
    "/boot/vmlinuz",
    "/dev/null",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/os-release",
    "/etc/apt/sources.list",
    "/lib/libc.so.6",
    "/opt/",
    "/root/",
    "/sbin/",
    "/srv/",
    "/usr/bin/",
    "/usr/lib/libc.so.6",
    "/usr/sbin/",
    "/var/lib/x",
    "/var/empty/",
    "/tmp/",
    "/home/dev/notes.txt",
    "/home/dev/.ssh/id_ed25519",
    "/home/dev/.bashrc",
    "/home/dev/tmp/x/y",
    "/home/other/x",
];

/// A clean machine with that project.
pub(crate) fn host() -> TableHost {
    let mut host = TableHost::default().with_files(SYSTEM);
    for file in FILES {
        host.add(Path::new(&format!("{PROJECT}/{file}")), Node::File);
    }
    for device in ["/dev/sda", "/dev/sda1", "/dev/nvme0n1", "/dev/vda"] {
        host.add(Path::new(device), Node::BlockDevice);
    }
    for special in [
        "/dev/null",
        "/dev/zero",
        "/dev/tty",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/stdin",
        "/proc/sysrq-trigger",
    ] {
        host.add(Path::new(special), Node::Special);
    }
    for name in PROGRAMS.split_whitespace() {
        let path = PathBuf::from(format!("/usr/bin/{name}"));
        host.add(&path, Node::File);
        host.programs.insert(name.to_owned(), Program { path, trusted: true });
    }
    host.vars.insert("HOME".to_owned(), "/home/dev".to_owned());
    host.vars.insert("USER".to_owned(), "dev".to_owned());
    host.vars.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    host.users.insert("dev".to_owned(), PathBuf::from("/home/dev"));
    host.users.insert("root".to_owned(), PathBuf::from("/root"));
    host.project = Some(PathBuf::from(PROJECT));
    host.temporary = vec![PathBuf::from("/tmp")];
    host.git = Some(GitState {
        head: Some("feature".to_owned()),
        default_branch: Some("main".to_owned()),
        ..GitState::default()
    });
    host.ours =
        BTreeSet::from([PathBuf::from("/home/dev/.config/gsh"), PathBuf::from("/home/dev/.local/state/gsh")]);
    host
}

const PROGRAMS: &str = "ls cat head tail wc grep rg find sed awk sort cut tr uniq diff stat file du df which date env \
    sh bash dash git rm mv cp ln dd tee shred mkfs mkfs.ext4 chmod chown chgrp timeout nice nohup sudo xargs kill pkill \
    shutdown reboot systemctl init userdel rsync tar python3 node make cargo npm curl wget touch mkdir truncate wipefs \
    setfacl zip seq basename dirname md5sum nl tree jq xxd id uname ps";

/// A request as an agent makes it.
pub(crate) fn request(text: &str) -> Request {
    Request {
        setting: Setting::default(),
        text: text.as_bytes().to_vec(),
        cwd: PathBuf::from(PROJECT),
        name: None,
        args: Vec::new(),
        options: ReadingOptions::default(),
        entry: Entry::Check,
        tool: None,
    }
}

/// Decides a text on a machine.
pub(crate) fn decide_on(host: &TableHost, policy: &Policy, text: &str) -> Decision {
    gsh::pipeline::check(&request(text), policy, host).decision
}
