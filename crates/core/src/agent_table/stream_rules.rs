//! The rules by which a described stream is read: where an event's type stands, what the agent's text is, which
//! tool it uses on what, what it used up, and what is an error. They are followed in `agents/clis/described.rs`.

use crate::agent_table::usage_row::UsageScope;
use serde::Deserialize;

/// How a stream is read.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribedStream {
    /// Rule 1: where the type of an event stands.
    #[serde(rename = "type", default = "type_path")]
    pub kind: String,
    /// Where the agent names its session and its model, in whichever event.
    pub session: Option<String>,
    pub model: Option<String>,
    /// Rule 2: what the agent says. The last text after the last tool is its final message.
    pub text: EventRule,
    /// Rule 3: the tool that it begins to use, and what it answers.
    pub tool: Option<ToolRule>,
    pub result: Option<ResultRule>,
    /// Rule 4: what it used up.
    pub usage: Option<UsageRule>,
    /// Rule 5: what is an error. It counts also when the program exits with 0, until the agent speaks again.
    pub error: Option<ErrorRule>,
    /// The event that ends every complete stream. Without it the exit status alone says so.
    pub done: Option<String>,
}

fn type_path() -> String {
    "type".to_owned()
}

/// A text in an event, where another value of the event is as it has to be.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRule {
    pub event: String,
    pub path: String,
    /// A path and the value that it must lead to.
    pub when: Option<(String, String)>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRule {
    pub event: String,
    pub name: String,
    /// What it is used on: a text, or an object of arguments.
    pub target: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultRule {
    pub event: String,
    pub path: String,
    /// Leads to `true`, or to a value that says so, where the tool failed.
    pub failed: Option<(String, String)>,
    /// Leads to a value that says that the agent was not allowed to use the tool.
    pub denied: Option<(String, String)>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageRule {
    pub event: String,
    pub counts: UsageScope,
    /// What was sent and neither read from nor written to a cache.
    pub input: String,
    pub output: String,
    pub cache_read: Option<String>,
    pub cache_write: Option<String>,
    /// Whether `input` counts what came from the cache too.
    #[serde(default)]
    pub input_includes_cached: bool,
    pub usd: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRule {
    pub event: String,
    pub when: Option<(String, String)>,
    pub status: Option<String>,
    pub text: String,
}
