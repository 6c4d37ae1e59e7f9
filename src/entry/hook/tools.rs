//! The agents' tools: which of them run a command, which read, write or fetch what, by the names that each agent has
//! for them. A tool that is not known, or whose input has another shape than expected, is asked about as a whole.

use serde_json::Value;

use super::event::{Event, first, text};
use super::patch;
use crate::request::{Act, Tool};
use crate::store::hash;
use crate::syntax::quote;

/// What the use of a tool means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// The texts that a shell is to run, each by itself.
    Shell(Vec<String>),
    /// Anything else.
    Tool(Tool),
}

/// A kind of tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Shell,
    Read,
    List,
    Search,
    Write,
    Edit,
    /// One tool for several acts, which its `command` names.
    Editor,
    Patch,
    Delete,
    Move,
    Fetch,
    /// Fetches into a file.
    Download,
    Query,
    Agent,
    Skill,
    /// The agent's own affair.
    Own,
}

/// Every name, whichever agent has it: none means two different things.
const TOOLS: &[(Sort, &[&str])] = &[
    (
        Sort::Shell,
        &[
            "Bash",
            "bash",
            "Shell",
            "shell",
            "local_shell",
            "exec_command",
            "execute_command",
            "run_command",
            "run_commands",
            "run_shell_command",
            "run_terminal_cmd",
            "run_in_terminal",
            "runTerminalCommand",
            "Execute",
            "terminal",
        ],
    ),
    (
        Sort::Read,
        &[
            "Read",
            "read",
            "read_file",
            "ReadFile",
            "readFile",
            "view",
            "View",
            "view_file",
            "view_image",
            "open_file",
            "read_many_files",
            "NotebookRead",
            "readCurrentlyOpenFile",
            "view_line_range",
            "read_file_range",
        ],
    ),
    (
        Sort::List,
        &["LS", "ls", "list", "list_directory", "list_dir", "list_files", "ListFiles", "folder_tree"],
    ),
    (
        Sort::Search,
        &[
            "Glob",
            "glob",
            "Grep",
            "grep",
            "rg",
            "search_file_content",
            "grep_search",
            "search_files",
            "SearchText",
            "file_search",
            "FindFiles",
            "find_files",
            "find_by_name",
            "finder",
            "grep_code",
            "glob_file_search",
            "globSearch",
            "grepSearch",
            "list_code_definition_names",
            "codebase_search",
            "SemanticSearch",
            "codebase_search_agent",
            "lsp_references",
            "lsp_diagnostics",
            "diagnostics",
            "references",
            "lsp",
        ],
    ),
    (
        Sort::Write,
        &[
            "Write",
            "write",
            "write_file",
            "write_to_file",
            "create",
            "create_file",
            "WriteFile",
            "createFile",
            "createNewFile",
            "builtin_create_new_file",
            "TabWrite",
        ],
    ),
    (
        Sort::Edit,
        &[
            "Edit",
            "edit",
            "MultiEdit",
            "multiedit",
            "multi_edit",
            "replace",
            "edit_file",
            "EditFile",
            "editFile",
            "editor",
            "replace_in_file",
            "NotebookEdit",
            "edit_notebook",
            "str_replace",
            "StrReplace",
            "search_replace",
            "insert",
            "insert_edit_into_file",
            "reapply",
            "undo_edit",
            "single_find_and_replace",
        ],
    ),
    (Sort::Editor, &["str_replace_editor", "str_replace_based_edit_tool"]),
    (Sort::Patch, &["apply_patch", "ApplyPatch", "applyPatch", "patch"]),
    (Sort::Delete, &["Delete", "delete", "delete_file", "DeleteFile", "remove_file"]),
    (Sort::Move, &["move_file", "rename_file", "move", "rename"]),
    (
        Sort::Fetch,
        &[
            "WebFetch",
            "webfetch",
            "web_fetch",
            "fetch",
            "Fetch",
            "fetch_url",
            "FetchUrl",
            "fetchUrlContent",
            "fetch_web_content",
            "read_url_content",
            "read_web_page",
            "agentic_fetch",
        ],
    ),
    (Sort::Download, &["download"]),
    (
        Sort::Query,
        &[
            "WebSearch",
            "websearch",
            "web_search",
            "google_web_search",
            "search_web",
            "searchWeb",
            "codesearch",
        ],
    ),
    (
        Sort::Agent,
        &[
            "Task",
            "Agent",
            "task",
            "agent",
            "delegate_to_agent",
            "codebase_investigator",
            "spawn_agent",
            "Subagent",
            "oracle",
            "use_subagents",
        ],
    ),
    (Sort::Skill, &["Skill", "skill", "activate_skill", "use_skill"]),
    (
        Sort::Own,
        &[
            "AskUserQuestion",
            "ask_user",
            "ask_followup_question",
            "ask_question",
            "AskQuestion",
            "question",
            "TodoWrite",
            "TodoRead",
            "todowrite",
            "todoread",
            "todo_write",
            "todo_read",
            "todos",
            "write_todos",
            "update_todo_list",
            "TaskCreate",
            "TaskUpdate",
            "TaskList",
            "TaskGet",
            "update_plan",
            "create_plan",
            "CreatePlan",
            "ExitPlanMode",
            "EnterPlanMode",
            "exit_plan_mode",
            "enter_plan_mode",
            "plan_mode_respond",
            "SwitchMode",
            "report_intent",
            "task_complete",
            "attempt_completion",
            "BashOutput",
            "KillShell",
            "KillBash",
            "TaskOutput",
            "TaskStop",
            "AwaitShell",
            "read_bash",
            "stop_bash",
            "list_bash",
            "job_output",
            "job_kill",
            "wait",
            "close_agent",
            "ToolSearch",
            "StructuredOutput",
            "think",
            "Checklist",
            "Exit",
            "Status",
            "submit_and_exit",
        ],
    ),
];

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
const LISTS: &[&str] = &["paths", "file_paths", "files", "include", "filepaths"];
const COMMANDS: &[&str] = &["command", "cmd", "command_line", "CommandLine", "commandLine", "script"];
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

/// What the use of a tool means. `hooked` says that the agent calls the hook for what its sub-agents do, too.
#[must_use]
pub fn meant(event: &Event, hooked: bool) -> Meant {
    let name = event.tool.as_str();
    let input = &event.input;
    let sort = TOOLS.iter().find(|(_, names)| names.contains(&name)).map(|(sort, _)| *sort);
    if sort == Some(Sort::Shell)
        && let Some(texts) = commands(input)
    {
        return Meant::Shell(texts);
    }
    let acts = sort.and_then(|sort| acts(sort, input, hooked));
    let input = if acts.is_some() { String::new() } else { shown(input) };
    Meant::Tool(Tool {
        name: name.to_owned(),
        acts: acts.unwrap_or_else(|| vec![Act::Use(name.to_owned())]),
        input,
    })
}

/// The texts for a shell: one, a list of them, or the words of one program.
fn commands(input: &Value) -> Option<Vec<String>> {
    if let Some(list) = input.get("commands").and_then(Value::as_array) {
        let texts: Option<Vec<String>> = list.iter().map(one_command).collect();
        return texts.filter(|texts| !texts.is_empty());
    }
    if let Some(text) = input.get("commands").and_then(Value::as_str) {
        return Some(vec![text.to_owned()]);
    }
    let found: Vec<String> =
        COMMANDS.iter().filter_map(|key| input.get(key)).filter_map(words_or_text).collect();
    (!found.is_empty()).then_some(found)
}

/// A text, or a program with its words under `command` and `args`.
fn one_command(value: &Value) -> Option<String> {
    if value.is_object() {
        let words = value.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
        let program = value.get("command")?.as_str()?;
        let words: Option<Vec<String>> = words.iter().map(|word| Some(quote(word.as_str()?))).collect();
        let words = words?;
        // Without words it is a text of its own.
        return Some(if words.is_empty() {
            program.to_owned()
        } else {
            format!("{} {}", quote(program), words.join(" "))
        });
    }
    words_or_text(value)
}

fn words_or_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<String>> = words.iter().map(|word| Some(quote(word.as_str()?))).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        _ => None,
    }
}

/// What a known tool does; None when its input is not as expected.
fn acts(sort: Sort, input: &Value, hooked: bool) -> Option<Vec<Act>> {
    let found = paths(input);
    let each = |act: fn(String) -> Act| -> Option<Vec<Act>> {
        (!found.is_empty()).then(|| found.iter().cloned().map(act).collect())
    };
    match sort {
        Sort::Shell => None,
        Sort::Read => each(Act::Read),
        Sort::List => each(Act::List).or_else(|| Some(vec![Act::List(".".to_owned())])),
        Sort::Search => each(Act::Search).or_else(|| Some(vec![Act::Search(".".to_owned())])),
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
            acts.extend((!found.is_empty()).then(|| written(&found, "")).unwrap_or_default());
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
    let pattern = input.get("pattern").and_then(Value::as_str).filter(|text| text.starts_with(['/', '~']));
    if let Some(pattern) = pattern.filter(|_| input.get("path").is_none()) {
        let head = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
        add(head.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder }));
    }
    found
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

/// The input of a tool, for a person.
fn shown(input: &Value) -> String {
    if input.is_null() { String::new() } else { serde_json::to_string_pretty(input).unwrap_or_default() }
}

/// What a use of a tool is called in questions, refusals and records, without what it is given.
#[must_use]
pub fn title(tool: &Tool) -> String {
    let mut text = tool.name.clone();
    for act in &tool.acts {
        let subject = match act {
            Act::Read(path) | Act::List(path) | Act::Search(path) | Act::Delete(path) => path.clone(),
            Act::Write { path, .. } | Act::Edit { path, .. } => path.clone(),
            Act::Move { from, to } => format!("{from} {to}"),
            Act::Fetch(subject) | Act::Query(subject) => subject.clone(),
            Act::Use(subject) | Act::Mention(subject) if *subject == tool.name => continue,
            Act::Use(subject) | Act::Mention(subject) => subject.clone(),
        };
        text.push(' ');
        text.push_str(&subject);
    }
    text
}

/// What an answer is bound to beside the title, and all that a record tells of what the tool is given: how long it
/// is, and its hash.
#[must_use]
pub fn given(input: &Value) -> String {
    let bytes = serde_json::to_vec(input).unwrap_or_default();
    format!("input of {} bytes, sha256 {}", bytes.len(), hash(&bytes))
}
