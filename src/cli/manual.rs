//! `gsh man` and `gsh completions`: from the same definition that command lines are read by.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// What every verb ends with.
const COMMON: [(&str, &str); 2] =
    [("0", "it is done"), ("2", "the command line is wrong, or it could not be done")];

/// What gsh ends with as a shell.
const SHELL: &[(&str, &str)] = &[
    ("0 to 255", "what the command ended with; where a signal ended it, gsh ends by the same one"),
    ("2", "the command line is wrong, as bash has it"),
    ("124", "the command outlived its time limit and goes on as a job ([run] timeout_status)"),
    ("125", "gsh itself failed: nothing ran, or its end is not known"),
    ("126", "refused by a rule, the floor or a person, or nobody could be asked"),
];

/// What a verb ends with beside the common ones.
fn statuses(verb: &str) -> &'static [(&'static str, &'static str)] {
    match verb {
        "check" => &[("0", "allow"), ("10", "review"), ("11", "ask"), ("12", "deny")],
        "audit" => &[("1", "verify: the chain is broken")],
        "doctor" => &[("1", "the agent's commands pass gsh by, or that could not be told")],
        "jobs" => &[
            ("1", "there is no such job, or it could not be done"),
            ("124", "wait: the job has not ended in time"),
            ("0 to 255", "wait: what the job ended with"),
        ],
        "rules" => &[
            ("1", "lint: warnings; test: an example is not decided as it says"),
            ("2", "lint: errors; the command line is wrong, or it could not be done"),
        ],
        "hook" => {
            &[("0 or 2", "what the agent takes for an answer; the reply is on standard output or error")]
        }
        "wrap" => &[("0 to 255", "what the agent ended with"), ("125", "it could not be started")],
        _ => &[],
    }
}

/// The page of gsh, or of a verb.
///
/// # Errors
/// For a verb that there is not.
pub(super) fn page(mut gsh: Command, verb: Option<&str>) -> Result<String, String> {
    gsh.build();
    let Some(verb) = verb else {
        let text = gsh.get_after_help().map(ToString::to_string).unwrap_or_default();
        return rendered(&Man::new(gsh), SHELL, &text);
    };
    let found = gsh.find_subcommand(verb).cloned().ok_or_else(|| format!("man: {verb}: no such verb"))?;
    let special = statuses(verb);
    let common = COMMON.iter().filter(|(status, _)| !special.iter().any(|(other, _)| other == status));
    let all: Vec<_> = special.iter().chain(common).copied().collect();
    let below: Vec<Command> =
        found.get_subcommands().filter(|each| each.get_name() != "help").cloned().collect();
    let man = Man::new(found);
    let mut text = String::new();
    for each in below {
        text.push_str(&format!("{}\n\n", each.clone().render_long_help()));
    }
    rendered(&man, &all, &text)
}

fn rendered(man: &Man, statuses: &[(&str, &str)], more: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    type Part<'a> = &'a dyn Fn(&mut Vec<u8>) -> std::io::Result<()>;
    let parts: [Part<'_>; 5] = [
        &|out| man.render_title(out),
        &|out| man.render_name_section(out),
        &|out| man.render_synopsis_section(out),
        &|out| man.render_description_section(out),
        &|out| man.render_options_section(out),
    ];
    for part in parts {
        part(&mut bytes).map_err(|error| error.to_string())?;
    }
    let mut roff = Roff::default();
    if !more.trim().is_empty() {
        roff.control("SH", ["USAGE"]);
        roff.control("nf", []);
        for line in more.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in statuses {
        roff.control("TP", []);
        roff.text([roman(*status)]);
        roff.text([roman(*meaning)]);
    }
    roff.to_writer(&mut bytes).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// The text that a shell takes to complete gsh's words.
pub(super) fn completions(mut gsh: Command, shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut gsh, "gsh", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
