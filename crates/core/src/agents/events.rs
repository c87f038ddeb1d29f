//! What an agent does, in one vocabulary for all of them: what the narrative of a call, the live view and
//! the counting of tokens read. Each CLI's reader turns its own stream into these; nothing here knows a
//! CLI. Texts are as the agent wrote them, bounded in length: whoever shows them removes secrets and
//! escape codes.

use crate::engine::TokenClasses;
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
