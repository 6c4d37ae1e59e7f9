//! What can be set beside rules. A file that may only tighten changes a knob only to something stricter.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::reviewing::Reviewing;
use crate::syntax;

/// What becomes of a question where no terminal is a person's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WithoutTerminal {
    /// It waits in the queue where somebody listens; else it is refused, and kept for a later answer.
    #[default]
    Auto,
    /// It waits in the queue.
    Queue,
    /// It is refused at once.
    Deny,
}

/// When a command runs on a pseudo-terminal of gsh's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pty {
    /// When its output is a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How a command runs where it gets no pseudo-terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// As the command needs it.
    #[default]
    Auto,
    /// gsh becomes the command: nothing is supervised, and no limit holds.
    Exec,
    /// Always under a supervisor.
    Pipes,
}

/// Which tools of an agent its hook judges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Those that gsh has a table for, and others where a rule names them.
    SideEffect,
    /// All.
    #[default]
    All,
}

/// What a hook does with a shell's command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookShell {
    /// It is left to the gsh that the agent has as its shell.
    Leave,
    /// It is decided.
    #[default]
    Decide,
}

/// What a hook says where gsh allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookAllow {
    /// Yes: the agent need not ask.
    #[default]
    Answer,
    /// Nothing: the agent's own rules hold beside ours.
    Leave,
}

/// How hooks of agents answer (`[hook]`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// Which tools are judged.
    pub gate: Gate,
    /// Whether the commands of a shell are.
    pub shell: HookShell,
    /// What is said to what is allowed.
    pub allow: HookAllow,
}

/// How much of a text is read before it counts as not understood. None is the reader's own measure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Its length in bytes.
    pub bytes: Option<usize>,
    /// How deeply commands may stand in commands.
    pub depth: Option<usize>,
    /// How many nodes the grammar may find.
    pub nodes: Option<usize>,
    /// How many rounds of a hundred steps the grammar may take.
    pub progress: Option<usize>,
}

impl Limits {
    /// As the reading takes them.
    #[must_use]
    pub fn of_reading(&self) -> syntax::Limits {
        let own = syntax::Limits::default();
        syntax::Limits {
            bytes: self.bytes.unwrap_or(own.bytes),
            depth: self.depth.unwrap_or(own.depth),
            nodes: self.nodes.unwrap_or(own.nodes),
            progress: self.progress.unwrap_or(own.progress),
            ..own
        }
    }
}

/// The knobs as they hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knobs {
    /// What becomes of a part that was not understood: ask, review or deny.
    pub on_unresolved: Verdict,
    /// What becomes of a question that no terminal can put.
    pub on_ask_without_terminal: WithoutTerminal,
    /// What becomes of a review when the reviewer fails: deny, ask or allow.
    pub on_review_unavailable: Verdict,
    /// What becomes of a command of which some parts are denied: deny, ask or review.
    pub on_mixed: Verdict,
    /// Nothing but fully explained reading runs without a record in its proper place.
    pub audit_required: bool,
    /// So many days of records are kept.
    pub audit_keep_days: usize,
    /// What was found on the way to a decision is written beside the record.
    pub audit_debug: bool,
    /// Kinds of terminal, or programs by absolute path, that the user vouches for.
    pub terminals: Vec<String>,
    /// Questions are plain lines, answered by typed words.
    pub plain: bool,
    /// How many seconds a question in the queue keeps its caller waiting; None for what suits the caller.
    pub ask_wait: Option<usize>,
    /// How many seconds a question is kept.
    pub ask_keep: usize,
    /// Who is told of a question in the queue.
    pub notify: Vec<String>,
    /// The real shell.
    pub shell: Option<String>,
    /// When a pseudo-terminal is used.
    pub pty: Pty,
    /// Whether a command without one is supervised.
    pub way: Way,
    /// How long a command may keep its caller; zero is without end.
    pub timeout: Duration,
    /// The status that a caller gets after that.
    pub timeout_status: u8,
    /// How much of a text is read.
    pub limits: Limits,
    /// Further folders that count as the project.
    pub allow_roots: Vec<String>,
    /// After so many refusals a session is held tighter.
    pub refusals: Refusals,
    /// When a person denies, the questions of the same session that wait at the same terminal are denied too.
    pub denial_ends_all: bool,
    /// How agents are held that were started beneath gsh.
    pub subagents: Subagents,
    /// Who judges what is to be reviewed.
    pub reviewer: Reviewing,
    /// How hooks of agents answer.
    pub hook: Hook,
    /// How a person's own typed lines are held.
    pub person: Person,
    /// The shell at a person's terminal.
    pub interactive: Interactive,
}

/// The shell at a person's terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Interactive {
    /// The file that it reads when it starts, absolute or below `~/`.
    pub rc: Option<String>,
    /// What stands before a line.
    pub prompt: Prompt,
}

/// What stands before a line at a person's terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Prompt {
    /// gsh's own: the folder, the branch, the mode, the status.
    #[default]
    Gsh,
    /// What bash would show (`PS1`), after what it would run before (`PROMPT_COMMAND`).
    Shell,
}

/// How lines are held that a person types, at gsh's own prompt or in a shell that gsh looks into.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Person {
    /// They are decided.
    pub enabled: bool,
    /// What a rule gives to a review may go to a model; else it goes to the person.
    pub auto_review: bool,
    /// Which one, instead of the reviewer of agents' commands.
    pub reviewer: Option<String>,
}

impl Default for Person {
    fn default() -> Self {
        Self { enabled: true, auto_review: false, reviewer: None }
    }
}

/// How agents are held that were started beneath gsh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Subagents {
    /// Answers may be remembered for them.
    pub allow_grants: bool,
    /// What becomes of what the builtin rules ask about: ask, review or deny.
    pub default: Verdict,
}

/// As documented.
impl Default for Subagents {
    fn default() -> Self {
        Self { allow_grants: false, default: Verdict::Ask }
    }
}

/// How many refusals of a session are too many; 0 for never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Refusals {
    /// In a row: what was granted counts no longer, a person must answer.
    pub in_a_row: u32,
    /// In all: nothing but reading runs until a person says so.
    pub in_all: u32,
}

/// As documented.
impl Default for Refusals {
    fn default() -> Self {
        Self { in_a_row: 3, in_all: 20 }
    }
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            on_unresolved: Verdict::Ask,
            on_ask_without_terminal: WithoutTerminal::Auto,
            on_review_unavailable: Verdict::Deny,
            on_mixed: Verdict::Deny,
            audit_required: true,
            audit_keep_days: 14,
            audit_debug: false,
            terminals: vec![],
            plain: false,
            ask_wait: None,
            ask_keep: 24 * 60 * 60,
            notify: vec![],
            shell: None,
            pty: Pty::Auto,
            way: Way::Auto,
            timeout: Duration::ZERO,
            timeout_status: 124,
            limits: Limits::default(),
            allow_roots: vec![],
            refusals: Refusals::default(),
            denial_ends_all: true,
            subagents: Subagents::default(),
            reviewer: Reviewing::default(),
            hook: Hook::default(),
            person: Person::default(),
            interactive: Interactive::default(),
        }
    }
}

/// What one file says of the knobs; None where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// See [`Knobs::on_unresolved`].
    pub on_unresolved: Option<Verdict>,
    /// See [`Knobs::on_ask_without_terminal`].
    pub on_ask_without_terminal: Option<WithoutTerminal>,
    /// See [`Knobs::on_review_unavailable`].
    pub on_review_unavailable: Option<Verdict>,
    /// See [`Knobs::on_mixed`].
    pub on_mixed: Option<Verdict>,
    /// See [`Knobs::audit_required`].
    pub audit_required: Option<bool>,
    /// See [`Knobs::audit_keep_days`].
    pub audit_keep_days: Option<usize>,
    /// See [`Knobs::audit_debug`].
    pub audit_debug: Option<bool>,
    /// See [`Knobs::terminals`].
    pub terminals: Option<Vec<String>>,
    /// See [`Knobs::plain`].
    pub plain: Option<bool>,
    /// See [`Knobs::ask_wait`].
    pub ask_wait: Option<usize>,
    /// See [`Knobs::ask_keep`].
    pub ask_keep: Option<usize>,
    /// See [`Knobs::notify`].
    pub notify: Option<Vec<String>>,
    /// See [`Knobs::shell`].
    pub shell: Option<String>,
    /// See [`Knobs::pty`].
    pub pty: Option<Pty>,
    /// See [`Knobs::way`].
    pub way: Option<Way>,
    /// See [`Knobs::timeout`].
    pub timeout: Option<Duration>,
    /// See [`Knobs::timeout_status`].
    pub timeout_status: Option<u8>,
    /// See [`Knobs::limits`].
    pub limits: Limits,
    /// See [`Knobs::allow_roots`].
    pub allow_roots: Option<Vec<String>>,
    /// See [`Knobs::denial_ends_all`].
    pub denial_ends_all: Option<bool>,
    /// See [`Refusals::in_a_row`].
    pub refusals_in_a_row: Option<u32>,
    /// See [`Refusals::in_all`].
    pub refusals_in_all: Option<u32>,
    /// See [`Subagents::allow_grants`].
    pub subagents_allow_grants: Option<bool>,
    /// See [`Subagents::default`].
    pub subagents_default: Option<Verdict>,
    /// See [`Knobs::reviewer`].
    pub reviewer: Option<Reviewing>,
    /// See [`Hook::gate`].
    pub hook_gate: Option<Gate>,
    /// See [`Hook::shell`].
    pub hook_shell: Option<HookShell>,
    /// See [`Hook::allow`].
    pub hook_allow: Option<HookAllow>,
    /// See [`Person::enabled`].
    pub person_enabled: Option<bool>,
    /// See [`Person::auto_review`].
    pub person_auto_review: Option<bool>,
    /// See [`Person::reviewer`].
    pub person_reviewer: Option<String>,
    /// `[interactive] rc`.
    pub interactive_rc: Option<String>,
    /// `[interactive] prompt`.
    pub interactive_prompt: Option<Prompt>,
}

/// Whether a file may loosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    Loosen,
    Tighten,
}

impl Knobs {
    /// Takes over all that a file of the user says.
    pub fn set(&mut self, settings: &Settings) {
        self.apply(settings, May::Loosen);
        if let Some(terminals) = &settings.terminals {
            self.terminals.clone_from(terminals);
        }
        self.ask_wait = settings.ask_wait.or(self.ask_wait);
        self.ask_keep = settings.ask_keep.unwrap_or(self.ask_keep);
        self.audit_debug = settings.audit_debug.unwrap_or(self.audit_debug);
        if let Some(notify) = &settings.notify {
            self.notify.clone_from(notify);
        }
        if let Some(shell) = &settings.shell {
            self.shell = Some(shell.clone());
        }
        if let Some(reviewer) = &settings.reviewer {
            self.reviewer.clone_from(reviewer);
        }
        if let Some(roots) = &settings.allow_roots {
            self.allow_roots.clone_from(roots);
        }
        if let Some(plain) = settings.plain {
            self.plain = plain;
        }
        if let Some(reviewer) = &settings.person_reviewer {
            self.person.reviewer = Some(reviewer.clone());
        }
        if let Some(rc) = &settings.interactive_rc {
            self.interactive.rc = Some(rc.clone());
        }
        self.interactive.prompt = settings.interactive_prompt.unwrap_or(self.interactive.prompt);
        self.pty = settings.pty.unwrap_or(self.pty);
        self.way = settings.way.unwrap_or(self.way);
        self.timeout = settings.timeout.unwrap_or(self.timeout);
        self.timeout_status = settings.timeout_status.unwrap_or(self.timeout_status);
    }

    /// Takes over what makes something stricter, and names the settings that would not.
    pub fn tighten(&mut self, settings: &Settings) -> Vec<&'static str> {
        let mut ignored = self.apply(settings, May::Tighten);
        if let Some(terminals) = &settings.terminals {
            if terminals.iter().any(|terminal| !self.terminals.contains(terminal)) {
                ignored.push("ask.terminals");
            }
            self.terminals.retain(|terminal| terminals.contains(terminal));
        }
        ignored.extend(settings.plain.is_some().then_some("ask.plain"));
        // A file that may only tighten starts no program and does not let an answer live longer.
        if let Some(keep) = settings.ask_keep {
            ignored.extend((keep > self.ask_keep).then_some("ask.keep"));
            self.ask_keep = self.ask_keep.min(keep);
        }
        ignored.extend(settings.ask_wait.is_some().then_some("ask.wait"));
        ignored.extend(settings.notify.is_some().then_some("ask.notify"));
        // A file that may only tighten has nothing more of what runs written down.
        ignored.extend(settings.audit_debug.is_some().then_some("audit.debug"));
        ignored.extend(settings.shell.is_some().then_some("shell.path"));
        ignored.extend(settings.reviewer.is_some().then_some("reviewer"));
        ignored.extend(settings.pty.is_some().then_some("run.pty"));
        ignored.extend(settings.way.is_some().then_some("run.way"));
        ignored.extend(settings.timeout.is_some().then_some("run.timeout"));
        ignored.extend(settings.timeout_status.is_some().then_some("run.timeout_status"));
        ignored.extend(settings.allow_roots.is_some().then_some("allow_roots"));
        ignored.extend(settings.person_reviewer.is_some().then_some("person.reviewer"));
        ignored.extend(settings.interactive_rc.is_some().then_some("interactive.rc"));
        ignored.extend(settings.interactive_prompt.is_some().then_some("interactive.prompt"));
        ignored
    }

    /// The settings that have an order from mild to strict.
    fn apply(&mut self, settings: &Settings, may: May) -> Vec<&'static str> {
        let mut ignored = vec![];
        let mut refuse = |refused: bool, name| ignored.extend(refused.then_some(name));
        refuse(raise(&mut self.on_unresolved, settings.on_unresolved, may), "on_unresolved");
        refuse(
            raise(&mut self.on_ask_without_terminal, settings.on_ask_without_terminal, may),
            "on_ask_without_terminal",
        );
        refuse(
            raise(&mut self.on_review_unavailable, settings.on_review_unavailable, may),
            "on_review_unavailable",
        );
        refuse(raise(&mut self.on_mixed, settings.on_mixed, may), "on_mixed");
        refuse(raise(&mut self.audit_required, settings.audit_required, may), "audit.required");
        refuse(raise(&mut self.denial_ends_all, settings.denial_ends_all, may), "ask.denial_ends_all");
        refuse(raise(&mut self.audit_keep_days, settings.audit_keep_days, may), "audit.keep_days");
        let Refusals { in_a_row, in_all } = &mut self.refusals;
        refuse(fewer(in_a_row, settings.refusals_in_a_row, may), "refusals.in_a_row");
        refuse(fewer(in_all, settings.refusals_in_all, may), "refusals.in_all");
        refuse(raise(&mut self.subagents.default, settings.subagents_default, may), "subagents.default");
        refuse(raise(&mut self.hook.gate, settings.hook_gate, may), "hook.gate");
        refuse(raise(&mut self.hook.shell, settings.hook_shell, may), "hook.shell");
        // To say nothing is the stricter.
        let mut silent = self.hook.allow == HookAllow::Leave;
        let wanted = settings.hook_allow.map(|allow| allow == HookAllow::Leave);
        refuse(raise(&mut silent, wanted, may), "hook.allow");
        self.hook.allow = if silent { HookAllow::Leave } else { HookAllow::Answer };
        // Not to allow is the stricter.
        let mut forbids = !self.subagents.allow_grants;
        let wanted = settings.subagents_allow_grants.map(|allows| !allows);
        refuse(raise(&mut forbids, wanted, may), "subagents.allow_grants");
        self.subagents.allow_grants = !forbids;
        refuse(raise(&mut self.person.enabled, settings.person_enabled, may), "person.enabled");
        let mut asks = !self.person.auto_review;
        let wanted = settings.person_auto_review.map(|reviews| !reviews);
        refuse(raise(&mut asks, wanted, may), "person.auto_review");
        self.person.auto_review = !asks;
        refuse(lower(&mut self.limits.bytes, settings.limits.bytes, may), "limits.bytes");
        refuse(lower(&mut self.limits.depth, settings.limits.depth, may), "limits.depth");
        refuse(lower(&mut self.limits.nodes, settings.limits.nodes, may), "limits.nodes");
        refuse(lower(&mut self.limits.progress, settings.limits.progress, may), "limits.progress");
        ignored
    }
}

/// Takes over a value unless it is milder and may not be; says whether it was refused.
fn raise<T: Ord + Copy>(knob: &mut T, value: Option<T>, may: May) -> bool {
    match value {
        Some(value) if may == May::Loosen || value >= *knob => *knob = value,
        Some(_) => return true,
        None => {}
    }
    false
}

/// Takes over a count unless it is larger (0 is without end) and may not be; says whether it was refused.
fn fewer(count: &mut u32, value: Option<u32>, may: May) -> bool {
    let size = |count: u32| if count == 0 { u32::MAX } else { count };
    match value {
        Some(value) if may == May::Loosen || size(value) <= size(*count) => *count = value,
        Some(_) => return true,
        None => {}
    }
    false
}

/// Takes over a limit unless it is wider and may not be; says whether it was refused. Against the
/// reader's own measure, which is not known here, nothing but the user's word counts.
fn lower(limit: &mut Option<usize>, value: Option<usize>, may: May) -> bool {
    match (value, *limit) {
        (None, _) => false,
        (Some(value), Some(now)) if may == May::Tighten && value > now => true,
        (Some(_), None) if may == May::Tighten => true,
        (Some(_), _) => {
            *limit = value;
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tightening_file_only_tightens() {
        let mut knobs = Knobs { terminals: vec!["tmux".into(), "screen".into()], ..Knobs::default() };
        knobs.limits.depth = Some(40);
        let ignored = knobs.tighten(&Settings {
            on_unresolved: Some(Verdict::Deny),
            on_mixed: Some(Verdict::Ask),
            on_review_unavailable: Some(Verdict::Allow),
            on_ask_without_terminal: Some(WithoutTerminal::Deny),
            audit_required: Some(true),
            audit_debug: Some(true),
            audit_keep_days: Some(3),
            terminals: Some(vec!["tmux".into(), "mine".into()]),
            plain: Some(true),
            ask_wait: Some(1),
            ask_keep: Some(60),
            notify: Some(vec!["/p/tell".into()]),
            shell: Some("/p/sh".into()),
            pty: None,
            way: None,
            timeout: Some(Duration::from_secs(1)),
            timeout_status: None,
            limits: Limits { bytes: Some(9), depth: Some(50), ..Limits::default() },
            allow_roots: Some(vec!["/".into()]),
            denial_ends_all: Some(false),
            refusals_in_a_row: Some(2),
            refusals_in_all: Some(0),
            subagents_allow_grants: Some(true),
            subagents_default: Some(Verdict::Deny),
            reviewer: Some(Reviewing::default()),
            hook_gate: Some(Gate::SideEffect),
            hook_shell: Some(HookShell::Decide),
            hook_allow: Some(HookAllow::Leave),
            person_enabled: Some(false),
            person_auto_review: Some(false),
            person_reviewer: Some("x".into()),
            interactive_rc: Some("/x".into()),
            interactive_prompt: Some(Prompt::Shell),
        });
        let hook = Hook { gate: Gate::All, shell: HookShell::Decide, allow: HookAllow::Leave };
        assert_eq!(knobs.hook, hook);
        assert_eq!(knobs.refusals, Refusals { in_a_row: 2, in_all: 20 });
        assert_eq!(knobs.on_unresolved, Verdict::Deny);
        assert_eq!(knobs.on_mixed, Verdict::Deny);
        assert_eq!(knobs.on_ask_without_terminal, WithoutTerminal::Deny);
        assert!(knobs.audit_required);
        assert_eq!(knobs.terminals, ["tmux"]);
        assert_eq!((knobs.ask_wait, knobs.ask_keep, knobs.notify), (None, 60, vec![]));
        assert_eq!((knobs.shell, knobs.allow_roots, knobs.limits.depth), (None, vec![], Some(40)));
        let expected = [
            "on_review_unavailable",
            "on_mixed",
            "ask.denial_ends_all",
            "audit.keep_days",
            "refusals.in_all",
            "hook.gate",
            "subagents.allow_grants",
            "person.enabled",
            "limits.bytes",
            "limits.depth",
            "ask.terminals",
            "ask.plain",
            "ask.wait",
            "ask.notify",
            "audit.debug",
            "shell.path",
            "reviewer",
            "run.timeout",
            "allow_roots",
            "person.reviewer",
            "interactive.rc",
            "interactive.prompt",
        ];
        assert_eq!(ignored, expected);
    }

    #[test]
    fn the_user_may_say_anything() {
        let mut knobs = Knobs::default();
        let settings =
            Settings { on_mixed: Some(Verdict::Ask), shell: Some("/bin/bash".into()), ..Settings::default() };
        knobs.set(&settings);
        assert_eq!((knobs.on_mixed, knobs.shell.as_deref()), (Verdict::Ask, Some("/bin/bash")));
    }
}
