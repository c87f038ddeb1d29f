//! The agents that can be called: command lines and stream formats, and nothing that runs them.
//! [`invocation`] says how to start one, a [`StreamReader`] follows what it writes, and [`AgentOutput`] is what
//! that came to. Whatever depends on the machine (which programs there are, the clock, the zone,
//! the environment) is handed in.

mod account;
mod clis;
mod environment;
mod events;
mod heard;
mod limit;
mod narrative;
mod program;
mod reader;
mod trouble;
mod usage;
mod wire;

#[cfg(test)]
mod tests;

pub use account::{Login, account, account_of_program, logins};
pub use clis::opencode::waits_for;
pub use environment::keeps;
pub use events::{AgentEvent, UsageSoFar};
pub use limit::Limit;
pub use narrative::{Detail, Narrator, token_words};
pub use reader::StreamReader;
pub use usage::AgentUsage;

use clis::{claude, codex, command, described, gemini, opencode};

use crate::agent_table::{AgentRow, Start};
use crate::workflow::model::Agent;
use jiff::tz::TimeZone;
use loop_base::time::Timestamp;
use std::path::PathBuf;

/// How to start an agent; the prompt goes to its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub argv: Vec<String>,
    /// Variables to set on top of those that [`keeps`] lets through.
    pub env: Vec<(String, String)>,
}

/// What an invocation depends on besides the workflow.
#[derive(Clone, Copy)]
pub struct InvocationContext<'a> {
    /// The model of this call.
    pub model: Option<&'a str>,
    /// Dollars that the call may cost.
    pub usd: Option<f64>,
    /// Requests to the model that it may take.
    pub turns: Option<u32>,
    /// Whether the agent will run as root.
    pub root: bool,
    /// Returns the real path (links resolved) of an executable, by name in the agent's `PATH` or by
    /// path; nothing when there is none.
    pub find: &'a dyn Fn(&str) -> Option<PathBuf>,
    /// Returns what a program says its version is; asked only where that makes a difference.
    pub version: &'a dyn Fn(&str) -> Option<String>,
}

/// How a call ended and where, for what its text alone does not tell.
#[derive(Clone, Copy, Debug)]
pub struct CallExit<'a> {
    /// The exit status; nothing when a signal ended it.
    pub exit: Option<i32>,
    /// The end of its standard error; opencode's log is in it.
    pub complaints: &'a str,
    /// What the CLI wrote about this session elsewhere: the end of Codex's `rollout-…-<session>.jsonl`.
    pub rollout: &'a str,
    pub now: Timestamp,
    /// The zone that the agent writes times in when it names none; see [`zone`].
    pub zone: &'a TimeZone,
}

/// What an agent's output comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentOutput {
    /// Its own last message: the only text that is read for a report.
    pub message: String,
    pub usage: AgentUsage,
    /// Whether the event that ends every complete stream was seen.
    pub terminal: bool,
    /// Whether the agent itself says that it failed.
    pub error: bool,
    /// Why the call counts as failed; nothing exactly when it ended well. The `command` agent says
    /// nothing here, its exit status says it all.
    pub trouble: Option<String>,
    /// What kept the provider from serving the call, if that is why it failed.
    pub limit: Option<Limit>,
    /// Whether the words about the limit name a time that could not be read.
    pub is_time_unread: bool,
    pub session: Option<String>,
    /// The model that answered, as the agent names it.
    pub model: Option<String>,
    /// Whether it used a tool, so that the tree may have changed.
    pub worked: bool,
    /// Whether it was waiting for its provider when it was ended.
    pub waited: bool,
    /// The last line on standard error of a call that failed.
    pub complaint: Option<String>,
    /// Tools that the agent was not allowed to use.
    pub denials: Vec<String>,
    /// How much of a plan is used up, when the agent warns of it.
    pub warning: Option<Warning>,
}

/// What an agent says about a plan that is nearly used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub text: String,
    /// When the plan is whole again, if that is known.
    pub until: Option<Timestamp>,
}

impl AgentOutput {
    /// Returns a sentence about refused tools, if there were any: a call that ended well may have
    /// done nothing because of them.
    pub fn denied(&self) -> Option<String> {
        let first = self.denials.first()?;
        let others = match self.denials.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "the agent was refused {first}{others}; set permissions = \"all\" or allow the tool in [agent] args"
        ))
    }
}

/// Returns how to start the agent, or why that is not possible.
pub fn invocation(agent: &Agent, context: &InvocationContext<'_>) -> Result<Invocation, String> {
    let Some(row) = agent.cli.row() else {
        return Err(format!("no agent is called \"{}\"; loop agents lists those that there are", agent.cli));
    };
    let mut invocation = match row.start {
        Start::Claude => claude::invocation(row, agent, context)?,
        Start::Codex => codex::invocation(row, agent, context)?,
        Start::Gemini => gemini::invocation(row, agent, context)?,
        Start::Opencode => opencode::invocation(row, agent, context)?,
        Start::Arguments => command::invocation(agent)?,
        Start::Described(start) => described::invocation(row, start, agent, context)?,
    };
    // What the user sets wins over what we set.
    invocation.env.retain(|(name, _)| !agent.env.contains_key(name));
    invocation.env.extend(agent.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    Ok(invocation)
}

/// Returns the command with which a person opens the agent's session again, in the working tree.
pub fn reopen(row: &AgentRow, session: &str) -> Option<String> {
    let words = row.reopen?;
    Some(words.replace("{session}", &loop_base::text::shell_word(session)))
}

/// Returns the zone that the agent's process works in: its own `TZ` if the workflow sets one.
pub fn zone(agent: &Agent, system: &TimeZone) -> TimeZone {
    agent.env.get("TZ").and_then(|name| limit::zone_named(name)).unwrap_or_else(|| system.clone())
}
