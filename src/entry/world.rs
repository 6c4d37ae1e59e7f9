//! The machine and the policy that one request is decided with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::ask::Ledger;
use crate::audit::Context;
use crate::audit::redact::Secrets;
use crate::config::line;
use crate::config::load::{Options, load};
use crate::host::Host;
use crate::policy::{Agent, Forbidden, LayerRules, Mode, Places, Policy, Refused, Verdict};
use crate::review::Reviewer;
use crate::store::calls::{Above, Calls, Wrapped};
use crate::store::passes::{Bearer, Passes};
use crate::store::places::Folders;
use crate::store::session::{Found, Session};
use crate::store::sessions::{Memory, Sessions};
use crate::sys::agents;
use crate::sys::machine::{Machine, Surroundings};
use crate::sys::proc::Lineage;

/// Variables in which agents tell their commands the session.
const SESSIONS: [&str; 3] = ["CLAUDE_CODE_SESSION_ID", "QWEN_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"];

/// The environment a request comes from.
#[derive(Debug, Clone)]
pub struct Surrounds {
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folders of gsh's own files; None without a home.
    pub folders: Option<Folders>,
    /// gsh's own files and folders, which a gated command must not change.
    pub ours: Vec<PathBuf>,
    /// This process and those above it.
    pub lineage: Option<Lineage>,
    /// The entries of the user's calls.
    pub calls: Calls,
    /// The call that this process runs beneath.
    pub above: Option<Above>,
    /// The wrapped program that started this process, with no call in between.
    pub wrapped: Option<Wrapped>,
    /// Whose commands these are.
    pub session: Session,
    /// What is remembered of the session.
    pub memory: Memory,
    /// What programs get from the shell that runs the text, where that said so.
    pub told: Option<Vec<(OsString, OsString)>>,
}

impl Surrounds {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let (lineage, calls) = (Lineage::own(), Calls::of_user());
        let above = lineage.as_ref().and_then(|lineage| calls.above(lineage));
        Self::beneath(above, lineage, calls)
    }

    /// The same as it is now, for a further text of this very call: what the call itself entered
    /// meanwhile stands beside it and not above.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self::beneath(self.above.clone(), self.lineage.clone(), self.calls.clone())
    }

    /// The same for one that has itself become what others run beneath: what it runs beneath was found before.
    #[must_use]
    pub fn of_shell(above: Option<Above>) -> Self {
        Self::beneath(above, Lineage::own(), Calls::of_user())
    }

    fn beneath(above: Option<Above>, lineage: Option<Lineage>, calls: Calls) -> Self {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let find =
            |name: &str| environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let text = |name: &str| find(name).and_then(|value| value.into_string().ok());
        let session = Session::find(lineage.as_ref(), &text, above.as_ref());
        // Nothing is wrapped beneath a call, and a wrapped program names its session.
        let looks = above.is_none() && find("GSH_SESSION").is_some();
        let mut processes = lineage.iter().filter(|_| looks).flat_map(|lineage| &lineage.above);
        let wrapped = processes.find_map(|process| calls.wrapped(process));
        // Beneath another gsh its files hold, whatever the environment says.
        let folders = above.as_ref().map_or_else(|| Folders::new(&find), |above| above.call.folders.clone());
        let mut ours: Vec<PathBuf> = vec!["/etc/gsh".into(), calls.folder().to_owned()];
        if let Some(folders) = &folders {
            ours.extend([&folders.config, &folders.state, &folders.cache, &folders.data].map(Clone::clone));
            ours.extend(folders.runtime.clone());
        }
        ours.extend(std::env::current_exe().ok());
        let sessions = folders.as_ref().map(Sessions::of);
        let memory = sessions.map(|sessions| sessions.read(&session.id)).unwrap_or_default();
        Self { environment, folders, ours, lineage, calls, above, wrapped, session, memory, told: None }
    }

    /// What a record tells of where a request comes from.
    #[must_use]
    pub fn context(&self) -> Context {
        let mut secrets = Secrets::default();
        for (name, value) in &self.environment {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
                secrets.learn_variable(name, value);
            }
        }
        Context {
            session: Some(self.session.id.clone()),
            parents: self.session.parents.clone(),
            lineage: self.lineage.clone(),
            beneath: self.above.is_some(),
            above: self.above.as_ref().and_then(|above| above.call.record.clone()),
            grants: self.memory.grants.clone(),
            secrets,
            ..Context::default()
        }
    }

    /// The machine as seen from a directory.
    #[must_use]
    pub fn machine(&self, start: &Path) -> Machine {
        let plan = self.folders.as_ref().map(|folders| folders.plan_file(&self.session.id));
        let own = Surroundings::new(self.environment.clone(), start.to_owned(), self.ours.clone());
        let first = self.memory.first.clone();
        // A process that took over one of a call is part of that call's command.
        let continues = self.above.as_ref().is_some_and(|above| above.distance == 0);
        let starter = self.lineage.as_ref().filter(|_| !continues).and_then(agents::starter);
        Machine::new(Surroundings { plan, first, starter, ..own })
    }

    /// The same for a command that gets this `PATH`.
    #[must_use]
    pub fn machine_with_path(&self, start: &Path, path: &str) -> Machine {
        let mut other = self.clone();
        other.environment.retain(|(name, _)| name != "PATH");
        other.environment.push(("PATH".into(), path.into()));
        other.machine(start)
    }

    /// The same for what runs in a shell that said what its programs get. What gsh itself goes by stays as it was.
    #[must_use]
    pub fn machine_in_shell(&self, start: &Path) -> Option<Machine> {
        let mut other = self.clone();
        other.environment = self.told.clone()?;
        Some(other.machine(start))
    }

    /// The policy that holds there. Beneath another gsh its configuration and the rules of its command
    /// line hold as well.
    #[must_use]
    pub fn policy(&self, machine: &Machine, mut options: Options) -> Policy {
        if let Some(Above { call, .. }) = &self.above {
            options.config.clone_from(&call.config);
            let rules = call.rules.iter().map(|(action, text)| (*action, text.as_str()));
            options.layers.extend(line::layer(rules));
        }
        options.session = Some(self.session.id.clone());
        options.refused = Refused { in_a_row: self.memory.streak, in_all: self.refusals() };
        let places = places(machine);
        options.layers.extend(self.answers(places.project.as_deref()));
        options.caller.nested = self.session.is_nested();
        let mut policy = load(self.folders.as_ref(), places, options);
        let refused = machine.widen(&policy.knobs.allow_roots);
        policy.refuse_roots(&refused);
        policy
    }

    /// How often it was refused in all, with the sessions above it: beneath a command anything can begin a new one.
    fn refusals(&self) -> u32 {
        let sessions = self.folders.as_ref().map(Sessions::of);
        let parents = self.session.parents.iter();
        let above = parents.filter_map(|parent| Some(sessions.as_ref()?.read(parent).refusals));
        above.fold(self.memory.refusals, u32::saturating_add)
    }

    /// What was answered for this session and holds now. What was refused for the sessions above it holds
    /// too; what was granted to them does not reach it.
    fn answers(&self, project: Option<&str>) -> Vec<LayerRules> {
        let now = Timestamp::now();
        let sessions = self.folders.as_ref().map(Sessions::of);
        let parents = self.session.parents.iter();
        let parents = parents.filter_map(|parent| sessions.as_ref()?.read(parent).layer(project, now));
        let refusals = parents.map(|mut layer| {
            layer.rules.retain(|found| found.rule.action == Verdict::Deny);
            layer
        });
        self.memory.layer(project, now).into_iter().chain(refusals).collect()
    }

    /// Remembers where the session began, so that what it runs later cannot choose another project by
    /// changing the directory. Of a person's terminal it is not remembered: a person goes where they like.
    pub fn remember_first(&mut self, directory: &Path) {
        let kept = self.session.found == Found::Named || matches!(self.session.agent, Agent::Named(_));
        if self.memory.first.is_some() || !kept || self.above.is_some() {
            return;
        }
        self.memory.first = Some(directory.to_owned());
        if let Some(folders) = &self.folders {
            let first = Some(directory.to_owned());
            // What cannot be remembered is found anew by the next call.
            let _ = Sessions::of(folders).change(&self.session.id, |memory| memory.first = first);
        }
    }

    /// The session's ledger; None without a home.
    #[must_use]
    pub fn ledger(&self, policy: &Policy) -> Option<Ledger> {
        Some(Ledger {
            folders: self.folders.clone()?,
            session: self.session.id.clone(),
            memory: self.memory.clone(),
            project: policy.places.project.clone(),
            forbids_trust: policy.forbids.contains(&Forbidden::Trust),
            together: policy.knobs.denial_ends_all,
            bearer: self.bearer(),
        })
    }

    /// Who comes with the call: the process that started this one.
    fn bearer(&self) -> Option<Bearer> {
        let caller = self.lineage.as_ref()?.above.first()?.clone();
        let session = SESSIONS.iter().find_map(|name| self.var(name));
        Some(Bearer { passes: Passes::of(self.folders.as_ref()?), caller, session })
    }

    /// The reviewer that the policy names, with what it needs of this process.
    #[must_use]
    pub fn reviewer(&self, policy: &Policy) -> Option<Reviewer> {
        let reviewer = Reviewer::of(policy, self.folders.as_ref(), &self.session.id)?;
        let secrets = self.context().secrets;
        Some(Reviewer { environment: self.environment.clone(), secrets, ..reviewer })
    }

    /// A variable of the environment, if it is text.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<String> {
        let found = self.environment.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.clone().into_string().ok())
    }

    /// The mode to decide in, from what is given with the call. What is above can only be tightened.
    #[must_use]
    pub fn mode(&self, given: Option<Mode>) -> Option<(Mode, String)> {
        let variable = self.var("GSH_MODE").and_then(|word| Mode::from_word(&word));
        let variable = variable.map(|mode| (mode, "GSH_MODE".to_owned()));
        let above = self.above.as_ref().map(|above| (above.call.mode, "the gsh above".to_owned()));
        let given = given.map(|mode| (mode, "the command line".to_owned()));
        [above, variable, given]
            .into_iter()
            .flatten()
            .reduce(|held, next| if next.0.tightens(held.0) { next } else { held })
    }
}

/// The machine and the policy of the current directory.
#[must_use]
pub fn here() -> (Surrounds, Machine, Policy) {
    let surrounds = Surrounds::of_process();
    let machine = surrounds.machine(&std::env::current_dir().unwrap_or_default());
    let options = Options { mode: surrounds.mode(None), ..Options::new() };
    let policy = surrounds.policy(&machine, options);
    (surrounds, machine, policy)
}

/// Where things are, for the rules.
#[must_use]
pub fn places(machine: &dyn Host) -> Places {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    let path = machine.var("PATH").unwrap_or_default();
    Places {
        home: machine.var("HOME").filter(|home| home.starts_with('/')).map(|home| without_slash(&home)),
        project: machine.project().and_then(text),
        temporaries: machine.temporary().into_iter().filter_map(text).collect(),
        path_folders: path.split(':').filter(|folder| folder.starts_with('/')).map(without_slash).collect(),
        homes: machine.homes().into_iter().filter_map(text).collect(),
    }
}

fn without_slash(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/".to_owned() } else { trimmed.to_owned() }
}
