//! Inside the cage: one agent, set up by one door, and each case in a run of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cases::{GREET, config, of};
use super::doctor;
use super::machine::{Gsh, starting};
use super::model::Model;
use super::table::{Client, Door, Fails, clients};
use super::trial;

/// The word that this program is started with inside.
pub(crate) const WORD: &str = "--inside";
/// Where things are in the cage.
pub(crate) const GSH: &str = "/opt/gsh/gsh";
pub(crate) const DRIVER: &str = "/opt/driver/clients";
pub(crate) const CLIENTS: &str = "/opt/clients";
pub(crate) const HOME: &str = "/home";

/// What one run of an agent may take.
const TIME: Duration = Duration::from_secs(60);

/// An agent on its machine.
pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) door: Door,
    pub(crate) machine: Gsh,
    pub(crate) model: Model,
}

/// Every case of one agent by one door; a line for each.
pub(crate) fn run(client: &str, door: &str) -> ExitCode {
    let client = clients().into_iter().find(|known| known.name == client);
    let (Some(client), Some(door)) = (client, Door::of(door)) else { return ExitCode::FAILURE };
    let stage = Stage::new(client, door);
    let mut held = stage.says("set up", stage.set_up());
    if held {
        held &= stage.says("doctor", doctor::with(&stage));
        for case in of(door).filter(|case| chosen(case.name)) {
            held &= stage.says(case.name, trial::case(&stage, case));
        }
        held &= stage.says("text", trial::texts(&stage));
        held &= stage.says("removed", doctor::without(&stage));
    }
    if std::env::var_os("GSH_CLIENTS_KEEP").is_some() {
        // Its folder would go with it.
        std::mem::forget(stage);
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Stage {
    fn new(client: Client, door: Door) -> Self {
        let model = Model::start().expect("a model");
        let machine = Gsh::new(GSH).config(&config(DRIVER, None)).project_file("greet", GREET);
        let greet = machine.at("project/greet");
        fs::set_permissions(greet, fs::Permissions::from_mode(0o755)).expect("a script");
        let path = format!("{CLIENTS}/bin:/usr/local/bin:/usr/bin:/bin");
        let mut stage = Self { client, door, machine: machine.env("PATH", path), model };
        let variables: Vec<(String, String)> =
            stage.client.environment.iter().map(|(name, value)| (name.clone(), stage.told(value))).collect();
        for (name, value) in variables {
            stage.machine = stage.machine.env(&name, value);
        }
        for (path, text) in &stage.client.files {
            stage.write(path, text).expect("a file");
        }
        stage
    }

    /// Writes a file of the table, below the home.
    fn write(&self, path: &str, text: &str) -> std::io::Result<()> {
        let path = self.machine.at("home").join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(path, self.told(text))
    }

    /// A text of the table with what is known only now.
    fn told(&self, text: &str) -> String {
        text.replace("{URL}", &self.model.url)
            .replace("{HOME}", &self.machine.at("home").to_string_lossy())
            .replace("{GSH}", GSH)
    }

    /// Prints how a step went, and whether that was expected.
    fn says(&self, what: &str, held: Result<(), String>) -> bool {
        let (client, door) = (&self.client.name, self.door.word());
        match (held, self.client.fails(self.door, what)) {
            (Ok(()), None) => println!("ok {client} {door} {what}"),
            (Err(why), Some(Fails { says, cause, .. })) if why.contains(says) => {
                println!("known {client} {door} {what}: {cause}");
            }
            (Ok(()), Some(Fails { cause, .. })) => {
                println!("FAILED {client} {door} {what}: it holds, and clients.toml says it cannot: {cause}");
                return false;
            }
            (Err(why), _) => {
                let why: String = why.replace('\n', " | ").chars().take(900).collect();
                println!("FAILED {client} {door} {what}: {why}");
                return false;
            }
        }
        true
    }

    /// Points the agent at gsh, as a person does.
    fn set_up(&self) -> Result<(), String> {
        if !self.client.before.is_empty() {
            let words: Vec<String> = self.client.before.iter().map(|word| self.told(word)).collect();
            self.ended(self.started().args(words), &mut || Ok(()))?;
        }
        match self.door {
            Door::Wrap => Ok(()),
            Door::Hook if !self.client.unasked.is_empty() => {
                let mut files = self.client.unasked.iter();
                files.try_for_each(|(path, text)| self.write(path, text)).map_err(|error| error.to_string())
            }
            door => self.person(&["init", &self.client.name, "--door", door.word(), "--yes"]),
        }
    }

    /// A call that only a person may make.
    pub(crate) fn person(&self, words: &[&str]) -> Result<(), String> {
        let mut screen = self.machine.beside(words);
        match screen.wait() {
            0 => Ok(()),
            status => Err(format!("gsh {words:?} ended with {status}: {}", screen.text())),
        }
    }

    /// A program with the machine's variables, in its project, and without a terminal.
    fn program(&self, program: &str) -> Command {
        let like = self.machine.detached([""; 0]);
        let mut command = Command::new("/usr/bin/setsid");
        command.arg(program).env_clear().current_dir(self.machine.at("project"));
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// The agent's program, as the door has it started.
    fn started(&self) -> Command {
        if self.door != Door::Wrap {
            return self.program(&self.client.link);
        }
        let mut wrap = self.program(GSH);
        wrap.args(["wrap", "--", &self.client.link]);
        wrap
    }

    /// The agent, with its words.
    pub(crate) fn agent(&self) -> Command {
        let mut command = self.started();
        let hook = self.client.with_hook.iter().filter(|_| self.door == Door::Hook);
        let (last, first) = self.client.args.split_last().expect("a prompt");
        command.args(first.iter().map(|word| self.told(word))).args(hook).arg(last);
        command
    }

    /// Runs a command to its end, or to the end of its time; what it printed.
    pub(crate) fn ended(
        &self,
        command: &mut Command,
        meanwhile: &mut dyn FnMut() -> Result<(), String>,
    ) -> Result<String, String> {
        let path = self.machine.at("out");
        let out = fs::File::create(&path).map_err(|error| error.to_string())?;
        let both = out.try_clone().map_err(|error| error.to_string())?;
        command.stdin(Stdio::null()).stdout(out).stderr(both);
        let turn = starting();
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        drop(turn);
        let held = awaited(&mut child, meanwhile);
        let said = fs::read_to_string(path).unwrap_or_default();
        if std::env::var_os("GSH_CLIENTS_SHOW").is_some() {
            eprintln!("---- {command:?}\n{said}\n---- {}\n{:#?}", self.model.told(), self.model.results());
        }
        match held {
            Ok(()) => Ok(said),
            Err(why) => Err(format!("{why}; it said: {said}")),
        }
    }

    /// What gsh says as data.
    pub(crate) fn json(&self, words: &[&str]) -> Option<Value> {
        let turn = starting();
        let child = self.machine.detached(words).spawn();
        drop(turn);
        serde_json::from_slice(&child.ok()?.wait_with_output().ok()?.stdout).ok()
    }
}

/// Whether this case is wanted: all are, unless words name some.
fn chosen(name: &str) -> bool {
    let words: Vec<String> = std::env::args().skip(4).collect();
    words.is_empty() || words.iter().any(|word| word == name)
}

fn awaited(child: &mut Child, meanwhile: &mut dyn FnMut() -> Result<(), String>) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        if child.try_wait().map_err(|error| error.to_string())?.is_some() {
            return Ok(());
        }
        let held = meanwhile();
        if held.is_err() || begun.elapsed() > TIME {
            let _ = child.kill();
            let _ = child.wait();
            return held.and(Err("its time was over".to_owned()));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
