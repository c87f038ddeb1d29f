//! What a run came to over time, beyond where it stands: when it paused and went on, what each
//! iteration measured, what the breaker did, which reviews were given. It is a fold of the journal
//! around [`State`]'s own, and the only one: reports and mirrors read it, nothing decides by it.
//!
//! Everything kept here has a limit. What would grow with the run's age, one text for each
//! iteration, is returned by [`History::follow`] to whoever writes it, and forgotten.

use crate::engine::journal::calls::ending::Ending;
use crate::engine::journal::effect::IMPORTED_EPOCH;
use crate::engine::journal::event::Event;
use crate::engine::journal::hold::{Outcome, Wait};
use crate::engine::journal::measured::judgement::{Judgement, Verdict};
use crate::engine::journal::people::question::QuestionKind;
use crate::engine::state::parts::breaker::BreakerState;
use crate::engine::state::parts::station::Station;
use crate::engine::state::run_state::State;
use crate::engine::state::views::judged_turn::JudgedTurn;
use crate::engine::state::views::moment::Moment;
use crate::engine::state::views::skill_history::SkillHistory;
use crate::engine::state::views::status::Status;
use crate::facts::FactName;
use crate::workflow::model::{PhaseId, Workflow};
use loop_base::text::counted;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use std::collections::{BTreeMap, VecDeque};

/// A breaker writes at most three entries an iteration; this holds the whole of any visit that is
/// worth looking into.
const BREAKER_ENTRIES_KEPT: usize = 200;

/// Far more iterations than a visit to a phase has by any preset.
const ITERATIONS_KEPT: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct History {
    pub state: State,
    /// The iterations of the last visit to each phase.
    pub visits: BTreeMap<PhaseId, VecDeque<IterationEntry>>,
    pub breaker: VecDeque<BreakerEntry>,
    pub breaker_opened_at: Option<Timestamp>,
    /// How often the breaker opened in the whole run.
    pub breaker_incidents: u32,
    /// What the last iteration with progress came to, in this visit.
    pub last_progress: BTreeMap<String, Value>,
    pub exit: Option<ExitEntry>,
    /// How many reviews were given in the whole run.
    pub reviews: u32,
    pub last_review: Option<ReviewEntry>,
    pub paused_at: Option<Timestamp>,
    pub resumed_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// Since when a limit holds the run: the provider's, or the window's.
    pub limited_at: Option<Timestamp>,
    /// When the phase was entered that the run is in.
    pub entered_at: Timestamp,
    /// When a check was run last.
    pub verified_at: Option<Timestamp>,
    pub skills: SkillHistory,
}

/// What an iteration came to.
#[derive(Clone, Debug, PartialEq)]
pub struct IterationEntry {
    pub number: u32,
    pub at: Timestamp,
    pub metrics: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BreakerEntry {
    pub at: Timestamp,
    pub what: BreakerChange,
    pub from: BreakerState,
    pub to: BreakerState,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerChange {
    Progress,
    Error,
    State,
}

/// The review that was judged last.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewEntry {
    pub phase: PhaseId,
    /// Of all reviews of the run.
    pub number: u32,
    /// Of this cycle.
    pub attempt: u32,
    /// The reviewer's own word.
    pub verdict: Option<Value>,
    /// Everything that the reviewer reported.
    pub said: BTreeMap<String, Value>,
}

/// The condition and the signal of the exit rule as they were judged last.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitEntry {
    pub at: Timestamp,
    pub phase: PhaseId,
    pub iteration: u32,
    pub judgement: Judgement,
    pub is_signalled: bool,
}

impl History {
    pub fn new(workflow: &Workflow) -> History {
        History {
            state: State::new(workflow),
            visits: BTreeMap::new(),
            breaker: VecDeque::new(),
            breaker_opened_at: None,
            breaker_incidents: 0,
            last_progress: BTreeMap::new(),
            exit: None,
            reviews: 0,
            last_review: None,
            paused_at: None,
            resumed_at: None,
            completed_at: None,
            limited_at: None,
            entered_at: Timestamp::default(),
            verified_at: None,
            skills: SkillHistory::default(),
        }
    }

    /// Takes one fact into account. Returns the iteration that it judged, unless another controller
    /// had made it; [`History::state`] is the state after it.
    pub fn follow(&mut self, workflow: &Workflow, at: Timestamp, event: &Event) -> Option<JudgedTurn> {
        let breaker_before = breaker(workflow, &self.state);
        let activity_before = Activity::of(&self.state);
        let mut turn = self.turn(event);
        self.state.apply(workflow, at, event);
        if let Some(turn) = &mut turn {
            self.note_turn(workflow, at, turn, breaker_before);
        }
        match event {
            Event::Opened(_) => self.entered_at = at,
            Event::Entered { phase, .. } => {
                self.entered_at = at;
                self.visits.insert(*phase, VecDeque::new());
                self.last_progress.clear();
            }
            Event::Measured(evidence) if !evidence.results.is_empty() => self.verified_at = Some(at),
            Event::Closed(Outcome::Completed) => self.completed_at = Some(at),
            _ => (),
        }
        self.note_breaker(workflow, at, event, breaker_before);
        self.note_activity(at, activity_before);
        self.limited_at = match limit(&self.state) {
            Some(_) => self.limited_at.or(Some(at)),
            None => None,
        };
        let turn = turn.filter(|it| it.call.epoch != IMPORTED_EPOCH);
        self.skills.follow(workflow, &self.state, at, event, turn.as_ref());
        turn
    }

    /// Returns what a log of the run tells of the fact that was taken into account last, with the iteration that it
    /// judged. Most facts are nothing to tell.
    pub fn moment<'a>(&'a self, event: &'a Event, turn: Option<&'a JudgedTurn>) -> Option<Moment<'a>> {
        match turn {
            Some(turn) => Moment::of_turn(turn),
            None => Moment::of(&self.state, event),
        }
    }

    /// Returns the turn that this event judges.
    fn turn(&self, event: &Event) -> Option<JudgedTurn> {
        let Event::Judged(judgement) = event else { return None };
        let Station::Measured(turn, _) = &self.state.station else {
            panic!("evidence precedes its judgement");
        };
        Some(JudgedTurn {
            call: turn.call.clone(),
            report: turn.ended.report.clone(),
            tail: if turn.ended.ending == Ending::Done { turn.ended.tail.clone() } else { String::new() },
            judgement: (**judgement).clone(),
            opens_breaker: false,
            review: None,
        })
    }

    fn note_turn(
        &mut self,
        workflow: &Workflow,
        at: Timestamp,
        turn: &mut JudgedTurn,
        breaker_before: BreakerState,
    ) {
        let judgement = &turn.judgement;
        let (phase, iteration) = (turn.call.phase, self.state.visit.iteration);
        let mut values: BTreeMap<String, Value> =
            judgement.metrics.iter().map(|(name, it)| (name.clone(), it.value.clone())).collect();
        // What the agent says of files counts only where nobody counted them.
        if let Some(counted) = self.state.seen.changed.as_ref().map(|it| it.call) {
            let counts = [counted.created, counted.modified, counted.deleted];
            for (name, count) in ["files_created", "files_modified", "files_deleted"].iter().zip(counts) {
                values.entry((*name).to_owned()).and_modify(|it| *it = count.into());
            }
        }
        if judgement.progress {
            self.last_progress.clone_from(&values);
        }
        let visit = self.visits.entry(phase).or_default();
        visit.push_back(IterationEntry { number: iteration, at, metrics: values });
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
        let has_verdict = judgement.metrics.contains_key(FactName::Verdict.name()) || was_told;
        if workflow.phases[phase].reject.is_some() && has_verdict {
            self.reviews += 1;
            turn.review = Some(self.reviews);
            if !was_imported {
                self.last_review = Some(ReviewEntry {
                    phase,
                    number: self.reviews,
                    attempt: review_attempt(workflow, &self.state, phase).0,
                    verdict: turn.verdict().cloned(),
                    said: turn.report.metrics.clone(),
                });
            }
        }
        turn.opens_breaker = breaker(workflow, &self.state) == BreakerState::Open
            && breaker_before != BreakerState::Open
            && judgement.verdict != Verdict::Leave;
    }

    fn note_breaker(&mut self, workflow: &Workflow, at: Timestamp, event: &Event, from: BreakerState) {
        let to = breaker(workflow, &self.state);
        let mut note = |what, reason: String| {
            self.breaker.push_back(BreakerEntry { at, what, from, to, reason });
            cut(&mut self.breaker, BREAKER_ENTRIES_KEPT);
        };
        if let Event::Judged(judgement) = event {
            if judgement.progress {
                note(BreakerChange::Progress, "progress was made".to_owned());
            }
            if let Some(error) = &judgement.error {
                note(BreakerChange::Error, error.text.lines().next().unwrap_or("").to_owned());
            }
        }
        if from != to {
            note(BreakerChange::State, breaker_reason(workflow, &self.state, event));
            let opens = to == BreakerState::Open;
            self.breaker_opened_at = opens.then_some(at);
            self.breaker_incidents += u32::from(opens);
        }
    }

    fn note_activity(&mut self, at: Timestamp, before: Activity) {
        let activity = Activity::of(&self.state);
        if activity == before {
            return;
        }
        match activity {
            Activity::Paused => self.paused_at = Some(at),
            Activity::Running if before == Activity::Paused => {
                self.resumed_at = Some(at);
                self.paused_at = None;
            }
            Activity::Running | Activity::Halted | Activity::Completed => self.paused_at = None,
        }
    }
}

/// Whether a run moves, coarser than its [`Status`]: a limit that holds it counts as a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Running,
    Paused,
    Halted,
    Completed,
}

impl Activity {
    pub fn of(state: &State) -> Activity {
        match Status::of(state) {
            Status::Ready | Status::Running if limit(state).is_some() => Activity::Paused,
            Status::Ready | Status::Running => Activity::Running,
            Status::Waiting | Status::Paused | Status::Stopped => Activity::Paused,
            Status::Halted | Status::Capped | Status::Cancelled => Activity::Halted,
            Status::Completed => Activity::Completed,
        }
    }
}

/// Which limit holds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryLimit {
    Provider,
    Window,
}

/// Returns the limit that holds a run.
pub fn limit(state: &State) -> Option<HistoryLimit> {
    if state.question().is_some_and(|it| it.kind == QuestionKind::Hourly) {
        return Some(HistoryLimit::Window);
    }
    match state.wait.as_ref()?.wait {
        Wait::Provider => Some(HistoryLimit::Provider),
        Wait::Window => Some(HistoryLimit::Window),
        Wait::Backoff | Wait::Slot => None,
    }
}

/// Returns the breaker's state. A question that stands for an open breaker is one.
pub fn breaker(workflow: &Workflow, state: &State) -> BreakerState {
    if state.question().is_some_and(|it| it.kind == QuestionKind::Breaker) {
        return BreakerState::Open;
    }
    state.visit.breaker.state(&workflow.phases[state.phase].breaker)
}

/// Returns why the breaker is open.
pub fn open_reason(workflow: &Workflow, state: &State) -> Option<String> {
    let phase = &workflow.phases[state.phase];
    let asked = state.question().filter(|it| it.kind == QuestionKind::Breaker).map(|it| it.text.clone());
    state.visit.breaker.open(&phase.breaker).or(asked)
}

/// Returns which attempt of this cycle a review by this phase is, and how many there are.
pub fn review_attempt(workflow: &Workflow, state: &State, phase: PhaseId) -> (u32, u32) {
    let taken = state.rejections.get(&phase).copied().unwrap_or(0);
    let most = workflow.phases[phase].reject.as_ref().map_or(1, |it| it.at_most + 1);
    (taken + 1, most)
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
