//! What steps E and F lay over a plain checkout. E is the final tree with the baseline's protected
//! files; F is the baseline's tree with the final tests: the same plan with the sides exchanged.

use crate::protected::Rules;
use serde::{Deserialize, Serialize};

/// One path that differs between the baseline and the final tree, as `git diff --raw` shows it
/// without renames. A missing mode means that the path does not exist on that side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    /// A git mode: 0o100644, 0o100755, 0o120000 (symbolic link), 0o160000 (submodule).
    pub base_mode: Option<u32>,
    pub final_mode: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    Base,
    Final,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Step E: start from the final tree, bring the baseline's protected text.
    BaseTestsOverFinal,
    /// Step F: start from the baseline's tree, bring the final protected text.
    FinalTestsOverBase,
}

/// Reads a file of one side; nothing if it is not there. A symbolic link reads as its target.
pub type Contents<'a> = dyn Fn(Side, &str) -> Option<Vec<u8>> + 'a;

/// What is done to the checkout, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Replaces the path by the blob of the given side, with its mode.
    Take { path: String, side: Side, mode: u32 },
    /// Removes the path.
    Remove { path: String },
    /// Writes this text; the mode stays.
    Write { path: String, text: String },
}

/// A changed file of which the overlay cannot tell what the tests are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NotJudged {
    pub path: String,
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlayPlan {
    /// Empty: the tree is the plain one, and the step need not run.
    pub actions: Vec<Action>,
    pub not_judged: Vec<NotJudged>,
}

/// Plans the tree of step E or F.
pub fn plan_overlay(
    changes: &[Change],
    rules: &Rules,
    contents: &Contents<'_>,
    direction: Direction,
) -> OverlayPlan {
    todo!()
}

/// Plans the next try of an overlay that did not build: first with the added test files kept, then
/// without the files that the output names; nothing when there is no other try.
pub fn retry_without(plan: &OverlayPlan, try_number: u32, output: &str) -> Option<OverlayPlan> {
    todo!()
}
