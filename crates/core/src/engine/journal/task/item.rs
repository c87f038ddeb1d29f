//! What a body of phases repeats over, one entry, and how its list is journaled.

use crate::engine::journal::people::question::CheckpointKind;
use serde::{Deserialize, Serialize};

/// What a body of phases is run once for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Items that belong together, such as a wave of plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Where the item stands among the others, if the list says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<i64>,
    /// Where its text is: a path in the working tree. The text itself is read for its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What it is about, where a person has to know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// What a decision can be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What the list asks a person to type when a checkpoint holds; it means `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// The files that its work is in, as far as the list says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Ids or texts of the requirements that it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// Whoever read the list found that its work is gone, although it was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// How the kinds of items begin that a person has to settle.
const CHECKPOINT: &str = "checkpoint:";

impl Item {
    /// The kind of an item that asks for nothing but the summary of its group.
    pub const SUMMARY: &str = "summary";

    /// Returns the id of the item that asks for the summary of a plan.
    pub fn summary_id(plan: &str) -> String {
        format!("{plan}/{}", Item::SUMMARY)
    }

    /// Whether this is the id of an item that asks for a summary.
    pub(crate) fn names_summary(id: &str) -> bool {
        id.rsplit_once('/').is_some_and(|it| it.1 == Item::SUMMARY)
    }

    pub fn is_summary(&self) -> bool {
        self.kind.as_deref() == Some(Item::SUMMARY)
    }

    /// Returns what kind of checkpoint it is, if a person has to settle it.
    pub fn checkpoint(&self) -> Option<CheckpointKind> {
        let kind = self.kind.as_deref()?.strip_prefix(CHECKPOINT)?;
        Some(kind.trim().to_owned().into())
    }

    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Item {
        Item { id: id.into(), name: name.into(), ..Item::default() }
    }
}

/// A list as it was read, or as it is journaled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Listing {
    /// The whole list. Journals of earlier versions hold nothing else.
    Whole(Vec<Item>),
    Change(Box<ListChange>),
}

/// What changed in a list since it was last read. An item that moved is removed and added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ListChange {
    /// Ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Items that stand where they stood and read otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Item>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Added>,
    /// Ids of items that were done and are open again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reopened: Vec<String>,
    /// The first item that is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Item>,
    /// How many are not done.
    pub left: u32,
}

impl ListChange {
    /// Whether the list is as it was; what is next may differ all the same.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty()
            && self.changed.is_empty()
            && self.added.is_empty()
            && self.reopened.is_empty()
    }
}

/// Items that were put in one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Added {
    /// The id of the item before them; `None` at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    pub items: Vec<Item>,
}
