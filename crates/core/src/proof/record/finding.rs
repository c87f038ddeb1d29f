//! Findings: what stands between a run and its completion, each in one line with test and file, and
//! the waivers by which a person accepts them.

use crate::proof::protecting::protected::glob_matches;
use crate::proof::record::steps::ProofStep;
use crate::proof::results::ids::TestId;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Passed at the opening, fails with its original text.
    ChangedTest,
    /// Failed at the opening and still fails with its original text: the test was changed.
    StillRed,
    /// Is gone, and its original text was not seen passing.
    Vanished,
    /// Passed at the opening, is skipped.
    Skipped,
    /// Is red in the clean checkout of the final tree and was not on the baseline.
    RedInClean,
    /// A check is red with the baseline's protected files, and no test says why.
    RedInOverlay,
    NoTestsRan,
    /// A test that must fail was not reported.
    CanaryUnseen,
    /// Passed at the opening, is red and green on the same tree now.
    Flaky,
    /// A file changed while a clean run was under way.
    Touched,
    /// A change of tests that the overlay could not judge.
    NotJudged,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<ProofStep>,
    /// The finding in one line.
    pub line: String,
}

/// A person's acceptance of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// A test id, a path, a glob, the name of a check, or `*` for all findings. A path accepts what was changed
    /// in the file; what is found about a whole check has the check's name only.
    pub what: String,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Finding {
    /// Writes a finding about a test, or about a whole check if the id is its exit code.
    pub(crate) fn of_test(
        kind: FindingKind,
        step: ProofStep,
        id: &TestId,
        file: Option<String>,
        what: &str,
    ) -> Finding {
        let place = match &file {
            Some(file) if !id.name.contains(file.as_str()) => format!(" in {file}"),
            Some(_) | None => String::new(),
        };
        let line = format!("{id}{place} {what}");
        let test = (!id.is_exit()).then(|| id.name.clone());
        Finding { kind, check: Some(id.check.clone()), test, file, step: Some(step), line }
    }

    pub(crate) fn of_check(kind: FindingKind, step: ProofStep, check: &str, what: &str) -> Finding {
        Finding::of_test(kind, step, &TestId::exit(check), None, what)
    }

    pub(crate) fn of_file(kind: FindingKind, step: ProofStep, file: &str, what: &str) -> Finding {
        let line = format!("{file} {what}");
        Finding { kind, check: None, test: None, file: Some(file.to_owned()), step: Some(step), line }
    }

    /// Tells whether a waiver names this finding.
    pub(crate) fn is_named_by(&self, what: &str) -> bool {
        let same = |it: &Option<String>| it.as_deref() == Some(what);
        // The change of a test file is not the reason why a test of it fails in a clean checkout.
        let is_of_file = !self.kind.weakens() || self.test.is_none();
        let by_file = self.file.as_deref().is_some_and(|it| it == what || glob_matches(what, it));
        let short = self.test.as_deref().is_some_and(|it| it.rsplit("::").next() == Some(what));
        what == "*"
            || same(&self.test)
            || is_of_file && by_file
            || short
            || (self.test.is_none() && same(&self.check))
    }

    /// Tells whether `--allow-test-change` covers it: a change of protected files, all of which the
    /// globs name where the finding has no file of its own.
    pub(crate) fn is_allowed(&self, globs: &[String], changed: &[&str]) -> bool {
        let covered = |path: &str| globs.iter().any(|it| glob_matches(it, path));
        let is_change = match self.kind {
            FindingKind::ChangedTest
            | FindingKind::StillRed
            | FindingKind::Vanished
            | FindingKind::Skipped
            | FindingKind::Flaky
            | FindingKind::RedInOverlay
            | FindingKind::NotJudged => true,
            FindingKind::RedInClean
            | FindingKind::NoTestsRan
            | FindingKind::CanaryUnseen
            | FindingKind::Touched => false,
        };
        is_change
            && match &self.file {
                Some(file) => covered(file),
                None => !changed.is_empty() && changed.iter().all(|it| covered(it)),
            }
    }
}

impl FindingKind {
    /// Tells whether accepting it takes the ground from the proof: what did not run right in the
    /// clean checkout proves nothing, while a changed test leaves the other evidence as it is.
    pub(crate) fn weakens(self) -> bool {
        match self {
            FindingKind::RedInClean
            | FindingKind::NoTestsRan
            | FindingKind::CanaryUnseen
            | FindingKind::Touched => true,
            FindingKind::ChangedTest
            | FindingKind::StillRed
            | FindingKind::Vanished
            | FindingKind::Skipped
            | FindingKind::Flaky
            | FindingKind::RedInOverlay
            | FindingKind::NotJudged => false,
        }
    }
}
