//! OpenAI's chat completions, whole and as a stream.

use serde_json::{Value, json};

use super::http::Reply;
use super::{Next, Turn, text};

pub(super) fn reply(body: &Value, _: &str, next: &mut dyn FnMut(Turn) -> Next) -> Reply {
    let (mut message, why) = match next(turn(body)) {
        Next::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Next::Call { name, input, number } => {
            let function = json!({ "name": name, "arguments": input.to_string() });
            let id = format!("call_{number}");
            let calls = json!([{ "index": 0, "id": id, "type": "function", "function": function }]);
            (json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
        }
    };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    let whole = |object: &str, choices: Value| {
        json!({
            "id": "chatcmpl_1", "object": object, "created": 1, "model": body["model"], "choices": choices,
        })
    };
    if body["stream"] != json!(true) {
        if let Some(calls) = message["tool_calls"].as_array_mut() {
            calls.iter_mut().filter_map(Value::as_object_mut).for_each(|call| drop(call.remove("index")));
        }
        let choice = json!({ "index": 0, "message": message, "finish_reason": why });
        let mut all = whole("chat.completion", json!([choice]));
        all["usage"] = usage;
        return Reply::Json(all);
    }
    let choices = [
        json!({ "index": 0, "delta": message, "finish_reason": null }),
        json!({ "index": 0, "delta": {}, "finish_reason": why }),
    ];
    let chunks =
        choices.into_iter().map(|choice| whole("chat.completion.chunk", json!([choice])).to_string());
    // The count comes by itself: an agent may take a piece that has one for nothing but the count.
    let mut count = whole("chat.completion.chunk", json!([]));
    count["usage"] = usage;
    let end = [count.to_string(), "[DONE]".to_owned()];
    Reply::Events(chunks.chain(end).map(|data| (None, data)).collect())
}

fn turn(body: &Value) -> Turn {
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]);
    let tools = tools
        .map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), tool["parameters"].clone()))
        .collect();
    let messages = body["messages"].as_array().into_iter().flatten();
    let results = messages.filter(|message| message["role"] == "tool");
    Turn { tools, results: results.map(|message| text(&message["content"])).collect() }
}
