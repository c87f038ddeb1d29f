//! Follows the stream of one call and keeps only what will be needed: whatever an agent writes, and
//! however much, the memory used here has a bound. Each agent's own file in `clis/` says what its lines
//! mean; this one cuts lines, and says at the end what it all came to.

use super::clis::{claude, codex, command, described, gemini, opencode};
use super::events::AgentEvent;
use super::heard::Heard;
use super::usage::{AgentUsage, UsageMeter};
use super::wire::{excerpt, readable, short, without_nan};
use super::{AgentOutput, CallExit, limit, trouble};
use crate::agent_table::{AgentRow, Stream};
use std::io::BufRead;

/// The longest line that is read whole. What matters on long lines is the text of a message: models
/// write at most 128,000 tokens, half a megabyte of text, in one. Longer lines carry results of
/// tools; of those only the complete members before the cut are read.
pub(crate) const LINE_MOST: usize = 1 << 20;

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
        let text = without_nan(readable(line, cut));
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
        let beside_log = (row.stream == Stream::Opencode).then(|| {
            opencode::own_log(&mut heard, end.complaints);
            opencode::complaints(end.complaints)
        });
        let end = &CallExit { complaints: beside_log.as_deref().unwrap_or(end.complaints), ..*end };
        if row.stream == Stream::Text {
            let message = heard.message.into_string();
            let met = limit::of_program(&message, end);
            let trouble = trouble::of_program(row, met.as_ref(), end);
            return AgentOutput {
                message,
                terminal: true,
                error: end.exit != Some(0),
                trouble,
                limit: met.as_ref().map(|it| it.limit),
                is_time_unread: met.is_some_and(|it| it.is_time_unread),
                complaint: last_line(end),
                ..AgentOutput::default()
            };
        }
        match row.stream {
            Stream::Codex => codex::rollout(&mut heard, end.rollout),
            Stream::Gemini => gemini::own_retries(&mut heard, end.complaints),
            Stream::Described(stream) => heard.terminal |= stream.done.is_none() && end.exit == Some(0),
            Stream::Claude | Stream::Opencode | Stream::Text => (),
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
            is_time_unread: limit
                .is_some_and(|it| limit::is_time_unread(it, heard.complaint.as_deref().unwrap_or_default())),
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
