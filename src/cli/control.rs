//! `loop stop`, `pause`, `cancel` and `resume`: what people want a run to do. A command is written
//! down first; whoever drives the run is woken, and where nobody does, what can be done at once is
//! done here.

use super::context::Context;
use super::drive::{self, Going, Reach};
use super::flags::{OnQuestion, RunFlags, amount};
use super::trouble::meant;
use super::{Trouble, ask, open, reload};
use crate::world::real::{Host, Leash};
use crate::world::wait::{Ears, Signals, now};
use clap::Args;
use loop_core::engine::{Command, Decision, Event, Outcome, State, Station, Status, decide};
use loop_store::run::Run;
use loop_store::{Home, Row, StoreError};
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[derive(Args)]
pub(super) struct StopFlags {
    /// End the call at once instead of after this iteration
    #[arg(long)]
    now: bool,
}

#[derive(Args)]
pub(super) struct CancelFlags {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(Args)]
pub(super) struct ResumeFlags {
    /// Go on in this phase, which must have been reached before
    #[arg(long, value_name = "PHASE")]
    state: Option<String>,
    /// Set the counters to 0
    #[arg(long)]
    reset: bool,
    /// Only if the run works in a worktree of its own
    #[arg(long)]
    worktree: bool,
    /// Iterations of this run, over all restarts
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,
    /// Read the workflow file again; a run that has begun keeps its own copy otherwise
    #[arg(long)]
    reload: bool,
    /// Money that the run may spend, in dollars
    #[arg(long, value_name = "USD", value_parser = amount)]
    budget: Option<f64>,
    /// Tokens that the run may spend
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tokens: Option<u64>,
    /// Time that the run may work, as 90s, 45m or 2h
    #[arg(long, value_name = "LENGTH", value_parser = loop_core::workflow::resolve::parse_length)]
    time: Option<u64>,
    /// What to do at a question
    #[arg(long, value_enum, value_name = "WHAT")]
    on_question: Option<OnQuestion>,
    /// Go on without this terminal; loop attach watches it and answers its questions
    #[arg(long)]
    detach: bool,
}

pub(super) fn stop(context: &Context, flags: &StopFlags) -> anyhow::Result<u8> {
    if flags.now {
        return pause(context);
    }
    let Some((home, row)) = unfinished(context)? else { return nothing(context) };
    let owned = leave(&home, &row, &Command::Stop)?;
    if owned {
        tell(context, "the run stops after this iteration");
        return Ok(0);
    }
    settle(&home, &row)?;
    let (_, state) = super::status::load(&home, &row)?;
    let text = match state.station {
        Station::Working(_) if state.session.is_some() => {
            "the session is let go at its next stop, after which loop resume goes on".to_owned()
        }
        // Its shim still has a call, which was paid for.
        Station::Working(_) => {
            "nobody drives the run; its call ends by itself and nothing follows, or loop stop --now"
                .to_owned()
        }
        _ => format!("the run is stopped; {}", going_on(&state)),
    };
    tell(context, &text);
    Ok(0)
}

pub(super) fn pause(context: &Context) -> anyhow::Result<u8> {
    let Some((home, row)) = unfinished(context)? else {
        return Err(Trouble::usage(
            "there is nothing to pause: no run of this project is unfinished",
            "loop status",
        ));
    };
    let owned = leave(&home, &row, &Command::Pause { reason: "asked to pause".to_owned() })?;
    if !owned {
        settle(&home, &row)?;
    }
    let (_, state) = super::status::load(&home, &row)?;
    tell(context, &format!("the run is paused; {}", going_on(&state)));
    Ok(0)
}

fn going_on(state: &State) -> &'static str {
    match state.session {
        Some(_) => "the session may stop, and loop resume goes on",
        None => "loop run goes on",
    }
}

pub(super) fn cancel(context: &Context, flags: &CancelFlags) -> anyhow::Result<u8> {
    let Some((home, row)) = unfinished(context)? else { return nothing(context) };
    if context.is_interactive()
        && !flags.yes
        && !ask::confirm(&format!("cancel run {} for good?", &row.id[..8]))?
    {
        return Ok(5);
    }
    let owned = leave(&home, &row, &Command::Cancel)?;
    if !owned {
        settle(&home, &row)?;
    }
    let (workflow, state) = super::status::load(&home, &row)?;
    let most = state.iterations_limit(&workflow).map(|it| format!("/{it}")).unwrap_or_default();
    if let Some(place) = state.place.as_ref().filter(|it| Path::new(it).exists()) {
        let branch = state.branch.as_deref().unwrap_or_default();
        eprintln!("its worktree stays: {} (branch {branch})", loop_base::text::sanitise(place));
    }
    tell(context, &format!("cancelled at iteration {}{most}: {}", state.iterations_total, row.input));
    Ok(0)
}

pub(super) fn resume(context: &Context, flags: &ResumeFlags) -> anyhow::Result<u8> {
    let home = context.existing_home()?;
    let row = match &home {
        Some(home) => context.find_to_change(home)?,
        None => None,
    };
    let found = match (home, row) {
        (Some(home), Some(row)) => Some((home, row)),
        _ => super::session::to_resume(context)?,
    };
    let Some((home, row)) = found else {
        return Err(Trouble::usage("no run in this project", "loop run \"what to build\""));
    };
    let (workflow, state) = super::status::load(&home, &row)?;
    match Status::of(&state) {
        Status::Completed => return drive::completed_before(context, &home, &row),
        Status::Cancelled => {
            return Err(Trouble::usage(
                format!("run {} is cancelled", &row.id[..8]),
                "loop run opens another",
            ));
        }
        Status::Ready
        | Status::Running
        | Status::Waiting
        | Status::Paused
        | Status::Halted
        | Status::Stopped
        | Status::Capped => (),
    }
    super::place::refuse_move(&home, &row, flags.worktree)?;
    let phase = match &flags.state {
        None => None,
        Some(name) => {
            let found = workflow.phases.iter().position(|it| it.name.eq_ignore_ascii_case(name));
            let names = workflow.phases.iter().map(|it| it.name.as_str());
            let text = format!("no phase is called \"{name}\"");
            Some(found.ok_or_else(|| Trouble::usage(text, meant(name, names)))?)
        }
    };
    let changes = RunFlags {
        reload: flags.reload,
        budget: flags.budget,
        tokens: flags.tokens,
        time: flags.time,
        on_question: flags.on_question,
        ..RunFlags::default()
    };
    reload::before_going_on(context, &home, &row, &changes)?;
    let asking = open::asking(&changes, context.is_interactive());
    let going = Going { reset: flags.reset, phase, most: flags.max, unblock: true };
    if flags.detach {
        return super::detach::start(context, &home, &row.id, &going, flags.on_question);
    }
    drive::resume(context, home, &row, &going, &asking, Reach::Far)
}

fn unfinished(context: &Context) -> anyhow::Result<Option<(Rc<Home>, Row)>> {
    let Some(home) = context.existing_home()? else { return Ok(None) };
    let row = context.find_to_change(&home)?.filter(super::context::is_unfinished);
    Ok(row.map(|it| (home, it)))
}

fn nothing(context: &Context) -> anyhow::Result<u8> {
    tell(context, "no active loop in this project");
    Ok(0)
}

fn tell(context: &Context, text: &str) {
    let text = loop_base::text::sanitise(text);
    if context.json {
        println!("{}", serde_json::json!({ "done": text }));
    } else {
        println!("{text}");
    }
}

/// Writes a command down and wakes whoever drives the run; says whether anybody does.
pub(super) fn leave(home: &Home, row: &Row, command: &Command) -> anyhow::Result<bool> {
    home.command(&row.id, now().0, &serde_json::to_string(command)?)?;
    let urgency = if command.is_urgent() { loop_store::NOW } else { loop_store::COMMAND };
    Ok(loop_store::wake(&home.folder(&row.id), urgency)?)
}

/// Takes what was written down by somebody who drives nothing: a call that is still under way is
/// ended, and nothing is begun.
fn settle(home: &Rc<Home>, row: &Row) -> anyhow::Result<()> {
    let place = PathBuf::from(&row.place);
    let mut run = match Run::open(Rc::clone(home), &row.id, now()) {
        Ok(run) => run,
        // Somebody has taken it since we looked, and finds the command before anything else.
        Err(StoreError::Held { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    run.take_commands(now())?;
    if matches!(run.state.station, Station::Working(_)) && run.state.wish_is_urgent() {
        return drive_to_rest(home, &mut run, &place);
    }
    conclude(&mut run);
    run.commit()?;
    mirror(home, &run, &place);
    Ok(())
}

/// Records what follows from what is known, until something would have to be done.
pub(super) fn conclude(run: &mut Run) {
    while let Decision::Record(event) = decide(&run.workflow, &run.state, now()) {
        let closes = matches!(event, Event::Held(_) | Event::Closed(_));
        run.record(now(), event);
        if closes {
            return;
        }
    }
}

fn drive_to_rest(home: &Rc<Home>, run: &mut Run, place: &Path) -> anyhow::Result<()> {
    let ours = super::open::ours_of(place, run);
    let ears = Ears::new(Rc::clone(home), &run.id, Signals::listen()?)?;
    let mut host = Host::new(ears, run, place, None, &ours, Leash::Calls(0), Box::new(|_, _| Vec::new()))?;
    crate::drive::drive(run, &mut host)?;
    mirror(home, run, place);
    Ok(())
}

fn mirror(home: &Home, run: &Run, place: &Path) {
    loop_store::mirror::restore(home, &run.id, &run.workflow, &run.state, place);
    if run.state.station == Station::Closed(Outcome::Completed) {
        loop_store::mirror::remove(&run.workflow, place);
    }
}
