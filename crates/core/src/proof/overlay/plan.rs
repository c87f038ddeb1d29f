//! The plan of an overlay: what is put into a checkout, taken out of it or written there, and what of it cannot
//! be judged. How a plan is made is in `planning.rs`.

use crate::proof::protecting::class::{Class, Mixed};
use crate::proof::trees::Side;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is done to the checkout, in this order: removals come first, so that a link in the place of
/// a folder is gone before files are put into it.
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
    /// The class of each path in `actions`.
    pub classes: BTreeMap<String, Class>,
    /// Test text changed, and not only control files: then step F is worth running.
    pub touches_tests: bool,
}

impl Action {
    pub fn path(&self) -> &str {
        match self {
            Action::Take { path, .. } | Action::Remove { path } | Action::Write { path, .. } => path,
        }
    }
}

impl OverlayPlan {
    /// Returns every protected file of the plan as not judged, for an overlay that no try could
    /// build.
    pub fn unjudged(&self, why: &str) -> Vec<NotJudged> {
        let planned =
            self.actions.iter().map(|it| NotJudged { path: it.path().to_owned(), why: why.to_owned() });
        let mut all: Vec<NotJudged> = self.not_judged.iter().cloned().chain(planned).collect();
        all.sort();
        all.dedup_by(|left, right| left.path == right.path);
        all
    }

    pub(super) fn act(&mut self, class: Class, action: Action) {
        self.touches_tests |= match class {
            Class::Test | Class::Mixed(Mixed::RustSource) | Class::Ordinary => true,
            Class::Control | Class::Mixed(_) => false,
        };
        self.classes.insert(action.path().to_owned(), class);
        self.actions.push(action);
    }

    pub(super) fn leave(&mut self, path: &str, why: &str) {
        self.not_judged.push(NotJudged { path: path.to_owned(), why: why.to_owned() });
    }
}
