//! `loop stop`, `loop pause` and `loop cancel`: what people want a run to do.

use crate::cli::context::Context;
use crate::cli::terminal::desk_question;
use crate::desk::{self, Commanded, PersonReply, Refusal};
use clap::Args;
use loop_base::text::sanitise;
use loop_core::engine::{State, Station};
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
    let text = match desk::stop(&context.caller)? {
        Commanded::Nothing => NOTHING.to_owned(),
        Commanded::Question(question) => return Err(question.unasked.into()),
        Commanded::Told(_) => "the run stops after this iteration".to_owned(),
        Commanded::Done(told) => match told.state.station {
            Station::Working(_) if told.state.session.is_some() => {
                "the session may stop at its next stop; continue with: loop resume".to_owned()
            }
            // Its shim still has a call, which was paid for.
            Station::Working(_) => {
                "nobody drives the run; its call ends by itself and nothing follows, or loop stop --now"
                    .to_owned()
            }
            _ => format!("the run is stopped; {}", going_on(&told.state)),
        },
    };
    tell(context, &text);
    Ok(0)
}

pub(crate) fn pause(context: &Context) -> anyhow::Result<u8> {
    let told = match desk::pause(&context.caller)? {
        Commanded::Told(told) | Commanded::Done(told) => told,
        Commanded::Question(question) => return Err(question.unasked.into()),
        Commanded::Nothing => {
            return Err(Refusal::usage(
                "there is nothing to pause: no run of this project is unfinished",
                "loop status",
            ));
        }
    };
    tell(context, &format!("the run is paused; {}", going_on(&told.state)));
    Ok(0)
}

fn going_on(state: &State) -> &'static str {
    match state.session {
        Some(_) => "the session may stop; continue with: loop resume",
        None => "continue with: loop run",
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
    tell(context, &format!("cancelled at iteration {}{most}: {}", state.iterations_total, told.row.input));
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
