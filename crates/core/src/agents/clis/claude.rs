//! Claude Code, `claude -p` with `stream-json`. A `result` event ends every complete stream; its key
//! order differs between versions, and an API error is a `result` of subtype `success` with
//! `is_error`. Sub-agents write to the same stream, marked by `parent_tool_use_id`; what they say is
//! not the agent's message. When one of them ends late the agent continues, and there is a `result` for
//! each time it stopped: the last counts. Its `usage` is that of one turn, its `modelUsage` and cost
//! are those of the whole process.

use crate::agent_table::AgentRow;
use crate::agents::events::AgentEvent;
use crate::agents::heard::{Heard, PlanFields};
use crate::agents::program;
use crate::agents::usage::{self, UsageCounts};
use crate::agents::wire::{Count, Few, Target, short, value};
use crate::agents::{Invocation, InvocationContext};
use crate::workflow::model::{Agent, Permissions};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// By default it tries ten times, which takes three minutes even for a wrong key. We wait better than
/// it does: visibly, and through a restart.
const RETRIES: &str = "3";

pub(in crate::agents) fn invocation(
    row: &AgentRow,
    agent: &Agent,
    context: &InvocationContext<'_>,
) -> Result<Invocation, String> {
    let mut argv = vec![program::find(row, context)?];
    argv.extend(["-p", "--output-format", "stream-json", "--verbose"].map(str::to_owned));
    let mut env = vec![
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", RETRIES),
        // Otherwise the first turn of a fresh process may run before its tools are there.
        ("MCP_CONNECTION_NONBLOCKING", "0"),
    ];
    match agent.permissions {
        Permissions::All => {
            argv.push("--dangerously-skip-permissions".to_owned());
            if context.root {
                env.push(("IS_SANDBOX", "1"));
            }
        }
        Permissions::Edit => argv.extend(["--permission-mode", "acceptEdits"].map(str::to_owned)),
        Permissions::Agent => (),
    }
    // Nobody is there to answer: a version that knows this says no at once and tells the model so.
    if agent.permissions != Permissions::All
        && (context.version)(&argv[0]).is_some_and(|it| PROMPTS_SINCE <= numbers(&it))
    {
        argv.extend(["--permission-prompts", "none"].map(str::to_owned));
    }
    if let Some(model) = context.model {
        argv.extend(["--model".to_owned(), model.to_owned()]);
    }
    argv.extend(usage::cap_flags(row, agent, context));
    argv.extend(agent.args.iter().cloned());
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(Invocation { argv, env })
}

/// The first version with `--permission-prompts`.
const PROMPTS_SINCE: [u32; 3] = [2, 1, 259];

/// Reads `2.1.325 (Claude Code)`; what is no number is 0.
fn numbers(version: &str) -> [u32; 3] {
    let mut parts = version.split(|it: char| !it.is_ascii_digit()).filter(|it| !it.is_empty());
    [(); 3].map(|()| parts.next().and_then(|it| it.parse().ok()).unwrap_or(0))
}

#[derive(Deserialize)]
struct ClaudeHead<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    rate_limit_info: Option<&'a RawValue>,
    #[serde(borrow)]
    attempt: Option<&'a RawValue>,
    #[serde(borrow)]
    max_retries: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    api_error_status: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
    #[serde(borrow)]
    terminal_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    stop_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    api_error: Option<&'a RawValue>,
    #[serde(borrow)]
    api_error_type: Option<&'a RawValue>,
    #[serde(borrow, rename = "modelUsage")]
    model_usage: Option<&'a RawValue>,
    #[serde(borrow)]
    total_cost_usd: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    permission_denials: Option<&'a RawValue>,
}

/// The head of what a model said. Nearly all lines that are read are of this kind and as expected, so
/// they are read in one go instead of first around the message and then into it.
#[derive(Deserialize)]
struct Spoken<'a> {
    #[serde(borrow, rename = "type")]
    _kind: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: ClaudeMessage<'a>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_tool_use_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Few<ClaudeBlock<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ClaudeBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// What came back from tools.
#[derive(Deserialize)]
struct ClaudeAnswer<'a> {
    #[serde(borrow, default)]
    content: Few<ClaudeToolResult<'a>>,
}

#[derive(Deserialize)]
struct ClaudeToolResult<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    /// A text, or a list of blocks.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Denial<'a> {
    #[serde(borrow)]
    tool_name: Cow<'a, str>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ClaudeRateLimit<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow, rename = "resetsAt")]
    resets_at: Option<&'a RawValue>,
    #[serde(borrow, rename = "rateLimitType")]
    window: Option<Cow<'a, str>>,
    utilization: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeTokens {
    #[serde(alias = "inputTokens")]
    input_tokens: Count,
    #[serde(alias = "outputTokens")]
    output_tokens: Count,
    #[serde(alias = "cacheReadInputTokens")]
    cache_read_input_tokens: Count,
    #[serde(alias = "cacheCreationInputTokens")]
    cache_creation_input_tokens: Count,
}

impl ClaudeTokens {
    fn counts(&self) -> UsageCounts {
        UsageCounts {
            input: self.input_tokens.0,
            cache_write: self.cache_creation_input_tokens.0,
            cache_read: self.cache_read_input_tokens.0,
            output: self.output_tokens.0,
        }
    }
}

/// Whether the line cannot tell anything new: results of tools, and pieces of messages that come
/// whole as well. They are most of a stream, and only name the session once more. What stands first
/// in an object is its own; a second type would make the line unreadable.
pub(in crate::agents) fn is_known(heard: &Heard, line: &[u8]) -> bool {
    let idle: [&[u8]; 2] = [br#"{"type":"user","#, br#"{"type":"stream_event","#];
    heard.session.is_some() && idle.iter().any(|it| line.starts_with(it))
}

pub(in crate::agents) fn line(heard: &mut Heard, text: &str) {
    if text.starts_with(r#"{"type":"assistant","#)
        && let Ok(spoken) = serde_json::from_str::<Spoken<'_>>(text)
    {
        if let Some(session) = &spoken.session_id {
            heard.is_session(session);
        }
        return assistant(heard, &spoken.message, spoken.error, spoken.parent_tool_use_id.is_none());
    }
    let Ok(head) = serde_json::from_str::<ClaudeHead<'_>>(text) else { return };
    if let Some(session) = &head.session_id {
        heard.is_session(session);
    }
    match head.kind.as_deref() {
        Some("system") => system(heard, &head),
        Some("assistant") => {
            if let Some(message) = value::<ClaudeMessage<'_>>(head.message) {
                assistant(heard, &message, head.error, head.parent_tool_use_id.is_none());
            }
        }
        Some("user") if heard.events.is_some() => answered(heard, head.message),
        Some("rate_limit_event") => rate_limit(heard, &head),
        Some("result") => result(heard, &head),
        // The list of refused tools may be so long that the line was cut in it, before the type. No
        // other event has a cost, and its text was an event of its own.
        None if head.total_cost_usd.is_some() => {
            result(heard, &head);
            heard.cut_terminal = true;
        }
        Some(_) | None => (),
    }
}

fn system(heard: &mut Heard, head: &ClaudeHead<'_>) {
    match head.subtype.as_deref() {
        Some("init") => {
            if let Some(model) = value::<Cow<'_, str>>(head.model) {
                heard.is_model(&model);
            }
            heard.terminal = false;
        }
        Some("api_retry") => {
            let attempt = value::<u64>(head.attempt).unwrap_or_default();
            let most = value::<u64>(head.max_retries).unwrap_or_default();
            let why = value::<Cow<'_, str>>(head.error).unwrap_or(Cow::Borrowed("unknown"));
            heard.retries(&format!("the provider did not answer ({why}); retry {attempt} of {most}"));
        }
        Some(_) | None => (),
    }
}

fn assistant(heard: &mut Heard, message: &ClaudeMessage<'_>, error: Option<&RawValue>, is_main: bool) {
    let error = value::<Cow<'_, str>>(error);
    if error.is_some() || message.model.as_deref() == Some("<synthetic>") {
        heard.kind = error.map(Cow::into_owned);
        heard.complaint = message.content.first.last().and_then(|it| it.text.as_deref()).map(str::to_owned);
        return;
    }
    if let (Some(id), Some(tokens)) = (&message.id, value::<ClaudeTokens>(message.usage)) {
        let written = |it: &ClaudeBlock<'_>| {
            it.text.as_ref().map_or(0, |it| it.len()) + it.input.map_or(0, |it| it.get().len())
        };
        let bytes: usize = message.content.first.iter().map(written).sum();
        heard.usage.request(id, tokens.counts(), bytes as u64);
        heard.used();
    }
    for block in &message.content.first {
        match (block.kind.as_ref(), &block.text, &block.name) {
            ("text", Some(text), _) => {
                if is_main {
                    heard.message.set(text);
                }
                heard.doing(text);
                heard.says(text, false);
            }
            ("tool_use", _, Some(name)) => {
                let on = Target::read(block.input);
                if is_main {
                    heard.uses(name, on.as_deref());
                } else {
                    heard.doing_with(name, on.as_deref().or(Some("in a sub-agent")));
                    heard.tool(name, on.as_deref(), true);
                }
            }
            ("thinking", _, _) => {
                heard.doing("thinking");
                heard.event(|| AgentEvent::Thinking);
            }
            _ => (),
        }
    }
}

fn answered(heard: &mut Heard, message: Option<&RawValue>) {
    let Some(answer) = value::<ClaudeAnswer<'_>>(message) else { return };
    for block in answer.content.first.iter().filter(|it| it.kind == "tool_result") {
        let text = match value::<Cow<'_, str>>(block.content) {
            Some(text) => text.into_owned(),
            None => {
                let blocks = value::<Few<ClaudeBlock<'_>>>(block.content).unwrap_or_default();
                blocks.first.iter().filter_map(|it| it.text.as_deref()).collect::<Vec<_>>().join("\n")
            }
        };
        heard.result(&text, block.is_error == Some(true));
    }
}

fn rate_limit(heard: &mut Heard, head: &ClaudeHead<'_>) {
    let Some(info) = value::<ClaudeRateLimit<'_>>(head.rate_limit_info) else { return };
    heard.plan = Some(PlanFields {
        rejected: info.status == "rejected",
        warned: info.status == "allowed_warning",
        window: info.window.map(|it| short(&it)),
        used: info.utilization,
        resets_at_s: value::<f64>(info.resets_at).map(|it| it as i64),
    });
}

fn result(heard: &mut Heard, head: &ClaudeHead<'_>) {
    heard.terminal = true;
    heard.cut_terminal = false;
    let says_error = value::<bool>(head.is_error).unwrap_or(false);
    heard.error = says_error || head.subtype.as_deref().is_some_and(|it| it.starts_with("error"));
    heard.status = value(head.api_error_status);
    let text = value::<Cow<'_, str>>(head.result);
    // Others that speak this dialect call it a success.
    heard.error |= text.as_ref().is_some_and(|it| it.starts_with("[API Error: ") && it.ends_with(']'));
    if heard.error {
        let listed = value::<Few<Cow<'_, str>>>(head.errors).map(|it| it.first.join("; "));
        if let Some(complaint) = text.map(Cow::into_owned).or(listed) {
            heard.complaint = Some(complaint);
        }
        // The most telling word first; what an earlier event said is less telling than a subtype.
        let word = |raw| value::<Cow<'_, str>>(raw).map(Cow::into_owned);
        let reason = word(head.terminal_reason).filter(|it| it != "completed" && it != "api_error");
        let subtype = head.subtype.as_deref().filter(|it| *it != "success").map(str::to_owned);
        let earlier = heard.kind.take();
        let refusal = word(head.stop_reason).filter(|it| it == "refusal");
        heard.kind = refusal
            .or_else(|| word(head.api_error))
            .or(reason)
            .or(subtype)
            .or(earlier)
            .or_else(|| word(head.api_error_type));
    } else if let Some(text) = text.filter(|it| !it.is_empty()) {
        // An empty result stands for a turn that hooks ended; the last text is the message then.
        heard.message.set(&text);
    }
    let by_model = value::<BTreeMap<Cow<'_, str>, ClaudeTokens>>(head.model_usage).unwrap_or_default();
    let turn = if by_model.is_empty() { value::<ClaudeTokens>(head.usage) } else { None };
    let counts = by_model.values().chain(&turn).map(ClaudeTokens::counts);
    let whole = counts.fold(UsageCounts::default(), |sum, it| sum.plus(&it));
    heard.usage.count(None, whole, value(head.total_cost_usd));
    heard.used();
    let denials = value::<Few<Denial<'_>>>(head.permission_denials).unwrap_or_default();
    heard.denials = denials.first.iter().map(denial).collect();
    heard.activity = None;
}

fn denial(denial: &Denial<'_>) -> String {
    match Target::read(denial.tool_input) {
        Some(on) => short(&format!("{}: {on}", denial.tool_name)),
        None => short(&denial.tool_name),
    }
}
