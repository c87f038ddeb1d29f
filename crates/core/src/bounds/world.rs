//! The world as the exploration sees it: everything that is not about the order of calls is taken away, and
//! what is left answers at once. What could only stop a run earlier (windows, budgets, gates whose
//! condition may be false) is taken away too, so that no path is missed.

use crate::engine::{
    Baseline, Decision, Effect, Ended, Ending, Event, Evidence, Failure, Item, Judgement,
    LANDING_RETURNS_MOST, Landing, Listing, Opening, State, StepTaken, Verdict, decide,
};
use crate::proof::{Finding, FindingKind, Level, Proof, ProofStep};
use crate::report::Report;
use crate::workflow::condition::{Condition, Truth};
use crate::workflow::model::{ErrorClass, Model, WorkPlace, Workflow};
use loop_base::time::Timestamp;
use std::collections::BTreeMap;

/// Decisions between two calls. Leaving a phase, finding a body empty and entering the next take five
/// each; a workflow of a hundred phases stays below this, and a circle without any call does not.
const MOST_DECISIONS: usize = 2_000;

/// Returns the workflow without everything that only ever ends a run earlier.
pub(super) fn abstracted(workflow: &Workflow) -> Workflow {
    let mut world = workflow.clone();
    world.limits.iterations = None;
    world.limits.window = None;
    world.limits.usd = None;
    world.limits.tokens = None;
    world.limits.phase_usd = None;
    world.limits.day_usd = None;
    world.limits.time = None;
    world.workspace.at = WorkPlace::Here;
    // Where a check has no command, a person is asked or there is no proof; both make fewer calls.
    world.checks.values_mut().for_each(|it| it.run = Some(String::new()));
    world.proof.require = Level::None;
    // Where a required check did not run, a person is asked before the phase is left.
    world.phases.iter_mut().for_each(|it| it.require.clear());
    // Where a review has to ask another model and would not, a person is asked before the call.
    for phase in &mut world.phases {
        if let Some(Model::Differing { required, .. }) = &mut phase.model {
            *required = false;
        }
    }
    // Where nobody has said what a skill needs, a person is asked before it is called.
    world.skills.values_mut().for_each(|it| it.needs = None);
    let never = Condition::parse("false").expect("a literal is a condition");
    for gate in world.phases.iter_mut().flat_map(|it| &mut it.gates) {
        // A gate that is asked for whatever the condition says still stops the run.
        gate.when = gate.when.as_ref().map(|_| never.clone());
    }
    world
}

/// Where a run stands after everything that follows by itself.
pub(super) enum Reached {
    /// A call goes out next, in a visit that has just begun or that continues.
    Call(Box<State>),
    /// The run has ended, or nothing happens without a person.
    Rest,
    /// Decisions follow each other without a call and without end.
    Endless,
}

pub(super) fn opened(workflow: &Workflow) -> State {
    let mut state = State::new(workflow);
    state.apply(workflow, Timestamp(0), &Event::Opened(Opening::default()));
    state.apply(workflow, Timestamp(0), &Event::Baselined(Baseline::default()));
    state
}

/// Lets the engine decide until a call goes out or the run stops. `items` are all that there are.
pub(super) fn onward(workflow: &Workflow, mut state: State, items: &[Item]) -> Reached {
    let mut now = state.updated_at;
    for _ in 0..MOST_DECISIONS {
        let event = match decide(workflow, &state, now) {
            Decision::Record(Event::Held(_) | Event::Closed(_)) | Decision::Rest(_) => return Reached::Rest,
            Decision::Record(event) => event,
            Decision::Perform(effect) => match effect {
                Effect::Work(_) => return Reached::Call(Box::new(state)),
                Effect::Ask(_) | Effect::Finish | Effect::Look => return Reached::Rest,
                Effect::Land | Effect::ProveMerge | Effect::Move(_) => Event::Landed(worst_landing(&state)),
                Effect::Tell => Event::Began(Effect::Tell),
                Effect::List => Event::Listed(Listing::Whole(items.to_vec())),
                Effect::Prove(step) => step_taken(step),
                Effect::Confirm => unreachable!("a question is where the exploration ends"),
                Effect::Conclude => Event::Proved(Box::new(worst_proof(&state))),
                Effect::Sleep { until, .. } => {
                    now = until;
                    Event::Woke
                }
                Effect::Baseline => Event::Baselined(Baseline::default()),
                Effect::Workspace => Event::Placed { place: String::new(), branch: None },
                Effect::Contain => Event::Contained { left: Vec::new() },
                Effect::Measure { .. } => {
                    // Every skill is done, so the phase is measured without a call. That can lead
                    // nowhere that a failed call cannot, so it is skipped.
                    state.visit.looked = true;
                    continue;
                }
                Effect::Collect(_) => unreachable!("no call is under way"),
            },
        };
        state.apply(workflow, now, &event);
    }
    Reached::Endless
}

/// The proof that leads to the most calls: it sends the work back as often as it may, then it holds.
fn worst_proof(state: &State) -> Proof {
    let finding = Finding {
        kind: FindingKind::ChangedTest,
        check: None,
        test: None,
        file: None,
        step: None,
        line: String::new(),
    };
    let findings = if state.proof_returns == 0 { vec![finding] } else { Vec::new() };
    Proof { findings, ..Proof::of_nothing(String::new()) }
}

/// The landing that leads to the most calls: it sends the work back as often as it may.
fn worst_landing(state: &State) -> Landing {
    match state.landing_returns < LANDING_RETURNS_MOST {
        true => Landing::Collides { why: Vec::new() },
        false => Landing::Merged { into: String::new(), commit: String::new() },
    }
}

fn step_taken(step: ProofStep) -> Event {
    Event::StepTaken(Box::new(StepTaken {
        not_needed: false,
        step,
        tree: String::new(),
        seconds: 0.0,
        expected_s: None,
        found: String::new(),
        digest: None,
        unprepared: None,
    }))
}

/// Makes the call that is due and has it judged like this.
pub(super) fn call(workflow: &Workflow, state: &State, judgement: &Judgement) -> State {
    let mut state = state.clone();
    let now = state.updated_at;
    let Decision::Perform(effect @ Effect::Work(_)) = decide(workflow, &state, now) else {
        unreachable!("a call is due");
    };
    let events = [
        Event::Began(effect),
        Event::Ended(Box::new(Ended::plain(state.calls_total + 1, Ending::Done, Report::default()))),
        Event::Measured(Box::<Evidence>::default()),
        Event::Judged(Box::new(judgement.clone())),
    ];
    for event in &events {
        state.apply(workflow, now, event);
    }
    state
}

pub(super) fn judgement(verdict: Verdict) -> Judgement {
    Judgement {
        phase: None,
        verdict,
        exit: Truth::Unknown,
        signal: false,
        why: Vec::new(),
        lacks: None,
        progress: false,
        failed: false,
        error: None,
        metrics: BTreeMap::new(),
        options: Vec::new(),
        green_runs: 0,
        notes: Vec::new(),
    }
}

pub(super) fn failure(class: ErrorClass, signature: &str) -> Failure {
    Failure { class, signature: signature.to_owned(), text: String::new() }
}
