//! The types of a file and the reader of files say the same.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::read::{Origin, read};
use super::schema::{
    ASK, AUDIT, FLOOR, LIMITS, NESTED, REFUSALS, REVIEWER, RULE, RUN, SHELL, SUBAGENTS, TOP,
};
use super::shape::{Configuration, Program, json_schema};
use crate::facts::programs::Source;
use crate::policy::{Capability, Layer};
use crate::report::Report;

fn schema() -> Value {
    serde_json::from_str(&json_schema()).expect("JSON")
}

/// What a `$ref` stands for.
fn meant<'s>(schema: &'s Value, part: &'s Value) -> &'s Value {
    let name = part["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    let whole = part["allOf"].get(0).or_else(|| {
        let of = part["anyOf"].as_array()?;
        of.iter().find(|each| each["type"] != "null").filter(|_| of.iter().any(|each| each["type"] == "null"))
    });
    match (name, whole) {
        (Some(name), _) => meant(schema, schema.pointer(name).unwrap_or_else(|| panic!("{name} is nowhere"))),
        (None, Some(whole)) => meant(schema, whole),
        (None, None) => part,
    }
}

fn keys(part: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        part["properties"].as_object().expect("properties").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The types of `name` in the schema.
fn definition<'s>(schema: &'s Value, name: &str) -> &'s Value {
    schema.pointer(&format!("/definitions/{name}")).unwrap_or_else(|| panic!("{name} is not defined"))
}

#[test]
fn the_same_keys() {
    let schema = schema();
    for (name, known) in [("", TOP), ("Rule", RULE), ("Terms", NESTED), ("Floor", FLOOR), ("Limits", LIMITS)]
    {
        let part = if name.is_empty() { &schema } else { definition(&schema, name) };
        let mut known = known.to_vec();
        known.sort_unstable();
        assert_eq!(keys(part), known, "{name}");
        assert_eq!(part["additionalProperties"], false, "{name}");
    }
    for (name, known) in [
        ("Ask", ASK),
        ("Audit", AUDIT),
        ("Shell", SHELL),
        ("Run", RUN),
        ("Refusals", REFUSALS),
        ("Subagents", SUBAGENTS),
        ("Reviewer", REVIEWER),
    ] {
        assert_eq!(keys(definition(&schema, name)), known, "{name}");
        let section = name.to_lowercase();
        let by_reader = |key: &str| !titles(&format!("[{section}]\n{key} = 'x'")).contains("unknown key");
        assert!(known.iter().all(|key| by_reader(key)) && !by_reader("other"), "{name}");
    }
    let of_reader = serde_json::to_value(Source::default()).expect("JSON");
    let mut of_reader: Vec<&str> =
        of_reader.as_object().expect("a table").keys().map(String::as_str).collect();
    of_reader.sort_unstable();
    assert_eq!(keys(definition(&schema, "Program")), of_reader);
    let capabilities = definition(&schema, "Permissions")["properties"].as_object().expect("properties");
    for capability in Capability::ALL {
        assert!(capabilities.contains_key(capability.word()), "{}", capability.word());
    }
    let undescribed: Vec<_> =
        TOP.iter().filter(|key| schema["properties"][**key]["description"].is_null()).collect();
    assert_eq!(undescribed, Vec::<&&str>::new());
}

fn reports(text: &str) -> Vec<Report> {
    let origin = Origin { layer: Layer::User, path: Path::new("c.toml"), root: None, home: None };
    read(text, &origin).layer.damage
}

fn damage(text: &str) -> usize {
    reports(text).len()
}

fn titles(text: &str) -> String {
    reports(text).iter().map(|report| report.title.as_str()).collect()
}

fn words<'s>(schema: &'s Value, part: &'s Value) -> Vec<&'s str> {
    let part = meant(schema, part);
    let list = part["enum"]
        .as_array()
        .or_else(|| part["items"].as_object().and_then(|_| meant(schema, &part["items"])["enum"].as_array()));
    match (list, part["oneOf"].as_array()) {
        (Some(list), _) => list.iter().filter_map(Value::as_str).collect(),
        (None, Some(of)) => of.iter().filter_map(|each| each["const"].as_str()).collect(),
        (None, None) => part["const"].as_str().into_iter().collect(),
    }
}

/// Every word that the schema knows anywhere is read where the schema has it, and nowhere else.
#[test]
fn the_same_words() {
    let schema = schema();
    let rule = |key: &str, value: String| {
        let action = if key == "action" { "" } else { "\naction = 'ask'" };
        format!("[[permissions.rules]]\ncapability = '*'\npattern = 'x'{action}\n{key} = {value}")
    };
    let top = |key: &'static str| move |word: &str| format!("{key} = '{word}'");
    let of_rule = |key: &'static str, list: bool| {
        move |word: &str| rule(key, if list { format!("['{word}']") } else { format!("'{word}'") })
    };
    let reviewer = |key: &str, word: &str| format!("[reviewer]\nprogram = ['/p']\n{key} = '{word}'");
    type Text<'t> = Box<dyn Fn(&str) -> String + 't>;
    let places: Vec<(&str, Text<'_>)> = vec![
        ("/properties/mode", Box::new(top("mode"))),
        ("/properties/on_unresolved", Box::new(top("on_unresolved"))),
        ("/properties/on_mixed", Box::new(top("on_mixed"))),
        ("/properties/on_review_unavailable", Box::new(top("on_review_unavailable"))),
        ("/properties/on_ask_without_terminal", Box::new(top("on_ask_without_terminal"))),
        ("/definitions/Forbidden", Box::new(|word| format!("forbid = ['{word}']"))),
        (
            "/definitions/Subagents/properties/default",
            Box::new(|word| format!("[subagents]\ndefault = '{word}'")),
        ),
        ("/definitions/Style", Box::new(|word| reviewer("style", word))),
        ("/definitions/Risk", Box::new(|word| reviewer("max_allow_risk", word))),
        ("/definitions/HookAllow", Box::new(|word| format!("[hook]\nallow = '{word}'"))),
        ("/definitions/Gate", Box::new(|word| format!("[hook]\ngate = '{word}'"))),
        ("/definitions/HookShell", Box::new(|word| format!("[hook]\nshell = '{word}'"))),
        ("/definitions/Prompt", Box::new(|word| format!("[interactive]\nprompt = '{word}'"))),
        ("/definitions/Pty", Box::new(|word| format!("[run]\npty = '{word}'"))),
        ("/definitions/Way", Box::new(|word| format!("[run]\nway = '{word}'"))),
        ("/definitions/Rule/properties/action", Box::new(of_rule("action", false))),
        ("/definitions/Rule/properties/lifts", Box::new(of_rule("lifts", false))),
        ("/definitions/Mode", Box::new(of_rule("modes", true))),
        ("/definitions/Door", Box::new(of_rule("entry", true))),
    ];
    let known: Vec<(Vec<&str>, &Text<'_>)> = places
        .iter()
        .map(|(place, text)| {
            (words(&schema, schema.pointer(place).unwrap_or_else(|| panic!("{place}"))), text)
        })
        .collect();
    let all: Vec<&str> = known.iter().flat_map(|(words, _)| words.iter().copied()).collect();
    for ((words, text), (place, _)) in known.iter().zip(&places) {
        assert!(!words.is_empty(), "{place}");
        for word in &all {
            let text = text(word);
            assert_eq!(damage(&text) == 0, words.contains(word), "{place}: {text}");
            let by_types = toml::from_str::<Configuration>(&text);
            assert_eq!(by_types.is_ok(), words.contains(word), "{place}: {text}: {by_types:?}");
        }
    }
    // No list of words is left out.
    let lists = schema["definitions"].as_object().expect("definitions");
    let enumerations = lists.iter().filter(|(_, part)| !words(&schema, part).is_empty());
    let unnamed: Vec<_> = enumerations
        .filter(|(_, part)| !known.iter().any(|(listed, _)| *listed == words(&schema, part)))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(unnamed, Vec::<&String>::new());
}

/// What the schema says is wrong with a value, as an editor would find it.
fn wrong(schema: &Value, part: &Value, value: &Value) -> Option<String> {
    let part = meant(schema, part);
    let any = part["anyOf"].as_array();
    if let Some(any) = any
        && any.iter().all(|part| wrong(schema, part, value).is_some())
    {
        return Some(format!("{value} is none of what may stand there"));
    }
    let words = words(schema, part);
    if part["items"].is_null()
        && !words.is_empty()
        && !value.as_str().is_some_and(|word| words.contains(&word))
    {
        return Some(format!("{value} is not one of {words:?}"));
    }
    let types: Vec<&str> = match &part["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let is = |of: &str| match of {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    if !types.is_empty() && !types.iter().any(|of| is(of)) {
        return Some(format!("{value} is not {types:?}"));
    }
    if value.as_i64().zip(part["minimum"].as_f64()).is_some_and(|(value, least)| (value as f64) < least) {
        return Some(format!("{value} is too small"));
    }
    let starts = match part["pattern"].as_str() {
        Some("^/") => &["/"][..],
        Some("^(/|~/)") => &["/", "~/"],
        other => {
            assert_eq!(other, None, "a pattern that this does not know");
            &[""]
        }
    };
    if value.as_str().is_some_and(|text| !starts.iter().any(|start| text.starts_with(start))) {
        return Some(format!("{value} starts wrongly"));
    }
    if let Some(items) = value.as_array() {
        return items.iter().find_map(|item| wrong(schema, &part["items"], item));
    }
    let missing = part["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(key) = missing.into_iter().find(|key| value.is_object() && value.get(key).is_none()) {
        return Some(format!("no `{key}`"));
    }
    value.as_object().into_iter().flatten().find_map(|(key, value)| {
        match (&part["properties"][key], &part["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => Some(format!("unknown key `{key}`")),
            (Value::Null, Value::Null) => None,
            (Value::Null, others) => wrong(schema, others, value),
            (known, _) => wrong(schema, known, value),
        }
    })
}

fn as_json(text: &str) -> Value {
    let table: BTreeMap<String, toml::Value> = toml::from_str(text).expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

#[test]
fn the_examples_are_of_that_shape() {
    let schema = schema();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(folder).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|kind| kind != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(wrong(&schema, &schema, &as_json(&text)), None, "{}", path.display());
        let typed = toml::from_str::<Configuration>(&text);
        assert!(typed.is_ok(), "{}: {typed:?}", path.display());
        let line = text.lines().next().unwrap_or_default();
        let kept =
            line.strip_prefix("#:schema ").unwrap_or_else(|| panic!("{} names no schema", path.display()));
        assert!(path.with_file_name(kept).exists(), "{kept}");
    }
}

#[test]
fn what_is_wrong_in_shape_the_types_refuse_too() {
    let schema = schema();
    for text in [
        "mod = 'plan'",
        "mode = 'plam'",
        "mode = 3",
        "on_mixed = 'allow'",
        "forbid = ['yolo']",
        "permissions = 1",
        "[audit]\nrequire = true",
        "[audit]\nrequired = 'yes'",
        "[limits]\nbytes = -1",
        "[limits]\nbytes = 0",
        "[limits]\nbites = 1",
        "[run]\npty = true",
        "[permissions]\n'file.read' = 'maybe'",
        "[permissions]\n'file.read' = 1",
        "[permissions]\nrules = 1",
        "[permissions.'file.read']\n'/a' = { acton = 'ask' }",
        "[permissions.'file.read']\n'/a' = { reason = 'x' }",
        "[permissions.'file.read']\n'/a' = { action = 'ask', modes = ['plann'] }",
        "[permissions.'file.read']\n'/a' = { action = 'ask', interactive = 'no' }",
        "[[permissions.rules]]\naction = 'ask'",
        "[[permissions.rules]]\ncapability = '*'",
        "[[permissions.rules]]\ncapability = '*'\naction = 'ask'\nreasn = 'x'",
        "[[permissions.rules]]\ncapability = '*'\naction = 'ask'\nlifts = 'deny'",
        "[[permissions.rules]]\ncapability = '*'\naction = 'ask'\nmatch = 'x'",
        "[[floor]]\ncapability = '*'",
        "[[floor]]\nname = 'x'\ncapability = '*'\naction = 'deny'",
        "[programs.x]\noption = '-v'",
        "[ask]\nterminals = 'tmux'",
        "[refusals]\nin_all = -1",
        "[subagents]\nallow_grants = 1",
    ] {
        assert!(damage(text) > 0, "{text:?} is no mistake to the reader");
        assert!(toml::from_str::<Configuration>(text).is_err(), "{text:?} is no mistake to the types");
        assert!(wrong(&schema, &schema, &as_json(text)).is_some(), "{text:?} is no mistake to the schema");
    }
    // Where only the schema of an editor knows the form of a text.
    for text in ["[shell]\npath = 'bash'", "allow_roots = ['x']"] {
        assert!(damage(text) > 0 && wrong(&schema, &schema, &as_json(text)).is_some(), "{text:?}");
    }
    let day = "[permissions.'file.read']\n'/a' = { action = 'ask', expires = 2030-12-31 }";
    assert!(damage(day) == 0 && toml::from_str::<Configuration>(day).is_ok());
    assert!(toml::from_str::<Program>("options = '-v'\n[sub.x]\noptions = '-w'").is_ok());
}
