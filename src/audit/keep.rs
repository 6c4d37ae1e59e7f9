//! Which days are kept.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::ToSpan;
use jiff::civil::Date;

/// The files of records in a folder, oldest first.
#[must_use]
pub fn days(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl") && date(path).is_some())
        .collect();
    found.sort();
    found
}

/// The day a file is of.
#[must_use]
pub fn date(path: &Path) -> Option<Date> {
    path.file_stem()?.to_str()?.parse().ok()
}

/// Takes away the days whose time is over, when `path` begins; their names. Counted is from the day
/// after the newest other one, or this one if it is earlier: a clock that leaps ahead takes nothing away.
pub(super) fn sweep(path: &Path, keep_days: usize) -> Vec<String> {
    let all = days(path.parent().unwrap_or(path));
    let others: Vec<&PathBuf> = all.iter().filter(|day| day.file_name() != path.file_name()).collect();
    let (Some(own), Some(newest)) = (date(path), others.iter().filter_map(|day| date(day)).max()) else {
        return Vec::new();
    };
    let today = newest.tomorrow().map_or(own, |after| own.min(after));
    let Ok(first) = today.checked_sub(i32::try_from(keep_days).unwrap_or(i32::MAX).days()) else {
        return Vec::new();
    };
    let mut removed = Vec::new();
    for day in others.into_iter().filter(|day| date(day).is_some_and(|date| date < first)) {
        // What cannot be taken away now is tried again tomorrow.
        if fs::remove_file(day).is_ok() {
            let _ = fs::remove_file(day.with_extension("torn"));
            removed.extend(day.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    removed
}
