//! Secrets that are words of a command: behind an option that names one, or where a program takes one.

use std::ops::Range;

use super::names::{Strength, is_harmless, is_random, is_very_random, strength};

/// A word with its place.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    /// Without its quotes.
    pub(super) text: String,
    /// Where it stands, quotes included.
    pub(super) place: Range<usize>,
}

/// Words up to an operator.
#[derive(Debug, Default)]
struct Command {
    words: Vec<Word>,
    /// It reads what the one before prints.
    piped: bool,
    /// The word behind `<<<`.
    here: Option<Word>,
}

/// How an option of a program carries a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carries {
    /// It is the next word.
    Next,
    /// It is the next word, or the rest of this one.
    Either,
    /// It follows at once (`-pSECRET`); a word of its own is none.
    Attached,
    /// What follows `:` or `%` in the next word.
    User,
}

/// Programs, an option of theirs that has no telling name, and how it carries the secret.
const OPTIONS: &[(&[&str], &str, Carries)] = &[
    (&["curl"], "-u", Carries::User),
    (&["curl"], "--user", Carries::User),
    (&["curl"], "-U", Carries::User),
    (&["curl"], "--proxy-user", Carries::User),
    (&["curl"], "-b", Carries::Next),
    (&["curl"], "--oauth2-bearer", Carries::Next),
    (&["http", "https", "xh"], "-a", Carries::User),
    (
        &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump"],
        "-p",
        Carries::Attached,
    ),
    (&["redis-cli"], "-a", Carries::Next),
    (&["mongo", "mongosh", "mongodump", "mongorestore", "sshpass", "az"], "-p", Carries::Either),
    (&["docker", "podman", "nerdctl", "helm", "skopeo", "oras", "crane", "buildah"], "-p", Carries::Next),
    (&["mosquitto_pub", "mosquitto_sub", "sqlcmd", "bcp", "zip", "unzip"], "-P", Carries::Either),
    (&["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "security"], "-w", Carries::Next),
    (&["smbclient", "rpcclient"], "-U", Carries::User),
    (&["7z", "7za", "unrar", "rar"], "-p", Carries::Attached),
    (&["openssl"], "-k", Carries::Next),
    (&["openssl"], "-K", Carries::Next),
    (&["gh"], "-b", Carries::Either),
    (&["gh"], "--body", Carries::Next),
    (&["az", "doppler", "infisical"], "--value", Carries::Next),
    (&["doctl"], "-t", Carries::Next),
    (&["ssh-keygen"], "-N", Carries::Next),
    (&["ssh-keygen"], "-P", Carries::Next),
    (&["lftp"], "-u", Carries::User),
    (&["kubectl"], "--from-literal", Carries::Next),
    (&["aws"], "--secret-string", Carries::Next),
    (&["impacket-psexec"], "-hashes", Carries::Next),
];

/// These options carry a secret only behind this word.
const NEEDS: &[(&str, &str, &str)] = &[
    ("docker", "-p", "login"),
    ("podman", "-p", "login"),
    ("nerdctl", "-p", "login"),
    ("helm", "-p", "login"),
    ("skopeo", "-p", "login"),
    ("oras", "-p", "login"),
    ("crane", "-p", "login"),
    ("buildah", "-p", "login"),
    ("az", "-p", "login"),
    ("gh", "-b", "secret"),
    ("gh", "--body", "secret"),
    ("az", "--value", "secret"),
    ("kubectl", "--from-literal", "secret"),
    ("doctl", "-t", "auth"),
];

/// Words behind which a name and its value stand as two words.
const SETTERS: &[&str] =
    &["set", "add", "put", "login", "create", "config", "configure", "export", "setx", "write", "modify"];

/// Where they stand, also in the texts that words are.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    within(text, 0, 0, found);
}

fn within(text: &str, offset: usize, depth: usize, found: &mut Vec<Range<usize>>) {
    let commands = commands(text);
    for (index, command) in commands.iter().enumerate() {
        let mut ranges = of_words(&command.words);
        if is_sink(&command.words) {
            let before = index.checked_sub(1).filter(|_| command.piped).and_then(|index| commands.get(index));
            ranges.extend(before.into_iter().flat_map(|before| printed(&before.words)));
            ranges.extend(command.here.iter().map(|word| word.place.clone()));
        }
        found.extend(ranges.into_iter().map(|range| range.start + offset..range.end + offset));
        // A word that holds blanks may be a text for a shell.
        for word in command.words.iter().filter(|word| depth < 3 && word.text.contains(' ')) {
            let quote = |c: char| matches!(c, '"' | '\'' | '$' | '\\');
            let raw = text.get(word.place.clone()).unwrap_or_default();
            let inner = raw.trim_start_matches(quote);
            let start = word.place.start + raw.len() - inner.len();
            let inner = inner.trim_end_matches(['"', '\'']);
            if inner.len() < text.len() {
                within(inner, offset + start, depth + 1, found);
            }
        }
    }
}

/// What words of one command are secrets.
pub(super) fn of_words(words: &[Word]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1);
        let before = words.get(..index).unwrap_or_default();
        if let Some(next) = next.filter(|next| is_named(before, &word.text, &next.text)) {
            found.push(next.place.clone());
        }
        found.extend(by_option(words, index));
        if word.text.starts_with("pass:") && before.iter().any(|word| base(&word.text) == "openssl") {
            found.push(word.place.start + 5..word.place.end);
        }
    }
    found.extend(operand(words));
    found
}

/// Whether `name` says that the word behind it is a secret.
fn is_named(before: &[Word], name: &str, value: &str) -> bool {
    if before.is_empty() && !name.starts_with('-') || name.contains(['=', ' ']) {
        return false;
    }
    let Some(strength) = strength(name) else { return false };
    let option = name.starts_with('-');
    if value.starts_with('-') && !is_random(value) || is_harmless(value, strength) || value.starts_with("id=")
    {
        return false;
    }
    let sets = before
        .iter()
        .any(|word| SETTERS.iter().any(|setter| word.text.split(':').next_back() == Some(setter)));
    match (option, strength) {
        (true, Strength::Strong) => true,
        (true, Strength::Weak) => is_very_random(value),
        (false, _) => is_very_random(value) || sets && is_random(value),
    }
}

/// A secret that the option at `index` carries for a program before it.
fn by_option(words: &[Word], index: usize) -> Option<Range<usize>> {
    let word = words.get(index)?;
    let next = words.get(index + 1);
    let before = words.get(..index)?;
    let (_, option, carries) = OPTIONS.iter().find(|(programs, option, carries)| {
        let attached =
            matches!(carries, Carries::Attached | Carries::Either) && word.text.starts_with(option);
        let joined = option.starts_with("--")
            && word.text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
        let program = before.iter().map(|word| base(&word.text)).find(|base| programs.contains(base));
        let said = program.is_some_and(|program| {
            let needed = NEEDS.iter().find(|(of, with, _)| *of == program && with == option);
            needed.is_none_or(|(_, _, needed)| before.iter().any(|word| word.text == *needed))
        });
        said && (attached || joined || word.text == *option)
    })?;
    let own = word.place.start + option.len()..word.place.end;
    let taken = |word: &Word| (!is_harmless(&word.text, Strength::Strong)).then(|| word.place.clone());
    match carries {
        Carries::Next if word.text.len() > option.len() => Some(own.start + 1..own.end),
        Carries::Attached | Carries::Either if word.text.len() > option.len() => {
            let rest = word.text.get(option.len()..)?;
            (!is_harmless(rest, Strength::Strong)).then_some(own)
        }
        Carries::Attached => None,
        Carries::Next | Carries::Either => next.and_then(taken),
        Carries::User => {
            let (place, text, from) =
                match word.text.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
                    Some(value) => (word.place.clone(), value, option.len() + 1),
                    None => (next?.place.clone(), next?.text.as_str(), 0),
                };
            let at = text.find([':', '%', ','])?;
            let secret = text.get(at + 1..)?;
            // Where quotes stand the place of the sign is not known: then the whole word goes.
            let plain = place.len() == text.len() + from;
            let start = if plain { place.start + from + at + 1 } else { place.start + from };
            (!is_harmless(secret, Strength::Strong)).then_some(start..place.end)
        }
    }
}

/// A secret that is an operand by its place.
fn operand(words: &[Word]) -> Option<Range<usize>> {
    let names: Vec<&str> = words.iter().map(|word| base(&word.text)).collect();
    let at = |name: &str| names.iter().position(|each| *each == name);
    let secret = if let Some(start) = at("htpasswd") {
        let batch = names.iter().skip(start).any(|word| word.starts_with('-') && word.contains('b'));
        words.last().filter(|_| batch && words.len() > start + 3)
    } else if let Some(start) = at("wpa_passphrase") {
        words.get(start + 2)
    } else if names.windows(2).any(|pair| pair == ["vault", "login"]) {
        words.last().filter(|word| is_random(&word.text) && !word.text.starts_with('-'))
    } else {
        None
    };
    secret.filter(|word| !is_harmless(&word.text, Strength::Strong)).map(|word| word.place.clone())
}

/// Whether a command reads a secret from its input.
fn is_sink(words: &[Word]) -> bool {
    let has = |text: &str| words.iter().any(|word| word.text == text);
    let names = |name: &str| words.iter().any(|word| base(&word.text) == name);
    has("--password-stdin")
        || has("--with-token")
        || has("--passphrase-fd")
        || names("chpasswd")
        || names("passwd")
        || names("cryptsetup")
        || names("sudo") && words.iter().any(|word| word.text == "-S" || word.text == "--stdin")
        || names("secret-tool")
        || (names("gh") || names("wrangler")) && has("secret")
        || names("vercel") && has("env")
}

/// What `echo` and `printf` print.
fn printed(words: &[Word]) -> Vec<Range<usize>> {
    let prints = words.first().is_some_and(|word| matches!(base(&word.text), "echo" | "printf"));
    let operands = words.iter().skip(1).filter(|word| {
        prints
            && !matches!(word.text.as_str(), "-n" | "-e" | "%s" | "%s\\n")
            && !is_harmless(&word.text, Strength::Strong)
    });
    operands.map(|word| word.place.clone()).collect()
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// A text as commands of words, whatever it is: quotes join, operators part.
fn commands(text: &str) -> Vec<Command> {
    let (mut all, mut command, mut word) = (Vec::new(), Command::default(), None::<Word>);
    let (mut quote, mut escaped, mut angles) = (None::<char>, false, 0);
    let mut is_here = false;
    for (at, letter) in text.char_indices() {
        let ends = quote.is_none() && !escaped && (letter.is_whitespace() || ";|&()<>".contains(letter));
        if ends {
            if let Some(mut done) = word.take() {
                done.place.end = at;
                let opened = text.get(..done.place.start).is_some_and(|head| head.ends_with('<'));
                if letter == '>' && opened {
                    // A place for something, in a line that explains.
                    done.text = format!("<{}>", done.text);
                }
                if std::mem::take(&mut is_here) {
                    command.here = Some(done)
                } else {
                    command.words.push(done)
                }
            }
            angles = if letter == '<' {
                angles + 1
            } else if letter == ' ' {
                angles
            } else {
                0
            };
            if angles >= 3 {
                (is_here, angles) = (true, 0);
            }
            if ";|&()\n".contains(letter) {
                all.push(std::mem::take(&mut command));
                command.piped = letter == '|';
            }
            continue;
        }
        angles = 0;
        let word = word.get_or_insert_with(|| Word { text: String::new(), place: at..at });
        match (letter, quote) {
            _ if escaped => {
                word.text.push(letter);
                escaped = false;
            }
            ('\\', None | Some('"')) => escaped = true,
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => word.text.push(letter),
        }
    }
    if let Some(mut done) = word {
        done.place.end = text.len();
        if is_here { command.here = Some(done) } else { command.words.push(done) }
    }
    all.push(command);
    all
}
