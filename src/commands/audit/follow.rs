//! Records as they come.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::list;
use super::look::Look;
use super::{Manner, folder};
use crate::audit::keep;
use crate::audit::query::{Entry, of_text};
use crate::entry::world::Surrounds;

/// How often is looked.
const PAUSE: Duration = Duration::from_millis(200);
/// So long a record waits for its closing line before it is shown without it.
const PATIENCE: u32 = 5;

/// Prints each record once it is closed (or seems to go on), until the reader goes away.
///
/// # Errors
/// When there is no home, or the output fails.
pub fn follow(manner: &Manner, look: Look, output: &mut dyn Write) -> Result<(), String> {
    let look = Look { names: manner.names, ..look };
    let folder = folder(&Surrounds::of_process())?;
    let mut places: HashMap<PathBuf, u64> = HashMap::new();
    for day in keep::days(&folder) {
        let length = day.metadata().map_or(0, |data| data.len());
        places.insert(day, length);
    }
    let mut waiting: Vec<(Entry, u32)> = Vec::new();
    loop {
        for day in keep::days(&folder) {
            let from = places.entry(day.clone()).or_default();
            for line in added(&day, from).unwrap_or_default().lines() {
                take(line, &mut waiting);
            }
        }
        let mut kept = Vec::new();
        for (entry, age) in std::mem::take(&mut waiting) {
            let is_done = entry.closed.is_some() || age >= PATIENCE && !entry.asked();
            if !is_done {
                kept.push((entry, age + 1));
            } else if manner.filter.fits(&entry) {
                let text = if manner.json {
                    serde_json::to_string(&entry).unwrap_or_default() + "\n"
                } else {
                    list::line(&entry, look)
                };
                match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                    Err(error) => return Err(error.to_string()),
                    Ok(()) => {}
                }
            }
        }
        waiting = kept;
        std::thread::sleep(PAUSE);
    }
}

/// One more line: it opens a record, or belongs to one that waits.
fn take(line: &str, waiting: &mut Vec<(Entry, u32)>) {
    if let Some(entry) = of_text(line).into_iter().next() {
        waiting.push((entry, 0));
        return;
    }
    let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { return };
    let place = waiting.iter_mut().find(|(entry, _)| value["id"].as_str() == Some(&entry.id));
    if let Some((entry, _)) = place {
        if value["event"] == "closed" { entry.closed = Some(value) } else { entry.events.push(value) }
    }
}

/// The whole lines behind a place, which moves on.
fn added(path: &Path, from: &mut u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(*from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    *from += whole as u64;
    bytes.truncate(whole);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
