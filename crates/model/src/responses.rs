//! OpenAI's Responses.

use crate::failure::{moment, of_openai};
use crate::provider_api::{OfferedTools, ProviderApi, ProviderRefusal, StreamEvent, ToolUse, arguments, id};
use crate::script::{FailureKind, ScriptedError, ScriptedTurn};
use serde_json::{Value, json};

pub(crate) struct Responses;

impl ProviderApi for Responses {
    fn offered(&self, request: &Value) -> OfferedTools {
        let tools = request["tools"].as_array().into_iter().flatten();
        let named = tools.filter_map(|it| match it["type"].as_str()? {
            "function" => Some((it["name"].as_str()?.to_owned(), arguments(&it["parameters"]))),
            "custom" => Some((it["name"].as_str()?.to_owned(), Vec::new())),
            "local_shell" => Some(("local_shell".to_owned(), Vec::new())),
            _ => None,
        });
        named.collect()
    }

    fn message(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Value {
        let usage = &turn.usage;
        json!({
            "id": id("resp_"), "object": "response", "created_at": moment(0), "status": "completed",
            "model": model, "output": items(turn, uses),
            "usage": {
                "input_tokens": usage.input, "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.input + usage.output,
            },
        })
    }

    fn stream(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Vec<StreamEvent> {
        let whole = self.message(turn, uses, model);
        let mut bare = whole.clone();
        bare["status"] = json!("in_progress");
        bare["output"] = json!([]);
        bare["usage"] = Value::Null;
        let mut events = vec![event("response.created", json!({"response": bare}))];
        for (index, item) in whole["output"].as_array().into_iter().flatten().enumerate() {
            let mut head = item.clone();
            if item["type"] == "message" {
                head["content"] = json!([]);
            }
            events.push(event("response.output_item.added", json!({"output_index": index, "item": head})));
            if item["type"] == "message" {
                let delta = json!({
                    "output_index": index, "content_index": 0, "item_id": item["id"],
                    "delta": item["content"][0]["text"],
                });
                events.push(event("response.output_text.delta", delta));
            }
            events.push(event("response.output_item.done", json!({"output_index": index, "item": item})));
        }
        events.push(event("response.completed", json!({"response": whole})));
        events
    }

    fn error(&self, error: &ScriptedError) -> Value {
        openai_error(error)
    }

    fn stream_error(&self, error: &ScriptedError) -> StreamEvent {
        let code = error.code.as_ref().or(error.kind.as_ref());
        let inner = json!({"code": code, "message": error.message});
        let response = json!({
            "id": id("resp_"), "object": "response", "status": "failed", "output": [], "usage": null,
            "error": inner,
        });
        event("response.failed", json!({"response": response}))
    }

    fn refusal(&self, kind: FailureKind, seconds: u64) -> ProviderRefusal {
        ProviderRefusal::Error(of_openai(kind, seconds))
    }
}

/// An error of either of OpenAI's interfaces.
pub(crate) fn openai_error(error: &ScriptedError) -> Value {
    let mut inner = error.extra.clone();
    inner.insert("type".to_owned(), json!(error.kind.as_deref().unwrap_or("server_error")));
    inner.insert("code".to_owned(), json!(error.code));
    inner.insert("param".to_owned(), Value::Null);
    inner.insert("message".to_owned(), json!(error.message));
    json!({"error": inner})
}

fn items(turn: &ScriptedTurn, uses: &[ToolUse]) -> Vec<Value> {
    let mut items = Vec::new();
    if !turn.text.is_empty() {
        let content = json!([{"type": "output_text", "text": turn.text, "annotations": []}]);
        items.push(json!({
            "type": "message", "role": "assistant", "id": id("msg_"), "status": "completed", "content": content,
        }));
    }
    items.extend(uses.iter().map(|(name, input)| match input {
        Value::String(text) => json!({
            "type": "custom_tool_call", "id": id("ctc_"), "call_id": id("call_"), "name": name, "input": text,
        }),
        other => json!({
            "type": "function_call", "id": id("fc_"), "call_id": id("call_"), "name": name,
            "arguments": other.to_string(),
        }),
    }));
    items
}

fn event(name: &'static str, mut data: Value) -> StreamEvent {
    data["type"] = json!(name);
    (Some(name), data)
}
