//! The builtin layer: what holds where nobody said anything.

use std::borrow::Cow;

use super::pattern::escape;
use super::rules::Reach;
use super::{Capability, Layer, Rule, Verdict};

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

/// One builtin rule. They stand in tables and become rules only when they match: most commands never
/// get down to them.
#[derive(Debug, Clone)]
pub struct Builtin<'a> {
    /// Its capability.
    pub capability: Capability,
    /// Its pattern; paths are real.
    pub pattern: Cow<'a, str>,
    /// What it says.
    pub action: Verdict,
    /// Why.
    pub reason: Option<&'static str>,
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
    "*.keystore",
    "*.jceks",
    "*.keytab",
    "*.ppk",
    "*/id_rsa",
    "*/id_dsa",
    "*/id_ecdsa",
    "*/id_ecdsa_sk",
    "*/id_ed25519",
    "*/id_ed25519_sk",
    "*/.config/sops/age/*",
    "/etc/ssl/private",
    "/etc/ssl/private/*",
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
    "*/.mylogin.cnf",
    "*/.Xauthority",
    "/tmp/krb5cc_*",
    "/etc/ipsec.secrets",
    "/etc/wireguard/*",
    "/etc/ppp/*-secrets",
    "/etc/NetworkManager/system-connections/*",
    "*/.mozilla/firefox/*/logins.json",
    "*/.mozilla/firefox/*/key4.db",
    "*/.mozilla/firefox/*/cookies.sqlite",
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
    "/etc/security/opasswd",
    // Whole disks, and memory: every file, every secret in use.
    "/dev/sd*",
    "/dev/hd*",
    "/dev/vd*",
    "/dev/xvd*",
    "/dev/nvme*",
    "/dev/mmcblk*",
    "/dev/dm-*",
    "/dev/md*",
    "/dev/loop*",
    "/dev/mapper/*",
    "/dev/disk/*",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "/dev/input/*",
    "/proc/kcore",
    "/proc/*/mem",
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

/// The builtin layer, lowest first. None of its rules refuses.
pub fn rules(places: &Places) -> impl Iterator<Item = Builtin<'_>> {
    reads().chain([within()]).chain(outside(places)).chain(loaded()).chain(others())
}

/// The last builtin rule of a capability that is wanted.
pub fn last<'p>(
    capability: Capability,
    places: &'p Places,
    wanted: impl FnMut(&Builtin<'p>) -> bool,
) -> Option<Builtin<'p>> {
    match capability {
        Capability::FileRead => reads().rev().find(wanted),
        Capability::FileWriteProject => [within()].into_iter().chain(loaded()).rev().find(wanted),
        Capability::FileWriteOutside => outside(places).rev().find(wanted),
        _ => others().into_iter().rev().filter(|builtin| builtin.capability == capability).find(wanted),
    }
}

const EXAMPLES: &[&str] = &["*.env.example", "*.env.sample", "*.env.template"];

fn reads<'p>() -> impl DoubleEndedIterator<Item = Builtin<'p>> {
    let reading = |pattern, action| builtin(Capability::FileRead, pattern, action);
    let secret = move |pattern: &&'static str| {
        reading(pattern, Verdict::Ask).because("files of this kind hold secrets")
    };
    [reading("*", Verdict::Allow)]
        .into_iter()
        .chain(["*.env", "*.env.*", "*/.envrc"].iter().map(secret))
        .chain(EXAMPLES.iter().map(move |example| reading(example, Verdict::Allow)))
        .chain(SECRETS.iter().map(secret))
}

/// Whether a file of this name is of a kind that holds secrets, by its real path.
#[must_use]
pub fn is_secret(path: &str) -> bool {
    let named = |builtin: &Builtin<'_>| super::pattern::matches(&builtin.pattern, path);
    reads().rev().find(named).is_some_and(|builtin| builtin.action == Verdict::Ask)
}

fn within<'p>() -> Builtin<'p> {
    builtin(Capability::FileWriteProject, "*", Verdict::Allow)
}

fn loaded<'p>() -> impl DoubleEndedIterator<Item = Builtin<'p>> {
    LOADED.iter().map(|pattern| {
        builtin(Capability::FileWriteProject, pattern, Verdict::Ask)
            .because("programs that run silently load this file")
    })
}

fn outside(places: &Places) -> impl DoubleEndedIterator<Item = Builtin<'_>> {
    let silent = |pattern| Builtin {
        pattern,
        reach: Reach::Overwrite,
        ..builtin(Capability::FileWriteOutside, "", Verdict::Allow)
    };
    let devices = ["/dev/null", "/dev/stdout", "/dev/stderr"].map(Cow::Borrowed).into_iter();
    let temporaries = places.temporaries.iter().map(|folder| format!("{}/*", escape(folder)).into());
    [builtin(Capability::FileWriteOutside, "*", Verdict::Ask).because("it writes outside the project")]
        .into_iter()
        .chain(devices.chain(temporaries).map(silent))
}

fn others<'p>() -> [Builtin<'p>; 6] {
    let asks = |capability, reason| builtin(capability, "*", Verdict::Ask).because(reason);
    let queries = builtin(Capability::NetworkAccess, "*", Verdict::Allow);
    [
        asks(Capability::ProcessExecute, "what this program does is not fully explained"),
        asks(Capability::ProcessBackground, "it keeps running after the call"),
        asks(Capability::NetworkAccess, "it talks to the network"),
        asks(Capability::GitModify, "it changes a git repository"),
        asks(Capability::ToolUse, "this tool is unknown to gsh"),
        Builtin { reach: Reach::Query, ..queries },
    ]
}

fn builtin<'p>(capability: Capability, pattern: &'static str, action: Verdict) -> Builtin<'p> {
    Builtin { capability, pattern: pattern.into(), action, reason: None, reach: Reach::Any }
}

impl Builtin<'_> {
    fn because(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    /// The rule it is.
    #[must_use]
    pub fn rule(&self) -> Rule {
        let rule = Rule::new(Layer::Builtin, self.capability.word(), &self.pattern, self.action);
        Rule { reason: self.reason.map(Into::into), ..rule }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_refuses_and_each_is_found_from_its_capability() {
        let places = Places { temporaries: vec!["/tmp".into(), "/a*".into()], ..Places::default() };
        for builtin in rules(&places) {
            assert!(builtin.action < Verdict::Deny, "{builtin:?}");
            let same =
                |other: &Builtin<'_>| (&other.pattern, other.reach) == (&builtin.pattern, builtin.reach);
            let found = last(builtin.capability, &places, same);
            assert_eq!(found.map(|found| found.rule()), Some(builtin.rule()));
        }
    }
}
