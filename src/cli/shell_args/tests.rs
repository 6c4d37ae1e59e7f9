use super::*;

fn parse(line: &str) -> Result<ShellCall, BadOption> {
    parse_as("bash", line)
}

fn parse_as(argv0: &str, line: &str) -> Result<ShellCall, BadOption> {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    read(argv0.into(), &words)
}

/// The text, the name with the arguments, and the options.
fn shape(call: &ShellCall) -> (String, String, String) {
    let text = match &call.text {
        Text::Command(text) => format!("c:{}", text.display()),
        Text::File(file) => format!("f:{}", file.display()),
        Text::Stdin => "stdin".to_owned(),
        Text::Nothing => "nothing".to_owned(),
    };
    let join = |words: &[OsString]| words.join(OsStr::new(" ")).to_string_lossy().into_owned();
    let mut operands = Vec::from_iter(call.name.clone());
    operands.extend(call.args.iter().cloned());
    (text, join(&operands), join(&call.options))
}

#[test]
fn command_lines_are_taken_apart() {
    let table = [
        ("-c CMD", "c:CMD", "", "-c"),
        ("-lc CMD", "c:CMD", "", "-lc"),
        ("-c -l CMD", "c:CMD", "", "-c -l"),
        ("-l -c CMD n a b", "c:CMD", "n a b", "-l -c"),
        ("-ec CMD", "c:CMD", "", "-ec"),
        ("-cu CMD", "c:CMD", "", "-cu"),
        ("-eu -o pipefail -c CMD", "c:CMD", "", "-eu -o pipefail -c"),
        ("-euo pipefail -c CMD", "c:CMD", "", "-euo pipefail -c"),
        ("-co pipefail CMD", "c:CMD", "", "-co pipefail"),
        ("+x -O extglob +O nullglob -c CMD", "c:CMD", "", "+x -O extglob +O nullglob -c"),
        ("--norc --noprofile -c CMD", "c:CMD", "", "--norc --noprofile -c"),
        ("-norc -c CMD", "c:CMD", "", "-norc -c"),
        ("--rcfile F --init-file G -i", "stdin", "", "--rcfile F --init-file G -i"),
        ("-c -- -x n", "c:-x", "n", "-c"),
        ("-c - CMD", "c:CMD", "", "-c"),
        ("-s -- a b", "stdin", "a b", "-s"),
        ("script a -c b", "f:script", "a -c b", ""),
        ("-e -- -script a", "f:-script", "a", "-e"),
        ("- script", "f:script", "", ""),
        ("", "stdin", "", ""),
        ("--version -c CMD", "nothing", "-c CMD", "--version"),
    ];
    for (line, text, operands, options) in table {
        let found = parse(line).map(|call| shape(&call));
        assert_eq!(found, Ok((text.to_owned(), operands.to_owned(), options.to_owned())), "{line}");
    }
}

#[test]
fn options_that_change_the_reading_are_seen() {
    let none = ReadingOptions::default();
    let table = [
        ("-c CMD", none),
        ("-ic CMD", ReadingOptions { interactive: true, ..none }),
        ("-O extglob -c CMD", ReadingOptions { expansion: true, ..none }),
        ("-O lastpipe -c CMD", ReadingOptions { shopt: true, ..none }),
        ("+B -c CMD", ReadingOptions { expansion: true, ..none }),
        ("-kc CMD", ReadingOptions { expansion: true, ..none }),
        ("--posix -c CMD", ReadingOptions { posix: true, ..none }),
        ("-o posix -c CMD", ReadingOptions { posix: true, ..none }),
        ("--posix +o posix -c CMD", none),
        ("-xc CMD", ReadingOptions { xtrace: true, ..none }),
        ("-x +x -c CMD", none),
        ("-n script", ReadingOptions { noexec: true, ..none }),
        ("--dump-strings script", ReadingOptions { noexec: true, ..none }),
    ];
    for (line, reading) in table {
        assert_eq!(parse(line).map(|call| call.reading), Ok(reading), "{line}");
    }
    let names = [("sh", true, false), ("-sh", true, true), ("/bin/sh", true, false), ("-bash", false, true)];
    for (name, posix, login) in names {
        let found = parse_as(name, "-c CMD").map(|call| (call.reading.posix, call.login));
        assert_eq!(found, Ok((posix, login)), "{name}");
    }
    assert_eq!(parse("-lc CMD").map(|call| call.login), Ok(true));
}

#[test]
fn bash_agrees_on_what_it_accepts() {
    let table = [
        "-c exit",
        "-c --norc exit",
        "--nope -c exit",
        "-z -c exit",
        "+z -c exit",
        "-c",
        "-o nope -c exit",
        "-o pipefail -c exit",
        "+o errexit -c exit",
        "-euxo pipefail -c exit",
        "--rcfile",
        "--rcfile F -c exit",
        "-login -c exit",
        "-c -e -- exit",
        "-Bc exit",
        "-Ic exit",
        "--posix -lc exit",
        "-abefhkmnptuvxBCEHPTc exit",
    ];
    for line in table {
        // Only words like `exit` and options are ever run here.
        let shell = std::process::Command::new("/bin/bash")
            .args(line.split_whitespace())
            .env_clear()
            .stdin(std::process::Stdio::null())
            .output();
        let Ok(shell) = shell else { return };
        assert_eq!(parse(line).is_err(), shell.status.code() == Some(2), "{line}");
        if let Err(BadOption { message, .. }) = parse(line) {
            let said = String::from_utf8_lossy(&shell.stderr);
            assert!(said.lines().next().is_some_and(|first| first.ends_with(&message)), "{line}: {said}");
        }
    }
}
