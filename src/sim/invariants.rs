//! What must hold at every step of every journal, whoever played it. These properties watch and do
//! not drive; each failure names the seed.

use loop_base::time::Timestamp;
use loop_core::engine::{CheckOutcome, Effect, Event, How, State, Station, Verdict};
use loop_core::facts::FactName;
use loop_core::workflow::condition::Truth;
use loop_core::workflow::model::Workflow;

/// Follows a journal from its first event and looks at every step.
pub(super) fn hold_the_invariants(
    seed: u64,
    workflow: &Workflow,
    events: &[(Timestamp, Event)],
    end: &State,
) {
    let mut state = State::new(workflow);
    for (at, event) in events {
        match event {
            Event::Began(Effect::Work(call)) => hold_before_a_call(seed, workflow, &state, *at, call.number),
            Event::Judged(judgement) if judgement.verdict == Verdict::Leave => {
                assert_eq!(judgement.exit, Truth::True, "seed {seed}: left without evidence");
                assert!(judgement.signal, "seed {seed}: left without a signal");
                hold_the_checks(seed, workflow, &state);
            }
            Event::Entered { how: How::Passed | How::NoItems | How::Skipped, .. }
            | Event::Began(Effect::Finish) => {
                hold_at_a_boundary(seed, workflow, &state);
            }
            _ => (),
        }
        state.apply(workflow, *at, event);
        for (phase, count) in &state.rejections {
            let most = workflow.phases[*phase].reject.as_ref().map_or(0, |it| it.at_most);
            assert!(*count <= most, "seed {seed}: {} rejects too often", workflow.phases[*phase].name);
        }
    }
    same(&state, end, &format!("seed {seed}: the events lead elsewhere"));
    let text = serde_json::to_vec(end).expect("a state is plain data");
    let read = serde_json::from_slice(&text).expect("what we wrote can be read");
    same(&read, end, &format!("seed {seed}: read again"));
    assert!(end.troubles.errors.len() <= 50 && end.warnings.len() <= 20, "seed {seed}: the state grows");
    let starts = events.iter().filter(|it| matches!(&it.1, Event::Began(Effect::Work(_)))).count();
    let ends = events.iter().filter(|it| matches!(&it.1, Event::Ended(_))).count();
    assert!(starts == ends || starts == ends + 1, "seed {seed}: {starts} calls began and {ends} ended");
}

fn hold_before_a_call(seed: u64, workflow: &Workflow, state: &State, at: Timestamp, number: u32) {
    let phase = &workflow.phases[state.phase];
    let limits = &workflow.limits;
    let when = format!("seed {seed}: call {number} in {}", phase.name);
    if let Some(most) = state.iterations_limit(workflow).filter(|_| phase.counted) {
        assert!(state.iterations_counted < most, "{when} is beyond the cap");
    }
    let most = phase.iterations.unwrap_or(limits.phase_iterations);
    assert!(state.visit.iteration < most, "{when} is beyond the phase's cap");
    if let Some(window) = &limits.window {
        let calls = state.calls.at(window, at);
        assert!(calls.made < window.calls || at < calls.granted, "{when} exceeds the window");
    }
    assert!(limits.usd.is_none_or(|most| state.spent.usd < most), "{when} is beyond the budget");
    assert!(limits.tokens.is_none_or(|most| state.spent.tokens.total() < most), "{when} has no tokens");
    assert!(limits.time.is_none_or(|most| state.spent.ms < most), "{when} has no time");
    if let Some(rules) = &workflow.retries {
        assert!(state.retry.total < rules.total, "{when} follows {} failures", state.retry.total);
        let backoff = rules.backoff.values().map(|it| it.tries).max().unwrap_or(0);
        assert!(state.retry.count <= rules.at_most.max(backoff), "{when} is one retry too many");
    }
    if let Some(reason) = state.visit.breaker.open(&phase.breaker) {
        let fresh = phase.breaker.pivot && state.visit.breaker.pivoted && !state.visit.breaker.pivot_spent;
        assert!(fresh, "{when} goes out past an open breaker: {reason}");
    }
}

/// Only counted tests are excused: where failing is the aim, and those that failed before the run.
fn hold_the_checks(seed: u64, workflow: &Workflow, state: &State) {
    let Station::Measured(_, evidence) = &state.station else {
        panic!("seed {seed}: judged without evidence")
    };
    let phase = &workflow.phases[state.phase];
    for result in &evidence.results {
        let red = phase.expect_failing && result.counts.as_ref().is_some_and(|it| 0 < it.total);
        let failed = matches!(result.outcome, CheckOutcome::Failed(_)) && result.passes == 0;
        assert!(!failed || red, "seed {seed}: {} is left although {} fails", phase.name, result.name);
    }
}

/// A phase is left by its exit rule or by a person, and past no gate that its mode lists, that is
/// required, or whose condition holds.
fn hold_at_a_boundary(seed: u64, workflow: &Workflow, state: &State) {
    let phase = &workflow.phases[state.phase];
    let left = match &state.station {
        Station::Judged(it) => it.verdict == Verdict::Leave,
        Station::Leaving { .. } | Station::Between | Station::Finishing => true,
        // A body with nothing to do is passed over.
        Station::Ready => phase.each.is_some() && state.item.is_none() && state.listed,
        Station::Working(_)
        | Station::Reported(_)
        | Station::Measured(..)
        | Station::Waiting { .. }
        | Station::Finished
        | Station::Closed(_) => false,
    };
    assert!(left, "seed {seed}: {} is left from {:?}", phase.name, state.station);
    if state.station != Station::Finishing {
        hold_late_gates(seed, workflow, state);
    }
    let inside = phase.each.is_some() && state.item.is_some();
    for gate in phase.gates.iter().filter(|_| !inside && state.station != Station::Finishing) {
        let listed = workflow.mode.as_ref().is_some_and(|it| workflow.modes[it].contains(&gate.gate));
        let lookup = |name: &str| match FactName::named(name) {
            Some(FactName::Autonomous) => Some(workflow.is_autonomous().into()),
            Some(_) | None => state.seen.values.get(name).cloned(),
        };
        let detected = gate.when.as_ref().is_some_and(|it| it.truth(&lookup) == Truth::True);
        let due = listed || detected || workflow.gates[&gate.gate].required;
        assert!(
            !due || state.approved.contains_key(&gate.gate),
            "seed {seed}: {} is left past the gate {}",
            phase.name,
            gate.gate
        );
    }
}

/// Before the work leaves, somebody has passed every gate that asks about what the change touches by now.
fn hold_late_gates(seed: u64, workflow: &Workflow, state: &State) {
    let earlier = workflow.phases[..state.phase].iter().flat_map(|it| &it.gates);
    for gate in earlier.filter(|_| workflow.proof.at == Some(state.phase)) {
        let is_about_change = |it: &str| workflow.facts.contains_key(it);
        let lookup = |name: &str| match FactName::named(name) {
            Some(FactName::Autonomous) => Some(workflow.is_autonomous().into()),
            Some(_) | None => state.seen.values.get(name).filter(|_| is_about_change(name)).cloned(),
        };
        let detected = gate.when.as_ref().is_some_and(|it| it.truth(&lookup) == Truth::True);
        assert!(
            !detected || state.gates_passed.contains_key(&gate.gate),
            "seed {seed}: the work leaves past the gate {}",
            gate.gate
        );
    }
}

/// Compares two states field by field, so that a failure names the field.
pub(super) fn same(one: &State, other: &State, when: &str) {
    if one == other {
        return;
    }
    let fields = |state: &State| match serde_json::to_value(state).expect("a state is plain data") {
        serde_json::Value::Object(fields) => fields,
        other => panic!("a state is an object: {other}"),
    };
    for ((name, one), (_, other)) in fields(one).iter().zip(&fields(other)) {
        assert_eq!(one, other, "{name} differs, {when}");
    }
}
