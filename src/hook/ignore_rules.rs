//! Which paths git ignores, by the rules that stand in the tree, in the repository and in the user's
//! settings. Rules of a deeper folder come before those above it, and the last line of a file that
//! says anything about a path decides. A folder without rules of its own shares those above it, so a
//! tree with one file of rules costs one set of globs.

use super::head;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(super) const NAME: &str = ".gitignore";

pub(super) struct IgnoreRules {
    own: Gitignore,
    above: Option<Rc<IgnoreRules>>,
}

impl IgnoreRules {
    /// Returns those that hold wherever no file in the tree says something else.
    pub(super) fn outside(place: &Path) -> Option<Rc<IgnoreRules>> {
        let global = has_global_rules().then(|| GitignoreBuilder::new(place).build_global().0);
        let above = global.and_then(|it| IgnoreRules::below(None, it));
        let exclude = head::common_dir(place)?.join("info/exclude");
        IgnoreRules::read(above, place, &exclude)
    }

    /// Returns those of a folder that has a file of rules.
    pub(super) fn of_folder(above: Option<Rc<IgnoreRules>>, folder: &Path) -> Option<Rc<IgnoreRules>> {
        IgnoreRules::read(above, folder, &folder.join(NAME))
    }

    /// Whether git leaves out this path, if it is not tracked.
    pub(super) fn ignore(rules: Option<&Rc<IgnoreRules>>, path: &Path, is_folder: bool) -> bool {
        let mut next = rules;
        while let Some(rules) = next {
            match rules.own.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = rules.above.as_ref(),
            }
        }
        false
    }

    fn read(above: Option<Rc<IgnoreRules>>, root: &Path, file: &Path) -> Option<Rc<IgnoreRules>> {
        if !file.is_file() {
            return above;
        }
        let mut builder = GitignoreBuilder::new(root);
        // A line that cannot be read is one that git passes over too.
        let _passed_over = builder.add(file);
        match builder.build() {
            Ok(own) => IgnoreRules::below(above, own),
            Err(_) => above,
        }
    }

    fn below(above: Option<Rc<IgnoreRules>>, own: Gitignore) -> Option<Rc<IgnoreRules>> {
        if own.is_empty() { above } else { Some(Rc::new(IgnoreRules { own, above })) }
    }
}

/// Whether the user has ignore rules for all repositories. Finding them takes longer than walking a
/// small tree, and most users have none.
fn has_global_rules() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let user = set("HOME").or_else(std::env::home_dir).unwrap_or_default();
    let folder = set("XDG_CONFIG_HOME").unwrap_or_else(|| user.join(".config")).join("git");
    let names = |path: &Path| {
        std::fs::read_to_string(path).is_ok_and(|it| it.to_ascii_lowercase().contains("excludesfile"))
    };
    folder.join("ignore").exists() || names(&folder.join("config")) || names(&user.join(".gitconfig"))
}

#[cfg(test)]
mod tests {
    use super::IgnoreRules;
    use std::path::Path;

    #[test]
    fn the_deepest_rule_that_says_something_decides() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = dir.path();
        for (name, text) in [
            (".git/info/exclude", "# a comment\nprivate\nkept.log\n"),
            (".gitignore", "*.log\n!kept.log\n/only-here\nbuild/\n"),
            ("deep/.gitignore", "!a.log\nkept.log\n/b\n"),
        ] {
            let path = place.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, text).expect("written");
        }
        let top = IgnoreRules::of_folder(IgnoreRules::outside(place), place);
        let deep = IgnoreRules::of_folder(top.clone(), &place.join("deep"));
        let ignores = |rules, name: &str, is_folder| {
            IgnoreRules::ignore(rules, &place.join(Path::new(name)), is_folder)
        };
        for (name, is_folder, expected) in [
            ("private", false, true),
            ("a.log", false, true),
            ("kept.log", false, false),
            ("only-here", false, true),
            ("build", true, true),
            ("build", false, false),
            ("source", false, false),
        ] {
            assert_eq!(ignores(top.as_ref(), name, is_folder), expected, "{name}");
        }
        for (name, expected) in [
            ("deep/a.log", false),
            ("deep/kept.log", true),
            ("deep/other.log", true),
            ("deep/b", true),
            ("deep/er/b", false),
            ("deep/only-here", false),
            ("deep/private", true),
        ] {
            assert_eq!(ignores(deep.as_ref(), name, false), expected, "{name}");
        }
    }
}
