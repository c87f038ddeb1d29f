//! Says what kept a provider from serving a call, and until when. It is asked only about calls that
//! failed, and looks only at what the agent's own program said about the failure: first at fields,
//! then at the words of the event that ended the stream. What models write and tools print is never
//! looked at, so an agent may write about rate limits as much as it likes.

mod account;
mod answer;
mod evidence;
mod phrase;
mod talk;
mod when;

pub(crate) use when::zone_named;

use answer::ProviderAnswer;

use super::heard::{Heard, PlanFields};
use super::{CallExit, Warning};
use crate::agent_table::Stream;
use crate::workflow::model::Millis;
use loop_base::time::Timestamp;

/// Why a provider did not serve a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// What the plan allows is used up, until then if that is known.
    Plan { until: Option<Timestamp> },
    /// Too much at once; again after so long if that is known.
    Throttle { after: Option<Millis> },
    /// The provider cannot serve anybody.
    Overloaded,
    /// There is no money left, or the account may not spend more.
    Credit,
    /// The key or the login is not accepted.
    Auth,
    /// The prompt does not fit into the model.
    ContextTooLong,
    /// The model does not exist, or this account may not use it.
    UnknownModel,
    /// The model or its provider does not want to do what was asked.
    Refusal,
    /// It answered well, and with nothing.
    Empty,
    /// The provider could not be reached, or the connection broke.
    Unreachable,
    /// The provider refused, and nothing says why.
    Unknown,
}

/// Rates are counted by the minute, so after one minute another try is worth it.
const THROTTLE_PAUSE_MS: Millis = 60_000;

impl Limit {
    /// Returns when to try again, if waiting helps and there is reason to expect something.
    pub fn until(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Limit::Plan { until } => until,
            Limit::Throttle { after } => Some(now.plus(after.unwrap_or(THROTTLE_PAUSE_MS))),
            Limit::Overloaded
            | Limit::Unreachable
            | Limit::Unknown
            | Limit::Credit
            | Limit::Auth
            | Limit::UnknownModel
            | Limit::Refusal
            | Limit::Empty
            | Limit::ContextTooLong => None,
        }
    }
}

impl PlanFields {
    /// Returns what to tell a person whose plan is nearly used up.
    pub(super) fn warning(&self, now: Timestamp) -> Option<Warning> {
        let used = self.used.filter(|_| self.warned && !self.rejected)?;
        let which = match self.window.as_deref() {
            Some("five_hour" | "300 minutes") => "5-hour ".to_owned(),
            Some("seven_day" | "10080 minutes") => "weekly ".to_owned(),
            Some(other) => model_window(other),
            None => String::new(),
        };
        let until = self.until(now);
        let resets = until.map(|it| format!("; it resets at {it}")).unwrap_or_default();
        Some(Warning { text: format!("{:.0} % of the {which}limit is used{resets}", used * 100.0), until })
    }

    fn until(&self, now: Timestamp) -> Option<Timestamp> {
        self.resets_at_s.and_then(when::epoch).map(|it| when::settle(it, now))
    }
}

/// Reads the window of one model, `seven_day_opus`, into words.
fn model_window(window: &str) -> String {
    let model =
        window.strip_prefix("seven_day_").filter(|it| it.bytes().all(|it| it.is_ascii_alphanumeric()));
    let Some((first, rest)) = model.and_then(|it| it.split_at_checked(1)) else { return String::new() };
    format!("weekly {}{rest} ", first.to_ascii_uppercase())
}

/// Returns the sentence of a complaint, where that is a provider's answer as it came.
pub(super) fn sentence(complaint: &str) -> String {
    let is_answer = complaint.trim_start().starts_with('{');
    let answer = if is_answer { answer::read(complaint) } else { None };
    answer.and_then(|it| it.message).unwrap_or_else(|| complaint.to_owned())
}

/// Returns what kept the provider from serving a call that failed.
pub(super) fn judge(stream: Stream, heard: &Heard, end: &CallExit<'_>) -> Option<Limit> {
    let answer = heard.complaint.as_deref().and_then(answer::read).unwrap_or_default();
    let kind = heard.kind.as_deref().or(answer.kind.as_deref()).unwrap_or_default();
    let status = heard.status.or(answer.status);
    let is_refusal = !heard.terminal || status == Some(429) || stream == Stream::Codex;
    let words = answer.message.as_deref().or(heard.complaint.as_deref());
    let said = words.and_then(|it| phrase::read(stream, it, end));
    let said =
        said.or_else(|| phrase::of_answer(stream, answer.kind.as_deref()?, answer.message.as_deref()?, end));
    // Codex records an empty account as a used-up plan; its words tell the two apart.
    if said == Some(Limit::Credit) {
        return said;
    }
    if let Some(plan) = heard.plan.as_ref().filter(|it| it.rejected && is_refusal) {
        let until = plan.until(end.now).or_else(|| said?.until(end.now));
        return Some(Limit::Plan { until });
    }
    if heard.offline && !heard.terminal {
        return Some(Limit::Unreachable);
    }
    let retry_after = heard.retry_after_s.or(answer.retry_after_s).map(|it| it.saturating_mul(1000));
    let whole = heard.complaint.as_deref().unwrap_or_default();
    let named = by_kind(kind).or(answer.kind.as_deref().and_then(by_kind));
    named
        .filter(|it| !is_outweighed(*it, said))
        .or(said)
        .or_else(|| by_status(status.filter(|_| kind != "usage_limit_reached")?, retry_after))
        .or_else(|| of_kind(kind))
        .map(|it| {
            timed(
                it,
                &ProviderAnswer {
                    retry_after_s: heard.retry_after_s.or(answer.retry_after_s),
                    ..answer.clone()
                },
                whole,
                end,
            )
        })
        .map(|it| paid(it, status, whole))
        .or_else(|| phrase::read(stream, heard.complaint.as_deref()?, end))
}

/// A gateway that knows no other word calls a used-up plan a refused login; the sentence says which it is.
fn is_outweighed(named: Limit, said: Option<Limit>) -> bool {
    let is_limit = matches!(said, Some(Limit::Plan { .. } | Limit::Throttle { .. } | Limit::Credit));
    named == Limit::Auth && is_limit
}

/// "Payment required" says that waiting does not help, whatever the words, unless they say until when.
fn paid(limit: Limit, status: Option<u16>, whole: &str) -> Limit {
    let is_open = matches!(limit, Limit::Plan { until: None } | Limit::Throttle { after: None });
    let asks_to_pay = || status == Some(402) || phrase::status(whole) == Some(402);
    if is_open && asks_to_pay() { Limit::Credit } else { limit }
}

/// Words that leave open how long it lasts.
fn of_kind(kind: &str) -> Option<Limit> {
    match kind {
        "usage_limit_reached" => Some(Limit::Plan { until: None }),
        "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => Some(Limit::Throttle { after: None }),
        "rate_limit" | "rate_limit_error" => Some(Limit::Unknown),
        _ => None,
    }
}

/// Returns the limit with the time that the answer's fields say, or the words around it: agents put "Retrying in
/// 2892 seconds" behind an answer. Less than a minute there is the agent's own pause.
fn timed(limit: Limit, answer: &ProviderAnswer, whole: &str, end: &CallExit<'_>) -> Limit {
    let resets_at = answer.resets_at_s.and_then(when::epoch).map(|it| when::settle(it, end.now));
    let retry_after = answer.retry_after_s.map(|it| it.saturating_mul(1000));
    let around = || phrase::until(whole, end).filter(|it| THROTTLE_PAUSE_MS < it.since(end.now));
    match limit {
        Limit::Throttle { after: None } => match resets_at {
            Some(until) => Limit::Plan { until: Some(until) },
            None => Limit::Throttle { after: retry_after.or_else(|| Some(around()?.since(end.now))) },
        },
        Limit::Plan { until: None } => {
            Limit::Plan { until: resets_at.or(retry_after.map(|it| end.now.plus(it))).or_else(around) }
        }
        it => it,
    }
}

/// The words that leave no doubt; `rate_limit` may be a plan or a moment's rate.
fn by_kind(kind: &str) -> Option<Limit> {
    match kind {
        "authentication_failed"
        | "authentication_error"
        | "oauth_org_not_allowed"
        | "permission_error"
        | "ProviderAuthError"
        | "invalid_api_key"
        | "UNAUTHENTICATED" => Some(Limit::Auth),
        "billing_error" => Some(Limit::Credit),
        "overloaded" | "overloaded_error" | "UNAVAILABLE" => Some(Limit::Overloaded),
        "prompt_too_long" | "request_too_large" | "ContextOverflowError" | "context_length_exceeded" => {
            Some(Limit::ContextTooLong)
        }
        "model_not_found" | "ProviderModelNotFoundError" => Some(Limit::UnknownModel),
        "refusal" | "content_filter" | "content_policy_violation" | "SAFETY" => Some(Limit::Refusal),
        _ => None,
    }
}

fn by_status(status: u16, retry_after: Option<Millis>) -> Option<Limit> {
    match status {
        401 | 403 => Some(Limit::Auth),
        402 => Some(Limit::Credit),
        404 => Some(Limit::UnknownModel),
        413 => Some(Limit::ContextTooLong),
        429 => Some(Limit::Throttle { after: retry_after }),
        500..600 => Some(Limit::Overloaded),
        _ => None,
    }
}

/// Lines of standard error that may say why a program failed.
const LINES_READ: usize = 6;

/// What a program of the user said when it met a limit.
pub(super) struct ProgramLimit {
    pub limit: Limit,
    /// The words that say so.
    pub said: String,
    /// It names a time, in words that cannot be read.
    pub is_time_unread: bool,
}

/// Returns what kept a program of the user from being served, by what it wrote before it failed. The last
/// line that says something counts.
pub(super) fn of_program(message: &str, end: &CallExit<'_>) -> Option<ProgramLimit> {
    if end.exit == Some(0) {
        return None;
    }
    if let Some(reported) = reported(message, end) {
        return Some(reported);
    }
    let lines: Vec<&str> = end.complaints.lines().filter(|it| !it.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES_READ)..];
    let read = |at: usize| !talk::is_of_a_document(last, at);
    let by_line = || {
        (0..last.len())
            .rev()
            .filter(|it| read(*it))
            .find_map(|it| Some((of_line(last[it], end)?, last[it].to_owned())))
    };
    // An answer may have many lines, and a sentence two. Where the answer is the end of it, no line of it is
    // asked alone: its status may say less than its message.
    let tail = lines[lines.len().saturating_sub(ANSWER_LINES)..].join("\n");
    let of_tail = || {
        let answer = answer::read(&tail)?;
        let limit = of_answer(Stream::Text, &answer, &tail, end)?;
        Some((limit, answer.message.unwrap_or_else(|| last[last.len() - 1].to_owned())))
    };
    let ends_with_answer = 1 < last.len() && tail.trim_end().ends_with(['}', ']']);
    let found = if ends_with_answer { of_tail().or_else(by_line) } else { by_line().or_else(of_tail) };
    let of_two = || {
        let pairs =
            (1..last.len()).rev().filter(|it| read(it - 1) && read(*it)).map(|it| [last[it - 1], last[it]]);
        let read = |it: [&str; 2]| {
            Some((phrase::read(Stream::Text, &it.join(" "), end)?, it.map(str::trim).join(" / ")))
        };
        pairs.filter_map(read).next()
    };
    let (limit, said) = found.or_else(of_two)?;
    Some(ProgramLimit { limit, is_time_unread: is_time_unread(limit, &said), said })
}

/// Whether these words name a time that the limit does not have.
pub(super) fn is_time_unread(limit: Limit, said: &str) -> bool {
    matches!(limit, Limit::Plan { until: None } | Limit::Throttle { after: None })
        && when::is_named(&phrase::plain(said))
}

/// Returns the limit that a program reports itself, by its exit status and its last line.
fn reported(message: &str, end: &CallExit<'_>) -> Option<ProgramLimit> {
    let last = |text: &str| text.lines().rev().map(str::trim).find(|it| !it.is_empty()).map(str::to_owned);
    let mut told =
        [last(message), last(end.complaints)].into_iter().flatten().filter(|_| end.exit == Some(EXIT_LIMIT));
    let told = told.find_map(|it| it.strip_prefix("LOOP_LIMIT").map(|it| it.trim().to_owned()))?;
    let until = told.strip_prefix("until=").and_then(|it| it.parse::<jiff::Timestamp>().ok());
    let until = until.map(|it| when::settle(Timestamp(it.as_millisecond()), end.now));
    let is_time_unread = until.is_none() && !told.is_empty();
    let said = match is_time_unread {
        true => format!("\"{told}\" behind LOOP_LIMIT is not like until=2026-11-18T03:00:00Z"),
        false => last(end.complaints).unwrap_or_default(),
    };
    Some(ProgramLimit { limit: Limit::Plan { until }, said, is_time_unread })
}

/// Lines of an answer that is written for people.
const ANSWER_LINES: usize = 40;

fn of_line(line: &str, end: &CallExit<'_>) -> Option<Limit> {
    match answer::read(line) {
        Some(answer) => {
            of_answer(Stream::Text, &answer, line, end).or_else(|| phrase::read(Stream::Text, line, end))
        }
        None => phrase::read(Stream::Text, line, end),
    }
}

fn of_answer(stream: Stream, answer: &ProviderAnswer, whole: &str, end: &CallExit<'_>) -> Option<Limit> {
    if talk::is_of_another_service(&phrase::plain(whole)) {
        return None;
    }
    let message = answer.message.as_deref().unwrap_or_default();
    let kind = answer.kind.as_deref().unwrap_or_default();
    let said = phrase::read(stream, message, end);
    by_kind(kind)
        .filter(|it| !is_outweighed(*it, said))
        .or(said)
        .or_else(|| phrase::of_answer(stream, kind, message, end))
        .or_else(|| by_status(answer.status?, None))
        .or_else(|| of_kind(kind))
        .map(|it| paid(timed(it, answer, whole, end), answer.status, whole))
}

/// What a program exits with when it met a limit: EX_TEMPFAIL, "try again later".
const EXIT_LIMIT: i32 = 75;

#[cfg(test)]
mod tests {
    use super::model_window;

    #[test]
    fn the_window_of_any_model_is_named() {
        assert_eq!(["seven_day_opus", "seven_day_x2"].map(model_window), ["weekly Opus ", "weekly X2 "]);
        assert_eq!(["seven_day_", "seven_day_a b", "overage"].map(model_window), ["", "", ""]);
    }
}
