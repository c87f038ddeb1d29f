//! The status block of one iteration, as the controller writes it into `phase-status.log`: what was
//! measured outranks what the agent's own block said, and the values for breaker, exit rule and
//! limits are ours. The text follows from the journal alone, so it comes out the same every time.

use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{
    BreakerState, JudgedTurn, Judgement, PhaseStatus, State, Verdict, breaker, review_attempt,
};
use loop_core::workflow::condition::Truth;
use loop_core::workflow::model::Workflow;
use std::fmt::Write;

/// Returns the block and the empty line after it.
pub(super) fn text(workflow: &Workflow, state: &State, at: Timestamp, turn: &JudgedTurn) -> String {
    let judgement = &turn.judgement;
    let phase = &workflow.phases[turn.call.phase];
    let status = match judgement.verdict {
        Verdict::Leave => "COMPLETE",
        _ if turn.opens_breaker => "BLOCKED",
        _ => "IN_PROGRESS",
    };
    let exits = judgement.verdict == Verdict::Leave;
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line("---PRP_PHASE_STATUS---".to_owned());
    line(format!("TIMESTAMP: {at}"));
    line(format!("PHASE: {}", phase.name));
    line(format!("STATUS: {status}"));
    line(format!("ITERATION: {}", state.visit.iteration));
    line(format!("PROGRESS_PERCENT: {}", percent(workflow, state, exits)));
    line(String::new());
    if phase.reject.is_some() {
        review(workflow, state, turn, &mut line);
    } else {
        tests(judgement, &mut line);
        line(String::new());
        line("FILES:".to_owned());
        let counted = state.seen.changed.as_ref().map(|it| it.call);
        let measured = counted.map(|it| [it.created, it.modified, it.deleted].map(i64::from));
        let said =
            ["files_created", "files_modified", "files_deleted"].map(|it| reported(turn, it).unwrap_or(0));
        let counts = measured.unwrap_or(said);
        for (name, count) in ["CREATED", "MODIFIED", "DELETED"].iter().zip(counts) {
            line(format!("  {name}: {count}"));
        }
    }
    line(String::new());
    line("CIRCUIT_BREAKER:".to_owned());
    line(format!("  STATE: {}", breaker_word(breaker(workflow, state))));
    line(format!("  NO_PROGRESS_COUNT: {}", state.visit.breaker.no_progress));
    line(String::new());
    line("DUAL_GATE:".to_owned());
    line(format!("  GATE_1: {}", judgement.exit == Truth::True));
    if judgement.exit != Truth::True && !judgement.why.is_empty() {
        line(format!("  GATE_1_DETAIL: {}", one_line(&judgement.why.join("; "))));
    }
    line(format!("  GATE_2: {}", judgement.signal));
    line(format!("  CAN_EXIT: {exits}"));
    line(String::new());
    line("RATE_LIMIT:".to_owned());
    let limit = workflow.limits.window.as_ref().map_or_else(|| "none".to_owned(), |it| it.calls.to_string());
    line(format!("  HOURLY: {}/{limit}", state.calls.made));
    line("  5H_LIMIT: OK".to_owned());
    line(String::new());
    line("BLOCKERS:".to_owned());
    for blocker in &turn.report.blockers {
        line(format!("  - {}", one_line(blocker)));
    }
    if turn.report.blockers.is_empty() {
        line("  - none".to_owned());
    }
    line(String::new());
    line(format!("EXIT_SIGNAL: {}", judgement.signal));
    line(format!("RECOMMENDATION: {}", recommendation(workflow, state, turn)));
    line("---END_PRP_PHASE_STATUS---".to_owned());
    line(String::new());
    out
}

pub(super) fn breaker_word(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "CLOSED",
        BreakerState::HalfOpen => "HALF_OPEN",
        BreakerState::Open => "OPEN",
    }
}

/// The share of the whole run, with a phase that is being left counted as done: the block speaks of
/// phases, so the last one ends at 100 before anything is proven.
fn percent(workflow: &Workflow, state: &State, exits: bool) -> u32 {
    if !exits {
        return state.progress_percent(workflow);
    }
    let mut after = state.clone();
    after.phases[state.phase].status = PhaseStatus::Completed;
    after.phases_percent(workflow)
}

/// Tests that failed before the run began are in neither count, so the sum is taken here: readers
/// rely on it.
fn tests(judgement: &Judgement, line: &mut impl FnMut(String)) {
    let count = |name: &str| judgement.metrics.get(name).and_then(|it| whole(&it.value)).unwrap_or(0);
    let (passing, failing, skipped) =
        (count("tests_passing"), count("tests_failing"), count("tests_skipped"));
    line("TESTS:".to_owned());
    line(format!("  TOTAL: {}", passing + failing + skipped));
    line(format!("  PASSING: {passing}"));
    line(format!("  FAILING: {failing}"));
    line(format!("  SKIPPED: {skipped}"));
}

/// What a reviewer says about the memory that it asked.
const MEMORY: [&str; 5] =
    ["QUERIES_EXECUTED", "HISTORICAL_BUGS_FOUND", "PATTERNS_IDENTIFIED", "ADRS_FOUND", "FILE_HISTORIES"];

fn review(workflow: &Workflow, state: &State, turn: &JudgedTurn, line: &mut impl FnMut(String)) {
    let count = |name: &str| {
        // The reviewer's own numbers: what the engine calls by the same name is something else.
        let said = reported(turn, &format!("qa_{name}")).or(reported(turn, name));
        said.or(reported(turn, &format!("qa_metrics_{name}"))).unwrap_or(0)
    };
    line("QA_METRICS:".to_owned());
    for name in ["CHECKS_TOTAL", "CHECKS_PASSING", "CHECKS_FAILING", "BLOCKING_ISSUES", "WARNING_ISSUES"] {
        line(format!("  {name}: {}", count(&name.to_ascii_lowercase())));
    }
    line(String::new());
    line("MEMORY_CONTEXT:".to_owned());
    for name in MEMORY {
        line(format!(
            "  {name}: {}",
            reported(turn, &format!("memory_context_{}", name.to_ascii_lowercase())).unwrap_or(0)
        ));
    }
    line(String::new());
    line(format!("VERDICT: {}", verdict(turn.verdict())));
    line(format!("ATTEMPT: {}", review_attempt(workflow, state, turn.call.phase).0));
}

/// Returns what the reviewer says, as one of the format's words.
pub(super) fn verdict(said: Option<&Value>) -> String {
    said.map_or_else(|| "PENDING".to_owned(), plain)
}

/// A value as people write it, on one line.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => one_line(text),
        Value::Bool(_) | Value::Int(_) | Value::Number(_) => value.to_string(),
    }
}

fn recommendation(workflow: &Workflow, state: &State, turn: &JudgedTurn) -> String {
    let own = match &turn.judgement.verdict {
        Verdict::Leave => Some("both gates are satisfied; continue".to_owned()),
        Verdict::Reject => Some("rejected; repair what was found".to_owned()),
        Verdict::Step | Verdict::Again | Verdict::Fail | Verdict::Stuck(_) | Verdict::Checkpoint(_) => {
            turn.judgement.why.first().map(|it| it.to_owned())
        }
    };
    let said = turn.report.summary.clone().or(own);
    one_line(&said.unwrap_or_else(|| state.reason(workflow)))
}

pub(super) fn reported(turn: &JudgedTurn, name: &str) -> Option<i64> {
    turn.report.metrics.get(name).and_then(whole)
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(it) => Some(*it),
        Value::Bool(_) | Value::Number(_) | Value::Text(_) => None,
    }
}

/// A text of the agent's must not end a line, and so not forge one.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect::<String>().trim().to_owned()
}
