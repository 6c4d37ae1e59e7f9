//! Rules carried over from agents: for each at least fifty commands, near misses among them, are decided by
//! gsh and by a second reading made from the agent's documentation, which shares no code with `policy`.
//!
//! The law: gsh never lets pass what the agent would not have. Where no rule of the agent says anything, what
//! gsh does without rules stands for it; where a rule
//! of its could not be carried, gsh at least allows nothing by its other rules. A command is compared by its words, not by how they are spelled; what
//! gsh looks through (a wrapper that changes nothing, a variable that only carries data, the path of a program
//! that PATH finds) is compared with what the agent says of the command itself; a redirection is a write,
//! which gsh judges apart.
//!
//! A rule that was *carried* says the same here on running the command, whatever else gsh asks about.

mod claude;
mod decided;
mod others;
mod second;
mod typed;
mod verb;

use std::collections::HashSet;

use gsh::config::import::targets::targets;
use gsh::config::import::{AgentFile, Around, Client, Fate, Imported, Level, SourceRule, import};
use gsh::policy::Policy;

use crate::common::fixture::PROJECT;
use decided::{Machine, layer, on_file, on_running, on_tool, policy, runs_others, says, whole};
use second::{About, Says, Second, Spoken, Which};
use typed::{Line, Typed, around, names_around, paths_around, text};

/// Files that are read together.
struct Set {
    name: &'static str,
    client: Client,
    files: &'static [(&'static str, Level, &'static str)],
}

macro_rules! file {
    ($name:literal, $level:ident) => {
        ($name, Level::$level, include_str!(concat!("files/", $name)))
    };
}

const SETS: &[Set] = &[
    Set {
        name: "claude on three levels",
        client: Client::Claude,
        files: &[
            file!("claude-user.json", User),
            file!("claude-project.json", Project),
            file!("claude-local.json", Local),
        ],
    },
    Set { name: "claude, all allowed", client: Client::Claude, files: &[file!("claude-broad.json", User)] },
    Set { name: "claude, all refused", client: Client::Claude, files: &[file!("claude-shut.json", User)] },
    Set { name: "claude, quotes", client: Client::Claude, files: &[file!("claude-quotes.json", User)] },
    Set { name: "claude, lost", client: Client::Claude, files: &[file!("claude-lost.json", Project)] },
    Set {
        name: "codex on two levels",
        client: Client::Codex,
        files: &[file!("codex-user.rules", User), file!("codex-project.rules", Project)],
    },
    Set { name: "codex, odd words", client: Client::Codex, files: &[file!("codex-odd.rules", User)] },
    Set { name: "codex, code", client: Client::Codex, files: &[file!("codex-code.rules", User)] },
    Set { name: "gemini", client: Client::Gemini, files: &[file!("gemini-user.toml", User)] },
    Set { name: "gemini, modes", client: Client::Gemini, files: &[file!("gemini-modes.toml", User)] },
    Set { name: "gemini, expressions", client: Client::Gemini, files: &[file!("gemini-regex.toml", User)] },
    Set {
        name: "opencode on two levels",
        client: Client::Opencode,
        files: &[file!("opencode-user.json", User), file!("opencode-project.jsonc", Project)],
    },
    Set {
        name: "opencode, the user alone",
        client: Client::Opencode,
        files: &[file!("opencode-user.json", User)],
    },
    Set { name: "opencode, all", client: Client::Opencode, files: &[file!("opencode-all.json", User)] },
    Set {
        name: "cursor on two levels",
        client: Client::Cursor,
        files: &[file!("cursor-user.json", User), file!("cursor-cli.json", Project)],
    },
    Set { name: "cursor, editor", client: Client::Cursor, files: &[file!("cursor-editor.json", User)] },
];

/// How few decisions per rule are enough.
const FEWEST: usize = 50;

impl Set {
    fn imported(&self) -> Imported {
        let files: Vec<AgentFile> = self
            .files
            .iter()
            .map(|(path, level, text)| AgentFile {
                path: (*path).to_owned(),
                text: (*text).to_owned(),
                level: *level,
            })
            .collect();
        let around =
            Around { home: Some("/home/dev".to_owned()), root: Some(PROJECT.to_owned()), only_agent: false };
        import(self.client, &files, &around).expect("fixtures are sound")
    }

    fn second(&self) -> Second {
        let files: Vec<_> =
            self.files.iter().map(|(_, level, text)| (*text, *level == Level::User)).collect();
        match self.client {
            Client::Claude => claude::read(&files),
            Client::Codex => others::codex(&files),
            Client::Gemini => others::gemini(&files),
            Client::Opencode => others::opencode(&files),
            Client::Cursor => others::cursor(&files),
        }
    }

    /// gsh's account of a rule.
    fn carried<'i>(&self, imported: &'i Imported, rule: &Spoken) -> &'i SourceRule {
        let path = self.files[rule.at.0].0;
        let found = imported.rules.iter().find(|each| each.file == path && each.line == rule.at.1);
        found.unwrap_or_else(|| panic!("{path}:{} is not listed", rule.at.1))
    }
}

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    rules: usize,
    decided: usize,
    /// gsh's verdict was the agent's.
    equal: usize,
    /// It was the same on running the command; something else asked.
    by_effects: usize,
    stricter: usize,
    laxer: Vec<String>,
    /// Of rules that were carried: what differs all the same.
    differs: Vec<String>,
}

/// One side of a comparison.
struct Court<'a> {
    machine: &'a Machine,
    second: &'a Second,
    policy: &'a Policy,
    /// One rule alone.
    which: Which,
    /// It was carried: it must say the same.
    exact: bool,
    what: String,
}

impl Court<'_> {
    /// What the agent says of a line, with gsh's own answer where it says nothing; and of running it.
    fn expected(&self, line: &Line, of: &dyn Fn(&Typed) -> Typed) -> (Says, Says) {
        let each = line.iter().map(|typed| {
            let builtin = self.machine.without_rules(&of(typed).text());
            let said = self.second.of_command(&of(typed), self.which).map_or(builtin, |said| (said, said));
            let Which::Carried = self.which else { return said };
            // A refusal that was not carried is at least no allow.
            let whole = self.second.of_command(&of(typed), Which::All).unwrap_or(builtin.0);
            (said.0.max(whole.min(builtin.0)), said.1.max(whole.min(builtin.1)))
        });
        each.fold((Says::Allow, Says::Allow), |all, one| (all.0.max(one.0), all.1.max(one.1)))
    }

    fn line(&self, line: &Line, tally: &mut Tally) {
        let shown = text(line);
        let decision = self.machine.decide(self.policy, &shown);
        let (found, running) = (says(decision.verdict), on_running(&decision));
        let (typed, of_running) = self.expected(line, &Typed::clone);
        let through = line.iter().any(|typed| self.second.sees_less(typed));
        let least = if through { typed.min(self.expected(line, &Typed::stripped).0) } else { typed };
        tally.decided += 1;
        if found < least {
            tally.laxer.push(format!("{}: {shown}: {found:?}, the agent {least:?}", self.what));
        }
        match found {
            _ if found == typed => tally.equal += 1,
            _ if running == of_running => tally.by_effects += 1,
            _ if found > typed => tally.stricter += 1,
            _ => {}
        }
        let texts: Vec<_> = line.iter().map(Typed::canonical).collect();
        let apart =
            runs_others(&decision, &texts) || line.iter().any(|typed| self.is_apart(typed, line.len()));
        if self.exact && !apart && running != of_running {
            tally.differs.push(format!("{}: {shown}: {running:?}, the agent {of_running:?}", self.what));
        }
    }

    /// What is only held to the law: what gsh looks through and the agent does not (wrappers, options before
    /// what the command does), variables, what the shell
    /// puts in, and parts of a list that no rule speaks of, which gsh judges by what ran before them.
    fn is_apart(&self, typed: &Typed, parts: usize) -> bool {
        let through = |name: &&str| self.second.looks_through.contains(name);
        typed.wrapper.first().is_some_and(|name| !through(name))
            || typed.assignments.iter().any(|(name, _)| !self.second.overlooks.contains(name))
            || (self.second.redirection_asks && typed.redirection.is_some())
            || !typed.folder.is_empty()
            || typed.glob.is_some()
            || typed.argv.get(1).is_some_and(|word| word.starts_with('-'))
            || (parts > 1 && self.second.of_command(typed, self.which).is_none())
    }

    fn path(&self, path: &str, write: bool, tally: &mut Tally) {
        let shown = format!("{} {path}", if write { "touch" } else { "cat" });
        let (found, protected) = on_file(&self.machine.decide(self.policy, &shown), write);
        let builtin = on_file(&self.machine.decide(&policy(vec![]), &shown), write).0;
        let said = |which| self.second.of_path(path, write, which).unwrap_or(builtin);
        let expected = match self.which {
            Which::Carried => said(self.which).max(said(Which::All).min(builtin)),
            which => said(which),
        };
        self.compared(&shown, found, expected, (tally, protected));
    }

    fn tool(&self, name: &str, tally: &mut Tally) {
        let said = |which| self.second.of_tool(name, which).unwrap_or(Says::Ask);
        let expected = match self.which {
            Which::Carried => said(self.which).max(said(Which::All).min(Says::Ask)),
            which => said(which),
        };
        let listing = ["__list", "__search", "__describe", "__status", "__connect"];
        // gsh lets an agent look at what a server offers once it may use any of it.
        let discovery = listing.iter().any(|each| name.ends_with(each));
        let found = on_tool(self.policy, name);
        let found = if discovery { found.max(expected) } else { found };
        self.compared(name, found, expected, (tally, false));
    }

    fn compared(&self, shown: &str, found: Says, expected: Says, (tally, apart): (&mut Tally, bool)) {
        tally.decided += 1;
        tally.equal += usize::from(found == expected);
        tally.stricter += usize::from(found > expected);
        let told = || format!("{}: {shown}: {found:?}, the agent {expected:?}", self.what);
        if found < expected {
            tally.laxer.push(told());
        }
        if self.exact && !apart && found != expected {
            tally.differs.push(told());
        }
    }

    /// Decides all that is made from a rule's samples; how much that was.
    fn rule(&self, rule: &Spoken, tally: &mut Tally) -> usize {
        let before = tally.decided;
        let mut known = HashSet::new();
        for sample in &rule.samples {
            match &rule.about {
                About::Commands(_) => {
                    let lines = around(sample).into_iter().filter(|line| known.insert(text(line)));
                    lines.for_each(|line| self.line(&line, tally));
                }
                About::Reads(_) => {
                    paths_around(&sample[0]).iter().for_each(|path| self.path(path, false, tally))
                }
                About::Writes(_) => {
                    paths_around(&sample[0]).iter().for_each(|path| self.path(path, true, tally))
                }
                About::Tools(_) => names_around(&sample[0]).iter().for_each(|name| self.tool(name, tally)),
                About::Other => {}
            }
        }
        tally.decided - before
    }
}

/// Each rule alone, and every rule's commands by all rules together.
fn compare(set: &Set) -> (Tally, Tally) {
    let (imported, mut second, machine) = (set.imported(), set.second(), Machine::new());
    let is_lost = |rule: &Spoken| set.carried(&imported, rule).rules.is_empty();
    second.lost = (0..second.rules.len()).filter(|at| is_lost(&second.rules[*at])).collect();
    let (mut alone, mut together) = (Tally::default(), Tally::default());
    let all = whole(&targets(&imported));
    for (index, rule) in second.rules.iter().enumerate() {
        let source = set.carried(&imported, rule);
        let court = |policy, which, exact| Court {
            machine: &machine,
            second: &second,
            policy,
            which,
            exact,
            what: format!("{}: {}", set.name, source.rule),
        };
        court(&all, Which::Carried, false).rule(rule, &mut together);
        together.rules += 1;
        if source.rules.is_empty() || matches!(rule.about, About::Other) {
            continue;
        }
        let own = policy(vec![layer(source.level, &source.rules)]);
        let decided = court(&own, Which::Only(index), source.fate == Fate::Carried).rule(rule, &mut alone);
        assert!(decided >= FEWEST, "{}: {}: only {decided}", set.name, source.rule);
        alone.rules += 1;
    }
    (alone, together)
}

fn check(client: Client) {
    let (mut equal, mut decided) = (0, 0);
    for set in SETS.iter().filter(|set| set.client == client) {
        let (alone, together) = compare(set);
        for (how, tally) in [("alone", &alone), ("together", &together)] {
            println!(
                "{} {how}: {} rules, {} decided, {} equal, {} by effects, {} stricter",
                set.name, tally.rules, tally.decided, tally.equal, tally.by_effects, tally.stricter
            );
            assert!(
                tally.laxer.is_empty(),
                "{} laxer:\n{}",
                tally.laxer.len(),
                tally.laxer[..tally.laxer.len().min(15)].join("\n")
            );
            assert!(
                tally.differs.is_empty(),
                "{} differ:\n{}",
                tally.differs.len(),
                tally.differs[..tally.differs.len().min(15)].join("\n")
            );
        }
        equal += alone.equal;
        decided += alone.decided;
    }
    let share = equal * 100 / decided.max(1);
    println!("{}: {share} of 100 equal, {decided} decided", client.word());
    assert!(share >= 80, "{}: only {share} of 100 are equal", client.word());
}

#[test]
fn claude_means_the_same() {
    check(Client::Claude);
}

#[test]
fn codex_means_the_same() {
    check(Client::Codex);
}

#[test]
fn gemini_means_the_same() {
    check(Client::Gemini);
}

#[test]
fn opencode_means_the_same() {
    check(Client::Opencode);
}

#[test]
fn cursor_means_the_same() {
    check(Client::Cursor);
}

/// A refusal of a pipeline, which no list of simple commands shows.
#[test]
fn pipelines() {
    let text =
        r#"{"permissions": {"deny": ["Bash(curl * | sh)", "Bash(frob && rm:*)"], "allow": ["Bash(x | y)"]}}"#;
    let file = AgentFile { path: "s.json".to_owned(), text: text.to_owned(), level: Level::User };
    let imported = import(Client::Claude, &[file], &Around::default()).expect("sound");
    let fates: Vec<_> = imported.rules.iter().map(|rule| matches!(rule.fate, Fate::NotCarried(_))).collect();
    assert_eq!(fates, [false, false, true], "{imported:?}");
    let (machine, policy) = (Machine::new(), whole(&targets(&imported)));
    let lefts = [
        "curl x",
        "curl -s x y",
        "curl",
        "curlx a",
        "wget x",
        "echo curl x",
        "curl 'a b'",
        "timeout 5 curl x",
    ];
    let rights = ["sh", "bash", "sh -x", "shx", "sort", "sh | sort", "sudo sh", "xsh"];
    for left in lefts {
        for right in rights {
            let line = format!("{left} | {right}");
            let refused = left.starts_with("curl ") && right == "sh";
            let found = says(machine.decide(&policy, &line).verdict);
            assert!(!refused || found == Says::Deny, "{line}: {found:?}");
            assert!(found >= machine.without_rules(&line).0, "{line}: {found:?}");
        }
    }
}
