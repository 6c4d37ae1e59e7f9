//! What a known tool does with its input. Where that has another shape than expected nobody can tell, and the tool is
//! asked about as a whole.

use serde_json::Value;

use super::event::{first, text};
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
const URLS: &[&str] = &["url", "Url", "URL", "urls", "uri", "prompt"];
const QUERIES: &[&str] = &["query", "q", "search_term", "objective", "searchQuery"];

/// What a known tool does; None when its input is not as expected.
pub(super) fn acts(sort: Sort, input: &Value, hooked: bool) -> Option<Vec<Act>> {
    let found = paths(input);
    let each = |act: fn(String) -> Act| -> Option<Vec<Act>> {
        (!found.is_empty()).then(|| found.iter().cloned().map(act).collect())
    };
    match sort {
        Sort::Shell => None,
        Sort::Read => each(Act::Read),
        Sort::List => each(Act::List).or_else(|| Some(vec![Act::List(".".to_owned())])),
        Sort::Search => searched(&found, input),
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
        Sort::Query => Some(vec![Act::Query(first(input, QUERIES)?)]),
        Sort::Agent => {
            let kind = first(input, &["subagent_type", "agent_type", "agent_name", "agent", "subagentType"]);
            let subject = format!("subagent:{}", kind.unwrap_or_default());
            Some(vec![if hooked { Act::Mention(subject) } else { Act::Use(subject) }])
        }
        Sort::Skill => Some(vec![Act::Use(format!(
            "skill:{}",
            first(input, &["skill", "name", "command", "skill_name"])?
        ))]),
        // What looks at a job and gives it nothing.
        Sort::Input => text(input, "chars").is_none().then(Vec::new),
        Sort::Own => Some(Vec::new()),
    }
}

/// Every path that the input names. Where two keys name two, both count.
fn paths(input: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |path: &str| {
        if !path.is_empty() && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    };
    for key in PATHS {
        input.get(key).and_then(Value::as_str).into_iter().for_each(&mut add);
    }
    for key in LISTS {
        for each in input.get(key).and_then(Value::as_array).into_iter().flatten() {
            let path = each.as_str().map(str::to_owned).or_else(|| first(each, PATHS));
            path.iter().for_each(|path| add(path));
        }
    }
    // A pattern with a folder of its own leaves the one that is searched.
    let leaves = |text: &&str| text.starts_with(['/', '~']) || text.contains("..");
    let pattern = input.get("pattern").and_then(Value::as_str).filter(leaves);
    if let Some(pattern) = pattern.filter(|_| input.get("path").is_none()) {
        let head = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
        add(head.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder }));
    }
    found
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
    let text = match input {
        Value::String(text) => text.clone(),
        other => first(other, &keys).or_else(|| {
            // The words of a program: the patch is the last of them.
            let words = other.get("command")?.as_array()?;
            words.last()?.as_str().map(str::to_owned)
        })?,
    };
    patch::acts(&text)
}

fn moved(input: &Value) -> Option<Vec<Act>> {
    let from = first(input, &["source", "source_path", "from", "old_path", "oldPath", "src"])?;
    let to = first(input, &["destination", "destination_path", "to", "new_path", "newPath", "dst"])?;
    Some(vec![Act::Move { from, to }])
}

fn fetched(input: &Value) -> Option<Vec<Act>> {
    let lists = ["urls"].iter().filter_map(|key| input.get(key).and_then(Value::as_array)).flatten();
    let mut urls: Vec<String> = lists.filter_map(|each| each.as_str().map(str::to_owned)).collect();
    urls.extend(first(input, URLS));
    (!urls.is_empty()).then(|| urls.into_iter().map(Act::Fetch).collect())
}
