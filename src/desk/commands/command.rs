//! What people want a run to do: stop, pause, cancel. A command is written down first; whoever drives
//! the run is woken, and where nobody does, what can be done at once is done here.

use crate::desk::caller::{Caller, is_unfinished, load, naming_run, next_step};
use crate::desk::idle_world::{IdleWorld, keep_mirrors};
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::kept_head::keep_head;
use crate::desk::own_paths;
use crate::desk::question::{About, RequestQuestion};
use crate::desk::refusal::Refusal;
use crate::drive;
use crate::world::real::{CallAllowance, Host};
use crate::world::wait::{Listener, Signals, now};
use loop_core::engine::{Command, Outcome, State, Station, Status};
use loop_core::workflow::model::Workflow;
use loop_store::mirror::planning::RestEdit;
use loop_store::run::Run;
use loop_store::{Home, Row, StoreError, mirror};
use std::path::Path;
use std::rc::Rc;

/// What came of a command.
pub(crate) enum Commanded {
    /// No run of this project is unfinished.
    Nothing,
    Question(Box<RequestQuestion>),
    /// Whoever drives the run was told.
    Told(Box<CommandedRun>),
    /// Nobody drives it, and what could be done was done.
    Done(Box<CommandedRun>),
}

/// The run that was told, as it stands now.
pub(crate) struct CommandedRun {
    pub row: Row,
    pub workflow: Workflow,
    pub state: State,
    /// What a person can do next, as a command that works when it is pasted.
    pub next: String,
}

/// Stops the run after this iteration.
pub(crate) fn stop(caller: &Caller) -> Result<Commanded, Refusal> {
    command(caller, &Command::Stop).map_err(Refusal::from)
}

/// Ends the call at once; the run can continue later.
pub(crate) fn pause(caller: &Caller) -> Result<Commanded, Refusal> {
    command(caller, &Command::Pause { reason: "asked to pause".to_owned() }).map_err(Refusal::from)
}

/// Ends the run for good, once a person has agreed.
pub(crate) fn cancel(caller: &Caller, agreed: bool) -> Result<Commanded, Refusal> {
    if agreed {
        return command(caller, &Command::Cancel).map_err(Refusal::from);
    }
    inside_call::refuse(caller, None, GuardedCommand::Cancel)?;
    Ok(match unfinished(caller)? {
        None => Commanded::Nothing,
        Some((_, row)) => {
            let text = format!("cancel run {} for good?", &row.id[..8]);
            let refusal = Refusal { text: text.clone(), next: None, exit: 5 };
            let (unasked, aborted) = (refusal.clone(), refusal);
            let question = RequestQuestion { about: About::Cancel, lines: vec![text], unasked, aborted };
            Commanded::Question(Box::new(question))
        }
    })
}

fn command(caller: &Caller, command: &Command) -> anyhow::Result<Commanded> {
    inside_call::refuse(caller, None, deed(command))?;
    let Some((home, row)) = unfinished(caller)? else { return Ok(Commanded::Nothing) };
    inside_call::refuse(caller, Some((&home, &row)), deed(command))?;
    if matches!(command, Command::Pause { .. })
        && let Some(told) = at_rest(&home, &row)?
    {
        return Ok(Commanded::Done(told));
    }
    let owned = leave(&home, &row, command)?;
    if !owned {
        match Run::open(Rc::clone(&home), &row.id, now()) {
            Ok(mut run) => settle(&home, &mut run, Path::new(&row.place), command)?,
            // Somebody has taken it since we looked, and finds the command before anything else.
            Err(StoreError::Held { .. }) => (),
            Err(error) => return Err(error.into()),
        }
    }
    let (workflow, state) = load(&home, &row)?;
    let next = match owned {
        // It has not obeyed yet, so its state says nothing about what comes after.
        true if state.session.is_none() => naming_run(&home, &row.id, "loop run".to_owned())?,
        true => naming_run(&home, &row.id, "loop resume".to_owned())?,
        false => next_step(&home, &row.id, &workflow, &state)?,
    };
    let told = Box::new(CommandedRun { row, workflow, state, next });
    Ok(if owned { Commanded::Told(told) } else { Commanded::Done(told) })
}

/// A run that nobody drives and that has ended or asks already. A pause would only hide why.
fn at_rest(home: &Rc<Home>, row: &Row) -> anyhow::Result<Option<Box<CommandedRun>>> {
    if home.holder(&row.id).is_some() {
        return Ok(None);
    }
    let (workflow, state) = load(home, row)?;
    let is_working = matches!(state.station, Station::Working(_)) || state.session.is_some();
    let rests = match Status::of(&state) {
        Status::Halted | Status::Waiting | Status::Capped | Status::Stopped => !is_working,
        Status::Ready | Status::Running | Status::Paused | Status::Completed | Status::Cancelled => false,
    };
    if !rests {
        return Ok(None);
    }
    let next = next_step(home, &row.id, &workflow, &state)?;
    Ok(Some(Box::new(CommandedRun { row: row.clone(), workflow, state, next })))
}

fn deed(command: &Command) -> GuardedCommand {
    match command {
        Command::Stop => GuardedCommand::Stop,
        Command::Pause { .. } => GuardedCommand::Pause,
        Command::Cancel => GuardedCommand::Cancel,
        Command::Answer(_) | Command::Tried { .. } => GuardedCommand::Answer,
        Command::Guide { .. } => GuardedCommand::Guide,
        Command::Waive { .. } => GuardedCommand::Waive,
        Command::Skip { .. } => GuardedCommand::Skip,
        Command::Unhold => GuardedCommand::ClearLimits,
        Command::Resume { reset: true, .. } => GuardedCommand::Reset,
        Command::Resume { .. } => GuardedCommand::Resume,
    }
}

fn unfinished(caller: &Caller) -> anyhow::Result<Option<(Rc<Home>, Row)>> {
    let Some(home) = caller.existing_home()? else { return Ok(None) };
    let row = caller.find_to_change(&home)?.filter(is_unfinished);
    Ok(row.map(|it| (home, it)))
}

/// Writes a command down and wakes whoever drives the run; says whether anybody does.
pub(crate) fn leave(home: &Home, row: &Row, command: &Command) -> anyhow::Result<bool> {
    insert(home, &row.id, command)?;
    let urgency = if command.is_urgent() { loop_store::NOW } else { loop_store::COMMAND };
    Ok(loop_store::wake(&home.folder(&row.id), urgency)?)
}

/// Writes a command down for whoever drives the run next.
pub(crate) fn insert(home: &Home, run: &str, command: &Command) -> anyhow::Result<()> {
    home.command(run, now().0, &serde_json::to_string(command)?)?;
    Ok(())
}

/// Ends a run for good that nobody drives; one that somebody does is a refusal.
pub(crate) fn cancel_unowned(home: &Rc<Home>, row: &Row) -> anyhow::Result<()> {
    let mut run = Run::open(Rc::clone(home), &row.id, now())?;
    insert(home, &run.id, &Command::Cancel)?;
    settle(home, &mut run, Path::new(&row.place), &Command::Cancel)
}

/// Takes what was written down by somebody who drives nothing: a call that is still under way is
/// ended where that is wanted, and nothing is begun.
pub(crate) fn settle(home: &Rc<Home>, run: &mut Run, place: &Path, command: &Command) -> anyhow::Result<()> {
    let edit = rest_edit(home, run, place);
    let news = edit.and_then(RestEdit::news).map(|it| (now(), it));
    if matches!(run.state.station, Station::Working(_)) && command.is_urgent() {
        let ours = own_paths::of_run(place, run);
        let listener = Listener::new(Rc::clone(home), &run.id, Signals::listen()?)?;
        let watcher = Box::new(|run: &Run, facts: &[_]| keep_mirrors(home, place, run, facts));
        let mut host = Host::new(listener, run, place, None, &ours, CallAllowance::Calls(0), watcher)?;
        host.news.extend(news);
        drive::drive(run, &mut host)?;
    } else {
        drive::drive(run, &mut IdleWorld::new(home, place).with_news(news))?;
    }
    keep_head(run, place);
    mirror::restore(home, &run.id, &run.workflow, &run.state, place);
    if edit.is_some() {
        mirror::undo_rest_edit(home, &run.id, &run.workflow, place);
    }
    if run.state.station == Station::Closed(Outcome::Completed) {
        mirror::remove(&run.workflow, place);
    }
    Ok(())
}

/// What somebody did to the state file of a run that rested. A session of the agent sees to its own, and the word
/// that a run is to continue stays until somebody takes it.
fn rest_edit(home: &Home, run: &Run, place: &Path) -> Option<RestEdit> {
    let edit = mirror::rest_edit(home, &run.id, &run.workflow, place)?;
    (run.state.session.is_none() && !matches!(edit, RestEdit::Running { .. })).then_some(edit)
}
