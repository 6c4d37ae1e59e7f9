//! A record is all that its decision took: decided from it, every text of the case files and every tool of the
//! hooks gets the same verdict again. What a record had to leave out it says itself, and is then no proof.

use std::collections::BTreeMap;

use gsh::audit::replay::Played;
use gsh::audit::{Context, Opening, Record};
use gsh::decision::Decision;
use gsh::entry::hook::tools::{Meant, title};
use gsh::host::table::TableHost;
use gsh::host::witness::Witness;
use gsh::pipeline::check;
use gsh::policy::Policy;
use gsh::request::{Entry, ReadingOptions, Request};

use crate::common::cases::rows;
use crate::common::machine::Gsh;
use crate::common::{builtin_policy, fixture};
use crate::{hook, misparse, ruled, witness};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// Files of a kind, a tab and a command.
const PLAIN: [&str; 9] = [
    include_str!("cases/catastrophic.txt"),
    include_str!("cases/lookalike.txt"),
    include_str!("cases/readonly.txt"),
    include_str!("cases/reported.txt"),
    include_str!("cases/sneaky.txt"),
    include_str!("cases/manuals.txt"),
    include_str!("cases/raised.txt"),
    include_str!("cases/abuse.txt"),
    include_str!("cases/arguing.txt"),
];

/// What the replays of many records came to.
#[derive(Default)]
struct Tally {
    exact: usize,
    inexact: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Tally {
    /// Records a request and decides it from the record.
    fn add(&mut self, (request, policy): (&Request, &Policy), host: &TableHost) {
        let (record, decision) = recorded((request, policy), host);
        let played = Played::of_line(&record.json().to_string()).expect("an opening line");
        if !played.inexact.is_empty() {
            played.inexact.iter().for_each(|why| *self.inexact.entry(why.clone()).or_default() += 1);
            return;
        }
        let shown = String::from_utf8_lossy(&request.text);
        if !is_same(&played.request(), request) {
            self.wrong.push(format!("another request, and not said to be: {shown}"));
        }
        let machine = played.machine();
        let again = check(&played.request(), policy, &machine).decision;
        self.exact += 1;
        let same = (again.verdict, &again.floor, &again.reason)
            == (decision.verdict, &decision.floor, &decision.reason);
        if !same || machine.was_asked_more() {
            let (then, now) = (decision.verdict, again.verdict);
            self.wrong
                .push(format!("{then:?} ({}), then {now:?} ({}): {shown}", decision.reason, again.reason));
        }
    }

    fn holds(&self, least: usize) {
        println!("replayed: {} exact, {} differ, inexact: {:?}", self.exact, self.wrong.len(), self.inexact);
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert!(self.exact >= least, "{} exact, inexact: {:?}", self.exact, self.inexact);
    }
}

/// Whether a request was made anew as it was. What a tool is given is told by its hash alone, and decides nothing.
fn is_same(one: &Request, other: &Request) -> bool {
    let tools = [one, other].map(|request| request.tool.as_ref().map(title));
    (&one.text, &one.cwd, &one.name, &one.args) == (&other.text, &other.cwd, &other.name, &other.args)
        && (one.options, one.entry, &one.setting) == (other.options, other.entry, &other.setting)
        && tools[0] == tools[1]
}

fn recorded((request, policy): (&Request, &Policy), host: &TableHost) -> (Record, Decision) {
    let witness = Witness::new(host);
    let checked = check(request, policy, &witness);
    let context = Context::default();
    let opening = Opening {
        request,
        policy,
        decision: &checked.decision,
        facts: &checked.facts,
        answers: witness.into_answers(),
        context: &context,
    };
    (Record::new(&opening), checked.decision)
}

#[test]
fn every_text_gets_its_verdict_again() {
    let (host, policy) = (fixture::host(), builtin_policy());
    let mut tally = Tally::default();
    for row in PLAIN.iter().flat_map(|file| rows(file)) {
        tally.add((&fixture::request(&row.command), &policy), &host);
    }
    let everyday = include_str!("cases/tempting.txt").lines();
    let shapes = include_str!("cases/shapes.txt").split("%%\n").filter(|text| !text.is_empty());
    for text in everyday.chain(shapes) {
        tally.add((&fixture::request(text), &policy), &host);
    }
    tally.holds(6_000);
}

/// Texts that the grammar misreads, that single checks refuse, and that reach the limits; what is no text at all
/// is kept by its head and says so.
#[test]
fn what_is_not_understood_is_not_understood_again() {
    let (host, policy) = (fixture::host(), builtin_policy());
    let mut tally = Tally::default();
    let checks = witness::own_witnesses().into_iter().map(|(_, case)| case.text);
    for text in misparse::cases().into_iter().map(|case| case.text).chain(checks) {
        tally.add((&Request { text, ..fixture::request("") }, &policy), &host);
    }
    tally.holds(250);
    assert!(tally.inexact.contains_key("long"), "{:?}", tally.inexact);
}

/// Under the rules of people, which are part of the policy and not of the record.
#[test]
fn every_rule_holds_again() {
    let host = fixture::host();
    let mut tally = Tally::default();
    for row in rows(include_str!("cases/ruled.txt")) {
        let (rules, command) = row.command.split_once('\t').expect("verdict, rules, command");
        tally.add((&fixture::request(command), &ruled::policy(rules)), &host);
    }
    tally.holds(150);
}

/// The tools of every agent.
#[test]
fn every_tool_gets_its_verdict_again() {
    let (host, policy) = (fixture::host(), builtin_policy());
    let mut tally = Tally::default();
    let rows = include_str!("cases/hook.txt").lines().filter(|line| line.contains(" ~ "));
    for row in rows.filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = row.split(" ~ ").collect();
        let [agent, tool, input, _] = parts.as_slice() else { panic!("{row}") };
        match hook::meant_by(agent, tool, input) {
            Meant::Shell { texts, .. } => texts.iter().for_each(|text| {
                let request = Request { entry: Entry::Hook, ..fixture::request(text) };
                tally.add((&request, &policy), &host);
            }),
            Meant::Tool(tool) => {
                let text = title(&tool).into_bytes();
                let request = Request { text, entry: Entry::Hook, tool: Some(tool), ..fixture::request("") };
                tally.add((&request, &policy), &host);
            }
        }
    }
    tally.holds(150);
}

/// What a call gives beside its text, the door it came through, and where it starts.
#[test]
fn all_of_a_call_is_recorded() {
    let (host, policy) = (fixture::host(), builtin_policy());
    let mut tally = Tally::default();
    let arguments = ["a.txt", "-rf", "/", "src/*"].map(str::to_owned).to_vec();
    let options = [
        ReadingOptions { posix: true, ..ReadingOptions::default() },
        ReadingOptions { shopt: true, expansion: true, ..ReadingOptions::default() },
        ReadingOptions { interactive: true, xtrace: true, ..ReadingOptions::default() },
        ReadingOptions { noexec: true, ..ReadingOptions::default() },
        ReadingOptions { leaves: true, ..ReadingOptions::default() },
    ];
    let texts = ["rm \"$@\"", "cat $1", "cd /tmp && rm \"$2\" *", "shopt -s nullglob; ls *", "x=$0; $x y"];
    for (text, options) in texts.iter().flat_map(|text| options.map(|options| (*text, options))) {
        for (entry, cwd) in Entry::ALL.iter().zip([fixture::PROJECT, "/", "/tmp", "/home/dev"].iter().cycle())
        {
            let (name, args) = (Some("./script".to_owned()), arguments.clone());
            let request =
                Request { name, args, options, entry: *entry, cwd: (*cwd).into(), ..fixture::request(text) };
            tally.add((&request, &policy), &host);
        }
    }
    tally.holds(texts.len() * options.len() * Entry::ALL.len());
}

/// On a real machine, by the verb: nothing changes under the same configuration, and what a secret was taken out of
/// is inexact, whatever its verdict.
#[test]
fn the_same_configuration_says_the_same() {
    let rules = "[permissions.\"process.execute\"]\n\"frob *\" = \"deny\"\n";
    let mut gsh = Gsh::new(GSH).config(rules).env("GSH_SESSION", "one");
    let exact = [
        "ls; cat a.txt",
        "frob --all",
        "gsh-canary-deny",
        "unknown-tool-x \"$UNKNOWN\"",
        "cd /tmp && pwd; for i in 1 2; do echo $i; done",
        "echo $((",
    ];
    let inexact = ["gsh-canary-deny; TOKEN=hunter22x frob", "gsh-canary-deny <<X\nbody\nX"];
    for text in exact.iter().chain(&inexact) {
        gsh = gsh.args(["-c", text]).run().machine.again();
    }
    let config = gsh.at("home/.config/gsh/config.toml").display().to_string();
    let run = gsh.args(["audit", "replay", "--config", &config, "--json"]).run();
    let told: serde_json::Value = serde_json::from_str(&run.stdout()).expect("one object");
    assert_eq!(told["records"], exact.len() + inexact.len(), "{told}");
    assert_eq!(
        (&told["inexact"], &told["changed"]),
        (&inexact.len().into(), &serde_json::json!([])),
        "{told}"
    );
    // Another configuration changes verdicts, and those of a redacted record are marked.
    let other = run.machine.at("new.toml");
    std::fs::write(&other, "[permissions.\"process.execute\"]\n\"frob *\" = \"allow\"\n").expect("written");
    let run = run
        .machine
        .again()
        .args(["audit", "replay", "--json", "--config", &other.display().to_string()])
        .run();
    let told: serde_json::Value = serde_json::from_str(&run.stdout()).expect("one object");
    let changed = told["changed"].as_array().expect("a list");
    assert_eq!(changed.len(), 1, "{told}");
    assert_eq!(
        (&changed[0]["command"], &changed[0]["exact"]),
        (&"frob --all".into(), &true.into()),
        "{told}"
    );
}
