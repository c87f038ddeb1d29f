//! Where the work of a run stands outside: merged, handed over, sent back, or kept back; and the steps by
//! which it gets there. It is written to the journal, so it only ever grows.

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
    /// Somebody merged it as this commit of this branch, and what came of it fails.
    Red { into: String, commit: String, why: String },
    /// It does not go together with what the target has got meanwhile: it goes back as work.
    Collides { why: Vec<String> },
    /// Something of somebody's is in the way; it is tried again when that is gone.
    Waits { why: String },
    /// The target was moved to this commit while an agent was working, and no run of ours did it. A person
    /// has to say that it was theirs.
    Foreign { why: String, to: String },
    /// What it waited for is gone.
    Clear,
    /// It was part of this branch, and this commit takes it out again.
    Reverted { into: String, commit: String },
}

/// A merge that was made and that the target is to be moved to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merge {
    /// The branch that it is for.
    pub into: String,
    /// That branch as it was: the first parent.
    pub from: String,
    /// The merge itself.
    pub commit: String,
    pub tree: String,
}

/// A step of a landing. One run lands at a time, and the target's tip decides what is left to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LandingStep {
    /// Another run lands there; this one waits for it.
    Queued {
        behind: String,
    },
    Merged(Merge),
    /// The merged tree holds, and what shows it.
    Proven {
        by: String,
    },
    /// The target is not where it was when the merge was made.
    StartedOver {
        why: String,
        /// A remote refused the merge.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        rejected: bool,
    },
    /// A person has it tried again.
    Again,
}

/// The landing that is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Train {
    /// Who lands before this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Merge>,
    /// The merged tree may become the target's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proven: bool,
    /// What the remote said each time that it refused the merge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<String>,
}
