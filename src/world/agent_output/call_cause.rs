//! What an agent's own words about its provider mean to the engine. Also which variables an agent gets, and which one it missed.

use crate::world::wait::now;
use loop_base::time::length;
use loop_core::agent_table::AgentRow;
use loop_core::agents::{self, AgentOutput, Limit};
use loop_core::engine::Ending;
use loop_core::workflow::model::{Agent, Workflow};

/// Returns what a failure means that the agent explained. A plan without a known end is waited for as long
/// as the workflow says.
pub(crate) fn ending(workflow: &Workflow, said: &AgentOutput, why: String) -> Ending {
    let provider_wait = workflow.limits.provider_wait;
    let is_program = workflow.agent.cli.row().is_some_and(AgentRow::is_any_program);
    match said.limit {
        Some(Limit::Plan { until: Some(until) }) => Ending::Limited { why, until: Some(until) },
        Some(Limit::Plan { until: None }) => {
            let which = if said.is_time_unread { "its time cannot be read" } else { "it named no time" };
            let why = format!("{why}; {which}, so it is asked again after {}", length(provider_wait));
            Ending::Limited { why, until: Some(now().plus(provider_wait)) }
        }
        Some(Limit::Credit | Limit::Auth | Limit::UnknownModel) => Ending::Refused { why },
        // What was begun with tools may go better from where it is now.
        Some(Limit::ContextTooLong | Limit::Refusal) if !said.worked => Ending::Refused { why },
        // Nothing but words says so, which may be about something else: the pauses grow, and then it is asked.
        Some(Limit::Throttle { after: None }) if is_program => Ending::Unreachable { why },
        Some(limit @ (Limit::Throttle { .. } | Limit::Unknown)) => {
            Ending::Limited { why, until: limit.until(now()) }
        }
        Some(Limit::Unreachable | Limit::Overloaded) => Ending::Unreachable { why },
        Some(Limit::ContextTooLong | Limit::Refusal | Limit::Empty) | None => Ending::Failed { why },
    }
}

/// Whether the agent gets this variable of the user's.
pub(crate) fn hands_on(row: &AgentRow, agent: &Agent, name: &str) -> bool {
    agents::keeps(row, name) || agent.pass_env.iter().any(|it| it == name)
}

/// Says where an agent misses a variable that is set here and was not handed on.
pub(crate) fn not_handed_on(agent: &Agent, why: String, said: &AgentOutput) -> String {
    let row = agent.cli.row().filter(|it| !it.is_any_program());
    let words = [why.as_str(), said.complaint.as_deref().unwrap_or_default()].join(" ");
    let mut names = words.split(|it: char| !it.is_ascii_uppercase() && !it.is_ascii_digit() && it != '_');
    let is_missing = |it: &&str| {
        4 <= it.len()
            && it.contains('_')
            && std::env::var_os(it).is_some()
            && !agent.env.contains_key(*it)
            && row.is_some_and(|row| !hands_on(row, agent, it))
    };
    match names.find(is_missing) {
        Some(name) => {
            // What no further try mends is a question, which is answered first.
            let is_asked = matches!(said.limit, Some(Limit::Credit | Limit::Auth | Limit::UnknownModel));
            let answer = if is_asked { format!("{RETRY} and ") } else { String::new() };
            format!(
                "{why}; {name} is set here but not passed on: write pass_env = [\"{name}\"] in [agent], then {answer}loop run --reload"
            )
        }
        None => why,
    }
}

/// Tries the call again where the run asks about its agent.
const RETRY: &str = "loop answer retry";

/// Whether an agent that said nothing at all is one that waits for its provider without a word.
pub(crate) fn waits_in_silence(workflow: &Workflow, said: &AgentOutput) -> bool {
    let row = workflow.agent.cli.row();
    row.is_some_and(|it| it.waits_in_silence) && !said.worked && said.message.trim().is_empty()
}
