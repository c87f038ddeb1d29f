//! The names that conditions see after a call, each with its value and where it comes from.
//!
//! Three layers, and a higher one always wins: what the agent claims, what the checks measured,
//! what the engine itself knows. A claim about something that only we can know never counts; with
//! `--unverified` the agent's test counts do where no check brings them.

use super::evidence::{CheckOutcome, CheckResult, Evidence, Tests};
use super::state::State;
use crate::report::Report;
use crate::workflow::model::{Phase, Workflow};
use loop_base::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A named value and its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub value: Value,
    pub source: Source,
    /// What the agent said, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Value>,
}

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A check that we ran.
    Measured,
    /// The engine's own books, the tree, the input.
    Engine,
    /// The agent's report.
    Claimed,
}

pub(crate) type Metrics = BTreeMap<String, Metric>;

/// What an unverified run takes from the agent's report where nothing is measured.
const CLAIMABLE: [&str; 6] = [
    "tests_total",
    "tests_passing",
    "tests_failing",
    "tests_skipped",
    "tests_generated",
    "consecutive_green_runs",
];

/// What only we can know, beside everything that names a check.
const OURS: [&str; 24] = [
    "iteration",
    "checks_failing",
    "items_remaining",
    "items_completed",
    "files_changed",
    "commits_made",
    "tree_changed",
    "tree_clean",
    "criteria_count",
    "criteria_open",
    "docs_generated",
    "has_adr",
    "new_plans",
    "autonomous",
    "touches_security",
    "schema_changes",
    "external_apis",
    "new_patterns",
    "skills_done",
    "deliverables_missing",
    "signal",
    "plan_summarised",
    "pr_merged",
    INPUT_CHANGED,
];

/// A fact: the locked input is no longer what it was.
pub(super) const INPUT_CHANGED: &str = "input_changed";

/// Returns every name that a condition of this phase may see, and how often in a row the tests
/// have passed.
pub(super) fn gather(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    report: &Report,
    evidence: &Evidence,
) -> (Metrics, u32) {
    let mut metrics = Metrics::new();
    let green_runs = green_runs(workflow, state.green_runs, &evidence.results);
    let counts = Tally::of(&evidence.results);

    for (name, value) in state.visit.claims.iter().chain(&report.metrics) {
        if claim_counts(workflow, state, report, name, counts.is_some()) {
            put(&mut metrics, name, value.clone(), Source::Claimed);
        }
    }
    if state.opening.unverified && report.found && counts.is_none() && !report.counts_broken {
        // Tests that are reported without a count of the generated ones are all taken for such.
        if let Some(total) = report.metrics.get("tests_total")
            && !report.metrics.contains_key("tests_generated")
        {
            put(&mut metrics, "tests_generated", total.clone(), Source::Claimed);
        }
    }
    for result in &evidence.results {
        for (name, value) in &result.metrics {
            put(&mut metrics, name, value.clone(), Source::Measured);
        }
    }
    for result in &evidence.results {
        let passed = match &result.outcome {
            CheckOutcome::Passed => true,
            CheckOutcome::Failed(_) => false,
            CheckOutcome::Skipped => continue,
        };
        put(&mut metrics, &format!("{}_ok", result.name), passed.into(), Source::Measured);
        if let Some(tests) = &result.counts {
            for (suffix, count) in [
                ("total", tests.total),
                ("passing", tests.passing),
                ("failing", tests.failing),
                ("skipped", tests.skipped),
            ] {
                put(&mut metrics, &format!("{}_{suffix}", result.name), count.into(), Source::Measured);
            }
        }
    }
    if let Some(now) = counts {
        for (name, value) in now.against(Tally::of(&state.baseline_results())) {
            put(&mut metrics, name, value, Source::Measured);
        }
        put(&mut metrics, "consecutive_green_runs", green_runs.into(), Source::Measured);
    }
    for (name, value) in &evidence.facts.values {
        put(&mut metrics, name, value.clone(), Source::Engine);
    }
    if !evidence.facts.values.contains_key("autonomous") {
        put(&mut metrics, "autonomous", is_autonomous(workflow).into(), Source::Engine);
    }
    if let Some(signal) = &report.signal {
        put(&mut metrics, "signal", signal.as_str().into(), Source::Engine);
    }
    let failing = failing_checks(phase, &evidence.results).count();
    put(&mut metrics, "checks_failing", failing.into(), Source::Engine);
    put(&mut metrics, "iteration", (state.visit.iteration + 1).into(), Source::Engine);
    if let Some(criteria) = state.opening.criteria {
        put(&mut metrics, "criteria_count", criteria.into(), Source::Engine);
    }
    if workflow.items.is_some() {
        put(&mut metrics, "items_completed", state.listed_items_done().into(), Source::Engine);
        put(&mut metrics, "items_remaining", state.items_left.into(), Source::Engine);
    }
    for (name, value) in &report.metrics {
        if let Some(metric) = metrics.get_mut(name)
            && metric.source != Source::Claimed
            && metric.value != *value
        {
            metric.claimed = Some(value.clone());
        }
    }
    (metrics, green_runs)
}

/// Returns a value as it was last seen, wherever the run stands: the facts, else what the last
/// iteration came to.
pub(super) fn known(workflow: &Workflow, state: &State, name: &str) -> Option<Value> {
    let seen = state.seen.values.get(name).or_else(|| state.visit.metrics.get(name).map(|it| &it.value));
    let default = || (name == "autonomous").then(|| is_autonomous(workflow).into());
    seen.cloned().or_else(default)
}

fn is_autonomous(workflow: &Workflow) -> bool {
    workflow.mode.as_deref() == Some("autonomous")
}

/// The checks of a phase that failed, apart from those whose failing is the aim.
pub(super) fn failing_checks<'a>(
    phase: &'a Phase,
    results: &'a [CheckResult],
) -> impl Iterator<Item = &'a CheckResult> {
    results.iter().filter(|it| {
        let expected = phase.expect_failing && it.counts.as_ref().is_some_and(|tests| 0 < tests.total);
        matches!(it.outcome, CheckOutcome::Failed(_)) && !expected
    })
}

/// Those of them that fail by something other than tests which failed before the run began: what
/// this iteration has to answer for.
pub(super) fn broken_checks<'a>(
    phase: &'a Phase,
    results: &'a [CheckResult],
) -> impl Iterator<Item = &'a CheckResult> {
    failing_checks(phase, results).filter(|it| it.passes == 0)
}

fn claim_counts(workflow: &Workflow, state: &State, report: &Report, name: &str, counted: bool) -> bool {
    if CLAIMABLE.contains(&name) {
        return state.opening.unverified && !counted && !report.counts_broken;
    }
    let names_a_check = workflow
        .checks
        .keys()
        .any(|check| name.strip_prefix(check.as_str()).is_some_and(|rest| rest.starts_with('_')));
    !OURS.contains(&name) && !names_a_check && !workflow.facts.contains_key(name)
}

fn put(metrics: &mut Metrics, name: &str, value: Value, source: Source) {
    metrics.insert(name.to_owned(), Metric { value, source, claimed: None });
}

/// Every full pass adds one, any failure starts again. Where no check counts tests, the one named
/// `tests` speaks for them.
fn green_runs(workflow: &Workflow, before: u32, results: &[CheckResult]) -> u32 {
    let counted = |it: &&CheckResult| {
        it.counts.is_some()
            || it.name == "tests"
            || workflow.checks.get(&it.name).is_some_and(|check| 1 < check.repeat)
    };
    let mut added = None;
    for result in results.iter().filter(counted) {
        match result.outcome {
            CheckOutcome::Skipped => (),
            CheckOutcome::Passed | CheckOutcome::Failed(_) if result.passes == 0 => return 0,
            CheckOutcome::Passed | CheckOutcome::Failed(_) => {
                added = Some(added.unwrap_or(u32::MAX).min(result.passes));
            }
        }
    }
    added.map_or(before, |passes| before.saturating_add(passes))
}

/// The counts of several checks, added up.
#[derive(Default)]
struct Tally {
    tests: Tests,
}

impl Tally {
    fn of<'a>(results: impl IntoIterator<Item = &'a CheckResult>) -> Option<Tally> {
        let mut tally: Option<Tally> = None;
        for tests in results.into_iter().filter_map(|it| it.counts.as_ref()) {
            let sum = &mut tally.get_or_insert_with(Tally::default).tests;
            sum.total += tests.total;
            sum.passing += tests.passing;
            sum.failing += tests.failing;
            sum.skipped += tests.skipped;
            sum.failed.extend(tests.failed.iter().cloned());
        }
        tally
    }

    /// Tests that failed or were skipped before the first call are left out of the books, so that
    /// nobody has to mend them and nobody can hide behind them.
    fn against(&self, baseline: Option<Tally>) -> [(&'static str, Value); 5] {
        let before = baseline.unwrap_or_default().tests;
        let now = &self.tests;
        let known_red = known_red(now, &before);
        let known_skipped = now.skipped.min(before.skipped);
        [
            ("tests_total", now.total.saturating_sub(known_red + known_skipped).into()),
            ("tests_passing", now.passing.into()),
            ("tests_failing", now.failing.saturating_sub(known_red).into()),
            ("tests_skipped", now.skipped.into()),
            ("tests_generated", now.total.saturating_sub(before.total).into()),
        ]
    }
}

/// How many of the failing tests failed already at the baseline. Only names can say that: where a
/// run does not name every failure, none is excused.
pub fn known_red(now: &Tests, before: &Tests) -> u32 {
    let named = |tests: &Tests| tests.failed.len() == tests.failing as usize;
    if !named(now) || !named(before) {
        return 0;
    }
    let old = now.failed.iter().filter(|it| before.failed.contains(it)).count();
    u32::try_from(old).unwrap_or(u32::MAX)
}
