//! What was understood of a stream so far: the files in `clis/` fill it, the reader turns it into the output
//! of the call, and `limit.rs` and `trouble.rs` look at it when the call failed. Everything in it has a bound.

use super::events::{AgentEvent, UsageSoFar};
use super::usage::{AgentUsage, UsageMeter};
use super::wire::{beginning, short};

/// A final message is text for people; 256 KiB holds the longest we have seen a hundred times over.
/// A report stands at its end, so the end is what is kept.
pub(crate) const MESSAGE_MOST: usize = 256 << 10;

/// What was understood of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub message: Tail,
    pub usage: UsageMeter,
    pub terminal: bool,
    /// The terminal event was cut before it said whether the call failed.
    pub cut_terminal: bool,
    pub error: bool,
    /// What the agent says went wrong, in its or the provider's words.
    pub complaint: Option<String>,
    /// The agent's own word for what went wrong: a machine-readable kind.
    pub kind: Option<String>,
    /// The agent waits for a network or for its provider, and has done nothing since.
    pub offline: bool,
    /// The CLI's log says that it waits out an answer of its provider.
    pub waiting_out: bool,
    /// It used a tool.
    pub worked: bool,
    /// The status of the provider's answer.
    pub status: Option<u16>,
    /// Seconds after which the provider wants to be asked again.
    pub retry_after_s: Option<u64>,
    pub plan: Option<PlanFields>,
    pub session: Option<String>,
    pub model: Option<String>,
    pub denials: Vec<String>,
    /// In the agent's own words. Most of what it does is never shown to anybody, so it is made short
    /// and safe when somebody looks.
    pub activity: Option<String>,
    /// What the agent did, where somebody takes it.
    pub events: Option<Vec<AgentEvent>>,
    /// The item that was told last.
    pub last_id: Option<String>,
    /// The tool that was used last.
    pub last_tool: Option<String>,
}

/// Whoever takes events does so after every piece of the stream; what one piece can hold beyond this is
/// dropped from its beginning.
const EVENTS_MOST: usize = 4096;

impl Heard {
    /// Notes something that the agent did.
    pub(super) fn event(&mut self, event: impl FnOnce() -> AgentEvent) {
        if let Some(events) = &mut self.events {
            if EVENTS_MOST <= events.len() {
                events.drain(..EVENTS_MOST / 2);
            }
            events.push(event());
        }
    }

    pub(super) fn says(&mut self, text: &str, is_piece: bool) {
        self.event(|| AgentEvent::Text { text: bounded(text, TEXT_MOST), is_piece });
    }

    pub(super) fn result(&mut self, text: &str, failed: bool) {
        self.event(|| AgentEvent::ToolResult { text: bounded(text, RESULT_MOST), failed });
    }

    pub(super) fn retries(&mut self, why: &str) {
        self.doing(why);
        self.event(|| AgentEvent::Retry { why: bounded(why, RESULT_MOST) });
    }

    /// Notes the agent's session, the first time that it is named.
    pub(super) fn is_session(&mut self, session: &str) {
        if self.session.is_none() {
            let session = short(session);
            self.session = Some(session.clone());
            self.event(|| AgentEvent::Session(session));
        }
    }

    pub(super) fn is_model(&mut self, model: &str) {
        let model = short(model);
        if self.model.as_ref() != Some(&model) {
            self.model = Some(model.clone());
            self.event(|| AgentEvent::Model(model));
        }
    }

    /// Tells what the call has used up so far, after it was counted.
    pub(super) fn used(&mut self) {
        let AgentUsage { tokens, usd, .. } = self.usage.so_far();
        self.event(|| AgentEvent::Usage(UsageSoFar { tokens, usd }));
    }

    /// Notes what the agent is doing.
    pub(super) fn doing(&mut self, what: &str) {
        let activity = self.activity.get_or_insert_default();
        activity.clear();
        activity.push_str(beginning(what));
    }

    /// Notes a tool that the agent uses, or lets another use.
    pub(super) fn doing_with(&mut self, tool: &str, on: Option<&str>) {
        self.doing(tool);
        if let (Some(activity), Some(on)) = (&mut self.activity, on) {
            activity.push_str(": ");
            activity.push_str(beginning(on));
        }
    }

    /// Notes that the agent was not allowed to use the tool that it used last.
    pub(super) fn is_denied(&mut self) {
        self.denials.truncate(DENIALS_MOST);
        self.denials.extend(self.last_tool.clone());
    }

    /// The same for a tool that only the agent's own record tells of; it may be told of twice.
    pub(super) fn is_denied_use(&mut self, tool: &str, on: &str) {
        let first_line = on.lines().next().unwrap_or_default();
        let used = short(&format!("{tool}: {first_line}"));
        if !self.denials.contains(&used) {
            self.denials.truncate(DENIALS_MOST);
            self.denials.push(used);
        }
    }

    /// Notes a tool with what it is used on.
    pub(super) fn uses(&mut self, tool: &str, on: Option<&str>) {
        self.last_tool = Some(match on {
            Some(on) => short(&format!("{tool}: {on}")),
            None => short(tool),
        });
        // What was said before a tool was used is no final message.
        self.message.clear();
        self.worked = true;
        self.doing_with(tool, on);
        self.tool(tool, on, false);
    }

    pub(super) fn tool(&mut self, tool: &str, on: Option<&str>, in_sub_agent: bool) {
        self.event(|| AgentEvent::Tool {
            tool: bounded(tool, NAME_MOST),
            target: on.map(|it| bounded(it, TEXT_MOST)),
            in_sub_agent,
        });
    }
}

/// Nobody reads more refusals than this.
const DENIALS_MOST: usize = 31;

/// What a person reads of one message; the final one is kept whole elsewhere.
const TEXT_MOST: usize = 16 << 10;

/// What a person reads of a result before looking into the file itself.
const RESULT_MOST: usize = 4 << 10;

const NAME_MOST: usize = 200;

/// Returns the beginning of a text, with a mark where it was cut.
fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// A text of which the end is kept.
#[derive(Debug, Default)]
pub(super) struct Tail(String);

impl Tail {
    pub(super) fn set(&mut self, text: &str) {
        self.0.clear();
        self.add(text);
    }

    pub(super) fn add(&mut self, text: &str) {
        self.0.push_str(end_of(text));
        // Cutting only when twice the limit is reached keeps the cost of many small additions linear.
        if 2 * MESSAGE_MOST <= self.0.len() {
            self.0 = end_of(&self.0).to_owned();
        }
    }

    pub(super) fn add_line(&mut self, text: &str) {
        self.add(text);
        self.add("\n");
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    pub(super) fn into_string(self) -> String {
        if self.0.len() <= MESSAGE_MOST { self.0 } else { end_of(&self.0).to_owned() }
    }
}

fn end_of(text: &str) -> &str {
    let mut start = text.len().saturating_sub(MESSAGE_MOST);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// What an agent's fields say about the plan of the account.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlanFields {
    pub rejected: bool,
    pub warned: bool,
    /// The agent's word for the window that counts.
    pub window: Option<String>,
    /// The part that is used, 1 being all.
    pub used: Option<f64>,
    pub resets_at_s: Option<i64>,
}
