//! `loop resume`: continues a run without asking.

use super::flags::OnQuestion;
use super::run::{TellOnce, asking};
use super::{detach, drive};
use crate::cli::context::Context;
use crate::cli::values;
use crate::desk::{self, Continued, Reach, Refusal, RunRequest};
use clap::Args;
use loop_core::engine::run_again;

#[derive(Args)]
pub(crate) struct ResumeFlags {
    /// Continue in this phase, which must have been reached before
    #[arg(long, value_name = "PHASE")]
    state: Option<String>,
    /// Reset the counters (iterations, breaker) to 0
    #[arg(long)]
    reset: bool,
    /// End a wait for the provider and ask it again now
    #[arg(long)]
    now: bool,
    /// Refuse unless the run has its own worktree
    #[arg(long)]
    worktree: bool,
    /// Maximum number of iterations, counted over all restarts
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    max: Option<u32>,
    /// Apply the current workflow file; otherwise a run keeps the copy it began with
    #[arg(long)]
    reload: bool,
    /// Budget of the run, in US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = values::dollars)]
    budget: Option<f64>,
    /// Token budget of the run
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::large_count)]
    tokens: Option<u64>,
    /// Time limit for calls and checks, such as 90s, 45m or 1h30m
    #[arg(long, value_name = "LENGTH", value_parser = values::length)]
    time: Option<u64>,
    /// What to do at a question
    #[arg(long, value_enum, value_name = "WHAT")]
    on_question: Option<OnQuestion>,
    /// Continue in the background; loop attach shows it and answers its questions
    #[arg(long)]
    detach: bool,
}

pub(crate) fn run(context: &Context, flags: &ResumeFlags) -> anyhow::Result<u8> {
    let mut told = TellOnce::default();
    let caller = &context.caller;
    let found = told.with(context, |notes| desk::find_to_resume(caller, notes))?;
    if flags.now && desk::ask_again(&found)? {
        println!("run {} asks its provider again now", &found.row.id[..8]);
        return Ok(0);
    }
    let request = RunRequest {
        now: flags.now,
        reset: flags.reset,
        phase: flags.state.clone(),
        max: flags.max,
        unblock: true,
        reload: flags.reload,
        worktree: flags.worktree,
        budget: flags.budget,
        tokens: flags.tokens,
        time: flags.time,
        ..RunRequest::default()
    };
    let going = match told.with(context, |notes| desk::ready(caller, &found, &request, notes))? {
        Continued::Done(text) => return drive::done_before(context, &found, &text),
        Continued::Anew(why) => {
            let text = format!("run {} is finished: {}", &found.row.id[..8], why.join("; "));
            return Err(Refusal::usage(
                text,
                run_again(&desk::load(&found.home, &found.row)?.0, &found.row.input),
            ));
        }
        Continued::Question(question) => return Err(question.unasked.into()),
        Continued::Ready(going) => going,
    };
    if flags.detach {
        return detach::start(context, &found.home, &found.row.id, &going, flags.on_question);
    }
    let asking = asking(flags.on_question, context.is_interactive());
    drive::resume(context, found, &going, &asking, Reach::Far)
}
