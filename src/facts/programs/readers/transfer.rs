//! Looks at what clients that send and fetch were told: which local files that touches.

use crate::facts::arg::Arg;
use crate::facts::programs::scan::{Found, Scan};
use crate::facts::programs::table::{Doing, Language, What};
use crate::facts::programs::{Act, Input, Reading, Role};
use crate::syntax::Cause;

/// Whether the word names a place on another machine (`host:path`, `rsync://host`).
pub(super) fn is_remote(arg: &Arg) -> bool {
    arg.head().split('/').next().unwrap_or_default().contains(':')
}

/// Texts of the values that an option was given.
fn values<'a>(scan: &'a Scan, option: &'a str) -> impl Iterator<Item = (&'a Found, &'a Arg)> {
    scan.given(option).filter_map(|found| Some((found, found.value.as_ref()?)))
}

/// Calls a value what `read` makes of its text; one that is not known is not explained.
fn each(
    scan: &Scan,
    option: &str,
    reading: &mut Reading,
    mut read: impl FnMut(&str, &Arg, &mut Reading) -> bool,
) {
    for (found, value) in values(scan, option) {
        if !value.text().is_some_and(|text| read(text, value, reading)) {
            reading.unexplained(Cause::DynamicPath, value.display(), Some(found.index));
        }
    }
}

fn file(text: &str, arg: &Arg, reading: &mut Reading) {
    if !text.is_empty() && text != "-" {
        reading.uses(Role::Read, &Arg::literal(text, arg.span));
    }
}

/// `curl`.
pub(super) fn curl(scan: &Scan, reading: &mut Reading) {
    let urls: Vec<&Arg> =
        scan.operands.iter().map(|(_, arg)| arg).chain(values(scan, "--url").map(|(_, arg)| arg)).collect();
    each(scan, "--output", reading, |text, _, _| !text.contains('#'));
    each(scan, "--upload-file", reading, |text, arg, reading| {
        file(if text == "." { "-" } else { text }, arg, reading);
        !text.contains(['{', '[', ','])
    });
    each(scan, "--cookie", reading, |text, arg, reading| {
        if !text.contains('=') {
            file(text, arg, reading);
        }
        true
    });
    each(scan, "--write-out", reading, |text, _, _| !text.starts_with('@') && !text.contains("%output"));
    // Its names and those of --url-query are one entry.
    each(scan, "--data-urlencode", reading, |text, arg, reading| {
        let at = text.find(['@', '=']).filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with('@')));
        file(at.and_then(|at| text.get(at + 1..)).unwrap_or_default(), arg, reading);
        true
    });
    each(scan, "--form", reading, form);
    if scan.has("--remote-name") || scan.has("--remote-name-all") {
        let told = !scan.has("--remote-header-name") && !scan.has("--output-dir");
        for url in &urls {
            match last_segment(url).filter(|name| told && !name.is_empty()) {
                Some(name) => reading.uses(Role::Write, &Arg::literal(name, url.span)),
                None => reading.unexplained(Cause::DynamicPath, "the name that the answer is saved as", None),
            }
        }
    }
    let deletes =
        |(_, value): (&Found, &Arg)| value.text().is_some_and(|text| text.eq_ignore_ascii_case("delete"));
    if values(scan, "--request").any(deletes) {
        let what = urls.iter().map(|url| url.display()).collect::<Vec<_>>().join(" ");
        reading.acts.push(Act::DestroyRemote { what });
        reading.arity = 0;
    }
}

/// `name=@file;type=…`, `name=<file`, several with commas, headers from a file.
fn form(text: &str, arg: &Arg, reading: &mut Reading) -> bool {
    let Some((_, value)) = text.split_once('=') else { return true };
    let is_file = value.starts_with(['@', '<']);
    for (index, piece) in value.split([';', ',']).enumerate() {
        let path = piece.strip_prefix("headers=").unwrap_or(piece);
        if let Some(path) = path.strip_prefix(['@', '<']) {
            file(path, arg, reading);
        } else if is_file && index > 0 && !piece.contains('=') {
            file(piece, arg, reading);
        }
    }
    !(is_file || text.contains("headers=")) || !value.contains(['"', '\\'])
}

/// The name that `-O` saves an address as.
fn last_segment(url: &Arg) -> Option<String> {
    let text = url.text()?;
    let (_, rest) = text.split_once("://").unwrap_or(("", text));
    let path = rest.split(['?', '#']).next()?;
    let (_, name) = path.rsplit_once('/')?;
    (!name.contains(['{', '[', '%', '\\'])).then(|| name.to_owned())
}

/// `wget`: without `-O` the name is the address's.
pub(super) fn wget(scan: &Scan, reading: &mut Reading) {
    if scan.has("--spider") || scan.has("--output-document") {
        return;
    }
    let other = [
        "--input-file",
        "--directory-prefix",
        "--content-disposition",
        "--trust-server-names",
        "--adjust-extension",
    ];
    let told = !other.iter().any(|option| scan.has(option));
    let role = if scan.has("--continue") || scan.has("--timestamping") { Role::Write } else { Role::Create };
    for (index, url) in &scan.operands {
        let plain = url.text().filter(|text| told && !text.contains(['?', '#', '%', '\\']));
        let Some(text) = plain else {
            reading.unexplained(Cause::DynamicPath, "the name that the answer is saved as", Some(*index));
            continue;
        };
        let (_, rest) = text.split_once("://").unwrap_or(("", text));
        let name = rest.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty());
        reading.uses(role, &Arg::literal(name.unwrap_or("index.html"), url.span));
    }
    if !told {
        reading.unexplained(Cause::DynamicPath, "the names that answers are saved as", None);
    }
}

/// `scp`: the last operand is where it goes; `host:` is another machine.
pub(super) fn scp(scan: &Scan, reading: &mut Reading) {
    if scan.operands.iter().any(|(_, arg)| is_remote(arg)) {
        reading.act(Doing::Network);
        reading.unexplained(Cause::OpaqueCode, "another machine", None);
    }
    let role = if scan.has("-r") { Role::ReadTree } else { Role::Read };
    let Some(((_, target), sources)) = scan.operands.split_last() else { return };
    for (_, source) in sources.iter().filter(|(_, source)| !is_remote(source)) {
        reading.uses(role, source);
    }
    if !is_remote(target) {
        reading.uses(Role::PutTo, target);
    }
}

/// `ssh`: of its forms `-Q` and `-G` only print.
pub(super) fn ssh(scan: &Scan, reading: &mut Reading) {
    if scan.has("-Q") {
        return;
    }
    if scan.has("-G") && scan.operands.len() == 1 {
        return;
    }
    reading.act(Doing::Network);
    reading.unexplained(Cause::OpaqueCode, "another machine", None);
}

/// Whether statements came with an option; without, they come from standard input.
pub(super) fn statements(scan: &Scan, reading: &mut Reading) {
    let sql = |what: Option<What>| {
        matches!(
            what,
            Some(What::Language(
                Language::SqlPostgres
                    | Language::SqlMysql
                    | Language::SqlSqlite
                    | Language::SqlDuckdb
                    | Language::SqlPlain
            ))
        )
    };
    if !scan.found.iter().any(|found| sql(found.option.value)) && !scan.has("--list") {
        reading.input = Input::Code;
        reading.unexplained(Cause::OpaqueCode, "statements from its standard input", None);
    }
}

/// `sqlite3 FILE SQL…`, `duckdb FILE -c SQL`: the file is only read by texts that only read.
pub(super) fn local_database(scan: &Scan, reading: &mut Reading) {
    let given = scan.operands.len() > 1 || scan.has("-c") || scan.has("-s");
    if !given {
        reading.input = Input::Code;
        reading.unexplained(Cause::OpaqueCode, "statements from its standard input", None);
    }
    let Some((index, file)) = scan.operands.first() else { return };
    let role = match (reading.unexplained.is_empty(), scan.has("-readonly")) {
        (true, true) => Role::Read,
        (true, false) => Role::Open,
        (false, _) => Role::Edit,
    };
    match file.text() {
        Some(":memory:" | "") => {}
        Some(text) if text.starts_with("file:") => {
            let (path, options) = text.get(5..).unwrap_or_default().split_once('?').unwrap_or((text, ""));
            let reads =
                matches!(options, "mode=ro" | "immutable=1" | "mode=ro&immutable=1" | "immutable=1&mode=ro");
            if !reads || path.contains('%') || path.starts_with("//") {
                reading.unexplained(Cause::DynamicPath, text, Some(*index));
            } else {
                reading.uses(role, &Arg::literal(path, file.span));
            }
        }
        Some(text) if text.contains(':') => reading.unexplained(Cause::DynamicPath, text, Some(*index)),
        None if file.head().contains(':') || !file.parts.is_empty() && file.head().is_empty() => {
            reading.unexplained(Cause::DynamicPath, file.display(), Some(*index));
        }
        _ => reading.uses(role, file),
    }
}

/// `redis-cli` without a command takes commands from its standard input, but for some modes.
pub(super) fn redis(scan: &Scan, reading: &mut Reading) {
    let modes = [
        "--scan",
        "--stat",
        "--latency",
        "--latency-history",
        "--latency-dist",
        "--bigkeys",
        "--memkeys",
        "--hotkeys",
        "--rdb",
        "--functions-rdb",
        "--intrinsic-latency",
    ];
    if scan.operands.is_empty() && !modes.iter().any(|mode| scan.has(mode)) {
        reading.input = Input::Code;
        reading.unexplained(Cause::OpaqueCode, "commands from its standard input", None);
    }
}

/// Verbs of Miller that only look at records; others write files, run commands or have a language.
const VERBS: &str = "altkv bar bootstrap bottom cat count count-distinct count-similar cut decimate fill-down \
    fill-empty flatten format-values fraction gap grep group-by group-like having-fields head histogram join \
    json-parse json-stringify label least-frequent merge-fields most-frequent nest nothing regularize rename reorder \
    repeat reshape sec2gmt sec2gmtdate seqgen shuffle skip-trivial-records sort sort-within-records sparsify stats1 \
    stats2 step summary tac tail template top unflatten uniq unspace unsparsify";

/// `mlr OPTIONS VERB … then VERB … FILE…`.
pub(super) fn miller(scan: &Scan, reading: &mut Reading) {
    let mut begins = true;
    for (index, arg) in &scan.operands {
        let Some(text) = arg.text() else {
            reading.unexplained(Cause::DynamicWord, arg.display(), Some(*index));
            continue;
        };
        let known = !begins || VERBS.split_ascii_whitespace().any(|verb| verb == text);
        if !known || matches!(text, "-I" | "-s") || text.starts_with("--") {
            reading.unexplained(Cause::UnknownOption, text, Some(*index));
        }
        begins = text == "then";
    }
}

/// `yq FILTER FILE`: a first word that is the name of a file is no filter.
pub(super) fn yq(scan: &Scan, reading: &mut Reading) {
    let Some((index, first)) = scan.operands.first() else { return };
    let name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '~');
    match first.text() {
        Some("-") => {}
        Some(text) if text.ends_with(".yq") => {
            reading.unexplained(Cause::OpaqueCode, first.display(), Some(*index));
        }
        Some(text) if scan.has("-i") && (scan.operands.len() == 1 || text.chars().all(name)) => {
            reading.uses(Role::Edit, first);
        }
        _ => reading.uses(Role::Read, first),
    }
}

/// `pandoc FILE`: without `-f` the name says what is read, and some formats put in files that the document names.
pub(super) fn pandoc(scan: &Scan, reading: &mut Reading) {
    const ENDINGS: &[&str] = &[
        "md", "markdown", "html", "htm", "docx", "odt", "epub", "json", "csv", "tsv", "ipynb", "txt", "bib",
    ];
    if scan.has("-f") {
        return;
    }
    for (index, arg) in &scan.operands {
        let ending = arg.text().and_then(|text| text.rsplit_once('.')).map(|(_, ending)| ending);
        if !ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            reading.unexplained(Cause::DynamicPath, arg.display(), Some(*index));
        }
    }
}

/// Files of rules that `rsync --filter` is told to read (`merge FILE`, `. FILE`, `:- FILE`).
pub(super) fn filters(scan: &Scan, reading: &mut Reading) {
    each(scan, "--filter", reading, |text, arg, reading| {
        if text.starts_with(['.', ':']) || text.starts_with("merge") || text.starts_with("dir-merge") {
            file(text.rsplit([' ', '_']).next().unwrap_or_default(), arg, reading);
            return !text.contains('_');
        }
        true
    });
}
