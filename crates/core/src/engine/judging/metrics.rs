//! The names that conditions see after a call, each with its value and where it comes from.
//!
//! Three layers, and a higher one always wins: what the agent claims, what the checks measured,
//! what the engine itself knows. A claim about something that only we can know never counts; with
//! `--unverified` the agent's test counts do where no check brings them.

use crate::engine::journal::measured::evidence::{CheckOutcome, CheckResult, Evidence, Tests};
use crate::engine::journal::measured::metric::{Metric, Metrics, Source};
use crate::engine::state::run_state::State;
use crate::facts::{Claim, FactName};
use crate::report::Report;
use crate::workflow::model::{Phase, TESTS_CHECK, Workflow};
use loop_base::value::Value;

/// Returns every name that a condition of this phase may see, and how often in a row the tests
/// have passed.
pub(crate) fn gather(
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    report: &Report,
    evidence: &Evidence,
) -> (Metrics, u32) {
    let mut metrics = Metrics::new();
    let green_runs = green_runs(workflow, state.green_runs, &evidence.results);
    let counts = Tally::of(&evidence.results);

    put_claims(&mut metrics, workflow, state, report, counts.is_some());
    put_measured(&mut metrics, state, evidence, counts, green_runs);
    put_known(&mut metrics, workflow, phase, state, report, evidence);
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

/// What the agent says, where its word counts.
fn put_claims(metrics: &mut Metrics, workflow: &Workflow, state: &State, report: &Report, counted: bool) {
    for (name, value) in state.visit.claims.iter().chain(&report.metrics) {
        if claim_counts(workflow, state, report, name, counted) {
            put(metrics, name, value.clone(), Source::Claimed);
        }
    }
    if state.opening.unverified && report.found && !counted && !report.counts_broken {
        // Tests that are reported without a count of the generated ones are all taken for such.
        if let Some(total) = report.metrics.get(FactName::TestsTotal.name())
            && !report.metrics.contains_key(FactName::TestsGenerated.name())
        {
            put_fact(metrics, FactName::TestsGenerated, total.clone(), Source::Claimed);
        }
    }
}

/// What the checks brought.
fn put_measured(
    metrics: &mut Metrics,
    state: &State,
    evidence: &Evidence,
    counts: Option<Tally>,
    green_runs: u32,
) {
    for result in &evidence.results {
        for (name, value) in &result.metrics {
            put(metrics, name, value.clone(), Source::Measured);
        }
    }
    for result in &evidence.results {
        let passed = match &result.outcome {
            CheckOutcome::Passed => true,
            CheckOutcome::Failed(_) => false,
            CheckOutcome::Skipped => continue,
        };
        put(metrics, &format!("{}_ok", result.name), passed.into(), Source::Measured);
        if let Some(tests) = &result.counts {
            for (suffix, count) in [
                ("total", tests.total),
                ("passing", tests.passing),
                ("failing", tests.failing),
                ("skipped", tests.skipped),
            ] {
                put(metrics, &format!("{}_{suffix}", result.name), count.into(), Source::Measured);
            }
        }
    }
    if let Some(now) = counts {
        for (fact, value) in now.against(Tally::of(&state.baseline_results())) {
            put_fact(metrics, fact, value, Source::Measured);
        }
        put_fact(metrics, FactName::ConsecutiveGreenRuns, green_runs.into(), Source::Measured);
    }
}

/// What the engine itself knows.
fn put_known(
    metrics: &mut Metrics,
    workflow: &Workflow,
    phase: &Phase,
    state: &State,
    report: &Report,
    evidence: &Evidence,
) {
    for (name, value) in &evidence.facts.values {
        put(metrics, name, value.clone(), Source::Engine);
    }
    if !evidence.facts.values.contains_key(FactName::Autonomous.name()) {
        put_fact(metrics, FactName::Autonomous, workflow.is_autonomous().into(), Source::Engine);
    }
    if let Some(signal) = &report.signal {
        put_fact(metrics, FactName::Signal, signal.word().into(), Source::Engine);
    }
    if phase.asks_for(FactName::RequirementsOpen.name()) {
        let open = state.requirements_open_after(report).len();
        put_fact(metrics, FactName::RequirementsOpen, open.into(), Source::Engine);
    }
    let failing = failing_checks(phase, &evidence.results).count();
    put_fact(metrics, FactName::ChecksFailing, failing.into(), Source::Engine);
    put_fact(metrics, FactName::Iteration, (state.visit.iteration + 1).into(), Source::Engine);
    if let Some(criteria) = state.opening.criteria {
        put_fact(metrics, FactName::CriteriaCount, criteria.into(), Source::Engine);
    }
    if workflow.items.is_some() {
        put_fact(metrics, FactName::ItemsCompleted, state.listed_items_done().into(), Source::Engine);
        put_fact(metrics, FactName::ItemsRemaining, state.items_left.into(), Source::Engine);
    }
}

/// Returns a value as it was last seen, wherever the run stands: the facts, else what the last
/// iteration came to.
pub(crate) fn known(workflow: &Workflow, state: &State, name: &str) -> Option<Value> {
    let seen = state.seen.values.get(name).or_else(|| state.visit.metrics.get(name).map(|it| &it.value));
    let default = || (name == FactName::Autonomous.name()).then(|| workflow.is_autonomous().into());
    seen.cloned().or_else(default)
}

/// The checks of a phase that failed, apart from those whose failing is the aim.
pub(crate) fn failing_checks<'a>(
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
pub(crate) fn broken_checks<'a>(
    phase: &'a Phase,
    results: &'a [CheckResult],
) -> impl Iterator<Item = &'a CheckResult> {
    failing_checks(phase, results).filter(|it| it.passes == 0)
}

/// The checks that keep a phase. A phase without an exit rule is left when all of its checks pass, also by tests that
/// failed before the run began.
pub(crate) fn keeping_checks<'a>(phase: &'a Phase, results: &'a [CheckResult]) -> Vec<&'a CheckResult> {
    match &phase.exit {
        Some(_) => broken_checks(phase, results).collect(),
        None => failing_checks(phase, results).collect(),
    }
}

fn claim_counts(workflow: &Workflow, state: &State, report: &Report, name: &str, counted: bool) -> bool {
    match FactName::named(name).map(|it| it.row().claim) {
        Some(Claim::Never) => return false,
        Some(Claim::Unverified) => return state.opening.unverified && !counted && !report.counts_broken,
        // A name of ours may begin like a check: `perf_targets_met`.
        Some(Claim::Always) => return !workflow.facts.contains_key(name),
        None => (),
    }
    let names_a_check = workflow
        .checks
        .keys()
        .any(|check| name.strip_prefix(check.as_str()).is_some_and(|rest| rest.starts_with('_')));
    let counts_files = workflow.checks.values().any(|it| it.files.contains_key(name));
    !names_a_check && !counts_files && !workflow.facts.contains_key(name)
}

fn put_fact(metrics: &mut Metrics, fact: FactName, value: Value, source: Source) {
    put(metrics, fact.name(), value, source);
}

fn put(metrics: &mut Metrics, name: &str, value: Value, source: Source) {
    metrics.insert(name.to_owned(), Metric { value, source, claimed: None });
}

/// Every full pass adds one, any failure starts again. Where no check counts tests, the one named
/// `tests` speaks for them.
fn green_runs(workflow: &Workflow, before: u32, results: &[CheckResult]) -> u32 {
    let counted = |it: &&CheckResult| {
        it.counts.is_some()
            || it.name == TESTS_CHECK
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
    fn against(&self, baseline: Option<Tally>) -> [(FactName, Value); 5] {
        let before = baseline.unwrap_or_default().tests;
        let now = &self.tests;
        let known_red = known_red(now, &before);
        let known_skipped = now.skipped.min(before.skipped);
        [
            (FactName::TestsTotal, now.total.saturating_sub(known_red + known_skipped).into()),
            (FactName::TestsPassing, now.passing.into()),
            (FactName::TestsFailing, now.failing.saturating_sub(known_red).into()),
            (FactName::TestsSkipped, now.skipped.into()),
            (FactName::TestsGenerated, now.total.saturating_sub(before.total).into()),
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

#[cfg(test)]
mod tests {
    use super::{CheckOutcome, CheckResult, Evidence, Metrics, Source, State, Tests, gather};
    use crate::engine::{Event, Opening};
    use crate::facts::{Claim, FactName, Supplier};
    use crate::report::Report;
    use crate::workflow::model::SignalWord;
    use crate::workflow::resolve::{self, Layers, resolve};
    use loop_base::time::Timestamp;
    use loop_base::value::Value;

    const WORKFLOW: &str = r#"
        name = "w"
        input = { kind = "file", about = "" }
        [items]
        name = "chore"
        from = ["one", "two"]
        [facts.touches_water]
        path = "**/*.tap"
        [checks.tests]
        run = "true"
        counts = "tap"
        files = { pages = "docs/*.md" }
        [[phase]]
        name = "WORK"
        each = "chore"
        prompt = "Work."
        checks = ["tests"]
        exit = "checks_failing == 0 && requirements_open == 0"
        claims = ["mood"]
    "#;

    /// What conditions see after a report that claims every name there is.
    fn claimed(unverified: bool, evidence: &Evidence) -> Metrics {
        let project = resolve::LayerSource { name: "w".to_owned(), text: WORKFLOW.to_owned(), dir: None };
        let layers = Layers { project: Some(project), ..Layers::default() };
        let workflow = resolve(&layers, &|_| Err("no file".to_owned())).expect("it is sound");
        let mut state = State::new(&workflow);
        let opening = Opening { unverified, criteria: Some(4), ..Opening::default() };
        state.apply(&workflow, Timestamp(0), &Event::Opened(opening));
        let own = ["mood", "pages", "touches_water", "tests_ok"];
        let names = FactName::ALL.iter().map(|it| it.name()).chain(own);
        let mut report = Report { found: true, signal: Some(SignalWord::Done), ..Report::default() };
        report.metrics = names.map(|it| (it.to_owned(), Value::from("claimed"))).collect();
        gather(&workflow, &workflow.phases[0], &state, &report, evidence).0
    }

    #[test]
    fn nothing_in_the_table_can_be_claimed_unless_its_row_says_so() {
        for unverified in [false, true] {
            let metrics = claimed(unverified, &Evidence::default());
            let is_claimed = |name: &str| metrics.get(name).is_some_and(|it| it.source == Source::Claimed);
            for fact in FactName::ALL {
                let may = match fact.row().claim {
                    Claim::Never => false,
                    Claim::Unverified => unverified,
                    Claim::Always => true,
                };
                assert_eq!(is_claimed(fact.name()), may, "{}, unverified: {unverified}", fact.name());
            }
            assert!(is_claimed("mood"));
            // Nor what the workflow itself has measured.
            for name in ["pages", "touches_water", "tests_ok"] {
                assert!(!is_claimed(name), "{name} is claimed");
            }
        }
    }

    #[test]
    fn the_engine_brings_every_fact_that_is_its_own() {
        let tests = Tests { total: 3, passing: 3, ..Tests::default() };
        let result = CheckResult {
            counts: Some(tests),
            passes: 1,
            ..CheckResult::plain("tests", CheckOutcome::Passed)
        };
        let metrics = claimed(true, &Evidence { results: vec![result], ..Evidence::default() });
        for fact in FactName::ALL {
            let source = metrics.get(fact.name()).map(|it| it.source);
            let expected = match fact.row().supplier {
                Supplier::Engine | Supplier::Items | Supplier::Opening => Some(Source::Engine),
                Supplier::TestCounts | Supplier::Checks => Some(Source::Measured),
                Supplier::Report => Some(Source::Claimed),
                Supplier::World | Supplier::WorldUnnamed | Supplier::Patterns => None,
            };
            assert_eq!(source, expected, "{}", fact.name());
        }
    }
}
