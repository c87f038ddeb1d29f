//! One visit to a phase: how many iterations it can take before it is left, before it rejects, and
//! before the run stops in it. Everything that a judgement can be is tried on the engine; states that
//! differ only in how many iterations went by are one. Where that has a circle, an agent can go round
//! it until the cap on the iterations of a visit, and the cap is the length.

use super::graph;
use super::world::{Reached, call, failure, judgement, onward};
use crate::engine::{CheckpointKind, Failure, Item, Judgement, Metric, Source, State, Verdict};
use crate::facts::FactName;
use crate::workflow::model::{ErrorClass, Phase, Protocol, Signal, Workflow};
use loop_base::value::Value;
use std::collections::BTreeMap;

/// The iterations of one visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VisitLength {
    /// Until it is left.
    pub leave: u64,
    /// Until it rejects.
    pub reject: u64,
    /// Until anything at all.
    pub any: u64,
    /// What each failure that is tried again adds.
    pub each_failure: u64,
    /// Nothing but the cap bounds it.
    pub by_cap: bool,
}

/// States looked at in one visit; a breaker with thresholds so high that there are more is no bound
/// worth the search, and the cap holds anyway.
const MOST_STATES: usize = 1_500;

/// Failures tried in one visit. Each brings the failed call, the one that looks at it, and what has
/// to be done again; three of them show what one more adds.
const FAILURES_TRIED: u32 = 3;

/// `entered` stands at the beginning of a visit to its phase.
pub(super) fn length(workflow: &Workflow, entered: &State) -> VisitLength {
    let phase = &workflow.phases[entered.phase];
    let cap = u64::from(phase.iterations.unwrap_or(workflow.limits.phase_iterations));
    let by_cap = VisitLength { leave: cap, reject: cap, any: cap, each_failure: 0, by_cap: true };
    let Some(plain) = explore(workflow, entered, 0) else { return by_cap };
    let mut each_failure = 0;
    if phase.retries {
        let total = workflow.retries.as_ref().map_or(0, |it| it.total);
        for allowed in 1..=total.min(FAILURES_TRIED) {
            let Some(more) = explore(workflow, entered, allowed) else { return by_cap };
            let added = [(more.leave, plain.leave), (more.reject, plain.reject), (more.any, plain.any)];
            for (more, plain) in added {
                each_failure = more.saturating_sub(plain).div_ceil(u64::from(allowed)).max(each_failure);
            }
        }
    }
    let capped = plain.any >= cap;
    VisitLength {
        leave: plain.leave.min(cap),
        reject: plain.reject.min(cap),
        any: plain.any.min(cap),
        each_failure,
        by_cap: capped,
    }
}

/// What tells two states of a visit apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VisitKey {
    skills_done: Vec<String>,
    fix_due: bool,
    no_progress: u32,
    same_error: u32,
    failures: u32,
    errors: Vec<usize>,
    pivoted: (bool, bool),
    looked: bool,
    retry: (u32, u32, u32),
    class: Option<ErrorClass>,
    signatures: Vec<usize>,
    failed: u32,
}

struct FoundWays {
    leave: u64,
    reject: u64,
    any: u64,
}

/// Returns the longest visits with so many failures that are tried again; `None` when only the cap
/// bounds them.
fn explore(workflow: &Workflow, entered: &State, failures: u32) -> Option<FoundWays> {
    let phase = &workflow.phases[entered.phase];
    let mut known: BTreeMap<VisitKey, usize> = BTreeMap::new();
    let mut states = vec![(plain(phase, entered.clone()), 0)];
    known.insert(key(&states[0].0, 0), 0);
    let mut edges = Vec::new();
    let (mut leaves, mut rejects, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    while edges.len() < states.len() {
        let (state, failed) = states[edges.len()].clone();
        let (mut own, mut leave, mut reject) = (Vec::new(), 0, 0);
        for judgement in judgements(workflow, &state) {
            let failed = failed + u32::from(judgement.verdict == Verdict::Fail);
            if failures < failed {
                continue;
            }
            match judgement.verdict {
                Verdict::Leave => leave = 1,
                Verdict::Reject => reject = 1,
                Verdict::Stuck(_) => (),
                Verdict::Step | Verdict::Again | Verdict::Fail | Verdict::Checkpoint(_) => {
                    let judged = call(workflow, &state, &judgement);
                    let Reached::Call(next) = onward(workflow, judged, &[]) else { continue };
                    let next = plain(phase, *next);
                    let node = *known.entry(key(&next, failed)).or_insert(states.len());
                    if node == edges.len() || MOST_STATES < states.len() {
                        return None;
                    }
                    if node == states.len() {
                        states.push((next, failed));
                    }
                    own.push((node, 1));
                }
            }
        }
        edges.push(own);
        leaves.push(leave);
        rejects.push(reject);
        rests.push(1);
    }
    let ways = |ends: &[u64]| graph::longest(&edges, ends).map(|it| it[0]);
    Some(FoundWays { leave: ways(&leaves)?, reject: ways(&rejects)?, any: ways(&rests)? })
}

/// Everything that the next call can be judged to be. What bounds the least comes first, so that a
/// visit that only its cap bounds is found at once.
fn judgements(workflow: &Workflow, state: &State) -> Vec<Judgement> {
    let phase = &workflow.phases[state.phase];
    let due: Vec<&String> = phase.skills.iter().filter(|it| !state.visit.skills_done.contains(it)).collect();
    let fixes = state.visit.fix_due && workflow.retries.as_ref().is_some_and(|it| it.with.is_some());
    if fixes {
        return vec![judgement(Verdict::Step)];
    }
    let mut all = Vec::new();
    if 1 < due.len() {
        all.push(judgement(Verdict::Step));
    } else {
        all.push(judgement(Verdict::Leave));
        all.extend(settled(phase));
    }
    all.extend(phase.reject.iter().map(|_| judgement(Verdict::Reject)));
    if phase.retries {
        all.extend(errors_of(workflow, state).into_iter().map(|error| Judgement {
            error,
            failed: true,
            ..judgement(Verdict::Fail)
        }));
        return all;
    }
    // A phase that needs no signal claims to be done with every call, so a call that does not leave it
    // is a claim that did not hold.
    let claims = phase.signal == Signal::None;
    let moves = !phase.progress.up.is_empty() || !phase.progress.down.is_empty();
    for progress in [true, false] {
        for failed in [false, true] {
            for error in again_errors(phase, state) {
                if (progress && !moves) || (claims && !failed) {
                    continue;
                }
                all.push(Judgement { progress, failed, error, ..judgement(Verdict::Again) });
            }
        }
    }
    all
}

/// A checkpoint that an autonomous run settles itself: another call goes out, and no breaker is fed.
fn settled(phase: &Phase) -> Option<Judgement> {
    let known = |value: Value| Metric { value, source: Source::Engine, claimed: None };
    let metrics = [(FactName::Autonomous, known(true.into())), (FactName::ChecksFailing, known(0u32.into()))];
    let metrics = metrics.map(|(fact, metric)| (fact.name().to_owned(), metric)).into();
    let checkpoint = judgement(Verdict::Checkpoint(CheckpointKind::Decision));
    (phase.report == Protocol::ExitSignal).then_some(Judgement { metrics, ..checkpoint })
}

/// No error, one never seen, and each of those that the breaker remembers.
fn again_errors(phase: &Phase, state: &State) -> Vec<Option<Failure>> {
    let mut errors = vec![None];
    if phase.breaker.same_error.is_some() {
        errors.push(Some(failure(ErrorClass::Other, &unseen(&state.visit.breaker.errors))));
        errors.extend(state.visit.breaker.errors.iter().map(|it| Some(failure(ErrorClass::Other, it))));
    }
    errors
}

fn errors_of(workflow: &Workflow, state: &State) -> Vec<Option<Failure>> {
    let rules = workflow.retries.as_ref().expect("a phase with retries has rules for them");
    let fresh = unseen(&state.retry.signatures);
    let mut errors = vec![None, Some(failure(ErrorClass::Other, &fresh))];
    errors.extend(rules.backoff.keys().map(|class| Some(failure(class.clone(), &fresh))));
    errors.extend(
        rules
            .backoff
            .keys()
            .zip(state.retry.signatures.last())
            .map(|(class, it)| Some(failure(class.clone(), it))),
    );
    errors.extend(state.retry.signatures.iter().map(|it| Some(failure(ErrorClass::Other, it))));
    errors
}

fn unseen(known: &[String]) -> String {
    let fresh = (0..=known.len()).map(|it| it.to_string()).find(|it| !known.contains(it));
    fresh.expect("there are more numbers than known ones")
}

/// Forgets what no decision in this visit depends on.
fn plain(phase: &Phase, mut state: State) -> State {
    let limits = &phase.breaker;
    state.visit.iteration = 0;
    state.iterations_total = 0;
    state.iterations_counted = 0;
    state.feedback = None;
    state.retry.fix = None;
    state.troubles = Default::default();
    state.warnings.clear();
    let breaker = &mut state.visit.breaker;
    if limits.no_progress.is_none() {
        breaker.no_progress = 0;
    }
    if limits.failures.is_none() {
        breaker.failures = 0;
    }
    if limits.same_error.is_none() {
        breaker.same_error = 0;
        breaker.errors.clear();
    }
    state
}

fn key(state: &State, failed: u32) -> VisitKey {
    let breaker = &state.visit.breaker;
    VisitKey {
        skills_done: state.visit.skills_done.clone(),
        fix_due: state.visit.fix_due,
        no_progress: breaker.no_progress,
        same_error: breaker.same_error,
        failures: breaker.failures,
        errors: numbered(&breaker.errors),
        pivoted: (breaker.pivoted, breaker.pivot_spent),
        looked: state.visit.looked,
        class: state.retry.class.clone(),
        retry: (state.retry.count, state.retry.same, state.retry.total),
        signatures: numbered(&state.retry.signatures),
        failed,
    }
}

/// Which of the errors are the same, whatever they are called.
fn numbered(errors: &[String]) -> Vec<usize> {
    errors.iter().map(|it| errors.iter().position(|other| other == it).expect("it is one of them")).collect()
}

/// Returns the run after this visit ended like this.
pub(super) fn end(workflow: &Workflow, entered: &State, verdict: Verdict, items: &[Item]) -> Reached {
    let mut state = entered.clone();
    let skills = &workflow.phases[entered.phase].skills;
    state.visit.skills_done = skills[..skills.len().saturating_sub(1)].to_vec();
    onward(workflow, call(workflow, &state, &judgement(verdict)), items)
}
