//! Commands in the envelopes of agents: judged as the commands that they are, and only there.

pub(crate) mod ends;
mod texts;

use std::path::Path;

use gsh::decision::Decision;
use gsh::envelope::{Again, Mark, Opened, Part, open};
use gsh::host::table::TableHost;
use gsh::pipeline;
use gsh::policy::Verdict;
use gsh::request::{Entry, Request};
use texts::{SNAPSHOT, hold, machine};

use crate::common::builtin_policy;
use crate::common::cases::rows;
use crate::common::fixture;

fn request(text: &str) -> Request {
    Request { entry: Entry::Command, ..fixture::request(text) }
}

fn opened(text: &str, host: &TableHost) -> Opened {
    open(request(text), &["-c"], host)
}

fn part(opened: &Opened) -> Option<Part> {
    match &opened.mark {
        Mark::Known { part, .. } => Some(*part),
        Mark::None | Mark::Unrecognised { .. } => None,
    }
}

/// As an entry decides: on the machine that the command sees.
fn decided(text: &str, host: &TableHost) -> (Opened, Decision) {
    let opened = opened(text, host);
    let mut host = host.clone();
    host.vars.extend(opened.path.clone().map(|path| ("PATH".to_owned(), path)));
    let decision = pipeline::check(&opened.request, &builtin_policy(), &host);
    (opened, decision.decision)
}

fn bare(command: &str, host: &TableHost) -> Decision {
    pipeline::check(&request(command), &builtin_policy(), host).decision
}

type Builder = fn(&str) -> String;

const AGENTS: [(&str, &str, Builder); 6] = [
    ("claude", "claude", texts::claude),
    ("codex", "codex", texts::codex),
    ("gemini", "gemini", texts::gemini),
    ("gemini, older", "gemini", texts::gemini_older),
    ("zed", "zed", texts::zed),
    ("swe-rex", "swe-agent", texts::swe_rex),
];

/// Commands of the cases, every so many of each kind.
fn commands() -> Vec<String> {
    let files = [
        include_str!("cases/readonly.txt"),
        include_str!("cases/lookalike.txt"),
        include_str!("cases/catastrophic.txt"),
        include_str!("cases/sneaky.txt"),
        include_str!("cases/raised.txt"),
        include_str!("cases/reported.txt"),
    ];
    files.iter().flat_map(|file| rows(file)).map(|row| row.command).collect()
}

#[test]
fn a_command_in_an_envelope_is_judged_as_it_is_without() {
    let commands = commands();
    assert!(commands.len() > 500);
    for (name, agent, build) in AGENTS {
        let host = machine(agent);
        let mut known = 0;
        // Every command of the two in quotes; of the others those that are whole by themselves.
        let step = if name == "claude" { 1 } else { 3 };
        for command in commands.iter().step_by(step) {
            let (opened, decision) = decided(&build(command), &host);
            if part(&opened) != Some(Part::Command) {
                assert!(decision.verdict > Verdict::Allow, "{name}: {command:?} is silent as {decision:?}");
                assert!(!matches!(agent, "claude" | "codex"), "{name} does not know {command:?}");
                continue;
            }
            known += 1;
            let text = String::from_utf8_lossy(&opened.request.text).into_owned();
            assert_eq!(text.trim_end_matches(';'), command.trim_end_matches(';'), "{name}");
            let alone = bare(&text, &host);
            let same = (decision.verdict, &decision.floor) == (alone.verdict, &alone.floor);
            assert!(
                same,
                "{name}: {command:?}: {} {}, alone {} {}",
                decision.verdict.word(),
                decision.reason,
                alone.verdict.word(),
                alone.reason
            );
        }
        assert!(known >= 200, "{name}: only {known}");
    }
}

#[test]
fn whoever_types_an_envelope_gets_it_analysed_as_it_stands() {
    let mut host = machine("claude");
    let known = host.starter.clone();
    for (name, agent, build) in AGENTS {
        for command in ["ls", "rm -rf ~", "frobnicate", "cat .env"] {
            let text = build(command);
            host.starter = None;
            let found = opened(&text, &host);
            assert_eq!((found.mark, found.request.text), (Mark::None, text.clone().into_bytes()), "{name}");
            host.starter = known.clone();
            if agent != "claude" {
                assert_eq!(part(&opened(&text, &host)), None, "{name} from another agent");
            }
            // From `gsh check` and hooks nothing is opened either.
            host.starter.clone_from(&machine(agent).starter);
            let asked = open(Request { entry: Entry::Check, ..request(&text) }, &["-c"], &host);
            assert_eq!(asked.mark, Mark::None, "{name}");
        }
    }
}

#[test]
fn every_form_of_claude_code_is_known() {
    let host = machine("claude");
    for command in ["ls src", "echo 'it'\''s' \"$HOME\"", "cat <<EOF\nx\nEOF", "a=1; echo ${a}"] {
        for text in texts::claude_forms(command) {
            let open = opened(&text, &host);
            assert_eq!(part(&open), Some(Part::Command), "{text}");
            assert_eq!(String::from_utf8_lossy(&open.request.text), command, "{text}");
        }
    }
}

/// Where gsh was given to it as a zsh.
#[test]
fn claude_code_with_a_zsh_is_known() {
    let host = machine("claude");
    for command in ["ls src", "echo 'it'\''s'", "gsh-canary-deny"] {
        let open = opened(&texts::claude_of_zsh(command), &host);
        assert_eq!(part(&open), Some(Part::Command), "{command}");
        assert_eq!(open.request.as_text(), command);
        // Nothing switches bash's own patterns off there, and the snapshot has them on.
        assert!(open.request.options.shopt, "{command}");
    }
    let mut plain = machine("claude");
    hold(
        &mut plain,
        texts::ZSH_SNAPSHOT,
        "# Snapshot file\nunalias -a 2>/dev/null || true\nexport PATH=/usr/bin\n",
    );
    let (open, decision) = decided(&texts::claude_of_zsh("ls src"), &plain);
    assert!(!open.request.options.shopt && decision.verdict == Verdict::Allow, "{}", decision.reason);
    for (from, to) in [
        ("NO_EQUALS", "EQUALS"),
        ("NO_EQUALS", "NO_EQUALS; gsh-canary-deny"),
        ("\\builtin setopt", "setopt"),
        ("snapshot-zsh-", "snapshot-ksh-"),
    ] {
        assert_eq!(part(&opened(&texts::claude_of_zsh("ls").replace(from, to), &host)), None, "{to}");
    }
}

/// Where gsh stands in front of each command and is the shell as well.
#[test]
fn claude_code_with_gsh_in_front_is_known() {
    let mut host = machine("claude");
    host.ours.insert("/opt/gsh/gsh".into());
    host.add(Path::new("/opt/gsh/gsh"), gsh::host::Node::File);
    let text = |program: &str, inner: &str| format!("{program} -c {}", texts::quoted(inner));
    for command in ["ls src", "rm -rf ~", "echo 'it'\''s' \"$HOME\""] {
        for program in ["'/opt/gsh/gsh'", "/opt/gsh/gsh"] {
            let inner = texts::claude(command);
            let (open, decision) = decided(&text(program, &inner), &host);
            assert_eq!(part(&open), Some(Part::Command), "{command}");
            assert_eq!(open.request.as_text(), command);
            let given = vec![inner];
            assert_eq!(open.again, Some(Again { shell: "/opt/gsh/gsh".into(), given }));
            assert_eq!(decision.verdict, bare(command, &host).verdict, "{command}");
        }
    }
    let inner = texts::claude("ls");
    for odd in [
        text("'/opt/other/gsh'", &inner),
        text("gsh", &inner),
        text("'/opt/gsh/gsh'", "ls"),
        text("'/opt/gsh/gsh'", &text("'/opt/gsh/gsh'", &inner)),
        format!("{}; gsh-canary-deny", text("'/opt/gsh/gsh'", &inner)),
        text("'/opt/gsh/gsh'", &inner).replace(" -c ", " --yolo -c "),
    ] {
        assert_eq!(part(&opened(&odd, &host)), None, "{odd}");
    }
}

/// What may differ in an envelope from one call to the next.
const FREE: [&str; 3] = ["b3ef", "0a1b2c", "aB3xYz"];

#[test]
fn a_scaffold_with_one_other_byte_is_another_text() {
    let command = "echo inside";
    for (name, agent, build) in AGENTS {
        let host = machine(agent);
        let text = build(command);
        let mut free: Vec<std::ops::Range<usize>> = Vec::new();
        for part in FREE.iter().chain(&[command]) {
            free.extend(text.match_indices(part).map(|(at, found)| at..at + found.len()));
        }
        // Of the long text some places are enough.
        let step = if text.len() > 5000 { 53 } else { 1 };
        for at in (0..text.len()).step_by(step).filter(|at| !free.iter().any(|range| range.contains(at))) {
            for other in ["x", ";", " ", "'", "$", "\n", "", "(", "`id`"] {
                if text.get(at..=at) == Some(other) {
                    continue;
                }
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                let open = opened(&changed, &host);
                let inside = String::from_utf8_lossy(&open.request.text).into_owned();
                let same = part(&open).is_none() || around(&changed, &inside) == around(&text, command);
                assert!(same, "{name}: byte {at} as {other:?}: {changed}");
            }
        }
    }
}

/// What stands around a command, with one sign for whatever may differ from call to call, and for whatever
/// separates commands.
fn around(text: &str, command: &str) -> String {
    let mut rest = text.replacen(&texts::quoted(command), "<>", 1).replacen(command, "<>", 1);
    for part in FREE {
        rest = rest.replace(part, "*");
    }
    rest.split([' ', ';', '\n']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_breaks_out_of_the_quotes_is_no_envelope() {
    let host = machine("claude");
    let end = " < /dev/null && pwd -P >| /tmp/claude-b3ef-cwd";
    let head = texts::claude("X").split("eval ").next().map(str::to_owned).expect("a head");
    for inside in [
        "'ls' ; gsh-canary-deny; eval 'x'",
        "'ls'\"$(gsh-canary-deny)\"'x'",
        "'ls'$(gsh-canary-deny)'x'",
        "'ls' || eval 'gsh-canary-deny'",
        "ls; gsh-canary-deny",
        "'ls' 'gsh-canary-deny'",
        "$'gsh-canary-deny'",
        "\"gsh-canary-deny\"",
        "'ls' < /dev/null && gsh-canary-deny",
    ] {
        let (open, decision) = decided(&format!("{head}eval {inside}{end}"), &host);
        assert_eq!(part(&open), None, "{inside}");
        assert!(matches!(&open.mark, Mark::Unrecognised { agent, .. } if agent == "claude"), "{inside}");
        assert!(decision.verdict > Verdict::Allow, "{inside}");
    }
    // Quotes that stay inside are part of the command, and the command is judged.
    for inside in ["' ; gsh-canary-deny; eval '", "x'\"'\"'; gsh-canary-deny"] {
        let (open, decision) = decided(&texts::claude(inside), &host);
        assert_eq!(part(&open), Some(Part::Command));
        assert_eq!(open.request.as_text(), inside);
        assert!(decision.verdict > Verdict::Allow, "{inside}");
    }
    let host = machine("gemini");
    for inside in ["true\n)\ngsh-canary-deny\n(", "cat <<E\nx", "echo 'x", "x=$(", "true )", "{ true"] {
        let (open, decision) = decided(&texts::gemini(inside), &host);
        assert!(part(&open).is_none() && decision.verdict > Verdict::Allow, "{inside}: {decision:?}");
        assert_eq!(part(&opened(&texts::zed(inside), &machine("zed"))), None, "{inside}");
    }
    assert_eq!(part(&opened("((a[0]=1)) </dev/null", &machine("zed"))), None, "arithmetic");
}

#[test]
fn a_snapshot_must_be_the_agents_own() {
    type Spoil = fn(&mut TableHost);
    let spoilt: [(&str, Spoil); 13] = [
        ("a link", |host| {
            host.links.insert(SNAPSHOT.into(), "/tmp/other.sh".into());
            host.own_files.insert("/tmp/other.sh".into(), host.own_files[Path::new(SNAPSHOT)].clone());
        }),
        ("a folder that is a link", |host| {
            host.links.insert("/home/dev/.claude/shell-snapshots".into(), "/tmp/s".into());
        }),
        ("somebody else's, or writable by others", |host| {
            host.own_files.remove(Path::new(SNAPSHOT));
        }),
        ("changed later", |host| {
            host.own_files.get_mut(Path::new(SNAPSHOT)).expect("held").changed += 120_000;
        }),
        ("older than its name", |host| {
            host.own_files.get_mut(Path::new(SNAPSHOT)).expect("held").changed -= 60_000;
        }),
        ("older than the agent", |host| {
            host.starter.as_mut().expect("known").started += 600_000;
        }),
        ("another program's", |host| {
            host.starter.as_mut().expect("known").agent = "codex".to_owned();
        }),
        ("with a line that is not known", |host| {
            hold(host, SNAPSHOT, "frobnicate x\n");
        }),
        ("with a command behind a function", |host| {
            hold(host, SNAPSHOT, "function f {\n  :\n}; gsh-canary-deny\n");
        }),
        ("with a function in the place of what the envelope calls", |host| {
            hold(host, SNAPSHOT, "function eval {\n  gsh-canary-deny\n}\n");
        }),
        ("whose note is a link", |host| {
            host.links.insert("/tmp/claude-b3ef-cwd".into(), "/home/dev/.bashrc".into());
        }),
        ("with a function of the environment for what the envelope calls", |host| {
            host.vars.insert("BASH_FUNC_eval%%".to_owned(), "() { :; }".to_owned());
        }),
        ("in the project", |host| {
            host.project = Some("/home/dev/.claude".into());
        }),
    ];
    let text = texts::claude("ls");
    assert_eq!(part(&opened(&text, &machine("claude"))), Some(Part::Command));
    for (what, spoil) in spoilt {
        let mut host = machine("claude");
        spoil(&mut host);
        assert_eq!(part(&opened(&text, &host)), None, "{what}");
    }
    let host = machine("claude");
    for other in ["/tmp/shell-snapshots/snapshot-bash-1795000000000-k3x9q1.sh", "/home/dev/.bashrc", "./x.sh"]
    {
        assert_eq!(part(&opened(&text.replace(SNAPSHOT, other), &host)), None, "{other}");
    }
    let note = "/tmp/claude-b3ef-cwd";
    for other in
        ["/home/dev/.bashrc", "/tmp/claude-b3ef-cwd2", "/tmp/../etc/claude-b3ef-cwd", "src/claude-b3ef-cwd"]
    {
        assert_eq!(part(&opened(&text.replace(note, other), &host)), None, "{other}");
    }
}

#[test]
fn what_the_snapshot_defines_is_known_to_the_command() {
    let host = machine("claude");
    let table = [
        // The agent's search programs are the programs of their names.
        ("grep -rn foo src", Verdict::Allow, None),
        ("find . -name '*.rs'", Verdict::Allow, None),
        ("find . -delete", Verdict::Ask, None),
        // But not where the command says which program they are to run.
        ("CLAUDE_CODE_EXECPATH=./x grep -rn foo src", Verdict::Ask, None),
        ("export CLAUDE_CODE_EXECPATH=./x; find .", Verdict::Ask, None),
        // Functions and aliases of the user.
        ("greet you", Verdict::Allow, None),
        ("ll src", Verdict::Allow, None),
        ("wipe all", Verdict::Deny, Some("canary")),
        ("cd src && zap", Verdict::Deny, Some("canary")),
        ("echo wipe zap", Verdict::Allow, None),
    ];
    for (command, verdict, floor) in table {
        let (open, decision) = decided(&texts::claude(command), &host);
        assert_eq!(part(&open), Some(Part::Command), "{command}");
        assert_eq!(
            (decision.verdict, decision.floor.as_deref()),
            (verdict, floor),
            "{command}: {}",
            decision.reason
        );
    }
    let mut host = machine("claude");
    hold(&mut host, SNAPSHOT, "shopt -s globstar\n");
    assert!(
        decided(&texts::claude("ls **"), &host).1.verdict > Verdict::Allow,
        "an option changes the reading"
    );
    hold(&mut host, SNAPSHOT, "export PATH=/home/dev/bin:/usr/bin\n");
    assert_eq!(opened(&texts::claude("ls"), &host).path.as_deref(), Some("/home/dev/bin:/usr/bin"));
    hold(&mut host, SNAPSHOT, "function grep {\n  /tmp/x \"$@\"\n}\n");
    assert!(
        decided(&texts::claude("grep foo src"), &host).1.verdict > Verdict::Allow,
        "a function of that name"
    );
}

#[test]
fn codex_hands_on_to_the_shell_that_it_names() {
    let host = machine("codex");
    let first = opened(&texts::codex("git status"), &host);
    let again = |words: &[&str]| {
        let given = words.iter().map(|word| (*word).to_owned()).collect();
        Some(Again { shell: "/bin/bash".into(), given })
    };
    assert_eq!(first.again, again(&["git status"]));
    // Words behind the command are the command's own.
    let told = opened(&format!("{} 'name' 'a '\"'\"'b'", texts::codex("ls \"$1\"")), &host);
    assert_eq!(part(&told), Some(Part::Command));
    assert_eq!(told.again, again(&["ls \"$1\"", "name", "a 'b"]));
    assert_eq!(
        (told.request.name.as_deref(), told.request.args.as_slice()),
        (Some("name"), &["a 'b".to_owned()][..])
    );
    let listed = |word: &str| {
        let text = format!("{} 'name' '{word}'", texts::codex("rm -rf \"$1\""));
        decided(&text, &host).1.floor
    };
    assert_eq!((listed("/etc").as_deref(), listed("build")), (Some("delete-root"), None));
    for tail in [" name", " 'a'; gsh-canary-deny", " 'a' \"$(id)\"", " 'a'\n", "  'a'", " 'a' "] {
        let text = format!("{}{tail}", texts::codex("ls"));
        assert_eq!(part(&opened(&text, &host)), None, "{tail:?}");
    }
    assert_eq!(first.path.as_deref(), Some("/home/dev/.codex/bin:/usr/bin:/bin"));
    // Another shell is what is judged.
    let text = texts::codex("ls").replace("exec '/bin/bash'", "exec '/usr/bin/zsh'");
    let (other, decision) = decided(&text, &host);
    assert_eq!(other.request.as_text(), "exec '/usr/bin/zsh' -c 'ls'");
    assert!(other.again.is_none() && decision.verdict > Verdict::Allow);
    for (from, to) in [
        ("export CODEX_OWN_0=", "export LD_PRELOAD="),
        ("exec '/bin/bash' -c", "gsh-canary-deny; exec '/bin/bash' -c"),
        ("else unset CODEX_OWN_0", "else unset CODEX_OWN_1"),
        ("'/home/dev/.codex/bin':", "'bin':"),
        ("\"${CODEX_OWN_0-}\"", "\"$(gsh-canary-deny)\""),
        (texts::CODEX_SNAPSHOT, "/tmp/x.sh"),
    ] {
        assert_eq!(part(&opened(&texts::codex("ls").replacen(from, to, 1), &host)), None, "{from}");
    }
    for line in ["exec () \n{ \n:\n}\n", "declare -x BASH_ENV=\"/tmp/x\"\n", "function [ {\n:\n}\n"] {
        let mut host = machine("codex");
        hold(&mut host, texts::CODEX_SNAPSHOT, line);
        assert_eq!(part(&opened(&texts::codex("ls"), &host)), None, "{line}");
    }
    let older = |snapshot: &str, shell: &str| {
        let args = [snapshot, shell, "-lc", "ls"].map(str::to_owned).to_vec();
        let text = ". \"$1\" && shift && exec \"$@\"";
        open(Request { name: Some("x".into()), args, ..request(text) }, &["-c"], &host)
    };
    assert_eq!(older(texts::CODEX_SNAPSHOT, "/bin/bash").request.as_text(), "ls");
    assert_eq!(part(&older("/tmp/x.sh", "/bin/bash")), None);
}

#[test]
fn what_agents_run_when_they_start_is_not_asked_about() {
    let snapshot = include_str!("envelopes/snapshot.sh").replace("PLACE", SNAPSHOT);
    let codex = include_str!("envelopes/codex-snapshot.sh");
    let probe = include_str!("envelopes/copilot-probe.sh");
    let names = include_str!("envelopes/copilot-names.sh");
    let check =
        format!("set -e; . \"{}\"", texts::CODEX_SNAPSHOT.replace(".1795", ".tmp-1795").replace(".sh", ""));
    let prompts = "export PS1='SHELLPS1PREFIX' ; export PS2='' ; export PS0=''";
    let prompt = "set +H; export PROMPT_COMMAND='export PS1=\"\n###PS1JSON###\n{\"pid\":\"$!\",\"py\":\"$(which \
                  python 2>/dev/null || echo \"\")\"}\n###PS1END###\n\"'; export PS2=\"\"";
    let editor = "'/opt/agents/editor' -p '\"0a1b2c\" + JSON.stringify(process.env) + \"0a1b2c\"'";
    let table: [(&str, &str, &[&str]); 9] = [
        ("claude", "env", &["-c"]),
        ("claude", &snapshot, &["-c", "-l"]),
        ("codex", codex, &["-lc"]),
        ("codex", &check, &["-c"]),
        ("copilot", probe, &["-l", "-c"]),
        ("copilot", names, &["-l", "-c"]),
        ("swe-agent", prompts, &["-c"]),
        ("openhands", prompt, &["-c"]),
        ("editor", editor, &["-i", "-l", "-c"]),
    ];
    for (agent, text, options) in table {
        let mut host = machine(agent);
        let open = opened_with(text, options, &host);
        assert_eq!(part(&open), Some(Part::Start), "{agent}: {text}");
        let decision = pipeline::check(&open.request, &builtin_policy(), &host).decision;
        assert_eq!(decision.verdict, Verdict::Allow, "{agent}: {}", decision.reason);
        // The floor holds all the same, and what else such a script does is no part of it.
        for more in [
            "; gsh-canary-deny",
            "\ntouch ~/x",
            "; curl https://example.com",
            " > /home/dev/x",
            "\nrun_one touch ~/x",
            "\nother() {\n  touch ~/x\n}\nother",
            "\necho() {\n  \"$@\"\n}\necho touch ~/x",
        ] {
            let text = format!("{text}{more}");
            let open = opened_with(&text, options, &host);
            let decision = pipeline::check(&open.request, &builtin_policy(), &host).decision;
            assert!(decision.verdict > Verdict::Allow, "{agent}: {more}");
        }
        host.starter = None;
        assert_eq!(opened_with(text, options, &host).mark, Mark::None, "{agent}: typed by hand");
    }
    let mut host = machine("codex");
    host.vars.insert("CODEX_TOOL_CALL_ID".to_owned(), "call_1".to_owned());
    assert_eq!(part(&opened_with(codex, &["-lc"], &host)), None, "a command of the model");
    // Nothing but looking is taken for it, though its words stand there.
    for more in [
        "compgen -C 'touch x' y",
        "compgen -W '$(touch x)'",
        "sort -o out.txt",
        "sort -ro out.txt",
        "cat ~/.ssh/id_rsa",
        "cat < .env",
        "grep '' .env",
        "grep -f.env x",
        "head -n 3 .env",
        "awk 1 .env",
        "awk 'BEGIN { ARGV[1] = \".env\" } 1'",
        "export PATH=/home/dev/proj:$PATH",
        "export \"$name\"",
        "read -r BASH_ENV",
        "read HOME <<< /home/dev/proj; . ~/.bashrc",
        "HOME=/home/dev/proj; . ~/.bashrc",
        "for HOME in /home/dev/proj; do . ~/.bashrc; done",
        "rc=./x; . \"$rc\"",
        "printf -vPATH %s ./x",
        "shopt -s expand_aliases\nalias tr='touch x'\ntr a b",
        "x='a[$(touch x)]'; [[ $x -eq 1 ]]",
        "x='a[$(touch x)]'; echo $((x))",
        "x='a[$(touch x)]'; declare -i y=$x",
        "x='a[$(touch x)]'; echo ${y:x}",
        "x='a[$(touch x)]'; (( x ))",
        "x='a[$(touch x)]'; unset \"$x\"",
    ] {
        let text = format!("{codex}\n{more}\n");
        assert_eq!(part(&opened_with(&text, &["-lc"], &machine("codex"))), None, "{more}");
    }
    // Names that come from elsewhere, and a value that is run.
    for (from, to) in
        [("compgen -e", "compgen -v"), ("${!__copilot_n}", "${!other}"), ("printf '%s=", "eval '%s=")]
    {
        let text = names.replacen(from, to, 1);
        assert_eq!(part(&opened_with(&text, &["-l", "-c"], &machine("copilot"))), None, "{text}");
    }
    let norc = ["--norc", "--noprofile", "-c"];
    assert_eq!(part(&opened_with(probe, &norc, &machine("copilot"))), None, "a command of the model");
}

fn opened_with(text: &str, options: &[&str], host: &TableHost) -> Opened {
    open(request(text), options, host)
}

#[test]
fn a_command_that_a_person_types_into_opencode_is_known() {
    let host = machine("opencode");
    let lines = |cd: &str, eval: &str| {
        format!(
            "\n    shopt -s expand_aliases\n    [[ -f ~/.bashrc ]] && source ~/.bashrc >/dev/null 2>&1 || true\n{cd}    eval {eval}\n  "
        )
    };
    let given = |text: String, args: &[&str]| {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        open(Request { name: Some("opencode".into()), args, ..request(&text) }, &["-l", "-c"], &host)
    };
    let cd = "    cd -- \"$1\"\n";
    let typed = given(lines(cd, "\"git log \\\"-1\\\"\""), &[fixture::PROJECT]);
    assert_eq!(typed.request.as_text(), "git log \"-1\"");
    assert_eq!(given(lines("", "\"ls\""), &[]).request.as_text(), "ls");
    assert_eq!(part(&given(lines(cd, "\"ls\""), &["/tmp"])), None, "another directory");
    assert_eq!(part(&given(lines("", "\"ls $(gsh-canary-deny)\""), &[])), None, "expanded before it is read");
    assert_eq!(part(&given(lines("    gsh-canary-deny\n", "\"ls\""), &[])), None);
}

#[test]
fn an_envelope_that_changed_is_marked_with_the_agents_version() {
    let mut host = machine("claude");
    host.vars.insert("AI_AGENT".to_owned(), "claude-code_3-0-1_agent".to_owned());
    let mark = opened("newly-wrapped 'ls'", &host).mark;
    assert_eq!(mark, Mark::Unrecognised { agent: "claude".into(), version: Some("3.0.1".into()) });
    // Agents that send the command as it is have no envelope to miss.
    assert_eq!(opened("ls", &machine("qwen")).mark, Mark::None);
    assert_eq!(opened("ls", &machine("codex")).mark, Mark::None);
}
