//! gsh as a shell, against the real bash: the same status, output, signals and names. Every text here is
//! harmless by itself.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::machine::{Gsh, Run, starting};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// What bash makes of the same arguments: status, signal, output.
fn bash(args: &[&str], stdin: &str) -> (Option<i32>, Option<i32>, Vec<u8>) {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    let turn = starting();
    let mut child = Command::new("/bin/bash")
        .args(args)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir("/tmp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash");
    drop(turn);
    // A text that does not read its input may be gone before it is written.
    let _ = child.stdin.take().expect("its input").write_all(stdin.as_bytes());
    let output = child.wait_with_output().expect("its end");
    (output.status.code(), output.status.signal(), output.stdout)
}

#[test]
fn arguments_status_output_and_signals_are_bashs() {
    let table: &[(&[&str], &str)] = &[
        (&["-c", "echo hi"], ""),
        (&["-c", "exit 7"], ""),
        (&["-c", "sort | uniq -c"], "b\na\nb\n"),
        (&["-c", "kill -TERM $$"], ""),
        (&["-c", "kill -KILL $$"], ""),
        (&["-c", "false"], ""),
        (&["-c", "true && echo yes || echo no"], ""),
        (&["-c", "echo \"$0 $# $1 $2\"", "name", "a b", "c"], ""),
        (&["-c", "printf '%s|' \"$@\"", "name", "", "x  y"], ""),
        (&["-lc", "echo login"], ""),
        (&["-c", "-l", "echo apart"], ""),
        (&["-l", "-c", "echo apart"], ""),
        (&["-ec", "false; echo never"], ""),
        (&["-cu", "echo ${unset_name}"], ""),
        (&["-eu", "-o", "pipefail", "-c", "false | true; echo never"], ""),
        (&["--norc", "--noprofile", "-c", "echo plain"], ""),
        (&["-c", "cat"], "what comes in\nno newline at the end"),
        (&["-c", "read -r line; echo \"[$line]\"; cat"], "one\ntwo\nthree\n"),
        (&["-c", "no-such-program-here"], ""),
        (&["-c", "/tmp"], ""),
        (&["-c", "ls /no/such/folder"], ""),
        (&["-c", "echo out; echo err >&2; echo out"], ""),
        (&["-c", "for i in 1 2 3; do echo $i; done | tail -1"], ""),
        (&["-c", "f() { echo \"in $1\"; return 3; }; f x"], ""),
        (&["-c", "cat <<'EOF'\na $b `c`\nEOF"], ""),
        (&["-c", "x=5; echo $((x * 2))"], ""),
        (&["-c", ""], ""),
        (&["-c", "# only a comment"], ""),
        (&["-c", "echo $PPID | grep -c ."], ""),
        (&["-c", "printf 'no newline'"], ""),
        (&["-s", "--", "a1"], "echo \"from $1\"\nexit 4\n"),
        (&[], "echo one\necho two\nexit 5\n"),
        (&["-n", "-c", "echo never"], ""),
        (&["-c", "umask; ulimit -n"], ""),
        (&["-c", "printf '\\x00\\xff\\n'"], ""),
        (&["-c", "pwd; echo \"$PWD\""], ""),
    ];
    for (args, stdin) in table {
        // The mode only answers what would be asked; nothing here is refused in any mode.
        let run =
            Gsh::new(GSH).args(["--yolo"]).args(args.iter().copied()).stdin(*stdin).in_folder("/tmp").run();
        let (status, signal, stdout) = bash(args, stdin);
        assert_eq!((run.status, run.signal), (status, signal), "{args:?}: {}", run.stderr());
        assert_eq!(String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&stdout), "{args:?}");
    }
}

#[test]
fn a_script_file_runs_with_its_name_and_arguments() {
    let machine = || Gsh::new(GSH).project_file("script.sh", "#!/bin/bash\necho \"$0|$1|$#\"\nexit 6\n");
    let run = machine().args(["script.sh", "a b"]).run();
    assert_eq!((run.status, run.stdout()), (Some(6), "script.sh|a b|1\n".to_owned()), "{}", run.stderr());
    let run = machine().args(["no-such-script.sh"]).run();
    assert_eq!(run.status, Some(127));
    assert!(run.stderr().contains("no-such-script.sh"), "{}", run.stderr());
}

#[test]
fn named_bash_it_is_only_a_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("bash");
    std::os::unix::fs::symlink(GSH, &link).expect("a link");
    let run = Gsh::new(&link).args(["-c", "echo \"$0\" as bash"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    assert!(run.stdout().ends_with(" as bash\n"), "{}", run.stdout());
    // A verb is a script's name here.
    let run = Gsh::new(&link).args(["status"]).run();
    assert_eq!(run.status, Some(127), "{}", run.stdout());
}

#[test]
fn a_refusal_says_what_and_what_to_do() {
    let run = Gsh::new(GSH).args(["-c", "echo before; gsh-canary-deny --x; echo after"]).run();
    assert_eq!((run.status, run.stdout()), (Some(126), String::new()));
    assert!(run.stderr().starts_with("gsh: "), "{}", run.stderr());
    assert!(run.stderr().contains("canary"), "{}", run.stderr());
    let run = Gsh::new(GSH).args(["--yolo", "-c", "gsh-canary-deny"]).run();
    assert_eq!(run.status, Some(126), "no mode lifts the floor");
    let run = Gsh::new(GSH).args(["-c", "some-unknown-program --flag"]).run();
    assert_eq!(run.status, Some(126));
    assert!(run.stderr().contains("some-unknown-program --flag"), "{}", run.stderr());
    let run = Gsh::new(GSH).env("GSH_JSON", "1").args(["-c", "gsh-canary-deny"]).run();
    let object: serde_json::Value = serde_json::from_str(run.stderr().trim()).expect("one object");
    assert_eq!(object["floor"], "canary");
}

#[test]
fn a_rule_names_its_file_and_line() {
    let config = "[permissions.\"process.execute\"]\n\"some-tool *\" = \"deny\"\n";
    let run = Gsh::new(GSH).config(config).args(["-c", "some-tool run"]).run();
    assert_eq!(run.status, Some(126));
    assert!(run.stderr().contains("config.toml:2"), "{}", run.stderr());
    // An allow rule lets it reach the shell, which does not find it.
    let config = "[permissions.\"process.execute\"]\n\"some-tool *\" = \"allow\"\n";
    let run = Gsh::new(GSH).config(config).args(["-c", "some-tool run"]).run();
    assert_eq!(run.status, Some(127), "{}", run.stderr());
}

#[test]
fn every_call_leaves_one_record() {
    for (text, status, verdict, runs) in [
        ("echo hi", 0, "allow", Value::Bool(true)),
        ("", 0, "allow", Value::Bool(true)),
        ("gsh-canary-deny", 126, "deny", Value::Bool(false)),
        // The question's own line says how it was settled.
        ("unknown-program-x", 126, "ask", Value::Null),
    ] {
        let run = Gsh::new(GSH).args(["-c", text]).run();
        assert_eq!(run.status, Some(status), "{text}");
        let records = run.records();
        let opened: Vec<_> = records.iter().filter(|record| record["event"] == "opened").collect();
        assert_eq!(opened.len(), 1, "{text}");
        assert_eq!(opened[0]["verdict"], verdict, "{text}");
        assert_eq!(opened[0]["runs"], runs, "{text}");
        assert_eq!(opened[0]["command"], text);
        let closed: Vec<_> = records.iter().filter(|record| record["event"] == "closed").collect();
        assert_eq!(closed.len(), 1, "{text}");
        assert_eq!(closed[0]["id"], opened[0]["id"]);
    }
}

#[test]
fn without_a_place_for_records_only_reading_goes_on() {
    // A file where the folder should be: nobody, root included, can write below it.
    let blocked = |gsh: Gsh| {
        let state = gsh.at("home/.local/state");
        std::fs::remove_dir_all(&state).expect("the folder");
        std::fs::write(&state, "").expect("a file in its place");
        gsh
    };
    let run = blocked(Gsh::new(GSH)).args(["-c", "echo reading"]).run();
    assert_eq!((run.status, run.stdout()), (Some(0), "reading\n".to_owned()), "{}", run.stderr());
    let run = blocked(Gsh::new(GSH)).args(["-c", "touch made; ls"]).run();
    assert_eq!((run.status, run.stdout()), (Some(125), String::new()), "{}", run.stderr());
    assert!(run.stderr().contains("record"), "{}", run.stderr());
    let config = "[audit]\nrequired = false\n";
    let run = blocked(Gsh::new(GSH).config(config)).args(["-c", "touch made; ls"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
}

#[test]
fn odd_surroundings_have_a_clear_end() {
    let run = Gsh::new(GSH).env("HOME", "").args(["-c", "echo no home"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let run = Gsh::new(GSH).config("[shell]\npath = \"/no/such/shell\"\n").args(["-c", "ls; ls"]).run();
    assert_eq!(run.status, Some(125), "{}", run.stdout());
    assert!(run.stderr().contains("/no/such/shell"), "{}", run.stderr());
    let run = Gsh::new(GSH).config("on_unresolved = \"sometimes\"\n").args(["-c", "echo damaged"]).run();
    assert_eq!(run.status, Some(126), "a damaged file turns silence into a question: {}", run.stderr());
    assert!(run.stderr().contains("config.toml"), "{}", run.stderr());
    let run = Gsh::new(GSH).args(["-Z", "-c", "ls"]).run();
    assert_eq!(run.status, Some(2));
    let run = Gsh::new(GSH).args(["--mode", "sometimes", "-c", "ls"]).run();
    assert_eq!(run.status, Some(2));
}

#[test]
fn an_outer_mode_is_only_tightened() {
    let text = "touch here.txt";
    for (outer, given, status) in [
        ("plan", "--yolo", 126),
        ("default", "--plan", 126),
        ("plan", "--plan", 126),
        ("default", "--yolo", 0),
    ] {
        let run = Gsh::new(GSH).env("GSH_MODE", outer).args([given, "-c", text]).run();
        assert_eq!(run.status, Some(status), "{outer} {given}: {}", run.stderr());
    }
}

const MAKEFILE: &str = "\
OBJECTS = main.o sum.o
program: $(OBJECTS)
\tcc -o $@ $(OBJECTS)
%.o: %.c sum.h
\tcc -Wall -c $< && echo \"made $@\"
version:
\t@echo \"$(shell echo one; echo two)\" | sed 's/one/first/'
\t@for word in a b; do \\
\t  printf '%s-' $$word; \\
\tdone; echo
canary: program
\t@echo before
\tgsh-canary-deny everything
\t@echo after
";

fn c_project(gsh: Gsh) -> Gsh {
    gsh.project_file("Makefile", MAKEFILE)
        .project_file("sum.h", "int sum(int a, int b);\n")
        .project_file("sum.c", "#include \"sum.h\"\nint sum(int a, int b) { return a + b; }\n")
        .project_file("main.c", "#include <stdio.h>\n#include \"sum.h\"\nint main(void) { printf(\"%d\\n\", sum(2, 3)); return 0; }\n")
}

/// GNU make as the caller: what it prints with gsh as its shell, and with bash.
#[test]
fn make_builds_with_gsh_as_with_bash() {
    let outputs: Vec<_> = ["bash", "gsh"]
        .iter()
        .map(|which| {
            let gsh = c_project(Gsh::new("make"));
            let shell = if *which == "bash" { "SHELL=/bin/bash".to_owned() } else { format!("SHELL={GSH}") };
            // A caller that gives its shell no arguments of gsh's own sets the mode by the environment.
            let run = gsh
                .env("GSH_MODE", "bypass")
                .args(["--no-print-directory", &shell, "program", "version"])
                .run();
            let built = std::fs::read(run.at("project/program")).expect("the program");
            let _turn = starting();
            let says = Command::new(run.at("project/program")).output().expect("it runs").stdout;
            (run.status, run.stdout(), run.stderr(), built, says)
        })
        .collect();
    let (bash, gsh) = (&outputs[0], &outputs[1]);
    assert_eq!(gsh.0, Some(0), "{}", gsh.2);
    assert_eq!((&gsh.1, &gsh.2), (&bash.1, &bash.2), "what make prints");
    assert_eq!(gsh.4, b"5\n");
    assert_eq!(gsh.3, bash.3, "the program, byte for byte");
}

#[test]
fn make_is_stopped_at_the_canary() {
    let run = c_project(Gsh::new("make"))
        .env("GSH_MODE", "bypass")
        .args(["--no-print-directory", &format!("SHELL={GSH}"), "canary"])
        .run();
    assert_eq!(run.status, Some(2), "{}", run.stdout());
    assert!(run.stdout().contains("before\n") && !run.stdout().contains("after\n"), "{}", run.stdout());
    assert!(run.stderr().contains("canary"), "{}", run.stderr());
}

/// The one file of the machine's records.
fn day_file(machine: &Gsh) -> PathBuf {
    let folder = machine.at("home/.local/state/gsh/audit");
    let entry = std::fs::read_dir(folder).expect("records").next().expect("a file");
    entry.expect("an entry").path()
}

#[test]
fn a_record_after_a_torn_line_has_a_line_of_its_own() {
    let run = Gsh::new(GSH).args(["-c", "echo first"]).run();
    let file = day_file(&run.machine);
    let whole = std::fs::read_to_string(&file).expect("records");
    // The closing line was cut in its middle.
    let torn = whole.trim_end().strip_suffix('}').expect("a closing line").to_owned();
    std::fs::write(&file, &torn).expect("a torn file");
    let run = run.machine.again().args(["-c", "echo second"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let text = std::fs::read_to_string(&file).expect("records");
    let kept = std::fs::read_to_string(file.with_extension("torn")).expect("what was torn is kept");
    assert_eq!(kept.trim_end(), torn.lines().next_back().expect("a torn line"));
    let events: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a record")["event"].clone())
        .collect();
    assert_eq!(events, ["opened", "opened", "closed"]);
}

/// gsh where no file may grow beyond so many KiB, and what meets that limit dies or, `ignore`d, is told.
fn limited(machine: Gsh, kib: u32, signal: &str, text: &str) -> Run {
    let script = format!("ulimit -f {kib}; exec env --{signal}-signal=XFSZ \"$0\" -c \"$1\"");
    machine.again().program("/bin/bash").args(["-c", &script, GSH, text]).run()
}

#[test]
fn a_limit_on_files_is_no_death_of_gsh() {
    let machine = || Gsh::new(GSH).args(["-c", "echo first"]).run().machine;
    // No place takes a record: nothing runs, and it is said.
    let run = limited(machine(), 0, "default", "echo hi");
    assert_eq!((run.status, run.signal, run.stdout()), (Some(125), None, String::new()), "{}", run.stderr());
    assert!(run.stderr().contains("record"), "{}", run.stderr());
    // The day's file is beyond the limit; the place to fall back to may or may not be.
    let full = machine();
    let mut text = std::fs::read_to_string(day_file(&full)).expect("records");
    text.push_str(&format!("{{\"event\":\"padding\",\"text\":\"{}\"}}\n", "x".repeat(4096)));
    std::fs::write(day_file(&full), text).expect("a long file");
    let run = limited(full, 3, "default", "echo hi");
    let expected = if run.status == Some(0) { (Some(0), "hi\n") } else { (Some(125), "") };
    assert_eq!((run.status, run.stdout().as_str()), expected, "{}", run.stderr());
    assert_eq!(run.records().len(), 3, "nothing was added");
}

#[test]
fn the_command_has_its_callers_way_with_a_limit_on_files() {
    const TOO_LARGE: i32 = 25;
    let text = "echo x > made; exit 3";
    for (disposition, status, signal) in [("default", None, Some(TOO_LARGE)), ("ignore", Some(3), None)] {
        let machine = Gsh::new(GSH).config("[audit]\nrequired = false\n");
        let run = limited(machine, 0, disposition, text);
        assert_eq!((run.status, run.signal), (status, signal), "{disposition}: {}", run.stderr());
    }
}

#[test]
fn a_text_without_end_is_not_read_for_ever() {
    let run = Gsh::new(GSH).args(["/dev/zero"]).run();
    assert_eq!(run.status, Some(126), "{}", run.stderr());
    assert!(run.stderr().contains("/dev/zero: too long to be decided"), "{}", run.stderr());
    // Lines without end are run without end, as by bash; this is one.
    let run = Gsh::new("/bin/bash").args(["-c", "yes echo | tr '\\n' ' ' | \"$0\"", GSH]).run();
    assert_eq!((run.status, run.stdout()), (Some(126), String::new()), "{}", run.stderr());
    assert!(run.stderr().contains("standard input: too long"), "{}", run.stderr());
}

/// What stands in a refusal between the line that ends so and the next sentence.
fn lines_after(text: &str, end: &str, count: usize) -> String {
    let mut lines = text.lines().skip_while(|line| !line.ends_with(end)).skip(1);
    lines.by_ref().take(count).fold(String::new(), |all, line| all + line + "\n")
}

#[test]
fn the_lines_that_a_refusal_offers_are_enough() {
    for (text, count, end) in [
        ("git push origin main", 1, "with this line:"),
        ("npm test", 1, "with this line:"),
        ("git push origin main; npm test", 2, "which are all needed:"),
    ] {
        let run = Gsh::new(GSH).args(["-c", text]).run();
        assert_eq!(run.status, Some(126), "{text}");
        let lines = lines_after(&run.stderr(), end, count);
        assert_eq!(lines.lines().count(), count, "{}", run.stderr());
        let run = run.machine.again().config(&format!("[permissions]\n{lines}")).args(["-c", text]).run();
        assert_ne!(run.status, Some(126), "{text} with\n{lines}: {}", run.stderr());
        assert!(!run.stderr().starts_with("gsh: "), "{}", run.stderr());
    }
}

#[test]
fn a_refusal_offers_no_lines_that_would_not_do() {
    let run = Gsh::new(GSH).project_file("a", "text").args(["-c", "npm test; rm a"]).run();
    assert_eq!(run.status, Some(126));
    assert!(!run.stderr().contains("= \"allow\""), "{}", run.stderr());
    let damaged = Gsh::new(GSH).config("no_such_key = 1\n").args(["-c", "npm test"]).run();
    assert_eq!(damaged.status, Some(126));
    assert!(!damaged.stderr().contains("= \"allow\""), "{}", damaged.stderr());
    assert!(damaged.stderr().contains("`gsh status` shows what is wrong"), "{}", damaged.stderr());
}

#[test]
fn refusals_say_what_helps_and_nothing_twice() {
    for (args, expected) in [
        (vec!["-c", "echo 'never closed"], "Correcting it needs nobody's approval."),
        (vec!["--mode", "dont-ask", "-c", "gsh-test-one --a"], "mode dont-ask refuses what asks"),
    ] {
        let run = Gsh::new(GSH).args(args.clone()).run();
        assert_eq!(run.status, Some(126), "{args:?}");
        assert!(run.stderr().contains(expected), "{args:?}: {}", run.stderr());
    }
    let run = Gsh::new(GSH).args(["-c", "gsh-canary-deny"]).run();
    let first = run.stderr().lines().next().unwrap_or_default().to_owned();
    assert_eq!(first.matches("gsh-canary-deny").count(), 1, "{first}");
}
