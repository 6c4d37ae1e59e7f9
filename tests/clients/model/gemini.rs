//! Gemini's content, whole and as a stream.

use serde_json::{Value, json};

use super::http::Reply;
use super::{Next, Turn, text};

pub(super) fn reply(body: &Value, path: &str, next: &mut dyn FnMut(Turn) -> Next) -> Reply {
    let part = match next(turn(body)) {
        Next::Text(text) => json!({ "text": text }),
        Next::Call { name, input, number } => {
            json!({ "functionCall": { "id": format!("call_{number}"), "name": name, "args": input } })
        }
    };
    let whole = json!({
        "candidates": [{ "index": 0, "content": { "role": "model", "parts": [part] }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": "fake-model",
    });
    if path.contains(":streamGenerateContent") {
        return Reply::Events(vec![(None, whole.to_string())]);
    }
    Reply::Json(whole)
}

fn turn(body: &Value) -> Turn {
    let sets = body["tools"].as_array().into_iter().flatten();
    let tools = sets.flat_map(|set| set["functionDeclarations"].as_array().into_iter().flatten());
    let tools =
        tools.map(|tool| (tool["name"].as_str().unwrap_or_default().to_owned(), schema(tool))).collect();
    let contents = body["contents"].as_array().into_iter().flatten();
    let parts = contents.flat_map(|content| content["parts"].as_array().into_iter().flatten());
    let results = parts.filter_map(|part| part.get("functionResponse"));
    Turn { tools, results: results.map(|result| text(&result["response"])).collect() }
}

fn schema(tool: &Value) -> Value {
    let own = if tool["parametersJsonSchema"].is_null() {
        &tool["parameters"]
    } else {
        &tool["parametersJsonSchema"]
    };
    own.clone()
}
