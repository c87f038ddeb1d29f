//! One sentence about why a call failed, and where there is one the next step. What the agent or the
//! provider said is quoted; it is text from outside and made safe to show.

use super::limit::Limit;
use super::reader::Heard;
use super::wire::excerpt;
use super::{Cli, End};

/// Returns why the call counts as failed.
pub(super) fn words(cli: Cli, heard: &Heard, limit: Option<&Limit>, end: &End<'_>) -> String {
    let name = cli.name();
    let said = heard.complaint.as_deref().map(excerpt).filter(|it| !it.is_empty());
    let quoted = said.as_ref().map(|it| format!(": {}", it.trim_end_matches('.'))).unwrap_or_default();
    if let Some(limit) = limit {
        return limited(cli, *limit, &quoted);
    }
    if !heard.terminal {
        return unfinished(cli, heard, end);
    }
    let kind = heard.kind.as_deref().unwrap_or_default();
    match (kind, heard.status) {
        ("max_turns" | "error_max_turns", _) => format!("{name} used up the turns it was given{quoted}"),
        ("budget_exhausted" | "error_max_budget_usd", _) => {
            format!("{name} used up the money it was given{quoted}")
        }
        (it, _) if it.starts_with("aborted") => format!("{name} was interrupted while it worked"),
        ("MessageAbortedError", _) => format!("{name} was interrupted while it worked"),
        ("model_not_found", _) | (_, Some(404)) => {
            format!("{name} cannot use this model{quoted}; name another with --model")
        }
        _ if said
            .as_ref()
            .is_some_and(|it| it.starts_with("The model ") && it.contains("does not exist")) =>
        {
            format!("{name} cannot use this model{quoted}; name another with --model")
        }
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

fn limited(cli: Cli, limit: Limit, quoted: &str) -> String {
    match limit {
        Limit::Plan { .. } => format!("the plan's limit is reached{quoted}"),
        Limit::Throttle { .. } => format!("the provider allows no more calls at the moment{quoted}"),
        Limit::Overloaded => format!("the provider cannot serve calls at the moment{quoted}"),
        Limit::Credit => format!("the account has no credit left{quoted}; add some, or use another account"),
        Limit::Auth => {
            format!("{} is not logged in, or its key is not accepted{quoted}; {}", cli.name(), login(cli))
        }
        Limit::ContextTooLong => format!("the prompt is too long for the model{quoted}"),
        Limit::Unreachable => {
            format!("the provider could not be reached{quoted}")
        }
        Limit::Unknown => format!("the provider refused the call{quoted}"),
    }
}

/// Returns how to log in.
pub fn login(cli: Cli) -> &'static str {
    match cli {
        Cli::Claude => "run \"claude\" once and log in, or set ANTHROPIC_API_KEY",
        Cli::Codex => "run \"codex login\", or set OPENAI_API_KEY",
        Cli::Gemini => "run \"gemini\" once and log in, or set GEMINI_API_KEY",
        Cli::Opencode => "run \"opencode auth login\", or set the key of its provider",
        Cli::Command => "see to its key",
    }
}

/// Some mistakes are found before the stream begins, and said on standard error.
const REFUSED: &[(&str, &str)] = &[
    (
        "cannot be used with root/sudo privileges",
        "claude does not skip permissions for root; set IS_SANDBOX=1 in [agent] env if this is a sandbox",
    ),
    (
        "is not running in a trusted directory",
        "gemini does not trust this folder; add --skip-trust to [agent] args",
    ),
    (
        "Not inside a trusted directory",
        "codex does not trust this folder; add --skip-git-repo-check to [agent] args",
    ),
];

fn unfinished(cli: Cli, heard: &Heard, end: &End<'_>) -> String {
    let name = cli.name();
    if let Some((_, words)) = REFUSED.iter().find(|(phrase, _)| end.complaints.contains(phrase)) {
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
