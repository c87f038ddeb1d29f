//! What a person sees of a run that continues: where it stands, how far it has come, what it has used,
//! and what is happening at this moment. It is fed with facts and states and asked for lines at a
//! given moment and width; it reads no clock, so every countdown is right after a machine slept.

use super::bar::bar;
use super::fit::{Ink, PaintedLine, Part, fit};
use crate::world::agent_output::live_output::Observed;
use loop_base::text::sanitise;
use loop_base::time::{Timestamp, length};
use loop_core::agents::token_words;
use loop_core::engine::{CheckResult, Command, Decision, Effect, Event, State, Station, Tests, Wish, decide};
use loop_core::workflow::model::Workflow;
use std::collections::VecDeque;

/// Three steps before the present one: enough to see where it is going, and a terminal of 24 rows keeps
/// its room.
const RECENT: usize = 4;

/// What is known of a run, as far as it is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunView {
    /// When whoever drives it began.
    began: Option<Timestamp>,
    /// The call that was begun last.
    call: Option<(u32, Timestamp)>,
    /// Passed and failed, as last measured.
    tests: Option<(u32, u32)>,
    /// What the agent does, in its own words.
    activity: Option<String>,
    /// The last lines of what it did.
    recent: VecDeque<String>,
    /// What the call has used up so far, in words.
    call_used: Option<String>,
    shown: Option<ShownStatus>,
}

#[derive(Clone, Debug)]
struct ShownStatus {
    phase: String,
    /// Which of how many.
    place: (usize, usize),
    item: Option<String>,
    iteration: u32,
    most: u32,
    /// Weight and tenths done of each phase.
    segments: Vec<(u32, u32)>,
    percent: u32,
    calls: u32,
    calls_limit: Option<u32>,
    cost: Option<String>,
    tokens: u64,
    doing: Doing,
    /// What a person asked for and has not got yet.
    wish: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum Doing {
    /// An agent works.
    Call {
        number: u32,
        since: Timestamp,
    },
    Since(String, Timestamp),
    Until(String, Timestamp),
    StatFingerprint(String),
}

impl RunView {
    /// Takes facts and the state that they led to into account.
    pub(crate) fn follow(&mut self, workflow: &Workflow, state: &State, facts: &[(Timestamp, Event)]) {
        for (at, event) in facts {
            self.fact(*at, event);
        }
        self.shown = Some(self.stand(workflow, state));
    }

    /// Says when the run was taken, where no fact does.
    pub(crate) fn begin(&mut self, at: Timestamp) {
        self.began.get_or_insert(at);
    }

    /// Says what the agent is doing; it ends with its call.
    pub(crate) fn act(&mut self, seen: &Observed<'_>) {
        let one_line = |text: &str| sanitise(text).split_whitespace().collect::<Vec<_>>().join(" ");
        match seen {
            Observed::Note(text) => self.activity = Some(one_line(text)),
            Observed::Call(progress) => {
                if let Some(doing) = &progress.doing {
                    self.activity = Some(one_line(doing));
                }
                self.call_used = progress.usage.and_then(|it| token_words(it.tokens));
                self.recent.extend(progress.lines.iter().map(|it| one_line(it)));
                let old = self.recent.len().saturating_sub(RECENT);
                self.recent.drain(..old);
            }
        }
    }

    /// What was seen of a call ends with it.
    fn forget_call(&mut self) {
        self.activity = None;
        self.call_used = None;
        self.recent.clear();
    }

    fn fact(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Opened(_) | Event::Commanded(Command::Resume { .. }) => self.began = Some(at),
            Event::Began(Effect::Work(call)) => {
                self.call = Some((call.number, at));
                self.forget_call();
            }
            Event::Ended(_) => self.forget_call(),
            Event::Baselined(baseline) => self.count(baseline.results.iter()),
            Event::Measured(evidence) => self.count(evidence.results.iter()),
            // The state says everything else.
            Event::Began(
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
                | Effect::Sleep { .. }
                | Effect::Ask(_)
                | Effect::Tell
                | Effect::Finish,
            )
            | Event::Commanded(_)
            | Event::Owned { .. }
            | Event::Joined(_)
            | Event::Placed { .. }
            | Event::Listed(_)
            | Event::Contained { .. }
            | Event::Judged(_)
            | Event::StepTaken(_)
            | Event::Proved(_)
            | Event::Waived(_)
            | Event::Accepted { .. }
            | Event::Prepared { .. }
            | Event::Repeated
            | Event::Entered { .. }
            | Event::Skipped { .. }
            | Event::Settled { .. }
            | Event::Supplied { .. }
            | Event::ItemDone { .. }
            | Event::LeftToPerson { .. }
            | Event::Waits { .. }
            | Event::Woke
            | Event::Told { .. }
            | Event::Expired { .. }
            | Event::Reset { .. }
            | Event::Pivoted
            | Event::Approved { .. }
            | Event::Voided { .. }
            | Event::Counted { .. }
            | Event::Granted { .. }
            | Event::Retried
            | Event::CalledAgain { .. }
            | Event::Held(_)
            | Event::Reloaded { .. }
            | Event::Refused { .. }
            | Event::Detected { .. }
            | Event::LandingStep(_)
            | Event::Landed(_)
            | Event::Looked(_)
            | Event::Heard { .. }
            | Event::Known { .. }
            | Event::Finished { .. }
            | Event::Noted { .. }
            | Event::Closed(_) => (),
        }
    }

    fn count<'a>(&mut self, results: impl Iterator<Item = &'a CheckResult>) {
        let counted: Vec<_> = results.filter_map(|it| it.counts.as_ref()).collect();
        if !counted.is_empty() {
            let sum = |of: fn(&Tests) -> u32| counted.iter().map(|it| of(it)).sum();
            self.tests = Some((sum(|it| it.passing), sum(|it| it.failing)));
        }
    }

    fn stand(&self, workflow: &Workflow, state: &State) -> ShownStatus {
        let phase = &workflow.phases[state.phase];
        let segments = workflow.phases.iter().enumerate();
        let segments = segments.map(|(id, phase)| (phase.weight, state.phase_tenths(workflow, id)));
        let most = phase.iterations.unwrap_or(workflow.limits.phase_iterations);
        let most = match state.iterations_limit(workflow) {
            Some(limit) if phase.counted => most.min(limit),
            Some(_) | None => most,
        };
        // Where every item has a visit of its own, the iterations of the run say more.
        let before = match state.iterations_limit(workflow) {
            Some(_) if phase.counted && phase.each.is_some() => state.iterations_counted,
            Some(_) | None => state.visit.iteration,
        };
        ShownStatus {
            phase: phase.name.clone(),
            place: (state.phase + 1, workflow.phases.len()),
            item: state.item.as_ref().map(|it| sanitise(it.name.lines().next().unwrap_or_default())),
            iteration: match state.station {
                Station::Judged(_)
                | Station::Leaving { .. }
                | Station::Finishing
                | Station::Finished
                | Station::Closed(_) => before.max(1),
                Station::Ready
                | Station::Working(_)
                | Station::Reported(_)
                | Station::Measured(..)
                | Station::Between
                | Station::Waiting { .. } => before + 1,
            },
            most,
            segments: segments.collect(),
            percent: state.progress_percent(workflow),
            calls: state.calls.made,
            calls_limit: workflow.limits.window.as_ref().map(|it| it.calls),
            cost: state.spent.words_if_reported(),
            tokens: state.spent.tokens.total(),
            doing: self.doing(workflow, state),
            wish: state.wish.as_ref().map(|it| match it {
                Wish::Stop => "stops after this iteration",
                Wish::Pause { .. } => "pausing",
                Wish::Cancel => "cancelling",
            }),
        }
    }

    fn doing(&self, workflow: &Workflow, state: &State) -> Doing {
        let phase = &workflow.phases[state.phase];
        match &state.station {
            Station::Working(call) => {
                let since = self.call.filter(|it| it.0 == call.number).map(|it| it.1);
                Doing::Call { number: call.number, since: since.unwrap_or(state.updated_at) }
            }
            Station::Reported(_) => {
                let has_command = |name: &String| {
                    state.commands.contains_key(name)
                        || workflow.checks.get(name).is_some_and(|it| it.run.is_some())
                };
                let names = phase.checks.iter().filter(|it| has_command(it));
                let names: Vec<&str> = names.map(String::as_str).collect();
                let text = match names.as_slice() {
                    [] => "looking at the tree".to_owned(),
                    names => format!("checking: {}", names.join(", ")),
                };
                Doing::Since(text, state.updated_at)
            }
            Station::Waiting { question, answer: None } => match question.deadline {
                Some(deadline) => Doing::Until("the default answer applies".to_owned(), deadline),
                None => Doing::StatFingerprint("waiting for an answer".to_owned()),
            },
            Station::Ready => match &state.wait {
                Some(wait) => Doing::Until(sanitise(&wait.why), wait.until),
                None if state.baseline.is_none() => Doing::Since(
                    "running every check once before the first call".to_owned(),
                    state.updated_at,
                ),
                None => Doing::StatFingerprint("the next call".to_owned()),
            },
            Station::Waiting { .. }
            | Station::Measured(..)
            | Station::Judged(_)
            | Station::Between
            | Station::Leaving { .. } => match decide(workflow, state, state.updated_at) {
                Decision::Perform(Effect::Prove(step)) => {
                    Doing::Since(format!("proof: {}", step.words()), state.updated_at)
                }
                Decision::Perform(_) | Decision::Record(_) | Decision::Rest(_) => {
                    Doing::StatFingerprint("deciding what comes next".to_owned())
                }
            },
            Station::Finishing | Station::Finished => Doing::StatFingerprint("finishing".to_owned()),
            Station::Closed(_) => Doing::StatFingerprint("done".to_owned()),
        }
    }

    /// Returns the lines at a moment, none wider than `width`. `spinner` shows that somebody is there.
    pub(crate) fn lines(&self, now: Timestamp, spinner: &str, width: usize) -> Vec<PaintedLine> {
        let Some(shown) = &self.shown else { return Vec::new() };
        // The cursor rests on the first cell, which therefore says nothing.
        let inside = width.saturating_sub(3);
        let mut first = PaintedLine::default();
        first.push(Ink::Plain, " ");
        first.push(Ink::Good, format!("{spinner} "));
        first.extend(fit(&self.whereabouts(shown, now), inside));
        let mut second = PaintedLine::default();
        second.push(Ink::Plain, "   ");
        let cells = (width / 3).clamp(8, 40);
        for (text, ink) in bar(&shown.segments, shown.percent, cells) {
            second.push(ink, text);
        }
        second.push(Ink::Plain, " ");
        let left = inside.saturating_sub(cells + 1);
        second.extend(fit(&used(shown), left));
        let mut third = PaintedLine::default();
        third.push(Ink::Plain, "   ");
        third.extend(self.now(shown, now).cut(inside));
        let mut lines = vec![first.cut(width), second.cut(width), third.cut(width)];
        if let Doing::Call { .. } = shown.doing {
            // The last one is what it is doing, which the line above says.
            let earlier = self.recent.len().saturating_sub(1);
            lines.extend(self.recent.iter().take(earlier).map(|it| {
                let mut line = PaintedLine::default();
                line.push(Ink::Dim, format!("     {it}"));
                line.cut(width)
            }));
        }
        lines
    }

    /// Returns what is waited for, where a question is open.
    pub(crate) fn pending(&self, now: Timestamp, width: usize) -> Option<PaintedLine> {
        match &self.shown.as_ref()?.doing {
            Doing::Until(what, until) => {
                let mut line = PaintedLine::default();
                line.push(Ink::Dim, format!("  {} until {what}", left(*until, now)));
                Some(line.cut(width))
            }
            Doing::Call { .. } | Doing::Since(..) | Doing::StatFingerprint(_) => None,
        }
    }

    fn whereabouts(&self, shown: &ShownStatus, now: Timestamp) -> Vec<Part> {
        let (at, of) = shown.place;
        let name = if of < 2 { shown.phase.clone() } else { format!("{} {at}/{of}", shown.phase) };
        let mut parts = vec![Part::new(0, Ink::Bold, name).or(shown.phase.clone())];
        if let Some(item) = &shown.item {
            parts.push(Part::new(4, Ink::Plain, item.clone()).or(super::fit::head(item, 12)));
        }
        let (iteration, most) = (shown.iteration, shown.most);
        parts.push(
            Part::new(1, Ink::Plain, format!("iteration {iteration}/{most}"))
                .or(format!("{iteration}/{most}")),
        );
        if let Some((passed, failed)) = self.tests {
            let ink = if failed == 0 { Ink::Good } else { Ink::Bad };
            let long = if failed == 0 {
                format!("{passed} passed")
            } else {
                format!("{passed} passed, {failed} failed")
            };
            parts.push(Part::new(2, ink, long).or(format!("{passed}/{} ok", passed + failed)));
        }
        if let Some(began) = self.began {
            parts.push(Part::new(3, Ink::Dim, length(now.since(began))));
        }
        parts
    }

    fn now(&self, shown: &ShownStatus, now: Timestamp) -> PaintedLine {
        let mut line = PaintedLine::default();
        if let Some(wish) = shown.wish {
            line.push(Ink::Bold, wish);
            line.push(Ink::Dim, " · ");
        }
        match &shown.doing {
            Doing::Call { number, since } => {
                let used = self.call_used.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
                line.push(Ink::Dim, format!("call {number}, {}{used}", length(now.since(*since))));
                if let Some(activity) = &self.activity {
                    line.push(Ink::Dim, " · ");
                    line.push(Ink::Plain, activity.clone());
                }
            }
            Doing::Since(what, since) => {
                line.push(Ink::Plain, what.clone());
                line.push(Ink::Dim, format!(", {}", length(now.since(*since))));
            }
            Doing::Until(what, until) => {
                line.push(Ink::Bold, format!("waiting {}", left(*until, now)));
                line.push(Ink::Dim, " · ");
                line.push(Ink::Plain, what.clone());
            }
            Doing::StatFingerprint(what) => line.push(Ink::Plain, what.clone()),
        }
        line
    }
}

/// A second is counted as long as any of it is left.
fn left(until: Timestamp, now: Timestamp) -> String {
    length(until.since(now).saturating_add(999))
}

/// What has been used of what there is.
fn used(shown: &ShownStatus) -> Vec<Part> {
    let mut parts = vec![Part::new(0, Ink::Plain, format!("{} %", shown.percent))];
    parts.push(match shown.calls_limit {
        Some(limit) => Part::new(1, Ink::Plain, format!("calls {}/{limit}", shown.calls))
            .or(format!("{}/{limit}", shown.calls)),
        None => Part::new(1, Ink::Plain, format!("calls {}", shown.calls)),
    });
    if let Some(cost) = &shown.cost {
        parts.push(Part::new(2, Ink::Plain, cost.clone()));
    }
    if shown.tokens != 0 {
        parts.push(Part::new(3, Ink::Plain, format!("{} tokens", count(shown.tokens))));
    }
    parts
}

fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::RunView;
    use loop_base::time::Timestamp;
    use loop_core::engine::{Event, Opening, State, Wait};
    use loop_core::workflow::resolve::{Layers, resolve};

    #[test]
    fn a_countdown_follows_the_clock_and_not_the_looks() {
        let layers = Layers { preset: Some("tdd".to_owned()), ..Layers::default() };
        let workflow = resolve(&layers, &|path| Err(path.display().to_string())).expect("the preset");
        let mut state = State::new(&workflow);
        let opened = Event::Opened(Opening { input: "x".to_owned(), ..Opening::default() });
        state.apply(&workflow, Timestamp(0), &opened);
        state.calls.made = 41;
        let until = Timestamp(3_600_000);
        let waits = Event::Waits { until, why: "no calls left".to_owned(), wait: Wait::Window };
        state.apply(&workflow, Timestamp(0), &waits);
        let mut view = RunView::default();
        view.follow(&workflow, &state, &[(Timestamp(0), opened)]);
        let at = |seconds: i64, width: usize| -> Vec<String> {
            let lines = view.lines(Timestamp(seconds * 1000), "*", width);
            assert!(lines.iter().all(|it| it.width() <= width), "{lines:?}");
            lines.iter().map(|it| it.painted(false)).collect()
        };
        assert_eq!(
            at(5, 80),
            [
                " * RED 1/5 · iteration 1/100 · 5s",
                "   ── ────────── ─── ──── ─── 0 % · calls 41/100",
                "   waiting 59m 55s · no calls left"
            ]
        );
        // The machine slept for half an hour between two looks.
        assert_eq!(at(1805, 80)[2], "   waiting 29m 55s · no calls left");
        assert_eq!(
            at(5, 30),
            [" * RED 1/5 · 1/100 · 5s", "   ────────── 0 % · 41/100", "   waiting 59m 55s · no calls…"]
        );
        for width in 0..60 {
            at(7, width);
        }
    }
}
