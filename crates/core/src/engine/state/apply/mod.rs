//! How each event changes the state: one match over all of them, and a method for each that takes more than
//! a line. `beginning.rs` is what was there before the first call, `calls.rs` a call and its evidence,
//! `judged.rs` the end of an iteration, `entered.rs` the entry of a phase, `proof.rs` the steps of a proof,
//! `landing.rs` how far the work has come outside, `people.rs` what somebody said. Nothing is decided here.

mod beginning;
mod calls;
mod entered;
mod judged;
mod landing;
mod people;
mod proof;

pub(crate) use landing::LOOK_EVERY_MS;

use crate::engine::journal::calls::ending::LeftProcess;
use crate::engine::journal::event::Event;
use crate::engine::journal::hold::{Hold, Outcome, Wait};
use crate::engine::journal::people::command::{Answer, Command};
use crate::engine::state::parts::station::{Leave, Station, Waiting};
use crate::engine::state::run_state::State;
use crate::engine::state::views::next_call::{call, lacks_other_model};
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
            Event::Owned { epoch, opening: _ } => self.epoch = *epoch,
            Event::Joined(session) => self.session = Some(session.clone()),
            Event::Began(effect) => self.begin(workflow, at, effect),
            Event::Placed { place, branch } => self.work_in(place, branch.as_ref()),
            Event::Baselined(baseline) => self.take_baseline(baseline),
            Event::Listed(listing) => self.take_listing(workflow, listing),
            Event::Ended(ended) => self.end(workflow, at, ended),
            Event::Contained { left } => self.contain(left),
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
            Event::Repeated => self.repeat(),
            Event::Retried => self.try_again(workflow),
            Event::CalledAgain { model } => self.call_again(workflow, model.as_ref()),
            Event::Entered { phase, how } => self.enter(workflow, at, *phase, how),
            Event::Skipped { why } => self.skip_phase(workflow, at, why),
            Event::Settled { text, automatic, done } => self.settle(text, *automatic, *done),
            Event::Supplied { check, command } => self.supply(check, command),
            Event::ItemDone { id, also } => self.complete_items(workflow, id, also),
            Event::LeftToPerson { items } => self.leave_to_person(items),
            Event::Waits { until, why, wait } => self.begin_to_wait(*until, why, *wait),
            Event::Woke => self.wake(at),
            Event::Told { trouble: Some(trouble) } => {
                self.warn(format!("the notification failed: {trouble}"))
            }
            Event::Told { trouble: None } => (),
            Event::Expired { question: _ } => self.take_answer(&Answer::expired()),
            Event::Reset { guidance } => self.reset(workflow, at, guidance.as_deref()),
            Event::Pivoted => self.pivot(),
            Event::Approved { gate, by, about: _, signer: _ } => self.approve(at, gate, by),
            Event::Voided { gate, why, void } => self.void(gate, why, void),
            Event::Counted { start, made } => self.count_calls(*start, *made),
            Event::Granted { until } => self.grant(at, *until),
            Event::Held(hold) => self.hold_on(hold),
            Event::Commanded(command) => self.take_command(workflow, command),
            Event::Reloaded { keys: _, definition: _ } => (),
            Event::Refused { command: _, why } => self.warn(format!("refused: {why}")),
            Event::Detected { check, command } => self.take_found_check(check, command),
            Event::LandingStep(step) => self.step_landing(step),
            Event::Landed(landing) => self.land(at, landing),
            Event::Heard { at: place, answer, trouble } => {
                self.hear_from_outside(at, place.as_ref(), answer.as_ref(), trouble.as_ref());
            }
            Event::Known { skill, target } => self.take_prerequisite(skill, target.as_ref()),
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

    fn work_in(&mut self, place: &str, branch: Option<&String>) {
        self.place = Some(place.to_owned());
        self.branch = branch.cloned();
    }

    fn contain(&mut self, left: &[LeftProcess]) {
        self.left = left.to_vec();
        self.contain_tried = true;
    }

    fn repeat(&mut self) {
        self.visit.looked &= !std::mem::take(&mut self.withdrawn);
        self.station = Station::Ready;
    }

    fn call_again(&mut self, workflow: &Workflow, model: Option<&String>) {
        let next = call(workflow, &workflow.phases[self.phase], self);
        let is_about_other = lacks_other_model(workflow, &workflow.phases[self.phase], self, &next).is_some();
        if let Some(model) = model {
            let asked = if is_about_other { next.model } else { self.model_asked.clone() };
            self.models_instead.insert(asked.unwrap_or_default(), model.clone());
        }
        if is_about_other {
            self.models_confirmed.insert(self.phase);
        }
        self.station = Station::Ready;
    }

    fn try_again(&mut self, workflow: &Workflow) {
        self.retry.count += 1;
        self.visit.fix_due = workflow.retries.as_ref().is_some_and(|it| it.with.is_some());
        self.station = Station::Ready;
    }

    fn complete_items(&mut self, workflow: &Workflow, id: &str, also: &[String]) {
        if !also.is_empty() {
            self.warn(format!(
                "called complete together with {id}, without an iteration of their own: {}",
                also.join(", ")
            ));
        }
        self.ask_for_unworked(workflow, id, also);
        self.finish_item(id);
        also.iter().for_each(|it| self.finish_item(it));
        self.station = Station::Between;
    }

    fn leave_to_person(&mut self, items: &[String]) {
        self.visit.for_person.clear();
        self.left_to_person = items.to_vec();
        self.add_rows_for_person(items);
        self.warn(format!("Auto-decided: completed with notes — open for a person: {}", items.join("; ")));
        self.leave_again();
    }

    fn begin_to_wait(&mut self, until: Timestamp, why: &str, wait: Wait) {
        self.told = false;
        self.wait = Some(Waiting { until, why: why.to_owned(), wait });
        self.retry.count += u32::from(wait == Wait::Backoff);
        self.station = Station::Ready;
    }

    fn wake(&mut self, at: Timestamp) {
        self.wait =
            self.wait.take().filter(|it| at < it.until && !matches!(it.wait, Wait::Window | Wait::Slot));
    }

    fn pivot(&mut self) {
        // The counters stay: one more iteration without progress opens the breaker for good.
        self.visit.breaker.pivoted = true;
        self.station = Station::Ready;
    }

    fn count_calls(&mut self, start: Timestamp, made: u32) {
        self.calls.start = start;
        self.calls.made = made;
    }

    fn take_command(&mut self, workflow: &Workflow, command: &Command) {
        self.obey(command);
        let is_job = workflow.input.kind == InputKind::Job;
        if is_job && matches!(command, Command::Resume { .. }) {
            // The limit of a system is for one command.
            self.iterations_forgiven = self.iterations_numbered();
            self.iterations_counted = 0;
        }
    }

    fn take_found_check(&mut self, check: &str, command: &str) {
        self.warn(format!("the check \"{check}\" was found in the project: {command}"));
        self.commands.insert(check.to_owned(), command.to_owned());
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
