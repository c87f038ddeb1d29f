//! Tests that must fail. A canary is appended to one of the baseline's own test files under a name
//! that nobody could foresee; a runner that does not report it does not report failures.

use crate::ids::Results;
use serde::{Deserialize, Serialize};

/// One test that must fail, as the whole new text of the file that carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Canary {
    pub path: String,
    pub text: String,
    /// The word that a report of its failure contains.
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryPlan {
    /// One for each kind of test file that the tree has, at most a handful.
    pub canaries: Vec<Canary>,
}

/// Plans canaries for the test files of a tree. `files` are the protected test files of the
/// baseline (and Rust sources with test modules) with their text in this tree; `word` is a random
/// word of letters and digits, the same for A0 and the overlay.
pub fn canaries(files: &[(String, String)], word: &str) -> CanaryPlan {
    todo!()
}

/// Tells whether the check reported the failure of a canary.
pub fn canary_seen(results: &Results, output: &str, word: &str) -> bool {
    todo!()
}

/// Returns the results as they would be without canaries, for runners that go on after a failure.
pub fn without_canary(results: &Results, word: &str) -> Results {
    todo!()
}
