//! An effect that began, a call that ended, and what was measured after it.

use crate::agent_table::is_same_family;
use crate::engine::journal::calls::ending::{Ended, Ending};
use crate::engine::journal::effect::{Call, Effect};
use crate::engine::journal::hold::Wait;
use crate::engine::journal::measured::evidence::{Evidence, TargetMove};
use crate::engine::journal::people::question::QuestionKind;
use crate::engine::state::parts::retry;
use crate::engine::state::parts::station::{Station, Turn, Waiting};
use crate::engine::state::parts::visit::PhaseStatus;
use crate::engine::state::run_state::{CallTrouble, State};
use crate::engine::state::views::next_call;
use crate::report::Report;
use crate::workflow::model::{LostCall, Workflow};
use loop_base::text::counted;
use loop_base::time::Timestamp;

impl State {
    pub(super) fn begin(&mut self, workflow: &Workflow, at: Timestamp, effect: &Effect) {
        match effect {
            Effect::Work(call) => {
                self.calls_total = call.number;
                self.model_asked.clone_from(&call.model);
                self.calls.count(workflow.limits.window.as_ref(), at);
                if let Some(model) = &call.model {
                    self.models.insert(call.phase, model.clone());
                }
                self.station = Station::Working(call.clone());
            }
            Effect::Ask(question) => {
                if let QuestionKind::Gate(gate) = &question.kind
                    && !self.gates_wanted.contains(gate)
                {
                    self.gates_wanted.push(gate.clone());
                }
                if question.kind == QuestionKind::Blocked {
                    self.troubles.escalate(self.phase);
                }
                self.questions = question.id;
                self.asked_at = None;
                self.look_at = None;
                self.look_trouble = None;
                self.refused = None;
                self.agent_trouble = None;
                self.unreachable = 0;
                self.station = Station::Waiting { question: question.clone(), answer: None };
            }
            // A run that is completed already is handed in because a person asks for it.
            Effect::Finish if matches!(self.station, Station::Closed(_)) => (),
            Effect::Finish => {
                self.phases[self.phase].end(at, PhaseStatus::Completed, "the exit rule was met");
                self.station = Station::Finishing;
            }
            Effect::Tell => self.told = true,
            Effect::Workspace
            | Effect::Baseline
            | Effect::List
            | Effect::Collect(_)
            | Effect::Contain
            | Effect::Measure { .. }
            | Effect::Prove(_)
            | Effect::Conclude
            | Effect::Confirm
            | Effect::Land
            | Effect::ProveMerge
            | Effect::Move(_)
            | Effect::Look
            | Effect::Sleep { .. } => (),
        }
    }

    pub(super) fn end(&mut self, workflow: &Workflow, at: Timestamp, ended: &Ended) {
        let Station::Working(call) = &self.station else { panic!("a call begins before it ends") };
        let call = call.clone();
        self.left.clone_from(&ended.left);
        if ended.uncontained {
            self.uncontained = true;
            self.warn(format!(
                "call {}: its supervisor was killed, so leftover processes cannot be ruled out",
                ended.call
            ));
        }
        self.contain_tried = false;
        self.note_trouble(ended);
        if let Some(denied) = &ended.denied {
            self.warn(format!("call {}: {denied}", ended.call));
        }
        if let Some(model) = &ended.model {
            // An alias may stand for any model; what counts is who answered.
            let is_same = |was: &str| is_same_family(was, model);
            let other = call.other_model.as_ref();
            if let Some(other) = other.filter(|it| it.model.as_deref().is_some_and(is_same)) {
                let phase = &workflow.phases[call.phase].name;
                let other = &other.phase;
                self.warn(format!(
                    "{phase} was to ask another model than {other}, and {model} answered in both"
                ));
            }
            self.models.insert(call.phase, model.clone());
        }
        let expected = self.expected_call_usd(workflow);
        self.spent.add(ended, expected);
        self.phases[call.phase].spent.add(ended, expected);
        self.recent_costs.add(ended);
        self.void_attempts = 0;
        self.keep_commits(call.item.as_deref(), &ended.commits);
        let undoes = workflow.workspace.lost_call == LostCall::Undo;
        let is_undone = undoes && matches!(ended.ending, Ending::Lost { .. });
        if ended.ending != Ending::NotStarted && !is_undone {
            self.voids = 0;
            self.lost_in_a_row = 0;
            self.plan_warning.clone_from(&ended.warning);
        }
        let is_answered = match &ended.ending {
            Ending::Unreachable { .. } | Ending::NotStarted | Ending::Barred { .. } | Ending::Interrupted => {
                false
            }
            Ending::Done
            | Ending::Failed { .. }
            | Ending::TimedOut { .. }
            | Ending::CutOff { .. }
            | Ending::WaitedForInput { .. }
            | Ending::Lost { .. }
            | Ending::Limited { .. }
            | Ending::Refused { .. } => true,
        };
        if is_answered {
            self.unreachable = 0;
        }
        self.station = self.station_after(workflow, at, call, ended, is_undone);
    }

    fn station_after(
        &mut self,
        workflow: &Workflow,
        at: Timestamp,
        call: Call,
        ended: &Ended,
        is_undone: bool,
    ) -> Station {
        match &ended.ending {
            Ending::NotStarted => {
                self.uncount(&call);
                self.voids += 1;
                Station::Ready
            }
            Ending::Barred { why } => {
                self.uncount(&call);
                self.refused = Some(why.clone());
                Station::Ready
            }
            Ending::Interrupted => Station::Ready,
            Ending::Lost { why } if is_undone => {
                self.lost_in_a_row += 1;
                self.warn(format!("call {} is lost and does not count: {why}", call.number));
                Station::Ready
            }
            Ending::Refused { why } => {
                self.agent_trouble = Some(why.clone());
                Station::Ready
            }
            Ending::Limited { why, until } => {
                let until = until.unwrap_or_else(|| at.plus(workflow.limits.provider_wait));
                self.told = false;
                self.wait = Some(Waiting { until, why: why.clone(), wait: Wait::Provider });
                Station::Ready
            }
            Ending::Unreachable { why } => {
                match retry::pause(workflow, self.unreachable) {
                    Some(pause) => {
                        let until = at.plus(pause);
                        self.wait = Some(Waiting { until, why: why.clone(), wait: Wait::Backoff });
                        self.unreachable += 1;
                    }
                    None => {
                        self.agent_trouble =
                            Some(format!("{why}, {} in a row", counted(self.unreachable + 1, "time")))
                    }
                }
                Station::Ready
            }
            Ending::Done
            | Ending::Failed { .. }
            | Ending::TimedOut { .. }
            | Ending::CutOff { .. }
            | Ending::WaitedForInput { .. }
            | Ending::Lost { .. } => Station::Reported(Turn { call, ended: Box::new(ended.clone()) }),
        }
    }

    /// Keeps how a call went wrong until one goes well.
    fn note_trouble(&mut self, ended: &Ended) {
        if ended.ending == Ending::NotStarted {
            return;
        }
        self.last_trouble = ended.ending.why().map(|why| CallTrouble {
            call: ended.call,
            why: why.to_owned(),
            complaint: ended.complaint.clone(),
        });
    }

    /// The number goes to the next try; nothing was spent and nothing is counted.
    fn uncount(&mut self, call: &Call) {
        self.calls_total = call.number - 1;
        self.calls.made = self.calls.made.saturating_sub(1);
        self.void_attempts = call.attempt;
    }

    pub(super) fn measure(&mut self, workflow: &Workflow, evidence: &Evidence) {
        self.spent.ms += evidence.ms;
        self.checks_ms = evidence.ms;
        self.seen = evidence.facts.clone();
        if let Some(moved) = &evidence.facts.target_moved {
            let [from, to] = [&moved.from, &moved.to].map(|it| it.chars().take(12).collect::<String>());
            self.warn(format!(
                "{} moved from {from} to {to} while call {} was running; no run of this home did it",
                moved.branch, self.calls_total
            ));
            let first = self.target_moved.take().map_or_else(|| moved.from.clone(), |it| it.from);
            self.target_moved = Some(TargetMove { from: first, ..TargetMove::clone(moved) });
        }
        let turn = match &self.station {
            Station::Reported(turn) => turn.clone(),
            Station::Ready => self.turn_without_call(workflow),
            other => panic!("a report precedes its evidence, not {other:?}"),
        };
        self.station = Station::Measured(turn, Box::new(evidence.clone()));
    }

    /// Where no skill is left to call, the phase is measured as it stands. Number 0 says that nobody
    /// was called.
    fn turn_without_call(&self, workflow: &Workflow) -> Turn {
        let mut call = next_call::call(workflow, &workflow.phases[self.phase], self);
        call.number = self.calls_total;
        let ended = Ended::plain(0, Ending::Done, Report { found: true, ..Report::default() });
        Turn { call, ended: Box::new(ended) }
    }
}
