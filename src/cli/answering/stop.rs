//! `loop stop`, `loop pause` and `loop cancel`: what people want a run to do.

use crate::cli::context::Context;
use crate::cli::hint;
use crate::cli::terminal::desk_question;
use crate::desk::{self, Commanded, CommandedRun, PersonReply, Refusal};
use crate::world::wait::now;
use clap::Args;
use loop_base::text::sanitise;
use loop_core::engine::{Decision, Effect, Station, Status, decide};
use std::path::Path;

#[derive(Args)]
pub(crate) struct StopFlags {
    /// End the call at once instead of after this iteration
    #[arg(long)]
    now: bool,
}

#[derive(Args)]
pub(crate) struct CancelFlags {
    /// Say what would be cancelled; cancel nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn stop(context: &Context, flags: &StopFlags) -> anyhow::Result<u8> {
    if flags.now {
        return pause(context);
    }
    match desk::stop(&context.caller)? {
        Commanded::Nothing => tell(context, NOTHING),
        Commanded::Question(question) => return Err(question.unasked.into()),
        Commanded::Told(told) if is_at_proof(&told) => tell(
            context,
            "the proof is taken to its end; after the proof the run is completed, or stops before another call \
             (loop stop --now ends the proof)",
        ),
        Commanded::Told(_) => tell(context, "the run stops after this iteration"),
        Commanded::Done(told) => match told.state.station {
            // Its shim still has a call, which was paid for.
            Station::Working(_) if told.state.session.is_none() => tell(
                context,
                "no controller drives the run; its last call still finishes, and no other is started (loop stop --now ends it)",
            ),
            Station::Working(_) => {
                let next = hint::pasteable(&told.next.replacen("loop wait", "loop resume", 1));
                tell(context, &format!("the session may end at its next stop; continue with: {next}"));
            }
            _ => tell_ended(context, &told, Status::of(&told.state)),
        },
    }
    Ok(0)
}

/// Whether a step of the proof comes next, or is under way.
fn is_at_proof(told: &CommandedRun) -> bool {
    match decide(&told.workflow, &told.state, now()) {
        Decision::Perform(Effect::Prove(_) | Effect::Conclude) => true,
        Decision::Perform(_) | Decision::Record(_) | Decision::Rest(_) => false,
    }
}

pub(crate) fn pause(context: &Context) -> anyhow::Result<u8> {
    match desk::pause(&context.caller)? {
        Commanded::Told(told) => tell_ended(context, &told, Status::Paused),
        Commanded::Done(told) => tell_ended(context, &told, Status::of(&told.state)),
        Commanded::Question(question) => return Err(question.unasked.into()),
        Commanded::Nothing => {
            return Err(Refusal::usage(
                "there is nothing to pause: no run of this project is unfinished",
                "loop status",
            ));
        }
    }
    Ok(0)
}

/// Says where the run is, which may have ended by itself before, and the command that continues it.
fn tell_ended(context: &Context, told: &CommandedRun, status: Status) {
    let session = if told.state.session.is_some() { "; the session may stop" } else { "" };
    let next = hint::pasteable(&told.next);
    let words = match status {
        Status::Stopped => "the run is stopped",
        Status::Paused => "the run is paused",
        Status::Capped => "the run has ended already: it reached its cap",
        Status::Halted => "the run is halted already",
        Status::Waiting => "the run waits for an answer",
        Status::Ready | Status::Running => "no controller drives the run",
        Status::Completed => "the run is completed",
        Status::Cancelled => "the run is cancelled",
    };
    if context.json {
        let words = format!("{words}{session}");
        println!("{}", serde_json::json!({ "done": sanitise(&words), "next_step": sanitise(&next) }));
        return;
    }
    match status {
        Status::Stopped | Status::Paused | Status::Capped | Status::Ready | Status::Running => {
            tell(context, &format!("{words}{session}; continue with: {next}"));
        }
        Status::Halted | Status::Waiting | Status::Completed | Status::Cancelled => {
            tell(context, &format!("{words}{session}"));
            tell(context, &format!("next: {next}"));
        }
    }
}

pub(crate) fn cancel(context: &Context, flags: &CancelFlags) -> anyhow::Result<u8> {
    if flags.dry_run {
        return would_cancel(context);
    }
    let mut agreed = flags.yes || !context.is_interactive();
    let told = loop {
        match desk::cancel(&context.caller, agreed)? {
            Commanded::Nothing => {
                tell(context, NOTHING);
                return Ok(0);
            }
            Commanded::Question(question) => match desk_question(&question)? {
                Some(PersonReply::Yes) => agreed = true,
                Some(_) | None => return Ok(question.aborted.exit),
            },
            Commanded::Told(told) | Commanded::Done(told) => break told,
        }
    };
    let state = &told.state;
    let most = state.iterations_limit(&told.workflow).map(|it| format!("/{it}")).unwrap_or_default();
    if let Some(place) = state.place.as_ref().filter(|it| Path::new(it).exists()) {
        let branch = state.branch.as_deref().unwrap_or_default();
        eprintln!("its worktree stays: {} (branch {branch})", sanitise(place));
    }
    tell(
        context,
        &format!(
            "cancelled at iteration {}{most}: {}",
            state.iterations_told(&told.workflow),
            told.row.input
        ),
    );
    Ok(0)
}

fn would_cancel(context: &Context) -> anyhow::Result<u8> {
    match desk::cancel(&context.caller, false)? {
        Commanded::Nothing => tell(context, NOTHING),
        Commanded::Question(question) => {
            tell(context, &format!("would {}", question.lines.join(" ").trim_end_matches(" for good?")));
        }
        Commanded::Told(_) | Commanded::Done(_) => (),
    }
    Ok(0)
}

const NOTHING: &str = "no active loop in this project";

fn tell(context: &Context, text: &str) {
    let text = sanitise(text);
    if context.json {
        println!("{}", serde_json::json!({ "done": text }));
    } else {
        println!("{text}");
    }
}
