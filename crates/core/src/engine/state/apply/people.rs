//! What somebody said: answers and commands, approvals and their end, phases that were skipped, and what
//! was settled without anybody.

use crate::engine::journal::closing::landing::Landing;
use crate::engine::journal::hold::Wait;
use crate::engine::journal::people::approval::Void;
use crate::engine::journal::people::command::{Answer, Choice, Command};
use crate::engine::journal::people::question::{CheckpointKind, QuestionKind};
use crate::engine::state::parts::breaker::Breaker;
use crate::engine::state::parts::retry::Retry;
use crate::engine::state::parts::station::{Leave, Station, Wish};
use crate::engine::state::parts::visit::PhaseStatus;
use crate::engine::state::run_state::State;
use crate::proof::{Level, Waiver};
use crate::workflow::model::{PhaseId, Workflow};
use loop_base::time::Timestamp;

/// Settled checkpoints that every later call is told of; a phase has a handful.
const SETTLED_KEPT: usize = 50;

/// Why a skill is skipped for which nobody gave what it needs.
pub(super) const NOT_NEEDED: &str = "a person chose to do without it";

impl State {
    pub(super) fn obey(&mut self, command: &Command) {
        match command {
            Command::Answer(given) => {
                self.take_answer(given);
                if matches!(self.station, Station::Closed(_)) && given.choice == Choice::Accept {
                    self.accept();
                }
            }
            Command::Waive { what, reason, by } => {
                self.accept_requirement(what, reason);
                // The proof of a run that is over stands.
                if matches!(self.station, Station::Closed(_)) {
                    return;
                }
                let by = (!by.is_empty()).then(|| by.clone());
                self.waivers.push(Waiver { what: what.clone(), reason: reason.clone(), by });
                self.reconsider();
                if self.question().is_some_and(|it| it.kind == QuestionKind::Proof) {
                    self.leave_again();
                }
            }
            Command::Guide { text } => self.guide(Some(text)),
            Command::Skip { skill, reason } => {
                self.skipped.insert(skill.clone(), reason.clone());
            }
            Command::Stop => self.wish = Some(Wish::Stop),
            Command::Unhold => self.wait = self.wait.take().filter(|it| it.wait == Wait::Window),
            Command::Pause { reason } => self.wish = Some(Wish::Pause { reason: reason.clone() }),
            Command::Cancel => self.wish = Some(Wish::Cancel),
            Command::Tried { what } => {
                self.refusals = self.refusals.saturating_add(1);
                self.warn(format!("refused inside an agent call: loop {what}"));
            }
            Command::Resume { reset, phase, most, retries } => {
                if let Some(used) = retries {
                    self.retry = Retry { count: *used, total: self.retry.total, ..Retry::default() };
                }
                self.resume(*reset, *phase, *most);
            }
        }
    }

    fn resume(&mut self, reset: bool, phase: Option<PhaseId>, most: Option<u32>) {
        // The work is where it was, so only another call can bring the run further.
        if self.has_nothing_to_do() && (reset || !self.guidance.is_empty()) {
            self.proof_returns = 0;
            self.station = Station::Ready;
        }
        self.hold = None;
        self.wish = None;
        self.voids = 0;
        self.lost_in_a_row = 0;
        self.move_to = phase;
        if most.is_some() {
            self.iterations_most = most;
        }
        if reset {
            self.visit.breaker = Breaker::default();
            self.visit.iteration = 0;
            self.visit.looked = false;
            self.iterations_forgiven = self.iterations_numbered();
            self.iterations_counted = 0;
            self.rejections.clear();
            self.retry = Retry::default();
        }
        if reset {
            self.landing = self.landing.take().filter(|it| !matches!(it, Landing::Waits { .. }));
            self.train.iter_mut().for_each(|it| it.rejections.clear());
        }
        let waits = matches!(self.station, Station::Waiting { .. });
        self.look_at = None;
        let looks = self.waits_for_merge() || matches!(self.landing, Some(Landing::Waits { .. }));
        self.withdrawn = waits && (reset || phase.is_some() || looks);
    }

    pub(super) fn take_answer(&mut self, given: &Answer) {
        if let Station::Waiting { answer, .. } = &mut self.station {
            *answer = Some(given.clone());
        }
    }

    pub(super) fn reset(&mut self, workflow: &Workflow, at: Timestamp, guidance: Option<&str>) {
        self.guide(guidance);
        self.troubles.resolve(at, self.phase, "resumed by a person");
        self.visit.breaker = Breaker::default();
        self.visit.looked = false;
        self.retry.resume(workflow.retries.as_ref());
        let is_over = |it: &Landing| {
            matches!(
                it,
                Landing::Not { .. } | Landing::Red { .. } | Landing::Collides { .. } | Landing::Waits { .. }
            )
        };
        self.landing = self.landing.take().filter(|it| !is_over(it));
        self.landing_returns = 0;
        self.contain_tried = false;
        self.station = Station::Ready;
    }

    pub(super) fn skip_phase(&mut self, workflow: &Workflow, at: Timestamp, why: &str) {
        let worked = 0 < self.visit.iteration;
        let status = if worked { PhaseStatus::Forced } else { PhaseStatus::Skipped };
        self.phases[self.phase].end(at, status, "skipped by user");
        self.visit.skipped = true;
        self.unproven = true;
        self.skips.push(self.phase);
        let name = &workflow.phases[self.phase].name;
        self.warn(format!("{name} was skipped by a person: {why}"));
        self.station = Station::Leaving { how: Leave::Skipped };
    }

    pub(super) fn settle(&mut self, text: &str, automatic: bool, done: bool) {
        if automatic {
            self.warn(text.to_owned());
        }
        let is_item = self.item.as_ref().is_some_and(|it| it.checkpoint().is_some());
        if is_item && !done {
            // A person found something there, and the next call repairs it.
            self.guide(Some(text));
        } else if !self.settled.iter().any(|it| it == text) {
            self.settled.push(text.to_owned());
            let over = self.settled.len().saturating_sub(SETTLED_KEPT);
            self.settled.drain(..over);
        }
        if done {
            self.leave_again();
            return;
        }
        self.station = Station::Ready;
    }

    pub(super) fn supply(&mut self, check: &str, command: &str) {
        self.commands.insert(check.to_owned(), command.to_owned());
        self.visit.looked = false;
        self.station = Station::Ready;
    }

    /// What a skill needs is known from now on; one that is done without it is skipped.
    pub(super) fn take_prerequisite(&mut self, skill: &str, target: Option<&String>) {
        self.prerequisites.insert(skill.to_owned(), target.cloned());
        if target.is_none() {
            self.skipped.insert(skill.to_owned(), NOT_NEEDED.to_owned());
        }
        self.visit.looked = false;
        self.station = Station::Ready;
    }

    pub(super) fn grant(&mut self, at: Timestamp, until: Timestamp) {
        self.calls.granted = until;
        if at < until {
            self.warn(format!("calls beyond the window's limit are allowed until {until}"));
        }
        self.station = Station::Ready;
    }

    pub(super) fn waive(&mut self, waiver: &Waiver) {
        self.waivers.push(waiver.clone());
        self.reconsider();
        self.leave_unless_closed();
    }

    pub(super) fn prepare_proof(&mut self, command: Option<&String>) {
        self.prepare = command.cloned();
        self.proof_skipped = command.is_none();
        self.proving = None;
        self.leave_again();
    }

    pub(super) fn approve(&mut self, at: Timestamp, gate: &str, by: &str) {
        if let Some(before) = self.gates_saw.get(gate).filter(|it| it.is_of_other_changes(&self.seen.about)) {
            let (who, when) = (&before.by, before.at);
            let why = format!("the changes that it is about moved since {who} approved it at {when}");
            self.warn(format!("{by} approved the gate {gate} once more, because {why}"));
        }
        self.gates_passed_at.insert(gate.to_owned(), at);
        self.approved.insert(gate.to_owned(), by.to_owned());
        self.gates_passed.insert(gate.to_owned(), by.to_owned());
        self.approve_requirements(by);
        self.gates_wanted.retain(|it| it != gate);
        if self.proof().is_some_and(|it| it.level == Level::UnchangedGreen) {
            self.accept();
        }
        self.leave_again();
    }

    /// What was approved is asked about again. Another tree is measured before that.
    pub(super) fn void(&mut self, gate: &str, why: &str, void: &Void) {
        self.warn(format!("the approval of gate \"{gate}\" is void: {why}"));
        match void {
            Void::Changed { commit, tree } => {
                self.approved.clear();
                self.seen.commit.clone_from(commit);
                self.seen.tree.clone_from(tree);
                if self.visit.skipped {
                    self.leave_again();
                } else {
                    self.visit.recheck = true;
                    self.station = Station::Ready;
                }
            }
            Void::Expired => self.leave_again(),
            Void::Unsigned => {
                if let Station::Waiting { answer, .. } = &mut self.station {
                    *answer = None;
                }
            }
        }
    }

    /// Whether the open question is one that a look at the world may answer.
    fn waits_for_merge(&self) -> bool {
        let merge = QuestionKind::Checkpoint(CheckpointKind::Merge);
        matches!(&self.station, Station::Waiting { question, .. } if question.kind == merge)
    }
}
