//! The builtin layer: what holds where nobody said anything.

use std::sync::Arc;

use super::pattern::escape;
use super::rules::Reach;
use super::{Layer, Rule, Verdict};

/// Where things are, as far as the rules must know. All absolute, without a slash at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The user's home.
    pub home: Option<String>,
    /// The project root.
    pub project: Option<String>,
    /// Folders for temporary files, real paths.
    pub temporaries: Vec<String>,
    /// The folders of `PATH`.
    pub path_folders: Vec<String>,
    /// Every home that is known, as spelled and real.
    pub homes: Vec<String>,
}

impl Places {
    /// Every home that is known, the user's own first.
    pub fn all_homes(&self) -> impl Iterator<Item = &str> {
        let others = self.homes.iter().filter(|home| Some(*home) != self.home.as_ref());
        self.home.iter().chain(others).map(String::as_str)
    }
}

/// One builtin rule and what it is limited to.
#[derive(Debug, Clone)]
pub struct Builtin {
    /// The rule.
    pub rule: Rule,
    /// What it is limited to.
    pub reach: Reach,
}

/// Files that hold secrets, as patterns for real paths.
pub const SECRETS: &[&str] = &[
    // Keys and certificates.
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.kdbx",
    "*/id_rsa",
    "*/id_dsa",
    "*/id_ecdsa",
    "*/id_ed25519",
    "*/.ssh",
    "*/.ssh/*",
    "*/.gnupg",
    "*/.gnupg/*",
    "/etc/ssh/ssh_host_*_key",
    // Passwords and tokens of network clients.
    "*/.netrc",
    "*/_netrc",
    "*/.git-credentials",
    "*/.config/git/credentials",
    "*/.config/gh",
    "*/.config/gh/*",
    "*/.config/glab-cli/*",
    "*/.config/hub",
    "*/.npmrc",
    "*/.yarnrc.yml",
    "*/.pypirc",
    "*/.gem/credentials",
    "*/.cargo/credentials",
    "*/.cargo/credentials.toml",
    "*/.m2/settings.xml",
    "*/.m2/settings-security.xml",
    "*/.gradle/gradle.properties",
    "*/composer/auth.json",
    "*/.composer/auth.json",
    "*/.pgpass",
    "*/.my.cnf",
    "*/.htpasswd",
    "*/.password-store",
    "*/.password-store/*",
    "*/.local/share/keyrings",
    "*/.local/share/keyrings/*",
    "*/.config/op/*",
    // Clouds and clusters.
    "*/.aws",
    "*/.aws/*",
    "*/.azure",
    "*/.azure/*",
    "*/.config/gcloud",
    "*/.config/gcloud/*",
    "*/.oci/*",
    "*/.kube/config",
    "*/.docker/config.json",
    "*/.config/containers/auth.json",
    "*/.config/doctl/config.yaml",
    "*/.config/rclone/rclone.conf",
    "*/.config/hcloud/cli.toml",
    "*/.s3cfg",
    "*/.boto",
    "*/.databrickscfg",
    "*/.fly/config.yml",
    "*/.vault-token",
    "*/.terraformrc",
    "*/.terraform.d/credentials.tfrc.json",
    "*.tfstate",
    "*.tfstate.*",
    // Tokens of agents.
    "*/.claude.json",
    "*/.claude/.credentials.json",
    "*/.codex/auth.json",
    "*/.gemini/oauth_creds.json",
    "*/.qwen/oauth_creds.json",
    "*/.local/share/opencode/auth.json",
    "*/.config/github-copilot",
    "*/.config/github-copilot/*",
    "*/.config/cursor/auth.json",
    // What was typed, and what processes were given.
    "*/.*_history",
    "*/.histfile",
    "*/fish/fish_history",
    "/proc/*/environ",
    // The machine's own.
    "/run/secrets",
    "/run/secrets/*",
    "/var/run/secrets",
    "/var/run/secrets/*",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
];

/// Files that programs load from a project although they are not named on the command line. Whoever
/// writes one decides what a silent program does next.
const LOADED: &[&str] = &[
    "*/.cargo/config",
    "*/.cargo/config.toml",
    "*/rust-toolchain",
    "*/rust-toolchain.toml",
    "*/.yarnrc.yml",
    "*/.yarnrc",
    "*/.pnp.cjs",
    "*/.npmrc",
    "*/.tool-versions",
    "*/mise.toml",
    "*/.mise.toml",
    "*/.python-version",
    "*/.node-version",
    "*/.nvmrc",
    "*/.ripgreprc",
    "*/.gitattributes",
    "*/.gitmodules",
    "*/sitecustomize.py",
    "*/usercustomize.py",
    "*/json.py",
    "*/.rspec",
    "*/.irbrc",
    "*/.pryrc",
    "*/.gdbinit",
    "*/.lldbinit",
    "*/.exrc",
    "*/.nvimrc",
    "*/.nvim.lua",
    "*/.direnvrc",
];

/// The builtin layer, lowest first.
#[must_use]
pub fn rules(places: &Places) -> Vec<Builtin> {
    let mut rules = reads();
    rules.extend(writes(places));
    for (capability, reason) in [
        ("process.execute", "what this program does is not fully explained"),
        ("process.background", "it keeps running after the call"),
        ("network.access", "it talks to the network"),
        ("git.modify", "it changes a git repository"),
        ("tool.use", "this tool is unknown to gsh"),
    ] {
        rules.push(builtin(capability, "*", Verdict::Ask, Some(reason)));
    }
    rules.push(Builtin { reach: Reach::Query, ..builtin("network.access", "*", Verdict::Allow, None) });
    rules
}

fn reads() -> Vec<Builtin> {
    let reason: Arc<str> = "files of this kind hold secrets".into();
    let secret = |pattern: &&str| {
        let mut secret = builtin("file.read", pattern, Verdict::Ask, None);
        secret.rule.reason = Some(Arc::clone(&reason));
        secret
    };
    let mut rules = vec![builtin("file.read", "*", Verdict::Allow, None)];
    rules.extend(["*.env", "*.env.*", "*/.envrc"].iter().map(secret));
    for example in ["*.env.example", "*.env.sample", "*.env.template"] {
        rules.push(builtin("file.read", example, Verdict::Allow, None));
    }
    rules.extend(SECRETS.iter().map(secret));
    rules
}

fn writes(places: &Places) -> Vec<Builtin> {
    let mut rules = vec![
        builtin("file.write.project", "*", Verdict::Allow, None),
        builtin("file.write.outsideProject", "*", Verdict::Ask, Some("it writes outside the project")),
    ];
    let silent = |pattern: &str| Builtin {
        reach: Reach::Overwrite,
        ..builtin("file.write.outsideProject", pattern, Verdict::Allow, None)
    };
    rules.extend(["/dev/null", "/dev/stdout", "/dev/stderr"].map(silent));
    rules.extend(places.temporaries.iter().map(|folder| silent(&format!("{}/*", escape(folder)))));
    let reason = Some("programs that run silently load this file");
    rules.extend(LOADED.iter().map(|pattern| builtin("file.write.project", pattern, Verdict::Ask, reason)));
    rules
}

fn builtin(capability: &str, pattern: &str, action: Verdict, reason: Option<&str>) -> Builtin {
    let mut rule = Rule::new(Layer::Builtin, capability, pattern, action);
    rule.reason = reason.map(Into::into);
    Builtin { rule, reach: Reach::Any }
}
