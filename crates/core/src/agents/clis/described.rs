//! A stream that a file describes instead of code: JSON lines, and five rules that say where an event's
//! type stands, what the agent's text is, which tool it uses on what, what it used up, and what is an
//! error. A path like `message.content[].text` leads through objects; `[]` goes through a list.

use crate::agent_table::{AgentRow, DescribedStart, DescribedStream, UsageRule};
use crate::agents::heard::Heard;
use crate::agents::usage::UsageCounts;
use crate::agents::wire::{Target, whole};
use crate::agents::{Invocation, InvocationContext, program};
use crate::workflow::model::{Agent, Permissions};
use serde_json::Value;
use serde_json::value::RawValue;

pub(in crate::agents) fn invocation(
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
                "{} cannot be limited to permissions = \"{word}\"; write permissions = \"all\" in [agent]",
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

pub(in crate::agents) fn line(heard: &mut Heard, text: &str, stream: &DescribedStream) {
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
        if rule.denied.as_ref().is_some_and(|it| holds(&event, Some(it))) {
            heard.is_denied();
        }
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
    let count = |path: Option<&String>| path.and_then(|it| number(it)).map(whole).unwrap_or_default();
    let counts = UsageCounts {
        input: number(&rule.input).map(whole).unwrap_or_default(),
        cache_write: count(rule.cache_write.as_ref()),
        cache_read: count(rule.cache_read.as_ref()),
        output: number(&rule.output).map(whole).unwrap_or_default(),
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
