//! Follows the stream of one call and keeps only what will be needed: whatever an agent writes, and
//! however much, the memory used here has a bound. Each agent's own module says what its lines mean;
//! this one cuts lines, and says at the end what it all came to.

use super::events::{AgentEvent, UsageSoFar};
use super::limit::{self, PlanFields};
use super::usage::{AgentUsage, UsageMeter};
use super::wire::{beginning, excerpt, readable, short};
use super::{AgentOutput, CallExit, claude, codex, command, described, gemini, opencode, trouble};
use crate::agent_table::{AgentRow, Stream};
use std::io::BufRead;

/// The longest line that is read whole. What matters on long lines is the text of a message: models
/// write at most 128,000 tokens, half a megabyte of text, in one. Longer lines carry results of
/// tools; of those only the complete members before the cut are read.
pub(crate) const LINE_MOST: usize = 1 << 20;

/// A final message is text for people; 256 KiB holds the longest we have seen a hundred times over.
/// A report stands at its end, so the end is what is kept.
pub(crate) const MESSAGE_MOST: usize = 256 << 10;

/// Reads what one call writes to its standard output.
pub struct StreamReader {
    row: &'static AgentRow,
    heard: Heard,
    /// A line whose end has not come yet.
    open: Vec<u8>,
    /// Whether the open line is too long, so that its rest is dropped.
    cut: bool,
}

impl StreamReader {
    pub fn new(row: &'static AgentRow) -> StreamReader {
        let heard = Heard { usage: UsageMeter::new(row.usage), ..Heard::default() };
        StreamReader { row, heard, open: Vec::new(), cut: false }
    }

    /// A reader that also keeps what the agent does, for [`StreamReader::take_events`]. Without somebody
    /// who takes them, events are not made: most of a stream is results that nobody looks at.
    pub fn narrating(row: &'static AgentRow) -> StreamReader {
        let mut reader = StreamReader::new(row);
        reader.heard.events = Some(Vec::new());
        reader
    }

    /// Returns what the agent did since this was last asked.
    pub fn take_events(&mut self) -> Vec<AgentEvent> {
        self.heard.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes the next bytes of the stream, however they are divided.
    pub fn bytes(&mut self, mut bytes: &[u8]) {
        loop {
            let mut rest = bytes;
            // For a slice this cannot fail; it finds the end of a line many bytes at a time.
            let count = rest.skip_until(b'\n').unwrap_or(bytes.len());
            let Some(line) = bytes[..count].strip_suffix(b"\n") else { break };
            if self.open.is_empty() && !self.cut {
                self.line(&line[..line.len().min(LINE_MOST)], LINE_MOST < line.len());
            } else {
                self.open_line(line);
                self.close_line();
            }
            bytes = rest;
        }
        self.open_line(bytes);
    }

    /// Takes one line without its end; `cut` says that it was longer than this.
    pub fn line(&mut self, line: &[u8], cut: bool) {
        let heard = &mut self.heard;
        if self.row.stream == Stream::Text {
            return command::line(heard, &String::from_utf8_lossy(line));
        }
        // Other programs may have written to the same pipe; only objects are events.
        let line = line.trim_ascii();
        if line.first() != Some(&b'{') {
            return;
        }
        if self.row.stream == Stream::Claude && heard.events.is_none() && claude::is_known(heard, line) {
            return;
        }
        let text = readable(line, cut);
        match self.row.stream {
            Stream::Claude => claude::line(heard, &text),
            Stream::Codex => codex::line(heard, &text),
            Stream::Gemini => gemini::line(heard, &text),
            Stream::Opencode => opencode::line(heard, &text),
            Stream::Described(stream) => described::line(heard, &text, stream),
            Stream::Text => unreachable!("its lines are not objects"),
        }
    }

    /// Returns what the agent is doing, in a few words that are safe to show.
    pub fn activity(&self) -> Option<String> {
        self.heard.activity.as_deref().map(short)
    }

    /// Returns what the call has used so far, as far as the agent tells while it works.
    pub fn usage(&self) -> AgentUsage {
        self.heard.usage.so_far()
    }

    /// Takes what the record of the session says about usage.
    pub fn record(&mut self, rollout: &str) {
        if self.row.stream == Stream::Codex {
            codex::rollout(&mut self.heard, rollout);
        }
    }

    /// Returns the model as soon as the agent has named it.
    pub fn model(&self) -> Option<&str> {
        self.heard.model.as_deref()
    }

    /// Returns the name of the agent's session as soon as it is known.
    pub fn session(&self) -> Option<&str> {
        self.heard.session.as_deref()
    }

    /// Returns what the whole stream came to.
    pub fn finish(mut self, end: &CallExit<'_>) -> AgentOutput {
        if !self.open.is_empty() {
            self.close_line();
        }
        let StreamReader { row, mut heard, .. } = self;
        if row.stream == Stream::Text {
            let message = heard.message.into_string();
            let limit = limit::of_program(&message, end);
            let trouble = trouble::of_program(row, limit.as_ref(), end);
            return AgentOutput {
                message,
                terminal: true,
                error: end.exit != Some(0),
                trouble,
                limit,
                complaint: last_line(end),
                ..AgentOutput::default()
            };
        }
        match row.stream {
            Stream::Codex => codex::rollout(&mut heard, end.rollout),
            Stream::Opencode => opencode::own_log(&mut heard, end.rollout),
            Stream::Described(stream) => heard.terminal |= stream.done.is_none() && end.exit == Some(0),
            Stream::Claude | Stream::Gemini | Stream::Text => (),
        }
        let error = heard.error || heard.cut_terminal && end.exit != Some(0);
        let done = end.exit == Some(0) && heard.terminal && !error;
        let is_empty = done && !heard.worked && heard.message.is_blank();
        let limit = match done {
            true => is_empty.then_some(limit::Limit::Empty),
            false => limit::judge(row.stream, &heard, end),
        };
        let trouble =
            if done && !is_empty { None } else { Some(trouble::words(row, &heard, limit.as_ref(), end)) };
        AgentOutput {
            message: heard.message.into_string(),
            usage: heard.usage.so_far(),
            terminal: heard.terminal,
            error,
            trouble,
            limit,
            warning: heard.plan.as_ref().and_then(|it| it.warning(end.now)),
            session: heard.session,
            model: heard.model,
            denials: heard.denials,
            worked: heard.worked,
            waited: heard.offline || heard.waiting_out,
            complaint: if done { None } else { last_line(end) },
        }
    }

    fn open_line(&mut self, bytes: &[u8]) {
        if self.row.stream == Stream::Text && LINE_MOST < self.open.len() + bytes.len() {
            // Its text has no structure, so the end of a long line is as good as its beginning.
            let line = std::mem::take(&mut self.open);
            self.heard.message.add(&String::from_utf8_lossy(&line));
            self.heard.message.add(&String::from_utf8_lossy(bytes));
            return;
        }
        let room = LINE_MOST - self.open.len();
        self.cut |= room < bytes.len();
        let taken = &bytes[..room.min(bytes.len())];
        // Growing by doubling would hold twice the limit for a moment.
        self.open.reserve_exact(taken.len().next_multiple_of(64 << 10).min(room));
        self.open.extend_from_slice(taken);
    }

    fn close_line(&mut self) {
        let line = std::mem::take(&mut self.open);
        let cut = std::mem::take(&mut self.cut);
        self.line(&line, cut);
        // The buffer of an ordinary line is kept; that of a very long one is given back.
        if line.capacity() <= 64 << 10 {
            self.open = line;
            self.open.clear();
        }
    }
}

/// What a program said last on standard error, safe to show.
fn last_line(end: &CallExit<'_>) -> Option<String> {
    // The end of a stack trace says nothing to anybody.
    let is_words = |it: &String| it.chars().any(char::is_alphabetic) && !it.starts_with("at ");
    end.complaints.lines().rev().map(excerpt).find(is_words)
}

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

    /// Notes a tool with what it is used on.
    pub(super) fn uses(&mut self, tool: &str, on: Option<&str>) {
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

    fn into_string(self) -> String {
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
