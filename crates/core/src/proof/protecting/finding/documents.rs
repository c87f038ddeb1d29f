//! Documents that are tests: Python runs the examples of a text file that `doctest.DocFileSuite`,
//! `python3 -m doctest` or pytest's `--doctest-glob` names. What the file is used for besides, the page of a
//! package or a manual, is no reason to let a run edit its examples.

use globset::GlobBuilder;

const DOCUMENTS: &[&str] = &["md", "markdown", "txt", "rst"];

/// By what a test or a script runs the examples of a document that it names.
const RUNNERS: &[&str] = &["DocFileSuite(", "DocFileTest(", "testfile(", "-m doctest", "--doctest-"];

/// What pytest takes without being told.
const PYTEST_GLOB: &str = "test*.txt";

/// Returns the patterns of documents that a command or the settings of a runner give to pytest.
pub(super) fn globs(text: &str) -> Vec<String> {
    const OPTION: &str = "--doctest-glob";
    let is_between = |it: char| it.is_whitespace() || "=\"',[]".contains(it);
    let after = text.match_indices(OPTION).map(|(at, _)| &text[at + OPTION.len()..]);
    let patterns = after.filter_map(|it| {
        let value = it.trim_start_matches(is_between);
        value.split(is_between).next().filter(|it| !it.is_empty()).map(str::to_owned)
    });
    let own = text.contains("pytest").then(|| PYTEST_GLOB.to_owned());
    patterns.chain(own).collect()
}

/// Whether a file is a document with examples as Python's doctest runs them.
pub(super) fn has_examples(path: &str, text: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |it| it.1).to_lowercase();
    DOCUMENTS.contains(&extension.as_str()) && text.lines().any(|it| it.trim_start().starts_with(">>> "))
}

/// Whether a pattern of pytest takes a document.
pub(super) fn takes(pattern: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let subject = if pattern.contains('/') { path } else { name };
    GlobBuilder::new(pattern).build().is_ok_and(|it| it.compile_matcher().is_match(subject))
}

/// Whether a text that names a document runs its examples.
pub(super) fn runs_examples(text: &str) -> bool {
    RUNNERS.iter().any(|it| text.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_in_commands_and_settings() {
        assert_eq!(globs("python3 -m unittest"), [""; 0]);
        assert_eq!(globs("python3 -m pytest -v '--doctest-glob=*.md' x"), ["*.md", PYTEST_GLOB]);
        assert_eq!(globs("[pytest]\naddopts = --doctest-glob=docs/*.rst\n"), ["docs/*.rst", PYTEST_GLOB]);
        assert_eq!(globs("addopts = [\"--doctest-glob\", \"*.md\"]"), ["*.md"]);
    }

    #[test]
    fn a_document_with_examples_is_taken_by_its_name() {
        assert!(has_examples("docs/usage.md", "    >>> f()\n") && !has_examples("docs/usage.md", "f()\n"));
        assert!(!has_examples("shop/prices.py", ">>> f()\n"));
        assert!(takes("*.md", "docs/usage.md") && takes("docs/*.md", "docs/usage.md"));
        assert!(takes(PYTEST_GLOB, "test_usage.txt") && !takes("*.md", "usage.rst"));
    }
}
