//! Where the work of a run stands outside: merged, handed over, or kept back. It is written to the journal,
//! so it only ever grows.

use serde::{Deserialize, Serialize};

/// How far proven work has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    /// It is part of this branch, as this commit.
    Merged { into: String, commit: String },
    /// Somebody else merges it; this is where.
    Requested { at: String },
    /// It was kept back, and a person has to look.
    Not {
        why: String,
        /// The branch is not the one that was reviewed, so the review has to be done again first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unreviewed: bool,
    },
}
