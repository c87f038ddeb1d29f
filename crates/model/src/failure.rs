//! The ways in which providers refuse calls, so that one script makes every provider say it in its own words.

use crate::script::{FailureKind, ScriptedError};
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The moment that lies so many seconds ahead, in seconds since 1970.
pub(crate) fn moment(seconds: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|it| it.as_secs()).unwrap_or_default() + seconds
}

/// An error with a status, a type, a code and a sentence.
pub(crate) fn says(status: u16, kind: &str, code: &str, message: &str) -> ScriptedError {
    ScriptedError {
        status,
        kind: Some(kind.to_owned()),
        code: Some(code.to_owned()).filter(|it| !it.is_empty()),
        message: message.to_owned(),
        ..ScriptedError::default()
    }
}

/// As OpenAI says it, which most others have copied.
pub(crate) fn of_openai(kind: FailureKind, seconds: u64) -> ScriptedError {
    let request = "invalid_request_error";
    match kind {
        FailureKind::Plan => {
            let error = says(429, "usage_limit_reached", "", "The usage limit has been reached");
            let extra =
                json!({"plan_type": "plus", "resets_at": moment(seconds), "resets_in_seconds": seconds});
            let headers = json!({"retry-after": seconds.to_string()});
            ScriptedError { extra: object(extra), headers: object(headers), ..error }
        }
        FailureKind::Key => says(401, request, "invalid_api_key", "Incorrect API key provided: sk-test."),
        FailureKind::Credit => {
            let words = "You exceeded your current quota, please check your plan and billing details.";
            says(429, "insufficient_quota", "insufficient_quota", words)
        }
        FailureKind::Overloaded => {
            says(503, "server_error", "", "The server is currently overloaded. Please try again later.")
        }
        FailureKind::Context => {
            let words = "This model's maximum context length is 128000 tokens. However, your messages resulted in \
                         190000 tokens.";
            says(400, request, "context_length_exceeded", words)
        }
        FailureKind::Model => {
            let words = "The model `no-such-model` does not exist or you do not have access to it.";
            says(404, request, "model_not_found", words)
        }
        FailureKind::Policy => {
            let words = "Your request was flagged as potentially violating our usage policy.";
            says(400, request, "content_policy_violation", words)
        }
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
