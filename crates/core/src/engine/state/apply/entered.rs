//! How the entry of a phase changes the state, and what it means for the phase that was left.

use crate::engine::journal::calls::ending::How;
use crate::engine::state::parts::feedback::Feedback;
use crate::engine::state::parts::station::Station;
use crate::engine::state::parts::troubles::FailureEntry;
use crate::engine::state::parts::visit::{PhaseStatus, Visit};
use crate::engine::state::run_state::{GateApproval, ProvenState, State};
use crate::facts::FactName;
use crate::workflow::model::{Back, ErrorClass, PhaseId, SignalWord, Workflow};
use loop_base::text::counted;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use std::collections::BTreeSet;

impl State {
    pub(crate) fn enter(&mut self, workflow: &Workflow, at: Timestamp, phase: PhaseId, how: &How) {
        let said = self.visit.metrics.get(FactName::Signal.name()).map(|it| it.value.clone());
        let all_done = SignalWord::PhaseComplete.word();
        let too_early = (matches!(how, How::NextItem) && said == Some(Value::from(all_done)))
            .then(|| format!("the agent said {all_done}; still to do: {}", counted(self.items_left, "task")));
        let last = (self.phase, self.visit.iteration);
        let sent_back = self.leave_for(workflow, at, phase, how);
        if let Some(too_early) = too_early {
            self.feedback = Some(Feedback::note(last, too_early.clone()));
            self.warn(too_early);
        }
        if sent_back && self.item.is_none() && workflow.phases[phase].each.is_some() {
            self.item = Some(self.feedback_item());
        }
        self.listed = self.item.is_some();
        self.phase = phase;
        self.visit = Visit::default();
        self.approved.clear();
        self.move_to = None;
        self.phases[phase].begin(at);
        self.station = Station::Ready;
    }

    /// What the change touches by now, and how, whoever passed a gate here has seen.
    fn remember_what_gates_saw(&mut self, workflow: &Workflow) {
        let is_so = |it: &&String| self.seen.values.get(*it) == Some(&Value::Bool(true));
        let facts: BTreeSet<String> = workflow.facts.keys().filter(is_so).cloned().collect();
        for (gate, by) in &self.approved {
            self.gates_about.insert(gate.clone(), facts.clone());
            let at = self.gates_passed_at.get(gate).copied().unwrap_or(self.updated_at);
            let approval = GateApproval { by: by.clone(), at, changes: self.seen.about.clone() };
            self.gates_saw.insert(gate.clone(), approval);
        }
    }

    /// Ends the phase that is left or opens what is to be done again. Returns whether the work was sent
    /// back.
    fn leave_for(&mut self, workflow: &Workflow, at: Timestamp, phase: PhaseId, how: &How) -> bool {
        let from = self.phase;
        match how {
            How::Passed | How::NextItem | How::NoItems | How::Skipped => {
                if workflow.phases[from].expect_failing && matches!(how, How::Passed) {
                    self.protected_line = Some(self.seen.tree.clone());
                }
                if workflow.proof.at == Some(from) && matches!(how, How::Passed) {
                    let (commit, tree) = (self.seen.commit.clone(), self.seen.tree.clone());
                    self.proven = Some(ProvenState { commit, tree });
                }
                self.remember_what_gates_saw(workflow);
                self.phases[from].end(at, PhaseStatus::Completed, "the exit rule was met");
                self.feedback = None;
                self.rejections.remove(&from);
                self.review = self.review.take().filter(|it| it.phase != from);
                if self.back_to == Some(phase) || matches!(how, How::Skipped) {
                    self.back_to = None;
                }
                return false;
            }
            How::Rejected | How::Fixed { .. } => {
                let count = self.rejections.entry(from).or_default();
                *count = if matches!(how, How::Rejected) { *count + 1 } else { 0 };
                self.review.clone_from(&self.feedback);
                if let How::Fixed { text } = how {
                    self.guide(Some(text));
                }
                self.back_to = Some(from);
                let straight =
                    workflow.phases[from].reject.as_ref().is_some_and(|it| it.back == Back::Direct);
                self.reopen(workflow, if straight { from } else { phase }, "rejected");
            }
            How::Unproven { why, by_person } => {
                self.proof_returns += u32::from(!by_person);
                let mut feedback = self.feedback.take().unwrap_or_default();
                feedback.why.clone_from(why);
                self.feedback = Some(feedback);
                self.proving = None;
                self.back_to = None;
                self.reopen(workflow, phase, "the proof found something");
            }
            How::Collided { why } => {
                self.landing_returns += 1;
                let mut feedback = self.feedback.take().unwrap_or_default();
                feedback.why.clone_from(why);
                self.feedback = Some(feedback);
                self.proving = None;
                self.back_to = None;
                self.reopen(workflow, phase, "it conflicts with what was merged since it began");
            }
            How::Changes { gate, text } => {
                self.guide(Some(&format!("changes asked for at the gate \"{gate}\": {text}")));
                self.troubles.note_failure(FailureEntry {
                    at,
                    phase: from,
                    item: None,
                    gate: Some(gate.clone()),
                    class: ErrorClass::GateRejection,
                    text: text.clone(),
                    tried: None,
                    resolution: None,
                    resolved_at: None,
                    retries: self.retry.count,
                    escalated: false,
                });
                self.back_to = None;
                self.reopen(workflow, phase, "changes asked for at a gate");
            }
            How::Moved => {
                self.back_to = None;
                self.retry.resume(workflow.retries.as_ref());
                self.reopen(workflow, phase, "moved by a person");
            }
        }
        true
    }

    /// What was done from the phase that the work goes back to is to be done again.
    fn reopen(&mut self, workflow: &Workflow, back_to: PhaseId, why: &str) {
        let here = self.phase;
        self.proven = None;
        self.landing = None;
        self.train = None;
        let done = self.phases[back_to.min(here)..=here].iter_mut();
        done.filter(|it| it.status != PhaseStatus::Pending).for_each(|it| it.reopen(why));
        // What was skipped is done this time. An item is done once, so one that was accepted stays as it is.
        self.skips.retain(|it| *it < back_to || workflow.phases[*it].each.is_some());
        let beginning = &self.opening.beginning;
        self.unproven = self.opening.unverified || !beginning.off.is_empty() || !self.skips.is_empty();
    }
}
