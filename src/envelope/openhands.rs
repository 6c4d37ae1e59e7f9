//! OpenHands: one line that sets the prompt up, then commands as they are.

use super::scan::Scan;
use super::{Inside, View};

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    let mut scan = Scan::new(view.text.trim_end_matches('\n'));
    scan.literal("set +H; export PROMPT_COMMAND=")?;
    let sets = scan.quoted()?;
    scan.literal("; export PS2=\"\"")?;
    scan.end()?;
    let prompt = sets.strip_prefix("export PS1=\"")?.strip_suffix('"')?;
    let (_, rest) = prompt.split_once("###PS1JSON###")?;
    let (told, _) = rest.rsplit_once("###PS1END###")?;
    is_prompt(told).then(Inside::start)
}

/// Names and values of the shell; the only programs in it look for Python.
fn is_prompt(told: &str) -> bool {
    const LOOKS: [&str; 3] =
        ["$(which python 2>/dev/null || echo \"\")", "$(command -v python || echo \"\")", "$(which python)"];
    let plain = told.replace("\\\"", "\"");
    let plain = LOOKS.iter().fold(plain, |text, looks| text.replace(looks, ""));
    !plain.contains(['`', ';', '&', '|', '<', '>', '(', ')'])
}
