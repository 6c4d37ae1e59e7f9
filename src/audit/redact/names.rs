//! Which names say that a value is a secret, and which values cannot be one.

/// How surely a name says that its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Only where the value looks like one.
    Weak,
    /// Unless the value plainly is none.
    Strong,
}

/// Parts of a name that say so by themselves.
const STRONG: &[&str] = &[
    "apikey",
    "apitoken",
    "auth",
    "authtoken",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "creds",
    "jwt",
    "keypass",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "pgpassword",
    "pwd",
    "rootpw",
    "secret",
    "secretkey",
    "secrets",
    "storepass",
    "token",
    "totp",
    "userpass",
    "passwort",
];

/// Two parts in a row that say so.
const PAIRS: &[(&str, &str)] = &[
    ("access", "key"),
    ("account", "key"),
    ("api", "key"),
    ("app", "key"),
    ("client", "key"),
    ("deploy", "key"),
    ("encryption", "key"),
    ("license", "key"),
    ("master", "key"),
    ("private", "key"),
    ("secret", "key"),
    ("session", "id"),
    ("session", "key"),
    ("shared", "key"),
    ("signing", "key"),
    ("storage", "key"),
    ("connection", "string"),
    ("subscription", "key"),
    ("service", "key"),
    ("auth", "key"),
    ("root", "pw"),
    ("x", "key"),
    ("webhook", "key"),
];

/// Last parts that make it the name of something about a secret.
const ABOUT: &[&str] = &[
    "arn",
    "class",
    "cmd",
    "command",
    "count",
    "dir",
    "directory",
    "enabled",
    "endpoint",
    "env",
    "expiration",
    "expires",
    "expiry",
    "field",
    "file",
    "format",
    "header",
    "helper",
    "host",
    "hosts",
    "jar",
    "key_id",
    "label",
    "lens",
    "length",
    "level",
    "limit",
    "manager",
    "max",
    "method",
    "min",
    "mode",
    "mount",
    "name",
    "namespace",
    "path",
    "policy",
    "port",
    "prompt",
    "provider",
    "ref",
    "required",
    "scheme",
    "scope",
    "server",
    "size",
    "sock",
    "socket",
    "source",
    "stdin",
    "store",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "user",
    "username",
    "var",
    "version",
];

/// The strength of a name; None for one that says nothing.
pub(super) fn strength(name: &str) -> Option<Strength> {
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.len() < 3 || matches!(name, "PWD" | "OLDPWD" | "pwd") {
        return None;
    }
    let parts = parts(name);
    let last = parts.last()?.as_str();
    if ABOUT.contains(&last) {
        return None;
    }
    // A number of tokens is none.
    if last == "tokens" {
        return None;
    }
    let strong = parts.iter().any(|part| STRONG.contains(&part.as_str()) || ends_strongly(part))
        || parts.windows(2).any(
            |pair| matches!(pair, [first, second] if PAIRS.iter().any(|known| *known == (first, second))),
        );
    if strong {
        return Some(Strength::Strong);
    }
    matches!(
        last,
        "key" | "pw" | "sig" | "signature" | "sas" | "pin" | "psk" | "salt" | "sid" | "session" | "code"
    )
    .then_some(Strength::Weak)
}

/// `mysqlpassword`, `dbpass`, `accesstoken`.
fn ends_strongly(part: &str) -> bool {
    ["password", "passwd", "token", "secret", "apikey", "passphrase"]
        .iter()
        .any(|ending| part.len() > ending.len() && part.ends_with(ending))
}

/// Lower-case parts: between signs, and where a capital follows a small letter.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let splits =
            !letter.is_ascii_alphanumeric() || before.is_ascii_lowercase() && letter.is_ascii_uppercase();
        if splits && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if letter.is_ascii_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Values that stand for no secret, whatever their name says.
const HARMLESS: &[&str] = &[
    "true",
    "false",
    "none",
    "null",
    "nil",
    "yes",
    "no",
    "on",
    "off",
    "set",
    "unset",
    "required",
    "optional",
    "auto",
    "basic",
    "digest",
    "bearer",
    "negotiate",
    "ntlm",
    "never",
    "always",
    "disabled",
    "enabled",
    "undefined",
];

/// Whether a value cannot be a secret of a name this strong.
pub(super) fn is_harmless(value: &str, strength: Strength) -> bool {
    let value = value.trim();
    let inner = value.trim_matches(['"', '\'', '\\']);
    if inner.is_empty() || HARMLESS.contains(&inner.to_ascii_lowercase().as_str()) {
        return true;
    }
    if is_expansion(inner) || is_placeholder(inner) || is_code(inner) {
        return true;
    }
    let path = ["/", "./", "../", "~/", "@"].iter().any(|head| inner.starts_with(head));
    if path && !is_random(inner.trim_start_matches(['/', '.', '~', '@'])) {
        return true;
    }
    match strength {
        Strength::Strong => inner.len() < 4 && inner.bytes().all(|byte| byte.is_ascii_digit()),
        Strength::Weak => !is_random(inner),
    }
}

/// Nothing but what the shell (or a template) puts something else in for.
pub(super) fn is_expansion(value: &str) -> bool {
    if let Some(name) = value.strip_prefix('$').filter(|_| !value.starts_with("$'")) {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let braced =
            name.starts_with('{') && name.ends_with('}') && !name.contains(":-") && !name.contains(":=");
        return plain || braced || name.starts_with('(');
    }
    value.starts_with('`') || value.starts_with("{{") || value.starts_with("%(") || value.starts_with("<(")
}

fn is_placeholder(value: &str) -> bool {
    let bracketed = value.starts_with('<') && value.ends_with('>');
    let all = |sign: char| value.chars().all(|c| c == sign);
    let pattern = [".*", ".+", "***", "[^", "(.", "\\"].iter().any(|head| value.starts_with(head));
    bracketed
        || pattern
        || all('*')
        || all('x')
        || all('X')
        || all('.')
        || value.starts_with("[redacted")
        || value == "%s"
}

/// `os.environ["X"]`, `process.env.X`, `getToken()`: an expression of some language.
fn is_code(value: &str) -> bool {
    let head = value.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    let calls = head.is_some_and(|at| at > 0 && matches!(value.as_bytes().get(at), Some(b'(' | b'[')));
    calls || value.starts_with("process.env") || value.starts_with("os.environ")
}

/// Whether a word looks as if nobody chose it: eight characters or more, letters and digits.
pub(super) fn is_random(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.contains("://")
        && value.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The same, and so long and mixed that it is no name with a number either.
pub(super) fn is_very_random(value: &str) -> bool {
    is_random(value) && value.len() >= 16 && entropy(value) > 3.4 && !value.contains(['/', '.'])
}

/// Bits for each character, from how often each stands there.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let bits = counts.iter().filter(|count| **count > 0).map(|count| {
        let share = f64::from(*count) / length;
        -share * share.log2()
    });
    bits.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        use Strength::{Strong, Weak};
        let table = [
            ("TOKEN", Some(Strong)),
            ("GITHUB_TOKEN", Some(Strong)),
            ("telegram.token", Some(Strong)),
            ("--access-token", Some(Strong)),
            ("dbPassword", Some(Strong)),
            ("MYSQL_PWD", Some(Strong)),
            ("AWS_SECRET_ACCESS_KEY", Some(Strong)),
            ("_authToken", Some(Strong)),
            ("client-secret", Some(Strong)),
            ("mysqlpassword", Some(Strong)),
            ("KEY", Some(Weak)),
            ("PWD", None),
            ("OLDPWD", None),
            ("PASSWORD_FILE", None),
            ("max-tokens", None),
            ("TOKEN_URL", None),
            ("author", None),
            ("keyboard", None),
            ("credential.helper", None),
            ("--password-stdin", None),
            ("name", None),
            ("x", None),
        ];
        for (name, expected) in table {
            assert_eq!(strength(name), expected, "{name}");
        }
    }

    #[test]
    fn values() {
        use Strength::{Strong, Weak};
        for (value, by, harmless) in [
            ("$TOKEN", Strong, true),
            ("${TOKEN}", Strong, true),
            ("$(cat f)", Strong, true),
            ("", Strong, true),
            ("true", Strong, true),
            ("<token>", Strong, true),
            ("****", Strong, true),
            ("/run/secrets/db", Strong, true),
            ("os.environ[\"A\"]", Strong, true),
            ("hunter2", Strong, false),
            ("correct horse", Strong, false),
            ("${TOKEN:-abc123}", Strong, false),
            ("sk-test-123", Weak, false),
            ("name", Weak, true),
            ("2", Weak, true),
        ] {
            assert_eq!(is_harmless(value, by), harmless, "{value}");
        }
    }
}
