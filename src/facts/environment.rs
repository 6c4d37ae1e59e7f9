//! Variables that change what a command runs or how bash reads a text.

/// Names that change what runs, whoever reads them.
const EXECUTING: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "POSIXLY_CORRECT",
    "BASH_COMPAT",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PWD",
    "OLDPWD",
    "DIRSTACK",
    "SHLVL",
    "TAPE",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "GLOBIGNORE",
    "FIGNORE",
    "EXECIGNORE",
    "BASH_CMDS",
    "BASH_ALIASES",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "SHELL",
    "HISTFILE",
    "INPUTRC",
    "FCEDIT",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "PAGER",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSKEY",
    "LESSKEYIN",
    "LESSEDIT",
    "MORE",
    "MANOPT",
    "SYSTEMD_PAGER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "RUBYOPT",
    "RUBYLIB",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "PERLLIB",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "MAKEFLAGS",
    "MFLAGS",
    "GNUMAKEFLAGS",
    "MAKEFILES",
    "TAR_OPTIONS",
    "GREP_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_RSH",
    "RSYNC_CONNECT_PROG",
    "CVS_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TMPDIR",
    "TMP",
    "TEMP",
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TERMCAP",
    "HOSTALIASES",
    "RES_OPTIONS",
    "MALLOC_CHECK_",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "SSL_CERT_FILE",
    "CURL_HOME",
    "WGETRC",
    "AWKPATH",
    "AWKLIBPATH",
    "GAWK_PERSIST_FILE",
    "EXINIT",
    "VIMINIT",
    "GVIMINIT",
    "MYVIMRC",
    "VIM",
    "VIMRUNTIME",
    "EMACSLOADPATH",
    "GOFLAGS",
    "GOROOT",
    "GOPATH",
    "GOENV",
    "CC",
    "CXX",
    "LD",
    "AR",
    "CFLAGS",
    "CPPFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "RUSTC",
    "RUSTDOC",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "KUBECONFIG",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "R_PROFILE_USER",
    "TCLLIBPATH",
    "DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "MANROFFOPT",
    "MANROFFSEQ",
    "MANLESS",
    "ZIPOPT",
    "UNZIP",
    "ZIPINFO",
    "GZIP",
    "XZ_OPT",
    "XZ_DEFAULTS",
    "BZIP",
    "BZIP2",
    "ZSTD_CLEVEL",
    "BC_ENV_ARGS",
    "DC_ENV_ARGS",
    "GOTOOLCHAIN",
    "GOPROXY",
    "GOSUMDB",
    "GOINSECURE",
    "GONOSUMDB",
    "GOVCS",
    "GOWORK",
];

/// Beginnings of such names.
const EXECUTING_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "PYTHON",
    "PYENV",
    "NPM_CONFIG_",
    "npm_config_",
    "CARGO_",
    "RUSTUP_",
    "BUNDLE_",
    "GEM_",
    "PIP_",
    "UV_",
    "ANSIBLE_",
    "TF_",
    "AWS_",
    "GCONV",
    "GROFF_",
    "GLIBC_",
    "BASH_FUNC_",
    "DEBUGINFOD_",
    "GSH_",
    "LESS_",
    "GH_",
    "YARN_",
    "COREPACK_",
    "MISE_",
    "ASDF_",
    "DIRENV_",
    "FZF_",
    "BAT_",
];

/// Endings of such names.
const EXECUTING_SUFFIXES: &[&str] =
    &["PAGER", "_EDITOR", "_COMMAND", "_OPTIONS", "_OPTS", "_WRAPPER", "_ASKPASS", "_PRELOAD", "_INIT"];

/// Names of the two lists above that only carry data.
const DATA: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "CARGO_TERM_COLOR",
    "CARGO_TERM_PROGRESS_WHEN",
    "CARGO_NET_OFFLINE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "PIP_NO_INPUT",
    "PIP_DISABLE_PIP_VERSION_CHECK",
];

/// Values of a pager, editor or helper that run nothing else.
const HARMLESS_VALUES: &[&str] = &["", "cat", "less", "more", "true", ":", "/bin/cat", "/usr/bin/cat"];

/// Whether giving this variable this value (None: not known) can change what runs.
pub(super) fn executes(name: &str, value: Option<&str>) -> bool {
    if DATA.contains(&name) {
        return false;
    }
    let listed = EXECUTING.contains(&name)
        || EXECUTING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || EXECUTING_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    if !listed {
        return false;
    }
    let helper = name.ends_with("PAGER") || name.ends_with("EDITOR") || name == "VISUAL";
    let plain = value.is_some_and(|value| HARMLESS_VALUES.contains(&value));
    !(helper && plain && (name.ends_with("PAGER") || value == Some("true") || value == Some(":")))
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
        && executes(name, Some(value))
}

#[cfg(test)]
mod tests {
    use super::executes;

    #[test]
    fn which_variables_run_things() {
        for (name, value, expected) in [
            ("PATH", Some("/bin"), true),
            ("GIT_PAGER", Some("cat"), false),
            ("GIT_PAGER", Some("touch x;cat"), true),
            ("GIT_PAGER", None, true),
            ("PAGER", Some("less"), false),
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
        ] {
            assert_eq!(executes(name, value), expected, "{name}={value:?}");
        }
    }
}
