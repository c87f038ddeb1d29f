//! Tells what an agent does, line by line, for people: what it says, which tools it uses on what, what
//! they answer, and when its provider makes it wait. Lines are safe to show: secrets are removed, control
//! characters are gone, and paths below the working tree are shown as the project knows them.

use super::events::{AgentEvent, UsageSoFar};
use crate::engine::TokenClasses;
use loop_base::secret::Secrets;
use loop_base::text::sanitise;
use std::sync::Arc;

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What it says and does, and what failed.
    Steps,
    /// The results of its tools too.
    Results,
}

/// A command or a path is recognised by its beginning.
const TARGET_MOST: usize = 160;

/// Enough to see whether a test failed; `loop show N --output` has the rest.
const RESULT_LINES: usize = 8;

/// A line of text that is longer than this was not written for people.
const LINE_SHOWN: usize = 2000;

/// Turns events into lines.
pub struct Narrator {
    secrets: Arc<Secrets>,
    /// The working tree, with a slash at its end.
    place: String,
    detail: Detail,
    /// Pieces of a text whose end has not come.
    pieces: String,
    usage: Option<UsageSoFar>,
}

impl Narrator {
    /// A narrator of what happens in `place`, who keeps these secrets.
    pub fn new(place: &str, detail: Detail, secrets: Arc<Secrets>) -> Narrator {
        let place = format!("{}/", place.trim_end_matches('/'));
        Narrator { secrets, place, detail, pieces: String::new(), usage: None }
    }

    /// Returns the lines of one event.
    pub fn tell(&mut self, event: &AgentEvent) -> Vec<String> {
        if let AgentEvent::Text { text, is_piece: true } = event {
            self.pieces.push_str(text);
            // Whole lines are told at once, so that a long answer is seen while it comes.
            let Some(end) = self.pieces.rfind('\n') else { return Vec::new() };
            let rest = self.pieces.split_off(end + 1);
            let whole = std::mem::replace(&mut self.pieces, rest);
            return self.text(&whole);
        }
        let mut lines = self.flush();
        match event {
            AgentEvent::Text { text, .. } => lines.extend(self.text(text)),
            AgentEvent::Model(model) => lines.push(format!("  model {}", self.one_line(model, TARGET_MOST))),
            AgentEvent::Tool { tool, target, in_sub_agent } => {
                let mark = if *in_sub_agent { ">>" } else { ">" };
                let target = target.as_deref().map(|it| format!(" {}", self.one_line(it, TARGET_MOST)));
                let tool = self.one_line(tool, TARGET_MOST);
                lines.push(format!("  {mark} {tool}{}", target.unwrap_or_default()));
            }
            AgentEvent::ToolResult { text, failed } => lines.extend(self.result(text, *failed)),
            AgentEvent::Retry { why } => lines.push(format!("  ~ {}", self.one_line(why, TARGET_MOST))),
            AgentEvent::Usage(usage) => self.usage = Some(*usage),
            AgentEvent::Session(_) | AgentEvent::Thinking => (),
        }
        lines
    }

    /// Returns the text whose end has not come.
    pub fn flush(&mut self) -> Vec<String> {
        let pieces = std::mem::take(&mut self.pieces);
        self.text(&pieces)
    }

    /// Returns what the call has used up so far, as its stream said last.
    pub fn usage(&self) -> Option<UsageSoFar> {
        self.usage
    }

    fn text(&self, text: &str) -> Vec<String> {
        let text = self.safe(text);
        text.lines()
            .filter(|it| !it.trim().is_empty())
            .map(|it| format!("  {}", cut(it, LINE_SHOWN)))
            .collect()
    }

    fn result(&self, text: &str, failed: bool) -> Vec<String> {
        let text = self.safe(text);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|it| !it.is_empty()).collect();
        let most = match (self.detail, failed) {
            (Detail::Results, _) => RESULT_LINES,
            (Detail::Steps, true) => 1,
            (Detail::Steps, false) => 0,
        };
        let mark = if failed { "    ! " } else { "    | " };
        // What a program says last is what it came to.
        let skipped = lines.len().saturating_sub(most);
        let mut told: Vec<String> =
            lines[skipped..].iter().map(|it| format!("{mark}{}", cut(it, TARGET_MOST))).collect();
        if failed && told.is_empty() {
            told.push("    ! failed".to_owned());
        }
        if self.detail == Detail::Results && 0 < skipped {
            told.insert(0, format!("    | … {skipped} lines before"));
        }
        told
    }

    fn one_line(&self, text: &str, most: usize) -> String {
        cut(&self.safe(text).split_whitespace().collect::<Vec<_>>().join(" "), most)
    }

    /// Returns words of the agent as they may be shown: without secrets and control characters, and with paths
    /// relative to the place where it works.
    pub fn safe(&self, text: &str) -> String {
        let text = text.replace(&self.place, "");
        sanitise(&self.secrets.redact(&text))
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the tokens of a call in a few words; nothing where none are known.
pub fn token_words(tokens: TokenClasses) -> Option<String> {
    let total = tokens.total();
    (total != 0).then(|| match total {
        0..1_000 => format!("{total} tokens"),
        1_000..1_000_000 => format!("{}k tokens", total / 1_000),
        _ => format!("{:.1}M tokens", total as f64 / 1e6),
    })
}
