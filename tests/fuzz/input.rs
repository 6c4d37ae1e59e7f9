//! What a fuzzer's bytes stand for: a text, and after its last NUL what is different on the machine.
//!
//! The machine is the one of the case files. Each line after the NUL changes one thing of it (see
//! [`Input::change`]); a line that says nothing known is passed over, so that all bytes are an input, and
//! a text without a NUL is one as it stands.

use std::path::{Path, PathBuf};

use gsh::host::table::TableHost;
use gsh::host::{Node, Program};
use gsh::request::Request;

use super::fixture;

/// The most lines about the machine that count.
const CHANGES: usize = 64;

/// A text and the machine it is judged on.
#[derive(Debug)]
pub(crate) struct Input {
    /// What is asked.
    pub(crate) request: Request,
    /// Where.
    pub(crate) host: TableHost,
}

impl Input {
    /// Any bytes are one.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let (text, machine) = match bytes.iter().rposition(|byte| *byte == 0) {
            Some(at) => (&bytes[..at], String::from_utf8_lossy(&bytes[at + 1..])),
            None => (bytes, "".into()),
        };
        let request = Request { text: text.to_vec(), ..fixture::request("") };
        let mut input = Self { request, host: fixture::host() };
        for line in machine.lines().take(CHANGES) {
            input.change(line);
        }
        input
    }

    fn change(&mut self, line: &str) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (one, two) = rest.split_once(' ').unwrap_or((rest, ""));
        let host = &mut self.host;
        match what {
            "file" => add(host, one, Node::File),
            "dir" => add(host, one, Node::Directory),
            "device" => add(host, one, Node::BlockDevice),
            "odd" => add(host, one, Node::Unknown),
            "gone" => drop(host.nodes.remove(Path::new(one))),
            "link" if one.starts_with('/') => {
                host.links.insert(PathBuf::from(one), PathBuf::from(two));
            }
            "var" => drop(host.vars.insert(one.to_owned(), two.to_owned())),
            "unset" => drop(host.vars.remove(one)),
            "program" | "stray" => {
                let program = Program { path: PathBuf::from(two), trusted: what == "program" };
                host.programs.insert(one.to_owned(), program);
            }
            "absent" => drop(host.programs.remove(one)),
            "git" => {
                let setting = (one.to_lowercase(), two.to_owned());
                host.git.get_or_insert_default().settings.push(setting);
            }
            "head" => {
                host.git.get_or_insert_default().head = Some(one.to_owned()).filter(|it| !it.is_empty())
            }
            "hook" => host.git.get_or_insert_default().hooks.push(one.to_owned()),
            "no-git" => host.git = None,
            "no-project" => host.project = None,
            "ours" => drop(host.ours.insert(PathBuf::from(one))),
            "cwd" if one.starts_with('/') => self.request.cwd = PathBuf::from(one),
            "arg" => self.request.args.push(rest.to_owned()),
            "posix" => self.request.options.posix = true,
            "interactive" => self.request.options.interactive = true,
            "xtrace" => self.request.options.xtrace = true,
            "shopt" => self.request.options.shopt = true,
            _ => {}
        }
    }
}

fn add(host: &mut TableHost, path: &str, node: Node) {
    if path.starts_with('/') {
        host.add(Path::new(path), node);
    }
}
