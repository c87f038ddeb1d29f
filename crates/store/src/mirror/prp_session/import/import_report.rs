//! The journal of a session that another controller led: the calls and iterations that its files
//! tell of, as events, so that the run continues like any other. They are marked as not ours, nothing
//! in them counts as measured, and no test that failed before is excused.

use super::super::implementing_phase::implementing_phase;
use super::{ImportedSession, SessionStatus};
use loop_base::time::Timestamp;
use loop_core::engine::{
    Baseline, Call, Effect, Ended, Ending, Event, Evidence, Facts, Failure, Hold, HoldKind, How,
    IMPORTED_EPOCH, Judgement, Opening, Outcome, Question, QuestionKind, Step, Verdict, Wait,
};
use loop_core::report::Report;
use loop_core::workflow::condition::Truth;
use loop_core::workflow::model::{ErrorClass, Next, PhaseId, Workflow};
use std::collections::BTreeMap;

/// Calls beyond the iterations are told one by one up to this many, for the window that they count in.
const CALLS_TOLD: u64 = 200;

impl ImportedSession {
    /// Returns the journal that leads to where the session stands. `base` is the tree that the work
    /// began with, as far as it is known.
    pub fn events(
        &self,
        workflow: &Workflow,
        opening: Opening,
        base: &Facts,
        now: Timestamp,
    ) -> Vec<(Timestamp, Event)> {
        let mut told = ImportedJournal { found: self, workflow, base, events: Vec::new(), call: 0 };
        told.add(self.started_at, Event::Opened(Opening { imported: true, ..opening }));
        let baseline = Baseline { results: Vec::new(), facts: base.clone(), ms: 0, opening: None };
        told.add(self.started_at, Event::Baselined(baseline));
        told.path();
        told.spare_calls();
        told.fit_window();
        for note in &self.notes {
            told.add(now, Event::Noted { text: note.clone() });
        }
        if let Some(until) = self.waits_until {
            let why = "the provider's limit was reached".to_owned();
            told.add(now, Event::Waits { until, why, wait: Wait::Provider });
        }
        match &self.status {
            SessionStatus::Running => (),
            SessionStatus::Paused(reason) => {
                told.add(now, Event::Held(Hold { kind: HoldKind::Paused, reason: reason.clone() }));
            }
            SessionStatus::Capped(reason) => {
                told.add(now, Event::Held(Hold { kind: HoldKind::Capped, reason: reason.clone() }));
            }
            SessionStatus::Halted(reason) => {
                let question = Question {
                    id: 1,
                    kind: QuestionKind::Breaker,
                    text: reason.clone(),
                    options: Vec::new(),
                    about: None,
                    deadline: None,
                };
                told.add(now, Event::Began(Effect::Ask(question)));
            }
            SessionStatus::Completed => {
                told.add(self.last_activity, Event::Began(Effect::Finish));
                told.add(
                    self.last_activity,
                    Event::Finished { trouble: None, shipped: None, commit: None, next: None },
                );
                told.add(self.last_activity, Event::Closed(Outcome::Completed));
            }
        }
        told.events
    }
}

/// The journal as it is being told.
struct ImportedJournal<'a> {
    found: &'a ImportedSession,
    workflow: &'a Workflow,
    base: &'a Facts,
    events: Vec<(Timestamp, Event)>,
    call: u32,
}

impl ImportedJournal<'_> {
    fn add(&mut self, at: Timestamp, event: Event) {
        self.events.push((at, event));
    }

    /// Walks the phases in their order, then back as often as the work was rejected.
    fn path(&mut self) {
        let route = self.workflow.phases.iter().position(|it| it.reject.is_some());
        let mut at = 0;
        if let Some(route) = route.filter(|_| 0 < self.found.rejections) {
            while at != route {
                at = self.complete(at);
            }
            let back = self.workflow.phases[route].reject.as_ref().map_or(0, |it| it.go);
            for turn in 1..=self.found.rejections {
                self.iterate(route, 1, Verdict::Reject, self.found.last_activity);
                self.add(self.found.last_activity, Event::Entered { phase: back, how: How::Rejected });
                at = back;
                if turn < self.found.rejections || self.found.phase == route {
                    self.iterate(back, 1, Verdict::Leave, self.found.last_activity);
                    self.add(self.found.last_activity, Event::Entered { phase: route, how: How::Passed });
                    at = route;
                }
            }
        }
        while at != self.found.phase {
            at = self.complete(at);
        }
        match self.found.status {
            SessionStatus::Completed => {
                let past = self.found.phases.get(&at);
                self.visit(at, past.map_or(1, |it| it.iterations.max(1)), true, self.found.last_activity);
            }
            SessionStatus::Running
            | SessionStatus::Paused(_)
            | SessionStatus::Halted(_)
            | SessionStatus::Capped(_) => {
                self.visit(at, self.found.iteration, false, self.found.last_activity);
            }
        }
    }

    /// Tells of a phase that was left, and enters the one after it.
    fn complete(&mut self, phase: PhaseId) -> PhaseId {
        let past = self.found.phases.get(&phase).cloned();
        let ended = past.as_ref().and_then(|it| it.completed_at).unwrap_or(self.found.last_activity);
        let is_skipped = past.as_ref().is_some_and(|it| it.is_skipped);
        self.visit(phase, past.map_or(1, |it| it.iterations), !is_skipped, ended);
        let next = match self.workflow.phases[phase].next {
            Next::Phase(next) => next,
            Next::Done => phase + 1,
        };
        if is_skipped {
            let why = "as reported by the files of another controller".to_owned();
            self.add(ended, Event::Skipped { why });
        }
        let how = if is_skipped { How::Skipped } else { How::Passed };
        self.add(ended, Event::Entered { phase: next, how });
        next
    }

    fn visit(&mut self, phase: PhaseId, iterations: u32, leaves: bool, at: Timestamp) {
        for iteration in 1..=iterations {
            let is_last = iteration == iterations;
            let verdict = if is_last && leaves { Verdict::Leave } else { Verdict::Again };
            self.iterate(phase, iteration, verdict, at);
            if !(is_last && leaves) {
                self.add(at, Event::Repeated);
            }
        }
    }

    fn iterate(&mut self, phase: PhaseId, iteration: u32, verdict: Verdict, at: Timestamp) {
        let found = self.found;
        let is_here = phase == found.phase && verdict == Verdict::Again;
        let before_end = found.iteration.saturating_sub(iteration);
        let progress = !is_here || found.breaker.no_progress <= before_end;
        let error = match &found.breaker.hash {
            Some(hash) if is_here && before_end < found.breaker.same_error => Some(Failure {
                class: ErrorClass::Other,
                signature: hash.clone(),
                text: self.error(phase, iteration).map_or_else(String::new, |it| it.text),
            }),
            _ if is_here && before_end == 0 => None,
            _ => self.error(phase, iteration),
        };
        let leaves = verdict == Verdict::Leave;
        let metrics = if is_here { found.metrics.clone() } else { BTreeMap::new() };
        let number = self.begin(phase, iteration, at);
        self.end(number, Ending::Done, at);
        let evidence = Evidence { facts: self.base.clone(), ..Evidence::default() };
        self.add(at, Event::Measured(Box::new(evidence)));
        let judgement = Judgement {
            phase: Some(phase),
            verdict,
            exit: if leaves { Truth::True } else { Truth::Unknown },
            signal: leaves,
            why: Vec::new(),
            lacks: None,
            progress,
            options: Vec::new(),
            failed: false,
            error,
            metrics,
            green_runs: 0,
            notes: vec!["from the files of another controller".to_owned()],
        };
        self.add(at, Event::Judged(Box::new(judgement)));
    }

    fn error(&self, phase: PhaseId, iteration: u32) -> Option<Failure> {
        self.found.errors.iter().find(|it| it.0 == phase && it.1 == iteration).map(|it| it.2.clone())
    }

    fn begin(&mut self, phase: PhaseId, iteration: u32, at: Timestamp) -> u32 {
        self.call += 1;
        let is_green = implementing_phase(self.workflow) == Some(phase);
        let call = Call {
            number: self.call,
            attempt: 1,
            phase,
            iteration,
            step: Step::Main,
            item: None,
            model: self.found.green_model.clone().filter(|_| is_green),
            other_model: None,
            epoch: IMPORTED_EPOCH,
            unstarted: None,
        };
        self.add(at, Event::Began(Effect::Work(call)));
        self.call
    }

    fn end(&mut self, call: u32, ending: Ending, at: Timestamp) {
        let report = Report { found: true, ..Report::default() };
        self.add(at, Event::Ended(Box::new(Ended::plain(call, ending, report))));
    }

    /// Calls that were no iterations: verifiers, interrupted ones.
    fn spare_calls(&mut self) {
        if matches!(self.found.status, SessionStatus::Completed) {
            return;
        }
        let spare = self.found.calls.saturating_sub(u64::from(self.call));
        let told = spare.min(CALLS_TOLD);
        self.call += u32::try_from(spare - told).unwrap_or(0);
        for _ in 0..told {
            let number = self.begin(self.found.phase, self.found.iteration + 1, self.found.last_activity);
            self.end(number, Ending::Interrupted, self.found.last_activity);
        }
    }

    /// Moves the beginnings of calls so that as many fall into the window as the files say.
    fn fit_window(&mut self) {
        let Some(every) = self.workflow.limits.window.as_ref().map(|it| it.every) else { return };
        let (start, made) = self.found.window.unwrap_or((Timestamp(i64::MAX), 0));
        // A window that begins there is over both when this one begins and when the call did.
        let before = |at: Timestamp| Timestamp(start.min(at).0.saturating_sub_unsigned(every));
        let is_call = |it: &&mut (Timestamp, Event)| matches!(it.1, Event::Began(Effect::Work(_)));
        for (index, event) in self.events.iter_mut().rev().filter(is_call).enumerate() {
            event.0 = if (index as u64) < made { start } else { before(event.0) };
        }
    }
}
