//! The two trees that a proof compares: the baseline and the final one, what differs between them, and
//! how their files are read.

use serde::{Deserialize, Serialize};

/// One path that differs between the baseline and the final tree, as `git diff --raw --no-renames`
/// shows it. A missing mode means that the path does not exist on that side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeChange {
    pub path: String,
    /// A git mode: 0o100644, 0o100755, 0o120000 (symbolic link), 0o160000 (submodule).
    pub base_mode: Option<u32>,
    pub final_mode: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Base,
    Final,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Step E: start from the final tree, bring the baseline's protected text.
    BaseTestsOverFinal,
    /// Step F: start from the baseline's tree, bring the final protected text.
    FinalTestsOverBase,
}

/// Reads a file of one side; nothing if it is not there. A symbolic link reads as its target.
pub type Contents<'a> = dyn Fn(Side, &str) -> Option<Vec<u8>> + 'a;
