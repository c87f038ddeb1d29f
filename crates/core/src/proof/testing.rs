//! Short ways to write results in tests.

use crate::proof::ids::{Exit, Listing, Outcome, Results};
use crate::proof::steps::StepRun;

/// Results that name every test.
pub(crate) fn results(check: &str, exit: Exit, tests: &[(&str, Outcome)]) -> Results {
    let number = |outcome: Outcome| tests.iter().filter(|(_, it)| *it == outcome).count() as u32;
    Results {
        listing: Listing::All,
        ids: tests.iter().map(|(name, outcome)| ((*name).to_owned(), *outcome)).collect(),
        passed: number(Outcome::Passed),
        failed: number(Outcome::Failed),
        skipped: number(Outcome::Skipped),
        ..Results::by_exit(check, exit)
    }
}

pub(crate) fn run(attempts: Vec<Vec<Results>>) -> StepRun {
    StepRun { tree: "t".to_owned(), attempts, seconds: 1.0, touched: Vec::new() }
}
