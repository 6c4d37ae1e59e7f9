//! Daemons that start a login shell: sshd, su, cron. Each is our own, in namespaces of its own (`servers.sh`),
//! with keys and tables of users that last as long as the test.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::place::{Place, Shell, find, same_names};

/// What every namespace begins with; without them nothing is tried.
const OWN: [&str; 6] = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

const SSHD: &str = "\
Port 2222
ListenAddress 127.0.0.1
HostKey PLACE/kept/host
AuthorizedKeysFile PLACE/kept/authorized
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
PrintMotd no
PrintLastLog no
Subsystem sftp /usr/lib/openssh/sftp-server
";

const CLIENT: &str = "\
Host *
  HostName 127.0.0.1
  Port 2222
  User root
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
Host forced
  IdentityFile PLACE/kept/forced
Host *
  IdentityFile PLACE/kept/plain
";

/// `%` begins standard input. Standard output is a file of cron's that has no name any more.
const CRONTAB: &str = "\
SHELL=SHELL_HERE
HOME=HOME_HERE
MAILTO=\"\"
@reboot cd WORK_HERE; echo one > cron-1.out; ls cron-1.out >> cron-1.out; touch cron-1.over; exit 3
@reboot cat > WORK_HERE/cron-2.out; touch WORK_HERE/cron-2.over%first%second
@reboot env | grep -v -e '^GSH_' -e '^_=' | sort > WORK_HERE/cron-3.out; touch WORK_HERE/cron-3.over
@reboot ls /proc/self/fd > WORK_HERE/cron-4.out; test -t 0; echo $? >> WORK_HERE/cron-4.out; touch WORK_HERE/cron-4.over
@reboot (sleep 0.1; echo late >> WORK_HERE/cron-5.out) & echo early > WORK_HERE/cron-5.out; wait; touch WORK_HERE/cron-5.over
";

fn prepared(place: &Place, texts: &[&str]) {
    let text = |template: &str| template.replace("PLACE", &place.root());
    for (name, content) in [
        ("sshd_config", text(SSHD)),
        ("ssh_config", text(CLIENT)),
        ("texts", texts.join("\n") + "\n"),
        ("crontab", CRONTAB.to_owned()),
        ("servers.sh", include_str!("servers.sh").to_owned()),
    ] {
        place.write(&format!("kept/{name}"), &content);
    }
    let forced = "command=\"echo forced; echo \\\"$SSH_ORIGINAL_COMMAND\\\"; test -t 0; echo $?\"";
    let [_, plain, restricted] = ["host", "plain", "forced"].map(|name| key(place, name));
    place.write("kept/authorized", &format!("{plain}{forced} {restricted}"));
    if !place.at("kept/repository").exists() {
        repository(place);
    }
}

/// A pair of keys of this name; the public one.
fn key(place: &Place, name: &str) -> String {
    let file = place.text_at(&format!("kept/{name}"));
    if !std::path::Path::new(&file).exists() {
        let mut command = place.command("ssh-keygen");
        let made = place.run(command.args(["-q", "-t", "ed25519", "-N", "", "-f", &file]), "");
        assert_eq!(made.status, "0", "{made:?}");
    }
    std::fs::read_to_string(file + ".pub").expect("a key")
}

/// One to clone, with one empty commit.
fn repository(place: &Place) {
    let make = "git init -q --bare \"$1\" && git -C \"$1\" update-ref refs/heads/main \
                $(git -C \"$1\" commit-tree -m one $(git -C \"$1\" mktree </dev/null))";
    let mut command = place.command("bash");
    for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{name}_NAME"), "a").env(format!("{name}_EMAIL"), "a@example.invalid");
    }
    let made = place.run(command.args(["-c", make, "make", &place.text_at("kept/repository")]), "");
    assert_eq!(made.status, "0", "{made:?}");
}

/// What all calls left to be seen.
fn served(place: &Place, shell: Shell<'_>, calls: &str, texts: &[&str]) -> BTreeMap<String, String> {
    place.fresh(shell);
    prepared(place, texts);
    let mut command = place.command("unshare");
    command.args(OWN).args(["bash", &place.text_at("kept/servers.sh"), &place.root(), calls]);
    let run = place.run(&mut command, "");
    assert_eq!((run.status.as_str(), run.stderr.as_str()), ("0", ""), "{run:?}");
    place.files().into_iter().map(|(name, text)| (name, same_names(&text))).collect()
}

/// Whether it can be tried here; why not is said aloud.
fn can(needs: &[&str]) -> bool {
    let place = Place::new();
    let missing: Vec<_> = needs.iter().filter(|need| find(need).is_none()).collect();
    place.fresh(Shell::Bash);
    let own =
        missing.is_empty() && place.run(place.command("unshare").args(OWN).arg("true"), "").status == "0";
    if !own {
        println!("\n**** {needs:?} SKIPPED: not installed: {missing:?}, or no namespaces of our own ****\n");
    }
    own
}

/// Compares all that can be seen; what it was, where it could be tried.
fn compared(calls: &str, needs: &[&str]) -> Option<BTreeMap<String, String>> {
    if !can(needs) {
        return None;
    }
    let place = Place::new();
    let bash = served(&place, Shell::Bash, calls, &super::TEXTS);
    let gsh = served(&place, Shell::Gsh(super::BYPASS), calls, &super::TEXTS);
    let mut wrong = String::new();
    for name in bash.keys().chain(gsh.keys().filter(|name| !bash.contains_key(*name))) {
        if bash.get(name) != gsh.get(name) {
            let _ = writeln!(wrong, "{name}: bash {:?}\n    gsh {:?}", bash.get(name), gsh.get(name));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let first = bash.iter().find(|(name, _)| name.ends_with("-1.out")).map(|(_, text)| text.as_str());
    assert!(first.is_some_and(|text| text.starts_with("one\n")), "it was tried: {bash:?}");
    Some(gsh)
}

/// What is copied by way of the login shell runs this.
const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";
const FOR_SSH: [&str; 9] = ["unshare", "ip", "ssh", "sshd", "ssh-keygen", "scp", "sftp", "git", SFTP_SERVER];

#[test]
fn sshd_does_with_gsh_what_it_does_with_bash() {
    let Some(seen) = compared("ssh", &FOR_SSH) else { return };
    for name in ["cat", "forced", "scp", "scp-to", "scp-from", "sftp", "git", "clone"] {
        assert_eq!(seen[&format!("/{name}.status")], "0\n", "{name}: {seen:?}");
    }
    assert_eq!(seen["/forced.out"], "forced\nanything else\n1\n");
    assert!(seen["/git.out"].ends_with("\trefs/heads/main\n"), "{seen:?}");
    for copy in ["by-scp", "by-old-scp", "by-old-scp-2", "by-sftp"] {
        assert_eq!(seen[&format!("/{copy}")], "one\ntwo\n", "{copy}");
    }
}

#[test]
fn su_does_with_gsh_what_it_does_with_bash() {
    compared("su", &["unshare", "ip", "su", "ssh-keygen", "git"]);
}

#[test]
fn cron_does_with_gsh_what_it_does_with_bash() {
    let Some(seen) = compared("cron", &["unshare", "ip", "cron", "ssh-keygen", "git"]) else { return };
    assert_eq!(seen["/cron-2.out"], "first\nsecond\n", "what stands behind % is its input");
}

#[test]
fn through_sshd_and_su_reading_is_silent_and_what_is_refused_says_so() {
    if !can(&FOR_SSH) || !can(&["su"]) {
        return;
    }
    let place = Place::new();
    let texts =
        ["ls made-before; wc -l < made-before", "touch ran; gsh-test-unknown", "touch ran; gsh-canary-deny"]
            .map(|text| format!("cd {}; {text}", place.text_at("work")));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let seen = served(&place, Shell::Gsh(super::DEFAULT), "ssh,su", &texts);
    let part = |name: String| seen.get(&format!("/{name}")).map_or("", String::as_str);
    for way in ["ssh", "ssh-t", "ssh-stdin", "su", "su-login"] {
        let [out, err] = ["out", "err"].map(|end| part(format!("{way}-1.{end}")));
        assert_eq!((out.replace('\r', "").as_str(), err), ("made-before\n2\n", ""), "{way}");
        for (number, word) in [(2, "gsh-test-unknown"), (3, "canary")] {
            let [out, err, status] =
                ["out", "err", "status"].map(|end| part(format!("{way}-{number}.{end}")));
            assert_eq!(status, "126\n", "{way} {number}: {out}{err}");
            assert!(format!("{out}{err}").contains(word), "{way}: {out}{err}");
        }
    }
    assert!(!seen.contains_key("/ran"), "{:?}", seen.keys());
}
