//! Gemini CLI, `gemini -o stream-json`. Its `result` event ends every complete stream, also after an
//! error; ended by a signal it exits with 0 and without one. Its message comes in pieces.

use crate::agent_table::AgentRow;
use crate::agents::heard::Heard;
use crate::agents::usage::UsageCounts;
use crate::agents::wire::{Count, Target, value};
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
    argv.extend(["-o", "stream-json", "--skip-trust"].map(str::to_owned));
    match agent.permissions {
        Permissions::All => argv.push("--yolo".to_owned()),
        Permissions::Edit => argv.extend(["--approval-mode", "auto_edit"].map(str::to_owned)),
        Permissions::Agent => (),
    }
    if let Some(model) = context.model {
        argv.extend(["-m".to_owned(), model.to_owned()]);
    }
    argv.extend(agent.args.iter().cloned());
    // Otherwise it starts itself a second time and does not pass signals on.
    Ok(Invocation { argv, env: vec![("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned())] })
}

#[derive(Deserialize)]
struct GeminiHead<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    delta: Option<bool>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    stats: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct GeminiFailure<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Stats {
    total_tokens: Count,
    input_tokens: Count,
    output_tokens: Count,
    cached: Count,
}

pub(in crate::agents) fn line(heard: &mut Heard, text: &str) {
    let Ok(head) = serde_json::from_str::<GeminiHead<'_>>(text) else { return };
    match head.kind.as_deref() {
        Some("init") => {
            if let Some(session) = &head.session_id {
                heard.is_session(session);
            }
            if let Some(model) = &head.model {
                heard.is_model(model);
            }
        }
        Some("message") if head.role.as_deref() == Some("assistant") => {
            if let Some(text) = value::<Cow<'_, str>>(head.content) {
                if head.delta == Some(true) {
                    heard.message.add(&text);
                } else {
                    heard.message.set(&text);
                }
                heard.doing(&text);
                heard.says(&text, head.delta == Some(true));
            }
        }
        Some("tool_result") if heard.events.is_some() => {
            let text = value::<Cow<'_, str>>(head.output).unwrap_or_default();
            heard.result(&text, head.status.as_deref() == Some("error"));
        }
        Some("tool_use") => {
            heard.usage.turn();
            if let Some(tool) = head.tool_name {
                heard.uses(&tool, Target::read(head.parameters).as_deref());
            }
        }
        Some("error") => {
            if let Some(message) = value::<Cow<'_, str>>(head.message) {
                heard.retries(&message);
                heard.complaint = Some(message.into_owned());
            }
        }
        Some("result") => {
            heard.terminal = true;
            heard.error = head.status.as_deref() != Some("success");
            if let Some(failure) = value::<GeminiFailure<'_>>(head.error) {
                complain(heard, &failure.message);
            }
            let stats = value::<Stats>(head.stats).unwrap_or_default();
            // What it thought is in the total alone, and is paid for as output.
            let beyond_input = stats.total_tokens.0.saturating_sub(stats.input_tokens.0);
            let counts = UsageCounts {
                input: stats.input_tokens.0,
                cache_write: 0,
                cache_read: stats.cached.0,
                output: stats.output_tokens.0.max(beyond_input),
            };
            heard.usage.count(None, counts, None);
            heard.used();
            heard.activity = None;
        }
        Some(_) | None => (),
    }
}

/// Reads its standard error, where alone it says that its provider did not answer and that it asks again.
pub(in crate::agents) fn own_retries(heard: &mut Heard, complaints: &str) {
    let tried = |line: &&str| line.starts_with("Attempt ") && line.contains(" failed");
    let Some(last) = complaints.lines().rev().find(tried).filter(|_| !heard.terminal) else { return };
    let why = last.split_once("backoff... ").or_else(|| last.split_once(" failed: ")).map_or(last, |it| it.1);
    let why = why.trim_start_matches("_ApiError: ").trim_start_matches("Error: ");
    heard.waiting_out = true;
    complain(heard, why.split(". Retrying after ").next().unwrap_or(why));
    let status = last.split_once("with status ").and_then(|it| it.1.get(..3));
    heard.status = heard.status.or_else(|| status.and_then(|it| it.parse().ok()));
}

#[derive(Deserialize)]
struct GeminiAnswer<'a> {
    #[serde(borrow)]
    error: AnswerError<'a>,
}

#[derive(Deserialize)]
struct AnswerError<'a> {
    code: Option<u16>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
}

/// The message is a sentence, or the provider's whole answer in brackets.
fn complain(heard: &mut Heard, message: &str) {
    let inside = message.strip_prefix("[API Error: ").unwrap_or(message);
    let answer =
        inside.rfind('}').and_then(|end| serde_json::from_str::<GeminiAnswer<'_>>(&inside[..=end]).ok());
    heard.complaint = Some(inside.replacen("]\n", "\n", 1).trim_end_matches(']').to_owned());
    if let Some(answer) = answer {
        heard.status = answer.error.code;
        if let Some(sentence) = answer.error.message {
            heard.complaint = Some(sentence.into_owned());
        }
    }
}
