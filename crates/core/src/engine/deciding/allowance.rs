//! What the next call may use up: what is left of every cap. The world hands it to the agent where the
//! agent can keep to it, and ends a call that goes beyond it where the agent tells what it used.

use crate::engine::journal::calls::usage::TokenClasses;
use crate::engine::journal::hold::{Hold, HoldKind};
use crate::engine::state::parts::spent::dollars;
use crate::engine::state::run_state::State;
use crate::workflow::model::{Millis, Workflow};
use loop_base::text::counted;
use loop_base::time::length;

/// What is left for one call; nothing where there is no such cap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowance {
    pub usd: Option<MoneyLeft>,
    pub tokens: Option<u64>,
    /// Time that the run has left, and the whole of it.
    pub ms: Option<(Millis, Millis)>,
    pub turns: Option<u32>,
    /// The whole of the tokens.
    tokens_most: u64,
}

/// What is left of the cap on money that has the least left.
#[derive(Clone, Debug, PartialEq)]
pub struct MoneyLeft {
    pub usd: f64,
    pub cap: MoneyCap,
}

/// A cap on money.
#[derive(Clone, Debug, PartialEq)]
pub enum MoneyCap {
    Run(f64),
    Phase { most: f64, phase: String },
    Call(f64),
    Day(f64),
}

impl MoneyCap {
    /// Returns what a person changes to raise it, where no flag does that.
    pub(crate) fn raised_by(&self) -> &'static str {
        match self {
            MoneyCap::Run(_) => "",
            MoneyCap::Phase { .. } => "; raise phase_usd in [limits] of the workflow file first",
            MoneyCap::Call(_) => "; raise call_usd in [limits] of the workflow file first",
            MoneyCap::Day(_) => "; raise day_usd in [limits] of the workflow file first",
        }
    }

    /// Returns the cap as the subject of a sentence.
    pub fn words(&self) -> String {
        match self {
            MoneyCap::Run(most) => format!("the budget of {}", dollars(*most)),
            MoneyCap::Phase { most, phase } => format!("the budget of {} for {phase}", dollars(*most)),
            MoneyCap::Call(most) => format!("the budget of {} for one call", dollars(*most)),
            MoneyCap::Day(most) => format!("the budget of {} for today", dollars(*most)),
        }
    }
}

/// Returns what the next call may use up. `day_left` is what is left of the day's cap, which other runs
/// share.
pub fn allowance(workflow: &Workflow, state: &State, day_left: Option<f64>) -> Allowance {
    let limits = &workflow.limits;
    let phase = &workflow.phases[state.phase];
    let charged = |spent| state.charged(workflow, spent).unwrap_or(f64::MAX);
    let run = limits.usd.map(|most| (most - charged(&state.spent), MoneyCap::Run(most)));
    let of_phase = limits.phase_usd.map(|most| {
        let left = most - charged(&state.phases[state.phase].spent);
        (left, MoneyCap::Phase { most, phase: phase.name.clone() })
    });
    let call = limits.call_usd.map(|most| (most, MoneyCap::Call(most)));
    let day = day_left.zip(limits.day_usd).map(|(left, most)| (left, MoneyCap::Day(most)));
    let least = [run, of_phase, call, day].into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    Allowance {
        usd: least.map(|(usd, cap)| MoneyLeft { usd: usd.max(0.0), cap }),
        tokens: limits.tokens.map(|most| most.saturating_sub(state.spent.tokens.total())),
        tokens_most: limits.tokens.unwrap_or_default(),
        ms: limits.time.map(|most| (most.saturating_sub(state.spent.ms), most)),
        turns: limits.call_turns,
    }
}

impl Allowance {
    /// Whether a call has to be looked at while it works.
    pub fn is_limited(&self) -> bool {
        self.usd.is_some() || self.tokens.is_some() || self.turns.is_some()
    }

    /// Says why a call that has used so much has to end, if it has to.
    pub fn passed(&self, tokens: &TokenClasses, usd: Option<f64>, turns: u32) -> Option<String> {
        if let (Some(left), Some(usd)) = (&self.usd, usd)
            && left.usd <= usd
        {
            return Some(format!("{} is used up by this call ({} so far)", left.cap.words(), dollars(usd)));
        }
        if self.tokens.is_some_and(|left| left <= tokens.total()) {
            let (most, used) = (self.tokens_most, tokens.total());
            return Some(format!("the budget of {most} tokens is used up by this call ({used} so far)"));
        }
        let most = self.turns.filter(|most| *most < turns)?;
        Some(format!("it took more than {}, the limit of call_turns", counted(most, "turn")))
    }

    /// Says that the run's time is used up, where that is why a call ended after `ms`.
    pub fn out_of_time(&self, ms: Millis) -> Option<String> {
        let (_, most) = self.ms.filter(|(left, _)| *left <= ms)?;
        Some(format!("the time limit of {} is used up by this call", length(most)))
    }
}

/// The rest of a run for which nothing is left of the day's cap.
pub fn day_full(most: f64, spent: f64, reserved: f64) -> Hold {
    let reserved = match reserved {
        0.0 => String::new(),
        usd => format!(", {} set aside for calls that are running", dollars(usd)),
    };
    let reason = format!(
        "{} is used up by the runs of this home ({} spent{reserved}); a new day begins at midnight, \
         or raise day_usd in [limits] and add --reload",
        MoneyCap::Day(most).words(),
        dollars(spent)
    );
    Hold { kind: HoldKind::Stopped, reason }
}
