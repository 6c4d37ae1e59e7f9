//! The dialogue key by key, and its lines in windows of every size.

use super::super::testing::{keeps, shown};
use super::super::{Help, layout};
use super::*;
use crate::policy::Capability;

/// A key by a letter; `<` is Backspace, `!` Enter, `~` Escape, `^` an interrupt, `>` Tab.
fn key(letter: char) -> Key {
    match letter {
        '<' => Key::Backspace,
        '!' => Key::Enter,
        '~' => Key::Escape,
        '^' => Key::Interrupt,
        '>' => Key::Tab,
        letter => Key::Letter(letter),
    }
}

fn panel(text: &str, help: &Help<'_>) -> Panel {
    shown(text, |question| Panel::new(question, help))
}

fn offering() -> Help<'static> {
    Help { covered: &|pattern| vec![format!("past {pattern}")], keeps: keeps(), ..Help::none() }
}

fn window(columns: usize, rows: usize) -> Window {
    Window { columns, rows }
}

/// What these keys answer, one by one in a large window.
fn answer(text: &str, keys: &str) -> Option<Answer> {
    let help = offering();
    let panel = panel(text, &help);
    let mut dialog = Dialog::new(&panel, &help, window(80, 60));
    keys.chars().find_map(|letter| match dialog.press(key(letter), true) {
        Step::Answered(answer) => Some(answer),
        _ => None,
    })
}

fn always(patterns: &[&str], scope: Scope) -> Option<Answer> {
    let kept = |pattern: &&str| {
        let capability =
            if pattern.starts_with("git") { Capability::GitModify } else { Capability::ProcessExecute };
        Kept { capability, pattern: (*pattern).to_owned() }
    };
    Some(Answer::Always { patterns: patterns.iter().map(kept).collect(), scope })
}

#[test]
fn every_key_has_one_meaning() {
    let denied = |reason: Option<&str>| Some(Answer::Denied { reason: reason.map(str::to_owned) });
    let never = |reason: Option<&str>| Some(Answer::DeniedSession { reason: reason.map(str::to_owned) });
    let dev = "npm run dev -x";
    let table = [
        (dev, "y", Some(Answer::Once)),
        (dev, "Y", Some(Answer::Once)),
        (dev, "! 1x<", None),
        (dev, "^", denied(None)),
        (dev, "n!", denied(None)),
        (dev, "~~", denied(None)),
        (dev, "n^", denied(None)),
        (dev, "nuse pnpm!", denied(Some("use pnpm"))),
        (dev, "nyyy<!", denied(Some("yy"))),
        (dev, "d!", never(None)),
        (dev, "dno!", never(Some("no"))),
        (dev, "d^", never(None)),
        (dev, "s", None),
        (dev, "sy", Some(Answer::Session)),
        (dev, "s! y", Some(Answer::Session)),
        (dev, "sny", Some(Answer::Once)),
        (dev, "s^", denied(None)),
        (dev, "my", Some(Answer::Minutes(15))),
        (dev, "m<<5y", Some(Answer::Minutes(5))),
        (dev, "m30y", Some(Answer::Minutes(30))),
        (dev, "m0y", None),
        (dev, "m<0y", Some(Answer::Minutes(10))),
        (dev, "m<<y", None),
        (dev, "m9999y", None),
        (dev, "m~y", Some(Answer::Once)),
        (dev, "a", None),
        (dev, "ay", always(&[dev], Scope::Project)),
        (dev, "aay", always(&["npm run dev *"], Scope::Project)),
        (dev, "aaay", always(&[dev], Scope::Project)),
        (dev, "apy", always(&[dev], Scope::User)),
        (dev, "appy", always(&[dev], Scope::Project)),
        (dev, "ae<<*!y", always(&["npm run dev *"], Scope::Project)),
        (dev, "ae<?!y", always(&["npm run dev -?"], Scope::Project)),
        (dev, "aeq!y", None),
        (dev, "ae<~y", always(&[dev], Scope::Project)),
        (dev, "any", Some(Answer::Once)),
        (dev, ">y", None),
        (dev, ">>y", Some(Answer::Once)),
        (dev, "?~y", Some(Answer::Once)),
        ("git gc && npm run dev", "ay", None),
        ("git gc && npm run dev", "ayy", always(&["git gc", "npm run dev"], Scope::Project)),
        ("git add a && npm run dev", "aaypy", always(&["git add *", "npm run dev"], Scope::Project)),
        ("rm a.txt", "a", None),
        ("rm a.txt", "sy", Some(Answer::Session)),
        ("echo x > .git/config", "samay", Some(Answer::Once)),
        ("npm run $X", "smay", Some(Answer::Once)),
    ];
    for (text, keys, expected) in table {
        // A scope that is changed at the second part holds for all of them.
        let expected = match expected {
            Some(Answer::Always { patterns, .. }) if keys == "aaypy" => {
                Some(Answer::Always { patterns, scope: Scope::User })
            }
            other => other,
        };
        assert_eq!(answer(text, keys), expected, "{keys:?} at {text:?}");
    }
}

#[test]
fn keys_that_come_together_answer_nothing() {
    let help = offering();
    let panel = panel("npm run dev", &help);
    let mut dialog = Dialog::new(&panel, &help, window(80, 24));
    for letter in "ysmadn>?".chars() {
        assert_eq!(dialog.press(key(letter), false), Step::Same, "{letter}");
    }
    assert_eq!(dialog.press(Key::Interrupt, false), Step::Answered(Answer::Denied { reason: None }));
}

#[test]
fn nothing_is_approved_before_all_of_it_was_shown() {
    let help = offering();
    let text = "npm run dev\n".repeat(60);
    let panel = panel(&text, &help);
    let mut dialog = Dialog::new(&panel, &help, window(80, 24));
    let mut pages = 1;
    loop {
        let before = dialog.lines();
        for letter in ['y', 's', 'm', 'a'] {
            assert_eq!(dialog.press(key(letter), true), Step::Paint, "{letter}");
            assert!(dialog.lines().iter().any(|line| line.text.contains("not all shown yet: [j]")));
        }
        assert_eq!(dialog.press(Key::Down, true), Step::Paint);
        pages += 1;
        if dialog.seen {
            break;
        }
        assert_ne!(dialog.lines(), before);
    }
    assert!(pages > 3, "{pages}");
    assert_eq!(dialog.press(Key::Tab, true), Step::Paint);
    assert_eq!(dialog.press(Key::Tab, true), Step::Paint);
    // What was read stays read, in this window.
    assert!(dialog.seen);
    dialog.resize(window(60, 20));
    assert_eq!((dialog.seen, dialog.page), (false, 0));
    assert_eq!(dialog.press(key('y'), true), Step::Paint);
}

#[test]
fn every_window_shows_everything_on_some_page() {
    let help = offering();
    let texts = [
        "npm run dev".to_owned(),
        "git gc && npm run dev -x | cat > \"a b\"; rm a.txt".to_owned(),
        (0..60).map(|n| format!("npm run line-{n:02} of a long script\n")).collect(),
        format!("npm run {}", "x".repeat(10_000)),
        format!("npm run {}", "\n".repeat(500)),
        format!("npm run '{}'", "日本語\u{202e}\u{1b}[2J".repeat(50)),
    ];
    for text in &texts {
        let panel = panel(text, &help);
        for (columns, rows) in [(24, 6), (40, 12), (80, 24), (132, 43), (400, 60), (1, 1)] {
            let mut dialog = Dialog::new(&panel, &help, window(columns, rows));
            let mut all = String::new();
            loop {
                let lines = dialog.lines();
                let size = format!("{columns}x{rows} page {}", dialog.page);
                if columns >= 24 {
                    assert!(lines.len() < rows, "{} lines at {size}: {lines:#?}", lines.len());
                    let wide = lines.iter().find(|line| layout::width(&line.text) >= columns);
                    assert_eq!(wide, None, "{size}");
                    let hidden = |line: &Line| line.text.chars().any(|c| c.is_control() || c == '\u{202e}');
                    assert!(!lines.iter().any(hidden), "{size}");
                }
                let body = lines
                    .iter()
                    .filter_map(|line| line.text.get(2..).filter(|_| !line.text.starts_with('+')));
                all.extend(body.flat_map(str::chars));
                if dialog.press(Key::Down, true) == Step::Same {
                    break;
                }
            }
            assert!(dialog.seen);
            let expected: String = panel.body.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(all, expected, "{columns}x{rows}");
        }
    }
}

fn text_of(dialog: &Dialog<'_>) -> Vec<String> {
    dialog.lines().into_iter().map(|line| line.text).collect()
}

#[test]
fn the_panel_as_it_is_seen() {
    let help = Help { keeps: keeps(), ..Help::none() };
    let panel = panel("npm run dev", &help);
    let dialog = Dialog::new(&panel, &help, window(80, 24));
    let expected = [
        "+-- gsh asks: Run --------------------------------------------[process.execute]",
        "| npm run dev",
        "| ",
        "| in /home/dev/proj",
        "| - Run npm run dev: what this program does is not fully explained",
        "| ! it talks to the network",
        "| rule: process.execute \"*\" (built in)",
        "+-- [y] allow once  [s] for this session  [m] for minutes",
        "+-- [a] always \"npm run dev\"  [n] or [Esc] deny  [d] deny for this session",
        "+-- [Tab] details  [?] keys",
    ];
    assert_eq!(text_of(&dialog), expected);
    let dialog = Dialog::new(&panel, &help, window(24, 6));
    let expected = ["+-- gsh asks: Run", "| npm run dev", "| ", "+ 1/6: 9 more, [j]", "+-y/s/m/a/n/d/Tab/?"];
    assert_eq!(text_of(&dialog), expected);
}

#[test]
fn what_is_kept_is_shown_before_it_is_kept() {
    let help = offering();
    let panel = panel("npm run dev -x", &help);
    // Keys, and what must then be on the screen.
    let table: [(&str, &[&str]); 8] = [
        ("s", &["until this session ends", "process.execute \"npm run dev -x\"", "[y] keep"]),
        ("m", &["for 15 minutes", "process.execute \"npm run dev -x\"", "[y] keep"]),
        ("m<<1", &["for 1 minute,"]),
        ("m<<", &["type a number from 1 to 1440"]),
        (
            "a",
            &[
                "process.execute \"npm run dev -x\"",
                "kept for this project, in /p/.gsh/config.toml",
                "it would have covered 1 command of the record:",
                "  past npm run dev -x",
                "[p] for all projects",
            ],
        ),
        ("aap", &["\"npm run dev *\"", "kept for all your projects, in ~/.config/gsh/config.toml"]),
        ("ae<<<<<<<<<<<<<<*!", &["it covers every command", "process.execute \"*\""]),
        ("ae<<<<<", &["pattern: npm run d_", "it does not cover what is asked about"]),
    ];
    for (keys, expected) in table {
        let mut dialog = Dialog::new(&panel, &help, window(80, 24));
        keys.chars().for_each(|letter| drop(dialog.press(key(letter), true)));
        let shown = text_of(&dialog).join("\n");
        for part in expected {
            assert!(shown.contains(part), "{part:?} after {keys:?} in\n{shown}");
        }
    }
}
