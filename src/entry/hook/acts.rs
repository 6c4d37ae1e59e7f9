//! What a known tool does with its input. Where that has another shape than expected nobody can tell, and the tool is
//! asked about as a whole.
//!
//! Agents have different keys for the same thing, and each reads its own and passes over the others. So all of them
//! count where each can be judged, and where only one can be true and two are there, the shape is none that is known.

use serde_json::Value;

use super::event::{every, first, text};
use super::names::Sort;
use super::patch;
use crate::facts::brace_words;
use crate::policy::defaults::is_secret;
use crate::request::Act;

/// The keys behind which paths stand.
const PATHS: &[&str] = &[
    "file_path",
    "path",
    "filePath",
    "filepath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "target_notebook",
    "TargetFile",
    "AbsolutePath",
    "dir_path",
    "dirpath",
    "directory",
    "directory_path",
    "relative_workspace_path",
    "SearchPath",
    "SearchDirectory",
    "DirectoryPath",
    "file",
    "filename",
    "uri",
    "target_directory",
    "dirPath",
];
/// The keys behind which lists of paths stand.
const LISTS: &[&str] =
    &["paths", "file_paths", "files", "include", "filepaths", "edits", "replacements", "changes"];
/// The keys behind which a search says which files count: that reaches hidden and ignored ones, too.
const GLOBS: &[&str] = &["glob", "include", "include_pattern", "includePattern", "file_pattern", "includes"];
const CONTENTS: &[&str] = &["content", "contents", "file_text", "text", "code", "CodeContent", "new_content"];
const OLD: &[&str] = &["old_string", "old_str", "oldString", "old_text", "search", "oldText"];
const NEW: &[&str] = &[
    "new_string",
    "new_str",
    "newString",
    "new_text",
    "new_source",
    "insert_text",
    "replace",
    "newText",
    "diff",
];
const EDITS: &[&str] = &["edits", "replacements", "changes"];
const URLS: &[&str] = &["url", "Url", "URL", "urls", "uri"];
const QUERIES: &[&str] = &["query", "q", "search_term", "objective", "searchQuery"];

/// The keys of which only one can be meant.
const SINGLE: &[&[&str]] = &[CONTENTS, OLD, NEW, FROM, TO];
const FROM: &[&str] = &["source", "source_path", "from", "old_path", "oldPath", "src"];
const TO: &[&str] = &["destination", "destination_path", "to", "new_path", "newPath", "dst"];
const AGENTS: &[&str] = &["subagent_type", "agent_type", "agent_name", "agent", "subagentType"];
const SKILLS: &[&str] = &["skill", "name", "command", "skill_name"];
/// What a look at a job is given.
const LOOKS: &[&str] = &["session_id", "yield_time_ms", "max_output_tokens", "chars"];

/// What a known tool does; None when its input is not as expected.
pub(super) fn acts(sort: Sort, input: &Value, hooked: bool) -> Option<Vec<Act>> {
    let touches = matches!(sort, Sort::Write | Sort::Edit | Sort::Editor | Sort::Move);
    if touches && SINGLE.iter().any(|keys| every(input, keys).len() > 1) || has_odd_path(input) {
        return None;
    }
    let mut found = paths(input);
    if sort == Sort::Glob {
        found = led(found, input);
    }
    let each = |act: fn(String) -> Act| -> Option<Vec<Act>> {
        (!found.is_empty()).then(|| found.iter().cloned().map(act).collect())
    };
    match sort {
        Sort::Shell => None,
        Sort::Read => each(Act::Read),
        Sort::List => each(Act::List).or_else(|| Some(vec![Act::List(".".to_owned())])),
        Sort::Search | Sort::Glob => searched(&found, input),
        Sort::Write => {
            let content = first(input, CONTENTS).unwrap_or_default();
            (!found.is_empty()).then(|| written(&found, &content))
        }
        Sort::Edit => edited(&found, input),
        Sort::Editor => editor(&found, input),
        Sort::Patch => patched(input),
        Sort::Delete => each(Act::Delete),
        Sort::Move => moved(input),
        Sort::Fetch => fetched(input),
        Sort::Download => {
            let mut acts = fetched(input)?;
            acts.extend(written(&found, ""));
            Some(acts)
        }
        Sort::Query => some(every(input, QUERIES).into_iter().map(Act::Query).collect()),
        Sort::Agent => Some(agents(input, hooked)),
        Sort::Skill => {
            some(every(input, SKILLS).into_iter().map(|name| Act::Use(format!("skill:{name}"))).collect())
        }
        Sort::Input => looks(input).then(Vec::new),
        Sort::Own => Some(Vec::new()),
    }
}

/// What a tool whose input is not as expected may do to the paths in it: whoever refuses them must not be passed by.
pub(super) fn touched(sort: Sort, input: &Value) -> Vec<Act> {
    let all = [paths(input), every(input, FROM), every(input, TO)].concat().into_iter();
    match sort {
        Sort::Read | Sort::List | Sort::Search | Sort::Glob => all.map(Act::Read).collect(),
        Sort::Delete => all.map(Act::Delete).collect(),
        Sort::Move => all.flat_map(|path| [Act::Delete(path.clone()), overwritten(path)]).collect(),
        Sort::Write | Sort::Edit | Sort::Editor | Sort::Patch | Sort::Download => {
            all.map(overwritten).collect()
        }
        _ => Vec::new(),
    }
}

fn overwritten(path: String) -> Act {
    Act::Write { path, content: String::new() }
}

fn some(acts: Vec<Act>) -> Option<Vec<Act>> {
    (!acts.is_empty()).then_some(acts)
}

/// The sub-agents that are started; what they do comes to the hook, too, if it is `hooked`.
fn agents(input: &Value, hooked: bool) -> Vec<Act> {
    let mut kinds = every(input, AGENTS);
    if kinds.is_empty() {
        kinds.push(String::new());
    }
    let act = if hooked { Act::Mention } else { Act::Use };
    kinds.into_iter().map(|kind| act(format!("subagent:{kind}"))).collect()
}

/// Whether a job is looked at and given nothing.
fn looks(input: &Value) -> bool {
    let given = input.get("chars").is_none_or(|chars| chars.is_null() || chars.as_str() == Some(""));
    given && input.as_object().is_none_or(|all| all.keys().all(|key| LOOKS.contains(&key.as_str())))
}

/// Whether something that is no text stands where a path would, in a shape that some agent may yet read.
fn has_odd_path(input: &Value) -> bool {
    PATHS.iter().filter_map(|key| input.get(key)).any(|value| !value.is_string() && !value.is_null())
}

/// Every path that the input names. Where two keys name two, both count.
fn paths(input: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |path: &str| {
        if !path.is_empty() && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    };
    for value in PATHS.iter().filter_map(|key| input.get(key)) {
        value.as_str().into_iter().for_each(&mut add);
        value.as_array().into_iter().flatten().filter_map(Value::as_str).for_each(&mut add);
    }
    for key in LISTS {
        for each in input.get(key).and_then(Value::as_array).into_iter().flatten() {
            each.as_str().into_iter().for_each(&mut add);
            every(each, PATHS).iter().for_each(|path| add(path));
        }
    }
    found
}

/// The patterns of a tool that looks for names.
const PATTERNS: &[&str] = &["pattern", "patterns", "glob", "glob_pattern", "globPattern", "query", "Pattern"];

/// The folders that are looked through: a pattern with a folder of its own leaves the one that is named beside it,
/// whatever alternatives it has.
fn led(named: Vec<String>, input: &Value) -> Vec<String> {
    let values = PATTERNS.iter().filter_map(|key| input.get(key));
    let texts = values.flat_map(|value| match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect::<Vec<_>>(),
    });
    let further: Vec<String> =
        texts.flat_map(brace_words).flat_map(|piece| folders(&piece, &named)).collect();
    let mut all = named;
    for folder in further {
        if !folder.is_empty() && !all.contains(&folder) {
            all.push(folder);
        }
    }
    all
}

/// Where one alternative of a pattern leads, if that is elsewhere than below the folders beside it.
fn folders(piece: &str, named: &[String]) -> Vec<String> {
    let (piece, root) = (piece.trim(), || vec!["/".to_owned()]);
    let head = piece.split(['*', '?', '[', '{', '(']).next().unwrap_or_default();
    // Where it leads up behind its first wildcard, nobody can tell from where.
    if piece.get(head.len()..).is_some_and(|rest| rest.contains("..")) {
        return root();
    }
    let folder = head.rsplit_once('/').map_or("", |(folder, _)| folder);
    if head.starts_with(['/', '~']) {
        return if folder.is_empty() { root() } else { vec![folder.to_owned()] };
    }
    match piece.contains("..") {
        true if named.is_empty() => vec![folder.to_owned()],
        true => named.iter().map(|base| format!("{base}/{folder}")).collect(),
        false => vec![],
    }
}

/// A search, and the files of kinds that hold secrets which it is told to look into.
fn searched(paths: &[String], input: &Value) -> Option<Vec<Act>> {
    let here = vec![".".to_owned()];
    let folders = if paths.is_empty() { &here } else { paths };
    let mut acts: Vec<Act> = folders.iter().cloned().map(Act::Search).collect();
    for glob in GLOBS.iter().filter_map(|key| text(input, key)) {
        for piece in brace_words(&glob) {
            // One that names no kind of file reaches all of them.
            if piece.chars().all(|letter| matches!(letter, '*' | '?' | '/' | '.')) {
                return None;
            }
            let named = format!("/{}", piece.trim_end_matches('*').trim_start_matches("**/"));
            if is_secret(&named) {
                acts.extend(folders.iter().map(|folder| Act::Read(format!("{folder}{named}"))));
            }
        }
    }
    Some(acts)
}

fn written(paths: &[String], content: &str) -> Vec<Act> {
    paths.iter().map(|path| Act::Write { path: path.clone(), content: content.to_owned() }).collect()
}

fn edited(paths: &[String], input: &Value) -> Option<Vec<Act>> {
    let part = |value: &Value| {
        let (old, new) = (first(value, OLD), first(value, NEW).or_else(|| first(value, CONTENTS)));
        (old.is_some() || new.is_some()).then(|| (old.unwrap_or_default(), new.unwrap_or_default()))
    };
    let mut parts: Vec<(String, String)> = part(input).into_iter().collect();
    let lists = EDITS.iter().filter_map(|key| input.get(key).and_then(Value::as_array));
    parts.extend(lists.flatten().filter_map(part));
    (!paths.is_empty())
        .then(|| paths.iter().map(|path| Act::Edit { path: path.clone(), parts: parts.clone() }).collect())
}

fn editor(paths: &[String], input: &Value) -> Option<Vec<Act>> {
    if paths.is_empty() {
        return None;
    }
    match text(input, "command")?.as_str() {
        "view" => Some(paths.iter().cloned().map(Act::Read).collect()),
        "create" => Some(written(paths, &first(input, CONTENTS).unwrap_or_default())),
        "str_replace" | "insert" | "undo_edit" => edited(paths, input),
        _ => None,
    }
}

fn patched(input: &Value) -> Option<Vec<Act>> {
    let keys = ["input", "patch", "patchText", "patch_text", "command", "diff"];
    let mut texts = every(input, &keys);
    texts.extend(input.as_str().map(str::to_owned));
    // The words of a program: the patch is the last of them.
    let words = input.get("command").and_then(Value::as_array);
    texts.extend(words.and_then(|words| words.last()?.as_str().map(str::to_owned)));
    let acts: Option<Vec<Vec<Act>>> = texts.iter().map(|text| patch::acts(text)).collect();
    some(acts?.concat())
}

fn moved(input: &Value) -> Option<Vec<Act>> {
    Some(vec![Act::Move { from: first(input, FROM)?, to: first(input, TO)? }])
}

fn fetched(input: &Value) -> Option<Vec<Act>> {
    let mut urls = every(input, URLS);
    let lists = ["urls"].iter().filter_map(|key| input.get(key).and_then(Value::as_array)).flatten();
    urls.extend(lists.filter_map(|each| each.as_str().map(str::to_owned)));
    // What is to be done with what is fetched, unless it names what to fetch.
    let names = |prompt: &String| urls.is_empty() || prompt.contains("://");
    let prompt = text(input, "prompt").filter(names);
    urls.extend(prompt);
    some(urls.into_iter().map(Act::Fetch).collect())
}
