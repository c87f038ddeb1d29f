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
    tools: OpenTools,
    is_text: bool,
    /// The standard error of an agent that says there what it waits for.
    log: Option<PathBuf>,
}

/// Which tools of a call are at work.
#[derive(Default)]
struct OpenTools {
    /// Those that were begun and whose results have not come.
    open: usize,
    /// The last one has answered, and nothing came since: the model has the result.
    have_answered: bool,
}

impl OpenTools {
    fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Tool { .. } => self.open += 1,
            AgentEvent::ToolResult { .. } => self.open = self.open.saturating_sub(1),
            // Not every CLI shows every result; who speaks waits for none.
            AgentEvent::Text { .. } | AgentEvent::Thinking => self.open = 0,
            AgentEvent::Session(_)
            | AgentEvent::Model(_)
            | AgentEvent::Retry { .. }
            | AgentEvent::Usage(_) => {
                return;
            }
        }
        self.have_answered = self.open == 0 && matches!(event, AgentEvent::ToolResult { .. });
    }
}

impl LiveCall {
    pub(crate) fn at(output: &Path, agent: &'static AgentRow, place: &Path, detail: Detail) -> LiveCall {
        LiveCall {
            file: loop_base::files::open(output).ok(),
            reader: StreamReader::narrating(agent),
            narrator: Narrator::new(&place.to_string_lossy(), detail, secret::known()),
            tools: OpenTools::default(),
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
                    self.tools.note(&event);
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
        let activity = match self.tools.have_answered {
            true => Some("thinking".to_owned()),
            false => self.reader.activity().map(|it| self.narrator.safe(&it)),
        };
        let Some(silent) = self.silent_ms().filter(|it| SILENT_AFTER_MS <= *it).map(length) else {
            return activity;
        };
        if let Some(waits_for) = self.log.as_ref().and_then(|it| waits_for(it)) {
            return Some(format!("silent for {silent}, waiting for its provider: {waits_for}"));
        }
        Some(match activity {
            Some(activity) if self.tools.open != 0 => format!("{activity} (for {silent})"),
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

#[cfg(test)]
mod tests {
    use super::{Detail, LiveCall};
    use loop_core::agent_table::AgentTable;
    use serde_json::json;
    use std::io::Write;

    #[test]
    fn while_the_model_has_the_results_no_tool_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("call-1.out");
        let mut output = std::fs::File::create(&path).expect("a file");
        let row = AgentTable::default().named("claude").expect("known");
        let mut call = LiveCall::at(&path, row, folder.path(), Detail::Steps);
        let mut doing_after = |event: serde_json::Value| {
            writeln!(output, "{event}").expect("written");
            call.look().doing.unwrap_or_default()
        };
        let tool = |id: &str, command: &str| {
            json!({"type": "assistant", "parent_tool_use_id": null, "message": {"content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}})
        };
        let result = |id: &str| {
            json!({"type": "user", "message": {"content": [
                {"type": "tool_result", "tool_use_id": id, "content": "ok"}]}})
        };
        let first = doing_after(tool("a", "make"));
        let second = doing_after(tool("b", "make test"));
        assert!(first.contains("make") && second.contains("make test"), "{first} {second}");
        assert_eq!(doing_after(result("a")), second);
        assert_eq!(doing_after(result("b")), "thinking");
        assert!(doing_after(tool("c", "git diff")).contains("git diff"));
    }
}
