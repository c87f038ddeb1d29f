//! How the end of an iteration changes the state.

use crate::engine::journal::calls::ending::Ending;
use crate::engine::journal::effect::{IMPORTED_EPOCH, Step};
use crate::engine::journal::measured::evidence::{CheckOutcome, Evidence, RefusedPlan};
use crate::engine::journal::measured::judgement::{Judgement, Verdict};
use crate::engine::journal::measured::metric::{Metrics, Source};
use crate::engine::state::parts::feedback::Feedback;
use crate::engine::state::parts::station::{Station, Turn};
use crate::engine::state::parts::troubles::FailureEntry;
use crate::engine::state::run_state::State;
use crate::facts::FactName;
use crate::workflow::model::{ErrorClass, ShownKind, Workflow};
use loop_base::time::Timestamp;
use loop_base::value::Value;
use std::collections::BTreeMap;

/// Tests that are remembered of one visit; a row of requirements names fewer.
const TESTS_KEPT: usize = 20;

/// Items that one report may propose. A longer list is no plan.
const PROPOSED_MOST: usize = 200;

/// How the warning begins that names the branch.
const HEAD_IS: &str = "HEAD is on ";

/// Plans that are remembered as refused. A planner that writes more halts the run long before.
const REFUSED_MOST: usize = 100;

impl State {
    pub(crate) fn judge(&mut self, workflow: &Workflow, at: Timestamp, judgement: &Judgement) {
        let station = std::mem::replace(&mut self.station, Station::Judged(Box::new(judgement.clone())));
        let Station::Measured(turn, evidence) = station else { panic!("evidence precedes its judgement") };
        self.count(workflow, &turn);
        self.green_runs = judgement.green_runs;
        self.visit.metrics.clone_from(&judgement.metrics);
        let progress = &workflow.phases[self.phase].progress;
        for name in progress.up.iter().chain(&progress.down) {
            if let Some(metric) = judgement.metrics.get(name) {
                self.visit.last.insert(name.clone(), metric.value.clone());
            }
        }
        let measured = evidence.results.iter().any(|it| it.outcome != CheckOutcome::Skipped);
        self.untested &= !(measured && turn.call.epoch != IMPORTED_EPOCH);
        self.forget_mended(&evidence);
        if judgement.verdict != Verdict::Leave && judgement.signal {
            self.ratchet_told.clone_from(&evidence.ratchet);
        }
        // What nobody was called with is still to be said.
        if turn.ended.call != 0 {
            self.guidance.clear();
        }
        self.hear(workflow, &turn, &evidence);
        if let Some(error) = &judgement.error {
            self.troubles.note_error(at, self.phase, self.visit.iteration, error);
        }
        self.keep_commits(turn.call.item.as_deref(), &evidence.facts.commits);
        for test in &evidence.turned_green {
            if !self.visit.turned_green.contains(test) && self.visit.turned_green.len() < TESTS_KEPT {
                self.visit.turned_green.push(test.clone());
            }
        }
        // What a person found at a checkpoint and an agent repaired is work for the same rows.
        let is_repair = turn.ended.call != 0
            && matches!(judgement.verdict, Verdict::Checkpoint(_))
            && turn.call.item.as_ref().is_some_and(|it| it.checkpoint().is_some());
        // While a build is broken no test passes; what is gone when the checks pass is gone.
        if matches!(judgement.verdict, Verdict::Leave) {
            self.withdraw_tests(&evidence.lost_green);
        }
        if is_repair || matches!(judgement.verdict, Verdict::Leave) {
            self.credit_item(&turn, &evidence);
        }
        if matches!(judgement.verdict, Verdict::Leave) {
            self.visit.for_person.clone_from(&turn.ended.report.for_person);
        }
        self.credit_report(&turn.ended.report);
        match &judgement.verdict {
            // A crash says nothing about the work. The iteration counts, so this has an end.
            Verdict::Again if self.was_lost_in_a_crash(&turn) => (),
            Verdict::Again => self.feed_breaker(workflow, at, judgement),
            Verdict::Fail => self.note_failure(workflow, at, judgement),
            Verdict::Leave => {
                let tries = self.retry.count;
                let said = self.retry.fix.clone();
                self.retry.succeed();
                let how = said.unwrap_or_else(|| match tries {
                    // Retries are counted from 0 again from the moment that a person resumes a blocked run.
                    0 => "resumed by a person".to_owned(),
                    1 => "passed after 1 retry".to_owned(),
                    more => format!("passed after {more} retries"),
                });
                self.troubles.resolve(at, self.phase, &how);
                self.phases[self.phase].shown = shown(&evidence, &judgement.metrics);
            }
            Verdict::Step | Verdict::Reject | Verdict::Stuck(_) | Verdict::Checkpoint(_) => (),
        }
        self.step(&turn, &judgement.verdict);
        let left = self.take_repair(workflow, &turn, &evidence);
        let mut feedback =
            Feedback::of(&workflow.phases[turn.call.phase].report, &turn, &evidence, judgement);
        feedback.notes.extend(left);
        // A question to a person in place of a call is nothing that a call could learn from.
        let is_told = turn.ended.call != 0 || !feedback.is_empty();
        self.feedback = match (&turn.call.step, self.feedback.take()) {
            (Step::Fix(skill), Some(failed)) => Some(feedback.after_repair(skill, failed)),
            (Step::Fix(_) | Step::Skill(_) | Step::Main, _) => is_told.then_some(feedback),
        };
    }

    /// Work on another branch is easily looked for in vain. What is said holds until HEAD is elsewhere.
    fn warn_of_branch(&mut self, now: Option<&str>) {
        let began = self.baseline.as_ref().and_then(|it| it.facts.branch.as_deref());
        let (Some(now), Some(began)) = (now, began.filter(|it| !it.is_empty())) else { return };
        let place = if now.is_empty() { "no branch".to_owned() } else { format!("the branch {now}") };
        let text = (now != began).then(|| format!("{HEAD_IS}{place}, and was on {began} when the run began"));
        self.warnings.retain(|it| !it.starts_with(HEAD_IS) || text.as_ref() == Some(it));
        if let Some(text) = text {
            self.warn(text);
        }
    }

    /// A repair is a commit of its own: it is named with the failure. Returns what the next call is told where there
    /// is none. Work that is proven gets no further commit, so nobody is told to make one.
    fn take_repair(&mut self, workflow: &Workflow, turn: &Turn, evidence: &Evidence) -> Option<String> {
        let Step::Fix(skill) = &turn.call.step else { return None };
        let is_proven = workflow.proof.at.is_some_and(|it| it < self.phase);
        let left = if is_proven { None } else { self.take_commit(skill, evidence) };
        self.troubles.note_try(self.phase, self.retry.fix.as_deref());
        left
    }

    fn take_commit(&mut self, skill: &str, evidence: &Evidence) -> Option<String> {
        let is_clean = evidence.facts.values.get(FactName::TreeClean.name()) != Some(&Value::Bool(false));
        let made = evidence.facts.values.get(FactName::CommitsMade.name()).and_then(Value::number);
        match made {
            Some(made) if 0.0 < made && is_clean => {
                let short: String = evidence.facts.commit.chars().take(12).collect();
                let said = self.retry.fix.take().unwrap_or_else(|| format!("repaired by {skill}"));
                self.retry.fix = Some(format!("{said} (commit {short})"));
                None
            }
            _ if is_clean => Some(format!("{skill} committed no repair")),
            _ => {
                self.warn(format!("{skill} left its repair uncommitted"));
                Some(format!(
                    "{skill} left uncommitted changes: commit the repair first, in its own commit: fix(scope): what was wrong"
                ))
            }
        }
    }

    fn count(&mut self, workflow: &Workflow, turn: &Turn) {
        if turn.ended.call == 0 {
            self.visit.looked = true;
            self.visit.recheck = false;
            return;
        }
        self.visit.iteration += 1;
        self.iterations_total += 1;
        self.iterations_counted += u32::from(workflow.phases[self.phase].counted);
        self.phases[self.phase].iterations = self.visit.iteration;
    }

    /// Takes over what a report asks for and what people should know about the iteration.
    fn hear(&mut self, workflow: &Workflow, turn: &Turn, evidence: &Evidence) {
        self.warn_of_branch(evidence.facts.branch.as_deref());
        self.lost_work.clone_from(&evidence.lost_work);
        let report = &turn.ended.report;
        for gate in &report.gates {
            if workflow.gates.contains_key(gate) && !self.gates_wanted.contains(gate) {
                self.gates_wanted.push(gate.clone());
            }
        }
        if !report.items.is_empty() {
            self.items_proposed = report.items.iter().take(PROPOSED_MOST).cloned().collect();
        }
        for plan in &evidence.refused_plans {
            self.refuse_plan(plan);
        }
        if evidence.facts.values.get(FactName::InputChanged.name()) == Some(&Value::Bool(true)) {
            self.warn("the locked input was changed beyond its checkboxes".to_owned());
        }
    }

    /// Nobody works on a plan that does not count. It stays where it is, and everybody is told.
    fn refuse_plan(&mut self, plan: &RefusedPlan) {
        self.warn(format!("{} is not worked on: {}", plan.name, plan.why));
        self.refused_plans.retain(|it| it.name != plan.name);
        if self.refused_plans.len() < REFUSED_MOST {
            self.refused_plans.push(plan.clone());
        }
    }

    /// Whether the call was lost together with the controller that began it. One that is lost while its
    /// controller lives may have ended its shim itself.
    fn was_lost_in_a_crash(&self, turn: &Turn) -> bool {
        matches!(turn.ended.ending, Ending::Lost { .. }) && turn.call.epoch != self.epoch
    }

    fn feed_breaker(&mut self, workflow: &Workflow, at: Timestamp, judgement: &Judgement) {
        let breaker = &mut self.visit.breaker;
        breaker.feed(judgement);
        let open = breaker.open(&workflow.phases[self.phase].breaker).is_some();
        breaker.opened_at = if open { breaker.opened_at.or(Some(at)) } else { None };
    }

    fn note_failure(&mut self, workflow: &Workflow, at: Timestamp, judgement: &Judgement) {
        self.retry.note(workflow.retries.as_ref(), judgement.error.as_ref());
        let (class, text) = match &judgement.error {
            Some(error) => (error.class.clone(), error.text.clone()),
            None => (ErrorClass::Other, judgement.why.join("; ")),
        };
        self.troubles.note_failure(FailureEntry {
            at,
            phase: self.phase,
            item: self.item.as_ref().map(|it| it.id.clone()),
            gate: None,
            class,
            text,
            tried: None,
            resolution: None,
            resolved_at: None,
            retries: self.retry.count,
            escalated: false,
        });
    }

    /// Remembers which of the phase's skills are done. One that failed, or whose phase could not be
    /// left after it, is called again.
    fn step(&mut self, turn: &Turn, verdict: &Verdict) {
        match (&turn.call.step, verdict) {
            (Step::Fix(_), _) => {
                self.visit.fix_due = false;
                self.retry.fix.clone_from(&turn.ended.report.summary);
            }
            (
                Step::Skill(skill),
                Verdict::Step | Verdict::Leave | Verdict::Reject | Verdict::Checkpoint(_),
            ) => {
                if !self.visit.skills_done.contains(skill) {
                    self.visit.skills_done.push(skill.clone());
                }
                self.visit.claims.extend(turn.ended.report.metrics.clone());
            }
            (Step::Skill(_), Verdict::Again | Verdict::Fail | Verdict::Stuck(_)) | (Step::Main, _) => (),
        }
    }
}

/// What a phase was left with, in words: what was measured, and what was said about security, performance and the
/// work. What nobody but the agent says is called a claim.
fn shown(evidence: &Evidence, metrics: &Metrics) -> BTreeMap<ShownKind, String> {
    let mut shown = BTreeMap::new();
    let value = |fact: FactName| metrics.get(fact.name()).map(|it| it.value.clone());
    let number = |fact: FactName| value(fact).and_then(|it| it.number());
    let mut show = |kind: ShownKind, of: &[FactName], words: String| {
        let is_claim = |it: &FactName| metrics.get(it.name()).is_some_and(|it| it.source == Source::Claimed);
        let claim = if of.iter().any(is_claim) { ", claimed by the agent" } else { "" };
        shown.insert(kind, format!("{words}{claim}"));
    };
    let tests = [FactName::TestsPassing, FactName::TestsTotal];
    if let [Some(passing), Some(total)] = tests.map(number) {
        show(ShownKind::Tests, &tests, format!("{passing} of {total} tests pass"));
    }
    let named = |wanted: CheckOutcome| {
        let names: Vec<&str> =
            evidence.results.iter().filter(|it| it.outcome == wanted).map(|it| it.name.as_str()).collect();
        names.join(", ")
    };
    let (passed, skipped) = (named(CheckOutcome::Passed), named(CheckOutcome::Skipped));
    let skipped = if skipped.is_empty() { skipped } else { format!("; no command for {skipped}") };
    if !evidence.results.is_empty() {
        let passed = if passed.is_empty() { "nothing" } else { &passed };
        show(ShownKind::Checks, &[], format!("passed: {passed}{skipped}"));
    }
    let findings = [FactName::CriticalFindings, FactName::HighFindings];
    if let [Some(critical), Some(high)] = findings.map(number) {
        show(ShownKind::Security, &findings, format!("{critical} critical and {high} high findings"));
    }
    let (targets, met) = (FactName::PerfTargetsTotal, FactName::PerfTargetsMet);
    match (number(targets), value(met)) {
        (Some(0.0), _) => {
            show(ShownKind::NoPerformanceTarget, &[targets], "no target is stated".to_owned());
        }
        (_, Some(Value::Bool(true))) => {
            show(ShownKind::Performance, &[met], "every target is met".to_owned());
        }
        (_, _) => (),
    }
    if let Some(verdict) = value(FactName::Verdict) {
        let words = format!("the verdict is {}", verdict.to_string().trim_matches('"'));
        show(ShownKind::Review, &[FactName::Verdict], words);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::journal::measured::metric::Metric;

    #[test]
    fn a_claim_is_not_shown_as_measured() {
        let metric = |value, source| Metric { value, source, claimed: None };
        let mut metrics = Metrics::new();
        for (fact, source) in [
            (FactName::TestsPassing, Source::Measured),
            (FactName::TestsTotal, Source::Measured),
            (FactName::CriticalFindings, Source::Claimed),
            (FactName::HighFindings, Source::Claimed),
            (FactName::PerfTargetsTotal, Source::Claimed),
        ] {
            metrics.insert(fact.name().to_owned(), metric(Value::Int(0), source));
        }
        let verdict = metric(Value::Text("APPROVE".to_owned()), Source::Claimed);
        metrics.insert(FactName::Verdict.name().to_owned(), verdict);
        let shown = shown(&Evidence::default(), &metrics);
        let expected = [
            (ShownKind::Tests, "0 of 0 tests pass"),
            (ShownKind::Security, "0 critical and 0 high findings, claimed by the agent"),
            (ShownKind::NoPerformanceTarget, "no target is stated, claimed by the agent"),
            (ShownKind::Review, "the verdict is APPROVE, claimed by the agent"),
        ];
        assert_eq!(shown, expected.map(|(kind, words)| (kind, words.to_owned())).into());
    }
}
