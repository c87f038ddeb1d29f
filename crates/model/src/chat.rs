//! OpenAI's Chat Completions, which most other providers speak too.

use crate::failure::{moment, of_openai};
use crate::provider_api::{OfferedTools, ProviderApi, ProviderRefusal, StreamEvent, ToolUse, arguments, id};
use crate::responses::openai_error;
use crate::script::{FailureKind, ScriptedError, ScriptedTurn};
use serde_json::{Value, json};

pub(crate) struct Chat;

impl ProviderApi for Chat {
    fn offered(&self, request: &Value) -> OfferedTools {
        let tools = request["tools"].as_array().into_iter().flatten().map(|it| &it["function"]);
        tools.filter_map(|it| Some((it["name"].as_str()?.to_owned(), arguments(&it["parameters"])))).collect()
    }

    fn message(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Value {
        let content = Some(&turn.text).filter(|it| !it.is_empty());
        let mut message = json!({"role": "assistant", "content": content});
        if !uses.is_empty() {
            message["tool_calls"] = json!(calls(uses));
        }
        json!({
            "id": id("chatcmpl-"), "object": "chat.completion", "created": moment(0), "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish(uses)}], "usage": usage(turn),
        })
    }

    fn stream(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Vec<StreamEvent> {
        let (id, created) = (id("chatcmpl-"), moment(0));
        let chunk = |choices: Value| {
            json!({
                "id": id, "object": "chat.completion.chunk", "created": created, "model": model,
                "choices": choices,
            })
        };
        let piece = |delta: Value, finish: Option<&str>| {
            (None, chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}])))
        };
        let mut events = vec![piece(json!({"role": "assistant", "content": ""}), None)];
        if !turn.text.is_empty() {
            events.push(piece(json!({"content": turn.text}), None));
        }
        events.extend(calls(uses).into_iter().map(|it| piece(json!({"tool_calls": [it]}), None)));
        events.push(piece(json!({}), Some(finish(uses))));
        let mut last = chunk(json!([]));
        last["usage"] = usage(turn);
        events.push((None, last));
        events.push((None, json!("[DONE]")));
        events
    }

    fn error(&self, error: &ScriptedError) -> Value {
        openai_error(error)
    }

    fn stream_error(&self, error: &ScriptedError) -> StreamEvent {
        (None, openai_error(error))
    }

    fn refusal(&self, kind: FailureKind, seconds: u64) -> ProviderRefusal {
        ProviderRefusal::Error(of_openai(kind, seconds))
    }
}

fn usage(turn: &ScriptedTurn) -> Value {
    let usage = &turn.usage;
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output, "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}

fn finish(uses: &[ToolUse]) -> &'static str {
    if uses.is_empty() { "stop" } else { "tool_calls" }
}

fn calls(uses: &[ToolUse]) -> Vec<Value> {
    let call = |(index, (name, input)): (usize, &ToolUse)| {
        let arguments = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        json!({
            "index": index, "id": id("call_"), "type": "function",
            "function": {"name": name, "arguments": arguments},
        })
    };
    uses.iter().enumerate().map(call).collect()
}
