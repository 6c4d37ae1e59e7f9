//! The section `[reviewer]`.

use super::read::{Page, Value};
use super::schema::{REVIEWER, Wrong};
use crate::policy::reviewing::{Reviewing, Risk, Style};

/// Reads the section. None when it names no reviewer that could be one.
pub(super) fn read(page: &mut Page, value: &Value<'_>) -> Option<Reviewing> {
    let mut set = Reviewing::default();
    page.section(value, REVIEWER, |page, key, value| one(page, &mut set, key, value));
    match wrong(&set) {
        None => Some(set),
        Some(why) => {
            page.wrong(value.span().into(), &Wrong::Reviewer(why));
            None
        }
    }
}

fn one(page: &mut Page, set: &mut Reviewing, key: &str, value: &Value<'_>) {
    match key {
        "program" => set.program = page.texts(value).unwrap_or_default(),
        "url" => set.url = page.text(value),
        "style" => set.style = page.word(value, &Style::ALL).unwrap_or_default(),
        "model" => set.model = page.text(value).unwrap_or_default(),
        "key_env" => set.key_env = page.text(value),
        "key_command" => set.key_command = page.texts(value).unwrap_or_default(),
        "environment" => set.environment = page.texts(value).unwrap_or_default(),
        "timeout" => set.timeout = page.duration(value).unwrap_or(set.timeout),
        // What cannot be read is the strictest.
        "max_allow_risk" => set.max_allow_risk = page.word(value, &Risk::ALL).unwrap_or(Risk::Low),
        "evidence_rounds" => set.evidence_rounds = page.any_count(value).unwrap_or(0),
        "prompt" => set.prompt = page.absolute(value),
        "cache" => set.cache = page.duration(value).unwrap_or_default(),
        "race" => set.race = page.truth(value).unwrap_or_default(),
        "classifier" => set.classifier = page.truth(value).unwrap_or_default(),
        _ => set.max_lag = page.any_count(value).unwrap_or(0),
    }
}

/// Why it is no reviewer as a whole.
fn wrong(set: &Reviewing) -> Option<&'static str> {
    let relative = |words: &[String]| words.first().is_some_and(|first| !first.starts_with('/'));
    match (&set.url, set.program.is_empty()) {
        (Some(_), false) => Some("it names a program and a url; one of them judges"),
        (None, true) => Some("it names neither a program nor a url"),
        _ if relative(&set.program) => Some("program starts with the absolute path of a file"),
        _ if relative(&set.key_command) => Some("key_command starts with the absolute path of a file"),
        (Some(url), _) if !is_private(url) => {
            Some("url is an https address, or an http one of this machine (127.0.0.1, [::1], localhost)")
        }
        (Some(_), _) if set.model.is_empty() => Some("a url needs the name of a model"),
        _ if set.timeout.is_zero() => Some("timeout is a time above 0"),
        _ => None,
    }
}

/// Whether what is sent there stays private on its way.
fn is_private(url: &str) -> bool {
    if url.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return false;
    }
    if let Some(rest) = url.strip_prefix("https://") {
        return !rest.is_empty();
    }
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match place.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => place,
    };
    matches!(host, "127.0.0.1" | "[::1]" | "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_ways_are_taken() {
        for (url, private) in [
            ("https://api.example.com/v1", true),
            ("http://127.0.0.1:11434/v1", true),
            ("http://localhost/v1", true),
            ("http://[::1]:8080", true),
            ("http://api.example.com/v1", false),
            ("http://127.0.0.1@evil.example/v1", false),
            ("http://localhost:80@evil.example/v1", false),
            ("http://127.0.0.1.evil.example", false),
            ("ftp://127.0.0.1", false),
            ("https://", false),
            ("https://a b", false),
            ("", false),
        ] {
            assert_eq!(is_private(url), private, "{url}");
        }
    }
}
