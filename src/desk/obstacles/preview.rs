//! What would happen next, in words, without anything being started or written.

use crate::desk::caller::{Caller, load};
use crate::desk::request::RunRequest;
use crate::desk::resolving::wanted_run::WantedRun;
use crate::world::wait::now;
use loop_core::engine::{Decision, Effect, Event, State, Status, decide};
use loop_core::event_line::{iteration_words, line};
use loop_core::workflow::model::Workflow;

/// Returns what a run that is wanted would do next, whether or not there is one.
pub(crate) fn dry_run(caller: &Caller, request: &RunRequest, wanted: &WantedRun) -> anyhow::Result<String> {
    let WantedRun { workflow, input, .. } = wanted;
    let mut cancelled = None;
    let before = match caller.existing_home()? {
        Some(home) => match wanted.newest(&home)? {
            Some(row) if row.status == Status::Cancelled => {
                cancelled = Some(row.id);
                None
            }
            Some(row) if home.snapshot(&row.id)?.is_some() => Some(load(&home, &row)?.1),
            Some(_) | None => None,
        },
        None => None,
    };
    let state = match before {
        Some(state) => state,
        None => {
            let mut state = State::new(workflow);
            state.apply(workflow, now(), &Event::Opened(input.opening(request, workflow)));
            state
        }
    };
    let next = next_decision(workflow, &state);
    Ok(match cancelled {
        Some(id) => format!("open a new run, because run {} is cancelled; then {next}", &id[..8]),
        None => next,
    })
}

/// Returns what would happen next, in words.
pub(crate) fn next_decision(workflow: &Workflow, state: &State) -> String {
    match decide(workflow, state, now()) {
        Decision::Perform(effect) => intent(workflow, &effect),
        Decision::Record(event) => line(workflow, &event).unwrap_or_else(|| event.kind().to_owned()),
        Decision::Rest(_) => format!("{}: {}", Status::of(state).word(), state.reason(workflow)),
    }
}

/// What would be done, as a wish.
fn intent(workflow: &Workflow, effect: &Effect) -> String {
    match effect {
        Effect::Workspace => "make the branch and the worktree".to_owned(),
        Effect::Baseline => "run every check once, before the first call".to_owned(),
        Effect::List => "read the list of items".to_owned(),
        Effect::Work(call) => {
            let phase = &workflow.phases[call.phase];
            let iteration = iteration_words(phase, call.iteration);
            format!("start call {}: {}{iteration}", call.number, phase.name)
        }
        Effect::Collect(call) => format!("find out how call {} ended", call.number),
        Effect::Contain => "stop leftover processes of a call".to_owned(),
        Effect::Measure { checks, .. } => format!("run the checks: {}", checks.join(", ")),
        Effect::Prove(_) | Effect::Conclude => "prove the work in a clean checkout".to_owned(),
        Effect::Land => "merge the work".to_owned(),
        Effect::ProveMerge => "prove the merged tree".to_owned(),
        Effect::Move(merge) => format!("move {} to the merge", merge.into),
        Effect::Look => "check whether the work is merged".to_owned(),
        Effect::Confirm => "check whether the approval is still valid".to_owned(),
        Effect::Sleep { until, why } => format!("wait until {until}: {why}"),
        Effect::Ask(question) => format!("ask: {}", question.text),
        Effect::Tell => "notify a person".to_owned(),
        Effect::Finish => "finish".to_owned(),
    }
}
