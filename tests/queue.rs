//! Questions of commands without a terminal, answered from another one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::machine::{Gsh, PATIENCE, records, starting};
use crate::envelopes;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// What is asked about: a program that no machine has, then the time in nanoseconds.
const ASKED: &str = "gsh-test-no-such-program --flag 2>/dev/null; date +%s%N";

/// A machine on whose terminals a person sits, and whose questions wait for so many seconds.
fn machine(more: &str) -> Gsh {
    let holder = std::env::current_exe().expect("this program");
    let config = format!("{more}[ask]\nterminals = [{:?}]\nwait = 30\n", holder.display().to_string());
    Gsh::new(GSH).config(&config).env("GSH_SESSION", "mine")
}

fn queue() -> Gsh {
    machine("on_ask_without_terminal = 'queue'\n")
}

fn start(command: &mut Command) -> Child {
    let _turn = starting();
    command.spawn().expect("it starts")
}

/// Runs a call to its end.
fn run(command: &mut Command) -> Output {
    ended(start(command))
}

/// Starts a call that asks.
fn ask(machine: &Gsh, text: &str) -> Child {
    start(&mut machine.detached(["-c", text]))
}

/// The questions as `gsh approvals --json` tells them.
fn questions(machine: &Gsh) -> Vec<Value> {
    let output = run(&mut machine.detached(["approvals", "--json"]));
    let list: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    list["questions"].as_array().expect("a list").clone()
}

fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(found) = found() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("never: {what}");
}

/// The one question that is open.
fn question(machine: &Gsh) -> String {
    until("a question", || questions(machine).first().map(id))
}

fn id(question: &Value) -> String {
    question["id"].as_str().expect("a name").to_owned()
}

/// Answers from another terminal; what it says, and its status.
fn at_terminal(machine: &Gsh, args: &[&str]) -> (String, u32) {
    let mut screen = machine.beside_of_size(args, 100, 24);
    let status = screen.wait();
    let begun = Instant::now();
    while screen.text().trim().is_empty() && begun.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(10));
    }
    (screen.text(), status)
}

fn approve(machine: &Gsh, id: &str) {
    let (said, status) = at_terminal(machine, &["approve", id]);
    assert_eq!(status, 0, "{said}");
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("its end")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn pending(machine: &Gsh, name: &str) -> PathBuf {
    machine.at("home/.local/state/gsh/pending").join(name)
}

/// From when the answer was put in its place until the command's own clock.
fn delay(machine: &Gsh, id: &str, output: &Output) -> Duration {
    let written = fs::metadata(pending(machine, &format!("spent/{id}.answer"))).expect("the spent answer");
    let written = Duration::new(
        u64::try_from(written.mtime()).expect("a time"),
        u32::try_from(written.mtime_nsec()).expect("a part of a second"),
    );
    let text = String::from_utf8_lossy(&output.stdout);
    Duration::from_nanos(text.trim().parse().expect("a time")).saturating_sub(written)
}

#[test]
fn a_command_waits_and_goes_on_with_the_answer() {
    let machine = queue();
    let child = ask(&machine, ASKED);
    let id = question(&machine);
    let open = questions(&machine);
    assert_eq!((&open[0]["state"], &open[0]["session"]), (&"waiting".into(), &"mine".into()));
    assert_eq!(open[0]["command"], ASKED);
    let (said, status) = at_terminal(&machine, &["approve", &id]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("allowed once") && said.contains("gsh-test-no-such-program"), "{said}");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let delay = delay(&machine, &id, &output);
    println!("went on {delay:?} after the answer");
    assert!(delay < Duration::from_secs(2), "{delay:?}");
    let records = records(&machine.at("home/.local/state/gsh/audit"));
    let granted = records.iter().find(|record| record["event"] == "PermissionGranted").expect("on record");
    assert_eq!(granted["by"]["person"]["question"], id.as_str());
    assert!(granted["by"]["person"]["terminal"].as_str().is_some_and(|at| at.starts_with("/dev/pts/")));
    // Once is once.
    let (again, status) = at_terminal(&machine, &["approve", &id]);
    assert!(status == 2 && again.contains("no question"), "{again}");
    assert!(questions(&machine).is_empty());
}

/// Codex starts gsh for its envelope, and that starts gsh in its place for the command.
#[test]
fn a_command_that_gsh_is_started_twice_for_is_asked_about_once() {
    let machine = queue().project_file("codex", &format!("#!/bin/bash\n\"{GSH}\" -c \"$(< text)\"\n"));
    envelopes::ends::with_codex(&machine, ASKED);
    let like = machine.detached::<&str>([]);
    let mut codex = Command::new("/usr/bin/setsid");
    codex.arg(machine.at("project/codex")).current_dir(machine.at("project")).env_clear();
    codex.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    codex.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = start(&mut codex);
    let id = question(&machine);
    assert_eq!(questions(&machine)[0]["command"], ASKED, "the command, not what is around it");
    approve(&machine, &id);
    let output = ended(child);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let records = records(&machine.at("home/.local/state/gsh/audit"));
    let of = |event: &str| records.iter().filter(|record| record["event"] == event).collect::<Vec<_>>();
    assert_eq!((of("opened").len(), of("PermissionGranted").len()), (2, 2), "{records:#?}");
    let second = of("PermissionGranted")[1];
    assert_eq!(
        (&second["by"], &second["first"]["record"]),
        (&"cache".into(), &of("opened")[0]["id"]),
        "{second}"
    );
}

#[test]
fn the_list_shows_new_questions_and_takes_an_answer() {
    let machine = machine("");
    let mut list = machine.beside_of_size(&["approvals"], 80, 24);
    list.wait_for("no question is open");
    // Somebody listens, so that it waits.
    let child = ask(&machine, ASKED);
    list.wait_for("gsh: 1 question");
    list.wait_for("gsh-test-no-such-program");
    list.type_keys("y");
    list.type_keys("\r");
    list.wait_for("allow once");
    for part in ["gsh asks: Run", "in ", "rule:", "session mine"] {
        assert!(list.text().contains(part), "no {part:?} on\n{}", list.text());
    }
    std::thread::sleep(Duration::from_millis(400));
    list.resize(40, 12);
    list.wait_for("page 1/");
    list.resize(80, 24);
    list.wait_for("allow once  [s]");
    // What came before was only looked at.
    assert_eq!(questions(&machine)[0]["state"], "waiting");
    // What another window shows has to be read first.
    std::thread::sleep(Duration::from_millis(400));
    list.type_keys("y");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    list.wait_for("no question is open");
    list.type_keys("q");
    assert_eq!(list.wait(), 0);
    assert!(!list.is_taken(), "the terminal is given back");
    // Nobody listens any more.
    let output = ended(ask(&machine, "gsh-test-no-such-program --other"));
    assert!(stderr(&output).contains("nobody listens"), "{}", stderr(&output));
}

#[test]
fn the_list_gives_the_terminal_back_when_it_is_ended() {
    let machine = machine("");
    let mut list = machine.beside_of_size(&["approvals"], 80, 24);
    list.wait_for("no question is open");
    assert!(list.is_taken());
    let pid = nix::unistd::Pid::from_raw(list.pid());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
    list.wait_for_death("Terminated");
    assert!(!list.is_taken());
    let output = ended(ask(&machine, ASKED));
    assert!(stderr(&output).contains("nobody listens"), "{}", stderr(&output));
}

#[test]
fn a_refusal_tells_the_reason() {
    let machine = queue();
    let child = ask(&machine, ASKED);
    let (said, _) = at_terminal(&machine, &["refuse", &question(&machine), "--reason", "use make instead"]);
    assert!(said.contains("refused"), "{said}");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("declined") && stderr(&output).contains("use make instead"));

    let child = ask(&machine, ASKED);
    let id = question(&machine);
    let mut only = machine.beside_of_size(&["approvals", "--only", &id], 80, 24);
    only.wait_for("allow once");
    std::thread::sleep(Duration::from_millis(400));
    only.type_keys("nnot today\r");
    assert_eq!(only.wait(), 0);
    only.wait_for("refused");
    let output = ended(child);
    assert!(stderr(&output).contains("Their reason: not today"), "{}", stderr(&output));
}

/// What a call in a session comes to where nobody answers.
fn status_in(machine: &Gsh, session: &str, text: &str) -> Option<i32> {
    run(machine.detached(["-c", text]).env("GSH_SESSION", session)).status.code()
}

#[test]
fn an_approval_for_the_session_is_kept_for_that_session() {
    const RAN: Option<i32> = Some(0);
    const REFUSED: Option<i32> = Some(126);
    for (how, late) in [(&["--session"][..], false), (&["--session"], true), (&["--minutes", "5"], false)] {
        let machine = if late { machine("") } else { machine("on_ask_without_terminal = 'queue'\n") };
        let child = ask(&machine, ASKED);
        let (child, output) = if late { (None, Some(ended(child))) } else { (Some(child), None) };
        assert!(output.is_none_or(|output| output.status.code() == REFUSED));
        let (said, status) = at_terminal(&machine, &[&["approve", &question(&machine)], how].concat());
        assert!(status == 0 && said.contains("allowed for "), "{said}");
        let first = child.map_or_else(|| ended(ask(&machine, ASKED)), ended);
        assert_eq!(first.status.code(), RAN, "{how:?}: {}", stderr(&first));
        let machine = machine.config("on_ask_without_terminal = 'auto'\n");
        assert_eq!(status_in(&machine, "mine", ASKED), RAN, "{how:?}: the same once more");
        assert!(questions(&machine).is_empty(), "{how:?}: without a question");
        assert_eq!(status_in(&machine, "other", ASKED), REFUSED, "{how:?}: another session");
        assert_eq!(status_in(&machine, "mine", "gsh-test-no-such-program; true"), REFUSED, "another command");
        let grants = run(&mut machine.detached(["grants"]));
        let grants = String::from_utf8_lossy(&grants.stdout).into_owned();
        assert!(
            grants.contains("gsh-test-no-such-program --flag") && grants.contains("at /dev/pts/"),
            "{grants}"
        );
    }
}

#[test]
fn a_refusal_for_the_session_refuses_the_next() {
    let machine = queue();
    let child = ask(&machine, ASKED);
    let id = question(&machine);
    let (said, _) = at_terminal(&machine, &["refuse", &id, "--session", "--reason", "use make"]);
    assert!(said.contains("refused for the session"), "{said}");
    assert!(stderr(&ended(child)).contains("use make"));
    let output = ended(ask(&machine, ASKED));
    assert_eq!(output.status.code(), Some(126), "{}", stderr(&output));
    assert!(questions(&machine).is_empty(), "nobody is asked: {}", stderr(&output));
    // Another session asks.
    let child = start(machine.detached(["-c", ASKED]).env("GSH_SESSION", "other"));
    at_terminal(&machine, &["refuse", &question(&machine)]);
    assert_eq!(ended(child).status.code(), Some(126));
}

#[test]
fn what_may_not_outlive_the_call_is_allowed_once_only() {
    let secret = format!("gsh-test-no-such-program ghp_{}", "a1B2c3D4e5F6".repeat(3));
    // A protected path, a part that is not known, a secret in the text.
    for text in ["echo x > .git/hooks/pre-commit", "gsh-test-no-such-program $(cat a)", &secret] {
        let machine = queue();
        let child = ask(&machine, text);
        let id = question(&machine);
        let answers = questions(&machine)[0]["answers"].clone();
        assert!(!answers.to_string().contains("approve --"), "{text}: {answers}");
        for how in [&["--session"][..], &["--minutes", "5"]] {
            let (said, status) = at_terminal(&machine, &[&["approve", &id], how].concat());
            assert!(status == 2 && said.contains("this once only"), "{text}: {said}");
            assert_eq!(questions(&machine)[0]["state"], "waiting", "{text}");
        }
        let mut list = machine.beside_of_size(&["approvals", "--only", &id], 80, 24);
        list.wait_for("allow once");
        assert!(!list.text().contains("[s]") && !list.text().contains("[m]"), "{}", list.text());
        std::thread::sleep(Duration::from_millis(400));
        list.type_keys("s");
        list.wait_for("allowed once only");
        list.type_keys("n\r");
        assert_eq!(list.wait(), 0);
        assert_eq!(ended(child).status.code(), Some(126), "{text}");
        assert!(!machine.at("project/.git/hooks/pre-commit").exists());
    }
}

#[test]
fn the_list_shows_the_details_and_keeps_an_answer_for_the_session() {
    let machine = machine("");
    let mut list = machine.beside_of_size(&["approvals"], 80, 24);
    list.wait_for("no question is open");
    let child = ask(&machine, ASKED);
    list.wait_for("gsh: 1 question");
    list.type_keys("\r");
    list.wait_for("[Tab] details");
    std::thread::sleep(Duration::from_millis(400));
    list.type_keys("\t");
    list.wait_for("mode: default");
    for part in ["ask process.execute", "rule: process.execute", "runs: "] {
        assert!(list.text().contains(part), "no {part:?} on\n{}", list.text());
    }
    list.type_keys("\t");
    list.wait_for("allow once");
    list.type_keys("s");
    list.wait_for("until that session ends");
    assert!(list.text().contains("\"gsh-test-no-such-program --flag\""), "{}", list.text());
    list.type_keys("y");
    assert_eq!(ended(child).status.code(), Some(0));
    assert_eq!(ended(ask(&machine, ASKED)).status.code(), Some(0));
    assert!(questions(&machine).is_empty());
}

/// Asks where nobody listens: the question's name.
fn asked_in_vain(machine: &Gsh, text: &str) -> String {
    let output = ended(ask(machine, text));
    assert_eq!(output.status.code(), Some(126));
    let told = stderr(&output);
    assert!(told.contains("pending as") && told.contains("passes once"), "{told}");
    question(machine)
}

#[test]
fn a_later_answer_lets_the_same_command_pass_once() {
    let machine = machine("");
    let id = asked_in_vain(&machine, ASKED);
    assert_eq!(asked_in_vain(&machine, ASKED), id, "the same question, not a second one");
    let (said, _) = at_terminal(&machine, &["approve", &id]);
    assert!(said.contains("next such call"), "{said}");
    let output = ended(ask(&machine, ASKED));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let next = asked_in_vain(&machine, ASKED);
    assert_ne!(next, id, "asked anew");
    // A refusal is told once, too.
    at_terminal(&machine, &["refuse", &next, "--reason", "enough"]);
    assert!(stderr(&ended(ask(&machine, ASKED))).contains("enough"));
    asked_in_vain(&machine, ASKED);
}

#[test]
fn a_question_whose_time_is_over_stays() {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let config = format!("on_ask_without_terminal = 'queue'\n[ask]\nterminals = [{holder:?}]\nwait = 1\n");
    let machine = Gsh::new(GSH).config(&config).env("GSH_SESSION", "mine");
    let output = ended(ask(&machine, ASKED));
    assert!(stderr(&output).contains("nobody answered within 1 s"), "{}", stderr(&output));
    let id = question(&machine);
    assert_eq!(questions(&machine)[0]["state"], "kept");
    approve(&machine, &id);
    assert_eq!(ended(ask(&machine, ASKED)).status.code(), Some(0));
}

#[test]
fn whatever_differs_is_asked_again() {
    // What is asked, what changes then, and what is called then.
    let same = "./s.sh one";
    type Change = fn(&Gsh);
    let table: [(&str, Change, &[&str]); 5] = [
        (
            "the script",
            |machine| fs::write(machine.at("project/s.sh"), "exit 4\n").expect("written"),
            &["-c", same],
        ),
        ("the bytes", |_| (), &["-c", "./s.sh  one"]),
        ("an argument", |_| (), &["-c", same, "name", "x"]),
        ("the directory", |_| (), &["-c", "cd .. && cd project; ./s.sh one"]),
        ("the mode", |_| (), &["--accept-edits", "-c", same]),
    ];
    for (what, change, call) in table {
        let machine = machine("").project_file("s.sh", "exit 3\n");
        approve(&machine, &asked_in_vain(&machine, same));
        change(&machine);
        let output = run(&mut machine.detached(call));
        assert_eq!(output.status.code(), Some(126), "{what}: {}", stderr(&output));
        let other = run(machine.detached(["-c", same]).env("GSH_SESSION", "other"));
        assert_eq!(other.status.code(), Some(126), "another session: {}", stderr(&other));
        let elsewhere = run(machine.detached(["-c", same]).current_dir(machine.at("home")));
        assert_ne!(elsewhere.status.code(), Some(3), "another directory");
    }
    let machine = machine("").project_file("s.sh", "exit 3\n");
    fs::set_permissions(machine.at("project/s.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("executable");
    approve(&machine, &asked_in_vain(&machine, same));
    assert_eq!(ended(ask(&machine, same)).status.code(), Some(3), "unchanged, it passes");
}

#[test]
fn a_script_that_changes_while_its_question_is_open_does_not_run() {
    let machine = queue().project_file("s.sh", "exit 3\n");
    let child = ask(&machine, "bash ./s.sh");
    let id = question(&machine);
    fs::write(machine.at("project/s.sh"), "exit 4\n").expect("written");
    approve(&machine, &id);
    let output = ended(child);
    assert_eq!(output.status.code(), Some(126));
    assert!(stderr(&output).contains("changed while the question was open"), "{}", stderr(&output));
}

#[test]
fn an_answer_at_the_terminal_is_bound_as_well() {
    let machine = machine("").project_file("s.sh", "exit 3\n");
    for (change, status) in [(false, 3), (true, 126)] {
        let mut screen = machine.beside_of_size(&["-c", "bash ./s.sh"], 80, 24);
        screen.wait_for("allow once");
        std::thread::sleep(Duration::from_millis(400));
        if change {
            fs::write(machine.at("project/s.sh"), "exit 4\n").expect("written");
        }
        screen.type_keys("y");
        assert_eq!(screen.wait(), status, "{}", screen.text());
    }
}

#[test]
fn who_is_told_may_open_the_list() {
    let machine = machine("");
    let (told, holder) = (machine.at("tell.sh"), std::env::current_exe().expect("this program"));
    let script = format!("#!/bin/bash\ntouch {}\n", machine.at("told").display());
    fs::write(&told, script).expect("written");
    fs::set_permissions(&told, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    let config = format!("[ask]\nterminals = [{holder:?}]\nnotify = [{told:?}]\nwait = 30\n");
    let machine = machine.config(&config);
    let child = ask(&machine, ASKED);
    until("told", || machine.at("told").exists().then_some(()));
    let mut list = machine.beside_of_size(&["approvals"], 80, 24);
    list.wait_for("s left");
    approve(&machine, &question(&machine));
    assert_eq!(ended(child).status.code(), Some(0));
}

#[test]
fn where_nobody_is_to_be_asked_nothing_is_kept() {
    for (config, args, variable) in [
        ("on_ask_without_terminal = 'deny'\n", vec!["-c", ASKED], "X"),
        ("on_ask_without_terminal = 'queue'\n", vec!["--non-interactive", "-c", ASKED], "X"),
        ("on_ask_without_terminal = 'queue'\n", vec!["-c", ASKED], "GSH_NON_INTERACTIVE"),
    ] {
        let machine = machine(config);
        let output = run(machine.detached(&args).env(variable, "1"));
        assert_eq!(output.status.code(), Some(126));
        assert!(questions(&machine).is_empty(), "{args:?}");
    }
    // Unless somebody listens already.
    let machine = machine("");
    let mut list = machine.beside_of_size(&["approvals"], 80, 24);
    list.wait_for("no question is open");
    let child = start(machine.detached(["-c", ASKED]).env("CI", "true"));
    approve(&machine, &question(&machine));
    assert_eq!(ended(child).status.code(), Some(0));
}

#[test]
fn many_questions_at_once_are_each_answered_once() {
    const MANY: usize = 100;
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let config = format!("[ask]\nterminals = [{holder:?}]\nwait = 300\n");
    let machine = Gsh::new(GSH).config(&config).env("GSH_SESSION", "mine");
    let mut list = machine.beside_of_size(&["approvals"], 80, 24);
    list.wait_for("no question is open");
    // The same words for all, so that only their own question tells them apart.
    let children: Vec<Child> = (0..MANY).map(|_| ask(&machine, ASKED)).collect();
    until("all questions", || (questions(&machine).len() == MANY).then_some(()));
    let begun = Instant::now();
    while !questions(&machine).is_empty() && begun.elapsed() < Duration::from_secs(200) {
        list.type_keys("\r");
        list.wait_for("allow once");
        std::thread::sleep(Duration::from_millis(250));
        list.type_keys("y");
        list.wait_for("arrows");
    }
    let outputs: Vec<Output> = children.into_iter().map(ended).collect();
    let ran = outputs.iter().filter(|output| output.status.code() == Some(0)).count();
    assert_eq!(ran, MANY, "{:?}", outputs.iter().map(stderr).find(|text| !text.is_empty()));
    let spent = fs::read_dir(pending(&machine, "spent")).expect("listed").count();
    assert_eq!(spent, MANY);
    let records = records(&machine.at("home/.local/state/gsh/audit"));
    let mut answered: Vec<_> =
        records.iter().filter_map(|record| record["by"]["person"]["question"].as_str()).collect();
    answered.sort_unstable();
    answered.dedup();
    assert_eq!(answered.len(), MANY, "every one once");
}

/// A machine whose calls die at the place that is written to its file.
#[cfg(debug_assertions)]
fn faulty() -> (Gsh, impl Fn(&Gsh, &str)) {
    let machine = queue();
    let fault = machine.at("fault");
    let set = |machine: &Gsh, at: &str| fs::write(machine.at("fault"), at).expect("written");
    set(&machine, "");
    (machine.env("GSH_TEST_FAULT", fault), set)
}

/// The question that somebody waits for.
fn waiting(machine: &Gsh) -> String {
    until("a waiting one", || questions(machine).iter().find(|each| each["state"] == "waiting").map(id))
}

#[test]
#[cfg(debug_assertions)]
fn an_asker_that_dies_at_any_step_runs_nothing() {
    // Where it dies; whether its question is open then; whether it is answered first; whether the answer is still
    // there for the next one.
    for (at, open, answered, left) in [
        ("before-question", 0, false, false),
        ("after-question", 1, false, false),
        ("before-take", 1, true, true),
        ("after-take", 0, true, false),
        ("after-removal", 0, true, false),
    ] {
        let (machine, set) = faulty();
        set(&machine, at);
        let child = ask(&machine, ASKED);
        if answered {
            set(&machine, "");
            let id = question(&machine);
            set(&machine, at);
            // The approver takes no answer, and so does not come by these places.
            approve(&machine, &id);
        }
        let output = ended(child);
        assert_eq!((output.status.code(), output.stdout.len()), (None, 0), "{at}");
        set(&machine, "");
        assert_eq!(questions(&machine).len(), open, "{at}");
        let child = ask(&machine, ASKED);
        if !left {
            approve(&machine, &waiting(&machine));
        }
        assert_eq!(ended(child).status.code(), Some(0), "{at}: the next one is asked, or finds the answer");
        let child = ask(&machine, ASKED);
        at_terminal(&machine, &["refuse", &waiting(&machine)]);
        assert_eq!(ended(child).status.code(), Some(126), "{at}: and the one after that is asked");
    }
}

#[test]
#[cfg(debug_assertions)]
fn an_approver_that_dies_at_any_step_answers_once_or_not() {
    for (at, answered) in [("before-answer", false), ("after-answer", true)] {
        let (machine, set) = faulty();
        let child = ask(&machine, ASKED);
        let id = question(&machine);
        set(&machine, at);
        let mut approver = machine.beside_of_size(&["approve", &id], 80, 24);
        approver.wait_for_death("Killed");
        set(&machine, "");
        if !answered {
            std::thread::sleep(Duration::from_millis(300));
            assert_eq!(questions(&machine)[0]["state"], "waiting", "{at}");
            approve(&machine, &id);
        }
        assert_eq!(ended(child).status.code(), Some(0), "{at}");
    }
}

#[test]
fn a_waiting_call_that_is_ended_leaves_its_question() {
    let machine = queue();
    let child = ask(&machine, ASKED);
    let id = question(&machine);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a process"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
    let output = ended(child);
    assert_eq!((output.status.code(), output.stdout.len()), (None, 0));
    until("left", || (questions(&machine)[0]["state"] == "kept").then_some(()));
    approve(&machine, &id);
    assert_eq!(ended(ask(&machine, ASKED)).status.code(), Some(0));
}

#[test]
fn forged_answers_are_none() {
    let machine = queue();
    let (first, second) = (ask(&machine, ASKED), ask(&machine, "gsh-test-no-such-program; exit 5"));
    let open = until("both", || Some(questions(&machine)).filter(|open| open.len() == 2));
    let find = |command: &str| id(open.iter().find(|each| each["command"] == command).expect("open"));
    let (asked, other) = (find(ASKED), find("gsh-test-no-such-program; exit 5"));
    approve(&machine, &other);
    assert_eq!(ended(second).status.code(), Some(5));
    let genuine =
        fs::read_to_string(pending(&machine, &format!("spent/{other}.answer"))).expect("the answer");
    let named = genuine.replace(&other, &asked);
    let unsigned = r#"{"body":{"reply":"once"},"signature":""}"#;
    let lasting = [&genuine, &named].map(|text| text.replace(r#""once""#, r#""session""#));
    assert_ne!(lasting[0], genuine);
    let unsigned_session = unsigned.replace("once", "session");
    let [longer, named_longer] = &lasting;
    for text in
        [genuine.as_str(), &named, longer, named_longer, unsigned, &unsigned_session, "once", "session", ""]
    {
        let beside = pending(&machine, "forged");
        fs::write(&beside, text).expect("written");
        fs::rename(&beside, pending(&machine, &format!("{asked}.answer"))).expect("in its place");
        std::thread::sleep(Duration::from_millis(150));
        assert_eq!(questions(&machine)[0]["state"], "waiting", "{text}");
    }
    at_terminal(&machine, &["refuse", &asked]);
    let output = ended(first);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(126), 0));
}

/// A call that a rule allows and no table explains: what it starts is beneath gsh.
fn beneath(machine: Gsh, script: &str) -> Gsh {
    let machine = machine.project_file("s.sh", &format!("#!/bin/bash\n{script}\n"));
    fs::set_permissions(machine.at("project/s.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("executable");
    machine
}

#[test]
fn nothing_beneath_gsh_answers() {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let rules = "[permissions.'process.execute']\n'./s.sh' = 'allow'\n";
    // On a terminal of gsh's own, and on the person's, which is worse.
    let machine = |pty: &str| {
        let config = format!(
            "on_ask_without_terminal = 'queue'\n[run]\npty = {pty:?}\n[ask]\nterminals = [{holder:?}]\nwait = 30\n{rules}"
        );
        Gsh::new(GSH).config(&config).env("GSH_SESSION", "mine")
    };
    for call in [
        "GSH approve ID",
        "GSH refuse ID",
        "GSH approvals",
        "GSH approvals --json",
        "env -i HOME=\"$HOME\" PATH=\"$PATH\" GSH approve ID",
        "script -qec 'GSH approve ID' /dev/null",
        "setsid GSH approve ID",
        "(GSH approve ID &) ; sleep 1",
        "(setsid -f GSH approve ID) ; sleep 1",
        "(script -qfc 'GSH approve ID' /dev/null &) ; sleep 1",
    ] {
        for pty in ["auto", "never"] {
            let machine = machine(pty);
            let child = ask(&machine, ASKED);
            let id = question(&machine);
            let script = call.replace("GSH", GSH).replace("ID", &id);
            let machine = beneath(machine, &format!("exec 2>&1\n{script}\necho ended"));
            // On a terminal that is a person's: only what is above the call speaks against it.
            let mut screen = machine.beside_of_size(&["-c", "./s.sh"], 100, 24);
            screen.wait_for("ended");
            assert!(!screen.text().contains("allowed once"), "{call}: {}", screen.text());
            assert_eq!(questions(&machine)[0]["state"], "waiting", "{call}: {}", screen.text());
            at_terminal(&machine, &["refuse", &id]);
            let output = ended(child);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(126), 0), "{call}");
        }
    }
    for call in ["gsh approve abc", "gsh refuse abc", "gsh approvals", "gsh approvals --json"] {
        let run = machine("auto").args(["-c", call]).run();
        assert!(run.stderr().contains("disarm"), "{call}: {}", run.stderr());
    }
}

#[test]
fn a_terminal_that_is_nobodys_answers_nothing() {
    let machine = Gsh::new(GSH).config("on_ask_without_terminal = 'queue'\n").env("GSH_SESSION", "mine");
    let child = ask(&machine, ASKED);
    let id = question(&machine);
    for args in [vec!["approve", &id], vec!["approvals"], vec!["approvals", "--only", &id]] {
        let (said, status) = at_terminal(&machine, &args);
        assert!(status == 2 && said.contains("takes a person at a terminal"), "{said}");
    }
    let output = run(&mut machine.detached(["approve", &id]));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a process"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
    assert_eq!(ended(child).stdout.len(), 0);
}

#[test]
fn programs_are_told_of_a_question_and_change_nothing() {
    let machine = queue();
    let (told, slow) = (machine.at("tell.sh"), machine.at("slow.sh"));
    let output = machine.at("told");
    let script = format!(
        "#!/bin/bash\nprintf '%s\\n' \"$@\" >{0}.new; cat >>{0}.new; mv {0}.new {0}\n",
        output.display()
    );
    for (path, script) in [(&told, script.as_str()), (&slow, "#!/bin/bash\nsleep 5\n")] {
        fs::write(path, script).expect("written");
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    }
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let notify =
        [slow.display().to_string(), "/nonexistent".into(), told.display().to_string(), "bell".into()];
    let config = format!("[ask]\nterminals = [{holder:?}]\nnotify = {notify:?}\n");
    let machine = machine.config(&config);
    let begun = Instant::now();
    let id = asked_in_vain(&machine, ASKED);
    assert!(begun.elapsed() < Duration::from_secs(4), "nobody waits for a slow program");
    let told = until("told", || fs::read_to_string(&output).ok());
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some(id.as_str()));
    assert!(lines.next().is_some_and(|directory| directory.ends_with("/project")), "{told}");
    let about: Value = serde_json::from_str(lines.next().unwrap_or_default()).expect("JSON");
    assert_eq!((&about["question"], &about["command"]), (&id.as_str().into(), &ASKED.into()));
}

#[test]
fn a_web_address_is_no_notifier() {
    let run = Gsh::new(GSH).config("[ask]\nnotify = ['https://example.com/x']\n").args(["status"]).run();
    assert!(run.stdout().contains("name a program that does"), "{}", run.stdout());
}
