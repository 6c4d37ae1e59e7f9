//! The fuzz target's invariants, on inputs that once broke them, on the cases, and on cases changed at
//! random. `tests/fuzz/campaign` looks for more.

mod input;
mod invariants;

use std::sync::LazyLock;

use gsh::policy::Policy;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::common::{cases::rows, fixture};
use input::Input;

static POLICY: LazyLock<Policy> = LazyLock::new(crate::common::builtin_policy);

/// Every text of the case files.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let files = [
        include_str!("cases/catastrophic.txt"),
        include_str!("cases/lookalike.txt"),
        include_str!("cases/readonly.txt"),
        include_str!("cases/sneaky.txt"),
    ];
    let rows = files.iter().flat_map(|text| rows(text)).map(|row| row.command);
    let shapes = include_str!("cases/shapes.txt").split("%%\n").map(without_comment).map(str::to_owned);
    rows.chain(shapes).collect()
});

/// The first text of a file stands behind a line about the file.
fn without_comment(text: &str) -> &str {
    text.strip_prefix('#').and_then(|rest| rest.split_once('\n')).map_or(text, |(_, text)| text)
}

fn holds(bytes: &[u8]) {
    invariants::hold(&Input::read(bytes), &POLICY);
}

#[test]
fn what_once_broke_them_holds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/regressions");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of regressions") {
        let path = entry.expect("an entry").path();
        println!("{}", path.display());
        holds(&std::fs::read(&path).expect("a readable input"));
        count += 1;
    }
    assert!(count > 0, "{folder} is empty");
}

#[test]
fn they_hold_for_the_cases() {
    for text in TEXTS.iter() {
        holds(text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// A stretch of one case put into another, and one byte changed.
    #[test]
    fn they_hold_for_changed_cases(
        (one, two) in (any::<Index>(), any::<Index>()),
        cuts in any::<[Index; 3]>(),
        byte in any::<u8>(),
        machine in select(&["", "\0link /home/dev/proj/a.txt /etc/passwd", "\0stray ls /tmp/ls\nno-git", "\0cwd /"][..]),
    ) {
        let (one, two) = (one.get(&TEXTS).as_bytes(), two.get(&TEXTS).as_bytes());
        let [from, to, at] = cuts.map(|cut| cut.index(two.len() + 1));
        let mut bytes = one.to_vec();
        let place = at.min(bytes.len());
        bytes.splice(place..place, two[from.min(to)..from.max(to)].iter().copied());
        if let Some(changed) = bytes.get_mut(place) {
            *changed = byte;
        }
        bytes.extend(machine.bytes());
        holds(&bytes);
    }
}
