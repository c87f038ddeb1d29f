//! What a person may want to know about a request that was carried out, or that ended on the way.
//! The desk says nothing itself: it hands notes over, and whoever asked decides who is told.

use loop_store::Row;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub text: String,
    pub weight: Weight,
}

/// How much it matters, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Something of the person's was left where it is.
    Always,
    /// What was chosen or written for them.
    Usual,
    /// What only people need, not programs.
    People,
}

impl Note {
    pub(crate) fn usual(text: String) -> Note {
        Note { text, weight: Weight::Usual }
    }

    pub(crate) fn for_people(text: String) -> Note {
        Note { text, weight: Weight::People }
    }

    pub(crate) fn worktree_stays(row: &Row) -> Note {
        let text = format!("the worktree of run {} stays: {}", &row.id[..8], row.place);
        Note { text, weight: Weight::Always }
    }
}
