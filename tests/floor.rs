//! The floor as a product: every entry, in every form of its target, in every spelling; and beside
//! each a near miss that must not be a floor verdict.

use std::collections::BTreeMap;

use crate::common::fixture;
use gsh::policy::Verdict;

/// One simple command, its words apart so that each can be spelled in many ways.
struct Danger {
    entry: &'static str,
    words: Vec<String>,
}

fn dangers() -> Vec<Danger> {
    let homes = [
        "~",
        "$HOME",
        "\"$HOME\"",
        "${HOME}",
        "/home/dev",
        "~/",
        "~/*",
        "/home",
        "~dev",
        "/home/./dev",
        "~/proj/..",
    ];
    let systems = ["/", "/*", "/etc", "/usr", "/var/", "//", "/home/../etc", "/bin"];
    let mut found = Vec::new();
    let mut add = |entry: &'static str, text: &str| {
        found.push(Danger { entry, words: text.split(' ').map(str::to_owned).collect() });
    };
    for target in homes.iter().chain(&systems) {
        for form in ["rm -rf @", "rm -r -f -- @", "rm --recursive --force @", "rm @ -fR", "find @ -delete"] {
            add("delete-root", &form.replace('@', target));
        }
        add("open-root", &"chmod -R 777 @".replace('@', target));
        add("open-root", &"chown -R nobody @".replace('@', target));
    }
    for target in ["~", "/home/dev", "/etc", "/usr"] {
        add("delete-root", &"mv @ /tmp/gone".replace('@', target));
        add("delete-root", &"find @ -exec rm -rf {} +".replace('@', target));
        add("delete-root", &"rsync -a --delete /var/empty/ @/".replace('@', target));
    }
    for device in ["/dev/sda", "/dev/nvme0n1", "/dev/../dev/sda", "/dev/disk/by-id/x"] {
        for form in [
            "dd if=/dev/zero of=@",
            "mkfs.ext4 @",
            "mkfs -t ext4 @",
            "wipefs -a @",
            "shred @",
            "tee @",
            "cp x.img @",
        ] {
            add("wipe-device", &form.replace('@', device));
        }
    }
    for file in ["/etc/passwd", "/etc/shadow", "/etc/sudoers", "/boot/vmlinuz", "/bin/sh"] {
        for form in ["truncate -s 0 @", "rm -f @", "cp /dev/null @", "tee @", "mv @ /tmp/x"] {
            add("system-file", &form.replace('@', file));
        }
    }
    add("system-file", "userdel -r dev");
    for text in [
        "shutdown -h now",
        "reboot",
        "halt",
        "poweroff",
        "init 0",
        "init 6",
        "systemctl poweroff",
        "systemctl reboot",
    ] {
        add("power", text);
    }
    for text in [
        "git push --force origin main",
        "git push -f origin master",
        "git push origin +main",
        "git push origin :main",
        "git push origin --delete main",
        "git push --mirror",
        "git push --force --all",
        "git push -uf origin main",
        "git push origin +HEAD:main",
        "git push origin +HEAD:refs/heads/main",
        "git -C . push -f origin main",
        "git push origin +refs/heads/*:refs/heads/*",
        "git --no-pager push -f origin feature:main",
    ] {
        add("force-push-main", text);
    }
    for text in ["kill -9 -1", "kill -KILL -- -1", "kill -s KILL -1", "killall5 -9"] {
        add("kill-all", text);
    }
    for text in ["gsh-canary-deny", "gsh-canary-deny --any word"] {
        add("canary", text);
    }
    for text in [
        "rm -rf ~/.config/gsh",
        "rm ~/.config/gsh/config.toml",
        "tee ~/.config/gsh/config.toml",
        "gsh trust",
        "sed -i s/a/b/ ~/.config/gsh/config.toml",
        "rm -r ~/.local/state/gsh",
    ] {
        add("disarm", text);
    }
    found
}

/// Spellings of the words of one simple command.
fn spelled(words: &[String]) -> Vec<(&'static str, String)> {
    let plain = words.join(" ");
    // Words that bash expands keep their form; the others can be quoted.
    let each = |quote: &dyn Fn(&str) -> String| -> String {
        let fixed = |word: &str| word.contains(['$', '~', '*', '"', '{', '\'']);
        let words: Vec<String> =
            words.iter().map(|word| if fixed(word) { word.clone() } else { quote(word) }).collect();
        words.join(" ")
    };
    let first = &words[0];
    let rest = words[1..].join(" ");
    let mut all = vec![
        ("plain", plain.clone()),
        ("single quotes", each(&|word| format!("'{word}'"))),
        ("double quotes", each(&|word| format!("\"{word}\""))),
        ("backslash", format!("\\{plain}")),
        ("split quotes", format!("{}''{} {rest}", &first[..1], &first[1..])),
        (
            "dollar quotes",
            each(&|word| {
                format!("$'{}'", word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>())
            }),
        ),
        ("line continuation", format!("{first} \\\n {rest}")),
        ("variable command", format!("c={first}; $c {rest}")),
        ("variable default", format!("${{unset_name:-{first}}} {rest}")),
        ("assignment first", format!("A=1 {plain}")),
        ("redirection first", format!("</dev/null {plain}")),
        ("redirection last", format!("{plain} 2>/dev/null")),
    ];
    if words.len() > 1 && !plain.contains(['$', '~', '*', '"', '\'', ',', '{']) {
        all.push(("braces", format!("{{{}}}", words.join(","))));
    }
    all
}

/// Spellings around a simple command.
fn prefixed(text: &str) -> Vec<(&'static str, String)> {
    vec![
        ("env", format!("env {text}")),
        ("env -i", format!("env -i HOME=/home/dev {text}")),
        ("sudo", format!("sudo {text}")),
        ("sudo -n --", format!("sudo -n -- {text}")),
        ("timeout", format!("timeout 60 {text}")),
        ("nice", format!("nice -n 5 {text}")),
        ("nohup", format!("nohup {text}")),
        ("command", format!("command {text}")),
        ("two wrappers", format!("sudo timeout 5 nice {text}")),
        (
            "many wrappers",
            format!("nice -n 5 ionice -c3 chrt -o 0 taskset 1 stdbuf -o0 setsid -w builtin command {text}"),
        ),
        ("shared words", format!("flock -n -w 5 a.txt unshare -r nsenter -t 1 -m {text}")),
        ("pipeline", format!("true | {text} | cat")),
        ("and", format!("true && {text}")),
        ("negated", format!("! {text}")),
        ("background", format!("{text} &")),
    ]
}

/// Spellings around any text.
fn wrapped(text: &str) -> Vec<(&'static str, String)> {
    let quoted = text.replace('\'', "'\\''");
    vec![
        ("sh -c", format!("sh -c '{quoted}'")),
        ("bash -lc", format!("bash -lc '{quoted}'")),
        (
            "bash -c twice",
            format!(
                "bash -c \"sh -c '{}'\"",
                quoted.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$")
            ),
        ),
        ("eval", format!("eval '{quoted}'")),
        ("here-document", format!("sh <<'EOF'\n{text}\nEOF")),
        ("here-string", format!("bash <<< '{quoted}'")),
        ("piped to sh", format!("echo '{quoted}' | sh")),
        ("function", format!("f() {{ {text}; }}; f")),
        ("subshell", format!("( {text} )")),
        ("group", format!("{{ {text}; }}")),
        ("substitution", format!("echo \"$( {text} )\"")),
        ("backticks", format!("echo `{}`", text.replace('\\', "\\\\").replace('`', "\\`"))),
        ("after a newline", format!("ls\n{text}")),
        ("after a comment", format!("ls # x\n{text}")),
        ("after a write", format!("echo x > new.txt; {text}")),
        ("if", format!("if true; then {text}; fi")),
        ("loop", format!("for i in 1; do {text}; done")),
        ("trap", format!("trap '{quoted}' EXIT")),
    ]
}

/// Commands that only a text shows: a product of their own with the wrappers.
const TEXTS: &[(&str, &str)] = &[
    ("wipe-device", "cat x > /dev/sda"),
    ("wipe-device", ": >| /dev/sda"),
    ("wipe-device", "echo b > /proc/sysrq-trigger"),
    ("system-file", ": > /etc/passwd"),
    ("system-file", "cat /dev/null > /boot/vmlinuz"),
    ("delete-root", "cd ~ && rm -rf *"),
    ("delete-root", "cd / && rm -rf -- *"),
    ("delete-root", "(cd ~; rm -rf ./*)"),
    ("delete-root", "d=/; rm -rf $d"),
    ("delete-root", "for d in /etc /usr; do rm -rf \"$d\"; done"),
    ("delete-root", "echo ~ | xargs rm -rf"),
    ("delete-root", "while read -r d; do rm -rf \"$d\"; done <<< /home/dev"),
    ("fork-bomb", ":(){ :|:& };:"),
    ("fork-bomb", "bomb() { bomb | bomb & }; bomb"),
    ("disarm", "echo x > ~/.config/gsh/config.toml"),
];

#[test]
fn every_entry_in_every_form_and_spelling() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut texts: Vec<(&str, String, String)> = Vec::new();
    for danger in dangers() {
        for (name, text) in spelled(&danger.words) {
            texts.push((danger.entry, name.to_owned(), text));
        }
        let plain = danger.words.join(" ");
        for (name, text) in prefixed(&plain).into_iter().chain(wrapped(&plain)) {
            texts.push((danger.entry, name.to_owned(), text));
        }
    }
    for (entry, text) in TEXTS {
        texts.push((entry, "text".to_owned(), (*text).to_owned()));
        for (name, text) in wrapped(text) {
            texts.push((entry, name.to_owned(), text));
        }
    }
    for (entry, spelling, text) in &texts {
        let decision = fixture::decide_on(&host, &policy, text);
        let count = counts.entry(entry).or_default();
        match (decision.verdict, decision.floor) {
            (Verdict::Deny, Some(floor)) if *floor == **entry => count.0 += 1,
            (Verdict::Ask, _) => {
                count.1 += 1;
                wrong.push(format!("asked {entry} [{spelling}]: {text:?}: {}", decision.reason));
            }
            (verdict, other) => wrong
                .push(format!("{verdict:?} {other:?} {entry} [{spelling}]: {text:?}: {}", decision.reason)),
        }
    }
    for (entry, (denied, asked)) in &counts {
        println!("{entry}: {denied} denied, {asked} asked");
    }
    println!("{} texts", texts.len());
    for (entry, _) in gsh::policy::floor::ENTRIES {
        assert!(counts.contains_key(entry), "no danger for {entry}");
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), texts.len(), wrong.join("\n"));
}

#[test]
fn near_misses_are_no_floor_verdicts() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let near = [
        "rm -rf ~/tmp/x",
        "rm -rf build",
        "rm -rf ./build/*",
        "rm -rf /tmp/x",
        "rm ~/notes.txt",
        "find . -name '*.o' -delete",
        "find ~/tmp/x -delete",
        "find / -name core -print",
        "rm -rf \"$HOME/tmp/x\"",
        "cd build && rm -rf *",
        "mv ~/notes.txt ~/tmp/",
        "rsync -a --delete src/ build/",
        "dd if=/dev/zero of=./disk.img",
        "mkfs.ext4 ./disk.img",
        "cat x > /dev/null",
        "tee /dev/null",
        "shred a.txt",
        "cp a.txt b.txt",
        "cat /dev/sda",
        "dd if=/dev/sda of=./x.img",
        "truncate -s 0 app.log",
        "cat /etc/passwd",
        "tee -a notes.txt",
        "cp /etc/passwd ./passwd",
        "chmod -R 755 build",
        "chmod 600 ~/.ssh/id_ed25519",
        "chown -R dev src",
        "f() { f2; }; f2() { ls; }; f",
        "systemctl status ssh",
        "systemctl restart web",
        "echo reboot",
        "init_db --force",
        "git push origin main",
        "git push --force origin feature",
        "git push --force-with-lease origin feature",
        "git push origin +feature",
        "git push origin :feature",
        "git push --tags",
        "git push -f",
        "kill -9 1234",
        "kill -0 1",
        "pkill -f server",
        "echo gsh-canary-deny",
        "grep -r gsh-canary-deny .",
        "cat ~/.config/gsh/config.toml",
        "gsh check -c 'ls'",
        "gsh status",
        "ls ~/.config/gsh",
        "echo 'rm -rf /'",
        "git commit -m 'rm -rf ~'",
        "cat <<'EOF'\nrm -rf /\nEOF",
        "ls -la # rm -rf ~",
        "rm -rf ~/tmp/*/x",
    ];
    let mut wrong = Vec::new();
    for text in near {
        let decision = fixture::decide_on(&host, &policy, text);
        if let Some(entry) = decision.floor {
            wrong.push(format!("{entry}: {text}: {}", decision.reason));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
