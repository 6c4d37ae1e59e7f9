//! OpenAI's responses.

use serde_json::{Value, json};

use super::http::Reply;
use super::{Next, Turn, text};

pub(super) fn reply(body: &Value, _: &str, next: &mut dyn FnMut(Turn) -> Next) -> Reply {
    let item = match next(turn(body)) {
        Next::Text(text) => json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Next::Call { name, input, number } => json!({
            "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
            "name": name, "arguments": input.to_string(), "status": "completed",
        }),
    };
    let usage = json!({
        "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 5,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15,
    });
    let over = json!({
        "id": "resp_1", "object": "response", "status": "completed", "model": body["model"], "output": [item],
        "usage": usage,
    });
    if body["stream"] != json!(true) {
        return Reply::Json(over);
    }
    let begun = json!({ "id": "resp_1", "object": "response", "status": "in_progress", "output": [] });
    let events = [
        ("response.created", json!({ "response": begun })),
        ("response.output_item.added", json!({ "output_index": 0, "item": item })),
        ("response.output_item.done", json!({ "output_index": 0, "item": item })),
        ("response.completed", json!({ "response": over })),
    ];
    Reply::Events(
        events
            .into_iter()
            .map(|(name, mut data)| {
                data["type"] = json!(name);
                (Some(name), data.to_string())
            })
            .collect(),
    )
}

fn turn(body: &Value) -> Turn {
    let tools = body["tools"].as_array().into_iter().flatten();
    let tools = tools
        .map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), tool["parameters"].clone()))
        .collect();
    let items = body["input"].as_array().into_iter().flatten();
    let results = items.filter(|item| item["type"] == "function_call_output");
    Turn { tools, results: results.map(|item| text(&item["output"])).collect() }
}
