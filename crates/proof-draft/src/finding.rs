//! Findings: what stands between a run and its completion, each in one line with test and file.

use crate::steps::Step;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Green at the opening, fails now with its original text.
    ChangedTest,
    /// Red at the opening and still red with its original text: the test was changed, not the code.
    StillRed,
    Vanished,
    Skipped,
    RedInClean,
    RedInOverlay,
    NoTestsRan,
    CanaryUnseen,
    Touched,
    NotJudged,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub check: Option<String>,
    pub test: Option<String>,
    pub file: Option<String>,
    pub step: Option<Step>,
    /// The finding in one line.
    pub line: String,
}

/// A person's acceptance of a finding, given during the run or before it (`--allow-test-change`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// A test id, a path, a check, a glob, or `*` for all open findings.
    pub what: String,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}
