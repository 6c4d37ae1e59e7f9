//! Programs that start a shell, with gsh as that shell: each does with it what it does with bash, stops at a
//! refusal, and tells of it. Real programs, and harmless texts; what is not installed is skipped aloud.

mod beneath;
mod builds;
mod editors;
mod languages;
mod place;
mod servers;
mod terminals;
mod words;

use std::fmt::Write as _;

use place::{Caller, Place, Seen, Shell};

/// What is tried: one line each. A third of it with each caller, and with GSH_LONG all of it.
const TEXTS: [&str; 16] = [
    "echo one; echo two >&2; echo three",
    "exit 7",
    "printf '%s|' \"a  b\" 'c\"d' \\\\ \"it's\" '$x' '*'; echo",
    "printf made > made.txt; cat made.txt; ls",
    "kill -TERM $$",
    "x=5; for i in 1 2; do echo $((x * i)); done | tail -1",
    "(sleep 0.05; echo late) & echo early; wait",
    "env | grep -v -e '^GSH_' -e '^_=' -e '^PARALLEL' -e '^TMUX' -e '^OLDPWD' | sort",
    "grep -e SigIgn -e SigBlk /proc/self/status",
    "ls /proc/self/fd | tr '\\n' ' '",
    "echo $# \"$-\" \"${0##*/}\"; set -- a 'b c'; echo $# \"$2\"",
    "no-such-program-here; echo $?",
    "umask; ulimit -n; pwd; echo \"$PWD\"",
    "test -t 0; echo $?; test -t 1; echo $?; test -t 2; echo $?",
    "false | true; echo $?; echo \"${unset_name-none}\"",
    "cat > doc.txt <<< 'here $HOME'; wc -c < doc.txt; date +%Y | grep -c '^20'",
];

/// The user's configuration of the passes that compare outputs.
const BYPASS: &str = "mode = \"bypass\"\n";

/// That of the other passes.
const DEFAULT: &str = "# as it comes\n";

fn all() -> Vec<Caller> {
    [
        builds::callers(),
        languages::callers(),
        words::callers(),
        editors::callers(),
        terminals::callers(),
        beneath::callers(),
    ]
    .concat()
}

/// The callers that are installed; the others are named aloud.
fn installed(callers: Vec<Caller>) -> Vec<Caller> {
    let (here, missing): (Vec<_>, Vec<_>) =
        callers.into_iter().partition(|caller| caller.needs.iter().all(|need| place::find(need).is_some()));
    for caller in missing {
        println!("\n**** {} SKIPPED: not installed: {:?} ****\n", caller.name, caller.needs);
    }
    here
}

/// Runs what is to be done with each caller, several at a time; what was found wrong fails the test at its end.
fn each(callers: Vec<Caller>, of: impl Fn(&Caller, &Place) -> String + Sync) {
    let rest = std::sync::Mutex::new(installed(callers));
    let next = || rest.lock().expect("the callers").pop();
    let work = || {
        let mut wrong = String::new();
        while let Some(caller) = next() {
            wrong += &of(&caller, &Place::new());
        }
        wrong
    };
    let wrong: String = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        hands.into_iter().map(|hand| hand.join().expect("it ends")).collect()
    });
    assert!(wrong.is_empty(), "{wrong}");
}

/// The texts of one caller.
fn texts(caller: &Caller) -> impl Iterator<Item = &'static str> {
    let all = std::env::var_os("GSH_LONG").is_some();
    let first = caller.name.len() % 3;
    let texts = TEXTS.iter().enumerate().filter(move |(number, _)| all || number % 3 == first);
    texts.map(|(_, text)| *text).filter(|text| !caller.except.contains(text))
}

fn seen(caller: &Caller, place: &Place, shell: Shell<'_>, text: &str) -> Seen {
    place.fresh(shell);
    let mut seen = (caller.run)(place, text);
    seen.files = place.files();
    seen
}

#[test]
fn what_they_do_with_gsh_is_what_they_do_with_bash() {
    each(all(), |caller, place| {
        let mut wrong = String::new();
        for text in texts(caller) {
            let both = || {
                let bash = seen(caller, place, Shell::Bash, text);
                (bash, seen(caller, place, Shell::Gsh(BYPASS), text))
            };
            let (mut bash, mut gsh) = both();
            if bash != gsh {
                // On a busy machine bash differs from itself now and then: what counts happens twice.
                (bash, gsh) = both();
            }
            if bash != gsh {
                let _ = writeln!(wrong, "{}: {text}\n  bash {bash:?}\n  gsh  {gsh:?}", caller.name);
            }
        }
        wrong
    });
}

/// What is wrong with a refusal as it arrives at the caller: it must look as bash's own end with 126 there.
fn refused(caller: &Caller, place: &Place, config: &str, text: &str, parts: &[&str]) -> String {
    let found = seen(caller, place, Shell::Gsh(config), text);
    let bash = seen(caller, place, Shell::Bash, "echo >&2; exit 126");
    let told = found.whole();
    let missing: Vec<_> = parts.iter().filter(|part| caller.told && !told.contains(**part)).collect();
    let ran = found.files.contains_key("/ran");
    if missing.is_empty() && found.status == bash.status && !ran {
        return String::new();
    }
    format!("{}: {text}: ran {ran}, no {missing:?}\n  bash {bash:?}\n  gsh  {found:?}\n", caller.name)
}

#[test]
fn they_are_stopped_at_the_canary_and_told() {
    let text = "touch ran; gsh-canary-deny everything; touch ran";
    each(all(), |caller, place| refused(caller, place, BYPASS, text, &["gsh: ", "canary"]));
}

#[test]
fn in_the_default_mode_reading_is_silent_and_what_asks_is_refused_aloud() {
    each(all(), |caller, place| {
        let config = format!("{DEFAULT}{}", caller.rule);
        let reading = "ls made-before; cat made-before | wc -l";
        let bash = seen(caller, place, Shell::Bash, reading);
        let gsh = seen(caller, place, Shell::Gsh(&config), reading);
        let mut wrong = String::new();
        if bash != gsh {
            let _ = writeln!(wrong, "{}: {reading}\n  bash {bash:?}\n  gsh  {gsh:?}", caller.name);
        }
        let asked = "touch ran; gsh-test-unknown --x";
        wrong + &refused(caller, place, &config, asked, &["gsh: ", "gsh-test-unknown"])
    });
}
