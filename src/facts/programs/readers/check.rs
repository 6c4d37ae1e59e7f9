//! Looks at what a table made of the words, where one word changes the meaning of another.

use super::{Refusal, languages, transfer, turning, values};
use crate::facts::arg::Arg;
use crate::facts::programs::scan::{Found, Scan};
use crate::facts::programs::table::{Check, Doing};
use crate::facts::programs::{Act, Inner, Input, Output, Push, Reading, Role};
use crate::syntax::Cause;

/// Applies one check.
pub(in crate::facts::programs) fn check(check: Check, scan: &Scan, reading: &mut Reading) {
    match check {
        Check::Push => push(scan, reading),
        Check::Shopt => turning::shopt(scan, reading),
        Check::Completion => turning::completion(scan, reading),
        Check::Binding => turning::binding(scan, reading),
        Check::Runlevel => runlevel(scan, reading),
        Check::Secrets => secrets(scan, reading),
        Check::Rsync => rsync(scan, reading),
        Check::GhApi => gh_api(scan, reading),
        Check::Inspected => values::inspected(scan, reading),
        Check::Remotes => values::remotes(scan, reading),
        Check::ValueFiles => values::value_files(scan, reading),
        Check::Blobs => blobs(scan, reading),
        Check::PkillAll => pkill(scan, reading),
        Check::ShellWord => shell_word(reading),
        Check::MakesLink => makes_link(scan, reading),
        Check::KeptUnder => kept_under(scan, reading),
        Check::LoginShell => login_shell(reading),
        Check::GitConfig => git_config(reading),
        Check::DateFormat => date_format(scan, reading),
        Check::Curl => transfer::curl(scan, reading),
        Check::Wget => transfer::wget(scan, reading),
        Check::Scp => transfer::scp(scan, reading),
        Check::Ssh => transfer::ssh(scan, reading),
        Check::Statements => transfer::statements(scan, reading),
        Check::LocalDatabase => transfer::local_database(scan, reading),
        Check::Miller => transfer::miller(scan, reading),
        Check::Yq => transfer::yq(scan, reading),
        Check::Redis => transfer::redis(scan, reading),
        Check::Pandoc => transfer::pandoc(scan, reading),
        Check::ArgFile => languages::arg_file(scan, reading),
        Check::Compiler => languages::compiler(scan, reading),
        Check::Tsc => languages::tsc(scan, reading),
        Check::SecretNames => values::secret_names(scan, reading),
    }
}

/// `git push`.
fn push(scan: &Scan, reading: &mut Reading) {
    let mut operands = scan.operands.iter().map(|(_, arg)| arg.clone());
    let mut push = Push {
        force: scan.has("--force") || scan.has("--mirror"),
        lease: scan.has("--force-with-lease"),
        delete: scan.has("--delete"),
        all: scan.has("--all") || scan.has("--mirror"),
        ..Push::default()
    };
    let repo = scan.given("--repo").next();
    push.remote = operands.next().or_else(|| repo.and_then(|found| found.value.clone()));
    push.refspecs = operands.collect();
    if !scan.has("--dry-run") || !reading.unexplained.is_empty() {
        reading.acts.push(Act::Push(push));
    }
}

/// `init 0`, `systemctl isolate reboot.target`.
fn runlevel(scan: &Scan, reading: &mut Reading) {
    const POWER: &[&str] = &["0", "6", "reboot", "poweroff", "halt", "kexec", "runlevel0", "runlevel6"];
    for (_, word) in &scan.operands {
        match word.text().map(|text| text.strip_suffix(".target").unwrap_or(text)) {
            Some(text) if POWER.contains(&text) => reading.act(Doing::Power),
            Some(_) => {}
            None => reading.unexplained(Cause::DynamicWord, word.display(), None),
        }
    }
}

/// `kubectl get secrets`.
fn secrets(scan: &Scan, reading: &mut Reading) {
    for (index, word) in &scan.operands {
        match word.text() {
            Some(text)
                if text
                    .to_ascii_lowercase()
                    .split([',', '/', '.'])
                    .any(|part| matches!(part, "secret" | "secrets")) =>
            {
                reading.act(Doing::RevealSecrets);
            }
            Some(_) => {}
            None => reading.unexplained(Cause::DynamicWord, word.display(), Some(*index)),
        }
    }
}

/// `rsync`: the last operand is the destination; `host:` is the network.
fn rsync(scan: &Scan, reading: &mut Reading) {
    transfer::filters(scan, reading);
    if scan.operands.iter().any(|(_, arg)| transfer::is_remote(arg)) {
        reading.act(Doing::Network);
        reading.unexplained(Cause::OpaqueCode, "another machine", None);
    }
    let dry = scan.has("--dry-run") && !scan.has("--log-file");
    let Some(((_, target), sources)) = scan.operands.split_last() else { return };
    for (_, source) in sources {
        reading.uses(Role::ReadTree, source);
        if scan.has("--remove-source-files") && !dry {
            reading.uses(Role::DeleteTree, source);
        }
    }
    if sources.is_empty() || dry {
        return reading.uses(Role::List, target);
    }
    reading.uses(Role::PutTo, target);
    if scan.has("--delete") {
        reading.uses(Role::DeleteTree, target);
    }
}

/// `gh api`: a request that only reads, unless a method or a field says otherwise.
fn gh_api(scan: &Scan, reading: &mut Reading) {
    let method = scan.given("-X").last().and_then(|found| found.value.clone());
    let get = method.as_ref().and_then(Arg::text).is_some_and(|text| text.eq_ignore_ascii_case("get"));
    let fields = scan.has("-f") || scan.has("-F") || scan.has("--input");
    let file = |found: &&Found| found.value.as_ref().is_none_or(|value| value.head().contains("=@"));
    if let Some(found) = scan.given("-F").find(file) {
        reading.unexplained(Cause::UnknownOption, "a field from a file", Some(found.index));
    }
    if method.as_ref().and_then(Arg::text).is_some_and(|text| text.eq_ignore_ascii_case("delete")) {
        let what = scan.operands.iter().map(|(_, arg)| arg.display()).collect::<Vec<_>>().join(" ");
        reading.acts.push(Act::DestroyRemote { what });
        reading.arity = 0;
    }
    let graphql = scan.operands.iter().any(|(_, arg)| !is_rest_path(arg));
    if graphql || (method.is_some() && !get) || (fields && !get) {
        reading.act(Doing::Network);
        reading.unexplained(Cause::UnknownOption, "a request that may change something", None);
    } else {
        reading.act(Doing::Query);
    }
}

fn is_rest_path(arg: &Arg) -> bool {
    arg.text()
        .is_some_and(|text| !text.trim_start_matches('/').starts_with("graphql") && !text.contains("://"))
}

/// `git show HEAD:.env`: content of a path of the repository.
fn blobs(scan: &Scan, reading: &mut Reading) {
    for (_, operand) in &scan.operands {
        if let Some(text) = operand.text() {
            // `:(icase).ENV`: words in brackets say how the pattern after them is matched.
            let magic = text.strip_prefix(":(").and_then(|rest| rest.split_once(')'));
            if magic.is_some_and(|(words, _)| words.contains("icase") || words.contains("attr")) {
                reading.unexplained(Cause::UnknownConstruct, text, None);
            }
            let skipped = text.find(':').map_or(0, |at| at + 1);
            if skipped < text.len() {
                reading.uses(Role::Read, &operand.after(skipped));
            }
        }
    }
}

/// `pkill .`: a pattern that every process matches.
fn pkill(scan: &Scan, reading: &mut Reading) {
    let broad = |arg: &Arg| match arg.text() {
        Some(text) => {
            text.chars().all(|letter| ".*^$+?()|[]".contains(letter)) || matches!(text, ".+" | "[a-z]")
        }
        None => false,
    };
    let whole_user = scan.operands.is_empty() && scan.found.iter().any(|found| found.value.is_some());
    if scan.operands.iter().any(|(_, arg)| broad(arg)) || whole_user {
        reading.act(Doing::KillAll);
    }
}

/// `flock FILE -c TEXT`.
fn shell_word(reading: &mut Reading) {
    let Some(Inner::Command { argv, .. }) = reading.inner.last_mut() else { return };
    if let [option, text] = argv.as_slice()
        && matches!(option.text(), Some("-c" | "--command"))
    {
        let (option, text) = (Arg::literal("-c", option.span), text.clone());
        *argv = vec![Arg::literal("/bin/sh", option.span), option, text];
    }
}

/// `sed -i.old FILE` keeps the file under another name: its own with the suffix, or the suffix with its name
/// in the place of every `*`.
fn kept_under(scan: &Scan, reading: &mut Reading) {
    let Some(suffix) = scan.given("-i").filter_map(|found| found.value.clone()).last() else { return };
    let files: Vec<Arg> =
        reading.uses.iter().filter(|each| each.role == Role::Edit).map(|each| each.arg.clone()).collect();
    let Some(suffix) = suffix.text().filter(|text| !text.contains('/')) else {
        return reading.unexplained(Cause::DynamicPath, suffix.display(), None);
    };
    for file in files {
        match file.text() {
            Some(text) => {
                let (folder, name) =
                    text.rsplit_once('/').map_or(("", text), |(folder, name)| (folder, name));
                let slash = if text.contains('/') { "/" } else { "" };
                let kept =
                    if suffix.contains('*') { suffix.replace('*', name) } else { format!("{name}{suffix}") };
                reading.uses(Role::Write, &Arg::literal(format!("{folder}{slash}{kept}"), file.span));
            }
            None => reading.unexplained(Cause::DynamicPath, file.display(), None),
        }
    }
}

/// Without a command it starts a shell, which reads its standard input.
fn login_shell(reading: &mut Reading) {
    if reading.inner.is_empty() {
        reading.input = Input::Shell;
    }
}

/// `git config --file FILE KEY VALUE` writes that file.
fn git_config(reading: &mut Reading) {
    if reading.acts.contains(&Act::GitModify) {
        for each in reading.uses.iter_mut().filter(|each| each.role == Role::Read) {
            each.role = Role::Edit;
        }
    }
}

/// `ln TARGET` makes a link in the current directory.
fn makes_link(scan: &Scan, reading: &mut Reading) {
    let ([(index, target)], false) = (scan.operands.as_slice(), scan.has("-t")) else { return };
    reading.uses.retain(|each| each.role != Role::PutTo);
    reading.uses(Role::Read, target);
    match target.text().map(|text| text.trim_end_matches('/')) {
        Some(text) => {
            let name = text.rsplit('/').next().unwrap_or(text);
            reading.uses(Role::PutTo, &Arg::literal(name, target.span));
        }
        None => reading.unexplained(Cause::DynamicPath, target.display(), Some(*index)),
    }
}

/// `date +%F`: a name without `/`, or a number.
fn date_format(scan: &Scan, reading: &mut Reading) {
    let format = scan.given("+TEXT").last();
    let Some(format) = format.and_then(|found| found.value.as_ref()).and_then(Arg::text) else { return };
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '%' | '-' | '_' | '.' | ':');
    let slashes = ["%D", "%x", "%c", "%n", "%t", "%r", "%z", "%p", "%-", "%_", "%e", "%h", "%b", "%B"];
    if format == "%s" {
        reading.output = Output::Number;
    } else if format.starts_with(['%'])
        && format.chars().all(plain)
        && !slashes.iter().any(|each| format.contains(each))
    {
        reading.output = Output::Name;
    }
}

/// Settings whose value cannot name a program.
const PLAIN: &[&str] = &[
    "color.",
    "advice.",
    "column.",
    "log.date",
    "log.decorate",
    "log.showsignature=false",
    "status.",
    "core.quotepath",
    "core.abbrev",
    "diff.renames",
    "diff.renamelimit",
    "diff.noprefix",
    "diff.mnemonicprefix",
    "diff.context",
    "diff.algorithm",
    "diff.colormoved",
    "diff.wserrorhighlight",
    "grep.linenumber",
    "grep.column",
    "grep.extendedregexp",
    "grep.patterntype",
    "user.name",
    "user.email",
    "commit.gpgsign=false",
    "tag.gpgsign=false",
    "core.fsmonitor=false",
    "core.hookspath=/dev/null",
    "init.defaultbranch",
    "core.precomposeunicode",
    "gc.auto=0",
    "i18n.",
    "blame.",
    "core.autocrlf",
    "core.safecrlf",
    "core.filemode",
    "core.pager=",
    "core.pager=cat",
    "core.pager=less",
    "core.editor=true",
    "core.editor=:",
    "submodule.recurse",
    "protocol.version",
];

/// `git log --format=%G?`: a signature is shown to the program that checks it. A name may stand for such a
/// format in the settings, which are looked at for themselves.
pub(super) fn git_format(format: &Arg, reading: &mut Reading) {
    if format.text().is_none_or(|text| text.contains("%G") || text.contains("signature")) {
        reading.executes_settings.extend(["gpg.program".to_owned(), "gpg.*.program".to_owned()]);
    }
}

/// `git -c KEY=VALUE`.
pub(super) fn git_setting(text: &str) -> Result<(), Refusal> {
    let (key, value) = text.split_once('=').unwrap_or((text, "true"));
    let key = key.to_ascii_lowercase();
    let pager =
        key.starts_with("pager.") && matches!(value, "cat" | "less" | "" | "true" | "false" | "0" | "1");
    let plain = PLAIN.iter().any(|each| match each.split_once('=') {
        Some((name, wanted)) => name == key && wanted == value,
        None if each.ends_with('.') => key.starts_with(each),
        None => *each == key,
    });
    if plain || pager { Ok(()) } else { Err((Cause::ExecutingEnvironment, text.to_owned())) }
}
