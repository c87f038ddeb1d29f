//! Proving: which step of a proof comes next, and what a finished proof leads to. The proof stands
//! between the last judgement and the gates of the phase that it guards. What the steps find is about
//! one tree; when the tree changes, the proof is taken again. The ids of tests are never kept here:
//! the world keeps the results of each step and hands over the conclusion.

use super::ask::ask;
use crate::engine::journal::calls::ending::How;
use crate::engine::journal::closing::proof_steps::{Proving, Unprepared};
use crate::engine::journal::decision::Decision;
use crate::engine::journal::effect::Effect;
use crate::engine::journal::event::Event;
use crate::engine::journal::hold::{Hold, HoldKind};
use crate::engine::journal::measured::evidence::CheckOutcome;
use crate::engine::journal::people::question::QuestionKind;
use crate::engine::state::run_state::State;
use crate::engine::state::views::status::NOTHING_TO_DO;
use crate::proof::{Level, Proof, ProofStep, closing_sentence};
use crate::workflow::model::{CleanWhen, Next, PhaseId, Workflow};
use loop_base::text::counted;

/// Findings that are listed for the agent and in the question; the report has the others.
const FINDINGS_SHOWN: usize = 20;

/// A proof sends the work back by itself so often. After that a person decides.
const RETURNS_MOST: u32 = 1;

/// Returns what the proof still needs before the phase is left, or `None` when nothing stands in the
/// way.
pub(crate) fn before_leaving(workflow: &Workflow, state: &State) -> Option<Decision> {
    if !is_guarded(workflow, state.phase) {
        return None;
    }
    if let Some(again) = lost_work(workflow, state) {
        return Some(again);
    }
    if !is_taken(workflow, state) {
        let is_asked_for = Level::None < workflow.proof.require && !state.accepted;
        let required = workflow.proof.require.word();
        let text = format!("no proof is taken of this run; it asks for {required}");
        return is_asked_for.then(|| ask(state, QuestionKind::Unproven, text, None));
    }
    if is_nothing_changed(state) {
        let why = "every check passed before the run, and nothing has changed since";
        return Some(match state.proof_returns < RETURNS_MOST {
            true => go_back(workflow, vec![format!("{why}: do the work, or say STUCK and why")]),
            false => halt(format!(
                "{NOTHING_TO_DO}: {why}; add a test that fails until the work is done, or tell the agent \
                 more: loop guide TEXT"
            )),
        });
    }
    let proving = state.proving.as_ref().filter(|it| it.tree == state.seen.tree);
    if let Some(step) = next_step(proving) {
        return Some(Decision::Perform(Effect::Prove(step)));
    }
    let proving = proving.expect("every step has been taken");
    if let Some(missing) = unprepared(proving) {
        let proposal = missing.proposal.as_ref().map(|it| format!("; for example: {it}")).unwrap_or_default();
        let text = format!("no check runs in a clean checkout: {}{proposal}", missing.why);
        return Some(ask(state, QuestionKind::Prepare, text, None));
    }
    match &proving.proof {
        None => Some(Decision::Perform(Effect::Conclude)),
        Some(proof) => follow(workflow, state, proof),
    }
}

/// Work of finished items that is gone is brought back or done again. Each return costs an iteration of the body, so
/// the limit ends it.
fn lost_work(workflow: &Workflow, state: &State) -> Option<Decision> {
    let command = |item: &String| state.done_commits().get(item).map(|it| format!(": git cherry-pick {it}"));
    let line = |item: &String| {
        let command = command(item).unwrap_or_default();
        format!("the work of {item}, which was done, is gone; bring it back{command}")
    };
    let why: Vec<String> = state.lost_work.iter().take(FINDINGS_SHOWN).map(line).collect();
    let has_body = workflow.phases[workflow.proof.go].each.is_some();
    (has_body && !why.is_empty()).then(|| go_back(workflow, why))
}

/// Whether this phase is left only with a proof, where one can be taken.
pub(super) fn is_guarded(workflow: &Workflow, phase: PhaseId) -> bool {
    match workflow.proof.at {
        Some(guarded) => guarded == phase,
        None => workflow.phases[phase].next == Next::Done,
    }
}

fn is_taken(workflow: &Workflow, state: &State) -> bool {
    let wanted = workflow.proof.clean == CleanWhen::Completion && !state.proof_skipped && !state.unproven;
    wanted && checks(workflow, state).next().is_some()
}

/// The checks that a proof consists of, each with its command.
pub fn checks<'a>(
    workflow: &'a Workflow,
    state: &'a State,
) -> impl Iterator<Item = (&'a String, &'a String)> + 'a {
    let used = |name: &String| workflow.phases.iter().any(|it| it.checks.contains(name));
    let commands = workflow.checks.iter().filter(|(_, check)| check.proof);
    commands
        .filter_map(|(name, check)| Some((name, check.run.as_ref().or(state.commands.get(name))?)))
        .filter(move |(name, _)| used(name))
}

/// Whether the tree is the one that the run began with, and nothing was red in it.
fn is_nothing_changed(state: &State) -> bool {
    let Some(baseline) = &state.baseline else { return false };
    let green = baseline.results.iter().all(|it| !matches!(it.outcome, CheckOutcome::Failed(_)));
    let same = !baseline.facts.tree.is_empty() && baseline.facts.tree == state.seen.tree;
    same && green && !state.opening.imported
}

fn next_step(proving: Option<&Proving>) -> Option<ProofStep> {
    let Some(proving) = proving else { return Some(ProofStep::Baseline) };
    if unprepared(proving).is_some() {
        return None;
    }
    ProofStep::ALL.into_iter().find(|step| !proving.steps.iter().any(|it| it.step == *step))
}

fn unprepared(proving: &Proving) -> Option<&Unprepared> {
    proving.steps.iter().find_map(|it| it.unprepared.as_ref())
}

/// What a finished proof leads to.
fn follow(workflow: &Workflow, state: &State, proof: &Proof) -> Option<Decision> {
    let told = RETURNS_MOST <= state.proof_returns;
    if !proof.findings.is_empty() {
        let lines = finding_lines(proof);
        if !told {
            let mut why = lines;
            let is_changed = proof.findings.iter().any(|it| !it.kind.weakens());
            why.push(match is_changed {
                true => "restore what the run began with, or say why the task demands the change".to_owned(),
                false => "make it pass in a clean checkout, with what is in the tree alone, or say why that cannot \
                          be done"
                    .to_owned(),
            });
            return Some(go_back(workflow, why));
        }
        let text = format!(
            "the proof found {}:\n{}",
            counted(u32::try_from(proof.findings.len()).unwrap_or(u32::MAX), "problem"),
            lines.join("\n")
        );
        return Some(ask(state, QuestionKind::Proof, text, None));
    }
    if proof.level < workflow.proof.require && !state.accepted {
        let required = workflow.proof.require.word();
        let text = format!("{}; this workflow asks for {required}", closing_sentence(proof));
        return Some(ask(state, QuestionKind::Unproven, text, None));
    }
    let unmeasured = proof.level == Level::UnchangedGreen && workflow.proof.feedback && !state.accepted;
    if unmeasured && !told {
        let why = "every check passed before the run began, so nothing measures this work: \
                   add a test that fails without it, or say why none is possible";
        return Some(go_back(workflow, vec![why.to_owned()]));
    }
    None
}

fn finding_lines(proof: &Proof) -> Vec<String> {
    let mut lines: Vec<String> =
        proof.findings.iter().take(FINDINGS_SHOWN).map(|it| it.line.clone()).collect();
    let more = proof.findings.len().saturating_sub(FINDINGS_SHOWN)
        + proof.more.get("findings").copied().unwrap_or(0);
    if 0 < more {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn go_back(workflow: &Workflow, why: Vec<String>) -> Decision {
    Decision::Record(Event::Entered {
        phase: workflow.proof.go,
        how: How::Unproven { why, by_person: false },
    })
}

fn halt(reason: String) -> Decision {
    Decision::Record(Event::Held(Hold { kind: HoldKind::Halted, reason }))
}
