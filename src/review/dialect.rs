//! The two languages of endpoints: what is asked in them and what an answer says. Nothing but JSON.

use serde_json::{Value, json};

use super::evidence::tools;
use super::verdict::schema;
use crate::policy::reviewing::{Reviewing, Style};

/// The tool that a verdict is given with.
pub(super) const SUBMIT: &str = "submit_verdict";
/// How many tokens an answer may have, where that must be said.
const TOKENS: u32 = 2_048;

/// What a model answered.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// Its text.
    pub(super) text: String,
    /// The tools it wants used.
    pub(super) calls: Vec<Use>,
    /// The message as it is handed back.
    message: Value,
}

/// A tool's use.
#[derive(Debug, Clone)]
pub(super) struct Use {
    id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// Where the endpoint is.
#[must_use]
pub(super) fn address(set: &Reviewing) -> String {
    let base = set.url.as_deref().unwrap_or_default().trim_end_matches('/');
    match set.style {
        Style::Openai => format!("{base}/chat/completions"),
        Style::Anthropic => format!("{base}/messages"),
    }
}

/// What stands in the head of a request.
#[must_use]
pub(super) fn headers(style: Style, key: Option<&str>) -> Vec<(&'static str, String)> {
    match style {
        Style::Openai => key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect(),
        Style::Anthropic => {
            let key = key.map(|key| ("x-api-key", key.to_owned()));
            key.into_iter().chain([("anthropic-version", "2023-06-01".to_owned())]).collect()
        }
    }
}

/// A message of ours.
#[must_use]
pub(super) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// The body of a request: with the tools while it may look, else for a verdict in the structure if `structured`.
#[must_use]
pub(super) fn body(
    (set, system): (&Reviewing, &str),
    messages: &[Value],
    (looks, structured): (bool, bool),
) -> Value {
    let mut body = match set.style {
        Style::Openai => {
            let first = json!({ "role": "system", "content": system });
            let messages: Vec<&Value> = std::iter::once(&first).chain(messages).collect();
            json!({ "model": set.model, "stream": false, "messages": messages })
        }
        Style::Anthropic => {
            json!({ "model": set.model, "max_tokens": TOKENS, "system": system, "messages": messages })
        }
    };
    let Some(object) = body.as_object_mut() else { return body };
    if looks {
        object.insert("tools".to_owned(), offered(set.style));
    } else if structured && set.style == Style::Openai {
        let format = json!({ "name": "verdict", "strict": true, "schema": schema() });
        object.insert("response_format".to_owned(), json!({ "type": "json_schema", "json_schema": format }));
    }
    // What it was shown stays in the messages, and there the tools must be named as well.
    if !looks && messages.len() > 1 && set.style == Style::Anthropic {
        object.insert("tools".to_owned(), offered(set.style));
        object.insert("tool_choice".to_owned(), json!({ "type": "none" }));
    }
    body
}

fn offered(style: Style) -> Value {
    let submit = (SUBMIT, "Give the verdict. This ends the review.", schema());
    let tool = |(name, says, takes): (&str, &str, Value)| match style {
        Style::Openai => {
            json!({ "type": "function", "function": { "name": name, "description": says, "parameters": takes } })
        }
        Style::Anthropic => json!({ "name": name, "description": says, "input_schema": takes }),
    };
    std::iter::once(submit).chain(tools()).map(tool).collect()
}

/// What an answer says.
#[must_use]
pub(super) fn reply(style: Style, answer: &Value) -> Option<Reply> {
    match style {
        Style::Openai => Some(completion(answer.pointer("/choices/0/message")?)),
        Style::Anthropic => Some(parts(answer.get("content")?.as_array()?)),
    }
}

fn completion(message: &Value) -> Reply {
    let uses = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls = uses.filter_map(|call| {
        let arguments = call.pointer("/function/arguments")?.as_str()?;
        Some(Use {
            id: call.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
            name: call.pointer("/function/name")?.as_str()?.to_owned(),
            arguments: serde_json::from_str(arguments).unwrap_or_default(),
        })
    });
    let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
    Reply { text: text.to_owned(), calls: calls.collect(), message: message.clone() }
}

fn parts(parts: &[Value]) -> Reply {
    let of = |kind: &'static str| {
        parts.iter().filter(move |part| part.get("type").and_then(Value::as_str) == Some(kind))
    };
    let text: Vec<&str> = of("text").filter_map(|part| part.get("text")?.as_str()).collect();
    let calls = of("tool_use").filter_map(|part| {
        Some(Use {
            id: part.get("id")?.as_str()?.to_owned(),
            name: part.get("name")?.as_str()?.to_owned(),
            arguments: part.get("input").cloned().unwrap_or_default(),
        })
    });
    let message = json!({ "role": "assistant", "content": parts });
    Reply { text: text.join("\n"), calls: calls.collect(), message }
}

/// The messages that go on from a look at files: the answer that asked for it, and what was shown.
#[must_use]
pub(super) fn looked(style: Style, reply: &Reply, shown: &[String]) -> Vec<Value> {
    let results = reply.calls.iter().zip(shown);
    let mut messages = vec![reply.message.clone()];
    match style {
        Style::Openai => messages.extend(
            results.map(|(call, shown)| json!({ "role": "tool", "tool_call_id": call.id, "content": shown })),
        ),
        Style::Anthropic => {
            let results: Vec<Value> = results
                .map(|(call, shown)| json!({ "type": "tool_result", "tool_use_id": call.id, "content": shown }))
                .collect();
            messages.push(json!({ "role": "user", "content": results }));
        }
    }
    messages
}
