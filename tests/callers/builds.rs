//! What builds and runs tasks: make, npm, just.

use super::place::{Caller, Place, Seen, caller};

/// For a make that is started by a recipe.
const MAKE: &str = "[permissions.\"process.execute\"]\n\"make *\" = \"allow\"\n";

pub(super) fn callers() -> Vec<Caller> {
    vec![
        caller("make", &["make"], |place, text| make(place, &rule(text), &[])),
        caller("make with strict flags", &["make"], |place, text| {
            make(place, &format!(".SHELLFLAGS = -eu -o pipefail -c\n{}", rule(text)), &[])
        }),
        caller("make with one shell for a recipe", &["make"], |place, text| {
            make(place, &format!(".ONESHELL:\n{}\techo next line\n", rule(text)), &[])
        }),
        caller("make's function shell", &["make"], |place, text| {
            // By way of a variable: a comma or a parenthesis in the text itself would be make's own.
            let rules = format!("define text\n{}\nendef\n$(info $(shell $(text)))\n", escaped(text));
            make(place, &format!("{rules}$(info status $(.SHELLSTATUS))\nall:\n"), &[])
        }),
        Caller {
            rule: MAKE,
            ..caller("make with its jobserver", &["make"], |place, text| {
                // The one below takes its turns from the pipe that it inherits through the shell, and says so if
                // that is not there.
                let below = "all: c\na b:; @true\nc: a b\n\t+@$(MAKE) --no-print-directory -f below.mk\n";
                place.write("work/below.mk", &format!("SHELL = {}\n{}", place.shell(), rule(text)));
                make(place, below, &["-j4"])
            })
        },
        caller("npm run", &["npm", "node"], |place, text| npm(place, text, &["run", "t"])),
        caller("npm run with arguments", &["npm", "node"], |place, text| {
            npm(place, &format!("{text}\nprintf '<%s>'"), &["run", "t", "--", "a b", "it's", "$HOME"])
        }),
        caller("npm exec -c", &["npm", "node"], |place, text| {
            npm(place, "", &["exec", "--offline", "-c", text])
        }),
        caller("just", &["just"], |place, text| just(place, "-c", text)),
        caller("just with strict flags", &["just"], |place, text| just(place, "-cu", text)),
    ]
}

fn escaped(text: &str) -> String {
    text.replace('$', "$$")
}

fn rule(text: &str) -> String {
    format!("all:\n\t@{}\n", escaped(text))
}

fn make(place: &Place, rules: &str, args: &[&str]) -> Seen {
    place.write("work/Makefile", &format!("SHELL = {}\n{rules}", place.shell()));
    place.run(place.command("make").arg("--no-print-directory").args(args), "")
}

fn just(place: &Place, option: &str, text: &str) -> Seen {
    let shell = place.shell();
    place.write("work/justfile", &format!("set shell := [\"{shell}\", \"{option}\"]\nall:\n  @{text}\n"));
    place.run(place.command("just").args(["--justfile", "justfile"]), "")
}

fn npm(place: &Place, script: &str, args: &[&str]) -> Seen {
    let package = serde_json::json!({ "name": "t", "version": "1.0.0", "scripts": { "t": script } });
    place.write("work/package.json", &package.to_string());
    let mut command = place.command("npm");
    command.args(["--silent", "--script-shell", &place.shell()]).args(args);
    for (name, value) in
        [("update_notifier", "false"), ("audit", "false"), ("fund", "false"), ("offline", "true")]
    {
        command.env(format!("npm_config_{name}"), value);
    }
    // What it keeps is not the project's.
    command.env("npm_config_cache", place.at("kept/npm")).env("npm_config_logs_max", "0");
    place.run(&mut command, "")
}
