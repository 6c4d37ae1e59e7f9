//! Facts to requests: what a command asks to be allowed.

use std::collections::HashSet;

use crate::facts::arg::Arg;
use crate::facts::path::{Located, Target};
use crate::facts::programs::Wrapper;
use crate::facts::{Change, Doubt, Effect, EffectKind, Facts, Found, Invocation};
use crate::host::Node;
use crate::policy::pattern::escape;
use crate::policy::{Capability, CapabilityRequest, Destroys, Subject};
use crate::report::Span;
use crate::syntax::Cause;

/// What a command among the words of an unknown program would ask for as a program.
const CARRIED: [Capability; 3] =
    [Capability::ProcessExecute, Capability::NetworkAccess, Capability::GitModify];

/// Everything the facts ask for, in source order, without repetitions.
#[must_use]
pub fn requests(facts: &Facts) -> Vec<CapabilityRequest> {
    let mut found: Vec<CapabilityRequest> = Vec::new();
    let mut known = HashSet::new();
    let mut add = |request: CapabilityRequest| {
        // Whoever asks its own service may reach for others as well: both are judged. The same words in
        // another directory are another command.
        let (code, directory) = (request.code.clone(), request.directory.clone());
        let same = (request.capability, request.subject.clone(), request.destroys, request.query);
        if known.insert((same, code, directory)) {
            found.push(request);
        }
    };
    let (by_invocation, others) = sorted(facts);
    for (invocation, effects) in facts.invocations.iter().zip(by_invocation) {
        let asked = of_invocation(invocation, (&effects, &facts.problems)).into_iter();
        for request in asked.chain(effects.iter().flat_map(|effect| of_effect(facts, effect, &effects))) {
            let named = !matches!(request.subject, Subject::Path(_));
            let spellings = if named { invocation.spellings.clone() } else { request.spellings.clone() };
            add(CapabilityRequest { prefer: invocation.prefer, spellings, ..request });
        }
    }
    for effect in others {
        of_effect(facts, effect, &[]).into_iter().for_each(&mut add);
    }
    for (text, span) in &facts.mentions {
        add(mention(text.clone(), *span));
    }
    for (text, span) in &facts.carried {
        for capability in CARRIED {
            add(CapabilityRequest { capability, carried: true, ..mention(text.clone(), *span) });
        }
    }
    found
}

/// The effects of each invocation that something is asked for, and those of none.
fn sorted(facts: &Facts) -> (Vec<Vec<&Effect>>, Vec<&Effect>) {
    let (mut by_invocation, mut others) = (vec![Vec::new(); facts.invocations.len()], Vec::new());
    let asking = facts.effects.iter().filter(|effect| matches!(effect.found, Found::Read | Found::Elsewhere));
    for effect in asking {
        match effect.by.and_then(|by| by_invocation.get_mut(by)) {
            Some(own) => own.push(effect),
            None => others.push(effect),
        }
    }
    (by_invocation, others)
}

fn mention(text: String, span: Span) -> CapabilityRequest {
    CapabilityRequest::new(Capability::ProcessExecute, Subject::Mention(text.clone()), text, span)
}

/// What an invocation asks for as a program.
fn of_invocation(
    invocation: &Invocation,
    (effects, doubts): (&[&Effect], &[Doubt]),
) -> Vec<CapabilityRequest> {
    let text = invocation.text();
    let mut found = Vec::new();
    if invocation.glimpsed {
        found.push(mention(text, invocation.span));
    } else if invocation.wrapper == Some(Wrapper::Escalating) {
        let mut asked = CapabilityRequest::new(
            Capability::ProcessExecute,
            command(invocation),
            format!("Run {text}"),
            invocation.span,
        );
        asked.escalates = true;
        asked.directory.clone_from(&invocation.cwd);
        asked.risks.push("it runs with other rights than yours".to_owned());
        found.push(asked);
    } else if !invocation.explained {
        let mut asked = CapabilityRequest::new(
            Capability::ProcessExecute,
            command(invocation),
            format!("Run {text}"),
            invocation.span,
        );
        asked.escalates = invocation.wrapped_in.iter().any(|(_, kind)| *kind == Wrapper::Escalating);
        asked.suggestions = suggestions(invocation);
        asked.directory.clone_from(&invocation.cwd);
        asked.code = code(invocation, effects, doubts);
        asked.risks = risks(effects);
        found.push(asked);
    } else {
        let outer = invocation.wrapped_in.iter().map(|(text, _)| text.clone());
        found.extend(outer.chain([text]).map(|text| mention(text, invocation.span)));
    }
    found.extend(invocation.text_by_name().map(|text| mention(text, invocation.span)));
    found
}

/// The texts of an invocation that rules match.
fn command(invocation: &Invocation) -> Subject {
    let own = invocation.text();
    let mut texts: Vec<String> = invocation.wrapped_in.iter().map(|(text, _)| text.clone()).collect();
    texts.push(own);
    let written = texts.remove(0);
    let allow_needs_all = invocation.wrapped_in.iter().any(|(_, kind)| *kind != Wrapper::Transparent);
    Subject::Command { written, inner: texts, allow_needs_all }
}

/// A longer text is no pattern that anybody could look through, or that would match again.
const LONGEST_SUGGESTION: usize = 200;

/// "Always" patterns: the exact command, then its leading words.
fn suggestions(invocation: &Invocation) -> Vec<String> {
    let program = invocation.words.first().and_then(Arg::text).unwrap_or_default();
    // What a file of that path holds can change; its path says nothing.
    let by_path = program.contains('/');
    if !invocation.certain() || invocation.arity == 0 || !invocation.wrapped_in.is_empty() || by_path {
        return Vec::new();
    }
    let mut found = vec![escape(&invocation.text())];
    if invocation.words.len() > invocation.arity {
        let head = invocation.words.get(..invocation.arity).unwrap_or_default();
        found.push(format!("{} *", escape(&crate::facts::text_of(head))));
    }
    found.retain(|text| text.len() <= LONGEST_SUGGESTION && !text.contains(char::is_control));
    found
}

/// Programs that run the file they are given.
const INTERPRETERS: [&str; 16] = [
    "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "node", "perl", "php", "python", "python3", "ruby",
    "Rscript", "sh", "zsh",
];

/// The files whose content is what an invocation runs: a program called by its path, an interpreter's
/// script. They are in the directory that the invocation has, whatever its text says.
fn code(invocation: &Invocation, effects: &[&Effect], doubts: &[Doubt]) -> Vec<String> {
    let folder = invocation.cwd.as_deref().unwrap_or_default();
    let at = |path: &str| if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") };
    let program = invocation.words.first().and_then(Arg::text).unwrap_or_default();
    let mut found = Vec::new();
    if program.contains('/') {
        found.push(at(program));
    }
    let name = program.rsplit('/').next().unwrap_or_default();
    if interprets(name) {
        let read = effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Read(Target::Known(place)) if place.node == Node::File => Some(place.real.clone()),
            _ => None,
        });
        found.extend(read);
        found.extend(scripts(invocation, doubts).map(at));
    }
    found
}

/// Whether a program runs the file it is given, by its name with or without a version.
fn interprets(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&plain)
}

/// The words that are an interpreter's script: those whose code is not understood, and where its options are
/// not known the first that is none.
fn scripts<'i>(invocation: &'i Invocation, doubts: &'i [Doubt]) -> impl Iterator<Item = &'i str> {
    let opaque = move |word: &Arg| {
        doubts.iter().any(|doubt| doubt.problem.cause == Cause::OpaqueCode && doubt.problem.span == word.span)
    };
    let words = invocation.words.get(1..).unwrap_or_default();
    let first = words.iter().position(|word| !word.head().starts_with('-'));
    let scripts = words.iter().enumerate().filter(move |(at, word)| Some(*at) == first || opaque(word));
    scripts.filter_map(|(_, word)| word.text())
}

fn risks(effects: &[&Effect]) -> Vec<String> {
    let mut found = Vec::new();
    for effect in effects {
        match &effect.kind {
            EffectKind::RunsDownload => found.push("it runs what it downloads".to_owned()),
            EffectKind::Network { .. } => found.push("it talks to the network".to_owned()),
            EffectKind::DestroyRemote { what } => found.push(remote_loss(what)),
            EffectKind::Interactive => found.push("it waits for keys at a terminal".to_owned()),
            _ => {}
        }
    }
    found
}

/// What a text asks for that is sent to a job. Where the job is the session's own and takes it for data, whoever
/// allowed the job allowed that: only a rule that names it has a say.
fn input((command, span): (&str, Span), obeys: bool, foreign: bool) -> CapabilityRequest {
    let written = format!("stdin:{command}");
    let subject = if obeys || foreign {
        Subject::Command { written, inner: Vec::new(), allow_needs_all: false }
    } else {
        Subject::Mention(written)
    };
    let display = format!("Send to the job: {command}");
    let mut asked = CapabilityRequest::new(Capability::ProcessBackground, subject, display, span);
    if obeys {
        asked.risks.push("what the job makes of it depends on what it was sent before".to_owned());
    }
    if foreign {
        asked.risks.push("the job is another session's".to_owned());
    }
    asked
}

fn destroys_remote(effects: &[&Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect.kind, EffectKind::DestroyRemote { .. }))
}

fn remote_loss(what: &str) -> String {
    match what {
        "" => "what it destroys is not on this machine".to_owned(),
        what => format!("it destroys what is not on this machine: {what}"),
    }
}

/// What an effect asks for, of all the effects that its invocation has.
fn of_effect(facts: &Facts, effect: &Effect, mine: &[&Effect]) -> Vec<CapabilityRequest> {
    match &effect.kind {
        EffectKind::Read(target) => return of_read(target, effect.span),
        EffectKind::Write { target, change } => return of_write(target, *change, effect.span),
        EffectKind::ReadTree { tree, files, .. } => return of_tree(tree, files.as_deref(), effect.span),
        EffectKind::List(_) => return Vec::new(),
        _ => {}
    }
    // A command's text is made only where it is asked about: there may be thousands of paths in it.
    let by = effect.by.and_then(|by| facts.invocations.get(by));
    let text = by.map(Invocation::text).unwrap_or_default();
    let whole = by.map_or_else(|| plain(&text), command);
    let directory = by.and_then(|by| by.cwd.clone());
    let make = |capability, display: String| CapabilityRequest {
        directory: directory.clone(),
        ..CapabilityRequest::new(capability, whole.clone(), display, effect.span)
    };
    match &effect.kind {
        EffectKind::DestroyRemote { .. } => {
            let mut asked = make(Capability::NetworkAccess, format!("Connect: {text}"));
            asked.risks = risks(mine);
            vec![asked]
        }
        // What destroys asks already.
        EffectKind::Network { .. } if destroys_remote(mine) => Vec::new(),
        EffectKind::Network { query } => {
            let mut asked = make(Capability::NetworkAccess, format!("Connect: {text}"));
            asked.query = *query;
            asked.suggestions = by.map(suggestions).unwrap_or_default();
            vec![asked]
        }
        EffectKind::GitModify => {
            let mut asked = make(Capability::GitModify, format!("Change the repository: {text}"));
            asked.suggestions = by.map(suggestions).unwrap_or_default();
            vec![asked]
        }
        EffectKind::Push { push, .. } => {
            let mut change = make(Capability::GitModify, format!("Push: {text}"));
            if push.force || push.delete || push.lease {
                change.risks.push("commits on the remote may be lost".to_owned());
            } else {
                change.suggestions = by.map(suggestions).unwrap_or_default();
            }
            vec![change, make(Capability::NetworkAccess, format!("Connect: {text}"))]
        }
        EffectKind::Background => {
            let mut asked = make(Capability::ProcessBackground, format!("Leave running: {text}"));
            asked.risks.push("it keeps running when the command has ended".to_owned());
            vec![asked]
        }
        EffectKind::Input { command, obeys, foreign } => {
            vec![input((command, effect.span), *obeys, *foreign)]
        }
        EffectKind::RevealSecrets => {
            let subject = Subject::Path(vec!["/proc/self/environ".to_owned()]);
            vec![CapabilityRequest::new(
                Capability::FileRead,
                subject,
                // Its words may hold the secret itself by now; the text as typed is shown beside this.
                format!(
                    "Print secrets: {}",
                    by.and_then(|by| by.words.first()).map(Arg::display).unwrap_or_default()
                ),
                effect.span,
            )]
        }
        EffectKind::RunsDownload => {
            let mut asked = make(Capability::ProcessExecute, "Run what it downloads".to_owned());
            asked.risks.push("it runs what it downloads".to_owned());
            vec![asked]
        }
        EffectKind::Tool { name, quiet } => vec![of_tool(name, *quiet, effect.span)],
        // The first four are answered above, the others are the floor's or only noted.
        EffectKind::Read(_)
        | EffectKind::ReadTree { .. }
        | EffectKind::List(_)
        | EffectKind::Write { .. }
        | EffectKind::Power
        | EffectKind::KillAll
        | EffectKind::ForkBomb
        | EffectKind::DeleteUser
        | EffectKind::Canary
        | EffectKind::Disarm
        | EffectKind::Interactive => Vec::new(),
    }
}

/// A tool by its name; all tools of an MCP server share a prefix.
fn of_tool(name: &str, quiet: bool, span: Span) -> CapabilityRequest {
    let subject = if quiet { Subject::Mention(name.to_owned()) } else { plain(name) };
    let mut asked = CapabilityRequest::new(Capability::ToolUse, subject, format!("Use {name}"), span);
    if !quiet && name.len() <= LONGEST_SUGGESTION && !name.contains(char::is_control) {
        asked.suggestions.push(escape(name));
        let server = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        asked
            .suggestions
            .extend(server.map(|(server, _)| format!("{}*", escape(&format!("mcp__{server}__")))));
    }
    asked
}

fn plain(text: &str) -> Subject {
    Subject::Command { written: text.to_owned(), inner: Vec::new(), allow_needs_all: false }
}

fn of_tree(tree: &Target, files: Option<&[String]>, span: Span) -> Vec<CapabilityRequest> {
    let mut found = of_read(tree, span);
    found.iter_mut().for_each(with_content);
    for file in files.unwrap_or_default() {
        let subject = Subject::Path(vec![file.clone()]);
        found.push(CapabilityRequest::new(Capability::FileRead, subject, format!("Read {file}"), span));
    }
    found
}

fn of_read(target: &Target, span: Span) -> Vec<CapabilityRequest> {
    let Target::Known(place) = target else { return Vec::new() };
    // A pipe or a descriptor of the command itself is no file of anybody.
    if crate::facts::is_device(&place.lexical) || place.lexical == "/dev/stdin" {
        return Vec::new();
    }
    let display = format!("Read {}", place.lexical);
    vec![CapabilityRequest::new(Capability::FileRead, Subject::Path(path_forms(place)), display, span)]
}

fn of_write(target: &Target, change: Change, span: Span) -> Vec<CapabilityRequest> {
    let (place, shown) = match target {
        Target::Known(place) => (place, place.lexical.clone()),
        Target::Below { root, name } => {
            (root, format!("{} below {}", name.as_deref().unwrap_or("everything"), root.lexical))
        }
        // What cannot be told is asked about as not understood.
        Target::Unknown { .. } => return Vec::new(),
    };
    let below = matches!(target, Target::Below { .. });
    let destroys = destroys(place, change, below);
    let capability =
        if place.in_project { Capability::FileWriteProject } else { Capability::FileWriteOutside };
    let verb = verb(change, destroys);
    let mut forms = path_forms(place);
    if below {
        forms.iter_mut().for_each(|form| form.push_str("/*"));
    }
    let mut asked = CapabilityRequest::new(capability, Subject::Path(forms), format!("{verb} {shown}"), span);
    asked.destroys = destroys;
    if matches!(change, Change::Delete | Change::DeleteTree | Change::Move | Change::ModeTree) {
        with_content(&mut asked);
    }
    if let Some(destroys) = destroys {
        asked.risks.push(loss(destroys, &shown));
    }
    vec![asked]
}

/// What is refused or asked for everything in a folder (`~/vault/*`) holds for the folder as a whole.
fn with_content(asked: &mut CapabilityRequest) {
    if let Subject::Path(forms) = &asked.subject {
        asked.spellings = forms.iter().map(|form| format!("{}/*", form.trim_end_matches('/'))).collect();
    }
}

fn path_forms(place: &Located) -> Vec<String> {
    let mut forms = vec![place.lexical.clone()];
    if place.real != place.lexical {
        forms.push(place.real.clone());
    }
    forms
}

/// What a change at this place would destroy.
fn destroys(place: &Located, change: Change, below: bool) -> Option<Destroys> {
    let exists = !matches!(place.node, Node::Missing | Node::Special);
    match change {
        Change::Create | Change::Append | Change::Patch => None,
        Change::Write | Change::Put | Change::Edit => (exists || below).then_some(Destroys::Overwrite),
        Change::Mode | Change::ModeTree => Some(Destroys::Mode),
        // Nothing is there, and nothing that ran before can have put something of worth there.
        Change::Delete if place.node == Node::Missing && !place.stale && !below => None,
        Change::Delete if below => Some(Destroys::Recursive),
        Change::Delete | Change::Move => Some(Destroys::Delete),
        Change::DeleteTree => Some(Destroys::Recursive),
        Change::Device => Some(Destroys::Overwrite),
    }
}

fn verb(change: Change, destroys: Option<Destroys>) -> &'static str {
    match (change, destroys) {
        (Change::Move, _) => "Move away",
        (Change::Mode | Change::ModeTree, _) => "Change the mode or owner of",
        (Change::Device, _) => "Write the device",
        (_, Some(Destroys::Recursive)) => "Delete the tree",
        (_, Some(Destroys::Delete)) => "Delete",
        (_, Some(_)) => "Overwrite",
        (Change::Append, None) => "Append to",
        (Change::Patch, None) => "Edit",
        _ => "Write",
    }
}

fn loss(destroys: Destroys, shown: &str) -> String {
    match destroys {
        Destroys::Overwrite => format!("the content of {shown} is lost"),
        Destroys::Mode => format!("who may use {shown} changes"),
        Destroys::Delete => format!("{shown} is gone from there"),
        Destroys::Recursive => format!("all that is in {shown} is gone"),
    }
}
