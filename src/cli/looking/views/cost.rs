//! What a run cost, what it may cost and what it is going to cost: in words and as JSON.

use crate::world::wait::now;
use loop_base::text::counted;
use loop_core::engine::{Ended, Forecast, Spent, State, TokenClasses, cost_words, dollars};
use loop_core::workflow::model::Workflow;
use loop_store::run::Run;
use loop_store::{Home, Row, local_day};
use serde_json::{Value, json};

/// Earlier runs that say what one costs; older ones may have had other models.
const RUNS_LOOKED_AT: u32 = 5;

/// Returns the lines of `status` about money and tokens.
pub(crate) fn status_lines(home: &Home, workflow: &Workflow, state: &State) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    lines.extend(labelled(&state.spent).map(|it| ("cost", it)));
    lines.extend(tokens(&state.spent.tokens).map(|it| ("tokens", it)));
    lines.extend(budget(home, workflow, state).map(|it| ("budget", it)));
    lines.extend(state.forecast(workflow).map(|it| ("forecast", forecast(&it))));
    lines
}

/// Returns the lines of a report about money and tokens.
pub(crate) fn report_lines(spent: &Spent) -> Vec<String> {
    let cost = labelled(spent).map(|it| format!("cost: {it}"));
    cost.into_iter().chain(tokens(&spent.tokens).map(|it| format!("tokens: {it}"))).collect()
}

/// Returns the cost as it stands behind a label.
fn labelled(spent: &Spent) -> Option<String> {
    spent.words().map(|it| it.strip_prefix("cost ").unwrap_or(&it).to_owned())
}

/// Returns the lines about what a call cost and used.
pub(crate) fn call_lines(ended: &Ended) -> Vec<String> {
    let mut spent = Spent::default();
    spent.count(ended);
    report_lines(&spent)
}

/// Returns what a call cost; nothing where it cannot have cost anything.
pub(crate) fn of_call(ended: &Ended) -> Option<String> {
    let mut spent = Spent::default();
    spent.count(ended);
    spent.words_if_reported().filter(|_| ended.is_charged() || 0.0 < spent.usd)
}

/// Returns what a run in a list cost; a dash where it has made no call that could.
pub(crate) fn of_row(row: &Row) -> String {
    let usd = row.micro_usd.map(|it| it as f64 / 1e6);
    let unknown = u32::try_from(row.unknown_calls).unwrap_or(u32::MAX);
    match (usd, unknown) {
        (Some(usd), 0) => dollars(usd),
        (Some(usd), _) => format!("{}+?", dollars(usd)),
        (None, 0) => "–".to_owned(),
        (None, _) => "unknown".to_owned(),
    }
}

/// Returns the cost of a run in a list, as JSON.
pub(crate) fn row_json(row: &Row) -> Value {
    let source = match (row.micro_usd, row.unknown_calls, row.computed) {
        (None, ..) | (_, 1.., _) => "unknown",
        (_, _, true) => "computed",
        (_, _, false) => "reported",
    };
    json!({ "amount": row.micro_usd.map(|it| it as f64 / 1e6), "source": source })
}

/// Returns the contract's `budget`.
pub(crate) fn budget_json(home: &Home, workflow: &Workflow, state: &State) -> Value {
    let (limits, spent) = (&workflow.limits, &state.spent);
    let seconds_limit = limits.time.map(|it| it / 1000);
    let mut budget = json!({
        "tokens": spent.tokens,
        "usd": usd_json(spent),
        "unknown_calls": spent.unknown_calls,
        "seconds": spent.ms / 1000,
        "tokens_limit": limits.tokens, "usd_limit": limits.usd, "seconds_limit": seconds_limit,
        "limits": {
            "usd": limits.usd, "tokens": limits.tokens, "seconds": seconds_limit, "call_usd": limits.call_usd,
            "call_turns": limits.call_turns, "phase_usd": limits.phase_usd, "day_usd": limits.day_usd,
        },
        "forecast": state.forecast(workflow),
    });
    let day = local_day(now());
    if limits.day_usd.is_some()
        && let (Ok(today), Ok(reserved)) = (home.spent_on(&day, None), home.reserved_on(&day))
    {
        let spent = (today.micro_usd + today.assumed_micro_usd) as f64 / 1e6;
        budget["today"] = json!({ "day": day, "usd": spent, "reserved_usd": reserved });
    }
    budget
}

/// Returns a sum with its source, as JSON.
pub(crate) fn usd_json(spent: &Spent) -> Value {
    json!({ "amount": spent.amount(), "source": spent.source() })
}

/// Returns what a day or a project cost, in words.
pub(crate) fn spend_words(spend: &loop_store::Spend) -> String {
    if spend.calls == 0 {
        // Calls that a provider refused are not counted: they cost nothing.
        return "nothing spent".to_owned();
    }
    let known = spend.calls - spend.unknown_calls.min(spend.calls);
    let amount = (0 < known).then_some(spend.micro_usd as f64 / 1e6);
    let cost = cost_words(amount, false, spend.unknown_calls).unwrap_or_else(|| "nothing".to_owned());
    let tokens = tokens(&spend.tokens).map(|it| format!("; tokens: {it}")).unwrap_or_default();
    format!("{}, {cost}{tokens}", counted(spend.calls, "call"))
}

/// Returns what a run that has made no call is going to cost, where earlier ones of its workflow tell.
pub(crate) fn expected(home: &Home, run: &Run) -> Option<String> {
    let row = home.run(&run.id).ok().flatten().filter(|_| run.state.calls_total == 0)?;
    let costs = home.costs_of(&row.project, &row.workflow, RUNS_LOOKED_AT).ok()?;
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    let whose = match costs.len() {
        0 => return None,
        1 => format!("the last run of {} here", row.workflow),
        count => {
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            let most = costs.iter().copied().fold(0.0, f64::max);
            let (least, most) = (dollars(least), dollars(most));
            format!("the last {count} runs of {} here ({least} to {most})", row.workflow)
        }
    };
    Some(format!("expected cost: about {}, by {whose}", dollars(mean)))
}

fn tokens(tokens: &TokenClasses) -> Option<String> {
    let TokenClasses { input, cache_write, cache_read, output } = tokens;
    let whole = tokens.total();
    (whole != 0).then(|| {
        format!(
            "{input} input, {cache_write} cache write, {cache_read} cache read, {output} output ({whole} in all)"
        )
    })
}

fn budget(home: &Home, workflow: &Workflow, state: &State) -> Option<String> {
    let limits = &workflow.limits;
    let of = |spent: f64, most: f64, whose: &str| format!("{} of {}{whose}", dollars(spent), dollars(most));
    let phase = &state.phases[state.phase].spent;
    let counts = |spent: &Spent| spent.usd + spent.assumed_usd;
    let run = limits.usd.map(|most| match counts(&state.spent) {
        0.0 if 0 < state.spent.unknown_calls => format!("unknown of {}", dollars(most)),
        known => of(known, most, ""),
    });
    let name = format!(" for {}", workflow.phases[state.phase].name);
    let of_phase = limits.phase_usd.map(|most| of(counts(phase), most, &name));
    let today = limits.day_usd.and_then(|most| {
        let day = local_day(now());
        let (today, reserved) = (home.spent_on(&day, None).ok()?, home.reserved_on(&day).ok()?);
        let spent = (today.micro_usd + today.assumed_micro_usd) as f64 / 1e6;
        let held = if reserved == 0.0 { String::new() } else { format!(", {} set aside", dollars(reserved)) };
        Some(of(spent, most, &format!(" today, all runs{held}")))
    });
    let tokens = limits.tokens.map(|most| format!("{} of {most} tokens", state.spent.tokens.total()));
    let parts: Vec<String> = [run, of_phase, today, tokens].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn forecast(forecast: &Forecast) -> String {
    let mut text = format!("about {} a call", dollars(forecast.call_usd));
    if let Some(calls) = forecast.calls_left {
        text.push_str(&format!(", {} more within the budget", counted(calls, "call")));
    }
    if let Some(total) = forecast.total_usd {
        text.push_str(&format!(", about {} in all", dollars(total)));
    }
    text
}
