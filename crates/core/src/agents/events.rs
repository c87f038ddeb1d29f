//! What an agent does, in one vocabulary for all of them: what the narrative of a call, the live view and
//! the counting of tokens read. Each CLI's reader turns its own stream into these; nothing here knows a
//! CLI. Texts are as the agent wrote them, bounded in length: whoever shows them removes secrets and
//! escape codes.

use serde::{Deserialize, Serialize};

/// One thing that an agent did or said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEvent {
    /// The agent's own name for this session, with which its CLI opens it again.
    Session(String),
    /// The model that answers, as the stream names it.
    Model(String),
    /// Something that it said; a piece of a sentence where its CLI sends pieces.
    Text { text: String, is_piece: bool },
    /// It thinks, without saying what.
    Thinking,
    /// It begins to use a tool; the target is a path, a command or a pattern.
    Tool { tool: String, target: Option<String>, in_sub_agent: bool },
    /// What a tool answered. Not every CLI says which tool; results come in the order of their tools.
    ToolResult { text: String, failed: bool },
    /// The provider did not answer, and the CLI asks again by itself.
    Retry { why: String },
    /// What the call has used up so far, from its beginning: not what was added since the last one.
    Usage(UsageSoFar),
}

/// What a call has used up since it began, as its stream says while it works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageSoFar {
    pub tokens: TokenClasses,
    /// The cost, where the stream names one.
    pub usd: Option<f64>,
}

/// Tokens by the price that providers ask for them. The four classes do not overlap: cached input is in
/// `cache_read` only, whichever way a provider counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenClasses {
    pub input: u64,
    pub cache_write: u64,
    pub cache_read: u64,
    /// Reasoning included.
    pub output: u64,
}

impl TokenClasses {
    /// Returns the sum over all classes.
    pub fn total(&self) -> u64 {
        [self.cache_write, self.cache_read, self.output]
            .iter()
            .fold(self.input, |sum, it| sum.saturating_add(*it))
    }

    /// Adds another count class by class.
    pub fn add(&mut self, other: TokenClasses) {
        self.input = self.input.saturating_add(other.input);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.output = self.output.saturating_add(other.output);
    }
}
