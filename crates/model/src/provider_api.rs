//! What every provider's interface has: which tools a request offers, how an answer is put, whole or in
//! pieces, and how an error is.

use crate::script::{FailureKind, ScriptedError, ScriptedTurn};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The tools of a request, each with the names of its arguments.
pub(crate) type OfferedTools = BTreeMap<String, Vec<String>>;

/// A tool that the model uses: its name, and an object of arguments or a text.
pub(crate) type ToolUse = (String, Value);

/// An event of a stream: its name where the interface has names, and its data.
pub(crate) type StreamEvent = (Option<&'static str>, Value);

/// How a provider refuses.
pub(crate) enum ProviderRefusal {
    Error(ScriptedError),
    /// An answer without content that ends with this word.
    Stop(&'static str),
}

pub(crate) trait ProviderApi: Sync {
    fn offered(&self, request: &Value) -> OfferedTools;

    fn message(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Value;

    fn stream(&self, turn: &ScriptedTurn, uses: &[ToolUse], model: &str) -> Vec<StreamEvent>;

    fn error(&self, error: &ScriptedError) -> Value;

    fn stream_error(&self, error: &ScriptedError) -> StreamEvent;

    /// What a provider answers when it will not serve a call.
    fn refusal(&self, kind: FailureKind, seconds: u64) -> ProviderRefusal;
}

/// The names of the arguments that a JSON schema describes.
pub(crate) fn arguments(schema: &Value) -> Vec<String> {
    schema["properties"].as_object().map(|it| it.keys().cloned().collect()).unwrap_or_default()
}

/// Returns an id that no other answer of this process has.
pub(crate) fn id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}{:x}{:08x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
