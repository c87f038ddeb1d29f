//! Canaries of checks that name no tests: each program that is such a check, or a part of one, gets a
//! statement that must fail. Make stops at the first program that fails, so those whose failure was seen are
//! put back and the check runs again, until a run shows no other.

use crate::measure::proof::pure::{Canary, Exit, ProgramCanary, StepRun, is_printed};
use crate::measure::proof::request::{ProofError, ProofRequest};
use crate::measure::proof::steps::overlay::Trees;
use crate::measure::proof::steps::prepared_checkout::PreparedCheckout;
use std::collections::{BTreeMap, BTreeSet};

/// A check of more programs is run this often at most; the others have no canary.
const ROUNDS_MOST: usize = 8;

/// The programs whose failure each check reported.
pub(crate) type SeenPrograms = BTreeMap<String, BTreeSet<String>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum CanaryPosition {
    Beginning,
    End,
}

impl PreparedCheckout {
    /// Finds out on the baseline which programs can show a failure. `without` are checks that do so by tests.
    pub(crate) fn show_programs(
        &mut self,
        request: &ProofRequest,
        trees: &Trees,
        word: &str,
        without: &[String],
        run: &StepRun,
    ) -> Result<SeenPrograms, ProofError> {
        let programs = trees.programs(&self.session.checkout.path, word);
        if programs.is_empty() || request.checks.iter().all(|it| without.contains(&it.name)) {
            return Ok(SeenPrograms::new());
        }
        let mut seen = self.rounds(request, trees, &programs, CanaryPosition::End, without)?;
        // Whoever failed on the baseline did not get to the end; who passed and did not get there never will.
        let is_green = |it: &str| run.check(it).is_none_or(|it| it.exit != Exit::Red);
        let green = request.checks.iter().map(|it| &it.name).filter(|it| is_green(it)).cloned();
        let without: Vec<String> = without.iter().cloned().chain(green).collect();
        if request.checks.iter().any(|it| !without.contains(&it.name)) {
            let ended: BTreeSet<&String> = seen.values().flatten().collect();
            let rest: Vec<ProgramCanary> =
                programs.iter().filter(|it| !ended.contains(&it.path)).cloned().collect();
            for (check, paths) in self.rounds(request, trees, &rest, CanaryPosition::Beginning, &without)? {
                seen.entry(check).or_default().extend(paths);
            }
        }
        Ok(seen)
    }

    /// Returns the programs of the baseline's whose failure is not reported on this tree, by check.
    pub(crate) fn silent_programs(
        &mut self,
        request: &ProofRequest,
        trees: &Trees,
        word: &str,
        expected: &SeenPrograms,
    ) -> Result<SeenPrograms, ProofError> {
        let is_expected = |it: &ProgramCanary| expected.values().any(|paths| paths.contains(&it.path));
        let programs: Vec<ProgramCanary> =
            trees.programs(&self.session.checkout.path, word).into_iter().filter(is_expected).collect();
        let without: Vec<String> =
            request.checks.iter().map(|it| it.name.clone()).filter(|it| !expected.contains_key(it)).collect();
        let seen = self.rounds(request, trees, &programs, CanaryPosition::End, &without)?;
        let silent = expected.iter().map(|(check, paths)| {
            let none = BTreeSet::new();
            let now = seen.get(check).unwrap_or(&none);
            (check.clone(), paths.difference(now).cloned().collect())
        });
        Ok(silent.collect())
    }

    fn rounds(
        &mut self,
        request: &ProofRequest,
        trees: &Trees,
        programs: &[ProgramCanary],
        place: CanaryPosition,
        without: &[String],
    ) -> Result<SeenPrograms, ProofError> {
        let mut rest: Vec<&ProgramCanary> = programs.iter().collect();
        let mut seen = SeenPrograms::new();
        for _ in 0..ROUNDS_MOST {
            if rest.is_empty() {
                break;
            }
            let text = |it: &ProgramCanary| match place {
                CanaryPosition::Beginning => it.at_beginning.clone(),
                CanaryPosition::End => it.at_end.clone(),
            };
            let planned: Vec<Canary> =
                rest.iter().map(|it| Canary { path: it.path.clone(), text: text(it), tests: 1 }).collect();
            let mut fresh = BTreeSet::new();
            for (check, ran) in self.with_canaries_but(request, &planned, trees, without)? {
                if ran.results.exit != Exit::Red {
                    continue;
                }
                for it in rest.iter().filter(|it| is_printed(&ran.output, &it.word)) {
                    fresh.insert(it.path.clone());
                    seen.entry(check.clone()).or_default().insert(it.path.clone());
                }
            }
            if fresh.is_empty() {
                break;
            }
            rest.retain(|it| !fresh.contains(&it.path));
        }
        Ok(seen)
    }
}
