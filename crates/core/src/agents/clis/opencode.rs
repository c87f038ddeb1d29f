//! opencode, `opencode run --format json`. No event ends its stream: the last step says that it
//! finished with `stop`, or there is an `error`. Usage and cost come for each step and are added up.

use crate::agent_table::AgentRow;
use crate::agents::events::AgentEvent;
use crate::agents::heard::Heard;
use crate::agents::usage::UsageCounts;
use crate::agents::wire::{Count, Target, short, value};
use crate::agents::{Invocation, InvocationContext, program};
use crate::workflow::model::{Agent, Permissions};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

pub(in crate::agents) fn invocation(
    row: &AgentRow,
    agent: &Agent,
    context: &InvocationContext<'_>,
) -> Result<Invocation, String> {
    let mut argv = vec![program::find(row, context)?];
    // Its log file lacks what it wrote last when it ends; on standard error the log is whole.
    argv.extend(["run", "--format", "json", "--print-logs"].map(str::to_owned));
    let mut env = vec![
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
    ];
    match agent.permissions {
        Permissions::All => argv.push("--auto".to_owned()),
        Permissions::Edit => env.push(("OPENCODE_PERMISSION", EDIT_ONLY)),
        Permissions::Agent => (),
    }
    if let Some(model) = context.model {
        argv.extend(["-m".to_owned(), model.to_owned()]);
    }
    argv.extend(agent.args.iter().cloned());
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(Invocation { argv, env })
}

/// By itself it edits and runs everything, whatever its command line says; a tool that is denied here is not
/// offered to the model.
const EDIT_ONLY: &str = r#"{"*":"deny","read":"allow","edit":"allow","write":"allow","glob":"allow","grep":"allow","list":"allow","todowrite":"allow","todoread":"allow"}"#;

#[derive(Deserialize)]
struct OpencodeHead<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "sessionID")]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OpencodePart<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    cost: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OpencodeState<'a> {
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpencodeTokens {
    input: Count,
    output: Count,
    reasoning: Count,
    cache: OpencodeCache,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpencodeCache {
    read: Count,
    write: Count,
}

#[derive(Deserialize)]
struct OpencodeFailure<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OpencodeAnswer<'a> {
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
    #[serde(rename = "statusCode")]
    status: Option<u16>,
    #[serde(borrow, rename = "responseHeaders")]
    headers: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Headers<'a> {
    #[serde(borrow, rename = "retry-after")]
    retry_after: Option<Cow<'a, str>>,
}

pub(in crate::agents) fn line(heard: &mut Heard, text: &str) {
    let Ok(head) = serde_json::from_str::<OpencodeHead<'_>>(text) else { return };
    if let Some(session) = &head.session {
        heard.is_session(session);
    }
    let part = value::<OpencodePart<'_>>(head.part);
    match (head.kind.as_deref(), part) {
        (Some("step_start"), _) => {
            heard.terminal = false;
            heard.usage.turn();
            heard.doing("thinking");
            heard.event(|| AgentEvent::Thinking);
        }
        (Some("text"), Some(part)) => {
            if let Some(text) = value::<Cow<'_, str>>(part.text) {
                heard.message.set(&text);
                heard.doing(&text);
                heard.says(&text, false);
            }
        }
        (Some("tool_use"), Some(part)) => {
            if let Some(tool) = part.tool {
                let state = value::<OpencodeState<'_>>(part.state);
                let target = state.as_ref().and_then(|it| Target::read(it.input));
                let is_denied = state.as_ref().is_some_and(|it| {
                    value::<Cow<'_, str>>(it.error).is_some_and(|it| it.contains("rejected permission"))
                });
                heard.uses(&tool, target.as_deref());
                if let Some(state) = state.filter(|_| heard.events.is_some()) {
                    let failed = state.status.as_deref() == Some("error");
                    let text = value::<Cow<'_, str>>(if failed { state.error } else { state.output });
                    heard.result(&text.unwrap_or_default(), failed);
                }
                if is_denied {
                    heard.is_denied();
                }
            }
        }
        (Some("step_finish"), Some(part)) => finish_step(heard, &part),
        (Some("error"), _) => {
            heard.terminal = true;
            heard.error = true;
            if let Some(failure) = value::<OpencodeFailure<'_>>(head.error) {
                complain(heard, failure);
            }
        }
        (Some(_) | None, _) => (),
    }
}

fn finish_step(heard: &mut Heard, part: &OpencodePart<'_>) {
    heard.terminal = part.reason.as_deref() == Some("stop");
    if heard.terminal {
        heard.activity = None;
    }
    let tokens = value::<OpencodeTokens>(part.tokens).unwrap_or_default();
    let counts = UsageCounts {
        input: tokens.input.0,
        cache_write: tokens.cache.write.0,
        cache_read: tokens.cache.read.0,
        output: tokens.output.0.saturating_add(tokens.reasoning.0),
    };
    heard.usage.count(part.id.as_deref(), counts, value(part.cost));
    heard.used();
}

/// Reads what opencode's log says about this call: the model that it asks, whether the last thing that
/// happened is an answer of the provider that it is waiting out, and what "Unexpected server error" stands for.
/// Its stream says none of it.
pub(in crate::agents) fn own_log(heard: &mut Heard, log: &str) {
    if heard.complaint.as_deref().is_some_and(|it| it.starts_with(SEE_LOG)) {
        name_failure(heard, log);
    }
    if let Some(model) = requests(log).last().and_then(|it| field(it, "modelID")) {
        heard.model = Some(short(&model));
    }
    // It makes room and asks again without end; nothing that it does mends a prompt that is too long.
    heard.waiting_out |= heard.error && heard.kind.as_deref() == Some(TOO_LONG);
    if let (Some(why), false) = (waits_for(log), heard.terminal || heard.error) {
        heard.waiting_out = true;
        heard.complaint = Some(why);
    }
}

/// What it says about every mistake of its own, an unknown model for one.
const SEE_LOG: &str = "Unexpected server error";

/// Puts the error of the log, `ProviderModelNotFoundError: Model not found: a/b.`, in place of the words that
/// only point to the log.
fn name_failure(heard: &mut Heard, log: &str) {
    let mut failures = log.lines().rev().filter(|it| it.contains(" message=failed "));
    let Some(error) = failures.find_map(|it| field(it, "error")) else { return };
    if let Some((kind, _)) = error.split_once(": ").filter(|it| it.0.ends_with("Error")) {
        heard.kind = Some(kind.to_owned());
    }
    heard.complaint = Some(without_name(&error).to_owned());
}

/// Returns what was written to standard error beside the log, with the errors of the log in words.
pub(in crate::agents) fn complaints(written: &str) -> String {
    let words = |line: &str| match line.starts_with("timestamp=") {
        true if line.contains(" level=ERROR ") => field(line, "error").or_else(|| field(line, "error.error")),
        true => None,
        false => Some(line.to_owned()),
    };
    written.lines().filter_map(words).collect::<Vec<_>>().join("\n")
}

/// Its word for a prompt that does not fit.
const TOO_LONG: &str = "ContextOverflowError";

/// Returns the answer that opencode waits out, by the lines of its log.
pub fn waits_for(log: &str) -> Option<String> {
    let error = requests(log).last().and_then(|it| field(it, "error.error"))?;
    Some(without_name(&error).to_owned())
}

/// `Model not found` of `ProviderModelNotFoundError: Model not found`.
fn without_name(error: &str) -> &str {
    error.split_once(": ").map_or(error, |it| it.1)
}

/// The lines about requests that do the work; the others make titles.
fn requests(log: &str) -> impl Iterator<Item = &str> {
    log.lines().filter(|it| it.contains(" small=false"))
}

fn field(line: &str, name: &str) -> Option<String> {
    let rest = line.split_once(&format!(" {name}="))?.1;
    let Some(quoted) = rest.strip_prefix('"') else { return Some(rest.split(' ').next()?.to_owned()) };
    let mut is_escaped = false;
    let end = quoted.find(|it: char| {
        let ends = it == '"' && !is_escaped;
        is_escaped = it == '\\' && !is_escaped;
        ends
    });
    Some(quoted[..end?].replace("\\\"", "\""))
}

fn complain(heard: &mut Heard, failure: OpencodeFailure<'_>) {
    heard.kind = failure.name.map(Cow::into_owned);
    let Some(answer) = value::<OpencodeAnswer<'_>>(failure.data) else { return };
    heard.status = answer.status;
    heard.complaint = answer.message.map(Cow::into_owned);
    let after = value::<Headers<'_>>(answer.headers).and_then(|it| it.retry_after);
    heard.retry_after_s = after.and_then(|it| it.parse().ok());
}

#[cfg(test)]
mod tests {
    use super::complaints;

    #[test]
    fn what_is_no_log_stays_and_errors_of_the_log_are_said_in_words() {
        let written = "! something of its own\ntimestamp=1 level=INFO run=a message=created id=b\n\
            timestamp=1 level=ERROR run=a message=failed ref=c error=\"NoError: a \\\"quoted\\\" word\" cause=\"long\"\n\
            timestamp=1 level=ERROR run=a message=x cause=\"Cause([])\"";
        assert_eq!(complaints(written), "! something of its own\nNoError: a \"quoted\" word");
    }
}
