//! What Claude Code's snapshot of the user's shell defines, read line by line.
//!
//! The file is the agent's own, so its lines are what a start-up file of the user would be: the functions and
//! aliases in it change what a command means, and are given to the analysis with each command that names them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::str::Lines;

use super::scan::Scan;
use crate::facts::base64;

/// Options of bash that change nothing in how a command that is not typed is read and expanded, or that the
/// envelope itself sets.
const HARMLESS: [&str; 44] = [
    "assoc_expand_once",
    "autocd",
    "braceexpand",
    "cdspell",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "emacs",
    "errexit",
    "expand_aliases",
    "extglob",
    "extquote",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "gnu_errfmt",
    "hashall",
    "histappend",
    "histreedit",
    "histverify",
    "history",
    "hostcomplete",
    "huponexit",
    "interactive-comments",
    "interactive_comments",
    "lithist",
    "login_shell",
    "mailwarn",
    "monitor",
    "no_empty_cmd_completion",
    "nolog",
    "notify",
    "nounset",
    "patsub_replacement",
    "pipefail",
    "progcomp",
    "promptvars",
    "shift_verbose",
    "sourcepath",
    "vi",
];

/// The agent's own functions, with the programs they stand for: they run the agent as a search program.
const OWN: [(&str, &str); 3] = [("find", "bfs"), ("grep", "ugrep"), ("rg", "rg")];

/// Names that the envelope, or the agent's own functions, call themselves.
const CALLED: [&str; 14] = [
    ".", "[", "builtin", "command", "eval", "exec", "export", "local", "pwd", "return", "shopt", "source",
    "true", "unset",
];

/// The variable that names the agent to those functions, and their own.
const NAMED_BY: [&str; 2] = ["CLAUDE_CODE_EXECPATH", "_cc_bin"];

/// What a snapshot defines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Definitions {
    /// Functions by name, as text that defines them.
    functions: BTreeMap<String, String>,
    /// The agent's own, which stand for the program of their name.
    own: BTreeMap<String, String>,
    aliases: BTreeMap<String, String>,
    /// The `PATH` it sets.
    pub(super) path: Option<String>,
    /// An option is set that changes how a command is read.
    pub(super) odd: bool,
    /// Extended patterns are on, unless the envelope switches them off again.
    pub(super) extended: bool,
}

impl Definitions {
    /// From a snapshot; None where a line is of no kind that is known.
    pub(super) fn of(content: &str) -> Option<Self> {
        let mut found = Self::default();
        let mut lines = content.lines();
        while let Some(line) = lines.next() {
            found.line(line, &mut lines)?;
        }
        Some(found)
    }

    fn line(&mut self, whole: &str, lines: &mut Lines<'_>) -> Option<()> {
        let line = whole.trim();
        if line.is_empty() || line.starts_with('#') || is_frame(line) {
            return Some(());
        }
        let mut scan = Scan::new(line);
        if scan.takes("unalias ") {
            let name = scan.word()?;
            scan.literal(" 2>/dev/null || true")?;
            self.aliases.remove(&name);
        } else if scan.takes("eval \"$(echo ") {
            let text = base64(&scan.quoted().or_else(|| scan.word())?)?;
            scan.literal(" | base64 -d)\"")?;
            scan.any_of(&[" > /dev/null 2>&1", " >/dev/null 2>&1"])?;
            return self.function(&text).filter(|()| scan.end().is_some());
        } else if scan.takes("function ") {
            let text = body(whole, lines)?;
            return self.function(&text);
        } else if let Some(option) = option(&mut scan) {
            self.option(option?)?;
        } else if scan.takes("alias ") {
            scan.takes("-- ");
            let name = scan.run(|c| c.is_ascii_alphanumeric() || "_.+-:@".contains(c))?.to_owned();
            scan.literal("=")?;
            let value = scan.word()?;
            // The agent's own search program, given where the user has none.
            if !(name == "rg" && value.starts_with('/') && is_search(&value)) {
                self.aliases.insert(name, value);
            }
        } else {
            scan.literal("export PATH=")?;
            self.path = Some(scan.word()?);
        }
        scan.end()
    }

    fn option(&mut self, (on, name): (bool, &str)) -> Option<()> {
        let name_is_plain =
            name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-0123456789".contains(&byte));
        self.odd |= on && !HARMLESS.contains(&name);
        if name == "extglob" {
            self.extended = on;
        }
        self.odd |= !on && matches!(name, "braceexpand");
        name_is_plain.then_some(())
    }

    /// A text that defines one function: `NAME () { … }` or `function NAME { … }`, its last line `}`.
    fn function(&mut self, text: &str) -> Option<()> {
        let text = text.trim_end();
        let mut scan = Scan::new(text);
        scan.takes("function ");
        let name = scan.run(|c| !c.is_whitespace() && !"(){};|&<>$`'\"\\".contains(c))?.to_owned();
        let _ = scan.run(|c| c == ' ');
        scan.takes("()");
        let _ = scan.run(char::is_whitespace);
        scan.literal("{")?;
        let inner = scan.rest().strip_suffix('}')?;
        if CALLED.contains(&name.as_str()) {
            return None;
        }
        // Its end is the first line that could be one.
        let mut lines = inner.lines().skip(1);
        if lines.any(|line| line.starts_with('}')) || !inner.trim_end_matches([' ', '\t']).ends_with('\n') {
            return None;
        }
        let stands_for = OWN.iter().find(|(own, _)| *own == name);
        let map = match stands_for {
            Some((_, program)) if inner.lines().all(|line| is_own_line(line.trim(), &name, program)) => {
                &mut self.own
            }
            _ => &mut self.functions,
        };
        map.insert(name, text.to_owned());
        Some(())
    }

    /// The envelope takes this name away again.
    pub(super) fn forget(&mut self, name: &str) {
        self.functions.remove(name);
        self.own.remove(name);
        self.aliases.remove(name);
    }

    /// The definitions that a command may come to use, as text. An alias is a function here: the analysis then
    /// follows it wherever the name is a command.
    pub(super) fn prelude(&self, command: &str) -> String {
        let (mut text, mut done) = (String::new(), BTreeSet::new());
        let mut waiting: Vec<String> = names(command).map(str::to_owned).collect();
        let steered = NAMED_BY.iter().any(|name| command.contains(name));
        while let Some(name) = waiting.pop() {
            if !done.insert(name.clone()) {
                continue;
            }
            let own = self.own.get(&name).filter(|_| steered);
            if let Some(function) = self.functions.get(&name).or(own) {
                waiting.extend(names(function).map(str::to_owned));
                let _ = writeln!(text, "{function}");
            }
            // bash looks for an alias first.
            if let Some(value) = self.aliases.get(&name).filter(|_| is_plain(&name)) {
                waiting.extend(names(value).map(str::to_owned));
                let again = value.split_whitespace().next() == Some(name.as_str());
                let head = if again && !self.functions.contains_key(&name) { "command " } else { "" };
                let _ = writeln!(text, "{name} () {{\n{head}{value} \"$@\"\n}}");
            }
        }
        text
    }
}

/// `shopt -s NAME` and its kin: whether it is switched on, and its name.
fn option<'a>(scan: &mut Scan<'a>) -> Option<Option<(bool, &'a str)>> {
    let on = scan.any_of(&["shopt -s ", "set -o "]).is_some();
    if !on {
        scan.any_of(&["shopt -u ", "set +o "])?;
    }
    Some(scan.run(|c| !c.is_whitespace()).map(|name| (on, name)))
}

/// The lines around what is only defined where the user has no such program.
fn is_frame(line: &str) -> bool {
    const FRAMES: [&str; 3] = ["unalias -a 2>/dev/null || true", "shopt -s expand_aliases", "fi"];
    FRAMES.contains(&line) || is_look(line)
}

/// Whether a line only looks whether that program is there, with whatever of these the version looks.
fn is_look(line: &str) -> bool {
    const LOOKS: [&str; 5] = [
        "(unalias rg 2>/dev/null; command -v rg) >/dev/null 2>&1",
        "command -v rg >/dev/null 2>&1",
        "command -v rg > /dev/null 2>&1",
        "hash rg 2>/dev/null",
        "typeset -f rg >/dev/null 2>&1",
    ];
    let looks = line.strip_prefix("if ! ").and_then(|rest| rest.strip_suffix("; then"));
    looks.is_some_and(|looks| looks.split(" && ! ").all(|look| LOOKS.contains(&look)))
}

/// A function's text, up to the line that ends it: as far in as its head, or not at all.
fn body(head: &str, lines: &mut Lines<'_>) -> Option<String> {
    let indent = head.len() - head.trim_start().len();
    let blank = head.get(..indent)?;
    let mut text = head.trim_start().to_owned();
    for line in lines {
        text.push('\n');
        text.push_str(line);
        let line = line.trim_end();
        if line == "}" || line.strip_prefix(blank) == Some("}") {
            return Some(text);
        }
    }
    None
}

/// All arguments, in the two ways it writes them.
const ALL: [&str; 2] = ["\"$@\"", "${1+\"$@\"}"];

/// Whether a line of an own function does nothing but find the agent's program and run it as this one.
fn is_own_line(line: &str, name: &str, program: &str) -> bool {
    const FIXED: [&str; 12] = [
        "",
        "local _cc_bin=\"${CLAUDE_CODE_EXECPATH:-}\"",
        "[[ -x $_cc_bin ]] || _cc_bin=$(command -v claude 2>/dev/null)",
        "if [[ -n $ZSH_VERSION ]]; then",
        "if [[ -n ${ZSH_VERSION:-} ]]; then",
        "elif [[ \"$OSTYPE\" == \"msys\" ]] || [[ \"$OSTYPE\" == \"cygwin\" ]] || [[ \"$OSTYPE\" == \"win32\" ]]; then",
        "elif [[ $BASHPID != $$ ]]; then",
        "else",
        "fi",
        "local _cc_a",
        "for _cc_a in ${1+\"$@\"}; do",
        "done",
    ];
    FIXED.contains(&line)
        || passes_on(line, name).is_some()
        || finds(line).is_some()
        || runs(line, program).is_some()
}

/// Where the agent's program is not there, or could not do it, the real one is run: `else command NAME ARGUMENTS; fi`.
fn passes_on(line: &str, name: &str) -> Option<()> {
    let mut scan = Scan::new(line);
    let end = if scan.takes("if [[ ! -x $_cc_bin ]]; then ") {
        "; return; fi"
    } else if scan.takes("case \"$_cc_a\" in ") {
        scan.run(|c| c.is_ascii_alphanumeric() || "-*?|[]!@".contains(c))?;
        scan.literal(") ")?;
        "; return ;; esac"
    } else {
        scan.literal("else ")?;
        "; fi"
    };
    scan.literal("command ")?;
    scan.literal(name)?;
    scan.literal(" ")?;
    scan.any_of(&ALL)?;
    scan.literal(end)?;
    scan.end()
}

fn finds(line: &str) -> Option<()> {
    let mut scan = Scan::new(line);
    let end = if scan.takes("[[ -x $_cc_bin ]] || _cc_bin=") { "" } else { " ]]; then" };
    if !end.is_empty() {
        scan.any_of(&["if [[ -x ", "elif [[ -x "])?;
    }
    scan.word()?.starts_with('/').then_some(())?;
    scan.literal(end)?;
    scan.end()
}

fn runs(line: &str, program: &str) -> Option<()> {
    let inner = line.strip_prefix('(').map_or(Some(line), |rest| rest.strip_suffix(')'))?;
    let mut scan = Scan::new(inner);
    scan.any_of(&["exec -a ", "ARGV0="])?;
    scan.literal(program)?;
    scan.literal(" ")?;
    if !scan.takes("\"$_cc_bin\"") {
        scan.word()?.starts_with('/').then_some(())?;
    }
    loop {
        scan.literal(" ")?;
        if scan.any_of(&ALL).is_some() {
            break;
        }
        is_search_option(&scan.word()?).then_some(())?;
    }
    scan.end()
}

/// Options that only choose what is searched.
fn is_search_option(word: &str) -> bool {
    const KNOWN: [&str; 10] = [
        "-S",
        "dfs",
        "bfs",
        "-regextype",
        "findutils-default",
        "-G",
        "-I",
        "--hidden",
        "--ignore-files",
        "--encoding=UTF-8",
    ];
    KNOWN.contains(&word) || word.starts_with("--exclude-dir=")
}

/// Whether an alias leads to a program of this name that is no word more than that and an option.
fn is_search(value: &str) -> bool {
    let mut words = value.split(' ');
    let program = words.next().and_then(|path| path.rsplit('/').next());
    matches!(program, Some("rg" | "claude")) && words.all(|word| word == "--ripgrep")
}

/// The names in a text that could be commands.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "_.+-:@".contains(c))).filter(|name| !name.is_empty())
}

/// Whether a function can be given this name.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests;
