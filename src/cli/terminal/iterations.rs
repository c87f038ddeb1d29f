//! One line for each iteration of a task: its number, the task, the signal and the commit; and one for
//! plans that close gaps.

use loop_base::text::counted;
use loop_core::engine::{Call, Effect, Event, Judgement, State, Verdict};
use loop_core::facts::FactName;
use loop_core::report::Report;
use loop_core::workflow::model::{Protocol, Workflow};

/// Follows a run from call to call, for the line that each iteration gets.
#[derive(Default)]
pub(crate) struct Iterations {
    call: Option<Call>,
    report: Option<Report>,
    commit: String,
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
                self.commit.clone_from(&evidence.facts.commit);
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
        if phase.report != Protocol::ExitSignal || !phase.counted {
            return None;
        }
        let report = self.report.take().unwrap_or_default();
        let signal = match (&report.signal, &report.stuck, &judgement.verdict) {
            (Some(word), _, Verdict::Leave) => word.to_string(),
            (Some(word), _, Verdict::Checkpoint(_)) => format!("{word}, a person looks again"),
            (Some(word), _, _) => format!("{word}, not confirmed"),
            (None, Some(reason), _) => format!("STUCK: {reason}"),
            (None, None, Verdict::Checkpoint(kind)) => format!("CHECKPOINT: {kind}"),
            (None, None, _) => "no signal".to_owned(),
        };
        let task = call.item.as_ref().map_or("task", |it| it.name.as_str());
        let commit = if 0.0 < count(FactName::CommitsMade) {
            self.commit.get(..7).unwrap_or(&self.commit)
        } else {
            "no commit"
        };
        Some(format!("Iteration {}: {task} — {signal} [{commit}]", state.iterations_numbered()))
    }
}
