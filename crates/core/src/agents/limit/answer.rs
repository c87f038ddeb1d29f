//! A provider's answer as JSON inside a text: some CLIs hand it on as it came, with or without words
//! before it. What it says in fields counts more than what its sentence says.

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
    let starts = text.match_indices('{').map(|it| it.0).take(TRIED);
    starts.filter(|it| text.len() - it <= ANSWER_MOST).find_map(|start| {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        values.next()?.ok().and_then(|it| of(&it))
    })
}

fn of(answer: &Value) -> Option<ProviderAnswer> {
    let error = answer.get("error").filter(|it| it.is_object()).unwrap_or(answer);
    let word = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| {
        let value = error.get(name).or_else(|| answer.get(name));
        value.and_then(|it| it.as_f64().or_else(|| it.as_str()?.parse().ok()))
    };
    let message = word("message").or_else(|| answer.get("error").and_then(Value::as_str).map(str::to_owned));
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
