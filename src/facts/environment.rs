//! Variables that change what a command runs or how bash reads a text.

mod names;

use names::{
    DATA, DATA_PREFIXES, DATA_SUFFIXES, EXECUTING, EXECUTING_PREFIXES, EXECUTING_SUFFIXES, GIVEN,
    GIVEN_PREFIXES, GIVEN_SUFFIXES, OWN_PREFIXES,
};

/// Who sees a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// The shell, and what its environment may hold already.
    Shell,
    /// Every program from here on: `export`.
    Programs,
    /// One program, which it was written for: `NAME=value PROGRAM`, `env NAME=value PROGRAM`.
    Program,
}

/// Values of a pager, editor or helper that run nothing else.
const HARMLESS_VALUES: &[&str] = &["", "cat", "less", "more", "true", ":", "/bin/cat", "/usr/bin/cat"];

/// Whether giving this variable this value (None: not known) can change what runs, what it obeys, or where it
/// connects. What is written before one program is meant for it: there, a name has to be known as data.
pub(super) fn executes(name: &str, value: Option<&str>, seen: Seen) -> bool {
    if carries_data(name, value) || is_plain_prompt(name, value) {
        return false;
    }
    let starts = |list: &str| list.split_whitespace().any(|prefix| name.starts_with(prefix));
    let ends = |list: &str| list.split_whitespace().any(|suffix| name.ends_with(suffix));
    let listed = is_in(EXECUTING, name) || starts(EXECUTING_PREFIXES) || ends(EXECUTING_SUFFIXES);
    let given = || {
        is_in(GIVEN, name)
            || starts(GIVEN_PREFIXES)
            || (ends(GIVEN_SUFFIXES) && !is_in(GIVEN_SUFFIXES, name) && !starts(OWN_PREFIXES))
    };
    let counts = listed
        || match seen {
            Seen::Shell => false,
            Seen::Programs => given(),
            Seen::Program => given() || !is_own(name),
        };
    if !counts {
        return false;
    }
    let helper = name.ends_with("PAGER") || name.ends_with("EDITOR") || name == "VISUAL";
    let plain = value.is_some_and(|value| HARMLESS_VALUES.contains(&value));
    !(helper && plain && (name.ends_with("PAGER") || value == Some("true") || value == Some(":")))
}

fn is_in(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|each| each == name)
}

/// A prompt is expanded as a text between double quotes is, after its own escapes were: it is only shown where
/// nothing in it, nor a character that it names by its number, can begin a substitution.
fn is_plain_prompt(name: &str, value: Option<&str>) -> bool {
    let numbered =
        |value: &str| value.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let plain = |value: &str| !value.contains(['(', '{', '`']) && !value.contains("$[") && !numbered(value);
    matches!(name, "PS0" | "PS1" | "PS2") && value.is_some_and(plain)
}

/// Whether a variable of this name only carries data. What is part of a path or of a text that is evaluated
/// has to be plain.
fn carries_data(name: &str, value: Option<&str>) -> bool {
    let part = ["LC_", "LANG", "TERM", "DEBIAN_FRONTEND"].iter().any(|start| name.starts_with(start));
    let plain = |text: &str| {
        !text.contains("..")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@:+".contains(&byte))
    };
    (!part || value.is_some_and(plain))
        && (is_in(DATA, name)
            || DATA_PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix))
            || DATA_SUFFIXES.split_whitespace().any(|suffix| name.ends_with(suffix)))
}

/// Whether no program has a use for such a name: one letter, or small letters throughout.
fn is_own(name: &str) -> bool {
    name.len() == 1 || !name.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Whether a program hands this variable's value to a shell, and it is more than a name.
pub(super) fn runs_its_value(name: &str, value: &str) -> bool {
    let named = [
        "PAGER",
        "EDITOR",
        "_COMMAND",
        "_ASKPASS",
        "_RSH",
        "PS0",
        "PS1",
        "PS4",
        "GIT_EXTERNAL_DIFF",
        "VISUAL",
        "BROWSER",
    ];
    value.contains([' ', '`', '$'])
        && named.iter().any(|end| name.ends_with(end))
        && executes(name, Some(value), Seen::Shell)
}

/// Whether a variable or a key of this name is likely to hold a secret.
pub(super) fn names_secret(name: &str) -> bool {
    const WORDS: &[&str] =
        &["SECRET", "TOKEN", "PASS", "CREDENTIAL", "KEY", "PRIVATE", "AUTH", "COOKIE", "DSN", "PWD"];
    let upper = name.to_ascii_uppercase();
    let plain = ["PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "$PWD", "${PWD}"];
    !plain.contains(&name) && WORDS.iter().any(|word| upper.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{Seen, executes, names_secret};

    #[test]
    fn which_names_are_secrets() {
        for (name, expected) in [
            ("AWS_SECRET_ACCESS_KEY", true),
            ("GITHUB_TOKEN", true),
            ("db_password", true),
            ("/app/api-key", true),
            ("HOME", false),
            ("PWD", false),
            ("/app/limit", false),
        ] {
            assert_eq!(names_secret(name), expected, "{name}");
        }
    }

    #[test]
    fn which_variables_run_things() {
        for (name, value, expected) in [
            ("PATH", Some("/bin"), true),
            ("GIT_PAGER", Some("cat"), false),
            ("GIT_PAGER", Some("touch x;cat"), true),
            ("GIT_PAGER", None, true),
            ("PAGER", Some("less"), false),
            ("KUBECONFIG", Some("x"), true),
            ("KUBECTL_EXTERNAL_DIFF", Some("x"), true),
            ("CLOUDSDK_PYTHON", Some("x"), true),
            ("DOCKER_CONTEXT", Some("x"), true),
            ("DOCKER_BUILDKIT", Some("1"), false),
            ("GIT_EDITOR", Some("true"), false),
            ("GIT_EXTERNAL_DIFF", Some("x"), true),
            ("LD_PRELOAD", Some(""), true),
            ("LC_ALL", Some("C"), false),
            ("TZ", Some("UTC"), false),
            ("FOO", Some("1"), false),
            ("NODE_ENV", Some("test"), false),
            ("NODE_OPTIONS", Some(""), true),
            ("GIT_AUTHOR_NAME", Some("x"), false),
            ("LESSOPEN", Some("|x"), true),
            ("PSQLRC", Some("x"), true),
            ("PGPASSWORD", Some("x"), false),
            ("MYSQL_PWD", Some("x"), false),
            ("MYSQL_HOME", Some("."), true),
            ("PS1", Some("PROMPT> "), false),
            ("PS1", Some("$(x) "), true),
            ("PS1", Some("\\044(x)"), true),
            ("PS1", None, true),
        ] {
            assert_eq!(executes(name, value, Seen::Shell), expected, "{name}={value:?}");
        }
    }

    #[test]
    fn which_variables_matter_to_whom() {
        for (name, value, exported, given) in [
            ("GREP", "x", true, true),
            ("DIFF", "x", true, true),
            ("GOAUTH", "x", true, true),
            ("RESOLV_HOST_CONF", ".env", true, true),
            ("LIBMOUNT_FSTAB", ".env", true, true),
            ("HTTPS_PROXY", "http://x", true, true),
            ("https_proxy", "http://x", true, true),
            ("JAVA_HOME", "/x", true, true),
            ("HGRCPATH", "x", true, true),
            ("INFOPATH", "x", true, true),
            ("SOME_NEW_THING", "x", false, true),
            ("OUT_DIR", "x", false, true),
            ("DIR", "x", false, true),
            ("LC_ALL", "/x/y", false, true),
            ("TERM", "../x", false, true),
            ("DEBIAN_FRONTEND", "x;system(1)", true, true),
            ("DEBIAN_FRONTEND", "noninteractive", false, false),
            ("LC_ALL", "C.UTF-8", false, false),
            ("LANG", "de_DE", false, false),
            ("TZ", "Europe/Berlin", false, false),
            ("NO_COLOR", "1", false, false),
            ("X_NO_COLOR", "1", false, false),
            ("NODE_ENV", "test", false, false),
            ("GOOS", "linux", false, false),
            ("SYSTEMD_COLORS", "0", false, false),
            ("SYSTEMD_PAGER", "cat", false, false),
            ("SYSTEMD_PAGER", "x", true, true),
            ("FOO", "1", false, false),
            ("n", "1", false, false),
            ("name", "1", false, false),
        ] {
            assert_eq!(executes(name, Some(value), Seen::Programs), exported, "export {name}={value}");
            assert_eq!(executes(name, Some(value), Seen::Program), given, "{name}={value} PROGRAM");
        }
    }
}
