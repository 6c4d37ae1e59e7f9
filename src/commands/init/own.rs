//! `gsh init bash`, `zsh`, `fish` and `tmux`: one marked block in the file that a person's own shell reads first, and
//! the file that it reads (`shell-integration/`).

use std::path::PathBuf;

use super::plan::{Plan, Step};
use super::{Call, NotSetUp, Place, confirm, notes, show, write};
use crate::syntax::quote;

/// What stands around the lines; the second is looked for when they are taken out.
pub(super) const BEGIN: &str = "# >>> gsh: `gsh init` wrote this, and `--undo` takes it out";
pub(super) const END: &str = "# <<< gsh";

/// Tells a file of ours from somebody else's.
const MARK: &str = "gsh looks over your shoulder";

/// What a person works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    Bash,
    Zsh,
    Fish,
    Tmux,
}

const ALL: [(&str, Own, &str); 4] = [
    ("bash", Own::Bash, include_str!("../../../shell-integration/gsh.bash")),
    ("zsh", Own::Zsh, include_str!("../../../shell-integration/gsh.zsh")),
    ("fish", Own::Fish, include_str!("../../../shell-integration/gsh.fish")),
    ("tmux", Own::Tmux, include_str!("../../../shell-integration/gsh.tmux.conf")),
];

/// Whether a name is one of these, and no agent's.
pub(super) fn is_own(name: &str) -> bool {
    ALL.iter().any(|(known, ..)| *known == name)
}

/// Sets one up, or puts it back.
pub(super) fn run(call: &Call, place: &Place<'_>) -> Result<String, NotSetUp> {
    let named = ALL.into_iter().find(|(name, ..)| call.agent.as_deref() == Some(*name));
    match named {
        Some((name, ..)) if call.undo => undone(name, call, place),
        Some((name, own, text)) => set_up(name, (own, text), call, place),
        None => Err(NotSetUp::NoDoor("bash, zsh, fish and tmux can be set up for a person".to_owned())),
    }
}

fn set_up(name: &str, (own, text): (Own, &str), call: &Call, place: &Place<'_>) -> Result<String, NotSetUp> {
    if call.project || call.door.is_some() {
        return Err(NotSetUp::NoDoor(format!(
            "{name} is set up for you, in your own file: give neither a project nor a door"
        )));
    }
    let plan = plan(own, text, place);
    let changes = write::changes(&plan.steps)?;
    if changes.is_empty() {
        return Ok(format!("{name} is set up already\n{}", notes(&plan)));
    }
    show(&changes);
    if call.print {
        return Ok(notes(&plan));
    }
    confirm(call, &format!("Set up {name}"))?;
    write::write(place.folders, name, &changes)?;
    Ok(format!("{name} is set up; `gsh init {name} --undo` puts it back\n{}", notes(&plan)))
}

fn undone(name: &str, call: &Call, place: &Place<'_>) -> Result<String, NotSetUp> {
    let back = write::backward(place.folders, name)?;
    if back.is_empty() {
        return Ok(format!("nothing is set up for {name}\n"));
    }
    show(&back);
    if call.print {
        return Ok(String::new());
    }
    confirm(call, &format!("Put {name} back"))?;
    write::put_back(place.folders, name, &back)?;
    Ok(format!("{name} is as it was before\n"))
}

fn plan(own: Own, text: &str, place: &Place<'_>) -> Plan {
    let (file, program) = (place.folders.data.join("shell").join(own.file()), &place.program);
    let quoted = |path: &PathBuf| quote(&path.to_string_lossy());
    let lines = own.lines(&quoted(&file), &quoted(program));
    let block = format!("{BEGIN}\n{lines}\n{END}\n");
    let steps = vec![
        Step::Text { at: file, text: text.to_owned(), mode: 0o644, mark: MARK },
        Step::Block { at: own.reads(place), block },
    ];
    Plan { steps, notes: own.notes().iter().map(|note| (*note).to_owned()).collect() }
}

impl Own {
    fn file(self) -> &'static str {
        match self {
            Self::Bash => "gsh.bash",
            Self::Zsh => "gsh.zsh",
            Self::Fish => "gsh.fish",
            Self::Tmux => "gsh.tmux.conf",
        }
    }

    /// The file that it reads first.
    fn reads(self, place: &Place<'_>) -> PathBuf {
        let home = &place.folders.home;
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = || folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        match self {
            Self::Bash => home.join(".bashrc"),
            Self::Zsh => folder("ZDOTDIR").unwrap_or_else(|| home.clone()).join(".zshrc"),
            Self::Fish => config().join("fish/conf.d/gsh.fish"),
            Self::Tmux => {
                let newer = config().join("tmux/tmux.conf");
                if newer.exists() { newer } else { home.join(".tmux.conf") }
            }
        }
    }

    /// What goes between the marks; both words are quoted.
    fn lines(self, file: &str, program: &str) -> String {
        let missing =
            format!("echo 'gsh: its file is gone, and lines are not decided: gsh init {}' >&2", self.word());
        match self {
            Self::Bash | Self::Zsh => format!(
                "GSH_WHEN_BROKEN=strict # or warn: what gsh cannot answer then runs\n\
                 if [ -r {file} ]; then . {file} {program}; else {missing}; fi"
            ),
            Self::Fish => format!(
                "set -g GSH_WHEN_BROKEN strict # or warn: what gsh cannot answer then runs\n\
                 if test -r {file}; source {file} {program}; else; {missing}; end"
            ),
            // The popup's shell gets it: what starts tmux has not always the person's PATH.
            Self::Tmux => format!("set-environment -g GSH_PROGRAM {program}\nsource-file -q {file}"),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Tmux => "tmux",
        }
    }

    fn notes(self) -> &'static [&'static str] {
        match self {
            Self::Tmux => &[
                "prefix and G shows the questions that wait",
                "to be asked inside tmux, see `gsh init terminal` there",
            ],
            _ => &[
                "it holds for shells that are started from now on; leave the lines last in that file",
                "whether you can be asked at your terminal says `gsh init terminal`",
                "`gsh_off` switches it off in one shell",
            ],
        }
    }
}

/// A text with the block in it: in the place of an earlier one, else at its end.
pub(super) fn with_block(text: &str, block: &str) -> String {
    if let Some((before, after)) = around(text) {
        return format!("{before}{block}{after}");
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{block}")
}

/// A text without the block.
pub(super) fn without_block(text: &str) -> String {
    around(text).map_or_else(|| text.to_owned(), |(before, after)| format!("{before}{after}"))
}

/// What stands before and after it.
fn around(text: &str) -> Option<(&str, &str)> {
    let start = text.find(BEGIN).filter(|at| *at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'))?;
    let rest = text.get(start..)?;
    let length = rest.find(&format!("\n{END}\n"))? + END.len() + 2;
    Some((text.get(..start)?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_comes_and_goes() {
        let block = format!("{BEGIN}\nline\n{END}\n");
        let newer = format!("{BEGIN}\nother\n{END}\n");
        for (before, after) in [("", ""), ("a\n", ""), ("a", ""), ("a\n", "b\n")] {
            let text =
                if after.is_empty() { with_block(before, &block) } else { format!("{before}{block}{after}") };
            assert_eq!(text.matches(BEGIN).count(), 1, "{before:?}");
            assert_eq!(without_block(&text).trim_end(), format!("{before}{after}").trim_end());
            assert_eq!(with_block(&text, &newer), text.replace("line", "other"));
        }
        // Half of it is nobody's to take out.
        let half = format!("{BEGIN}\nline\n");
        assert_eq!(without_block(&half), half);
    }
}
