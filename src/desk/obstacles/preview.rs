//! What would happen next, in words, without anything being started or written.

use super::dirty_tree::about_dirt;
use super::prepare::refuse_or_prepare;
use crate::desk::caller::{Caller, load, untaken};
use crate::desk::request::RunRequest;
use crate::desk::resolving::wanted_run::WantedRun;
use crate::tree::git::Git;
use crate::world::wait::now;
use loop_core::engine::{Command, Decision, Effect, Event, State, Status, acceptable, decide};
use loop_core::event_line::iteration_words;
use loop_core::workflow::model::{WorkPlace, Workflow};
use loop_store::{Home, Row};

/// Conclusions that are drawn before the next effect; there are a few of them in a row.
const CONCLUSIONS_MOST: usize = 50;

/// Returns what a run that is wanted would do next, whether or not there is one. What is refused is refused here, too.
pub(crate) fn dry_run(
    caller: &Caller,
    request: &RunRequest,
    mut wanted: WantedRun,
) -> anyhow::Result<String> {
    let mut before = None;
    let home = caller.existing_home()?;
    if let Some(home) = &home
        && let Some(row) = wanted.newest(home)?
    {
        let short = row.id.get(..8).unwrap_or(&row.id).to_owned();
        before = match row.status {
            Status::Cancelled => Some(format!("open a new run, because run {short} is cancelled")),
            Status::Completed if request.fresh => Some("open a new run".to_owned()),
            _ if request.fresh => Some(format!("cancel run {short} and open a new one")),
            _ if home.snapshot(&row.id)?.is_some() => return of_run(home, &row, request),
            _ => None,
        };
    }
    refuse_or_prepare(caller, home.as_ref(), request, &mut wanted)?;
    let git = Git::around(&wanted.project)?;
    if wanted.workflow.workspace.at == WorkPlace::Here
        && let Some(question) = about_dirt(request, &git, &wanted)?
    {
        return Err(question.unasked.into());
    }
    let WantedRun { workflow, input, .. } = &wanted;
    let mut state = State::new(workflow);
    state.apply(workflow, now(), &Event::Opened(input.opening(request, workflow)));
    let next = next_decision(workflow, &state);
    Ok(before.map(|it| format!("{it}; then {next}")).unwrap_or(next))
}

/// Returns what `loop run` would do next in a run that there is: with the limits that were asked for, and with
/// what people said to it.
pub(crate) fn of_run(home: &Home, row: &Row, request: &RunRequest) -> anyhow::Result<String> {
    let (mut workflow, mut state) = load(home, row)?;
    if Status::of(&state) == Status::Completed {
        return Ok("look again whether the work is done: run its checks on the tree as it is".to_owned());
    }
    let limits = &mut workflow.limits;
    limits.usd = request.budget.or(limits.usd);
    limits.tokens = request.tokens.or(limits.tokens);
    limits.time = request.time.or(limits.time);
    let resume = Command::Resume { reset: request.reset, phase: None, most: request.max, retries: None };
    let said = untaken(home, &row.id)?;
    for command in std::iter::once(&resume).chain(said.commands()) {
        if let Ok(command) = acceptable(&workflow, &state, command.clone()) {
            state.apply(&workflow, now(), &Event::Commanded(command));
        }
    }
    Ok(next_decision(&workflow, &state))
}

/// Returns what would happen next, in words: the first thing that is done, or where the run stops again.
fn next_decision(workflow: &Workflow, state: &State) -> String {
    let mut state = state.clone();
    for _ in 0..CONCLUSIONS_MOST {
        match decide(workflow, &state, now()) {
            Decision::Record(event) => state.apply(workflow, now(), &event),
            Decision::Perform(Effect::Tell) | Decision::Rest(_) => break,
            Decision::Perform(effect) => return intent(workflow, &effect),
        }
    }
    format!("{}: {}", Status::of(&state).word(), state.reason(workflow))
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
