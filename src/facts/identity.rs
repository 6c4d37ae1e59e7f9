//! What a command's name stands for: the program it promises, or something in its place.

use std::path::Path;

use super::Base;
use super::builtin;
use super::gather::Gatherer;
use super::path;
use super::state::State;
use crate::host::Node;
use crate::syntax::Cause;

/// What a command's name stands for.
pub(super) struct Identity {
    /// The name its table has.
    pub name: String,
    /// bash runs it itself.
    pub builtin: bool,
    /// The name without its folders, when a path was given.
    pub base: Option<Base>,
    /// Why it may be something else than its name says.
    pub doubt: Option<(Cause, String)>,
}

impl Gatherer<'_> {
    /// What the name stands for here.
    pub(super) fn identify(&self, state: &State, name: &str) -> Identity {
        let (cause, host) = (Cause::ShadowedProgram, self.host);
        if !name.contains('/') {
            if host.var(&format!("BASH_FUNC_{name}%%")).is_some() {
                let doubt = Some((cause, format!("the environment defines a function {name}")));
                return Identity { name: name.to_owned(), builtin: true, base: None, doubt };
            }
            if builtin::is_builtin(name) {
                return Identity { name: name.to_owned(), builtin: true, base: None, doubt: None };
            }
            let doubt = host.program(name).filter(|found| !found.trusted).map(|found| {
                (cause, format!("{name} is {}, which the project or others can change", found.path.display()))
            });
            return Identity { name: name.to_owned(), builtin: false, base: None, doubt };
        }
        let base = path::name(name).to_owned();
        let place = path::locate(host, state.cwd.as_deref(), name);
        let found = host.program(&base);
        let same = match (&place, &found) {
            (Some(place), Some(found)) => found.trusted && Path::new(&place.real) == found.path,
            _ => false,
        };
        // A path that leads to nothing here is judged by its name, as a bare name is, when it points
        // into a folder of the system.
        let standard = place.as_ref().is_some_and(|place| {
            let folder = path::parent(&place.lexical);
            let known =
                ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"].contains(&folder.as_str());
            known && (place.node == Node::Missing || same)
        });
        let doubt =
            (!same && !standard).then(|| (cause, format!("{name} is not the {base} that PATH finds")));
        let given = Some(Base { name: base.clone(), is_found: same });
        Identity { name: base, builtin: false, base: given, doubt }
    }
}
