//! What must not be written: secrets of every shape in every place, and nothing of everyday commands.

use gsh::audit::redact::Secrets;

use crate::common::cases::rows;
use crate::common::secrets;

fn leaks(text: &str, secret: &str) -> bool {
    let mut known = Secrets::default();
    known.learn_text(text);
    let mut kept = text.to_owned();
    for body in gsh::syntax::document_bodies(text).into_iter().rev() {
        kept.replace_range(body, "");
    }
    known.redact(&kept).0.contains(secret)
}

#[test]
fn secrets_are_taken_out_whatever_their_form() {
    let mut leaked = Vec::new();
    let (plain, shaped) = (secrets::plain(), secrets::shaped());
    assert!(plain.len() + shaped.len() >= 120 && secrets::FORMS.len() >= 40);
    for (forms, values) in [(secrets::FORMS, &plain), (secrets::FORMS, &shaped), (secrets::PLACES, &shaped)] {
        for form in forms {
            for value in values {
                let text = form.replace("@@", &format!("{value}@")).replacen(
                    '@',
                    value,
                    usize::from(!form.contains("@@")) * 9,
                );
                if leaks(&text, value) {
                    leaked.push(text);
                    break;
                }
            }
        }
    }
    assert!(leaked.is_empty(), "{} forms leak:\n{}", leaked.len(), leaked.join("\n"));
}

#[test]
fn everyday_commands_stay_as_they_are() {
    let mut changed = Vec::new();
    let everyday = rows(include_str!("cases/readonly.txt")).into_iter().map(|row| row.command);
    let tempting = include_str!("cases/tempting.txt").lines().map(str::to_owned);
    let all: Vec<String> = everyday.chain(tempting).collect();
    assert!(all.len() >= 300);
    for text in all {
        let mut known = Secrets::default();
        known.learn_text(&text);
        let (kept, count) = known.redact(&text);
        if count > 0 {
            changed.push(format!("{text}\n  -> {kept}"));
        }
    }
    assert!(changed.is_empty(), "{} are changed:\n{}", changed.len(), changed.join("\n"));
}
