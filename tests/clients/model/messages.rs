//! Anthropic's messages.

use serde_json::{Value, json};

use super::http::Reply;
use super::{Next, Turn, text};

pub(super) fn reply(body: &Value, _: &str, next: &mut dyn FnMut(Turn) -> Next) -> Reply {
    let (block, stop) = block(next(turn(body)));
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let mut message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    if body["stream"] != json!(true) {
        message["content"] = json!([block]);
        message["stop_reason"] = json!(stop);
        return Reply::Json(message);
    }
    let (begins, delta) = pieces(&block);
    let events = [
        ("message_start", json!({ "message": message })),
        ("content_block_start", json!({ "index": 0, "content_block": begins })),
        ("content_block_delta", json!({ "index": 0, "delta": delta })),
        ("content_block_stop", json!({ "index": 0 })),
        ("message_delta", json!({ "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage })),
        ("message_stop", json!({})),
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
        .map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), tool["input_schema"].clone()))
        .collect();
    let blocks = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|message| message["content"].as_array().map(Vec::as_slice).unwrap_or_default());
    let results = blocks.filter(|block| block["type"] == "tool_result");
    Turn { tools, results: results.map(|block| text(&block["content"])).collect() }
}

fn block(next: Next) -> (Value, &'static str) {
    match next {
        Next::Text(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        Next::Call { name, input, number } => {
            let id = format!("toolu_{number}");
            (json!({ "type": "tool_use", "id": id, "name": name, "input": input }), "tool_use")
        }
    }
}

/// A block as a stream has it: how it begins, and all the rest at once.
fn pieces(block: &Value) -> (Value, Value) {
    let mut begins = block.clone();
    if block["type"] == "text" {
        begins["text"] = json!("");
        return (begins, json!({ "type": "text_delta", "text": block["text"] }));
    }
    begins["input"] = json!({});
    (begins, json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }))
}
