//! One sentence about why a call failed, and where there is one the next step. What the agent or the
//! provider said is quoted; it is text from outside and made safe to show.

use super::CallExit;
use super::heard::Heard;
use super::limit::{Limit, ProgramLimit, sentence};
use super::wire::excerpt;
use crate::agent_table::AgentRow;

/// Returns why the call counts as failed.
pub(super) fn words(row: &AgentRow, heard: &Heard, limit: Option<&Limit>, end: &CallExit<'_>) -> String {
    let name = row.name;
    let said = heard.complaint.as_deref().map(|it| excerpt(&sentence(it))).filter(|it| !it.is_empty());
    let quoted = said.as_ref().map(|it| format!(": {}", it.trim_end_matches('.'))).unwrap_or_default();
    if let Some(limit) = limit {
        return limited(row, *limit, &quoted);
    }
    if !heard.terminal {
        return unfinished(row, heard, end);
    }
    let kind = heard.kind.as_deref().unwrap_or_default();
    match (kind, heard.status) {
        ("max_turns" | "error_max_turns", _) => format!("{name} used up its turns{quoted}"),
        ("budget_exhausted" | "error_max_budget_usd", _) => {
            format!("{name} used up its budget{quoted}")
        }
        (it, _) if it.starts_with("aborted") => format!("{name} was interrupted while it worked"),
        ("MessageAbortedError", _) => format!("{name} was interrupted while it worked"),
        (_, Some(status)) => format!("the provider answered {name} with status {status}{quoted}"),
        (_, None) if heard.error || said.is_some() => {
            format!("{name} failed{}", if quoted.is_empty() { " without saying why" } else { &quoted })
        }
        (_, None) => match end.exit {
            Some(status) => format!("{name} said that it was done, but ended with exit status {status}"),
            None => format!("{name} said that it was done, but was ended by a signal"),
        },
    }
}

/// Returns how a program failed that says so by its exit status, with the words about the limit that it met, or
/// else the last line of its complaints.
pub(super) fn of_program(row: &AgentRow, met: Option<&ProgramLimit>, end: &CallExit<'_>) -> Option<String> {
    if let Some(ProgramLimit { limit, said, .. }) = met {
        let said = Some(excerpt(said)).filter(|it| !it.is_empty());
        return Some(limited(row, *limit, &said.map(|it| format!(": {it}")).unwrap_or_default()));
    }
    let status = end.exit.filter(|it| *it != 0)?;
    let last = end.complaints.lines().rev().map(excerpt).find(|it| !it.is_empty())?;
    Some(format!("exit {status}: {last}"))
}

fn limited(row: &AgentRow, limit: Limit, quoted: &str) -> String {
    match limit {
        Limit::Plan { .. } => format!("the plan's limit is reached{quoted}"),
        Limit::Throttle { .. } => format!("the provider allows no more calls at the moment{quoted}"),
        Limit::Overloaded => format!("the provider cannot serve calls at the moment{quoted}"),
        Limit::Credit => format!("the account has no credit left{quoted}; add some, or use another account"),
        Limit::Auth => {
            format!("{} is not logged in, or its key is not accepted{quoted}; {}", row.name, login(row))
        }
        Limit::ContextTooLong => {
            format!(
                "the prompt is too long for the model{quoted}; shorten the input, or use a model that takes more"
            )
        }
        Limit::UnknownModel => {
            format!("{} cannot use this model{quoted}; name another one: loop answer model NAME", row.name)
        }
        Limit::Refusal => {
            format!(
                "the model refused the task{quoted}; say it differently with loop guide TEXT, or use another model"
            )
        }
        Limit::Empty => format!("{} returned nothing: no text and no tool calls", row.name),
        Limit::Unreachable => {
            format!("the provider could not be reached{quoted}")
        }
        Limit::Unknown => format!("the provider refused the call{quoted}"),
    }
}

fn login(row: &AgentRow) -> &'static str {
    row.login.as_ref().map_or("check its key", |it| it.words)
}

/// Some mistakes are found before the stream begins, and said on standard error.
fn unfinished(row: &AgentRow, heard: &Heard, end: &CallExit<'_>) -> String {
    let name = row.name;
    if let Some((_, words)) = row.refusals.iter().find(|(phrase, _)| end.complaints.contains(phrase)) {
        return (*words).to_owned();
    }
    let how = match end.exit {
        // 128 and the number of the signal, as agents that handle a signal themselves exit.
        None | Some(129 | 130 | 143) => return format!("{name} was ended before it was done"),
        Some(0) => "ended".to_owned(),
        Some(status) => format!("ended with exit status {status}"),
    };
    // A program that found nothing wrong has only noise there.
    let last = end.complaints.lines().rev().map(excerpt).find(|it| !it.is_empty() && end.exit != Some(0));
    let said = heard.complaint.as_deref().map(excerpt).or(last);
    let said = said.map(|it| format!(": {it}")).unwrap_or_default();
    format!("{name} {how} without a result{said}")
}
