//! How a call ended, by what the supervisor saw of it.

use crate::measure::checks::run_checks::exit_words;
use crate::measure::commits;
use crate::tree::pinned::head;
use crate::world::before_call;
use crate::world::real::Host;
use loop_base::time::length;
use loop_core::engine::{Call, Ending};
use loop_core::workflow::model::LostCall;
use loop_store::run::Run;
use loop_supervise::protocol::{EndReason, OrderEnd as Exit};
use rustix::process::Signal;

impl Host<'_> {
    /// How a call ended, by what the supervisor saw.
    pub(crate) fn ending(&mut self, run: &Run, call: &Call, exit: &Exit) -> Ending {
        let limits = &run.workflow.agent;
        match &exit.how {
            EndReason::Exited if exit.code == Some(0) => Ending::Done,
            EndReason::Exited if self.is_killed(run, exit) => {
                let why = format!("the agent was killed ({})", exit_words(exit.code, exit.signal));
                Ending::Lost { why: self.why_lost(run, call, why) }
            }
            EndReason::Exited => Ending::Failed { why: exit_words(exit.code, exit.signal) },
            EndReason::NoFirstOutput => {
                timed_out(&format!("no first output within {}", length(limits.first_timeout)))
            }
            EndReason::Idle => timed_out(&format!("no output for {}", length(limits.idle_timeout))),
            EndReason::WaitedForInput(what) => Ending::WaitedForInput {
                why: format!("it waits for input, and no terminal is connected: {what}"),
            },
            EndReason::TimedOut => match self.allowance(run).out_of_time(exit.ms) {
                Some(why) => Ending::CutOff { why },
                None => timed_out(&format!("it took longer than {}", length(limits.timeout))),
            },
            EndReason::Interrupted => match self.money.cut_off.take() {
                Some(why) => Ending::CutOff { why },
                None => Ending::Interrupted,
            },
            // Another try cannot mend that, and no work was done that a breaker could judge.
            EndReason::CouldNotStart(why) => {
                let why = why.replacen(" cannot be started", "", 1);
                Ending::Refused { why: format!("the agent could not be started: {why}") }
            }
            EndReason::NotStarted => Ending::NotStarted,
            EndReason::Lost(why) => Ending::Lost { why: self.why_lost(run, call, why.clone()) },
        }
    }

    /// Returns the commits of a call that ends without being judged. The next call on its item finds that work done
    /// and has nothing left to commit.
    pub(crate) fn commits_of_unjudged(&self, run: &Run, call: &Call, ending: &Ending) -> Vec<String> {
        let is_judged = match ending {
            Ending::Done
            | Ending::Failed { .. }
            | Ending::TimedOut { .. }
            | Ending::CutOff { .. }
            | Ending::WaitedForInput { .. } => true,
            Ending::Lost { .. } => run.workflow.workspace.lost_call == LostCall::Judge,
            Ending::Interrupted
            | Ending::NotStarted
            | Ending::Barred { .. }
            | Ending::Limited { .. }
            | Ending::Refused { .. }
            | Ending::Unreachable { .. } => false,
        };
        let Some(before) = before_call::of(&self.folder, call).filter(|_| !is_judged) else {
            return Vec::new();
        };
        let from = Some(before.commit.as_str()).filter(|it| !it.is_empty());
        let pinned = &self.tree.pinned;
        // Commits that cannot be read now are missed by the item at most, which is told so.
        let made = head(&pinned.repository)
            .and_then(|(now, _)| commits::of_unjudged_call(pinned, run, from, now.as_deref()));
        made.unwrap_or_default()
    }

    /// Whether somebody other than us ended the agent, in a workflow that undoes what such a call leaves. A
    /// shell whose child was killed exits with 128 and the signal, and so do programs that tidy up first.
    fn is_killed(&self, run: &Run, exit: &Exit) -> bool {
        let is_from_outside = |signal: i32| FROM_OUTSIDE.iter().any(|it| it.as_raw() == signal);
        let signal = exit.signal.or(exit.code.map(|it| it - 128));
        run.workflow.workspace.lost_call == LostCall::Undo && signal.is_some_and(is_from_outside)
    }
}

/// Signals by which people, service managers and the kernel short of memory end a program. Others come from the
/// program's own mistakes, and are judged.
const FROM_OUTSIDE: [Signal; 4] = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP];

fn timed_out(why: &str) -> Ending {
    Ending::TimedOut { why: why.to_owned() }
}
