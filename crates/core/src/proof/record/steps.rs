//! The clean runs that a proof is made of. The executor fills a [`StepOutcome`] for each step, with
//! one attempt per repetition, because a red test is repeated on the same tree before it counts.

use crate::proof::results::ids::{Exit, NamedTests, Results, TestId, TestOutcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Red tests are repeated at most this often beyond the first attempt.
pub(crate) const REPEATS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofStep {
    /// A0: the baseline in a clean checkout.
    Baseline,
    /// D: the final tree in a clean checkout.
    Clean,
    /// E: the final tree with the baseline's protected files.
    Overlay,
    /// F: the baseline's code with the final tests.
    OldCode,
    /// G: the overlay with tests that must fail.
    Canary,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    Ran(StepRun),
    NotRun(NotRun),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotRun {
    /// Nothing in the change asks for this step: the overlay equals the final tree, or no test
    /// text changed.
    NotNeeded,
    /// `clean = "never"`, or the person skipped the preparation.
    Skipped,
    /// It could not be made or built, in words.
    Failed(String),
}

/// One step, with every attempt on the same tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRun {
    pub tree: String,
    /// Results of all checks in each attempt; a repetition may run some of the checks only.
    pub attempts: Vec<Vec<Results>>,
    pub seconds: f64,
    /// Protected or tracked files that changed while the step ran: such a run is void.
    pub touched: Vec<String>,
    /// More attempts on the baseline, taken because a test that passed there is flaky here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline_again: Vec<Vec<Results>>,
}

/// What became of the canary of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryOutcome {
    /// Seen failing on the baseline and on the overlay.
    Seen,
    /// Seen failing on the baseline, not on the overlay.
    Unseen,
    /// The baseline did not show it, so that its absence says nothing.
    NotOnBaseline,
    /// There is nothing for one to show: the check only compares what is printed, or the overlay did not build.
    None,
}

impl ProofStep {
    pub const ALL: [ProofStep; 5] =
        [ProofStep::Baseline, ProofStep::Clean, ProofStep::Overlay, ProofStep::OldCode, ProofStep::Canary];

    /// Names the step in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            ProofStep::Baseline => "the clean checkout of the baseline",
            ProofStep::Clean => "the clean checkout",
            ProofStep::Overlay => "the run with the original tests",
            ProofStep::OldCode => "the run of the final tests on the old code",
            ProofStep::Canary => "the run with tests that must fail",
        }
    }
}

impl StepRun {
    /// Returns the results of the first attempt of a check.
    pub fn check(&self, name: &str) -> Option<&Results> {
        self.attempts.first()?.iter().find(|it| it.check == name)
    }
}

/// What a step brought after its repetitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    /// The results of each check, without the flaky ids.
    pub(crate) results: Vec<Results>,
    /// Ids that were green and red on the same tree.
    pub(crate) flaky: BTreeSet<TestId>,
    /// Attempts that ran each check.
    attempts: Vec<(String, usize)>,
}

impl Settled {
    pub(crate) fn check(&self, name: &str) -> Option<&Results> {
        self.results.iter().find(|it| it.check == name)
    }

    pub(crate) fn attempts_of(&self, check: &str) -> usize {
        self.attempts.iter().find(|(name, _)| name == check).map_or(0, |(_, number)| *number)
    }
}

/// Takes the attempts of a step together: an id that differs between them is flaky and counts for
/// nothing, and a check that was green once raises no alarm by its exit code.
pub(crate) fn settled(run: &StepRun) -> Settled {
    let mut settled = Settled::default();
    for first in run.attempts.first().into_iter().flatten() {
        let all: Vec<&Results> = run.attempts.iter().flatten().filter(|it| it.check == first.check).collect();
        let mut results = first.clone();
        let mut exit_differs = false;
        for other in &all[1..] {
            exit_differs |=
                matches!((first.exit, other.exit), (Exit::Red, Exit::Green) | (Exit::Green, Exit::Red));
            for (name, outcome) in &other.ids {
                let before = first.outcome(name);
                let differs = match before {
                    Some(before) => before != *outcome,
                    // Where only failures are named, a test that is not named has passed.
                    None => first.listing == NamedTests::Failures && *outcome == TestOutcome::Failed,
                };
                if differs {
                    settled.flaky.insert(first.id(name));
                }
            }
            if other.listing == NamedTests::Failures {
                let healed = first.names(TestOutcome::Failed).filter(|it| other.outcome(it).is_none());
                settled.flaky.extend(healed.map(|it| first.id(it)));
            }
            if (first.exit, other.exit) == (Exit::Red, Exit::Green) {
                results.exit = Exit::Green;
            }
        }
        if exit_differs && !settled.flaky.iter().any(|it| it.check == first.check) {
            settled.flaky.insert(TestId::exit(&first.check));
        }
        results.ids.retain(|name, _| !settled.flaky.contains(&first.id(name)));
        settled.attempts.push((first.check.clone(), all.len()));
        settled.results.push(results);
    }
    settled
}

/// Returns the checks that must run again on the same tree, because something in them was red in
/// every attempt so far. What was red on the baseline too is not repeated in D and E, where it raises
/// no alarm; in F, and on the baseline, red is the evidence and is looked at once more.
pub fn needs_repeat(step: ProofStep, run: &StepRun, baseline: Option<&StepRun>) -> Vec<String> {
    let most = match step {
        ProofStep::Baseline | ProofStep::OldCode => 1,
        ProofStep::Clean | ProofStep::Overlay => REPEATS,
        ProofStep::Canary => 0,
    };
    let before = baseline.map(settled);
    let settled = settled(run);
    let wanted = |results: &&Results| {
        let before = before.as_ref().and_then(|it| it.check(&results.check));
        let known = |name: &str| {
            matches!(step, ProofStep::Clean | ProofStep::Overlay)
                && before.is_some_and(|it| it.outcome(name) == Some(TestOutcome::Failed))
        };
        let has_red = results.names(TestOutcome::Failed).any(|it| !known(it));
        let silent = results.exit == Exit::Red && results.names(TestOutcome::Failed).next().is_none();
        let known_silent = matches!(step, ProofStep::Clean | ProofStep::Overlay)
            && before.is_some_and(|it| it.exit == Exit::Red);
        let red = has_red || (silent && !known_silent);
        red && settled.attempts_of(&results.check) <= most && results.exit != Exit::Interrupted
    };
    settled.results.iter().filter(wanted).map(|it| it.check.clone()).collect()
}

/// Returns the checks with a test that is red and green on this tree and was green on the baseline, each
/// time it ran there. Whether it is the work that made it so, more runs of the baseline tell.
pub fn became_flaky(run: &StepRun, baseline: &StepRun) -> Vec<String> {
    let before = settled(baseline);
    let ids = flaky_since(&settled(run), &before);
    ids.into_iter().map(|it| it.check).collect::<BTreeSet<String>>().into_iter().collect()
}

/// The ids that are flaky in a step and passed whenever they ran on the baseline.
pub(crate) fn flaky_since(step: &Settled, before: &Settled) -> Vec<TestId> {
    let passed = |id: &&TestId| {
        before.check(&id.check).is_some_and(|it| match id.is_exit() {
            true => it.exit == Exit::Green && !before.flaky.contains(*id),
            false => it.outcome(&id.name) == Some(TestOutcome::Passed),
        })
    };
    step.flaky.iter().filter(passed).cloned().collect()
}

/// Tells whether no check could do anything on this tree although one did so in place: then a
/// preparation is missing. A check that ran and failed did something. One that could not begin in
/// place either was given a test before the module that it needs: nothing would prepare that.
pub fn nothing_ran(run: &StepRun, in_place: &[Results]) -> bool {
    let idle = |it: &Results| match it.exit {
        Exit::NotStarted => true,
        Exit::Green | Exit::Interrupted => false,
        // What pytest could not import, its summary counts as failed.
        Exit::Red => it.build_failed && it.passed == 0 && it.ids.is_empty(),
    };
    let is_idle_everywhere = !in_place.is_empty() && in_place.iter().all(idle);
    !is_idle_everywhere && run.attempts.first().is_some_and(|it| !it.is_empty() && it.iter().all(idle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::testing::{results, run};

    #[test]
    fn a_mixed_test_is_flaky_and_its_check_is_not_red() {
        let red = results("tests", Exit::Red, &[("a", TestOutcome::Failed), ("b", TestOutcome::Passed)]);
        let green = results("tests", Exit::Green, &[("a", TestOutcome::Passed), ("b", TestOutcome::Passed)]);
        let settled = settled(&run(vec![vec![red.clone()], vec![green]]));
        assert_eq!(settled.flaky.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["a"]);
        let check = settled.check("tests").expect("a check");
        assert_eq!(
            (check.exit, check.outcome("a"), check.outcome("b")),
            (Exit::Green, None, Some(TestOutcome::Passed))
        );
    }

    #[test]
    fn a_test_became_flaky_unless_the_baseline_was() {
        let red = results("tests", Exit::Red, &[("a", TestOutcome::Failed)]);
        let green = results("tests", Exit::Green, &[("a", TestOutcome::Passed)]);
        let mixed = run(vec![vec![red.clone()], vec![green.clone()]]);
        assert_eq!(became_flaky(&mixed, &run(vec![vec![green.clone()]])), ["tests"]);
        assert!(became_flaky(&mixed, &run(vec![vec![green], vec![red.clone()]])).is_empty());
        assert!(became_flaky(&mixed, &run(vec![vec![red]])).is_empty());
        let [red, green] = [Exit::Red, Exit::Green].map(|it| Results::by_exit("tests", it));
        let mixed = run(vec![vec![red.clone()], vec![green.clone()]]);
        assert_eq!(became_flaky(&mixed, &run(vec![vec![green.clone()]])), ["tests"]);
        assert!(became_flaky(&mixed, &run(vec![vec![green], vec![red]])).is_empty());
    }

    #[test]
    fn repeats_new_reds_twice_and_evidence_once() {
        let red = results("tests", Exit::Red, &[("a", TestOutcome::Failed)]);
        let once = run(vec![vec![red.clone()]]);
        let twice = run(vec![vec![red.clone()], vec![red.clone()]]);
        let thrice = run(vec![vec![red.clone()], vec![red.clone()], vec![red.clone()]]);
        for step in [ProofStep::Clean, ProofStep::Overlay] {
            assert_eq!(needs_repeat(step, &once, None), ["tests"]);
            assert_eq!(needs_repeat(step, &twice, None), ["tests"]);
            assert!(needs_repeat(step, &thrice, None).is_empty());
            assert!(needs_repeat(step, &once, Some(&once)).is_empty());
        }
        assert_eq!(needs_repeat(ProofStep::OldCode, &once, Some(&once)), ["tests"]);
        assert!(needs_repeat(ProofStep::OldCode, &twice, None).is_empty());
        assert!(needs_repeat(ProofStep::Canary, &once, None).is_empty());
        let green = results("tests", Exit::Green, &[("a", TestOutcome::Passed)]);
        assert!(needs_repeat(ProofStep::Clean, &run(vec![vec![red], vec![green.clone()]]), None).is_empty());
        assert!(needs_repeat(ProofStep::Clean, &run(vec![vec![green]]), None).is_empty());
    }

    #[test]
    fn knows_when_a_preparation_is_missing() {
        let missing = Results::by_exit("tests", Exit::NotStarted);
        let not_built = Results { build_failed: true, ..results("tests", Exit::Red, &[]) };
        let failed = results("tests", Exit::Red, &[("a", TestOutcome::Failed)]);
        assert!(nothing_ran(&run(vec![vec![missing.clone()]]), &[]));
        let idle = run(vec![vec![missing.clone(), not_built.clone()]]);
        assert!(nothing_ran(&idle, &[]));
        assert!(nothing_ran(&idle, &[missing.clone(), failed.clone()]));
        assert!(!nothing_ran(&idle, &[missing.clone(), not_built]));
        assert!(!nothing_ran(&run(vec![vec![missing, failed]]), &[]));
    }
}
