//! Compiles the table of agents (`src/policy/agents/*.toml`) into Rust data.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

const TABLES: &str = "src/policy/agents";
const PLUGIN: &str = "shell-integration/opencode/gsh.js";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    name: String,
    title: String,
    programs: Vec<String>,
    checked: Option<String>,
    seconds: Option<u64>,
    instructions: Option<String>,
    #[serde(default)]
    silent: Vec<String>,
    environment: Environment,
    shell: Shell,
    #[serde(default)]
    settings: Vec<Settings>,
    hook: Option<Hook>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Environment {
    #[serde(default)]
    markers: Vec<String>,
    session: Option<String>,
    version: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shell {
    names: Option<String>,
    #[serde(default)]
    order: Vec<String>,
    #[serde(default)]
    argv: Vec<Vec<String>>,
    #[serde(default)]
    typed: bool,
    #[serde(default)]
    socket: bool,
    #[serde(default)]
    others: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    layer: String,
    path: String,
    format: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hook {
    dialect: String,
    form: String,
    key: Option<String>,
    tool: Option<String>,
    matcher: Option<String>,
    #[serde(default)]
    more: Vec<String>,
    #[serde(default)]
    off: Vec<String>,
    #[serde(default)]
    off_variables: Vec<String>,
    unit: Option<String>,
    limit: Option<u64>,
    block: Option<String>,
    #[serde(default)]
    asks: bool,
    #[serde(default)]
    alone: Vec<String>,
    ignored: Option<String>,
    trust: Option<String>,
    trusted: Option<String>,
    user: Option<String>,
    project: Option<String>,
}

/// Reads every table, and writes them as one list, ordered by name.
pub(crate) fn compile() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TABLES}");
    println!("cargo::rerun-if-changed=src/policy/agents/compile.rs");
    let mut agents = vec![];
    for entry in fs::read_dir(TABLES)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            agents.push(read(&path).map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    agents.sort_by(|one, other| one.0.cmp(&other.0));
    let list: String = agents.into_iter().map(|(_, text)| text).collect();
    let text =
        format!("/// Every agent that is known, by name.\npub const AGENTS: &[Known] = &[\n{list}];\n");
    let text = text + &plugin()?;
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("agents.rs"), text)?)
}

/// The plugin that `gsh init` puts into place, where this source holds one.
fn plugin() -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PLUGIN}");
    let text = Path::new(PLUGIN).exists().then(|| fs::read_to_string(PLUGIN)).transpose()?;
    Ok(format!("/// The plugin for opencode.\npub const PLUGIN: Option<&str> = {text:?};\n"))
}

fn read(path: &Path) -> Result<(String, String), Box<dyn Error>> {
    let agent: Agent = toml::from_str(&fs::read_to_string(path)?)?;
    if path.file_stem().and_then(|stem| stem.to_str()) != Some(agent.name.as_str()) {
        return Err(format!("the file of `{}` is named otherwise", agent.name).into());
    }
    let text = written(&agent)?;
    Ok((agent.name, text))
}

fn written(agent: &Agent) -> Result<String, Box<dyn Error>> {
    let Environment { markers, session, version } = &agent.environment;
    let mut settings = String::new();
    for Settings { layer, path, format } in &agent.settings {
        let (layer, format) = (variant(layer), variant(format));
        write!(settings, "Settings {{ layer: Layer::{layer}, path: {path:?}, format: Format::{format} }},")?;
    }
    let hook = match &agent.hook {
        Some(hook) => format!("Some({})", written_hook(hook)?),
        None => "None".to_owned(),
    };
    Ok(format!(
        "Known {{ name: {:?}, title: {:?}, programs: &{:?}, checked: {:?}, seconds: {:?}, instructions: {:?}, \
         silent: &{:?}, environment: Environment {{ markers: &{markers:?}, session: {session:?}, \
         version: {version:?} }}, shell: {}, settings: &[{settings}], hook: {hook} }},\n",
        agent.name,
        agent.title,
        agent.programs,
        agent.checked,
        agent.seconds,
        agent.instructions,
        agent.silent,
        written_shell(&agent.shell)?,
    ))
}

fn written_shell(shell: &Shell) -> Result<String, Box<dyn Error>> {
    let mut order = String::new();
    for source in &shell.order {
        let (kind, what) = source.split_once(' ').unwrap_or((source, ""));
        match kind {
            "setting" => {
                write!(order, "Source::Setting(&{:?}),", what.split('/').collect::<Vec<_>>())?;
            }
            "variable" | "path" | "file" => write!(order, "Source::{}({what:?}),", variant(kind))?,
            "passwd" => order.push_str("Source::Passwd,"),
            _ => return Err(format!("`{source}` is no place where a shell is named").into()),
        }
    }
    let names = match shell.names.as_deref().map(|names| names.split_once(' ').unwrap_or((names, ""))) {
        None => "Names::Any".to_owned(),
        Some((kind, words)) => {
            format!("Names::{}(&{:?})", variant(kind), words.split(' ').collect::<Vec<_>>())
        }
    };
    let argv: String = shell.argv.iter().map(|words| format!("&{words:?},")).collect();
    Ok(format!(
        "Shell {{ names: {names}, order: &[{order}], argv: &[{argv}], typed: {}, socket: {}, others: {} }}",
        shell.typed, shell.socket, shell.others
    ))
}

fn written_hook(hook: &Hook) -> Result<String, Box<dyn Error>> {
    let keys = |key: &str| format!("&{:?}", key.split('/').collect::<Vec<_>>());
    let key = hook.key.as_deref().map_or_else(|| "&[]".to_owned(), keys);
    let trusted = hook.trusted.as_deref().map_or_else(|| "&[]".to_owned(), keys);
    let mut more = String::new();
    for event in &hook.more {
        let (key, matcher) = match event.split_once(' ') {
            Some((key, matcher)) => (key, Some(matcher)),
            None => (event.as_str(), None),
        };
        write!(more, "({}, {matcher:?}),", keys(key))?;
    }
    let unit = match hook.unit.as_deref() {
        None => "None".to_owned(),
        Some("s") => "Some(Unit::Seconds)".to_owned(),
        Some("ms") => "Some(Unit::Milliseconds)".to_owned(),
        Some(other) => return Err(format!("`{other}` is no unit of time").into()),
    };
    Ok(format!(
        "Hook {{ dialect: {:?}, form: Form::{}, key: {key}, more: &[{more}], tool: {:?}, matcher: {:?}, off: &{:?}, \
         off_variables: &{:?}, unit: {unit}, limit: {:?}, \
         block: {:?}, asks: {}, alone: &{:?}, ignored: {:?}, trust: {:?}, trusted: {trusted}, user: {:?}, \
         project: {:?} }}",
        hook.dialect,
        variant(&hook.form),
        hook.tool,
        hook.matcher,
        hook.off,
        hook.off_variables,
        hook.limit,
        hook.block,
        hook.asks,
        hook.alone,
        hook.ignored,
        hook.trust,
        hook.user,
        hook.project,
    ))
}

/// `none-of` is `NoneOf`.
fn variant(word: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    word.split('-').map(capital).collect()
}
