//! What an iteration comes to. A phase is passed when its condition is true and the agent says that it
//! is done, both in the same iteration. Nothing the agent wrote can make the condition true, and an
//! unknown value never does.

use super::failure::{error_of, failure, findings, is_count, is_silent};
use super::grounds::Grounds;
use super::metrics::{broken_checks, failing_checks, gather};
use super::reasons::{false_claim_words, passed_words, reasons, rejection_words};
use crate::engine::journal::calls::ending::Ending;
use crate::engine::journal::effect::Step;
use crate::engine::journal::measured::evidence::Evidence;
use crate::engine::journal::measured::judgement::{Failure, Judgement, Verdict};
use crate::engine::journal::measured::metric::{Metrics, Source};
use crate::engine::journal::people::question::CheckpointKind;
use crate::engine::state::parts::station::Turn;
use crate::engine::state::run_state::State;
use crate::engine::state::views::next_call::{is_waived, more_skills_than};
use crate::facts::{FactName, FactWords};
use crate::report::CHECKPOINT_METRIC;
use crate::workflow::condition::{Condition, Truth};
use crate::workflow::model::{ErrorClass, Phase, Protocol, Signal, SignalWord, Workflow};
use loop_base::value::{Value, ValueKind};

pub(crate) fn judge(workflow: &Workflow, state: &State, turn: &Turn, evidence: &Evidence) -> Judgement {
    let phase = &workflow.phases[turn.call.phase];
    let report = &turn.ended.report;
    let (metrics, green_runs) = gather(workflow, phase, state, report, evidence);
    let call_ok = turn.ended.ending == Ending::Done;
    let exit = exit_truth(workflow, phase, state, &metrics, evidence);
    let signal = call_ok && (state.visit.recheck || signalled(&phase.signal, report.signal.as_ref()));
    let error = error_of(phase, turn, evidence, &metrics);

    let false_claim = false_claim(turn, evidence);
    let holds = false_claim.is_none() && broken_checks(phase, &evidence.results).next().is_none();
    let verdict = match broken_lock(workflow, evidence) {
        Some(reason) => Verdict::Stuck(reason),
        None => verdict(workflow, phase, state, turn, evidence, &metrics, exit, signal, holds),
    };
    let (left, failed) = match &verdict {
        Verdict::Leave => (true, false),
        Verdict::Again | Verdict::Fail => {
            let claimed = signal || phase.signal == Signal::None;
            (false, claimed || !call_ok || is_silent(phase, turn))
        }
        Verdict::Step | Verdict::Reject | Verdict::Stuck(_) | Verdict::Checkpoint(_) => (false, false),
    };
    let before = state.baseline.as_ref().map(|it| it.results.as_slice()).unwrap_or_default();
    let promise = state.opening.promise.as_deref();
    let grounds = Grounds { phase, turn, evidence, metrics: &metrics, before, promise, signal };
    let why = match &verdict {
        Verdict::Leave => passed_words(&grounds),
        Verdict::Step => Vec::new(),
        // What is for a person lacks nothing that an agent could bring.
        Verdict::Checkpoint(_) if item_checkpoint(turn).is_some() => Vec::new(),
        Verdict::Reject => rejection_words(&grounds),
        Verdict::Again | Verdict::Fail | Verdict::Stuck(_) | Verdict::Checkpoint(_) => {
            let condition =
                phase.exit.as_ref().filter(|_| exit != Truth::True && is_last(phase, state, turn));
            let known = assumed(phase, turn, &metrics);
            let not_met = condition.map(|it| it.missing(&known)).unwrap_or_default();
            // A value that nobody gave explains what the condition lacks, so it comes first.
            let mut why: Vec<String> = ill_reported(workflow, phase, state, turn);
            why.extend(reasons(&grounds, &not_met));
            why.extend(false_claim);
            if phase.asks_for(FactName::RequirementsOpen.name()) {
                let open = state.requirements_open_after(report);
                why.extend(open.iter().map(|it| format!("nothing shows that {} is met: {}", it.id, it.text)));
            }
            why
        }
    };
    let why = match &error {
        // Findings of a skill that others follow: the exit rule, which would name them, is not due yet.
        Some(error) if why.is_empty() && verdict == Verdict::Fail => vec![first_line(&error.text)],
        Some(_) | None => why,
    };
    let error = error.or_else(|| unexplained(&verdict, &why));
    let options = match &verdict {
        Verdict::Checkpoint(kind) if item_checkpoint(turn).is_some() => item_options(turn, kind),
        Verdict::Checkpoint(_) => report.options.clone(),
        Verdict::Leave
        | Verdict::Step
        | Verdict::Again
        | Verdict::Fail
        | Verdict::Reject
        | Verdict::Stuck(_) => Vec::new(),
    };
    Judgement {
        phase: Some(turn.call.phase),
        progress: left || progress(phase, state, &metrics, report.found && phase.report != Protocol::Promise),
        notes: notes(phase, turn, evidence, &metrics, exit, signal),
        lacks: missing_check(phase, state, &metrics).filter(|_| left),
        verdict,
        exit,
        signal,
        why,
        failed,
        error,
        metrics,
        options,
        green_runs,
    }
}

#[expect(clippy::too_many_arguments, reason = "everything that decides, once, in one place")]
fn verdict(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    turn: &Turn,
    evidence: &Evidence,
    metrics: &Metrics,
    exit: Truth,
    signal: bool,
    holds: bool,
) -> Verdict {
    let report = &turn.ended.report;
    let call_ok = turn.ended.ending == Ending::Done;
    let has_error = report.error.is_some() || findings(phase, metrics).is_some();
    let in_trouble = report.failed || (phase.retries && has_error);
    let is_told = ill_reported(workflow, phase, state, turn).is_empty();
    let done_well = call_ok && !in_trouble && is_told && evidence.missing.is_empty();
    let once_more = if phase.retries { Verdict::Fail } else { Verdict::Again };
    let rejects = phase.reject.as_ref().is_some_and(|it| it.when.truth(&lookup(metrics)) == Truth::True);
    if let Some(reason) = &report.stuck {
        return Verdict::Stuck(reason.clone());
    }
    match &turn.call.step {
        Step::Fix(_) => return fixed(workflow, turn),
        Step::Skill(skill) if more_skills_than(phase, state, skill) => {
            return match (done_well, rejects) {
                (true, true) => Verdict::Reject,
                (true, false) => Verdict::Step,
                (false, _) => once_more,
            };
        }
        Step::Skill(_) | Step::Main => (),
    }
    if let Some(kind) = checkpoint(phase, turn).filter(|_| call_ok) {
        return Verdict::Checkpoint(kind);
    }
    // The item is a checkpoint for a person, so no agent was called.
    let of_item = item_checkpoint(turn);
    if let Some(kind) = of_item.as_ref().filter(|_| turn.ended.call == 0) {
        return Verdict::Checkpoint(kind.clone());
    }
    if call_ok && rejects {
        return Verdict::Reject;
    }
    let told = evidence.ratchet.is_empty() || evidence.ratchet == state.ratchet_told;
    if done_well && holds && signal && exit == Truth::True && told {
        // What a person found there is repaired; whether it is well now, that person says.
        return of_item.map_or(Verdict::Leave, Verdict::Checkpoint);
    }
    if done_well && holds && signal && is_left_by_a_merge(phase, metrics) {
        return Verdict::Checkpoint(CheckpointKind::Merge);
    }
    once_more
}

/// Whether the exit rule is due: before the last skill of a phase, what the others bring cannot be there.
fn is_last(phase: &Phase, state: &State, turn: &Turn) -> bool {
    match &turn.call.step {
        Step::Skill(skill) => !more_skills_than(phase, state, skill),
        Step::Fix(_) | Step::Main => true,
    }
}

/// A check that the phase requires and that was not run, because nobody gave a command for it.
pub(crate) fn missing_check(phase: &Phase, state: &State, metrics: &Metrics) -> Option<String> {
    let ran = |name: &String| metrics.contains_key(&format!("{name}_ok"));
    phase.require.iter().find(|it| !ran(it)).filter(|_| !state.opening.unverified).cloned()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// A failure that no check and no report explains is known again by what the phase lacked.
fn unexplained(verdict: &Verdict, why: &[String]) -> Option<Failure> {
    let first = why.first().filter(|_| *verdict == Verdict::Fail)?;
    let whole = failure(ErrorClass::Other, &why.join("; "));
    let text = match why.len() - 1 {
        0 => whole.text,
        more => format!("{first}; and {more} more"),
    };
    Some(Failure { text, ..whole })
}

/// What a skill has to report and did not, or not so that its phase can use it, in words.
fn ill_reported(workflow: &Workflow, phase: &Phase, state: &State, turn: &Turn) -> Vec<String> {
    unreported(workflow, turn).chain(unusable(workflow, phase, state, turn)).collect()
}

/// What a skill has to report and did not, in words: a value that nobody gave is not 0.
fn unreported<'a>(workflow: &'a Workflow, turn: &'a Turn) -> impl Iterator<Item = String> + 'a {
    let skill = match &turn.call.step {
        Step::Skill(skill) if turn.ended.call != 0 => Some(skill),
        Step::Skill(_) | Step::Fix(_) | Step::Main => None,
    };
    let asked = skill.into_iter().flat_map(|it| Some((it, workflow.skills.get(it)?)));
    asked.flat_map(move |(name, skill)| {
        let is_missing = |it: &&String| !turn.ended.report.metrics.contains_key(*it);
        skill.reports.iter().filter(is_missing).map(move |it| format!("{name} did not report {it}"))
    })
}

/// What a skill reported and its phase can do nothing with, in words: the skill that has to report it is called again,
/// not the ones after it. Where no other skill follows, the exit rule says what is wrong.
fn unusable(workflow: &Workflow, phase: &Phase, state: &State, turn: &Turn) -> Vec<String> {
    let name = match &turn.call.step {
        Step::Skill(skill) if turn.ended.call != 0 && more_skills_than(phase, state, skill) => skill,
        Step::Skill(_) | Step::Fix(_) | Step::Main => return Vec::new(),
    };
    let asked = workflow.skills.get(name).into_iter().flat_map(|it| &it.reports);
    let given = asked.filter_map(|it| Some((it, turn.ended.report.metrics.get(it)?)));
    given
        .filter_map(|(fact, value)| {
            let wanted = wanted_instead(phase, fact, value)?;
            let label = match FactName::named(fact).map(|it| it.row().words) {
                Some(FactWords::Count { label, .. } | FactWords::Text { label, .. }) => label,
                Some(FactWords::State { .. }) | None => fact.as_str(),
            };
            Some(format!("{name} reported {label}: {value}, and {wanted} is needed"))
        })
        .collect()
}

/// Returns what would be of use in place of a reported value with which a phase is neither left nor sent back.
fn wanted_instead(phase: &Phase, fact: &str, value: &Value) -> Option<String> {
    let is_number = FactName::named(fact).is_some_and(|it| it.row().kind == ValueKind::Number);
    if is_number && !value.number().is_some_and(is_count) {
        return Some("a whole number from 0".to_owned());
    }
    let only = |it: &str| (it == fact).then(|| value.clone());
    let back = phase.reject.as_ref().map(|it| &it.when);
    let leads_on = |it: &&Condition| it.truth(&only) != Truth::False;
    let exit = phase.exit.as_ref()?;
    if [Some(exit), back].iter().flatten().any(leads_on) {
        return None;
    }
    let words = [Some(exit), back].into_iter().flatten().flat_map(|it| it.texts_of(fact));
    let words: Vec<&str> = words.map(|it| it.0).collect();
    (!words.is_empty()).then(|| words.join(" or "))
}

/// The look at a failure is no try of its own, unless it found what no retry can mend.
fn fixed(workflow: &Workflow, turn: &Turn) -> Verdict {
    let beyond = |class: &ErrorClass| workflow.retries.as_ref().is_some_and(|it| it.never.contains(class));
    match &turn.ended.report.error {
        Some(error) if beyond(&error.class) => Verdict::Fail,
        Some(_) | None => Verdict::Step,
    }
}

/// An agent that stops at a checkpoint says which, in place of a signal.
fn checkpoint(phase: &Phase, turn: &Turn) -> Option<CheckpointKind> {
    let report = &turn.ended.report;
    match report.metrics.get(CHECKPOINT_METRIC) {
        Some(Value::Text(kind)) if report.signal.is_none() && phase.report == Protocol::ExitSignal => {
            // Whether the merge is all that is left, no agent says.
            Some(match kind.clone().into() {
                CheckpointKind::Merge => CheckpointKind::Other(kind.clone()),
                other => other,
            })
        }
        Some(_) | None => None,
    }
}

/// What the item of the call is, where it is for a person.
fn item_checkpoint(turn: &Turn) -> Option<CheckpointKind> {
    turn.call.item.as_ref().and_then(|it| it.checkpoint())
}

/// Whether the merge of the pull request is all that keeps a phase: no agent can bring that about.
fn is_left_by_a_merge(phase: &Phase, metrics: &Metrics) -> bool {
    let merged = |name: &str| match FactName::named(name) {
        Some(FactName::PrMerged) => Some(Value::Bool(true)),
        Some(_) | None => metrics.get(name).map(|it| it.value.clone()),
    };
    phase
        .exit
        .as_ref()
        .is_some_and(|it| it.truth(&merged) == Truth::True && it.truth(&lookup(metrics)) != Truth::True)
}

/// Returns why a run stops whose input was edited although that halts it.
fn broken_lock(workflow: &Workflow, evidence: &Evidence) -> Option<String> {
    let broken = evidence.facts.values.get(FactName::InputChanged.name()) == Some(&Value::Bool(true));
    (broken && workflow.input.halt_on_edit)
        .then(|| "the locked input was changed beyond its checkboxes".to_owned())
}

/// A commit that a report names must be one of those that the calls on the item made, or the last one.
fn false_claim(turn: &Turn, evidence: &Evidence) -> Option<String> {
    if !evidence.changed_work.is_empty() {
        let named = evidence.changed_work.join(", ");
        return Some(format!("the report does not count, because its call changed committed work: {named}"));
    }
    let facts = &evidence.facts;
    let claimed = turn.ended.report.commit()?;
    let made = facts.values.get(FactName::CommitsMade.name()).and_then(Value::number)?;
    let mut names = facts.commits.iter().chain(&facts.earlier_commits).peekable();
    if let Some(newest) = names.peek().copied() {
        // The last commit may be one of records, after that of the work.
        let is_one = names.chain([&facts.commit]).any(|it| it.starts_with(&claimed));
        return (!is_one).then(|| {
            format!("the report names the commit {claimed}; this task's commit is {}", short(newest))
        });
    }
    let is = &facts.commit;
    let same = is.is_empty() || is.starts_with(&claimed);
    (made == 1.0 && !same).then(|| format!("the report names the commit {claimed}; it is {}", short(is)))
}

/// What a person can answer where an item is a checkpoint.
fn item_options(turn: &Turn, kind: &CheckpointKind) -> Vec<String> {
    let listed = turn.call.item.as_ref().map(|it| it.options.clone()).unwrap_or_default();
    match kind {
        CheckpointKind::HumanVerify if listed.is_empty() => [DONE, ISSUES].map(str::to_owned).to_vec(),
        CheckpointKind::HumanVerify
        | CheckpointKind::Decision
        | CheckpointKind::Merge
        | CheckpointKind::Other(_) => listed,
    }
}

/// The answer to a checkpoint that sends an agent to repair what a person found.
pub(crate) const ISSUES: &str = "issues";

/// The answer to a checkpoint that holds.
pub(crate) const DONE: &str = "done";

fn short(hash: &str) -> &str {
    hash.get(..7).unwrap_or(hash)
}

/// Looks names up for what a condition lacks. That the agent gave no signal is a reason of its own; beside it
/// stands what would be missing if it had given the usual one.
fn assumed<'a>(phase: &'a Phase, turn: &Turn, metrics: &'a Metrics) -> impl Fn(&str) -> Option<Value> + 'a {
    let usual = match &phase.signal {
        Signal::Words(words) if is_silent(phase, turn) => words.first().map(|it| Value::from(it.word())),
        Signal::Words(_) | Signal::Own | Signal::None => None,
    };
    let known = lookup(metrics);
    move |name| known(name).or_else(|| usual.clone().filter(|_| name == FactName::Signal.name()))
}

fn lookup(metrics: &Metrics) -> impl Fn(&str) -> Option<Value> {
    |name| metrics.get(name).map(|it| it.value.clone())
}

/// What only a skill reports that a person skipped, nobody has to bring.
fn exit_truth(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    metrics: &Metrics,
    evidence: &Evidence,
) -> Truth {
    if !evidence.unstable.is_empty() {
        return Truth::Unknown;
    }
    match &phase.exit {
        Some(condition) => {
            condition.truth_without(&lookup(metrics), &|it| is_waived(workflow, phase, state, it))
        }
        None if failing_checks(phase, &evidence.results).next().is_none() => Truth::True,
        None => Truth::False,
    }
}

fn signalled(wanted: &Signal, given: Option<&SignalWord>) -> bool {
    match wanted {
        Signal::None => true,
        Signal::Own => given.is_some(),
        Signal::Words(words) => given.is_some_and(|it| words.iter().any(|word| word.is(it))),
    }
}

/// A first value counts against nothing (up) or against the worst (down), but only if the agent
/// reported: an iteration with neither a report nor a measured improvement is never progress. No test
/// was added before the run began, so in its first phase the first count of them needs no report.
fn progress(phase: &Phase, state: &State, metrics: &Metrics, reported: bool) -> bool {
    let now = |name: &String| metrics.get(name).and_then(|it| amount(&it.value));
    let is_first_visit = state.phases.iter().map(|it| it.visits).sum::<u32>() == 1;
    let is_measured = |name: &String| metrics.get(name).is_some_and(|it| it.source == Source::Measured);
    let began_at_nothing =
        |name: &String| is_first_visit && name == FactName::TestsGenerated.name() && is_measured(name);
    let last = |name: &String| match state.visit.last.get(name).and_then(amount) {
        None if began_at_nothing(name) => Some(0.0),
        known => known,
    };
    let up = phase.progress.up.iter().any(|name| match (last(name), now(name)) {
        // Counts of one iteration begin at nothing each time, so any amount is more than before.
        (_, Some(now)) if FactName::is_of_one_iteration(name) => 0.0 < now,
        (Some(last), Some(now)) => last < now,
        (None, Some(now)) => reported && 0.0 < now,
        (_, None) => false,
    });
    let down = phase.progress.down.iter().any(|name| match (last(name), now(name)) {
        (Some(last), Some(now)) => now < last,
        (None, Some(_)) => reported,
        (_, None) => false,
    });
    up || down
}

fn amount(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(it) => Some(f64::from(u8::from(*it))),
        Value::Int(_) | Value::Number(_) => value.number(),
        Value::Text(_) => None,
    }
}

fn notes(
    phase: &Phase,
    turn: &Turn,
    evidence: &Evidence,
    metrics: &Metrics,
    exit: Truth,
    signal: bool,
) -> Vec<String> {
    let mut notes = turn.ended.report.notes.clone();
    notes.extend(evidence.notes.iter().cloned());
    for (name, metric) in metrics {
        let measured = match metric.source {
            Source::Measured => true,
            Source::Engine => false,
            Source::Claimed => continue,
        };
        // Where each item has a visit of its own, agents count the iterations of the run.
        let is_other_count = name == FactName::Iteration.name() && phase.each.is_some();
        if let Some(claimed) = metric.claimed.as_ref().filter(|_| !is_other_count) {
            notes.push(false_claim_words(name, claimed, &metric.value, measured));
        }
    }
    // Whoever reviews is done with the review, whatever the verdict.
    let is_rejected = phase.reject.as_ref().is_some_and(|it| it.when.truth(&lookup(metrics)) == Truth::True);
    if signal && exit != Truth::True && turn.ended.report.signal.is_some() && !is_rejected {
        notes.push("the agent said that it is done, but it is not".to_owned());
    }
    if signal && phase.report == Protocol::ExitSignal && !turn.ended.report.says_commit() {
        notes.push("the report names no commit".to_owned());
    }
    notes
}
