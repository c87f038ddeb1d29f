//! What the files of a session tell beyond a run's state: when things happened, what each iteration
//! came to, what the breaker did, and one status block for each iteration.
//! It is a fold of the journal like the state itself, so a file that was lost or edited can be
//! written again as it was. Whatever grows with the age of a run is handed out and forgotten, or has
//! a limit.

use super::{block, review};
use loop_base::text::counted;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{
    BreakerState, Call, Command, Effect, Ending, Event, IMPORTED_EPOCH, Judgement, Outcome, PhaseStatus,
    QuestionKind, State, Station, Status, Verdict, Wait,
};
use loop_core::report::Report;
use loop_core::workflow::model::{PhaseId, Workflow};
use std::collections::{BTreeMap, VecDeque};

/// A breaker writes at most three entries an iteration; this holds the whole of any visit that is
/// worth looking into, and keeps the file below 50 KB.
const BREAKER_ENTRIES_KEPT: usize = 200;

/// The format allows no phase more iterations than this.
const ITERATIONS_KEPT: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct Chronicle {
    pub state: State,
    /// The iterations of the last visit to each phase.
    pub visits: BTreeMap<PhaseId, VecDeque<Iteration>>,
    pub breaker: VecDeque<BreakerEntry>,
    pub breaker_opened_at: Option<Timestamp>,
    /// How often the breaker opened in the whole run.
    pub breaker_incidents: u32,
    /// What the last iteration with progress came to, in this visit.
    pub last_progress: BTreeMap<String, Value>,
    pub exit: Option<ExitEntry>,
    /// How often a phase sent the work back, and how often one was judged at all.
    pub rejections: u32,
    pub reviews: u32,
    pub last_review: Option<ReviewEntry>,
    pub paused_at: Option<Timestamp>,
    pub resumed_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// Since when a limit holds the run: the provider's, or the window's.
    pub limited_at: Option<Timestamp>,
    /// Status blocks and reviews that nobody has fetched yet.
    pub fresh: Fresh,
}

/// What is written once and never again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fresh {
    pub blocks: String,
    /// Number and text.
    pub reviews: Vec<(u32, String)>,
}

/// What an iteration came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    pub number: u32,
    pub at: Timestamp,
    pub metrics: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BreakerEntry {
    pub at: Timestamp,
    pub event: &'static str,
    pub from: BreakerState,
    pub to: BreakerState,
    pub reason: String,
}

/// The review that was judged last.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewEntry {
    pub phase: PhaseId,
    /// Of all reviews of the run.
    pub number: u32,
    /// Of this cycle.
    pub attempt: u32,
    pub verdict: String,
    /// Everything that the reviewer reported.
    pub said: BTreeMap<String, Value>,
}

/// Both halves of the exit rule as they were judged last.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitEntry {
    pub at: Timestamp,
    pub phase: PhaseId,
    pub iteration: u32,
    pub judgement: Judgement,
    pub is_signalled: bool,
}

/// A turn that is being judged.
pub(super) struct Turn {
    pub call: Call,
    pub report: Report,
    pub tail: String,
}

impl Chronicle {
    pub fn new(workflow: &Workflow) -> Chronicle {
        Chronicle {
            state: State::new(workflow),
            visits: BTreeMap::new(),
            breaker: VecDeque::new(),
            breaker_opened_at: None,
            breaker_incidents: 0,
            last_progress: BTreeMap::new(),
            exit: None,
            rejections: 0,
            reviews: 0,
            last_review: None,
            paused_at: None,
            resumed_at: None,
            completed_at: None,
            limited_at: None,
            fresh: Fresh::default(),
        }
    }

    /// Takes one fact into account.
    pub fn follow(&mut self, workflow: &Workflow, at: Timestamp, event: &Event) {
        let breaker_before = breaker(workflow, &self.state);
        let word_before = word(&self.state);
        let turn = self.turn(event);
        self.state.apply(workflow, at, event);
        match event {
            Event::Judged(judgement) => {
                let turn = turn.expect("evidence precedes its judgement");
                self.judged(workflow, at, judgement, &turn, breaker_before);
            }
            Event::Entered { phase, .. } => {
                self.visits.insert(*phase, VecDeque::new());
                self.last_progress.clear();
            }
            Event::Closed(Outcome::Completed) => self.completed_at = Some(at),
            _ => (),
        }
        self.note_breaker(workflow, at, event, breaker_before);
        self.note_status(at, word_before);
        self.limited_at = match limit(&self.state) {
            Some(_) => self.limited_at.or(Some(at)),
            None => None,
        };
    }

    /// Returns the turn that this event judges.
    fn turn(&self, event: &Event) -> Option<Turn> {
        match (&self.state.station, event) {
            (Station::Measured(turn, _), Event::Judged(_)) => Some(Turn {
                call: turn.call.clone(),
                report: turn.ended.report.clone(),
                tail: match turn.ended.ending {
                    Ending::Done => turn.ended.tail.clone(),
                    _ => String::new(),
                },
            }),
            _ => None,
        }
    }

    fn judged(
        &mut self,
        workflow: &Workflow,
        at: Timestamp,
        judgement: &Judgement,
        turn: &Turn,
        breaker_before: BreakerState,
    ) {
        let (phase, iteration) = (turn.call.phase, self.state.visit.iteration);
        let values: BTreeMap<String, Value> =
            judgement.metrics.iter().map(|(name, it)| (name.clone(), it.value.clone())).collect();
        if judgement.progress {
            self.last_progress.clone_from(&values);
        }
        let visit = self.visits.entry(phase).or_default();
        visit.push_back(Iteration { number: iteration, at, metrics: values });
        cut(visit, ITERATIONS_KEPT);
        self.exit = Some(ExitEntry {
            at,
            phase,
            iteration,
            judgement: judgement.clone(),
            is_signalled: turn.report.signal.is_some(),
        });
        let was_imported = turn.call.epoch == IMPORTED_EPOCH;
        // A review that another controller told of has a number too: its report may be there.
        let was_told = was_imported && judgement.verdict == Verdict::Reject;
        let has_verdict = judgement.metrics.contains_key("verdict") || was_told;
        if workflow.phases[phase].reject.is_some() && has_verdict {
            self.reviews += 1;
            if !was_imported {
                self.last_review = Some(ReviewEntry {
                    phase,
                    number: self.reviews,
                    attempt: block::attempt(workflow, &self.state, turn).0,
                    verdict: block::verdict(judgement),
                    said: turn.report.metrics.clone(),
                });
                let text = review::text(workflow, &self.state, at, judgement, turn);
                self.fresh.reviews.push((self.reviews, text));
            }
        }
        self.rejections += u32::from(judgement.verdict == Verdict::Reject);
        if !was_imported {
            let opens = breaker(workflow, &self.state) == BreakerState::Open
                && breaker_before != BreakerState::Open
                && judgement.verdict != Verdict::Leave;
            let text = block::text(workflow, &self.state, at, judgement, turn, opens);
            self.fresh.blocks.push_str(&text);
        }
    }

    /// Whether a phase counts as done, and whether a person had to say so.
    pub fn is_done(&self, phase: PhaseId) -> bool {
        match self.state.phases[phase].status {
            PhaseStatus::Completed | PhaseStatus::Skipped | PhaseStatus::Forced => true,
            PhaseStatus::Pending | PhaseStatus::Active => false,
        }
    }

    pub fn is_forced(&self, phase: PhaseId) -> bool {
        self.is_done(phase) && self.state.phases[phase].forced
    }

    fn note_breaker(&mut self, workflow: &Workflow, at: Timestamp, event: &Event, from: BreakerState) {
        let to = breaker(workflow, &self.state);
        let mut note = |event, reason: String| {
            self.breaker.push_back(BreakerEntry { at, event, from, to, reason });
            cut(&mut self.breaker, BREAKER_ENTRIES_KEPT);
        };
        if let Event::Judged(judgement) = event {
            if judgement.progress {
                note("progress", "progress was made".to_owned());
            }
            if let Some(error) = &judgement.error {
                note("error", error.text.lines().next().unwrap_or("").to_owned());
            }
        }
        if from != to {
            note("state_change", breaker_reason(workflow, &self.state, event));
            let opens = to == BreakerState::Open;
            self.breaker_opened_at = opens.then_some(at);
            self.breaker_incidents += u32::from(opens);
        }
    }

    fn note_status(&mut self, at: Timestamp, before: &'static str) {
        let word = word(&self.state);
        if word == before {
            return;
        }
        match word {
            "paused" => self.paused_at = Some(at),
            "running" if before == "paused" => {
                self.resumed_at = Some(at);
                self.paused_at = None;
            }
            _ => self.paused_at = None,
        }
    }
}

/// Returns the word that the format has for where a run stands.
pub(crate) fn word(state: &State) -> &'static str {
    match Status::of(state) {
        Status::Ready | Status::Running if limit(state).is_some() => "paused",
        Status::Ready | Status::Running => "running",
        Status::Waiting | Status::Paused | Status::Stopped => "paused",
        Status::Halted | Status::Capped | Status::Cancelled => "halted",
        Status::Completed => "completed",
    }
}

/// Which limit holds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Provider,
    Window,
}

pub(super) fn limit(state: &State) -> Option<Limit> {
    if state.question().is_some_and(|it| it.kind == QuestionKind::Hourly) {
        return Some(Limit::Window);
    }
    match state.wait.as_ref()?.wait {
        Wait::Provider => Some(Limit::Provider),
        Wait::Window => Some(Limit::Window),
        Wait::Backoff => None,
    }
}

/// Returns the breaker's state. A question that stands for an open breaker is one.
pub(super) fn breaker(workflow: &Workflow, state: &State) -> BreakerState {
    if state.question().is_some_and(|it| it.kind == QuestionKind::Breaker) {
        return BreakerState::Open;
    }
    state.visit.breaker.state(&workflow.phases[state.phase].breaker)
}

/// Returns why the breaker is open.
pub(super) fn open_reason(workflow: &Workflow, state: &State) -> Option<String> {
    let phase = &workflow.phases[state.phase];
    let asked = state.question().filter(|it| it.kind == QuestionKind::Breaker).map(|it| it.text.clone());
    state.visit.breaker.open(&phase.breaker).or(asked)
}

fn breaker_reason(workflow: &Workflow, state: &State, event: &Event) -> String {
    if let Some(reason) = open_reason(workflow, state) {
        return reason;
    }
    match event {
        Event::Judged(judgement) if judgement.progress => "progress was made".to_owned(),
        Event::Judged(_) => {
            format!("no progress in {}", counted(state.visit.breaker.no_progress, "iteration"))
        }
        Event::Entered { phase, .. } => format!("{} entered", workflow.phases[*phase].name),
        _ => "reset by a person".to_owned(),
    }
}

fn cut<T>(list: &mut VecDeque<T>, most: usize) {
    if most < list.len() {
        list.pop_front();
    }
}

/// Whether the files change with this fact.
pub(super) fn is_shown(event: &Event) -> bool {
    match event {
        Event::Opened(_)
        | Event::Judged(_)
        | Event::Entered { .. }
        | Event::Waits { .. }
        | Event::Woke
        | Event::Reset { .. }
        | Event::Granted { .. }
        | Event::Skipped { .. }
        | Event::Held(_)
        | Event::Closed(_)
        | Event::Began(Effect::Work(_) | Effect::Ask(_) | Effect::Finish) => true,
        Event::Commanded(command) => !matches!(command, Command::Guide { .. } | Command::Skip { .. }),
        Event::Ended(ended) => {
            matches!(
                ended.ending,
                Ending::Limited { .. }
                    | Ending::Unreachable { .. }
                    | Ending::NotStarted
                    | Ending::Barred { .. }
            )
        }
        _ => false,
    }
}
