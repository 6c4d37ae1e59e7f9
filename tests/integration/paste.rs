//! What is pasted: one text and one question, with nothing in it that is not seen as what it is.

use super::{GSH, bash, cleared, kinds, runs};
use crate::common::machine::Screen;

/// As a terminal gives a paste to a program that asked for that.
fn paste(screen: &mut Screen, text: &str) {
    screen.type_keys(&format!("\u{1b}[200~{text}\u{1b}[201~"));
}

/// Past the time in which keys are dropped.
fn read_by_a_person() {
    std::thread::sleep(std::time::Duration::from_millis(400));
}

#[test]
fn an_allowed_block_runs_as_one_line_with_one_record() {
    for kind in kinds() {
        let mut screen = kind.plain();
        paste(&mut screen, "echo one | tr a-z A-Z\necho two | tr a-z A-Z\n");
        screen.wait_for("echo two");
        read_by_a_person();
        assert!(!screen.text().contains("ONE"), "{}: ran before Enter: {}", kind.name, screen.text());
        screen.type_keys("\r");
        screen.wait_for("TWO");
        runs(&mut screen, "after");
        let text = screen.text();
        assert!(text.contains("ONE") && !text.contains("gsh"), "{}: {text}", kind.name);
        let opened: Vec<_> =
            screen.records().into_iter().filter(|record| record["event"] == "opened").collect();
        assert_eq!(opened.len(), 2, "{}: {opened:?}", kind.name);
    }
}

#[test]
fn a_refused_block_runs_no_line_of_it() {
    for kind in kinds() {
        let mut screen = kind.plain();
        paste(&mut screen, "echo one | tr a-z A-Z\ngsh-canary-deny x\necho three | tr a-z A-Z");
        screen.wait_for("echo three");
        screen.type_keys("\r");
        screen.wait_for("not run: canary");
        // Until the block stands there again, below what was said of it.
        screen.wait_for_later("echo three", "gsh: not run");
        let text = screen.text();
        assert!(!text.contains("ONE") && !text.contains("THREE"), "{}: {text}", kind.name);
        assert_eq!(text.matches("gsh: not run").count(), 1, "{}: {text}", kind.name);
    }
}

#[test]
fn what_is_not_seen_in_a_paste_is_shown_and_asked() {
    let table = [
        // A word that is another one, a direction that is turned, a blank that is none, a name of another alphabet.
        ("ec\u{200b}ho hidden | tr a-z A-Z", "<U+200B>"),
        ("echo '\u{202e}' hidden | tr a-z A-Z", "<U+202E>"),
        ("echo hidden\u{a0}| tr a-z A-Z", "<U+00A0>"),
        ("echo g\u{456}thub.com hidden | tr a-z A-Z", "mixes Latin and Cyrillic"),
        ("echo https://github.com@evil.example/x hidden | tr a-z A-Z", "goes to evil.example"),
    ];
    for kind in kinds() {
        for (text, shown) in table {
            let mut screen = kind.plain();
            paste(&mut screen, text);
            screen.wait_for("tr a-z A-Z");
            screen.type_keys("\r");
            screen.wait_for("gsh asks");
            screen.wait_for("deny for this session");
            // A line that goes on begins with a colon.
            let seen = screen.text().replace("\n: ", "");
            assert!(seen.contains(shown), "{}: {shown} in\n{seen}", kind.name);
            read_by_a_person();
            screen.type_keys("\u{3}");
            screen.wait_for("gsh: not run");
            assert!(!screen.text().contains("HIDDEN"), "{}: {}", kind.name, screen.text());
        }
    }
}

#[test]
fn a_name_outside_ascii_is_noted_and_runs() {
    for kind in kinds() {
        let mut screen = kind.plain();
        screen.type_keys("echo bücher.example seen | tr a-z A-Z\r");
        screen.wait_for("SEEN");
        screen.wait_for("gsh: note: the name bücher.example is xn--bcher-kva.example");
        runs(&mut screen, "after");
        // One that is written in the other form.
        screen.type_keys("echo xn--bcher-kva.example again | tr a-z A-Z\r");
        screen.wait_for("AGAIN");
        screen.wait_for("the name xn--bcher-kva.example stands for bücher.example");
    }
}

#[test]
fn ordinary_words_of_other_languages_are_silent() {
    for kind in kinds() {
        let mut screen = kind.plain();
        screen.type_keys("echo 'grün 例え' silent | tr a-z A-Z\r");
        screen.wait_for("SILENT");
        assert!(!screen.text().contains("gsh"), "{}: {}", kind.name, screen.text());
    }
}

#[test]
fn where_a_paste_is_not_marked_each_of_its_lines_is_decided() {
    let mut screen = bash().on(bash().around("", "bind 'set enable-bracketed-paste off'", GSH));
    screen.type_keys("echo one | tr a-z A-Z\rgsh-canary-deny x\r");
    screen.wait_for("ONE");
    screen.wait_for("not run: canary");
    cleared(&mut screen);
    runs(&mut screen, "after");
}
