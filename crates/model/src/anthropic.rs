//! Anthropic's Messages.

use crate::failure::{moment, object, says};
use crate::provider_api::{OfferedTools, ProviderApi, ProviderRefusal, StreamEvent, ToolUse, arguments, id};
use crate::script::{FailureKind, ScriptedError, ScriptedTurn};
use serde_json::{Value, json};

pub(crate) struct Anthropic;

impl ProviderApi for Anthropic {
    fn offered(&self, request: &Value) -> OfferedTools {
        let tools = request["tools"].as_array().into_iter().flatten();
        tools
            .filter_map(|it| Some((it["name"].as_str()?.to_owned(), arguments(&it["input_schema"]))))
            .collect()
    }

    fn message(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Value {
        let mut content = Vec::new();
        if !turn.text.is_empty() {
            content.push(json!({"type": "text", "text": turn.text}));
        }
        content.extend(uses.iter().map(
            |(name, input)| json!({"type": "tool_use", "id": id("toolu_"), "name": name, "input": input}),
        ));
        json!({
            "id": id("msg_"), "type": "message", "role": "assistant", "model": model, "content": content,
            "stop_reason": turn.stop.as_deref().unwrap_or(if uses.is_empty() { "end_turn" } else { "tool_use" }),
            "stop_sequence": null,
            "usage": {
                "input_tokens": turn.usage.input, "output_tokens": turn.usage.output,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": turn.usage.cached,
            },
        })
    }

    fn stream(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Vec<StreamEvent> {
        let whole = self.message(turn, uses, model);
        let mut start = whole.clone();
        start["content"] = json!([]);
        start["stop_reason"] = Value::Null;
        start["usage"]["output_tokens"] = json!(1);
        let mut events = vec![event("message_start", json!({"message": start}))];
        for (index, block) in whole["content"].as_array().into_iter().flatten().enumerate() {
            let (head, delta) = if block["type"] == "text" {
                (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
            } else {
                let mut head = block.clone();
                head["input"] = json!({});
                let input = block["input"].to_string();
                (head, json!({"type": "input_json_delta", "partial_json": input}))
            };
            events.push(event("content_block_start", json!({"index": index, "content_block": head})));
            events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
            events.push(event("content_block_stop", json!({"index": index})));
        }
        let delta = json!({"stop_reason": whole["stop_reason"], "stop_sequence": null});
        events.push(event("message_delta", json!({"usage": whole["usage"], "delta": delta})));
        events.push(event("message_stop", json!({})));
        events
    }

    fn error(&self, error: &ScriptedError) -> Value {
        let usual = match error.status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        let mut inner = error.extra.clone();
        inner.insert("type".to_owned(), json!(error.kind.as_deref().unwrap_or(usual)));
        inner.insert("message".to_owned(), json!(error.message));
        json!({"type": "error", "error": inner, "request_id": id("req_")})
    }

    fn stream_error(&self, error: &ScriptedError) -> StreamEvent {
        (Some("error"), self.error(error))
    }

    fn refusal(&self, kind: FailureKind, seconds: u64) -> ProviderRefusal {
        let request = "invalid_request_error";
        ProviderRefusal::Error(match kind {
            FailureKind::Plan => {
                let headers = json!({
                    "anthropic-ratelimit-unified-status": "rejected",
                    "anthropic-ratelimit-unified-representative-claim": "five_hour",
                    "anthropic-ratelimit-unified-reset": moment(seconds).to_string(),
                    "retry-after": seconds.to_string(),
                    "x-should-retry": "false",
                });
                let words = "This request would exceed your account's rate limit. Please try again later.";
                ScriptedError { headers: object(headers), ..says(429, "rate_limit_error", "", words) }
            }
            FailureKind::Key => says(401, "authentication_error", "", "invalid x-api-key"),
            FailureKind::Credit => {
                says(400, request, "", "Your credit balance is too low to access the Anthropic API.")
            }
            FailureKind::Overloaded => says(529, "overloaded_error", "", "Overloaded"),
            FailureKind::Context => {
                says(400, request, "", "prompt is too long: 250000 tokens > 200000 maximum")
            }
            FailureKind::Model => says(404, "not_found_error", "", "model: no-such-model"),
            FailureKind::Policy => return ProviderRefusal::Stop("refusal"),
        })
    }
}

fn event(name: &'static str, mut data: Value) -> StreamEvent {
    data["type"] = json!(name);
    (Some(name), data)
}
