//! The table of what was run, as it stands in `docs/clients.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use super::cases;
use super::table::{Client, Door};

/// The lines of the document between which the table stands.
const BEGIN: &str = "<!-- made by GSH_REAL_CLIENTS=1 GSH_BLESS=1 cargo test --test clients -->\n";
const END: &str = "<!-- end of what was made -->\n";

/// How one step of one agent by one door went, and why it failed.
pub(crate) struct Step {
    pub(crate) state: State,
    client: String,
    door: String,
    what: String,
    why: String,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It held.
    Ok,
    /// It failed as the table of agents says.
    Known,
    /// It did otherwise.
    Failed,
}

impl Step {
    /// A line from a cage: state, agent, door, step, and after a colon why.
    pub(crate) fn of(line: &str) -> Self {
        let (head, why) = line.split_once(": ").unwrap_or((line, ""));
        let mut words = head.splitn(4, ' ').map(str::to_owned);
        let state = match words.next().as_deref() {
            Some("ok") => State::Ok,
            Some("known") => State::Known,
            _ => State::Failed,
        };
        let mut next = || words.next().unwrap_or_default();
        Self { state, client: next(), door: next(), what: next(), why: why.to_owned() }
    }
}

/// The notes below the table: each text once, with its number.
#[derive(Default)]
struct Notes {
    texts: Vec<String>,
}

impl Notes {
    fn number(&mut self, text: &str) -> usize {
        let known = self.texts.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        }) + 1
    }
}

/// The table, and the notes below it.
pub(crate) fn table(clients: &[Client], steps: &[Step]) -> String {
    let mut notes = Notes::default();
    let columns: Vec<&str> = cases::names().into_iter().chain(["text", "doctor"]).collect();
    let mut text = format!("| agent | version | door | {} |\n", columns.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len() + 3));
    for client in clients {
        let mut name = (client.title(), client.shown_version());
        for door in Door::ALL {
            let own: BTreeMap<&str, &Step> = steps
                .iter()
                .filter(|step| step.client == client.name && step.door == door.word())
                .map(|step| (step.what.as_str(), step))
                .collect();
            if own.is_empty() {
                continue;
            }
            let cells: Vec<String> =
                columns.iter().map(|column| cell((client, door), column, &own, &mut notes)).collect();
            let way = if client.unasked.is_empty() { door.way() } else { door.way_by_hand() };
            let _ = writeln!(text, "| {} | {} | {way} | {} |", name.0, name.1, cells.join(" | "));
            name = ("", "");
        }
    }
    for (index, note) in notes.texts.iter().enumerate() {
        let _ = writeln!(text, "{}{}. {note}", if index == 0 { "\n" } else { "" }, index + 1);
    }
    text
}

fn cell(
    (client, door): (&Client, Door),
    column: &str,
    own: &BTreeMap<&str, &Step>,
    notes: &mut Notes,
) -> String {
    let parts: &[&str] = if column == "doctor" { &["set up", "doctor", "removed"] } else { &[column] };
    let steps: Vec<&&Step> = parts.iter().filter_map(|part| own.get(part)).collect();
    let Some(worst) = steps.iter().max_by_key(|step| step.state as u8) else { return String::new() };
    let word = match worst.state {
        State::Ok if column == "text" && !client.encloses => "bare",
        State::Ok => "yes",
        State::Known => "no",
        State::Failed => return "**FAILED**".to_owned(),
    };
    let said = client.notes.iter().filter(|note| note.door == door && note.case == column);
    let mut numbers: Vec<usize> = said.map(|note| notes.number(&note.says)).collect();
    if worst.state == State::Known {
        numbers.push(notes.number(&worst.why));
    }
    let numbers: String = numbers.iter().map(|number| format!(" ({number})")).collect();
    format!("{word}{numbers}")
}

/// Puts the table into the document.
pub(crate) fn bless(table: &str) -> io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
    let text = fs::read_to_string(&path)?;
    let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| io::Error::other("docs/clients.md has no place for a table"))?;
    let now = jiff::Timestamp::now().to_string();
    let today = now.split('T').next().unwrap_or_default();
    fs::write(path, format!("{head}{BEGIN}\nRun on {today}, on Linux.\n\n{table}\n{END}{tail}"))
}
