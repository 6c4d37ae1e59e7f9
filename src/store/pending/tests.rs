use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::policy::Mode;

const KEEP: Duration = Duration::from_secs(3600);

struct Place {
    queue: Queue,
    folder: tempfile::TempDir,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let queue = Queue::below(folder.path());
    queue.prepare().expect("folders");
    Place { queue, folder }
}

fn bound(text: &str) -> Bound {
    Bound {
        text: Bytes(text.into()),
        name: None,
        args: vec![],
        manner: "command".into(),
        directory: "/p".into(),
        session: "s".into(),
        mode: Mode::Default,
        files: vec![BoundFile { path: "/p/x".into(), state: "1".into() }],
        environment: String::new(),
        panel: serde_json::json!({ "title": "t", "lines": [text] }),
        only: None,
        lasting: Lasting::default(),
    }
}

fn nobody() -> Asker {
    Asker { agent: None, waiter: None }
}

fn waiting() -> Asker {
    let own = crate::sys::proc::Process::own().expect("/proc");
    Asker { agent: None, waiter: Some(Waiter { pid: own.pid, started: own.started, until: now() + 60_000 }) }
}

fn approver() -> Approver {
    Approver::new(Path::new("/dev/pts/1")).expect("an approver")
}

impl Place {
    fn filed(&self, bound: Bound) -> String {
        match self.queue.file(nobody(), bound, KEEP).expect("filed") {
            Filed::Waits(id) | Filed::WaitsAgain(id) => id,
            Filed::Answered(answer) => panic!("{answer:?}"),
        }
    }

    fn answer(&self, id: &str, reply: Reply) -> Result<(), NotAnswered> {
        let entry = self.queue.find(id).ok_or_else(|| NotAnswered::NoQuestion(id.to_owned()))?;
        self.queue.answer(&entry.pending, reply, &approver())
    }

    fn take(&self, id: &str, text: &str) -> Option<Reply> {
        self.queue.take(id, &bound(text).digest()).map(|answer| answer.body.reply)
    }
}

#[test]
fn an_answer_is_had_once() {
    let place = place();
    let id = place.filed(bound("make"));
    assert_eq!(place.take(&id, "make"), None, "silence is no answer");
    place.answer(&id, Reply::Once).expect("answered");
    let copied = fs::read(place.queue.answer_to(&id)).expect("the answer");
    assert_eq!(place.take(&id, "make"), Some(Reply::Once));
    assert_eq!(place.take(&id, "make"), None);
    // The same bytes once more are no second answer.
    safe::replace(&place.queue.answer_to(&id), &copied).expect("copied");
    assert_eq!(place.take(&id, "make"), None);
    assert!(place.queue.find(&id).is_none());
}

#[test]
fn the_first_answer_holds_and_the_second_sees_it() {
    let place = place();
    let id = place.filed(bound("make"));
    let shown = place.queue.find(&id).expect("open").pending;
    place.answer(&id, Reply::Refused { reason: None }).expect("answered");
    let second = place.queue.answer(&shown, Reply::Once, &approver());
    assert!(matches!(second, Err(NotAnswered::First { reply: Reply::Refused { .. }, .. })), "{second:?}");
    assert_eq!(place.take(&id, "make"), Some(Reply::Refused { reason: None }));
    let third = place.queue.answer(&shown, Reply::Once, &approver());
    assert!(matches!(third, Err(NotAnswered::First { .. })), "{third:?}");
}

#[test]
fn an_answer_holds_for_the_very_question_alone() {
    let others: [fn(&mut Bound); 9] = [
        |bound| bound.text = Bytes(b"make ".to_vec()),
        |bound| bound.args.push("x".into()),
        |bound| bound.directory = "/q".into(),
        |bound| bound.session = "t".into(),
        |bound| bound.mode = Mode::Bypass,
        |bound| bound.files[0].state = "2".into(),
        |bound| bound.environment = "e".into(),
        |bound| bound.panel = serde_json::json!({}),
        |bound| bound.only = Some("1".into()),
    ];
    for change in others {
        let place = place();
        let id = place.filed(bound("make"));
        place.answer(&id, Reply::Once).expect("answered");
        let mut other = bound("make");
        change(&mut other);
        assert_eq!(place.queue.take(&id, &other.digest()), None, "{other:?}");
        assert_ne!(place.filed(other), id);
        assert_eq!(place.take(&id, "make"), Some(Reply::Once), "and holds for its own");
    }
}

#[test]
fn what_was_asked_before_is_taken_up_again() {
    let place = place();
    let id = place.filed(bound("make"));
    assert_eq!(place.filed(bound("make")), id, "the same question once more");
    place.answer(&id, Reply::Once).expect("answered");
    let again = place.queue.file(nobody(), bound("make"), KEEP).expect("filed");
    assert!(matches!(again, Filed::Answered(Answer { body, .. }) if body.reply == Reply::Once));
    assert_ne!(place.filed(bound("make")), id, "asked anew");
    // Whoever waits keeps their own.
    let Ok(Filed::Waits(first)) = place.queue.file(waiting(), bound("ls"), KEEP) else { panic!("filed") };
    let Ok(Filed::Waits(second)) = place.queue.file(waiting(), bound("ls"), KEEP) else { panic!("filed") };
    assert_ne!(first, second);
    assert_eq!(place.queue.find(&first).map(|entry| entry.state), Some(State::Waiting));
    place.queue.leave(&first);
    assert_eq!(place.queue.find(&first).map(|entry| entry.state), Some(State::Kept));
}

#[test]
fn a_forged_answer_is_none() {
    let genuine = || {
        let place = place();
        let (id, other) = (place.filed(bound("make")), place.filed(bound("ls")));
        place.answer(&other, Reply::Once).expect("answered");
        let text = fs::read_to_string(place.queue.answer_to(&other)).expect("the answer");
        let answer: Answer = serde_json::from_str(&text).expect("an answer");
        (place, id, answer)
    };
    type Forge = fn(&Place, &str, &mut Answer);
    let table: [(&str, Forge); 7] = [
        ("copied from another question", |_, _, _| ()),
        ("with this one's name", |_, id, answer| answer.body.question = id.to_owned()),
        ("with its name and digest", |_, id, answer| {
            answer.body.question = id.to_owned();
            answer.body.digest = bound("make").digest();
        }),
        ("unsigned", |_, id, answer| {
            answer.body.question = id.to_owned();
            answer.body.digest = bound("make").digest();
            answer.signature = String::new();
        }),
        ("signed as once, made to last", |place, id, answer| {
            let pending = place.queue.find(id).expect("open").pending;
            let by = approver();
            by.register(&place.queue.approvers).expect("registered");
            *answer = by.sign(&pending, Reply::Once);
            answer.body.reply = Reply::Session;
        }),
        ("by a key that is not registered", |place, id, answer| {
            let pending = place.queue.find(id).expect("open").pending;
            *answer = approver().sign(&pending, Reply::Once);
        }),
        ("by a registered key under another process's name", |place, id, answer| {
            let pending = place.queue.find(id).expect("open").pending;
            let mut other = approver();
            other.register(&place.queue.approvers).expect("registered");
            other.pretend(1);
            *answer = other.sign(&pending, Reply::Once);
        }),
    ];
    for (what, forge) in table {
        let (place, id, mut answer) = genuine();
        forge(&place, &id, &mut answer);
        let text = serde_json::to_vec(&answer).expect("JSON");
        safe::replace(&place.queue.answer_to(&id), &text).expect("written");
        assert_eq!(place.take(&id, "make"), None, "{what}");
        assert_eq!(place.queue.find(&id).map(|entry| entry.state), Some(State::Kept), "{what}");
        // It does not keep a person from answering.
        place.answer(&id, Reply::Refused { reason: None }).expect("answered");
        assert_eq!(place.take(&id, "make"), Some(Reply::Refused { reason: None }), "{what}");
    }
}

#[test]
fn a_damaged_file_is_no_answer_and_no_question() {
    let place = place();
    let id = place.filed(bound("make"));
    place.answer(&id, Reply::Once).expect("answered");
    let whole = fs::read(place.queue.answer_to(&id)).expect("the answer");
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        safe::replace(&place.queue.answer_to(&id), &whole[..length]).expect("cut");
        assert_eq!(place.take(&id, "make"), None, "{length} bytes");
    }
    safe::replace(&place.queue.answer_to(&id), &whole).expect("whole");
    fs::set_permissions(place.queue.answer_to(&id), fs::Permissions::from_mode(0o666)).expect("mode");
    assert_eq!(place.take(&id, "make"), None, "others could have written it");
    for text in ["", "{", "null", "{\"id\":\"other\"}"] {
        safe::replace(&place.queue.question("other"), text.as_bytes()).expect("written");
        assert!(place.queue.list().iter().all(|entry| entry.pending.id == id), "{text}");
    }
}

#[test]
fn a_changed_question_is_not_answered_as_the_one_that_was_shown() {
    let place = place();
    let id = place.filed(bound("make"));
    let shown = place.queue.find(&id).expect("open").pending;
    place.queue.write(&Pending { bound: bound("make -k"), ..shown.clone() }).expect("written");
    let answered = place.queue.answer(&shown, Reply::Once, &approver());
    assert!(matches!(answered, Err(NotAnswered::Changed(_))), "{answered:?}");
}

#[test]
fn what_is_over_is_no_question_and_no_answer() {
    let place = place();
    let id = place.filed(bound("make"));
    place.answer(&id, Reply::Once).expect("answered");
    let expired = place.queue.file(nobody(), bound("ls"), Duration::ZERO).expect("filed");
    let Filed::Waits(expired) = expired else { panic!("{expired:?}") };
    assert!(place.queue.find(&expired).is_none());
    let shown = Pending::new(expired, nobody(), bound("ls"), Duration::ZERO);
    assert!(matches!(place.queue.answer(&shown, Reply::Once, &approver()), Err(NotAnswered::NoQuestion(_))));
    // An answer that outlived its question is none, however it got there.
    let late = Pending { id: "late2".into(), ..shown };
    let by = approver();
    by.register(&place.queue.approvers).expect("registered");
    let text = serde_json::to_vec(&by.sign(&late, Reply::Once)).expect("JSON");
    safe::replace(&place.queue.answer_to("late2"), &text).expect("written");
    assert_eq!(place.take("late2", "ls"), None);
}

#[test]
fn old_files_are_swept_and_no_others() {
    let place = place();
    let id = place.filed(bound("make"));
    place.answer(&id, Reply::Once).expect("answered");
    let old = SystemTime::now() - Duration::from_secs(7200);
    for path in
        [place.queue.question("gone2"), place.queue.spent("gone2"), place.queue.approvers.join("k.json")]
    {
        fs::write(&path, "x").expect("written");
        std::fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(old))
            .expect("aged");
    }
    let before = fs::read_dir(&place.queue.approvers).expect("listed").count();
    place.filed(bound("ls"));
    assert!(!place.queue.question("gone2").exists() && !place.queue.spent("gone2").exists());
    assert_eq!(fs::read_dir(&place.queue.approvers).expect("listed").count(), before - 1);
    assert_eq!(place.take(&id, "make"), Some(Reply::Once));
}

#[test]
fn who_listens_is_known_by_process() {
    let place = place();
    assert!(!place.queue.has_listener());
    let mut listener = approver();
    listener.listen(&place.queue).expect("listens");
    assert!(place.queue.has_listener());
    drop(listener);
    assert!(!place.queue.has_listener());
    let mut dead = approver();
    dead.pretend(i32::MAX);
    dead.listen(&place.queue).expect("listens");
    assert!(!place.queue.has_listener());
}

#[test]
fn everything_is_the_users_alone() {
    let place = place();
    let id = place.filed(bound("make"));
    place.answer(&id, Reply::Once).expect("answered");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&place.queue.folder), mode(&place.queue.approvers)), (0o700, 0o700));
    assert_eq!((mode(&place.queue.question(&id)), mode(&place.queue.answer_to(&id))), (0o600, 0o600));
    fs::set_permissions(&place.queue.folder, fs::Permissions::from_mode(0o777)).expect("mode");
    assert!(place.queue.file(nobody(), bound("ls"), KEEP).is_err());
    assert!(place.folder.path().exists());
}

#[test]
fn bytes_that_are_no_text_are_kept_exactly() {
    for bytes in [&b"make"[..], b"a\xff\x00b", b""] {
        let text = serde_json::to_string(&Bytes(bytes.to_vec())).expect("JSON");
        assert_eq!(serde_json::from_str::<Bytes>(&text).expect("bytes"), Bytes(bytes.to_vec()), "{text}");
    }
}

#[test]
fn only_what_is_offered_is_taken_as_an_answer() {
    let (reason, all) = (None, Lasting { approval: true, refusal: true });
    let refused = || Reply::RefusedSession { reason: reason.clone() };
    let table = [
        (Reply::Session, Lasting::default(), false),
        (Reply::Minutes(5), Lasting::default(), false),
        (refused(), Lasting::default(), false),
        (Reply::Session, Lasting { approval: false, refusal: true }, false),
        (refused(), Lasting { approval: false, refusal: true }, true),
        (Reply::Session, all, true),
        (Reply::Minutes(5), all, true),
    ];
    for (reply, lasting, taken) in table {
        let place = place();
        let asked = Bound { lasting, ..bound("make") };
        let id = place.filed(asked.clone());
        let answered = place.answer(&id, reply.clone());
        assert_eq!(answered.is_ok(), taken, "{reply:?}: {answered:?}");
        assert!(taken || matches!(answered, Err(NotAnswered::OnceOnly { .. })), "{answered:?}");
        let found = place.queue.take(&id, &asked.digest()).map(|answer| answer.body.reply);
        assert_eq!(found, taken.then_some(reply));
    }
}

#[test]
fn files_from_before_lasting_answers_are_read() {
    // A question that offers none is written, and so bound, as it was then.
    let text = serde_json::to_string(&bound("make")).expect("JSON");
    assert!(!text.contains("lasting"), "{text}");
    assert_eq!(serde_json::from_str::<Bound>(&text).expect("a question"), bound("make"));
    for (text, reply) in [
        (r#""once""#, Reply::Once),
        (r#"{"refused":{"reason":"no"}}"#, Reply::Refused { reason: Some("no".into()) }),
    ] {
        assert_eq!(serde_json::from_str::<Reply>(text).expect("an answer"), reply);
        assert_eq!(serde_json::to_string(&reply).expect("JSON"), text, "and is signed as it was");
    }
}
