//! opencode: commands of its model as they are; those that a person types after `!` in a login shell that reads
//! the person's own start-up file first.

use super::scan::Scan;
use super::{Inside, View};

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    let mut lines = view.text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut line = lines.next()?;
    let notes = line == "__oc_cwd=$PWD";
    if notes {
        line = lines.next()?;
    }
    (line == "shopt -s expand_aliases").then_some(())?;
    (lines.next()? == "[[ -f ~/.bashrc ]] && source ~/.bashrc >/dev/null 2>&1 || true").then_some(())?;
    line = lines.next()?;
    let back = match line {
        "cd \"$__oc_cwd\"" => notes,
        "cd -- \"$1\"" | "cd -- \"$1\" || exit" | "cd -- \"$1\" || exit 1" => here(view),
        _ => {
            let own = command(line)?;
            return lines.next().is_none().then(|| Inside::command(own));
        }
    };
    let own = command(lines.next()?)?;
    (back && lines.next().is_none()).then(|| Inside::command(own))
}

fn command(line: &str) -> Option<String> {
    let mut scan = Scan::new(line);
    scan.literal("eval ")?;
    let text = scan.double_quoted()?;
    scan.end()?;
    Some(text)
}

/// Whether the directory that it is given is the one it starts in.
fn here(view: &View<'_>) -> bool {
    let given = view.request.args.first().map(std::path::Path::new);
    given.is_some_and(|given| {
        given == view.request.cwd || view.host.real(given).as_ref() == Some(&view.request.cwd)
    })
}
