//! One line for each iteration of a task: its number, the task, the signal and the commit; and one for
//! plans that close gaps.

use loop_base::text::counted;
use loop_core::engine::{Call, Effect, Event, Facts, Judgement, State, Verdict};
use loop_core::facts::FactName;
use loop_core::report::Report;
use loop_core::workflow::model::{SignalWord, Workflow};

/// Follows a run from call to call, for the line that each iteration gets.
#[derive(Default)]
pub(crate) struct Iterations {
    call: Option<Call>,
    report: Option<Report>,
    facts: Facts,
}

impl Iterations {
    /// Takes a fact, and returns what is said about it. `state` is the state after it.
    pub(crate) fn follow(&mut self, workflow: &Workflow, state: &State, event: &Event) -> Option<String> {
        match event {
            Event::Began(Effect::Work(call)) => {
                *self = Iterations { call: Some(call.clone()), ..Iterations::default() };
                None
            }
            Event::Ended(ended) => {
                self.report = Some(ended.report.clone());
                None
            }
            Event::Measured(evidence) => {
                self.facts = evidence.facts.clone();
                None
            }
            Event::Judged(judgement) => self.judged(workflow, state, judgement),
            _ => None,
        }
    }

    fn judged(&mut self, workflow: &Workflow, state: &State, judgement: &Judgement) -> Option<String> {
        let call = self.call.take()?;
        let phase = &workflow.phases[call.phase];
        let count = |fact: FactName| {
            judgement.metrics.get(fact.name()).and_then(|it| it.value.number()).unwrap_or(0.0)
        };
        if phase.asks_for(FactName::NewPlans.name()) && judgement.verdict == Verdict::Leave {
            let cycle: u32 = state.rejections.values().sum();
            let plans = counted(count(FactName::NewPlans) as u64, "plan");
            return Some(match cycle {
                0 => format!("{plans} created for what a person asked for"),
                cycle => format!("Gap closure cycle {cycle}: {plans} created"),
            });
        }
        if !phase.is_numbered_by_run() {
            return None;
        }
        let report = self.report.take().unwrap_or_default();
        // The item that is done with this iteration may be crossed off already.
        let left = state.items_left.saturating_sub(u32::from(state.item.is_some()));
        let signal = match (&report.signal, &report.stuck, &judgement.verdict) {
            (Some(word @ SignalWord::PhaseComplete), _, Verdict::Leave) if 0 < left => {
                format!("{word}, but {} left", counted(left, "task"))
            }
            (Some(word), _, Verdict::Leave) => word.to_string(),
            (Some(word), _, Verdict::Checkpoint(_)) => format!("{word}, a person looks again"),
            (Some(word), _, _) => format!("{word}, not confirmed"),
            (None, Some(reason), _) => format!("STUCK: {reason}"),
            (None, None, Verdict::Checkpoint(kind)) => format!("CHECKPOINT: {kind}"),
            (None, None, _) => "no signal".to_owned(),
        };
        let task = call.item.as_ref().map_or("task", |it| it.name.as_str());
        let claimed = report.commit();
        let commit = match judgement.verdict {
            Verdict::Leave => self.facts.commit_of_item(claimed.as_deref()),
            Verdict::Step
            | Verdict::Again
            | Verdict::Fail
            | Verdict::Reject
            | Verdict::Stuck(_)
            | Verdict::Checkpoint(_) => self.facts.commit_of_call(claimed.as_deref()),
        };
        let commit = commit.map_or("no commit", |it| it.get(..7).unwrap_or(it));
        Some(format!("Iteration {}: {task} — {signal} [{commit}]", state.iterations_numbered()))
    }
}
