//! Before, after, and back again.

use serde_json::json;

use super::*;

fn set(key: &str, value: Value) -> Edit {
    Edit { key: key.split('/').map(str::to_owned).collect(), value, kind: Kind::Set }
}

fn entry(key: &str, value: Value) -> Edit {
    Edit { kind: Kind::Entry(" hook claude".to_owned()), ..set(key, value) }
}

fn hook(path: &str) -> Value {
    json!({ "matcher": "Bash", "hooks": [{ "type": "command", "command": format!("{path}/gsh hook claude") }] })
}

#[test]
fn what_else_stands_in_a_file_stays() {
    let shell = || vec![set("env/SHELL", json!("/g/bash"))];
    let hooked = || vec![entry("hooks/Pre", hook("/g"))];
    let table: [(Format, Option<&str>, Vec<Edit>, &str); 15] = [
        (
            Format::Json,
            Some("\u{feff}{\n  \"a\": 1\n}\n"),
            vec![set("shell", json!("/g"))],
            "\u{feff}{\n  \"a\": 1,\n  \"shell\": \"/g\"\n}\n",
        ),
        (Format::Json, None, shell(), "{\n  \"env\": {\n    \"SHELL\": \"/g/bash\"\n  }\n}\n"),
        (Format::Json, Some(" \n"), shell(), "{\n  \"env\": {\n    \"SHELL\": \"/g/bash\"\n  }\n}\n"),
        (Format::Json, Some("{}"), vec![set("shell", json!("/g"))], "{\n  \"shell\": \"/g\"\n}"),
        (
            Format::Json,
            Some("// mine\n{\n\t\"b\": 1, // why\n\t\"env\": { \"X\": \"1\" },\n\t\"a\": [ 1,2 ],\n}\n"),
            shell(),
            "// mine\n{\n\t\"b\": 1, // why\n\t\"env\": {\n\t\t\"X\": \"1\",\n\t\t\"SHELL\": \"/g/bash\"\n\t},\n\t\"a\": [ 1,2 ],\n}\n",
        ),
        (
            Format::Json,
            Some(
                "{\r\n  \"env\": {\r\n    \"SHELL\": \"/bin/zsh\", /* old */\r\n    \"Y\": \"\"\r\n  }\r\n}\r\n",
            ),
            shell(),
            "{\r\n  \"env\": {\r\n    \"SHELL\": \"/g/bash\", /* old */\r\n    \"Y\": \"\"\r\n  }\r\n}\r\n",
        ),
        (
            Format::Json,
            Some("{\"env\":{\"SHELL\":\"/g/bash\"}}"),
            shell(),
            "{\"env\":{\"SHELL\":\"/g/bash\"}}",
        ),
        (
            Format::Json,
            Some("{\n  \"hooks\": {\n    \"Pre\": [\n      { \"x\": 1 } // theirs\n    ]\n  }\n}\n"),
            hooked(),
            "{\n  \"hooks\": {\n    \"Pre\": [\n      { \"x\": 1 }, // theirs\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"/g/gsh hook claude\"\n          }\n        ]\n      }\n    ]\n  }\n}\n",
        ),
        (
            Format::Json,
            Some("{\"hooks\":{\"Pre\":[{\"command\":\"/old/gsh hook claude\"}]}}"),
            vec![entry("hooks/Pre", json!({"command": "/g/gsh hook claude"}))],
            "{\"hooks\":{\"Pre\":[{\n      \"command\": \"/g/gsh hook claude\"\n    }]}}",
        ),
        (
            Format::Json,
            Some("{ \"version\": 2 }"),
            vec![Edit { kind: Kind::Default, ..set("version", json!(1)) }],
            "{ \"version\": 2 }",
        ),
        (Format::Yaml, None, vec![set("set-env/SHELL", json!("/g/bash"))], "set-env:\n  - SHELL=/g/bash\n"),
        (
            Format::Yaml,
            Some("# mine\nmodel: x\nread:\n- a.md\n  # deep"),
            vec![set("set-env/SHELL", json!("/g/bash"))],
            "# mine\nmodel: x\nread:\n- a.md\n  # deep\nset-env:\n  - SHELL=/g/bash\n",
        ),
        (
            Format::Yaml,
            Some("set-env:  # those\n    - A=1\n    # one more\n    - B=2 # b\n\nmodel: x\n"),
            vec![set("set-env/SHELL", json!("/g/bash"))],
            "set-env:  # those\n    - A=1\n    # one more\n    - B=2 # b\n    - SHELL=/g/bash\n\nmodel: x\n",
        ),
        (
            Format::Yaml,
            Some("set-env:\n- SHELL=/g/bash\n"),
            vec![set("set-env/SHELL", json!("/g/bash"))],
            "set-env:\n- SHELL=/g/bash\n",
        ),
        (
            Format::Yaml,
            Some("a: 1\r\n"),
            vec![set("set-env/SHELL", json!("/g/bash"))],
            "a: 1\r\nset-env:\r\n  - SHELL=/g/bash\r\n",
        ),
    ];
    for (format, text, edits, expected) in table {
        let edited = apply(format, text, &edits).expect("it can be edited");
        assert_eq!(edited.text, expected, "{text:?}");
        let again = apply(format, Some(&edited.text), &edits).expect("again");
        assert_eq!(again.text, expected, "a second time changes nothing");
    }
}

#[test]
fn what_others_wrote_into_an_entry_of_ours_stays() {
    let mixed = r#"{"hooks":{"Pre":[{"matcher":"Bash","hooks":[{"command":"/old/gsh hook claude"},{"command":"theirs"}]}]}}"#;
    let hooked = entry("hooks/Pre", hook("/g"));
    let edited = apply(Format::Json, Some(mixed), std::slice::from_ref(&hooked)).expect("it can be edited");
    let found = value_at(Format::Json, &edited.text, &["hooks", "Pre"]).expect("a list");
    assert_eq!(found, json!([{ "matcher": "Bash", "hooks": [{ "command": "theirs" }] }, hook("/g")]));
    let again = apply(Format::Json, Some(&edited.text), std::slice::from_ref(&hooked)).expect("again");
    assert_eq!(again.text, edited.text, "a second time changes nothing");
    // Theirs came into our entry after it was made.
    for before in [None, Some("{\"hooks\":{\"Pre\":[{\"hooks\":[{\"command\":\"/old/gsh hook claude\"}]}]}}")]
    {
        let edited = apply(Format::Json, before, std::slice::from_ref(&hooked)).expect("it can be edited");
        let later = edited.text.replacen("\"hooks\": [", "\"hooks\": [{ \"command\": \"theirs\" },", 1);
        assert_ne!(later, edited.text);
        let pairs: Vec<_> = [hooked.clone()].into_iter().zip(edited.before).collect();
        let back = revert(Format::Json, &later, &pairs).expect("taken back");
        let found = value_at(Format::Json, &back, &["hooks", "Pre"]).expect("a list");
        assert_eq!(found, json!([{ "matcher": "Bash", "hooks": [{ "command": "theirs" }] }]), "{back}");
    }
}

#[test]
fn what_is_not_plain_is_left_alone() {
    for (format, text) in [
        (Format::Json, "{ \"env\": 1 }"),
        (Format::Json, "[1]"),
        (Format::Json, "{ \"env\": {}, \"env\": {} }"),
        (Format::Json, "{ \"env\": "),
        (Format::Json, "\u{feff}nonsense"),
        (Format::Json, "{ \"a\": 1 \"b\": 2 }"),
        (Format::Json, "{ a: 1 }"),
        (Format::Json, "{ 'a': 1 }"),
        (Format::Yaml, "env: [A=1]\n"),
        (Format::Yaml, "env:\n  - \"A=1\"\n"),
        (Format::Yaml, "env:\n  A: 1\n"),
        (Format::Yaml, "---\na: 1\n"),
        (Format::Yaml, "{a: 1}\n"),
        (Format::Yaml, "a: 'x\nb'\n"),
        (Format::Yaml, "env:\n  - SHELL=/bin/zsh\n"),
    ] {
        let edited = apply(format, Some(text), &[set("env/SHELL", json!("/g/bash"))]);
        assert!(edited.is_err(), "{text:?}: {edited:?}");
    }
}

#[test]
fn only_ours_is_taken_back_from_a_file_that_changed() {
    let shell = set("env/SHELL", json!("/g/bash"));
    let hooked = entry("hooks/Pre", hook("/g"));
    let variable = set("set-env/SHELL", json!("/g/bash"));
    type Row<'a> = (Format, Option<&'a str>, &'a Edit, [&'a str; 2], &'a str);
    let table: [Row<'_>; 8] = [
        (Format::Json, Some("{\n  \"a\": 1\n}\n"), &shell, ["\"a\": 1", "\"a\": 2"], "{\n  \"a\": 2\n}\n"),
        (
            Format::Json,
            Some("{\n  \"env\": {\n    \"SHELL\": \"/bin/zsh\"\n  }\n}\n"),
            &shell,
            ["\"env\": {", "\"env\": { // here"],
            "{\n  \"env\": { // here\n    \"SHELL\": \"/bin/zsh\"\n  }\n}\n",
        ),
        // What was changed at our place is no longer ours.
        (
            Format::Json,
            Some("{}"),
            &shell,
            ["/g/bash", "/bin/fish"],
            "{\n  \"env\": {\n    \"SHELL\": \"/bin/fish\"\n  }\n}",
        ),
        (Format::Json, Some("{\n  \"a\": 1\n}"), &hooked, ["\"a\": 1", "\"a\": 3"], "{\n  \"a\": 3\n}"),
        (
            Format::Json,
            Some("{\n  \"hooks\": {\n    \"Pre\": [\n      1\n    ]\n  }\n}"),
            &hooked,
            ["1,", "7,"],
            "{\n  \"hooks\": {\n    \"Pre\": [\n      7\n    ]\n  }\n}",
        ),
        (Format::Yaml, Some("a: 1\n"), &variable, ["a: 1", "a: 2"], "a: 2\n"),
        (Format::Yaml, Some("set-env:\n  - A=1\n"), &variable, ["A=1", "A=3"], "set-env:\n  - A=3\n"),
        (
            Format::Yaml,
            Some("a: 1\n"),
            &variable,
            ["/g/bash", "/bin/sh"],
            "a: 1\nset-env:\n  - SHELL=/bin/sh\n",
        ),
    ];
    for (format, text, edit, [from, to], expected) in table {
        let edited = apply(format, text, std::slice::from_ref(edit)).expect("it can be edited");
        let changed = edited.text.replace(from, to);
        assert_ne!(changed, edited.text, "{from}");
        let before = edited.before.into_iter().next().expect("one edit");
        let back = revert(format, &changed, &[(edit.clone(), before)]).expect("it can be taken back");
        assert_eq!(back, expected, "{text:?}");
    }
}

#[test]
fn values_are_found() {
    let text = "{ \"env\": { \"SHELL\": \"/x\" } }";
    assert_eq!(value_at(Format::Json, text, &["env", "SHELL"]), Some(json!("/x")));
    assert_eq!(value_at(Format::Json, text, &["env", "PATH"]), None);
    assert_eq!(value_at(Format::Yaml, "e:\n  - A=1\n", &["e", "A"]), Some(json!("1")));
}
