//! How each fact changes the state: bookkeeping only, in one match over all of them. Nothing is
//! decided here. What has more than a few lines is in `beginning.rs` (what was there before the first
//! call), `calls.rs` (a call and its evidence) and `people.rs` (what somebody said).

mod beginning;
mod calls;
mod landing;
mod people;

pub(crate) use landing::LOOK_EVERY_MS;

use super::state::State;
use super::station::{Leave, Station, Waiting};
use crate::engine::journal::command::{Answer, Command};
use crate::engine::journal::event::Event;
use crate::engine::journal::hold::{Hold, Outcome, Wait};
use crate::workflow::model::{InputKind, Workflow};
use loop_base::time::Timestamp;

/// Warnings kept for displays; older ones stay in the journal.
const WARNINGS_KEPT: usize = 20;

/// Pieces of guidance kept for the next prompt.
const GUIDANCE_KEPT: usize = 20;

impl State {
    /// Takes one fact into account.
    pub fn apply(&mut self, workflow: &Workflow, at: Timestamp, event: &Event) {
        self.updated_at = at;
        match event {
            Event::Opened(opening) => self.open(workflow, at, opening),
            Event::Owned { epoch } => self.epoch = *epoch,
            Event::Joined(session) => self.session = Some(session.clone()),
            Event::Began(effect) => self.begin(workflow, at, effect),
            Event::Placed { place, branch } => {
                self.place = Some(place.clone());
                self.branch.clone_from(branch);
            }
            Event::Baselined(baseline) => self.take_baseline(baseline),
            Event::Listed(listing) => self.take_listing(workflow, listing),
            Event::Ended(ended) => self.end(workflow, at, ended),
            Event::Contained { left } => {
                self.left.clone_from(left);
                self.contain_tried = true;
            }
            Event::Measured(evidence) => self.measure(workflow, evidence),
            Event::Judged(judgement) => self.judge(workflow, at, judgement),
            Event::StepTaken(taken) => self.take_step(taken),
            Event::Proved(proof) => self.conclude(proof),
            Event::Waived(waiver) => self.waive(waiver),
            Event::Accepted { tree: _, reason: _, by: _ } => {
                self.accept();
                self.leave_unless_closed();
            }
            Event::Prepared { command } => self.prepare_proof(command.as_ref()),
            Event::Repeated => {
                self.visit.looked &= !std::mem::take(&mut self.withdrawn);
                self.station = Station::Ready;
            }
            Event::Retried => self.try_again(workflow),
            Event::CalledAgain { model } => {
                if let Some(model) = model {
                    let asked = self.model_asked.clone().unwrap_or_default();
                    self.models_instead.insert(asked, model.clone());
                }
                self.station = Station::Ready;
            }
            Event::Entered { phase, how } => self.enter(workflow, at, *phase, how),
            Event::Skipped { why } => self.skip_phase(workflow, at, why),
            Event::Settled { text, automatic, done } => self.settle(text, *automatic, *done),
            Event::Supplied { check, command } => self.supply(check, command),
            Event::ItemDone { id, also } => self.complete_items(id, also),
            Event::LeftToPerson { items } => self.leave_to_person(items),
            Event::Waits { until, why, wait } => self.begin_to_wait(*until, why, *wait),
            Event::Woke => {
                self.wait = self.wait.take().filter(|it| at < it.until && it.wait != Wait::Window);
            }
            Event::Told { trouble: Some(trouble) } => {
                self.warn(format!("the notification failed: {trouble}"))
            }
            Event::Told { trouble: None } => (),
            Event::Expired { question: _ } => self.take_answer(&Answer::expired()),
            Event::Reset { guidance } => self.reset(workflow, at, guidance.as_deref()),
            Event::Pivoted => {
                // The counters stay: one more iteration without progress opens the breaker for good.
                self.visit.breaker.pivoted = true;
                self.station = Station::Ready;
            }
            Event::Approved { gate, by, about: _, signer: _ } => self.approve(gate, by),
            Event::Voided { gate, why, void } => self.void(gate, why, void),
            Event::Counted { start, made } => {
                self.calls.start = *start;
                self.calls.made = *made;
            }
            Event::Granted { until } => self.grant(at, *until),
            Event::Held(hold) => self.hold_on(hold),
            Event::Commanded(command) => {
                self.obey(command);
                let is_job = workflow.input.kind == InputKind::Job;
                if is_job && matches!(command, Command::Resume { .. }) {
                    // The limit of a system is for one command.
                    self.iterations_forgiven = self.iterations_numbered();
                    self.iterations_counted = 0;
                }
            }
            Event::Reloaded { keys: _ } => (),
            Event::Refused { command: _, why } => self.warn(format!("refused: {why}")),
            Event::Detected { check, command } => {
                self.warn(format!("the check \"{check}\" was found in the project: {command}"));
                self.commands.insert(check.clone(), command.clone());
            }
            Event::Landed(landing) => self.land(at, landing),
            Event::Looked(landing) => {
                self.withdrawn = false;
                self.land(at, landing);
            }
            Event::Finished { trouble, shipped, commit, next } => {
                self.next_run = next.clone().or(self.next_run.take());
                self.finish(trouble.as_ref(), shipped.as_ref(), commit.as_ref());
            }
            Event::Noted { text } => self.warn(text.clone()),
            Event::Closed(outcome) => self.close(outcome),
        }
    }

    fn try_again(&mut self, workflow: &Workflow) {
        self.retry.count += 1;
        self.visit.fix_due = workflow.retries.as_ref().is_some_and(|it| it.with.is_some());
        self.station = Station::Ready;
    }

    fn complete_items(&mut self, id: &str, also: &[String]) {
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

    fn leave_to_person(&mut self, items: &[String]) {
        self.unproven = true;
        self.visit.for_person.clear();
        self.left_to_person = items.to_vec();
        self.warn(format!("Auto-decided: completed with notes — open for a person: {}", items.join("; ")));
        self.leave_again();
    }

    fn begin_to_wait(&mut self, until: Timestamp, why: &str, wait: Wait) {
        self.told = false;
        self.wait = Some(Waiting { until, why: why.to_owned(), wait });
        self.retry.count += u32::from(wait == Wait::Backoff);
        self.station = Station::Ready;
    }

    fn hold_on(&mut self, hold: &Hold) {
        self.told = false;
        self.hold = Some(hold.clone());
        self.wish = None;
        if let Station::Waiting { answer: Some(_), .. } = self.station {
            self.station = Station::Ready;
        }
    }

    fn finish(&mut self, trouble: Option<&String>, shipped: Option<&String>, commit: Option<&String>) {
        if let Some(trouble) = trouble {
            self.warn(trouble.clone());
        }
        if let Some(shipped) = shipped {
            self.shipped = Some(shipped.clone());
        }
        if let Some(commit) = commit {
            self.delivered = Some(commit.clone());
        }
        if !matches!(self.station, Station::Closed(_)) {
            self.station = Station::Finished;
        }
    }

    fn close(&mut self, outcome: &Outcome) {
        self.told = false;
        self.wish = None;
        self.hold = None;
        self.wait = None;
        self.station = Station::Closed(outcome.clone());
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
}
