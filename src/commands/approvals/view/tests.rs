use super::*;
use crate::policy::Mode;
use crate::store::pending::{Asker, Bound, Lasting, Waiter};

fn entry(id: &str, lines: usize, state: State) -> Entry {
    let lines: Vec<String> = (0..lines).map(|n| format!("line-{n:02} of what is asked about")).collect();
    let bound = Bound {
        text: Bytes(format!("make {id}\n").into_bytes()),
        name: None,
        args: vec![],
        manner: String::new(),
        directory: "/p".into(),
        session: "claude-1-2".into(),
        mode: Mode::Default,
        files: vec![],
        environment: String::new(),
        panel: serde_json::json!({ "title": "gsh asks: Run (process.execute)", "lines": lines }),
        only: None,
        lasting: Lasting::default(),
    };
    let waiter = Some(Waiter { pid: 1, started: 1, until: 60_000 });
    let asker = Asker { agent: Some("claude".into()), waiter };
    Entry { pending: Pending { id: id.into(), asked: 0, expires: 90_000, asker, bound }, state }
}

fn view(entries: Vec<Entry>, size: (usize, usize)) -> View {
    let mut view = View::new(None);
    view.resize(size);
    view.update(entries);
    view
}

fn text(view: &View) -> String {
    view.lines(1000).join("\n")
}

#[test]
fn questions_are_listed_and_chosen() {
    let three = || ["aaa", "bbb", "ccc"].map(|id| entry(id, 3, State::Waiting)).to_vec();
    let mut view = view(three(), (80, 24));
    assert!(text(&view).contains("gsh: 3 questions\n> aaa  59 s left  make aaa\n  bbb"), "{}", text(&view));
    view.press(Key::Down, true);
    view.press(Key::Down, true);
    view.press(Key::Down, true);
    view.press(Key::Up, true);
    assert!(text(&view).contains("\n> bbb"), "{}", text(&view));
    assert_eq!(view.press(Key::Letter('y'), true), Act::Nothing, "nothing is answered from the list");
    let (news, over) = view.update([three(), vec![entry("ddd", 1, State::Kept)]].concat());
    assert!(news && !over);
    assert!(text(&view).contains("> bbb") && text(&view).contains("ddd  nobody waits"), "{}", text(&view));
    let mut answered = three();
    answered[1].state = State::Answered(Reply::Once);
    view.update(answered);
    assert!(text(&view).contains("> ccc") && text(&view).contains("bbb  allowed once"), "{}", text(&view));
    assert!(!view.update(vec![]).0);
    assert!(text(&view).contains("no question is open"));
    assert_eq!(view.press(Key::Letter('q'), true), Act::Leave);
}

#[test]
fn keys_answer_the_open_question() {
    let refused = |reason: Option<&str>| Reply::Refused { reason: reason.map(str::to_owned) };
    type Pressed<'a> = &'a [(Key, bool)];
    let table: [(Pressed<'_>, Option<Reply>); 10] = [
        (&[(Key::Letter('y'), true)], Some(Reply::Once)),
        (&[(Key::Letter('y'), false)], None),
        (&[(Key::Enter, true), (Key::Letter(' '), true)], None),
        (&[(Key::Letter('n'), true), (Key::Enter, true)], Some(refused(None))),
        (&[(Key::Escape, true)], Some(refused(None))),
        (&[(Key::Interrupt, true)], Some(refused(None))),
        (&[(Key::Letter('n'), true), (Key::Letter('y'), true), (Key::Enter, true)], Some(refused(Some("y")))),
        (&[(Key::Letter('n'), true), (Key::Escape, true), (Key::Other, true)], None),
        (&[(Key::Letter('d'), true), (Key::Enter, true)], None),
        (
            &[(Key::Letter('s'), true), (Key::Letter('m'), true), (Key::Tab, true), (Key::Letter('y'), true)],
            None,
        ),
    ];
    for (keys, expected) in table {
        let mut view = view(vec![entry("aaa", 3, State::Waiting)], (80, 24));
        view.press(Key::Enter, true);
        let acts: Vec<Act> = keys.iter().map(|(key, alone)| view.press(*key, *alone)).collect();
        let reply = acts.into_iter().find_map(|act| match act {
            Act::Answer(pending, reply) if pending.id == "aaa" => Some(reply),
            _ => None,
        });
        assert_eq!(reply, expected, "{keys:?}");
    }
}

#[test]
fn lasting_answers_are_shown_before_a_second_key_gives_them() {
    let refused = |reason: Option<&str>| Reply::RefusedSession { reason: reason.map(str::to_owned) };
    let (session, yes, no) = (Key::Letter('s'), Key::Letter('y'), Key::Letter('n'));
    // What is pressed, what is shown then, and what the next key answers.
    let table: [(&[Key], &str, Key, Option<Reply>); 8] = [
        (&[], "[s] for this session  [m] for 15 minutes", yes, Some(Reply::Once)),
        (&[session], "until that session ends", yes, Some(Reply::Session)),
        (&[session], "  process.execute \"make\"", Key::Enter, None),
        (&[Key::Letter('M')], "for 15 minutes, allowed", yes, Some(Reply::Minutes(15))),
        (&[session, no], "allow once", yes, Some(Reply::Once)),
        (
            &[Key::Letter('d'), no, Key::Letter('o')],
            "session. Reason: no_",
            Key::Enter,
            Some(refused(Some("no"))),
        ),
        (&[Key::Tab], "mode: default", yes, None),
        (&[Key::Tab, Key::Tab], "allow once", yes, Some(Reply::Once)),
    ];
    for (keys, shown, key, expected) in table {
        let mut entry = entry("aaa", 3, State::Waiting);
        entry.pending.bound.lasting = Lasting { approval: true, refusal: true };
        entry.pending.bound.panel["details"] = serde_json::json!(["mode: default"]);
        entry.pending.bound.panel["kept"] = serde_json::json!(["process.execute \"make\""]);
        let mut view = view(vec![entry], (120, 24));
        view.press(Key::Enter, true);
        for key in keys {
            assert_eq!(view.press(*key, true), Act::Nothing, "{keys:?}");
        }
        assert!(text(&view).contains(shown), "{keys:?}: {}", text(&view));
        let reply = match view.press(key, true) {
            Act::Answer(_, reply) => Some(reply),
            _ => None,
        };
        assert_eq!(reply, expected, "{keys:?} {key:?}");
    }
}

#[test]
fn yes_counts_after_the_last_page_of_this_window() {
    for size in [(80, 12), (40, 12), (24, 10)] {
        let mut view = view(vec![entry("aaa", 30, State::Waiting)], size);
        view.press(Key::Enter, true);
        let mut all = text(&view);
        while !text(&view).contains("allow once") {
            assert_eq!(view.press(Key::Letter('y'), true), Act::Nothing, "{size:?}");
            view.press(Key::Next, true);
            all += &text(&view);
        }
        for n in 0..30 {
            assert!(all.contains(&format!("line-{n:02}")), "line {n} at {size:?}");
        }
        view.resize((size.0 + 1, size.1));
        assert_eq!(view.press(Key::Letter('y'), true), Act::Nothing, "another window has other pages");
    }
}

#[test]
fn every_line_fits_its_window() {
    for size in [(400, 50), (80, 24), (24, 8), (10, 5), (1, 1)] {
        let mut view = view(vec![entry("aaa", 30, State::Waiting), entry("bbb", 3, State::Kept)], size);
        for _ in 0..2 {
            let lines = view.lines(1000);
            assert!(lines.len() <= size.1, "{size:?}: {}", lines.len());
            let wide = lines.iter().find(|line| console::measure_text_width(line) > size.0);
            assert_eq!(wide, None, "{size:?}");
            view.press(Key::Enter, true);
        }
    }
}

#[test]
fn what_happens_elsewhere_is_told() {
    for (then, said) in [
        (vec![], "aaa is over"),
        (vec![entry("aaa", 3, State::Answered(Reply::Once))], "aaa was answered elsewhere: allowed once"),
        (vec![entry("aaa", 4, State::Waiting)], "aaa changed"),
    ] {
        let mut view = view(vec![entry("aaa", 3, State::Waiting)], (80, 24));
        view.press(Key::Enter, true);
        view.update(then);
        assert!(view.shown().is_none() && text(&view).contains(said), "{}", text(&view));
    }
}

#[test]
fn only_one_question_is_shown_and_its_end_is_the_end() {
    let mut view = View::new(Some("bbb".into()));
    let both = || vec![entry("aaa", 3, State::Waiting), entry("bbb", 3, State::Waiting)];
    assert_eq!(view.update(both()), (true, false));
    assert_eq!(view.shown(), Some("bbb"));
    assert_eq!(view.update(vec![entry("aaa", 3, State::Waiting)]), (false, true));
}
