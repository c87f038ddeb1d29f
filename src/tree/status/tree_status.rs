//! How a working tree stands: the one value that everything else is asked of.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

/// How a working tree stands.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct TreeStatus {
    /// The commit of HEAD; none on a branch without commits.
    pub(crate) commit: Option<String>,
    /// The branch, where HEAD is on one.
    pub(crate) branch: Option<String>,
    /// The git tree of everything tracked or untracked and not ignored, our own files aside.
    pub(crate) tree: String,
    /// Everything that is changed, staged or untracked, our own files aside; also inside submodules.
    #[serde(with = "shared")]
    pub(crate) uncommitted: Rc<BTreeSet<PathBuf>>,
    /// Those of them that may be committed: each goes through this filter, which is not started.
    #[serde(default)]
    pub(crate) filtered: BTreeMap<PathBuf, String>,
    /// What is not part of `tree`, each with its reason.
    pub(crate) left_out: Vec<String>,
}

impl TreeStatus {
    /// Whether nothing is uncommitted.
    pub(crate) fn is_clean(&self) -> bool {
        self.uncommitted.is_empty()
    }
}

/// The set is shared, because it may be large and a status is handed around.
mod shared {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeSet;
    use std::path::PathBuf;
    use std::rc::Rc;

    pub(super) fn serialize<S: Serializer>(
        paths: &Rc<BTreeSet<PathBuf>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        paths.as_ref().serialize(serializer)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Rc<BTreeSet<PathBuf>>, D::Error> {
        BTreeSet::deserialize(deserializer).map(Rc::new)
    }
}

/// Names paths for a message: the first few, folders of many as one, and how many more there are.
pub(crate) fn shown<'a>(paths: impl IntoIterator<Item = &'a PathBuf>, most: usize) -> String {
    let (named, more) = tops(paths, most);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", named.join(", "))
}

/// Returns the first few of these paths, folders of many as one, and how many more there are.
pub(crate) fn tops<'a>(paths: impl IntoIterator<Item = &'a PathBuf>, most: usize) -> (Vec<String>, usize) {
    let mut groups: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for path in paths {
        let whole = path.to_string_lossy().into_owned();
        let top = whole.split_once('/').map_or(whole.clone(), |(top, _)| format!("{top}/"));
        groups.entry(top).or_insert((0, whole)).0 += 1;
    }
    let named = groups.iter().take(most);
    let named = named.map(|(top, (count, first))| if *count == 1 { first.clone() } else { top.clone() });
    (named.collect(), groups.len().saturating_sub(most))
}

/// What the user's index stands on: while these are the same, so is what is staged.
pub(crate) type StagedKey = (Option<String>, Option<(u64, i64, i64, u64)>);
