//! Paths with a meaning of their own: those that belong to the run rather than to the work, and those
//! that the workflow asks for by name.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The paths that belong to the run rather than to the work.
#[derive(Clone, Debug)]
pub(crate) struct Ours {
    patterns: Vec<String>,
    set: GlobSet,
}

impl Ours {
    /// Reads patterns relative to the top of the tree: a path, a glob, or with a slash at its end a
    /// folder with everything below it.
    pub(crate) fn read<S: AsRef<str>>(patterns: &[S]) -> Result<Ours, globset::Error> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let folder = pattern.strip_suffix('/').unwrap_or(pattern);
            set.add(GlobBuilder::new(folder).literal_separator(true).build()?);
            set.add(GlobBuilder::new(&format!("{folder}/**")).literal_separator(true).build()?);
        }
        let patterns = patterns.iter().map(|it| it.as_ref().to_owned()).collect();
        Ok(Ours { patterns, set: set.build()? })
    }

    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.set.is_match(path)
    }

    pub(crate) fn patterns(&self) -> &[String] {
        &self.patterns
    }
}

/// Files that the workflow asks for by name: reports and deliverables. They count also where git
/// ignores them, because many projects ignore the folder that such papers lie in.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestedFiles {
    set: GlobSet,
    /// The folders, or files, that hold everything which can match.
    below: Vec<PathBuf>,
}

impl RequestedFiles {
    /// Patterns that begin with a wildcard count for nothing here: what they mean could lie in any
    /// dependency folder that is ignored, and finding it would take a walk through all of them.
    pub(super) fn read(patterns: &[String]) -> RequestedFiles {
        let (mut set, mut below) = (GlobSetBuilder::new(), BTreeSet::new());
        for pattern in patterns {
            let is_plain = |it: &&str| !it.contains(['*', '?', '[', '{', '\\']) && *it != "..";
            let start: PathBuf = pattern.split('/').take_while(is_plain).collect();
            let is_below = !start.as_os_str().is_empty() && !start.is_absolute();
            if let (true, Ok(glob)) = (is_below, globset::Glob::new(pattern)) {
                set.add(glob);
                below.insert(start);
            }
        }
        set.build().map_or_else(
            |_| RequestedFiles::default(),
            |set| RequestedFiles { set, below: below.into_iter().collect() },
        )
    }

    pub(super) fn holds(&self, path: &Path) -> bool {
        self.set.is_match(path)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.below.is_empty()
    }

    pub(super) fn below(&self) -> impl Iterator<Item = &PathBuf> {
        self.below.iter()
    }
}
