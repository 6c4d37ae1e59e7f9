//! Programs that mostly read, abused: by an option, a variable or an operand they run, load, write, send or
//! show something. The lines are decided in process on a machine that is a table; nothing is ever executed.

use crate::common::cases::rows;
use crate::common::fixture;
use gsh::policy::{Capability, Verdict};

/// Lines that are silent for a reason.
const HARMLESS: &[(&str, &str)] =
    &[("git remote show evil", "the name of a configured remote, or of nothing")];

/// Lines that are silent and should not be.
const PENDING: &[&str] = &[
    "podman --runtime=/tmp/p ps",
    "podman --conmon /tmp/p ps",
    "podman --hooks-dir=/tmp/h ps",
    "podman --network-cmd-path=/tmp/p info",
    "kubectl --kubeconfig=/tmp/evil get pods",
    "kubectl --kubeconfig /tmp/evil version",
    "gcc -B/tmp/evil -E a.c",
    "actionlint -shellcheck=/tmp/p",
    "pyright --pythonpath /tmp/p",
    "buf lint --config '{\"plugins\":[{\"plugin\":\"/tmp/p\"}]}'",
    "c++ -wrapper /tmp/p -fsyntax-only a.cc",
    "hg -R /tmp/evil log",
    "jj log --config-file=/tmp/c",
    "jj -R /tmp/evil log",
    "mypy --python-executable=/tmp/p .",
    "rclone --password-command=/tmp/p lsd x:",
    "terraform validate",
    "cc -specs=/tmp/s -E a.c",
    "clang --config /tmp/c -fsyntax-only a.c",
    "clang --config=/tmp/c -E a.c",
    "gcc -wrapper /tmp/p -E a.c",
    "g++ -B /tmp/evil -fsyntax-only a.cc",
    "pyright --pythonpath=/tmp/p src",
    "mypy --python-executable /tmp/p src",
    "actionlint -pyflakes=/tmp/p",
    "rclone lsd x: --password-command '/tmp/p a'",
    "rclone --config=/tmp/c lsd x:",
    "kubectl get po --kubeconfig=/tmp/evil",
    "kubectl --kubeconfig=/tmp/evil describe po x",
    "docker --config=/tmp/evil images",
    "podman --runtime /tmp/p info",
    "podman --conmon=/tmp/p info",
    "podman --hooks-dir /tmp/h images",
    "podman --storage-opt=overlay.mount_program=/tmp/p images",
    "podman --storage-opt overlay.mount_program=/tmp/p ps",
    "hg --cwd /tmp/evil log",
    "hg --repository=/tmp/evil status",
    "hg -R/tmp/evil diff",
    "jj --repository /tmp/evil log",
    "helm list --kubeconfig=/tmp/evil",
    "helm list --kubeconfig /tmp/evil",
    "go list -m -versions evil.example/x",
    "docker manifest inspect evil.example/x",
    "docker buildx imagetools inspect evil.example/x",
    "podman search evil.example/",
    "skopeo inspect docker://evil.example/x",
    "node --require=/tmp/x.js --check a.js",
    "docker --config /tmp/evil ps",
    "docker --config=/tmp/evil version",
    "gcc -fplugin=/tmp/e.so -E a.c",
    "nm --plugin=/tmp/e.so a.o",
    "getent -s x/evil passwd root",
    "getent -s passwd:x/evil passwd root",
    "getent --service=./evil hosts x",
    "cc -fplugin=/tmp/e.so -fsyntax-only a.c",
    "clang -fplugin=/tmp/e.so -fsyntax-only a.c",
    "clang-tidy -load=/tmp/e.so a.c",
    "cloc --config /tmp/c .",
    "flake8 --config=/tmp/evil.cfg .",
    "flake8 --append-config /tmp/e .",
    "golangci-lint run -c /tmp/evil.yml",
    "keytool -list -providerpath /tmp -providerclass E",
    "ktlint -R /tmp/e.jar",
    "llvm-nm --plugin=/tmp/e.so a.o",
    "ar --plugin /tmp/e.so t x.a",
    "nm --plugin /tmp/e.so x.a",
    "gcc-nm --plugin=/tmp/e.so x.a",
    "markdownlint -r /tmp/evil.js .",
    "markdownlint -c /tmp/evil.js .",
    "markdownlint-cli2 --config /tmp/x.markdownlint-cli2.cjs",
    "php-cs-fixer fix --dry-run --config=/tmp/evil.php",
    "pylint --load-plugins=evil a.py",
    "rubocop -r /tmp/x.rb",
    "rubocop -c /tmp/evil.yml",
    "rubocop --plugin evil",
    "php -d extension=/tmp/e.so -l a.txt",
    "php -dzend_extension=/tmp/e.so -l a.txt",
    "php -c /tmp/php.ini -l a.txt",
    "php -n -d extension=/tmp/e.so --syntax-check a.txt",
    "clang -fpass-plugin=/tmp/e.so -fsyntax-only a.c",
    "g++ -fplugin=/tmp/e.so -E a.cc",
    "node -r /tmp/x.js -c a.js",
    "node --import=/tmp/x.mjs --check a.js",
    "node --check --experimental-loader=/tmp/x.mjs a.mjs",
    "pylint --load-plugins evil src",
    "flake8 --config /tmp/evil.cfg src",
    "rubocop --require /tmp/x.rb src",
    "rubocop --config=/tmp/evil.yml src",
    "podman --module=/tmp/c ps",
    "gh pr list -R evil.example/a/b",
    "gh repo view https://evil.example/a/b",
    "gh issue view 1 --repo=evil.example/a/b",
    "php -d error_log=/root/x -d log_errors=1 -l a.txt",
    "apt-cache -p /root/x search y",
    "apt-cache --pkg-cache=/root/x dump",
    "apt-cache -s /root/x search y",
    "apt-cache --src-cache a.txt stats",
    "rpm -qa --dbpath=/root/x",
    "mariadb-dump --tab=/root x",
    "mysqldump --tab=/root x",
    "podman --runtime-flag=log=/root/x ps",
    "mariadb-dump -T /root x",
];

#[test]
fn no_abuse_is_silent() {
    let (mut host, policy) = (fixture::host(), crate::common::builtin_policy());
    host.add(std::path::Path::new("/proc/1/environ"), gsh::host::Node::File);
    let rows = rows(include_str!("cases/abuse.txt"));
    let (mut silent, mut known, mut pending) = (Vec::new(), 0, 0);
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        // A write in the project is allowed, and seen.
        let writes =
            decision.requests.iter().any(|each| each.request.capability == Capability::FileWriteProject);
        if decision.verdict >= Verdict::Ask || writes {
            continue;
        }
        if HARMLESS.iter().any(|(text, _)| *text == row.command) {
            known += 1;
        } else if PENDING.contains(&row.command.as_str()) {
            pending += 1;
        } else {
            silent.push(format!("{}\t{}", row.kind, row.command));
        }
    }
    println!(
        "abuse: {} rows, {known} known to be silent, {pending} pending, {} silent",
        rows.len(),
        silent.len()
    );
    assert_eq!(known, HARMLESS.len(), "a listed line asks by now: take it off the list");
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// A secret of the environment is printed by its name alone.
#[test]
fn printing_a_secret_of_the_environment_asks() {
    let (mut host, policy) = (fixture::host(), crate::common::builtin_policy());
    host.vars.insert("DEPLOY_TOKEN".to_owned(), "t0p".to_owned());
    host.vars.insert("STAGE".to_owned(), "test".to_owned());
    for (text, expected) in [
        ("echo \"$DEPLOY_TOKEN\"", Verdict::Ask),
        ("echo ${DEPLOY_TOKEN:0:2} x", Verdict::Ask),
        ("printf '%s' \"${DEPLOY_TOKEN:-none}\"", Verdict::Ask),
        ("echo a && echo b=$DEPLOY_TOKEN", Verdict::Ask),
        ("printenv DEPLOY_TOKEN", Verdict::Ask),
        ("echo \"${DEPLOY_TOKEN:+set}\" ${#DEPLOY_TOKEN}", Verdict::Allow),
        ("[ -n \"$DEPLOY_TOKEN\" ] && echo set", Verdict::Allow),
        ("DEPLOY_TOKEN=; echo \"$DEPLOY_TOKEN\"", Verdict::Allow),
        ("echo '$DEPLOY_TOKEN' \"$STAGE\" \"$OTHER_TOKEN\"", Verdict::Allow),
        ("printenv STAGE", Verdict::Allow),
    ] {
        assert_eq!(fixture::decide_on(&host, &policy, text).verdict, expected, "{text}");
    }
}
