//! The reviewer as it is configured: who judges what is neither clearly safe nor worth a person's time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How dangerous something is, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Nothing worth a word can be lost.
    Low,
    /// What is lost is easily made again.
    Medium,
    /// What is lost is hard to make again, or others are affected.
    High,
    /// It must not happen by mistake.
    Critical,
}

impl Risk {
    /// All of them with their words, mildest first.
    pub const ALL: [(&'static str, Self); 4] =
        [("low", Self::Low), ("medium", Self::Medium), ("high", Self::High), ("critical", Self::Critical)];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// The language of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Chat completions, as most servers speak them.
    #[default]
    Openai,
    /// Messages.
    Anthropic,
}

impl Style {
    /// All of them with their words.
    pub const ALL: [(&'static str, Self); 2] = [("openai", Self::Openai), ("anthropic", Self::Anthropic)];
}

/// `[reviewer]`. A later file's section replaces an earlier one as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewing {
    /// A program with its words, the first an absolute path; empty for none.
    pub program: Vec<String>,
    /// The base address of an endpoint.
    pub url: Option<String>,
    /// The endpoint's language.
    pub style: Style,
    /// The model that is asked for.
    pub model: String,
    /// The variable that holds the endpoint's key.
    pub key_env: Option<String>,
    /// A program with its words that prints the key; empty for none.
    pub key_command: Vec<String>,
    /// Variables that a program of ours is given beside the plain ones.
    pub environment: Vec<String>,
    /// How long a whole review may take.
    pub timeout: Duration,
    /// What the reviewer calls more dangerous than that, a person is asked.
    pub max_allow_risk: Risk,
    /// How often it may look at files of the project before it must answer.
    pub evidence_rounds: u32,
    /// A file that takes the place of the built-in instructions.
    pub prompt: Option<String>,
    /// How long a verdict answers the same command again; zero for never.
    pub cache: Duration,
    /// A person is asked at the same time where one sits at the terminal; the first answer counts.
    pub race: bool,
    /// A fresh score of the session lets pass what else would wait for the reviewer.
    pub classifier: bool,
    /// So many commands after it a score is fresh.
    pub max_lag: u32,
}

impl Default for Reviewing {
    fn default() -> Self {
        Self {
            program: vec![],
            url: None,
            style: Style::Openai,
            model: String::new(),
            key_env: None,
            key_command: vec![],
            environment: vec![],
            timeout: Duration::from_secs(30),
            max_allow_risk: Risk::Medium,
            evidence_rounds: 0,
            prompt: None,
            cache: Duration::from_secs(5 * 60),
            race: false,
            classifier: false,
            max_lag: 2,
        }
    }
}

impl Reviewing {
    /// Whether there is one.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        !self.program.is_empty() || self.url.is_some()
    }

    /// Who it is, for a person and the record.
    #[must_use]
    pub fn name(&self) -> String {
        match (&self.url, self.program.first()) {
            (Some(url), _) => format!("{} at {url}", self.model),
            (None, Some(program)) => program.clone(),
            (None, None) => "none".to_owned(),
        }
    }
}
