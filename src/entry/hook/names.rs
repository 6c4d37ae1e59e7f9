//! The names that agents have for their tools. None means two different things, whichever agent has it.

/// A kind of tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// Runs commands.
    Shell,
    /// Reads files.
    Read,
    /// Looks at names.
    List,
    /// Searches below folders.
    Search,
    /// Looks for names by a pattern, which can lead elsewhere than its folder.
    Glob,
    /// Writes files anew.
    Write,
    /// Changes parts of files.
    Edit,
    /// One tool for several acts, which its `command` names.
    Editor,
    /// Applies a patch.
    Patch,
    /// Deletes files.
    Delete,
    /// Moves a file.
    Move,
    /// Fetches addresses.
    Fetch,
    /// Fetches into a file.
    Download,
    /// Asks the agent's search service.
    Query,
    /// Starts a sub-agent.
    Agent,
    /// Loads a skill.
    Skill,
    /// Input for a job of its own.
    Input,
    /// The agent's own affair, which is never asked about: its lists, its plans and the ways in and out of planning
    /// (which it asks its user about), its questions, its looks at jobs that were decided when they began and the end
    /// of those, and its own end. Nothing of the machine is read, written, run or reached.
    Own,
}

/// The names of each kind, between blanks.
const TOOLS: &[(Sort, &str)] = &[
    (
        Sort::Shell,
        "Bash bash Shell shell local_shell exec_command execute_command run_command run_commands \
         run_shell_command run_terminal_cmd run_in_terminal runTerminalCommand Execute terminal",
    ),
    (
        Sort::Read,
        "Read read read_file read_files ReadFile readFile view View view_file view_image open_file \
         read_many_files NotebookRead readCurrentlyOpenFile view_line_range read_file_range",
    ),
    (Sort::List, "LS ls list list_directory list_dir list_files ListFiles folder_tree"),
    (
        Sort::Search,
        "Grep grep rg search_file_content grep_search search_files SearchText finder grep_code grepSearch \
         list_code_definition_names codebase_search SemanticSearch codebase_search_agent lsp_references \
         lsp_diagnostics diagnostics references lsp semantic_search",
    ),
    (Sort::Glob, "Glob glob file_search FindFiles find_files find_by_name glob_file_search globSearch"),
    (
        Sort::Write,
        "Write write write_file write_to_file create create_file WriteFile createFile createNewFile \
         builtin_create_new_file TabWrite",
    ),
    (
        Sort::Edit,
        "Edit edit MultiEdit multiedit multi_edit replace edit_file EditFile editFile editor \
         replace_in_file NotebookEdit edit_notebook str_replace StrReplace search_replace insert \
         insert_edit_into_file reapply undo_edit single_find_and_replace replace_string_in_file \
         multi_replace_string_in_file",
    ),
    (Sort::Editor, "str_replace_editor str_replace_based_edit_tool"),
    (Sort::Patch, "apply_patch ApplyPatch applyPatch patch"),
    (Sort::Delete, "Delete delete delete_file DeleteFile remove_file"),
    (Sort::Move, "move_file rename_file move rename"),
    (
        Sort::Fetch,
        "WebFetch webfetch web_fetch fetch Fetch fetch_url FetchUrl fetchUrlContent fetch_web_content \
         read_url_content read_web_page agentic_fetch fetch_webpage",
    ),
    (Sort::Download, "download"),
    (Sort::Query, "WebSearch websearch web_search google_web_search search_web searchWeb codesearch"),
    (
        Sort::Agent,
        "Task Agent task agent delegate_to_agent codebase_investigator spawn_agent Subagent oracle \
         use_subagents runSubagent",
    ),
    (Sort::Input, "write_stdin"),
    (Sort::Skill, "Skill skill activate_skill use_skill"),
    (
        Sort::Own,
        "plan_enter plan_exit manage_todo_list AskUserQuestion ask_user ask_followup_question ask_question AskQuestion question TodoWrite \
         TodoRead todowrite todoread todo_write todo_read todos write_todos update_todo_list TaskCreate \
         TaskUpdate TaskList TaskGet update_plan create_plan CreatePlan ExitPlanMode EnterPlanMode \
         exit_plan_mode enter_plan_mode plan_mode_respond SwitchMode report_intent task_complete \
         attempt_completion BashOutput KillShell KillBash TaskOutput TaskStop AwaitShell read_bash \
         stop_bash list_bash job_output job_kill wait close_agent ToolSearch StructuredOutput think \
         Checklist Exit Status submit_and_exit",
    ),
];

/// The kind of the tool of this name.
pub(super) fn sort(name: &str) -> Option<Sort> {
    TOOLS.iter().find(|(_, names)| names.split_whitespace().any(|known| known == name)).map(|(sort, _)| *sort)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_means_two_things() {
        let mut seen = std::collections::HashSet::new();
        for name in TOOLS.iter().flat_map(|(_, names)| names.split_whitespace()) {
            assert!(seen.insert(name), "{name}");
        }
    }
}
