//! Callers that are only a shape of a command line, and programs that start their arguments.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use super::place::{Caller, Place, Seen, caller};

/// sudo leaves `$` as it is, so that the outer shell makes another text of these; gsh asks about such a text.
const EXPANDED: [&str; 6] = [
    "kill -TERM $$",
    "printf '%s|' \"a  b\" 'c\"d' \\\\ \"it's\" '$x' '*'; echo",
    "x=5; for i in 1 2; do echo $((x * i)); done | tail -1",
    "echo $# \"$-\" \"${0##*/}\"; set -- a 'b c'; echo $# \"$2\"",
    "cat > doc.txt <<< 'here $HOME'; wc -c < doc.txt; date +%Y | grep -c '^20'",
    "umask; ulimit -n; pwd; echo \"$PWD\"",
];

/// A script file is run from the copy that was decided, as the text of `-c`: that letter is in `$-`.
pub(super) const DECIDED: [&str; 1] = ["echo $# \"$-\" \"${0##*/}\"; set -- a 'b c'; echo $# \"$2\""];

pub(super) fn callers() -> Vec<Caller> {
    vec![
        caller("a Docker SHELL", &[], |place, text| shaped(place, &["-o", "pipefail", "-c", text])),
        caller("a login shell's -c", &["bash"], |place, text| {
            let mut command = place.command(&place.shell());
            place.run(command.arg0("-gsh").args(["-c", text]), "")
        }),
        caller("sudo -s", &[], |place, text| {
            // It puts a backslash before whatever may mean something, and hands the words over as one.
            let words = ["bash", "-c", text].map(backslashed);
            shaped(place, &["-c", &words.join(" ")])
        })
        .without(&EXPANDED),
        caller("a script on standard input", &[], |place, text| {
            place.run(&mut place.command(&place.shell()), &format!("{text}\n"))
        }),
        caller("-s with arguments", &[], |place, text| {
            let mut command = place.command(&place.shell());
            place.run(command.args(["-s", "--", "a b"]), &format!("{text}\n"))
        }),
        caller("a script file", &[], |place, text| {
            place.write("work/script", &format!("{text}\n"));
            shaped(place, &["./script", "a b"])
        })
        .without(&DECIDED),
        caller("a script's first line", &[], |place, text| started(place, &place.shell(), text))
            .without(&DECIDED),
        caller("a first line with -e", &[], |place, text| {
            started(place, &format!("{} -e", place.shell()), text)
        })
        .without(&DECIDED),
        caller("a first line with env", &["env"], |place, text| started(place, "/usr/bin/env gsh", text))
            .without(&DECIDED),
        caller("find -exec", &["find"], |place, text| {
            let mut command = place.command("find");
            let find = command.args(["made-before", "-exec", &place.shell(), "-c", text, "name", "{}", ";"]);
            place.run(find, "")
        }),
        caller("xargs -I", &["xargs"], |place, text| {
            let mut command = place.command("xargs");
            place.run(command.args(["-I", "@", &place.shell(), "-c", text, "@"]), "a b\n")
        }),
        caller("timeout", &["timeout"], |place, text| {
            place.run(place.command("timeout").args(["60", &place.shell(), "-c", text]), "")
        }),
        caller("nice nohup setsid", &["nice", "nohup", "setsid"], |place, text| {
            let mut command = place.command("nice");
            place.run(command.args(["nohup", "setsid", "-w", &place.shell(), "-c", text]), "")
        }),
    ]
}

fn shaped(place: &Place, args: &[&str]) -> Seen {
    place.run(place.command(&place.shell()).args(args), "")
}

fn backslashed(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '$');
    text.chars().fold(String::new(), |mut all, letter| {
        if !plain(letter) {
            all.push('\\');
        }
        all.push(letter);
        all
    })
}

fn started(place: &Place, by: &str, text: &str) -> Seen {
    place.write("work/script", &format!("#!{by}\n{text}\n"));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.at("work/script"), mode).expect("a mode");
    let mut command = place.command(&place.text_at("work/script"));
    command.env("PATH", format!("{}:/usr/bin:/bin", place.text_at("bin")));
    place.run(command.arg("a b"), "")
}
