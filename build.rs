//! Compiles the program tables (`src/facts/programs/*.toml`) and the table of agents into Rust data.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{env, fs};

use schema::{EffectModel, Model, Named, Shared, SlotModel, Source, WhatModel};

#[path = "src/policy/agents/compile.rs"]
mod agents;
#[path = "src/facts/programs/schema.rs"]
mod schema;

const TABLES: &str = "src/facts/programs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TABLES}");
    println!("cargo::rerun-if-changed=build.rs");
    agents::compile()?;
    let (shared, programs) = load(Path::new(TABLES))?;
    let mut out = Emitter::default();
    let mut index = BTreeMap::new();
    for (names, source) in &programs {
        let model = Model::read(source, &shared, "").map_err(|error| format!("table of {names}: {error}"))?;
        let place = out.command(&model)?;
        for name in names.split_whitespace() {
            if index.insert(name.to_owned(), place).is_some() {
                return Err(format!("two tables for {name}").into());
            }
        }
    }
    let mut text = out.text;
    writeln!(text, "pub(super) static PROGRAMS: &[(&str, &Command)] = &[")?;
    for (name, place) in index {
        writeln!(text, "    ({name:?}, &COMMAND_{place}),")?;
    }
    writeln!(text, "];")?;
    let target = PathBuf::from(env::var("OUT_DIR")?).join("programs.rs");
    Ok(fs::write(target, text)?)
}

/// Every table of the folder, and the option sets they share.
fn load(folder: &Path) -> Result<(Shared, BTreeMap<String, Source>), Box<dyn Error>> {
    let mut shared = Shared::new();
    let mut programs = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let file = toml::from_str(&fs::read_to_string(&path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let (sets, tables) = split(file);
        shared.extend(sets);
        programs.extend(tables);
    }
    Ok((shared, programs))
}

/// The tables of one file: what is shared apart, programs by name.
fn split(file: BTreeMap<String, Source>) -> (Shared, BTreeMap<String, Source>) {
    let mut shared = Shared::new();
    let mut programs = BTreeMap::new();
    for (name, source) in file {
        if name.starts_with('%') {
            shared.insert(name, source);
        } else {
            programs.insert(name, source);
        }
    }
    (shared, programs)
}

#[derive(Default)]
struct Emitter {
    text: String,
    count: usize,
    /// Subcommands that are alike are written once.
    written: BTreeMap<String, usize>,
    /// Those of the program at hand that were.
    places: BTreeMap<*const Model, usize>,
}

impl Emitter {
    /// Writes a command and those below it; returns its number.
    fn command(&mut self, model: &Model) -> Result<usize, std::fmt::Error> {
        self.places.clear();
        let body = self.body(model)?;
        self.named(&body)
    }

    /// The number of a subcommand, which is written if none like it was.
    fn once(&mut self, sub: &Rc<Model>) -> Result<usize, std::fmt::Error> {
        if let Some(place) = self.places.get(&Rc::as_ptr(sub)) {
            return Ok(*place);
        }
        let body = self.body(sub)?;
        let place = match self.written.get(&body) {
            Some(place) => *place,
            None => self.named(&body)?,
        };
        self.written.insert(body, place);
        self.places.insert(Rc::as_ptr(sub), place);
        Ok(place)
    }

    fn named(&mut self, body: &str) -> Result<usize, std::fmt::Error> {
        let place = self.count;
        self.count += 1;
        writeln!(self.text, "static COMMAND_{place}: Command = {body};")?;
        Ok(place)
    }

    /// A command's text, after those below it were written.
    fn body(&mut self, model: &Model) -> Result<String, std::fmt::Error> {
        let (plain, patterns) = model.named_and_patterns();
        let (subs, patterns) = (self.below(&plain)?, self.below(&patterns)?);
        let mut body = String::new();
        let options: String = model
            .options
            .iter()
            .map(|option| {
                let value = option.value.as_ref().map_or("None".to_owned(), |value| format!("Some({})", what(value)));
                let second = option.second.as_ref().map_or("None".to_owned(), |value| format!("Some({})", what(value)));
                let effects = effects(&option.effects);
                format!("Opt {{ names: &{:?}, value: {value}, second: {second}, optional: {}, effects: &[{effects}] }},", option.names, option.optional)
            })
            .collect();
        let style = |word: &str| model.style.iter().any(|each| each == word);
        write!(
            body,
            "Command {{\n options: &[{options}],\n names: &{:?},\n slots: &[{}],\n \
             effects: &[{}],\n alone: &[{}],\n bare: &[{}],\n subcommands: &[{subs}],\n patterns: &[{patterns}],\n style: Style {{ first: {}, exact: {}, words: {}, \
             raw: {}, equals: {} }},\n pure: {},\n arity: {},\n wrapper: {},\n reader: {},\n check: {},\n help: &{:?},\n \
             source: {:?},\n prefer: {:?},\n housekeeping: &{:?},\n}}",
            model.names(),
            slots(&model.slots),
            effects(&model.effects),
            effects(&model.alone),
            effects(&model.bare),
            style("first"),
            style("exact"),
            style("words"),
            style("raw"),
            style("equals"),
            model.is_pure(),
            model.arity,
            named("Wrapper", model.wrapper.as_deref()),
            named("Reader", model.reader.as_deref()),
            named("Check", model.check.as_deref()),
            model.help,
            model.source,
            model.prefer,
            model.housekeeping,
        )?;
        Ok(body)
    }

    /// Writes subcommands; returns their list.
    fn below(&mut self, commands: &[&Named]) -> Result<String, std::fmt::Error> {
        let mut list = String::new();
        for (name, sub) in commands {
            let place = self.once(sub)?;
            write!(list, "({name:?}, &COMMAND_{place}),")?;
        }
        Ok(list)
    }
}

fn named(kind: &str, word: Option<&str>) -> String {
    word.map_or("None".to_owned(), |word| format!("Some({kind}::{})", camel(word)))
}

/// `search-tree` is `SearchTree`.
fn camel(word: &str) -> String {
    word.split('-')
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
        })
        .collect()
}

fn what(what: &WhatModel) -> String {
    match what {
        WhatModel::Role(word) => format!("What::Use(Role::{})", camel(word)),
        WhatModel::Special(word) => format!("What::{}", camel(word)),
        WhatModel::Language(word) => format!("What::Language(Language::{})", camel(word)),
        WhatModel::Act(word) => format!("What::Act(Doing::{})", camel(word)),
        WhatModel::OneOf(words) => format!("What::OneOf(&{words:?})"),
    }
}

fn slots(list: &[SlotModel]) -> String {
    list.iter()
        .map(|slot| {
            format!(
                "Slot {{ what: {}, repeated: {}, default: {:?} }},",
                what(&slot.what),
                slot.repeated,
                slot.default
            )
        })
        .collect()
}

fn effects(list: &[EffectModel]) -> String {
    list.iter()
        .map(|effect| match effect {
            EffectModel::Recast(from, to) => {
                format!("Effect::Recast(Role::{}, Role::{}),", camel(from), camel(to))
            }
            EffectModel::NoFirst => "Effect::NoFirst,".to_owned(),
            EffectModel::Operands(list) => format!("Effect::Operands(&[{}]),", slots(list)),
            EffectModel::Act(word) => format!("Effect::Act(Doing::{}),", camel(word)),
            EffectModel::Unexplained(word) => format!("Effect::Unexplained(Cause::{}),", camel(word)),
            EffectModel::Output(word) => format!("Effect::Output(Printed::{}),", camel(word)),
            EffectModel::Runs(name) => format!("Effect::Runs({name:?}),"),
            EffectModel::Spares(name) => format!("Effect::Spares({name:?}),"),
            EffectModel::Loads(name) => format!("Effect::Loads({name:?}),"),
            EffectModel::Use(role, path) => format!("Effect::Use(Role::{}, {path:?}),", camel(role)),
            EffectModel::Code => "Effect::Code,".to_owned(),
            EffectModel::ShellInput => "Effect::ShellInput,".to_owned(),
            EffectModel::Dry => "Effect::Dry,".to_owned(),
        })
        .collect()
}
