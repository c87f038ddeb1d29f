//! What follows the last phase: how the work is handed in, merged, and told to other tools.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    pub ship: Ship,
    /// Our own documents of the run are committed at the end (`plan`).
    pub commit_docs: bool,
    /// The last line of loop's own commits, such as `Co-Authored-By: …`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_trailer: Option<String>,
    /// The next system of the queue is begun once this one is complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begin_next: bool,
}

/// How the work of a system comes to the branch that it is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MergeRules {
    pub through: MergeThrough,
    pub by: MergeBy,
    /// What a pull request is marked with, and who is asked to look at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviewers: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MergeThrough {
    /// A pull request where the remote is GitHub's and `gh` is there; else a push where a remote has the branch; else
    /// a merge here.
    #[default]
    Auto,
    Gh,
    Push,
    Local,
}

/// Who merges a pull request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MergeBy {
    #[default]
    Loop,
    People,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mirror {
    pub format: Option<MirrorFormat>,
    pub dir: Option<String>,
    pub off: bool,
}

impl Mirror {
    /// Whether files of this format are kept up to date.
    pub fn writes(&self, format: MirrorFormat) -> bool {
        !self.off && self.format == Some(format)
    }
}

/// Whose state files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MirrorFormat {
    PrpSession,
    DomainMemory,
    Planning,
    TaskState,
}

/// Branch, commit, push and pull request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ship {
    #[default]
    Off,
    /// When a person asks for it.
    Offer,
    Auto,
}

impl Ship {
    /// Whether work of this workflow may be handed in at all.
    pub fn is_allowed(self) -> bool {
        match self {
            Ship::Offer | Ship::Auto => true,
            Ship::Off => false,
        }
    }
}
