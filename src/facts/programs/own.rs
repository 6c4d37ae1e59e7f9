//! Tables of a person's own: the notation of the built-in ones, read when a configuration is.
//!
//! Whatever such a table says, the effects that a built-in one sees stay: it can add effects, and,
//! from a layer that may loosen, explain words that the built-in one does not know.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{Deserialize, IntoDeserializer};

use super::schema::{EffectModel, Model, Named, OptionModel, Shared, SlotModel, Source, WhatModel};
use super::show;
use super::table::{Command, Effect, Opt, Slot, Style, What};
use super::{Reading, Unexplained, Wrapper, find, read_by};
use crate::facts::arg::Arg;
use crate::syntax::Cause;

/// A table as it stands in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OwnTable {
    /// The names of the programs, separated by blanks.
    names: String,
    source: Source,
    /// The line of its file, from 1.
    line: usize,
}

impl OwnTable {
    /// The table of the programs `names`.
    ///
    /// # Errors
    /// Says what in the notation is wrong.
    pub(crate) fn new(names: &str, source: Source, line: usize) -> Result<Self, String> {
        if names.split_whitespace().next().is_none() {
            return Err("a table needs the name of a program".into());
        }
        plain(&Model::read(&source, &Shared::new(), "")?)?;
        Ok(Self { names: names.to_owned(), source, line })
    }

    /// The names of the programs, separated by blanks.
    #[must_use]
    pub fn names(&self) -> &str {
        &self.names
    }

    /// The line of its file, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
}

/// Refuses what only a built-in table can have.
fn plain(model: &Model) -> Result<(), String> {
    if model.reader.is_some() || model.check.is_some() {
        return Err("`reader` and `check` name code of gsh's own; a table in a configuration has none".into());
    }
    model.subcommands.iter().try_for_each(|(_, sub)| plain(sub))
}

/// What a table's layer lets it do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Explains what no built-in table explains, and what one leaves open.
    Loosens,
    /// Explains programs without a table of gsh's or the user's.
    Describes,
    /// Only adds effects and doubts.
    Tightens,
}

/// The knowledge base: the built-in tables and those of the layers.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    own: BTreeMap<String, Vec<(&'static Command, Power)>>,
}

impl Programs {
    /// The tables of a program that layers added.
    pub(super) fn own_tables(&self, name: &str) -> impl Iterator<Item = &'static Command> {
        self.own.get(name).into_iter().flatten().map(|(command, _)| *command)
    }

    /// Adds a layer's table; later ones are above earlier ones.
    pub fn add(&mut self, table: &OwnTable, power: Power) {
        // A table that could not be read was never made.
        let Ok(command) = kept(&table.source) else { return };
        for name in table.names.split_whitespace() {
            let tables = self.own.entry(name.to_owned()).or_default();
            tables.push((command, power));
            // What only tightens is heard last.
            tables.sort_by_key(|(_, power)| *power);
        }
    }

    /// The tables of a program, as text for a person, the built-in one first. None when there is none.
    #[must_use]
    pub fn shown(&self, name: &str) -> Option<String> {
        let own = self.own.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut all: Vec<String> = find(name).map(|command| show::table(name, command)).into_iter().collect();
        all.extend(own.iter().map(|(command, power)| {
            let says = match power {
                Power::Loosens => "yours",
                Power::Describes => "the project's",
                Power::Tightens => "one that may only tighten",
            };
            format!("({says})\n{}", show::table(name, command))
        }));
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// Reads an argument list by the tables of the program that its first word names (a base name; the
    /// caller resolves paths). None when there is no such table.
    #[must_use]
    pub fn read(&self, argv: &[Arg]) -> Option<Reading> {
        let name = argv.first()?.text()?;
        let builtin = find(name).map(|command| read_by(command, argv));
        let Some(own) = self.own.get(name).filter(|_| !self.own.is_empty()) else { return builtin };
        let is_builtin = builtin.is_some();
        let mut reading = builtin;
        for (command, power) in own {
            let theirs = read_by(command, argv);
            let explains = match power {
                Power::Loosens => true,
                Power::Describes => !is_builtin,
                Power::Tightens => false,
            };
            match &mut reading {
                Some(ours) => ours.join(theirs, explains),
                None if explains => reading = Some(theirs),
                None => {
                    let mut ours = Reading::default();
                    ours.unexplained(
                        Cause::UnknownProgram,
                        "only a table that may not loosen names it",
                        None,
                    );
                    ours.join(theirs, false);
                    reading = Some(ours);
                }
            }
        }
        reading
    }
}

impl Reading {
    /// Takes in what another table says of the same words. Its effects are added; it may take away only
    /// what the first one could not explain, and only when it `explains`.
    fn join(&mut self, theirs: Self, explains: bool) {
        fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
            for each in more {
                if !all.contains(&each) {
                    all.push(each);
                }
            }
        }
        add(&mut self.uses, theirs.uses);
        add(&mut self.acts, theirs.acts);
        add(&mut self.loads, theirs.loads);
        add(&mut self.housekeeping, theirs.housekeeping);
        add(&mut self.executes_settings, theirs.executes_settings);
        if self.inner.is_empty() {
            self.inner = theirs.inner;
        }
        if explains {
            self.unexplained = theirs.unexplained;
            self.arity = theirs.arity;
        } else {
            add::<Unexplained>(&mut self.unexplained, theirs.unexplained);
            self.arity = self.arity.min(theirs.arity);
        }
        if self.output != theirs.output {
            self.output = super::Output::Any;
        }
        self.input = self.input.max(theirs.input);
        self.can_read |= theirs.can_read;
        self.wrapper = match (self.wrapper, theirs.wrapper) {
            (Some(Wrapper::Escalating), _) | (_, Some(Wrapper::Escalating)) => Some(Wrapper::Escalating),
            (ours, theirs) => ours.or(theirs),
        };
        match (&self.directory, theirs.directory) {
            (None, theirs) => self.directory = theirs,
            (Some(ours), Some(theirs)) if *ours != theirs => {
                self.unexplained(Cause::DynamicPath, "two tables name two directories", None);
            }
            _ => {}
        }
        if !theirs.prefer.is_empty() {
            self.prefer = theirs.prefer;
        }
    }
}

/// Tables that were made while this process ran, by their text.
static KEPT: Mutex<BTreeMap<Source, &'static Command>> = Mutex::new(BTreeMap::new());

/// The table of a text. Tables live as long as the process, as the built-in ones do: the same text is
/// made only once, so what stays is bounded by what a person writes while one gsh runs.
fn kept(source: &Source) -> Result<&'static Command, String> {
    let mut kept = KEPT.lock().map_err(|_| "tables are locked by a thread that failed")?;
    if let Some(command) = kept.get(source) {
        return Ok(command);
    }
    let command = made(&Model::read(source, &Shared::new(), "")?)?;
    kept.insert(source.clone(), command);
    Ok(command)
}

fn made(model: &Model) -> Result<&'static Command, String> {
    let (named, patterns) = model.named_and_patterns();
    let below = |commands: &[&Named]| {
        let each = commands.iter().map(|(name, sub)| Ok((leak(name), made(sub)?)));
        each.collect::<Result<Vec<_>, String>>().map(|list| &*Vec::leak(list))
    };
    let style = |word: &str| model.style.iter().any(|each| each == word);
    Ok(Box::leak(Box::new(Command {
        options: Vec::leak(model.options.iter().map(option).collect::<Result<_, _>>()?),
        names: Vec::leak(model.names().into_iter().map(|(name, at)| (leak(&name), at)).collect()),
        slots: slots(&model.slots)?,
        effects: effects(&model.effects)?,
        alone: effects(&model.alone)?,
        bare: effects(&model.bare)?,
        subcommands: below(&named)?,
        patterns: below(&patterns)?,
        style: Style {
            first: style("first"),
            exact: style("exact"),
            words: style("words"),
            raw: style("raw"),
            equals: style("equals"),
        },
        pure: model.is_pure(),
        arity: model.arity,
        wrapper: model.wrapper.as_deref().map(word).transpose()?,
        reader: None,
        check: None,
        help: texts(&model.help),
        source: leak(&model.source),
        prefer: leak(&model.prefer),
        housekeeping: texts(&model.housekeeping),
    })))
}

fn leak(text: &str) -> &'static str {
    String::leak(text.to_owned())
}

fn texts(list: &[String]) -> &'static [&'static str] {
    Vec::leak(list.iter().map(|text| leak(text)).collect())
}

/// A word of the notation as the value that it names.
fn word<'de, T: Deserialize<'de>>(word: &'de str) -> Result<T, String> {
    let word: StrDeserializer<'de, WordError> = word.into_deserializer();
    T::deserialize(word).map_err(|error| error.to_string())
}

fn option(model: &OptionModel) -> Result<Opt, String> {
    Ok(Opt {
        names: texts(&model.names),
        value: model.value.as_ref().map(what).transpose()?,
        second: model.second.as_ref().map(what).transpose()?,
        optional: model.optional,
        effects: effects(&model.effects)?,
    })
}

fn slots(list: &[SlotModel]) -> Result<&'static [Slot], String> {
    let each = list.iter().map(|slot| {
        Ok(Slot {
            what: what(&slot.what)?,
            repeated: slot.repeated,
            default: slot.default.as_deref().map(leak),
        })
    });
    each.collect::<Result<Vec<_>, String>>().map(|list| &*Vec::leak(list))
}

fn what(model: &WhatModel) -> Result<What, String> {
    Ok(match model {
        WhatModel::Role(name) => What::Use(word(name)?),
        WhatModel::Special(name) => word(name)?,
        WhatModel::Language(name) => What::Language(word(name)?),
        WhatModel::Act(name) => What::Act(word(name)?),
        WhatModel::OneOf(words) => What::OneOf(texts(words)),
    })
}

fn effects(list: &[EffectModel]) -> Result<&'static [Effect], String> {
    let each = list.iter().map(|effect| {
        Ok(match effect {
            EffectModel::Recast(from, to) => Effect::Recast(word(from)?, word(to)?),
            EffectModel::NoFirst => Effect::NoFirst,
            EffectModel::Operands(list) => Effect::Operands(slots(list)?),
            EffectModel::Act(name) => Effect::Act(word(name)?),
            EffectModel::Unexplained(name) => Effect::Unexplained(word(name)?),
            EffectModel::Output(name) => Effect::Output(word(name)?),
            EffectModel::Runs(name) => Effect::Runs(leak(name)),
            EffectModel::Spares(name) => Effect::Spares(leak(name)),
            EffectModel::Loads(name) => Effect::Loads(leak(name)),
            EffectModel::Use(role, path) => Effect::Use(word(role)?, leak(path)),
            EffectModel::Code => Effect::Code,
            EffectModel::ShellInput => Effect::ShellInput,
            EffectModel::Dry => Effect::Dry,
        })
    });
    each.collect::<Result<Vec<_>, String>>().map(|list| &*Vec::leak(list))
}

#[cfg(test)]
mod tests {
    use super::super::schema::{ACTS, CAUSES, LANGUAGES, OUTPUTS, ROLES, SPECIAL, WRAPPERS};
    use super::super::table::{Doing, Language, Printed};
    use super::super::{Act, Role};
    use super::*;
    use crate::report::Span;

    fn programs(tables: &[(&str, &str, Power)]) -> Programs {
        let mut programs = Programs::default();
        for (names, text, power) in tables {
            let source: Source = toml::from_str(text).expect("good TOML");
            programs.add(&OwnTable::new(names, source, 1).expect("a good table"), *power);
        }
        programs
    }

    fn reading(programs: &Programs, line: &str) -> Option<Reading> {
        let argv: Vec<Arg> = line.split(' ').map(|word| Arg::literal(word, Span::default())).collect();
        programs.read(&argv)
    }

    /// Every word of the notation is a word at run time too.
    #[test]
    fn all_words_are_known() {
        for name in ROLES {
            assert!(word::<Role>(name).is_ok(), "{name}");
        }
        for name in SPECIAL {
            assert!(word::<What>(name).is_ok(), "{name}");
        }
        for name in LANGUAGES {
            assert!(word::<Language>(name).is_ok(), "{name}");
        }
        for name in ACTS {
            assert!(word::<Doing>(name).is_ok(), "{name}");
        }
        for name in CAUSES {
            assert!(word::<Cause>(name).is_ok(), "{name}");
        }
        for name in OUTPUTS {
            assert!(word::<Printed>(name).is_ok(), "{name}");
        }
        for name in WRAPPERS {
            assert!(word::<Wrapper>(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_layer_does_no_more_than_its_power() {
        let harmless = "options = '''\n--new\n-R\n'''\noperands = \"data*\"";
        let harmful = "operands = \"delete*\"";
        // table, power, line, explained, deletes
        for (name, text, power, line, explained, deletes) in [
            ("frob", harmless, Power::Loosens, "frob --new x", true, false),
            ("frob", harmless, Power::Describes, "frob --new x", true, false),
            ("frob", harmless, Power::Tightens, "frob --new x", false, false),
            ("frob", harmless, Power::Loosens, "frob --other", false, false),
            ("frob", harmful, Power::Tightens, "frob x", false, true),
            ("rm", harmless, Power::Loosens, "rm --new x", true, true),
            ("rm", harmless, Power::Describes, "rm --new x", false, true),
            ("rm", harmless, Power::Tightens, "rm --new x", false, true),
            ("cat", harmful, Power::Loosens, "cat x", true, true),
            ("cat", harmful, Power::Tightens, "cat x", true, true),
            ("cat", "", Power::Tightens, "cat x", false, false),
        ] {
            let case = format!("{name} {power:?}: {line}");
            let reading = reading(&programs(&[(name, text, power)]), line).expect("a reading");
            assert_eq!(reading.unexplained.is_empty(), explained, "{case}: {reading:?}");
            let found = reading.uses.iter().any(|each| each.role == Role::Delete);
            assert_eq!(found, deletes, "{case}: {reading:?}");
        }
    }

    #[test]
    fn what_tightens_is_heard_last() {
        let open = "operands = \"data*\"";
        let both = programs(&[("frob", "", Power::Tightens), ("frob", open, Power::Loosens)]);
        assert!(!reading(&both, "frob x").expect("a reading").unexplained.is_empty());
    }

    #[test]
    fn a_table_can_say_all_that_a_built_in_one_can() {
        let text = "
            wrapper = 'transparent'
            source = 'frob(1) 2.0'
            prefer = 'use frob --dry'
            options = '-o --output=write'
            [sub.'get-* list']
            operands = 'data*'
            effects = 'act=query'
            [sub.'get-secret']
            effects = 'act=reveal-secrets'
            [sub.drop]
            operands = 'data*'
            effects = 'act=destroy-remote'
        ";
        let programs = programs(&[("frob", text, Power::Loosens)]);
        let acts = |line: &str| reading(&programs, line).expect("a reading").acts;
        assert_eq!(acts("frob get-things x"), [Act::Network { query: true }]);
        assert_eq!(acts("frob list"), [Act::Network { query: true }]);
        assert_eq!(acts("frob get-secret"), [Act::RevealSecrets]);
        assert_eq!(acts("frob drop a b"), [Act::DestroyRemote { what: "a b".to_owned() }]);
        assert_eq!(reading(&programs, "frob list").expect("a reading").prefer, "use frob --dry");
    }

    #[test]
    fn bad_tables_are_refused() {
        for (names, text) in [
            ("frob", "operands = 'nothing-such'"),
            ("frob", "options = 'frob=read'"),
            ("frob", "reader = 'find'"),
            ("frob", "[sub.x]\ncheck = 'push'"),
            ("frob", "[sub.'*-*']"),
            ("frob", "wrapper = 'kind'"),
            ("", "operands = 'read'"),
        ] {
            let source: Source = toml::from_str(text).expect("good TOML");
            assert!(OwnTable::new(names, source, 1).is_err(), "{text}");
        }
    }
}
