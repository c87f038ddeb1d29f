//! Codex, `codex exec --json`. A turn ends with `turn.completed` or `turn.failed`; an `error` event
//! does not end it, most are retries. What it knows about the plan is not in the stream but in the
//! record that it keeps of the session. Usage is that of the whole thread, so threads are not resumed.

use crate::agent_table::AgentRow;
use crate::agents::events::AgentEvent;
use crate::agents::heard::{Heard, PlanFields};
use crate::agents::usage::UsageCounts;
use crate::agents::wire::{Count, Few, short, value};
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
    // The tree is ours to judge, not Codex's; plugins would be fetched from the network at each start.
    let fixed = ["exec", "--json", "--skip-git-repo-check", "--disable", "plugins", "--disable", "apps"];
    argv.extend(fixed.map(str::to_owned));
    argv.extend(["-c", "analytics.enabled=false"].map(str::to_owned));
    match agent.permissions {
        Permissions::All => argv.push("--dangerously-bypass-approvals-and-sandbox".to_owned()),
        Permissions::Edit => argv.extend(["--sandbox", "workspace-write"].map(str::to_owned)),
        Permissions::Agent => (),
    }
    if let Some(model) = context.model {
        argv.extend(["--model".to_owned(), model.to_owned()]);
    }
    argv.extend(agent.args.iter().cloned());
    argv.push("-".to_owned());
    Ok(Invocation { argv, env: Vec::new() })
}

#[derive(Deserialize)]
struct CodexHead<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    thread_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CodexItem<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    server: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Option<&'a RawValue>,
    #[serde(borrow)]
    query: Option<&'a RawValue>,
    #[serde(borrow)]
    aggregated_output: Option<&'a RawValue>,
    exit_code: Option<i64>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct CodexChange<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CodexTokens {
    input_tokens: Count,
    cached_input_tokens: Count,
    cache_write_input_tokens: Count,
    output_tokens: Count,
}

impl CodexTokens {
    fn counts(&self) -> UsageCounts {
        UsageCounts {
            input: self.input_tokens.0,
            cache_write: self.cache_write_input_tokens.0,
            cache_read: self.cached_input_tokens.0,
            output: self.output_tokens.0,
        }
    }
}

#[derive(Deserialize)]
struct CodexFailure<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
}

pub(in crate::agents) fn line(heard: &mut Heard, text: &str) {
    let Ok(head) = serde_json::from_str::<CodexHead<'_>>(text) else { return };
    match head.kind.as_deref() {
        Some("thread.started") => {
            if let Some(thread) = &head.thread_id {
                heard.is_session(thread);
            }
        }
        Some(kind @ ("item.started" | "item.updated" | "item.completed")) => {
            heard.offline = false;
            if let Some(it) = value::<CodexItem<'_>>(head.item) {
                if kind == "item.completed" {
                    heard.usage.turn();
                }
                item(heard, &it, kind == "item.completed");
            }
        }
        Some("turn.completed") => {
            heard.terminal = true;
            heard.error = false;
            let tokens = value::<CodexTokens>(head.usage).unwrap_or_default();
            heard.usage.count(None, tokens.counts(), None);
            heard.used();
            heard.activity = None;
        }
        Some("turn.failed") => {
            heard.terminal = true;
            heard.error = true;
            if let Some(failure) = value::<CodexFailure<'_>>(head.error) {
                complain(heard, &failure.message);
            }
            heard.activity = None;
        }
        Some("error") => {
            if let Some(message) = value::<Cow<'_, str>>(head.message) {
                heard.retries(&message);
                // Without a network it waits for one as long as it may live.
                heard.offline = message.contains("waiting for network");
                if !message.starts_with("Reconnecting...") {
                    complain(heard, &message);
                }
            }
        }
        Some(_) | None => (),
    }
}

/// The end of what a command says that the sandbox did not let write.
const REFUSED_BY_SANDBOX: &str = "Read-only file system";

fn item(heard: &mut Heard, item: &CodexItem<'_>, is_complete: bool) {
    let text = |raw| value::<Cow<'_, str>>(raw);
    // An item comes when it begins and again when it ends; some come only when they end.
    let is_told = item.id.is_some() && item.id.as_deref() == heard.last_id.as_deref();
    heard.last_id = item.id.as_deref().map(str::to_owned);
    let mut uses = |tool: &str, on: Option<&str>| {
        if is_told {
            heard.message.clear();
            heard.doing_with(tool, on);
        } else {
            heard.uses(tool, on);
        }
    };
    match item.kind.as_ref() {
        "agent_message" => {
            if let Some(text) = text(item.text) {
                heard.message.set(&text);
                heard.doing(&text);
                if is_complete {
                    heard.says(&text, false);
                }
            }
        }
        "command_execution" => {
            uses("run", text(item.command).as_deref().map(inside_shell));
            if is_complete {
                let failed = item.exit_code.is_some_and(|it| it != 0);
                let output = text(item.aggregated_output).unwrap_or_default();
                heard.result(&output, failed);
                // Its sandbox refuses by letting nothing be written.
                if failed && output.trim_end().ends_with(REFUSED_BY_SANDBOX) {
                    heard.is_denied();
                }
            }
        }
        "file_change" => {
            let changes = value::<Few<CodexChange<'_>>>(item.changes).unwrap_or_default();
            uses("edit", changes.first.first().map(|it| it.path.as_ref()));
            if is_complete && item.status.as_deref() == Some("failed") {
                heard.result("the change could not be made", true);
            }
        }
        "mcp_tool_call" => uses(&text(item.server).unwrap_or_default(), text(item.tool).as_deref()),
        "web_search" => uses("search", text(item.query).as_deref()),
        "reasoning" => {
            heard.doing("thinking");
            if is_complete {
                heard.event(|| AgentEvent::Thinking);
            }
        }
        // A list of things to do, a warning about a model, and what is still to come.
        _ => (),
    }
}

/// Commands are shown as the agent meant them, without the shell around them.
fn inside_shell(command: &str) -> &str {
    let inside = ["/bin/bash -lc ", "bash -lc ", "/bin/sh -c ", "/usr/bin/zsh -lc ", "/bin/zsh -lc "]
        .iter()
        .find_map(|it| command.strip_prefix(it))
        .unwrap_or(command);
    let quote = |it: char| it == '\'' || it == '"';
    inside.strip_prefix(quote).and_then(|it| it.strip_suffix(quote)).unwrap_or(inside)
}

fn complain(heard: &mut Heard, message: &str) {
    // These two are Codex's own words around the status of an answer.
    let words = ["unexpected status ", "exceeded retry limit, last status: "];
    let after = words.iter().find_map(|it| message.strip_prefix(it));
    heard.status = after.and_then(|it| it.get(..3)).and_then(|it| it.parse().ok());
    heard.complaint = Some(message.to_owned());
}

#[derive(Deserialize)]
struct CodexRecord<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    /// Each turn begins with the model that it asks.
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    info: Option<&'a RawValue>,
    #[serde(borrow)]
    rate_limits: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    /// What the model was told that its tool did.
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    /// What the tool was to do, as JSON in a text.
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The arguments of a tool that runs a command.
#[derive(Deserialize)]
struct CommandArguments {
    cmd: String,
}

#[derive(Deserialize)]
struct RateLimits {
    primary: Option<CodexRateLimit>,
    secondary: Option<CodexRateLimit>,
}

#[derive(Deserialize)]
struct CodexRateLimit {
    used_percent: f64,
    window_minutes: Option<u64>,
    resets_at: Option<f64>,
}

#[derive(Deserialize)]
struct TaskError<'a> {
    #[serde(borrow)]
    codex_error_info: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct TokenInfo {
    total_token_usage: CodexTokens,
}

#[derive(Deserialize)]
struct TurnContext<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
}

/// Reads what the record of the session says about the plan, the model, and what was used so far.
pub(in crate::agents) fn rollout(heard: &mut Heard, rollout: &str) {
    let mut asked = None;
    for line in rollout.lines() {
        let Ok(record) = serde_json::from_str::<CodexRecord<'_>>(line) else { continue };
        if record.kind.as_deref() == Some("turn_context")
            && let Some(model) = value::<TurnContext<'_>>(record.payload).and_then(|it| it.model)
        {
            heard.is_model(&model);
        }
        let Some(payload) = value::<Payload<'_>>(record.payload) else { continue };
        match payload.kind.as_deref() {
            Some("token_count") => {
                if let Some(info) = value::<TokenInfo>(payload.info) {
                    heard.usage.count(None, info.total_token_usage.counts(), None);
                    heard.used();
                }
                if let Some(limits) = value::<RateLimits>(payload.rate_limits) {
                    heard.plan = fullest(limits).or(heard.plan.take());
                }
            }
            Some("function_call") => {
                let arguments = value::<Cow<'_, str>>(payload.arguments).unwrap_or_default();
                let command = serde_json::from_str::<CommandArguments>(&arguments).ok();
                asked = command.map(|it| it.cmd);
            }
            // The stream says nothing of a tool that was refused; the record has what the model was told.
            Some("function_call_output") => {
                let told = value::<Cow<'_, str>>(payload.output).unwrap_or_default();
                if let Some(command) = asked.take().filter(|_| is_refusal(&told)) {
                    heard.is_denied_use("run", &command);
                }
            }
            Some(_) | None if payload.model.is_some() && heard.model.is_none() => {
                heard.model = payload.model.map(|it| short(&it));
            }
            Some("task_complete") => {
                let error = value::<TaskError<'_>>(payload.error).and_then(|it| it.codex_error_info);
                if error.as_deref() == Some("usage_limit_exceeded") {
                    heard.plan.get_or_insert_default().rejected = true;
                }
            }
            Some(_) | None => (),
        }
    }
}

/// Whether a tool was refused: by a person's settings, or by a sandbox that lets nothing be written.
fn is_refusal(told: &str) -> bool {
    let failed = told.contains("Process exited with code ") && !told.contains("Process exited with code 0\n");
    told.contains("rejected by user approval settings")
        || failed && told.trim_end().ends_with(REFUSED_BY_SANDBOX)
}

/// Of several windows the one that is used up decides, and of two such the later end.
fn fullest(limits: RateLimits) -> Option<PlanFields> {
    let windows = [limits.primary, limits.secondary].into_iter().flatten();
    let spent = |it: &CodexRateLimit| (it.used_percent.min(100.0), it.resets_at.unwrap_or(0.0));
    let window =
        windows.max_by(|a, b| spent(a).partial_cmp(&spent(b)).unwrap_or(std::cmp::Ordering::Equal))?;
    Some(PlanFields {
        // Being at the limit is no refusal: the call may have been the last that fitted.
        rejected: false,
        warned: WARN_PERCENT <= window.used_percent,
        window: window.window_minutes.map(|it| format!("{it} minutes")),
        used: Some(window.used_percent / 100.0),
        resets_at_s: window.resets_at.map(|it| it as i64),
    })
}

/// Codex warns its users itself at three quarters.
const WARN_PERCENT: f64 = 75.0;
