//! Envelopes of our own making, in the grammar of the agents, and the machine that they are true on.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gsh::host::table::TableHost;
use gsh::host::{Node, OwnFile, Starter};

use crate::common::fixture;

/// The moment that everything is made at, in milliseconds since 1970.
pub(super) const MOMENT: i64 = 1_795_000_000_000;
pub(super) const SNAPSHOT: &str = "/home/dev/.claude/shell-snapshots/snapshot-bash-1795000000000-k3x9q1.sh";
pub(super) const ZSH_SNAPSHOT: &str =
    "/home/dev/.claude/shell-snapshots/snapshot-zsh-1795000000000-k3x9q1.sh";
pub(super) const CODEX_SNAPSHOT: &str =
    "/home/dev/.codex/shell_snapshots/0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000.1795000000000000000.sh";

/// The clean machine, with this agent above and the files of all of them.
pub(super) fn machine(agent: &str) -> TableHost {
    let mut host = fixture::host();
    let program = Some(PathBuf::from(format!("/opt/agents/{agent}")));
    host.starter = Some(Starter { agent: agent.to_owned(), program, started: MOMENT - 90_000 });
    hold(&mut host, SNAPSHOT, &snapshot());
    hold(&mut host, ZSH_SNAPSHOT, &snapshot());
    hold(&mut host, CODEX_SNAPSHOT, CODEX_SAYS);
    let unchecked = CODEX_SNAPSHOT.replace(".1795", ".tmp-1795").replace(".sh", "");
    hold(&mut host, &unchecked, CODEX_SAYS);
    host.add(Path::new("/tmp/gemini-shell-aB3xYz/"), Node::Directory);
    host.vars.insert("TZ".to_owned(), "UTC".to_owned());
    host
}

/// A file of the user's own.
pub(super) fn hold(host: &mut TableHost, path: &str, content: &str) {
    host.add(Path::new(path), Node::File);
    host.own_files.insert(path.into(), OwnFile { content: content.to_owned(), changed: MOMENT + 1500 });
}

/// What a snapshot of a user's shell says: options, a function and an alias of the user, and the agent's search
/// programs.
pub(super) fn snapshot() -> String {
    let greet = base64("greet () \n{ \n    echo \"hello $1\"\n}\n");
    let wipe = base64("wipe () \n{ \n    gsh-canary-deny \"$@\"\n}\n");
    let mut text = format!(
        "# Snapshot file\n# no aliases in the way\nunalias -a 2>/dev/null || true\n# Functions\n\
         eval \"$(echo '{greet}' | base64 -d)\" > /dev/null 2>&1\n\
         eval \"$(echo '{wipe}' | base64 -d)\" > /dev/null 2>&1\n\
         # Shell Options\nshopt -u autocd\nshopt -s checkwinsize\nshopt -s extglob\nset -o braceexpand\n\
         shopt -s expand_aliases\n# Aliases\nalias -- ll='ls -l'\nalias -- grep='grep --color=auto'\n\
         alias -- zap='gsh-canary-deny now'\n\
         if ! (unalias rg 2>/dev/null; command -v rg) >/dev/null 2>&1; then\n  alias rg='/opt/agents/claude --ripgrep'\nfi\n\
         unalias find 2>/dev/null || true\nunalias grep 2>/dev/null || true\n"
    );
    for (name, program, options) in
        [("find", "bfs", "-S dfs"), ("grep", "ugrep", "-G --hidden --exclude-dir=.git")]
    {
        let _ = write!(
            text,
            "function {name} {{\n  local _cc_bin=\"${{CLAUDE_CODE_EXECPATH:-}}\"\n  \
             [[ -x $_cc_bin ]] || _cc_bin=/opt/agents/claude\n  if [[ -n $ZSH_VERSION ]]; then\n    \
             ARGV0={program} \"$_cc_bin\" {options} \"$@\"\n  elif [[ $BASHPID != $$ ]]; then\n    \
             exec -a {program} \"$_cc_bin\" {options} \"$@\"\n  else\n    \
             (exec -a {program} \"$_cc_bin\" {options} \"$@\")\n  fi\n}}\n"
        );
    }
    text.push_str("export PATH='/usr/bin:/bin'\n");
    text
}

const CODEX_SAYS: &str = "# Snapshot file\nunalias -a 2>/dev/null || true\n# Functions\ngreet () \n{ \n    echo hello\n}\n\
    # setopts 1\nset -o braceexpand\n# aliases 1\nalias ll='ls -l'\n# exports 2\ndeclare -x LANG=\"C\"\n\
    declare -x PATH=\"/usr/bin:/bin\"\n";

fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = (bits >> (18 - 6 * at)) & 63;
            out.push(if at > chunk.len() { '=' } else { char::from(DIGITS[digit as usize]) });
        }
    }
    out
}

/// In single quotes, as agents quote.
pub(super) fn quoted(command: &str) -> String {
    format!("'{}'", command.replace('\'', "'\"'\"'"))
}

/// Claude Code as it is now.
pub(super) fn claude(command: &str) -> String {
    let mut text = format!(
        "source {SNAPSHOT} 2>/dev/null || true && \\builtin shopt -u extglob 2>/dev/null || true && "
    );
    for name in ["which", "unsetenv"] {
        let _ = write!(
            text,
            "{{ \\builtin unalias -- '{name}'; \\builtin unset -f -- '{name}'; }} >/dev/null 2>&1 || true && "
        );
    }
    let _ = write!(text, "eval {} < /dev/null && pwd -P >| /tmp/claude-b3ef-cwd", quoted(command));
    text
}

/// Claude Code with a zsh as its shell.
pub(super) fn claude_of_zsh(command: &str) -> String {
    format!(
        "source {ZSH_SNAPSHOT} 2>/dev/null || true && \\builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL \
         NO_MAGIC_EQUAL_SUBST NO_RC_QUOTES NO_EQUALS 2>/dev/null || true && eval {} < /dev/null && pwd -P >| \
         /tmp/claude-b3ef-cwd",
        quoted(command)
    )
}

/// Claude Code some versions ago, and in its other forms.
pub(super) fn claude_forms(command: &str) -> Vec<String> {
    let command = quoted(command);
    let off = "shopt -u extglob 2>/dev/null || true && ";
    let end = "&& pwd -P >| /tmp/claude-00a1-cwd";
    vec![
        format!("source {SNAPSHOT} 2>/dev/null || true && {off}eval {command} < /dev/null {end}"),
        format!("source {SNAPSHOT} 2>/dev/null || true && {off}eval {command} {end}"),
        format!("\\builtin {off}eval {command} < /dev/null {end}"),
        format!(
            "source {SNAPSHOT} && {{ shopt -u extglob || setopt NO_EXTENDED_GLOB; }} 2>/dev/null || true && eval \
             {command} < /dev/null {end}"
        ),
        format!(
            "source {SNAPSHOT} 2>/dev/null || true && {{ \\builtin shopt -u extglob || \\builtin setopt \
             NO_EXTENDED_GLOB NO_EQUALS; }} >/dev/null 2>&1 || true && eval {command} < /dev/null {end}"
        ),
        format!(
            "source {SNAPSHOT} 2>/dev/null || true && export TZ='UTC'\n: && \\builtin {off}\\builtin export \
             BUN_OPTIONS='--smol' && export TMPDIR=/tmp/claude && eval {command} < /dev/null {end}"
        ),
    ]
}

/// Codex, with as many variables as it has.
pub(super) fn codex(command: &str) -> String {
    let mut names: Vec<(String, String)> =
        (0..6).map(|at| (format!("CODEX_OWN_{at}"), format!("OVERRIDE{{}}_{at}"))).collect();
    names.extend(
        (0..115).map(|at| (format!("PROXY_LIKE_NAME_NUMBER_{at}"), format!("PROXY_OVERRIDE{{}}_{at}"))),
    );
    let key = |kept: &str, set: &str| format!("__CODEX_SNAPSHOT_{}", kept.replace("{}", set));
    let mut text = String::new();
    for (name, kept) in &names {
        let _ = writeln!(text, "{}=\"${{{name}+x}}\"\n{}=\"${{{name}-}}\"", key(kept, "_SET"), key(kept, ""));
    }
    text.push_str("__CODEX_SNAPSHOT_PROXY_ENV_SET=\"${PROXY_RUNS+x}\"\n");
    let _ = write!(text, "\nif . '{CODEX_SNAPSHOT}' >/dev/null 2>&1; then :; fi\n\n");
    for (at, (name, kept)) in names.iter().enumerate() {
        if at == 6 {
            text.push_str(
                "if [ -n \"$__CODEX_SNAPSHOT_PROXY_ENV_SET\" ] || [ -n \"${PROXY_RUNS+x}\" ]; then\n",
            );
        }
        let (set, value) = (key(kept, "_SET"), key(kept, ""));
        let _ = match at % 3 {
            0 => writeln!(
                text,
                "if [ -n \"${{{set}}}\" ]; then export {name}=\"${{{value}}}\"; else unset {name}; fi"
            ),
            1 => writeln!(
                text,
                "if [ -n \"${{{set}}}\" ]; then\n    export {name}=\"${{{value}}}\"\nelse\n    unset {name}\nfi"
            ),
            _ => writeln!(
                text,
                "if [ -n \"${{{set}}}\" ]; then\n  if [ -z \"${{{name}+x}}\" ] || [ \"${{{name}-}}\" != \"${{{value}}}\" ]; then \
                 export {name}=\"${{{value}}}\"; else export {name}; fi\nelse builtin unset {name} 2>/dev/null || command \
                 unset {name}; fi\nbuiltin unset {set} {value} 2>/dev/null || command unset {set} {value}"
            ),
        };
    }
    text.push_str(
        "fi\nif [ -n \"${PATH:-}\" ]; then export PATH='/home/dev/.codex/bin':\"$PATH\"; else export \
         PATH='/home/dev/.codex/bin'; fi\n\n",
    );
    let _ = write!(text, "exec '/bin/bash' -c {}", quoted(command));
    text
}

/// Gemini CLI.
pub(super) fn gemini(command: &str) -> String {
    format!(
        "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/gemini-shell-aB3xYz/bgpids.tmp\n(\n  \
         trap 'jobs -p > \"$_bgpids_file\"' EXIT\n{command}\n)\n__code=$?\nexit $__code"
    )
}

/// Gemini CLI before.
pub(super) fn gemini_older(command: &str) -> String {
    let end = if command.ends_with([';', '&']) { "" } else { ";" };
    format!("{{ {command}{end} }}; __code=$?; pgrep -g 0 >/tmp/shell_pgrep_0a1b2c.tmp 2>&1; exit $__code;")
}

/// Zed.
pub(super) fn zed(command: &str) -> String {
    format!("({command}) </dev/null")
}

/// swe-rex.
pub(super) fn swe_rex(command: &str) -> String {
    format!("{command}\necho EXITCODESTART$?EXITCODEEND")
}
