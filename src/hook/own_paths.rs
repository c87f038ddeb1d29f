//! The paths that belong to the run, for a look that lasts a millisecond. Most patterns are plain
//! paths, which need no more than a comparison; making a set of globs costs more than walking a small
//! tree does, so that waits for a path which could match one.

use crate::tree::path_patterns::Ours;
use std::cell::OnceCell;
use std::path::Path;

pub(super) struct OwnPaths {
    plain: Vec<String>,
    globs: Vec<String>,
    set: OnceCell<Option<Ours>>,
}

/// What means something in a glob.
const SPECIAL: [char; 8] = ['?', '*', '[', ']', '{', '}', '\\', '!'];

impl OwnPaths {
    /// Reads patterns as [`Ours`] does.
    pub(super) fn read(patterns: &[String]) -> OwnPaths {
        let (globs, plain): (Vec<String>, Vec<String>) =
            patterns.iter().cloned().partition(|it| it.contains(SPECIAL));
        let plain = plain.iter().map(|it| it.strip_suffix('/').unwrap_or(it).to_owned()).collect();
        OwnPaths { plain, globs, set: OnceCell::new() }
    }

    pub(super) fn holds(&self, path: &Path) -> bool {
        let path_bytes = path.as_os_str().as_encoded_bytes();
        let is_at_or_below = |plain: &String| {
            path_bytes.strip_prefix(plain.as_bytes()).is_some_and(|it| matches!(it, [] | [b'/', ..]))
        };
        if self.plain.iter().any(is_at_or_below) {
            return true;
        }
        let may_match = |glob: &String| {
            let head = &glob[..glob.find(SPECIAL).unwrap_or(glob.len())];
            path_bytes.starts_with(head.as_bytes())
        };
        // A pattern that cannot be read holds nothing; git's look says what is wrong with it.
        self.globs.iter().any(may_match)
            && self.set.get_or_init(|| Ours::read(&self.globs).ok()).as_ref().is_some_and(|it| it.holds(path))
    }
}

#[cfg(test)]
mod tests {
    use super::OwnPaths;
    use crate::tree::path_patterns::Ours;
    use std::path::Path;

    #[test]
    fn it_holds_what_a_set_of_globs_holds() {
        let patterns =
            [".loop/", "state.json", "docs/a b/", "DESIGN-????-*.md", "x[*]y", "*.tmp", "deep/*/z/"];
        let patterns = patterns.map(str::to_owned);
        let (kept, ours) = (OwnPaths::read(&patterns), Ours::read(&patterns).expect("patterns"));
        for path in [
            ".loop",
            ".loop/a/b",
            ".loops",
            "a/.loop",
            "state.json",
            "state.json/x",
            "state.jsonl",
            "docs",
            "docs/a b",
            "docs/a b/c",
            "DESIGN-2026-x.md",
            "DESIGN-2026-x.md/y",
            "DESIGN-20.md",
            "x*y",
            "xzy",
            "a.tmp",
            "b/a.tmp",
            "deep/1/z",
            "deep/1/z/2",
            "deep/1/2/z",
            "deep",
        ] {
            assert_eq!(kept.holds(Path::new(path)), ours.holds(Path::new(path)), "{path}");
        }
    }
}
