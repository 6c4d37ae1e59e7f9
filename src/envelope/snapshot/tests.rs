use super::*;

#[test]
fn lines_are_known_or_the_whole_is_not() {
    let known = [
        "# Snapshot file\n\nunalias -a 2>/dev/null || true\n",
        "shopt -s checkwinsize\nset -o braceexpand\nset +o posix\n",
        "alias -- ll='ls -l'\nalias gs='git status'\nunalias ll 2>/dev/null || true\n",
        "export PATH=/usr/bin:/bin\n",
        "export PATH='/a b:/bin'\n",
        "function f {\n  x\n}\n",
        "if ! command -v rg >/dev/null 2>&1; then\n  function rg {\n    x\n  }\nfi\n",
        "if ! hash rg 2>/dev/null && ! typeset -f rg >/dev/null 2>&1; then\n  function rg {\n  x\n}\nfi\n",
        // f () { x; }, as declare -f prints it.
        "eval \"$(echo 'ZiAoKSAKeyAKICAgIHgKfQo=' | base64 -d)\" > /dev/null 2>&1\n",
    ];
    for text in known {
        assert!(Definitions::of(text).is_some(), "{text}");
    }
    let unknown = [
        "x\n",
        "export OTHER=1\n",
        "export PATH=$HOME/bin\n",
        "alias -- ll='ls -l'; x\n",
        "alias -- ll='ls -l'\"$(x)\"\n",
        "shopt -s x; y\n",
        "set -o $x\n",
        "unalias -a 2>/dev/null || true; x\n",
        "function f { x; }\nx\n",
        "function f {\n  x\n}; x\n",
        "function f {\n  x\n",
        "function exec {\n  x\n}\n",
        "if x; then\nfi\n",
        "if ! hash rg 2>/dev/null && ! x; then\nfi\n",
        "  function rg {\n  x\n}\n}\n",
        "eval \"$(echo 'eA==' | base64 -d)\" > /dev/null 2>&1\n",
        "eval \"$(echo 'ZiAoKSAKeyAKICAgIHgKfQo=' | base64 -d)\" > /dev/null 2>&1; x\n",
        "eval \"$(x)\" > /dev/null 2>&1\n",
        ". /tmp/x\n",
    ];
    for text in unknown {
        assert_eq!(Definitions::of(text), None, "{text}");
    }
}

#[test]
fn the_agents_own_functions_are_told_from_others_of_their_name() {
    let function = |line: &str| {
        format!("function grep {{\n  local _cc_bin=\"${{CLAUDE_CODE_EXECPATH:-}}\"\n  {line}\n}}\n")
    };
    let is_own = |line: &str| {
        let found = Definitions::of(&function(line));
        found.map(|found| found.own.contains_key("grep"))
    };
    for line in [
        "exec -a ugrep \"$_cc_bin\" -G --hidden \"$@\"",
        "(exec -a ugrep \"$_cc_bin\" \"$@\")",
        "ARGV0=ugrep /opt/claude -I --exclude-dir=.git \"$@\"",
        "[[ -x $_cc_bin ]] || _cc_bin=/opt/claude",
        "if [[ -x /opt/claude ]]; then",
        "elif [[ -x '/opt/a b/claude' ]]; then",
        "(exec -a ugrep /opt/claude -G --encoding=UTF-8 ${1+\"$@\"})",
        "case \"$_cc_a\" in -*-filter*|-[Zz]*|-[!-]*|--null) command grep ${1+\"$@\"}; return ;; esac",
        "else command grep ${1+\"$@\"}; fi",
        "if [[ ! -x $_cc_bin ]]; then command grep \"$@\"; return; fi",
    ] {
        assert_eq!(is_own(line), Some(true), "{line}");
    }
    for line in [
        "exec -a ugrep \"$_cc_bin\" --pager=x \"$@\"",
        "exec -a bfs \"$_cc_bin\" \"$@\"",
        "exec -a ugrep x \"$@\"",
        "exec -a ugrep \"$_cc_bin\" \"$@\"; x",
        "ARGV0=ugrep /opt/claude $(x) \"$@\"",
        "[[ -x $_cc_bin ]] || _cc_bin=/opt/claude; x",
        "if [[ ! -x $_cc_bin ]]; then x; fi",
        "if [[ -x /opt/claude ]] || x; then",
        "else command find ${1+\"$@\"}; fi",
        "else command grep ${1+\"$@\"}; x; fi",
        "case \"$_cc_a\" in -$(x)) command grep ${1+\"$@\"}; return ;; esac",
        "case \"$_cc_a\" in -*) x; return ;; esac",
        "x \"$@\"",
    ] {
        assert_eq!(is_own(line), Some(false), "{line}");
    }
}

#[test]
fn a_command_gets_what_it_names_and_what_that_names() {
    let text = "function a {\n  b 1\n}\nfunction b {\n  x\n}\nfunction c {\n  y\n}\nalias -- l='ls -l'\nalias -- ls='ls -F'\n";
    let known = Definitions::of(text).expect("known");
    assert_eq!(known.prelude("echo hello"), "");
    assert_eq!(known.prelude("c"), "function c {\n  y\n}\n");
    assert_eq!(known.prelude("echo; a 2"), "function a {\n  b 1\n}\nfunction b {\n  x\n}\n");
    let listed = known.prelude("l src");
    assert!(
        listed.contains("l () {\nls -l \"$@\"\n}\n") && listed.contains("ls () {\ncommand ls -F \"$@\"\n}\n"),
        "{listed}"
    );
}
