//! What to do next, given everything we know. The one place where policy lives.
//!
//! The stations of an iteration are visited in order: ready, working, reported, measured, judged,
//! then leaving or ready again. Whatever a person wants comes first; then limits, then the breaker,
//! then work. The ways out of a phase are in `route.rs`, answers in `answer_outcome.rs`.

use super::answer_outcome::answered;
use super::ask::{ask, ask_among};
use super::landing::{land, waits_for_merge};
use super::limits::{reached, window_spent};
use super::route::{between, leave, pass_over_body, reject};
use crate::engine::journal::calls::ending::How;
use crate::engine::journal::closing::landing::Landing;
use crate::engine::journal::decision::{Decision, Rest};
use crate::engine::journal::effect::{Effect, Step};
use crate::engine::journal::event::Event;
use crate::engine::journal::hold::{Hold, HoldKind, Outcome, Wait};
use crate::engine::journal::measured::judgement::{Judgement, Verdict};
use crate::engine::journal::people::approval::Void;
use crate::engine::journal::people::question::{CheckpointKind, Question, QuestionKind};
use crate::engine::judging::judge;
use crate::engine::judging::metrics::known;
use crate::engine::state::parts::retry;
use crate::engine::state::parts::station::{Leave, Station, Waiting, Wish};
use crate::engine::state::run_state::State;
use crate::engine::state::views::next_call::{call, is_done_with_skills, lacks_other_model, measure};
use crate::facts::FactName;
use crate::workflow::model::{Phase, Window, WindowThen, WorkPlace, Workflow};
use loop_base::time::Timestamp;
use loop_base::value::Value;

/// Tries in a row to start one call. A controller that dies between intent and start leaves one; so
/// many mean that the call cannot be started at all.
const VOIDS_MOST: u32 = 8;

/// Calls in a row that were lost and do not count. Each may have worked for hours, and so many mean that something
/// here ends every one of them.
const LOST_MOST: u32 = 5;

/// Answers the question that the whole program exists for: what should happen now?
pub fn decide(workflow: &Workflow, state: &State, now: Timestamp) -> Decision {
    if let Some(decision) = wished(workflow, state) {
        return decision;
    }
    let phase = &workflow.phases[state.phase];
    match &state.station {
        Station::Ready => ready(workflow, phase, state, now),
        Station::Working(call) => Decision::Perform(Effect::Collect(call.clone())),
        Station::Reported(_) if !state.left.is_empty() => contain(state),
        Station::Reported(turn) => Decision::Perform(measure(workflow, phase, state, &turn.call)),
        Station::Measured(turn, evidence) => {
            Decision::Record(Event::Judged(Box::new(judge::judge(workflow, state, turn, evidence))))
        }
        Station::Judged(judgement) => follow(workflow, phase, state, judgement, now),
        Station::Between => between(workflow, state, now),
        Station::Leaving { how } => leave(workflow, state, *how, now),
        Station::Waiting { question, answer: None } => wait_for_answer(workflow, state, question, now),
        Station::Waiting { question, answer: Some(answer) } => {
            answered(workflow, phase, state, question, answer, now)
        }
        Station::Finishing => Decision::Perform(Effect::Finish),
        Station::Finished => Decision::Record(Event::Closed(Outcome::Completed)),
        Station::Closed(_) if is_to_be_told(workflow, state) => Decision::Perform(Effect::Tell),
        Station::Closed(outcome) => Decision::Rest(Rest::Closed(outcome.clone())),
    }
}

/// What a person wants, where it can be done at this station.
fn wished(workflow: &Workflow, state: &State) -> Option<Decision> {
    if matches!(state.station, Station::Working(_) | Station::Closed(_)) {
        return None;
    }
    // A run that waited because its merge is red has nothing to wait for once it is taken out.
    if state.wish == Some(Wish::Cancel) || matches!(state.landing, Some(Landing::Reverted { .. })) {
        return Some(Decision::Record(Event::Closed(Outcome::Cancelled)));
    }
    if state.hold.is_some() && is_to_be_told(workflow, state) {
        return Some(Decision::Perform(Effect::Tell));
    }
    if let Some(hold) = &state.hold {
        return Some(Decision::Rest(Rest::Held(hold.clone())));
    }
    let held =
        |kind, reason: &str| Some(Decision::Record(Event::Held(Hold { kind, reason: reason.to_owned() })));
    match &state.wish {
        Some(Wish::Pause { reason }) => held(HoldKind::Paused, reason),
        Some(Wish::Stop) if state.station == Station::Ready => held(HoldKind::Stopped, "asked to stop"),
        Some(Wish::Stop | Wish::Cancel) | None => None,
    }
}

/// Whether somebody wants to hear of a rest, and has not yet.
fn is_to_be_told(workflow: &Workflow, state: &State) -> bool {
    workflow.notify.is_some() && !state.told
}

/// May another agent go out? Waits and limits first, then the breaker, then what the call needs.
fn ready(workflow: &Workflow, phase: &Phase, state: &State, now: Timestamp) -> Decision {
    if let Some(target) = state.move_to {
        return Decision::Record(Event::Entered { phase: target, how: How::Moved });
    }
    if !state.left.is_empty() {
        return contain(state);
    }
    if state.visit.recheck {
        let next = call(workflow, phase, state);
        return Decision::Perform(measure(workflow, phase, state, &next));
    }
    if let Some(wait) = &state.wait {
        return waiting(workflow, state, wait, now);
    }
    if let Some(why) = &state.agent_trouble {
        return ask(state, QuestionKind::Agent, why.clone(), None);
    }
    if let Some(why) = &state.refused {
        return ask(state, QuestionKind::Blocked, why.clone(), None);
    }
    if phase.each.is_some() && state.item.is_none() && state.listed {
        return pass_over_body(workflow, state, now);
    }
    // A body that turns out to have nothing to do costs nothing, so no limit keeps it.
    if phase.each.is_some() && state.item.is_none() && state.baseline.is_some() {
        return Decision::Perform(Effect::List);
    }
    if let Some((until, window)) = window_spent(workflow, state, now) {
        return window_over(state, &window, until);
    }
    if let Some(why) = unmergeable(workflow, phase, state) {
        return ask(state, QuestionKind::Blocked, why, None);
    }
    if let Some(reached) = reached(workflow, phase, state) {
        return Decision::Record(Event::Held(reached));
    }
    if VOIDS_MOST <= state.voids {
        let reason = format!("the call could not be started {} times in a row", state.voids);
        return hold(HoldKind::Halted, reason);
    }
    if LOST_MOST <= state.lost_in_a_row {
        let last = state.last_trouble.as_ref().map(|it| format!(", the last one: {}", it.why));
        let reason = format!("{} calls in a row were lost{}", state.lost_in_a_row, last.unwrap_or_default());
        return hold(HoldKind::Halted, reason);
    }
    if let Some(reason) = state.visit.breaker.open(&phase.breaker)
        && !trying_something_else(phase, state)
    {
        if phase.breaker.pivot && !state.visit.breaker.pivoted {
            return Decision::Record(Event::Pivoted);
        }
        return ask(state, QuestionKind::Breaker, state.stuck_words(phase, &reason), None);
    }
    if workflow.workspace.at == WorkPlace::Worktree && state.place.is_none() {
        return Decision::Perform(Effect::Workspace);
    }
    if state.baseline.is_none() {
        return Decision::Perform(Effect::Baseline);
    }
    let next = call(workflow, phase, state);
    let is_checkpoint = state.item.as_ref().is_some_and(|it| it.checkpoint().is_some());
    if is_checkpoint && !state.visit.looked {
        return Decision::Perform(measure(workflow, phase, state, &next));
    }
    if is_done_with_skills(phase, state) && !state.visit.fix_due && !state.visit.looked {
        return Decision::Perform(measure(workflow, phase, state, &next));
    }
    if let Some(question) = prerequisite(workflow, state, &next.step) {
        return question;
    }
    if let Some(why) = lacks_other_model(workflow, phase, state, &next) {
        return ask(state, QuestionKind::Agent, why, None);
    }
    Decision::Perform(Effect::Work(next))
}

/// Says why no call of a phase that ends with the merge could bring it about: what was skipped is not proven.
fn unmergeable(workflow: &Workflow, phase: &Phase, state: &State) -> Option<String> {
    let skipped = *state.skips.first()?;
    let needs_proof = phase.asks_for(FactName::PrMerged.name()) && !workflow.proof.accept_unverified;
    let name = &workflow.phases[skipped].name;
    let way = match workflow.phases[skipped].each {
        Some(_) => format!("build it again: loop run {} --fresh", state.opening.input),
        None => format!("do it after all: loop resume --state {name}"),
    };
    needs_proof.then(|| {
        format!("{}: {name} was skipped by a person, and only proven work is merged; {way}", phase.name)
    })
}

fn hold(kind: HoldKind, reason: String) -> Decision {
    Decision::Record(Event::Held(Hold { kind, reason }))
}

/// Sleeps until a wait is over; somebody who wants to hear of rests hears of it first.
fn waiting(workflow: &Workflow, state: &State, waiting: &Waiting, now: Timestamp) -> Decision {
    // A clock that was set back over the window has emptied it: nothing is left to wait for.
    let is_void = waiting.wait == Wait::Window && window_spent(workflow, state, now).is_none();
    if waiting.until <= now || is_void {
        return Decision::Record(Event::Woke);
    }
    if !matches!(waiting.wait, Wait::Backoff | Wait::Slot) && is_to_be_told(workflow, state) {
        return Decision::Perform(Effect::Tell);
    }
    Decision::Perform(Effect::Sleep { until: waiting.until, why: waiting.why.clone() })
}

/// All calls of the window are used up.
fn window_over(state: &State, window: &Window, until: Timestamp) -> Decision {
    let why = format!("{} of {} calls used in this window", window.calls, window.calls);
    match window.then {
        WindowThen::Ask => ask(state, QuestionKind::Hourly, why, Some(until)),
        WindowThen::Wait => Decision::Record(Event::Waits { until, why, wait: Wait::Window }),
        WindowThen::Pause => hold(HoldKind::Paused, why),
        WindowThen::Abort => hold(HoldKind::Halted, why),
    }
}

/// A breaker that was opened and given one more call is judged again only after that call.
fn trying_something_else(phase: &Phase, state: &State) -> bool {
    phase.breaker.pivot && state.visit.breaker.pivoted && !state.visit.breaker.pivot_spent
}

fn contain(state: &State) -> Decision {
    if !state.contain_tried {
        return Decision::Perform(Effect::Contain);
    }
    let names: Vec<String> = state.left.iter().map(|it| format!("{} (pid {})", it.name, it.pid)).collect();
    ask(
        state,
        QuestionKind::Blocked,
        format!("processes of the last call could not be stopped: {}", names.join(", ")),
        None,
    )
}

fn follow(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    judgement: &Judgement,
    now: Timestamp,
) -> Decision {
    match &judgement.verdict {
        Verdict::Leave => match judge::missing_check(phase, state, &judgement.metrics) {
            Some(check) => {
                let text = format!("{} needs the check \"{check}\", which has no command", phase.name);
                ask(state, QuestionKind::Check(check), text, None)
            }
            None => leave(workflow, state, Leave::Passed, now),
        },
        Verdict::Step | Verdict::Again => Decision::Record(Event::Repeated),
        Verdict::Stuck(reason) => {
            let kind = if phase.retries { QuestionKind::Blocked } else { QuestionKind::Breaker };
            ask(state, kind, format!("{} is stuck: {reason}", phase.name), None)
        }
        Verdict::Reject => reject(phase, state),
        Verdict::Checkpoint(CheckpointKind::Merge) => land(workflow, phase, state, now),
        Verdict::Checkpoint(kind) => checkpoint(workflow, phase, state, judgement, kind),
        Verdict::Fail => {
            let rules = workflow.retries.as_ref().expect("a phase with retries has rules for them");
            match state.retry.next(rules, judgement.error.as_ref()) {
                retry::RetryNext::Again => Decision::Record(Event::Retried),
                retry::RetryNext::After(pause) => {
                    let why = format!("retry {} follows this pause", state.retry.count + 1);
                    Decision::Record(Event::Waits { until: now.plus(pause), why, wait: Wait::Backoff })
                }
                retry::RetryNext::Block(reason) => {
                    ask(state, QuestionKind::Blocked, format!("{} failed: {reason}", phase.name), None)
                }
            }
        }
    }
}

/// Only a person can act; what has to be looked at or decided, the autonomous mode settles itself
/// where every check passes, and says so before it continues.
fn checkpoint(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    judgement: &Judgement,
    kind: &CheckpointKind,
) -> Decision {
    let autonomous = known(workflow, state, FactName::Autonomous.name()) == Some(Value::Bool(true));
    let passing =
        judgement.metrics.get(FactName::ChecksFailing.name()).is_some_and(|it| it.value == Value::Int(0));
    let item = state.item.as_ref().filter(|it| it.checkpoint().is_some());
    let first = judgement.options.first().filter(|_| item.is_some());
    let settled = match kind {
        CheckpointKind::HumanVerify if passing => Some("approved — every check passes".to_owned()),
        CheckpointKind::Decision if passing => Some(match first {
            Some(option) => format!("{option} — the plan lists it first, and no policy says otherwise"),
            None => "the safest option — no policy says otherwise".to_owned(),
        }),
        CheckpointKind::HumanVerify
        | CheckpointKind::Decision
        | CheckpointKind::Merge
        | CheckpointKind::Other(_) => None,
    };
    // An item that is a checkpoint is worked on only after a person found something: they look again.
    let is_repaired = item.is_some() && 0 < state.visit.iteration;
    match settled.filter(|_| autonomous && !is_repaired) {
        Some(choice) => Decision::Record(Event::Settled {
            text: match item {
                Some(item) => format!("Auto-decided: {}: {choice}", item.name),
                None => format!("Auto-decided: {choice}"),
            },
            automatic: true,
            done: item.is_some(),
        }),
        None => {
            let text = match item {
                Some(item) => {
                    let about =
                        if item.about.is_empty() { String::new() } else { format!("\n{}", item.about) };
                    format!("task {} is for a person ({kind}): {}{about}", item.id, item.name)
                }
                None => format!("{}: the agent needs a person ({kind})", phase.name),
            };
            ask_among(state, QuestionKind::Checkpoint(kind.clone()), text, None, judgement.options.clone())
        }
    }
}

fn wait_for_answer(workflow: &Workflow, state: &State, question: &Question, now: Timestamp) -> Decision {
    let is_over = state.withdrawn || question.deadline.is_some_and(|it| it <= now);
    if is_over && waits_for_merge(state, question) && state.move_to.is_none() {
        return Decision::Perform(Effect::Look);
    }
    if is_over {
        return Decision::Record(Event::Expired { question: question.id });
    }
    if let (QuestionKind::Gate(gate), Some(about)) = (&question.kind, &question.about)
        && about.expires.is_some_and(|it| it <= now)
    {
        let why = "nobody approved it in time".to_owned();
        return Decision::Record(Event::Voided { gate: gate.clone(), why, void: Void::Expired });
    }
    if is_asked_outside(workflow, state, question) && state.look_at.is_none_or(|it| it <= now) {
        return Decision::Perform(Effect::Look);
    }
    Decision::Rest(Rest::Waiting(question.clone()))
}

/// Whether the open question may be answered by the world, without anybody telling us: a merge that waits, or a gate on
/// a pull request. Each command that continues the run looks once.
pub fn may_be_answered_outside(workflow: &Workflow, state: &State) -> bool {
    let question = state.question();
    question.is_some_and(|it| waits_for_merge(state, it) || is_asked_outside(workflow, state, it))
}

/// Whether a gate can be answered on a pull request, too.
fn is_asked_outside(workflow: &Workflow, state: &State, question: &Question) -> bool {
    let QuestionKind::Gate(gate) = &question.kind else { return false };
    let has_logins = workflow.gates.get(gate).is_some_and(|it| !it.logins.is_empty());
    has_logins && question.about.is_some() && state.opening.beginning.host.is_some()
}

/// What a skill needs that nobody has said yet, as a question.
fn prerequisite(workflow: &Workflow, state: &State, step: &Step) -> Option<Decision> {
    let Step::Skill(name) = step else { return None };
    let skill = workflow.skills.get(name)?;
    let needs = skill.needs.as_ref().filter(|_| skill.target.is_none())?;
    if state.prerequisites.contains_key(name) {
        return None;
    }
    let text = format!("the skill {name} needs {needs}, and none is configured");
    Some(ask(state, QuestionKind::Prerequisite(name.clone()), text, None))
}
