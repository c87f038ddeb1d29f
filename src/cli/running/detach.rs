//! `--detach`: a run continues without the terminal that it was started from. Everything that a
//! person may be asked before a run begins is asked here first; then a controller in a session of
//! its own takes the run and waits at questions, since nobody sits in front of it.

use super::drive::{self, Ask};
use super::flags::OnQuestion;
use crate::cli::{Context, hint, json};
use crate::desk::{
    self, DetachedWays, FoundRun, Going, GuardedCommand, NextStep, Reach, Refusal, refuse_agents, refuse_own,
};
use clap::Args;
use loop_store::Home;
use loop_supervise::detached::{self, Started};
use std::rc::Rc;

/// Where a controller without a terminal writes its messages.
const LOG: &str = "controller.log";

/// How the controller continues, handed from one process to the other.
#[derive(Args)]
pub(crate) struct DetachFlags {
    #[arg(long)]
    reset: bool,
    #[arg(long)]
    phase: Option<usize>,
    #[arg(long)]
    most: Option<u32>,
    /// How many retries count as used.
    #[arg(long)]
    retries: Option<u32>,
    #[arg(long)]
    unblock: bool,
    #[arg(long)]
    now: bool,
    #[arg(long)]
    exit_at_question: bool,
    /// A person may not have asked for it: it was started inside an agent call, as a run inside a run.
    #[arg(long)]
    nested: bool,
}

pub(crate) fn refuse_one_call(is_detached: bool, reach: Reach) -> anyhow::Result<()> {
    if is_detached && reach == Reach::OneCall {
        return Err(Refusal::usage(
            "loop next makes one call and takes no --detach",
            NextStep::by_hand("leave --detach out, or use loop run --detach"),
        ));
    }
    Ok(())
}

/// Starts a controller for a run that nobody holds, and says how to find it.
pub(crate) fn start(
    context: &Context,
    home: &Rc<Home>,
    id: &str,
    going: &Going,
    on_question: Option<OnQuestion>,
) -> anyhow::Result<u8> {
    let ways = DetachedWays {
        exits_at_question: on_question == Some(OnQuestion::Exit),
        json: context.json,
        quiet: context.quiet,
    };
    let next = desk::naming_run(home, id, "loop attach".to_owned())?;
    match desk::start_controller(&context.caller, home, id, going, ways)? {
        Started::Owns(pid) if context.json => {
            let object = serde_json::json!({ "run": id, "pid": pid, "next_step": hint::pasteable(&next) });
            println!("{}", json::line(&object));
            Ok(0)
        }
        Started::Owns(pid) => {
            println!("run {} continues in the background, pid {pid}", &id[..8]);
            println!("{}", hint::next(&next));
            Ok(0)
        }
        Started::Failed { out, err, exit } => {
            print!("{out}");
            eprint!("{err}");
            Ok(exit)
        }
    }
}

/// The controller itself.
pub(crate) fn control(context: &Context, flags: &DetachFlags) -> anyhow::Result<u8> {
    detached::leave_session();
    let home = context.caller.home()?;
    let row = context.caller.find(&home)?.ok_or_else(Refusal::no_run)?;
    if !flags.nested {
        refuse_agents(&context.caller, None, GuardedCommand::Run)?;
    }
    refuse_own(&context.caller, &row, GuardedCommand::Run)?;
    if flags.reset || flags.unblock || flags.now || flags.phase.is_some() || flags.retries.is_some() {
        refuse_agents(&context.caller, Some((&home, &row)), GuardedCommand::Reset)?;
    }
    let log = home.folder(&row.id).join(LOG);
    let going = Going {
        reset: flags.reset,
        phase: flags.phase,
        most: flags.most,
        retries: flags.retries,
        unblock: flags.unblock,
        now: flags.now,
    };
    let asking = if flags.exit_at_question { Ask::Exit } else { Ask::Wait };
    let found = FoundRun { home, row: Box::new(row) };
    let opened = match drive::take(context, found, &going)? {
        Ok(opened) => opened,
        Err(exit) => return Ok(exit),
    };
    detached::let_go(&log)?;
    drive::run(context, opened, &asking, Reach::Far)
}
