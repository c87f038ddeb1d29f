//! What an agent is doing at the moment, for a person who looks on: its output, read as it grows and told
//! as lines. Nothing is decided by it, and without an onlooker nothing of it runs.

use crate::clock::now;
use crate::world::agent_output::final_message::LOG_MOST;
use loop_base::secret;
use loop_base::time::{Timestamp, length};
use loop_core::agent_table::{AgentRow, Stream};
use loop_core::agents::{self, AgentEvent, Detail, Narrator, StreamReader, UsageSoFar};
use loop_supervise::tail::tail;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Twice a second is as fast as anybody reads.
pub(crate) const EVERY: Duration = Duration::from_millis(500);

/// An output that grows faster than this for each look is shown late, not lost.
const BYTES_PER_LOOK: u64 = 8 << 20;

/// Most answers come sooner; somebody who looks on should know that nothing does.
const SILENT_AFTER_MS: u64 = 30_000;

/// Who is told what an agent is doing.
pub(crate) type Onlooker<'a> = Box<dyn FnMut(&Observed<'_>) + 'a>;

/// What an onlooker is told.
pub(crate) enum Observed<'a> {
    /// Something about the call that the agent did not say.
    Note(&'a str),
    Call(&'a CallProgress),
}

/// What came since the last look, and what is so at the moment.
#[derive(Default)]
pub(crate) struct CallProgress {
    pub(crate) lines: Vec<String>,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) doing: Option<String>,
    pub(crate) usage: Option<UsageSoFar>,
}

/// The output of a call that is running.
pub(crate) struct LiveCall {
    file: Option<File>,
    reader: StreamReader,
    narrator: Narrator,
    /// A tool was begun whose result has not come.
    in_tool: bool,
    is_text: bool,
    /// The standard error of an agent that says there what it waits for.
    log: Option<PathBuf>,
}

impl LiveCall {
    pub(crate) fn at(output: &Path, agent: &'static AgentRow, place: &Path, detail: Detail) -> LiveCall {
        LiveCall {
            file: loop_base::files::open(output).ok(),
            reader: StreamReader::narrating(agent),
            narrator: Narrator::new(&place.to_string_lossy(), detail, secret::known()),
            in_tool: false,
            is_text: agent.stream == Stream::Text,
            log: (agent.stream == Stream::Opencode).then(|| output.with_extension("err")),
        }
    }

    /// Reads on and returns what the agent did, and what it is doing where that can be said.
    pub(crate) fn look(&mut self) -> CallProgress {
        let (mut lines, mut events) = (Vec::new(), Vec::new());
        let mut chunk = vec![0; 64 << 10];
        if let Some(file) = &mut self.file {
            let mut output = file.take(BYTES_PER_LOOK);
            while let Ok(count @ 1..) = output.read(&mut chunk) {
                self.reader.bytes(&chunk[..count]);
                for event in self.reader.take_events() {
                    lines.extend(self.narrator.tell(&event));
                    self.in_tool = matches!(event, AgentEvent::Tool { .. });
                    events.push(event);
                }
            }
        }
        CallProgress { lines, events, doing: self.doing(), usage: self.narrator.usage() }
    }

    /// Reads to the end of a call that is over.
    pub(crate) fn finish(&mut self) -> CallProgress {
        let mut progress = self.look();
        progress.lines.extend(self.narrator.flush());
        progress
    }

    /// What it is doing; of one that has been silent for long, what that probably means.
    fn doing(&self) -> Option<String> {
        let activity = self.reader.activity().map(|it| self.narrator.safe(&it));
        let Some(silent) = self.silent_ms().filter(|it| SILENT_AFTER_MS <= *it).map(length) else {
            return activity;
        };
        if let Some(waits_for) = self.log.as_ref().and_then(|it| waits_for(it)) {
            return Some(format!("silent for {silent}, waiting for its provider: {waits_for}"));
        }
        Some(match activity {
            Some(activity) if self.in_tool => format!("{activity} (for {silent})"),
            Some(_) | None if self.is_text => format!("silent for {silent}"),
            Some(_) | None => format!("silent for {silent}, probably waiting for its provider"),
        })
    }

    /// How long nothing was written.
    fn silent_ms(&self) -> Option<u64> {
        let file = self.file.as_ref()?.metadata().ok()?;
        Some(now().since(Timestamp(file.mtime().saturating_mul(1000))))
    }
}

/// What opencode's log says that it waits for.
fn waits_for(log: &Path) -> Option<String> {
    agents::waits_for(&tail(log, LOG_MOST).ok()?)
}
