//! The proof as `status --json` and the record show it. Lists are bounded; `more` says how many
//! entries each of them leaves out.

use crate::proof::overlay::plan::NotJudged;
use crate::proof::record::finding::Finding;
use crate::proof::record::steps::CanaryOutcome;
use crate::proof::results::ids::{Exit, Results, TestId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most entries of a list in the record: enough to read, small enough for the state.
pub(crate) const LIST_LIMIT: usize = 50;

/// What was proven, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    None,
    UnchangedGreen,
    Approved,
    NewTest,
    RedToGreen,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    pub level: Level,
    pub tree: String,
    pub commit: Option<String>,
    pub red_to_green: Vec<ProvenTest>,
    pub new_tests: Vec<NewTest>,
    /// The number of tests that were green on the baseline and are green with their original text.
    pub still_green: u32,
    pub not_judged: Vec<NotJudged>,
    pub not_reproducible: Vec<Unreproducible>,
    pub checks: Vec<CheckRecord>,
    pub waived: Vec<WaivedFinding>,
    pub findings: Vec<Finding>,
    pub cost_s: f64,
    /// A waiver took the ground from the proof: it completes, but is not verified.
    pub weakened: bool,
    /// Tests that were red and green on the same tree.
    pub flaky: Vec<TestId>,
    pub notes: Vec<String>,
    /// The tree is the baseline.
    pub nothing_changed: bool,
    /// How many entries each bounded list leaves out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, usize>,
}

impl Level {
    pub const ALL: [Level; 5] =
        [Level::RedToGreen, Level::NewTest, Level::Approved, Level::UnchangedGreen, Level::None];

    pub fn word(self) -> &'static str {
        match self {
            Level::RedToGreen => "red-to-green",
            Level::NewTest => "new-test",
            Level::Approved => "approved",
            Level::UnchangedGreen => "unchanged-green",
            Level::None => "none",
        }
    }

    pub fn from_word(word: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|it| it.word() == word)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenTest {
    #[serde(flatten)]
    pub id: TestId,
    /// The final tree does not have it any more; what passes there is its original text.
    #[serde(default, rename = "gone", skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTest {
    #[serde(flatten)]
    pub id: TestId,
    /// On the baseline's code it could not even be built, which is weaker evidence.
    pub only_build_failed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreproducible {
    #[serde(flatten)]
    pub id: TestId,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaivedFinding {
    #[serde(flatten)]
    pub finding: Finding,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// One check in the steps of the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRecord {
    pub name: String,
    pub baseline: CheckState,
    pub clean: CheckState,
    pub overlay: CheckState,
    pub old_code: CheckState,
    pub canary: CanaryOutcome,
    /// Tests that ran in the clean checkout of the final tree.
    pub tests: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    Green,
    Red,
    NotStarted,
    Interrupted,
    NotRun,
}

impl CheckState {
    pub(crate) fn of(results: Option<&Results>) -> CheckState {
        match results.map(|it| it.exit) {
            Some(Exit::Green) => CheckState::Green,
            Some(Exit::Red) => CheckState::Red,
            Some(Exit::NotStarted) => CheckState::NotStarted,
            Some(Exit::Interrupted) => CheckState::Interrupted,
            None => CheckState::NotRun,
        }
    }
}

impl Proof {
    /// Cuts the lists to their limit and notes how much was cut.
    pub(crate) fn bounded(mut self) -> Proof {
        let mut more = BTreeMap::new();
        cut(&mut self.red_to_green, "red_to_green", &mut more);
        cut(&mut self.new_tests, "new_tests", &mut more);
        cut(&mut self.not_judged, "not_judged", &mut more);
        cut(&mut self.not_reproducible, "not_reproducible", &mut more);
        cut(&mut self.checks, "checks", &mut more);
        cut(&mut self.waived, "waived", &mut more);
        cut(&mut self.findings, "findings", &mut more);
        cut(&mut self.flaky, "flaky", &mut more);
        cut(&mut self.notes, "notes", &mut more);
        self.more = more;
        self
    }

    /// Returns how many entries a list has, those that were cut included.
    pub fn number(&self, list: &str, shown: usize) -> usize {
        shown + self.more.get(list).copied().unwrap_or(0)
    }

    /// Tells whether a completed run with this proof is verified.
    pub fn verified(&self) -> bool {
        self.level >= Level::Approved && self.findings.is_empty() && !self.weakened
    }
}

fn cut<T>(list: &mut Vec<T>, name: &str, more: &mut BTreeMap<String, usize>) {
    if list.len() > LIST_LIMIT {
        more.insert(name.to_owned(), list.len() - LIST_LIMIT);
        list.truncate(LIST_LIMIT);
    }
}

impl Proof {
    /// A proof that proves nothing about this tree.
    pub fn of_nothing(tree: String) -> Proof {
        Proof {
            level: Level::None,
            tree,
            commit: None,
            red_to_green: Vec::new(),
            new_tests: Vec::new(),
            still_green: 0,
            not_judged: Vec::new(),
            not_reproducible: Vec::new(),
            checks: Vec::new(),
            waived: Vec::new(),
            findings: Vec::new(),
            cost_s: 0.0,
            weakened: false,
            nothing_changed: false,
            flaky: Vec::new(),
            notes: Vec::new(),
            more: BTreeMap::new(),
        }
    }
}
