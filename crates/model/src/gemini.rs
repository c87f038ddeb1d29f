//! Google's Gemini.

use crate::failure::{object, says};
use crate::provider_api::{OfferedTools, ProviderApi, ProviderRefusal, StreamEvent, ToolUse, arguments, id};
use crate::script::{FailureKind, ScriptedError, ScriptedTurn};
use serde_json::{Value, json};

pub(crate) struct Gemini;

impl ProviderApi for Gemini {
    fn offered(&self, request: &Value) -> OfferedTools {
        let groups = request["tools"].as_array().into_iter().flatten();
        let tools = groups.filter_map(|it| it["functionDeclarations"].as_array()).flatten();
        let schema = |it: &Value| match &it["parametersJsonSchema"] {
            Value::Null => arguments(&it["parameters"]),
            schema => arguments(schema),
        };
        tools.filter_map(|it| Some((it["name"].as_str()?.to_owned(), schema(it)))).collect()
    }

    fn message(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Value {
        let mut parts = Vec::new();
        if !turn.text.is_empty() {
            parts.push(json!({"text": turn.text}));
        }
        parts.extend(uses.iter().map(|(name, input)| json!({"functionCall": {"name": name, "args": input}})));
        let usage = &turn.usage;
        json!({
            "candidates": [
                {"index": 0, "finishReason": turn.stop.as_deref().unwrap_or("STOP"), "content": {"role": "model", "parts": parts}},
            ],
            "usageMetadata": {
                "promptTokenCount": usage.input, "candidatesTokenCount": usage.output,
                "cachedContentTokenCount": usage.cached, "totalTokenCount": usage.input + usage.output,
            },
            "modelVersion": model, "responseId": id(""),
        })
    }

    fn stream(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Vec<StreamEvent> {
        vec![(None, self.message(turn, uses, model))]
    }

    fn error(&self, error: &ScriptedError) -> Value {
        let usual = match error.status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        let mut inner = error.extra.clone();
        inner.insert("code".to_owned(), json!(error.status));
        inner.insert("message".to_owned(), json!(error.message));
        inner.insert("status".to_owned(), json!(error.kind.as_deref().unwrap_or(usual)));
        json!({"error": inner})
    }

    fn stream_error(&self, error: &ScriptedError) -> StreamEvent {
        (None, self.error(error))
    }

    fn refusal(&self, kind: FailureKind, seconds: u64) -> ProviderRefusal {
        let details = |details: Value| object(json!({"details": details}));
        ProviderRefusal::Error(match kind {
            FailureKind::Plan => {
                let info = json!([
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")},
                ]);
                let error = says(429, "RESOURCE_EXHAUSTED", "", "You exceeded your current quota");
                ScriptedError { extra: details(info), ..error }
            }
            FailureKind::Credit => {
                let info = json!([{
                    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
                }]);
                let error = says(429, "RESOURCE_EXHAUSTED", "", "You exceeded your current quota");
                ScriptedError { extra: details(info), ..error }
            }
            FailureKind::Key => {
                let words = "API key not valid. Please pass a valid API key.";
                says(400, "INVALID_ARGUMENT", "", words)
            }
            FailureKind::Overloaded => {
                says(503, "UNAVAILABLE", "", "The model is overloaded. Please try again later.")
            }
            FailureKind::Context => {
                let words =
                    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
                says(400, "INVALID_ARGUMENT", "", words)
            }
            FailureKind::Model => {
                let words = "models/no-such-model is not found for API version v1beta, or is not supported for \
                             generateContent.";
                says(404, "NOT_FOUND", "", words)
            }
            FailureKind::Policy => return ProviderRefusal::Stop("SAFETY"),
        })
    }
}
