//! The diff that a person decides on. An attribute, `*.py -diff` in the tree or in `.git/info`, makes git say
//! "Binary files differ" of a text, and a setting makes it leave submodules out; so git is told to show
//! everything as text, and only what really is none is left out here.

use crate::tree::git::{Git, GitError};
use loop_core::proof::is_test_path;
use std::collections::BTreeSet;

const OPTIONS: [&str; 9] = [
    "--literal-pathspecs",
    "diff",
    "--find-renames",
    "--text",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--ignore-submodules=none",
];

/// A text may hold a strange character here and there; of a picture or a program it is every second one.
const STRANGE_ONE_IN: usize = 10;

/// What changed between two trees, in these paths, or in all where there are none.
pub(super) fn readable_diff(git: &Git, from: &str, to: &str, paths: &[&str]) -> Result<String, GitError> {
    let words = OPTIONS.iter().copied().chain([from, to, "--"]).chain(paths.iter().copied());
    let diff = git.run(words)?;
    Ok(without_binary(&String::from_utf8_lossy(&diff)))
}

/// The files with those that they were renamed to or from, and with the tests that were added where one of them was
/// deleted: whether a test was moved shows only in both files.
pub(super) fn with_successors(
    git: &Git,
    from: &str,
    to: &str,
    mut files: BTreeSet<String>,
) -> Result<BTreeSet<String>, GitError> {
    let listing = git.run(["diff", "--find-renames", "--name-status", "-z", "--no-relative", from, to])?;
    let listing = String::from_utf8_lossy(&listing).into_owned();
    let (mut added, mut is_any_gone) = (BTreeSet::new(), false);
    let mut fields = listing.split('\0');
    while let (Some(status), Some(path)) = (fields.next().filter(|it| !it.is_empty()), fields.next()) {
        if status.starts_with('R') || status.starts_with('C') {
            let other = fields.next().unwrap_or_default();
            if files.contains(path) || files.contains(other) {
                files.extend([path.to_owned(), other.to_owned()]);
            }
        } else if status == "A" && is_test_path(path) {
            added.insert(path.to_owned());
        } else if status == "D" {
            is_any_gone |= files.contains(path);
        }
    }
    if is_any_gone {
        files.extend(added);
    }
    Ok(files)
}

fn without_binary(diff: &str) -> String {
    let mut files: Vec<String> = Vec::new();
    for line in diff.split_inclusive('\n') {
        match files.last_mut().filter(|_| !line.starts_with("diff --git ")) {
            Some(file) => file.push_str(line),
            None => files.push(line.to_owned()),
        }
    }
    let shown = |mut file: String| {
        let head = file.find("\n@@").map_or(file.len(), |at| at + 1);
        if !is_text(&file[head..]) {
            file.truncate(head);
            file.push_str("(no text)\n");
        }
        file
    };
    files.into_iter().map(shown).collect()
}

fn is_text(lines: &str) -> bool {
    let is_strange = |it: &char| {
        *it == char::REPLACEMENT_CHARACTER || it.is_control() && !matches!(it, '\n' | '\t' | '\r')
    };
    lines.chars().filter(is_strange).count() * STRANGE_ONE_IN <= lines.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_text_is_left_out() {
        let text = "diff --git a/t.js b/t.js\n--- a/t.js\n+++ b/t.js\n@@ -1 +1 @@\n-assert(one === 1);\n+// \0 nothing\n";
        let picture = "diff --git a/p.png b/p.png\n--- a/p.png\n+++ b/p.png\n@@ -1 +1 @@\n-\u{fffd}PNG\0\0\0\n+\u{fffd}\0\0\n";
        let left = "diff --git a/p.png b/p.png\n--- a/p.png\n+++ b/p.png\n(no text)\n";
        assert_eq!(without_binary(&format!("{picture}{text}")), format!("{left}{text}"));
        assert_eq!(without_binary(""), "");
    }
}
