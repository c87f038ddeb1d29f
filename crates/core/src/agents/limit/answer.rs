//! A provider's answer as JSON inside a text: some CLIs hand it on as it came, with or without words
//! before it. What it says in fields counts more than what its sentence says.

use super::{phrase, talk};
use serde_json::Value;

/// What the fields of an answer say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ProviderAnswer {
    pub message: Option<String>,
    /// Its own word for what went wrong.
    pub kind: Option<String>,
    pub status: Option<u16>,
    pub resets_at_s: Option<i64>,
    pub retry_after_s: Option<u64>,
}

/// An answer about a failure is short; what is longer is something else.
const ANSWER_MOST: usize = 64 << 10;

/// Braces that are tried as the beginning of an answer.
const TRIED: usize = 4;

/// Returns the answer inside a text, if there is one.
pub(super) fn read(text: &str) -> Option<ProviderAnswer> {
    let before = text.split('{').next().unwrap_or_default();
    if talk::tells_of_code(&phrase::plain(before)) {
        return None;
    }
    let starts = text.match_indices('{').map(|it| it.0).take(TRIED);
    starts.filter(|it| text.len() - it <= ANSWER_MOST).find_map(|start| {
        let answer = &text[start..];
        value(answer).or_else(|| value(&from_python(answer))).and_then(|it| of(&it))
    })
}

fn value(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok()
}

/// Libraries in Python print an answer as Python writes it: `{'error': {'code': None}}`.
fn from_python(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut quote = None;
    let mut escaped = false;
    for character in text.chars() {
        match (quote, character) {
            (Some(_), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if character == open && !escaped => {
                quote = None;
                json.push('"');
            }
            (Some(_), '"') => json.push_str("\\\""),
            (Some(_), '\'') => json.push('\''),
            // A line that was broken for a terminal.
            (Some(_), '\n') => json.push(' '),
            (Some(_), _) if escaped => json.extend(['\\', character]),
            (None, '"' | '\'') => {
                quote = Some(character);
                json.push('"');
            }
            (_, _) => json.push(character),
        }
        escaped = false;
        if quote.is_none() {
            for (word, same) in [("None", "null"), ("True", "true"), ("False", "false")] {
                if json.ends_with(word) {
                    json.truncate(json.len() - word.len());
                    json.push_str(same);
                }
            }
        }
    }
    json
}

fn of(answer: &Value) -> Option<ProviderAnswer> {
    let error = answer.get("error").filter(|it| it.is_object()).unwrap_or(answer);
    let word = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| {
        let value = error.get(name).or_else(|| answer.get(name));
        value.and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()))
    };
    let message = word("message").or_else(|| answer.get("error").and_then(Value::as_str).map(str::to_owned));
    let message = message.or_else(|| word("detail"));
    // Google's answers come inside an answer of Google's, and a gateway's quote their provider's.
    let raw = error.get("metadata").and_then(|it| it.get("raw")).and_then(Value::as_str);
    let inner = raw.or(message.as_deref()).filter(|it| it.starts_with('{')).and_then(value);
    if let Some(inner) = inner.as_ref().and_then(of) {
        return Some(inner);
    }
    let kind = word("code").or_else(|| word("status")).or_else(|| word("type"));
    let status = number("code").or_else(|| number("status")).or_else(|| number("statusCode"));
    let status = status.filter(|it| (400.0..600.0).contains(it)).map(|it| it as u16);
    if message.is_none() && kind.is_none() {
        return None;
    }
    let in_s = number("resets_in_seconds").or_else(|| number("retry_after")).or_else(|| retry_delay(error));
    Some(ProviderAnswer {
        message,
        kind,
        status,
        resets_at_s: number("resets_at").map(|it| it as i64),
        retry_after_s: in_s.filter(|it| 0.0 <= *it).map(|it| it.ceil() as u64),
    })
}

/// Google says it as `{"@type": "…RetryInfo", "retryDelay": "7200s"}` among the details.
fn retry_delay(error: &Value) -> Option<f64> {
    let details = error.get("details")?.as_array()?;
    details.iter().find_map(|it| it.get("retryDelay")?.as_str()?.strip_suffix('s')?.parse().ok())
}
