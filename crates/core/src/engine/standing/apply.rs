//! How each fact changes the state: bookkeeping only, in one match over all of them. Nothing is
//! decided here.

use super::breaker::Breaker;
use super::retry::{self, Retry};
use super::state::State;
use super::station::{Leave, Station, Turn, Waiting, Wish};
use super::visit::PhaseStatus;
use crate::engine::journal::approval::Void;
use crate::engine::journal::command::{Answer, Choice, Command};
use crate::engine::journal::effect::Effect;
use crate::engine::journal::ending::{Ended, Ending};
use crate::engine::journal::event::Event;
use crate::engine::journal::evidence::{Baseline, CheckResult, Evidence};
use crate::engine::journal::hold::Wait;
use crate::engine::journal::opening::Opening;
use crate::engine::journal::question::{CheckpointKind, QuestionKind};
use crate::proof::{Level, Waiver};
use crate::report::Report;
use crate::workflow::model::{LostCall, Workflow};
use loop_base::text::counted;
use loop_base::time::Timestamp;
use std::sync::Arc;

/// Warnings kept for displays; older ones stay in the journal.
const WARNINGS_KEPT: usize = 20;

/// Pieces of guidance kept for the next prompt.
const GUIDANCE_KEPT: usize = 20;

impl State {
    /// Takes one fact into account.
    pub fn apply(&mut self, workflow: &Workflow, at: Timestamp, event: &Event) {
        self.updated_at = at;
        match event {
            Event::Opened(opening) => {
                self.opening = opening.clone();
                self.opened_at = at;
                self.phases[0].begin(at);
                self.untested = opening.imported;
                self.begin_where_it_was(workflow, at, opening);
                if opening.unverified {
                    self.unproven = true;
                    self.warn("unverified: the agent's word is taken where nothing is measured".to_owned());
                }
            }
            Event::Owned { epoch } => self.epoch = *epoch,
            Event::Joined(session) => self.session = Some(session.clone()),
            Event::Began(effect) => self.begin(workflow, at, effect),
            Event::Placed { place, branch } => {
                self.place = Some(place.clone());
                self.branch.clone_from(branch);
            }
            Event::Baselined(baseline) => {
                self.spent.ms += baseline.ms;
                self.warn_of_known_red(baseline);
                self.seen = baseline.facts.clone();
                self.baseline = Some(baseline.clone());
            }
            Event::Listed(listing) => self.take_listing(workflow, listing),
            Event::Ended(ended) => self.end(workflow, at, ended),
            Event::Contained { left } => {
                self.left.clone_from(left);
                self.contain_tried = true;
            }
            Event::Measured(evidence) => {
                self.spent.ms += evidence.ms;
                self.seen = evidence.facts.clone();
                let turn = match &self.station {
                    Station::Reported(turn) => turn.clone(),
                    Station::Ready => self.turn_without_call(workflow),
                    other => panic!("a report precedes its evidence, not {other:?}"),
                };
                self.station = Station::Measured(turn, evidence.clone());
            }
            Event::Judged(judgement) => self.judge(workflow, at, judgement),
            Event::StepTaken(taken) => self.take_step(taken),
            Event::Proved(proof) => self.conclude(proof),
            Event::Waived(waiver) => {
                self.waivers.push(waiver.clone());
                self.reconsider();
                self.leave_unless_closed();
            }
            Event::Accepted { tree: _, reason: _, by: _ } => {
                self.accept();
                self.leave_unless_closed();
            }
            Event::Prepared { command } => {
                self.prepare.clone_from(command);
                self.proof_skipped = command.is_none();
                self.proving = None;
                self.leave_again();
            }
            Event::Repeated => {
                self.visit.looked &= !std::mem::take(&mut self.withdrawn);
                self.station = Station::Ready;
            }
            Event::Retried => {
                self.retry.count += 1;
                self.visit.fix_due = workflow.retries.as_ref().is_some_and(|it| it.with.is_some());
                self.station = Station::Ready;
            }
            Event::Entered { phase, how } => self.enter(workflow, at, *phase, how),
            Event::Skipped { why } => {
                let worked = 0 < self.visit.iteration;
                let status = if worked { PhaseStatus::Forced } else { PhaseStatus::Skipped };
                self.phases[self.phase].end(at, status, "skipped by user");
                self.visit.skipped = true;
                self.unproven = true;
                let name = &workflow.phases[self.phase].name;
                self.warn(format!("{name} was skipped by a person: {why}"));
                self.station = Station::Leaving { how: Leave::Skipped };
            }
            Event::Settled { text, automatic, done } => {
                if *automatic {
                    self.warn(text.clone());
                }
                if self.waits_for_merge() {
                    self.warn(format!("{text}; nobody could look"));
                    self.leave_again();
                    return;
                }
                self.guide(Some(text));
                if *done {
                    self.leave_again();
                    return;
                }
                self.station = Station::Ready;
            }
            Event::Supplied { check, command } => {
                self.commands.insert(check.clone(), command.clone());
                self.visit.looked = false;
                self.station = Station::Ready;
            }
            Event::ItemDone { id, also } => {
                if !also.is_empty() {
                    self.warn(format!(
                        "called complete together with {id}, without an iteration of their own: {}",
                        also.join(", ")
                    ));
                }
                self.finish_item(id);
                also.iter().for_each(|it| self.finish_item(it));
                self.station = Station::Between;
            }
            Event::LeftToPerson { items } => {
                self.unproven = true;
                self.visit.for_person.clear();
                self.left_to_person.clone_from(items);
                self.warn(format!(
                    "Auto-decided: completed with notes — open for a person: {}",
                    items.join("; ")
                ));
                self.leave_again();
            }
            Event::Waits { until, why, wait } => {
                self.told = false;
                self.wait = Some(Waiting { until: *until, why: why.clone(), wait: *wait });
                self.retry.count += u32::from(*wait == Wait::Backoff);
                self.station = Station::Ready;
            }
            Event::Woke => {
                self.wait = self.wait.take().filter(|it| at < it.until && it.wait != Wait::Window);
            }
            Event::Told { trouble: Some(trouble) } => self.warn(format!("nobody could be told: {trouble}")),
            Event::Told { trouble: None } => (),
            Event::Expired { question: _ } => {
                if let Station::Waiting { answer, .. } = &mut self.station {
                    *answer = Some(Answer::expired());
                }
            }
            Event::Reset { guidance } => {
                self.guide(guidance.as_deref());
                self.troubles.resolve(at, self.phase, "resumed by a person");
                self.visit.breaker = Breaker::default();
                self.visit.looked = false;
                self.retry.resume(workflow.retries.as_ref());
                self.contain_tried = false;
                self.station = Station::Ready;
            }
            Event::Pivoted => {
                // The counters stay: one more iteration without progress opens the breaker for good.
                self.visit.breaker.pivoted = true;
                self.station = Station::Ready;
            }
            Event::Approved { gate, by, about: _, signer: _ } => {
                self.approved.insert(gate.clone(), by.clone());
                self.approve_requirements(by);
                self.gates_wanted.retain(|it| it != gate);
                if self.proof().is_some_and(|it| it.level == Level::UnchangedGreen) {
                    self.accept();
                }
                self.leave_again();
            }
            Event::Voided { gate, why, void } => self.void(gate, why, void),
            Event::Counted { start, made } => {
                self.calls.start = *start;
                self.calls.made = *made;
            }
            Event::Granted { until } => {
                self.calls.granted = *until;
                if at < *until {
                    self.warn(format!("calls beyond the window's limit are allowed until {until}"));
                }
                self.station = Station::Ready;
            }
            Event::Held(hold) => {
                self.told = false;
                self.hold = Some(hold.clone());
                self.wish = None;
                if let Station::Waiting { answer: Some(_), .. } = self.station {
                    self.station = Station::Ready;
                }
            }
            Event::Commanded(command) => self.obey(command),
            Event::Reloaded { keys: _ } => (),
            Event::Refused { command: _, why } => self.warn(format!("refused: {why}")),
            Event::Finished { trouble, shipped, commit, next } => {
                self.next_run = next.clone().or(self.next_run.take());
                if let Some(trouble) = trouble {
                    self.warn(trouble.clone());
                }
                if shipped.is_some() {
                    self.shipped.clone_from(shipped);
                }
                if commit.is_some() {
                    self.delivered.clone_from(commit);
                }
                if !matches!(self.station, Station::Closed(_)) {
                    self.station = Station::Finished;
                }
            }
            Event::Noted { text } => self.warn(text.clone()),
            Event::Closed(outcome) => {
                self.told = false;
                self.wish = None;
                self.hold = None;
                self.wait = None;
                self.station = Station::Closed(outcome.clone());
            }
        }
    }

    fn begin(&mut self, workflow: &Workflow, at: Timestamp, effect: &Effect) {
        match effect {
            Effect::Work(call) => {
                self.calls_total = call.number;
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
                self.questions = question.id;
                self.refused = None;
                self.unreachable = 0;
                self.station = Station::Waiting { question: question.clone(), answer: None };
            }
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
            | Effect::Sleep { .. } => (),
        }
    }

    fn end(&mut self, workflow: &Workflow, at: Timestamp, ended: &Ended) {
        let Station::Working(call) = &self.station else { panic!("a call begins before it ends") };
        let call = call.clone();
        self.left.clone_from(&ended.left);
        if ended.uncontained {
            self.uncontained = true;
            self.warn(format!(
                "call {}: its supervisor was killed, and that nothing of it is left could not be proven",
                ended.call
            ));
        }
        self.contain_tried = false;
        self.spent.tokens = self.spent.tokens.saturating_add(ended.usage.tokens);
        self.spent.usd += ended.usage.usd.max(0.0);
        self.spent.ms += ended.ms;
        self.void_attempts = 0;
        let undoes = workflow.workspace.lost_call == LostCall::Undo;
        let is_undone = undoes && matches!(ended.ending, Ending::Lost { .. });
        if ended.ending != Ending::NotStarted && !is_undone {
            self.voids = 0;
            self.plan_warning.clone_from(&ended.warning);
        }
        let is_answered = match &ended.ending {
            Ending::Unreachable { .. } | Ending::NotStarted | Ending::Barred { .. } | Ending::Interrupted => {
                false
            }
            Ending::Done
            | Ending::Failed { .. }
            | Ending::TimedOut { .. }
            | Ending::WaitedForInput { .. }
            | Ending::Lost { .. }
            | Ending::Limited { .. }
            | Ending::Refused { .. } => true,
        };
        if is_answered {
            self.unreachable = 0;
        }
        self.station = match &ended.ending {
            Ending::NotStarted => {
                // The number goes to the next try; nothing was spent and nothing is counted.
                self.calls_total = call.number - 1;
                self.calls.made = self.calls.made.saturating_sub(1);
                self.void_attempts = call.attempt;
                self.voids += 1;
                Station::Ready
            }
            Ending::Barred { why } => {
                self.calls_total = call.number - 1;
                self.calls.made = self.calls.made.saturating_sub(1);
                self.void_attempts = call.attempt;
                self.refused = Some(why.clone());
                Station::Ready
            }
            Ending::Interrupted => Station::Ready,
            Ending::Lost { why } if is_undone => {
                // So many in a row mean that something here ends every call.
                self.voids += 1;
                self.warn(format!("call {} is lost and does not count: {why}", call.number));
                Station::Ready
            }
            Ending::Refused { why } => {
                self.refused = Some(why.clone());
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
                        self.refused =
                            Some(format!("{why}, {} in a row", counted(self.unreachable + 1, "time")))
                    }
                }
                Station::Ready
            }
            Ending::Done
            | Ending::Failed { .. }
            | Ending::TimedOut { .. }
            | Ending::WaitedForInput { .. }
            | Ending::Lost { .. } => Station::Reported(Turn { call, ended: Box::new(ended.clone()) }),
        };
    }

    /// Where no skill is left to call, the phase is measured as it stands. Number 0 says that nobody
    /// was called.
    fn turn_without_call(&self, workflow: &Workflow) -> Turn {
        let mut call = super::call::call(workflow, &workflow.phases[self.phase], self);
        call.number = self.calls_total;
        let ended = Ended::plain(0, Ending::Done, Report { found: true, ..Report::default() });
        Turn { call, ended: Box::new(ended) }
    }

    /// Takes over what was known before the run was opened: what is asked for, what is done already, and
    /// how far another controller had come.
    fn begin_where_it_was(&mut self, workflow: &Workflow, at: Timestamp, opening: &Opening) {
        self.requirements.clone_from(&opening.beginning.requirements);
        self.iterations_total = opening.beginning.iterations;
        self.iterations_counted = opening.beginning.iterations;
        self.items_done = u32::try_from(opening.beginning.done.len()).unwrap_or(u32::MAX);
        if let Some(list) = &mut self.list {
            opening.beginning.done.iter().for_each(|it| Arc::make_mut(list).finish(it));
        }
        for (name, why) in &opening.beginning.off {
            let Some(phase) = workflow.phases.iter().position(|it| it.name == *name) else { continue };
            self.phases[phase].begin(at);
            self.phases[phase].end(at, PhaseStatus::Skipped, why);
            self.unproven = true;
            self.warn(format!("{name} is off: {why}"));
        }
        for (name, count) in &opening.beginning.rejections {
            if let Some(phase) = workflow.phases.iter().position(|it| it.name == *name) {
                self.rejections.insert(phase, *count);
            }
        }
    }

    /// What was approved is asked about again. Another tree is measured before that.
    fn void(&mut self, gate: &str, why: &str, void: &Void) {
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

    /// Goes back to the boundary at which a gate was asked.
    fn leave_again(&mut self) {
        let how = if self.visit.skipped { Leave::Skipped } else { Leave::Passed };
        self.station = Station::Leaving { how };
    }

    fn leave_unless_closed(&mut self) {
        if !matches!(self.station, Station::Closed(_)) {
            self.leave_again();
        }
    }

    fn obey(&mut self, command: &Command) {
        match command {
            Command::Answer(given) => {
                if let Station::Waiting { answer, .. } = &mut self.station {
                    *answer = Some(given.clone());
                }
                if matches!(self.station, Station::Closed(_)) && given.choice == Choice::Accept {
                    self.accept();
                }
            }
            Command::Waive { what, reason, by } => {
                self.accept_requirement(what, reason);
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
            Command::Unhold => self.wait = self.wait.take().filter(|it| it.wait != Wait::Provider),
            Command::Pause { reason } => self.wish = Some(Wish::Pause { reason: reason.clone() }),
            Command::Cancel => self.wish = Some(Wish::Cancel),
            Command::Tried { what } => {
                self.warn(format!("refused inside an agent call: loop {what}"));
            }
            Command::Resume { reset, phase, most } => {
                self.hold = None;
                self.wish = None;
                self.voids = 0;
                self.move_to = *phase;
                if most.is_some() {
                    self.iterations_most = *most;
                }
                if *reset {
                    self.visit.breaker = Breaker::default();
                    self.visit.iteration = 0;
                    self.visit.looked = false;
                    self.iterations_counted = 0;
                    self.rejections.clear();
                    self.retry = Retry::default();
                }
                let waits = matches!(self.station, Station::Waiting { .. });
                self.withdrawn = waits && (*reset || phase.is_some() || self.waits_for_merge());
            }
        }
    }

    /// Whether the open question is one that a look at the world may answer.
    fn waits_for_merge(&self) -> bool {
        let merge = QuestionKind::Checkpoint(CheckpointKind::Merge);
        matches!(&self.station, Station::Waiting { question, .. } if question.kind == merge)
    }

    pub(crate) fn guide(&mut self, text: Option<&str>) {
        let Some(text) = text.filter(|it| !it.trim().is_empty()) else { return };
        self.guidance.push(text.to_owned());
        if GUIDANCE_KEPT < self.guidance.len() {
            self.guidance.remove(0);
        }
    }

    pub(crate) fn warn(&mut self, text: String) {
        if self.warnings.contains(&text) {
            return;
        }
        self.warnings.push(text);
        if WARNINGS_KEPT < self.warnings.len() {
            self.warnings.remove(0);
        }
    }

    fn warn_of_known_red(&mut self, baseline: &Baseline) {
        baseline.results.iter().filter_map(known_red_words).for_each(|it| self.warn(it));
    }

    /// Tests that failed before the run began and pass now are no longer worth a warning.
    pub(super) fn forget_mended(&mut self, evidence: &Evidence) {
        let Some(baseline) = &self.baseline else { return };
        let passes = |name: &String| {
            let now = evidence.results.iter().find(|it| it.name == *name);
            now.and_then(|it| it.counts.as_ref()).is_some_and(|it| it.failing == 0)
        };
        let mended: Vec<String> =
            baseline.results.iter().filter(|it| passes(&it.name)).filter_map(known_red_words).collect();
        self.warnings.retain(|it| !mended.contains(it));
    }
}

fn known_red_words(result: &CheckResult) -> Option<String> {
    let tests = result.counts.as_ref().filter(|it| 0 < it.failing)?;
    let names =
        if tests.failed.is_empty() { String::new() } else { format!(": {}", shortened(&tests.failed)) };
    let count = counted(tests.failing, "test");
    Some(format!("{count} of \"{}\" failed before the run began{names}", result.name))
}

/// Returns the first names of a list, and how many follow.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if SHOWN < names.len() {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
