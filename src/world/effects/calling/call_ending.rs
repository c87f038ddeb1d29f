//! How a call ended, by what the supervisor saw of it.

use crate::measure::checks::run_checks::exit_words;
use crate::world::real::Host;
use loop_base::time::length;
use loop_core::engine::{Call, Ending};
use loop_store::run::Run;
use loop_supervise::protocol::{EndReason, OrderEnd as Exit};

impl Host<'_> {
    /// How a call ended, by what the supervisor saw.
    pub(crate) fn ending(&mut self, run: &Run, call: &Call, exit: &Exit) -> Ending {
        let limits = &run.workflow.agent;
        match &exit.how {
            EndReason::Exited if exit.code == Some(0) => Ending::Done,
            EndReason::Exited => Ending::Failed { why: exit_words(exit.code, exit.signal) },
            EndReason::NoFirstOutput => {
                timed_out(&format!("no first output within {}", length(limits.first_timeout)))
            }
            EndReason::Idle => timed_out(&format!("no output for {}", length(limits.idle_timeout))),
            EndReason::WaitedForInput(what) => {
                Ending::WaitedForInput { why: format!("it waits for input that nobody can give: {what}") }
            }
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
}

fn timed_out(why: &str) -> Ending {
    Ending::TimedOut { why: why.to_owned() }
}
