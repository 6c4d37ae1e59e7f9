//! A configuration file as types: what its JSON Schema is made of, for editors that complete and check it.
//!
//! `read` reads files, with a place for every mistake; these types say the same of keys and words, and the
//! tests keep both in step. What takes more than the shape to know (patterns, examples, which layer may say
//! what) is `read`'s alone.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::Deserialize;

use crate::policy::Capability;

/// A configuration of gsh: `~/.config/gsh/config.toml`, `.gsh/config.toml` in a project, or
/// `/etc/gsh/managed.toml`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "gsh configuration")]
pub struct Configuration {
    /// How strict gsh is as a whole. Default: "default".
    pub mode: Option<Mode>,
    /// What becomes of a part that gsh does not fully understand. Default: "ask".
    pub on_unresolved: Option<Raising>,
    /// What becomes of a question where no terminal is a person's. Default: "auto".
    pub on_ask_without_terminal: Option<WithoutTerminal>,
    /// What becomes of a review when the reviewer fails. Default: "deny".
    pub on_review_unavailable: Option<Failing>,
    /// What becomes of a command of which some parts are denied. Default: "deny".
    pub on_mixed: Option<Raising>,
    /// Further folders that count as the project, absolute or below `~/`. Default: none.
    pub allow_roots: Option<Vec<Root>>,
    /// The rules.
    pub permissions: Option<Permissions>,
    /// How questions are put.
    pub ask: Option<Ask>,
    /// The record.
    pub audit: Option<Audit>,
    /// The real shell.
    pub shell: Option<Shell>,
    /// How commands run.
    pub run: Option<Run>,
    /// How much of a text is read before it counts as not understood.
    pub limits: Option<Limits>,
    /// After so many refusals a session is held tighter.
    pub refusals: Option<Refusals>,
    /// What agents beneath others may do.
    pub subagents: Option<Subagents>,
    /// Who judges what is to be reviewed. In the user's file and the managed one.
    pub reviewer: Option<Reviewer>,
    /// How hooks of agents answer.
    pub hook: Option<Hook>,
    /// How a person's own typed lines are held.
    pub person: Option<Person>,
    /// The shell at a person's terminal.
    pub interactive: Option<Interactive>,
    /// Tables of programs that gsh does not know, by their names.
    pub programs: Option<BTreeMap<String, Program>>,
    /// What nobody may do here, whatever other files say. In the user's file and the managed one.
    pub forbid: Option<Vec<Forbidden>>,
    /// Entries of a floor of one's own: each refuses, and nothing lifts it. In the user's file and the
    /// managed one.
    pub floor: Option<Vec<Floor>>,
}

/// The rules of a file: shorthands and tables by capability in their order, then `rules`. The last one that
/// matches decides.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = name_capabilities)]
pub struct Permissions {
    /// Rules with all that can be said of them; they stand after the others.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// By capability, by a pattern of capabilities, or in an agent's form (`"Bash(npm test:*)"`).
    #[serde(flatten)]
    pub others: BTreeMap<String, Entry>,
}

/// What stands behind a capability.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Entry {
    /// An answer for everything; an allow or ask gives way to every more particular rule.
    Shorthand(Action),
    /// Patterns and their answers, in order.
    Patterns(BTreeMap<String, Nested>),
}

/// What stands behind a pattern.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Nested {
    /// The answer.
    Action(Action),
    /// The answer and more.
    Terms(Box<Terms>),
}

/// What a rule says beside what it is for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// What it says.
    pub action: Action,
    /// It also covers overwriting, deleting and changing modes. Default: false.
    pub destroys: Option<bool>,
    /// It lifts an ask and never a deny.
    pub lifts: Option<Lifts>,
    /// Why; shown when it decides.
    pub reason: Option<String>,
    /// Subjects that it must match, checked when the file is read.
    pub r#match: Option<Vec<String>>,
    /// Subjects that it must not match.
    pub not_match: Option<Vec<String>>,
    /// The last day it holds.
    pub expires: Option<Day>,
    /// It counts only in these modes.
    pub modes: Option<Vec<Mode>>,
    /// It counts only for calls that come in through these.
    pub entry: Option<Vec<Door>>,
    /// It counts only for these agents, by their names.
    pub agent: Option<Vec<String>>,
    /// It counts only where a terminal is at hand (true), or only where none is (false).
    pub interactive: Option<bool>,
}

/// A rule of `[[permissions.rules]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A capability, a pattern of capabilities, or a rule in an agent's form.
    pub capability: String,
    /// `*` is any run of characters, `?` is one, a trailing ` *` makes arguments optional. Default: "*".
    pub pattern: Option<String>,
    /// What it says.
    pub action: Action,
    /// It also covers overwriting, deleting and changing modes. Default: false.
    pub destroys: Option<bool>,
    /// It lifts an ask and never a deny.
    pub lifts: Option<Lifts>,
    /// Why; shown when it decides.
    pub reason: Option<String>,
    /// Subjects that it must match, checked when the file is read.
    pub r#match: Option<Vec<String>>,
    /// Subjects that it must not match.
    pub not_match: Option<Vec<String>>,
    /// The last day it holds.
    pub expires: Option<Day>,
    /// It counts only in these modes.
    pub modes: Option<Vec<Mode>>,
    /// It counts only for calls that come in through these.
    pub entry: Option<Vec<Door>>,
    /// It counts only for these agents, by their names.
    pub agent: Option<Vec<String>>,
    /// It counts only where a terminal is at hand (true), or only where none is (false).
    pub interactive: Option<bool>,
}

/// An entry of `[[floor]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// Its name, shown when it refuses.
    pub name: String,
    /// A capability, or a pattern of capabilities.
    pub capability: String,
    /// What is refused. Default: "*".
    pub pattern: Option<String>,
    /// Why; shown when it refuses.
    pub reason: Option<String>,
    /// Subjects that it must match, checked when the file is read.
    pub r#match: Option<Vec<String>>,
    /// Subjects that it must not match.
    pub not_match: Option<Vec<String>>,
}

/// `[ask]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Terminals that are yours: tmux, screen, zellij, sshd, mosh, serial, container, or the absolute path
    /// of a terminal program. Default: none.
    pub terminals: Option<Vec<String>>,
    /// Questions are plain lines, answered by typed words, for screen readers. Default: false.
    pub plain: Option<bool>,
    /// A denial denies the other questions of the session that wait at the same terminal. Default: true.
    pub denial_ends_all: Option<bool>,
    /// How many seconds a question without a terminal waits in the queue. Default: as long as the calling
    /// agent lets it.
    pub wait: Option<usize>,
    /// How many seconds an unanswered question is kept. Default: 86400.
    pub keep: Option<usize>,
    /// Who is told of a question in the queue: tmux, desktop, bell, or the absolute path of a program.
    /// Default: nobody.
    pub notify: Option<Vec<String>>,
}

/// `[audit]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// What was found on the way to a decision is written beside the record, secrets left out. Default: false.
    pub debug: Option<bool>,
    /// So many days of records are kept. Default: 14.
    pub keep_days: Option<NonZeroU64>,
    /// Without a record only fully explained reading runs. Default: true.
    pub required: Option<bool>,
}

/// `[shell]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shell {
    /// The absolute path of bash. Default: the one that is found.
    pub path: Option<Absolute>,
}

/// `[run]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// When a command runs on a pseudo-terminal of gsh's own. Default: "auto".
    pub pty: Option<Pty>,
    /// A command that takes longer becomes a job: seconds, or a text like "90s", "5m", "2h". Default: no limit.
    pub timeout: Option<Time>,
    /// The status that the caller of such a command gets. Default: 124.
    pub timeout_status: Option<u8>,
    /// How commands run without a terminal of gsh's own; other than "auto" is for tests. Default: "auto".
    pub way: Option<Way>,
}

/// A length of time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Time {
    /// Seconds.
    Seconds(u64),
    /// A number with a unit.
    Written(String),
}

/// How commands run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// As the command needs it.
    Auto,
    /// gsh becomes the command.
    Exec,
    /// Always under a supervisor.
    Pipes,
}

/// `[limits]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The length of a text in bytes.
    pub bytes: Option<NonZeroU64>,
    /// How deeply commands may stand in commands.
    pub depth: Option<NonZeroU64>,
    /// How many nodes the grammar may find.
    pub nodes: Option<NonZeroU64>,
    /// How many rounds of a hundred steps the grammar may take.
    pub progress: Option<NonZeroU64>,
}

/// `[refusals]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refusals {
    /// So many in a row: what was granted counts no longer, a person must answer. 0 for never. Default: 3.
    pub in_a_row: Option<u32>,
    /// So many in all: nothing but reading runs until a person says so. 0 for never. Default: 20.
    pub in_all: Option<u32>,
}

/// `[hook]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// What is said where gsh allows: yes, so that the agent need not ask ("answer"), or nothing, so that its
    /// own rules hold beside ours ("leave"). Default: "answer".
    pub allow: Option<HookAllow>,
    /// Which tools are judged: "all", or "side-effect" for those that gsh knows and those that a rule names.
    /// Default: "all".
    pub gate: Option<Gate>,
    /// Whether a shell's commands are decided ("decide"), or left to the gsh that is the agent's shell
    /// ("leave"). Default: "decide".
    pub shell: Option<HookShell>,
}

/// What a hook says where gsh allows.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HookAllow {
    /// Yes.
    Answer,
    /// Nothing.
    Leave,
}

/// Which tools a hook judges.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Those that gsh knows, and those that a rule names.
    SideEffect,
    /// All.
    All,
}

/// What a hook does with a shell's command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HookShell {
    /// It is decided.
    Decide,
    /// It is left to the shell.
    Leave,
}

/// `[subagents]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subagents {
    /// Answers may be remembered for them. Default: false.
    pub allow_grants: Option<bool>,
    /// What becomes of what the builtin rules ask about. Default: "ask".
    pub default: Option<Raising>,
}

/// `[person]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// The lines that a person types are decided. Default: true.
    pub enabled: Option<bool>,
    /// What a rule gives to a review may go to a model. Default: false.
    pub auto_review: Option<bool>,
    /// Which one, instead of the reviewer of agents' commands. Default: that one.
    pub reviewer: Option<String>,
}

/// `[interactive]`. In the user's file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interactive {
    /// What stands before a line: gsh's own, or what `PS1` says. Default: "gsh".
    pub prompt: Option<Prompt>,
    /// The file with aliases and functions that it reads when it starts. Default: none.
    pub rc: Option<Root>,
}

/// What stands before a line at a person's terminal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prompt {
    /// The folder, git's branch, the mode, the last status.
    Gsh,
    /// What bash would show, after what it would run before.
    Shell,
}

/// `[reviewer]`: a program, or an endpoint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reviewer {
    /// A program with its words; the first is an absolute path. It reads JSON and prints a verdict.
    pub program: Option<Vec<String>>,
    /// The base address of an endpoint: https, or http on this machine.
    pub url: Option<String>,
    /// The endpoint's language. Default: "openai".
    pub style: Option<Style>,
    /// The model that the endpoint is asked for.
    pub model: Option<String>,
    /// The variable that holds the endpoint's key. Commands do not get it.
    pub key_env: Option<String>,
    /// A program with its words that prints the key.
    pub key_command: Option<Vec<String>>,
    /// Variables that a program of these gets beside plain ones like HOME. Default: none.
    pub environment: Option<Vec<String>>,
    /// How long a whole review may take. Default: "30s".
    pub timeout: Option<Time>,
    /// What the reviewer calls more dangerous than that, a person is asked. Default: "medium".
    pub max_allow_risk: Option<Risk>,
    /// How often an endpoint may look at files of the project before it must answer. Default: 0.
    pub evidence_rounds: Option<u32>,
    /// A file that takes the place of the built-in instructions.
    pub prompt: Option<Absolute>,
    /// How long a verdict answers the same command again; 0 for never. Default: "5m".
    pub cache: Option<Time>,
    /// A person at the terminal is asked at the same time; the first answer counts. Default: false.
    pub race: Option<bool>,
    /// A fresh score of the session lets pass what would else wait for the reviewer: it allows first and judges later.
    /// Default: false.
    pub classifier: Option<bool>,
    /// So many reviewed commands after it a score is fresh. Default: 2.
    pub max_lag: Option<u32>,
}

/// The language of an endpoint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Chat completions.
    Openai,
    /// Messages.
    Anthropic,
}

/// How dangerous something is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Nothing worth a word can be lost.
    Low,
    /// What is lost is easily made again.
    Medium,
    /// What is lost is hard to make again.
    High,
    /// It must not happen by mistake.
    Critical,
}

/// The table of a program, in the notation of the built-in ones.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub struct Program {
    /// Its options, a line each: names, `=` and what the value is for, `:` and what it does.
    pub options: String,
    /// Options of all its subcommands.
    pub common: String,
    /// Subcommands that do the same.
    pub subs: String,
    /// Where its behaviour is written down.
    pub source: String,
    /// What to do instead.
    pub prefer: String,
    /// Files that it writes for itself.
    pub housekeeping: String,
    /// What its operands are for.
    pub operands: String,
    /// What it does in any case.
    pub effects: String,
    /// What it does when it has no operand.
    pub alone: String,
    /// What it does when it has no word at all.
    pub bare: String,
    /// How it reads options.
    pub style: String,
    /// How many leading words name what it does.
    pub arity: Option<usize>,
    /// What kind of wrapper it is.
    pub wrapper: Option<String>,
    /// For built-in tables only.
    pub reader: Option<String>,
    /// For built-in tables only.
    pub check: Option<String>,
    /// Options that, alone, only print a text.
    pub help: Option<String>,
    /// Its subcommands by their names.
    pub sub: BTreeMap<String, Program>,
}

/// Declares an enumeration of words.
macro_rules! words {
    ($(#[$doc:meta] $name:ident { $($(#[$of:meta])* $word:ident),+ $(,)? })+) => {$(
        #[$doc]
        #[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[allow(missing_docs, reason = "they are the words of files, which the guide explains")]
        pub enum $name { $($(#[$of])* $word),+ }
    )+};
}

words! {
    /// What a rule says.
    Action { Allow, Review, Ask, Deny }
    /// What can become of what is not simply allowed.
    Raising { Review, Ask, Deny }
    /// What can become of a review that failed.
    Failing { Allow, Ask, Deny }
    /// A mode.
    Mode { Default, Plan, AcceptEdits, Bypass, DontAsk }
    /// How a request comes in.
    Door { Command, Script, Stdin, Hook, Interactive, Typed, Check }
    /// What can be forbidden.
    Forbidden { Bypass, Trust, Review }
    /// What becomes of a question that no terminal can put.
    WithoutTerminal { Auto, Queue, Deny }
    /// When a pseudo-terminal is used.
    Pty { Auto, Always, Never }
    /// What a rule that an answer left behind lifts.
    Lifts { Ask }
}

/// An absolute path.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Absolute(#[schemars(regex(pattern = r"^/"))] pub String);

/// A folder, absolute or below the home.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Root(#[schemars(regex(pattern = r"^(/|~/)"))] pub String);

/// A day, as a string (`"2030-12-31"`) or as TOML's own kind of date.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Day {
    /// As a string.
    Text(String),
    /// As TOML has it.
    Date(toml::value::Datetime),
}

impl JsonSchema for Day {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "date",
            "description": "A day: 2030-12-31"
        })
    }
}

/// Names the capabilities, so that an editor can offer them.
fn name_capabilities(schema: &mut Schema) {
    let Some(entry) = schema.get("additionalProperties").cloned() else { return };
    if let Some(properties) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
        for capability in Capability::ALL {
            properties.insert(capability.word().to_owned(), entry.clone());
        }
    }
}

/// The JSON Schema of a configuration.
#[must_use]
pub fn json_schema() -> String {
    let settings = SchemaSettings::draft07();
    let schema = settings.into_generator().into_root_schema_for::<Configuration>();
    // A value of strings and numbers can always be written.
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text + "\n"
}
