//! A stream that a file describes instead of code: JSON lines, and five rules that say where an event's
//! type stands, what the agent's text is, which tool it uses on what, what it used up, and what is an
//! error. A path like `message.content[].text` leads through objects; `[]` goes through a list.

use super::claude::Target;
use super::reader::Heard;
use super::usage::UsageCounts;
use super::{Invocation, InvocationContext, program};
use crate::agent_table::{AgentRow, DescribedStart, UsageScope};
use crate::workflow::model::{Agent, Permissions};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

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

pub(super) fn invocation(
    row: &AgentRow,
    start: &DescribedStart,
    agent: &Agent,
    context: &InvocationContext<'_>,
) -> Result<Invocation, String> {
    let mut argv = vec![program::find(row, context)?];
    argv.extend(start.args.iter().cloned());
    let (word, allowed) = match agent.permissions {
        Permissions::All => ("all", &start.all),
        Permissions::Edit => ("edit", &start.edit),
        Permissions::Agent => ("agent", &start.agent),
    };
    match allowed {
        Some(words) => argv.extend(words.iter().cloned()),
        None => {
            return Err(format!(
                "{} cannot be held to permissions = \"{word}\"; write permissions = \"all\" in [agent]",
                row.name
            ));
        }
    }
    if let Some(model) = context.model {
        argv.extend(start.model.iter().map(|it| it.replace("{model}", model)));
    }
    argv.extend(agent.args.iter().cloned());
    Ok(Invocation {
        argv,
        env: start.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
    })
}

pub(super) fn line(heard: &mut Heard, text: &str, stream: &DescribedStream) {
    let Ok(event) = serde_json::from_str::<Value>(text) else { return };
    let Some(kind) = one(&event, &stream.kind) else { return };
    if let Some(session) = stream.session.as_ref().and_then(|it| one(&event, it)) {
        heard.is_session(&session);
    }
    if let Some(model) = stream.model.as_ref().and_then(|it| one(&event, it)) {
        heard.is_model(&model);
    }
    if kind == stream.text.event && holds(&event, stream.text.when.as_ref()) {
        let text = all(&event, &stream.text.path).join("");
        if !text.trim().is_empty() {
            heard.error = false;
            heard.message.set(&text);
            heard.doing(&text);
            heard.says(&text, false);
        }
    }
    if let Some(rule) = stream.tool.as_ref().filter(|it| it.event == kind) {
        let name = one(&event, &rule.name).unwrap_or_default();
        let target = rule.target.as_ref().and_then(|it| target(&event, it));
        heard.error = false;
        heard.uses(&name, target.as_deref());
    }
    if let Some(rule) = stream.result.as_ref().filter(|it| it.event == kind) {
        let failed = rule.failed.as_ref().is_some_and(|it| holds(&event, Some(it)));
        heard.result(&all(&event, &rule.path).join(""), failed);
    }
    if let Some(rule) = stream.usage.as_ref().filter(|it| it.event == kind) {
        usage(heard, &event, rule);
    }
    if let Some(rule) = stream.error.as_ref().filter(|it| it.event == kind && holds(&event, it.when.as_ref()))
    {
        heard.error = true;
        heard.status = rule.status.as_ref().and_then(|it| one(&event, it)?.parse().ok());
        heard.complaint = one(&event, &rule.text);
    }
    if stream.done.as_ref() == Some(&kind) {
        heard.terminal = true;
        heard.activity = None;
    }
}

fn usage(heard: &mut Heard, event: &Value, rule: &UsageRule) {
    let number = |path: &str| one(event, path).and_then(|it| it.parse::<f64>().ok()).filter(|it| 0.0 <= *it);
    let count = |path: Option<&String>| path.and_then(|it| number(it)).unwrap_or_default() as u64;
    let counts = UsageCounts {
        input: number(&rule.input).unwrap_or_default() as u64,
        cache_write: count(rule.cache_write.as_ref()),
        cache_read: count(rule.cache_read.as_ref()),
        output: number(&rule.output).unwrap_or_default() as u64,
    };
    let usd = rule.usd.as_ref().and_then(|it| number(it));
    heard.usage.count(None, counts, usd);
    heard.usage.turn();
    heard.used();
}

fn holds(event: &Value, when: Option<&(String, String)>) -> bool {
    when.is_none_or(|(path, expected)| one(event, path).as_ref() == Some(expected))
}

/// What a path leads to, as text; the first where it leads to several.
fn one(event: &Value, path: &str) -> Option<String> {
    all(event, path).into_iter().next()
}

fn all(event: &Value, path: &str) -> Vec<String> {
    let mut values = vec![event];
    for part in path.split('.') {
        let (name, is_list) = part.strip_suffix("[]").map_or((part, false), |it| (it, true));
        values = values.into_iter().filter_map(|it| it.get(name)).collect();
        if is_list {
            values = values.into_iter().filter_map(Value::as_array).flatten().collect();
        }
    }
    values.into_iter().filter_map(plain).collect()
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_so) => Some(is_so.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn target(event: &Value, path: &str) -> Option<String> {
    if let Some(text) = one(event, path) {
        return Some(text);
    }
    let value = path.split('.').try_fold(event, |value, name| value.get(name))?;
    let raw = RawValue::from_string(value.to_string()).ok()?;
    Target::read(Some(&raw)).map(std::borrow::Cow::into_owned)
}
