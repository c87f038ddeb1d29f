//! Tests that live in ordinary source: doctests in Python and Rust, classes and functions of tests in Python,
//! and blocks behind `import.meta.vitest`. A hunk of the diff whose removed lines are test lines is put back; a hunk
//! that mixes code and test lines cannot be told apart and is not judged.

use crate::proof::protecting::finding::test_texts::python_test_lines;

/// What became of a source file with tests in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PutBack {
    /// No removed line is a test line.
    Unchanged,
    /// The text with the baseline's test lines.
    Restored(String),
    /// A hunk mixes code and tests.
    Mixed,
}

/// More pairs of lines are not compared; the difference is then one hunk.
const DIFF_LIMIT: usize = 4_000_000;

/// Puts the test lines of the baseline back into the final text.
pub(crate) fn put_tests_back(path: &str, base: &str, now: &str) -> PutBack {
    let Some(language) = Language::of(path) else { return PutBack::Unchanged };
    let (before, after): (Vec<&str>, Vec<&str>) = (lines(base), lines(now));
    let (base_tests, now_tests) = (language.test_lines(&before), language.test_lines(&after));
    if !base_tests.contains(&true) {
        return PutBack::Unchanged;
    }
    let mut text = String::with_capacity(now.len());
    let mut at = 0;
    let mut restored = false;
    for (removed, added) in hunks(&before, &after) {
        text.extend(after[at..added.start].iter().copied());
        at = added.end;
        let touches_tests = removed.clone().any(|it| base_tests[it]);
        let only = |lines: &[&str], tests: &[bool], range: std::ops::Range<usize>| {
            range.clone().all(|it| tests[it] || lines[it].trim().is_empty())
        };
        if !touches_tests {
            text.extend(after[added].iter().copied());
        } else if only(&before, &base_tests, removed.clone()) && only(&after, &now_tests, added) {
            text.extend(before[removed].iter().copied());
            restored = true;
        } else {
            return PutBack::Mixed;
        }
    }
    text.extend(after[at..].iter().copied());
    if restored { PutBack::Restored(text) } else { PutBack::Unchanged }
}

#[derive(Clone, Copy)]
enum Language {
    Python,
    Rust,
    JavaScript,
}

impl Language {
    fn of(path: &str) -> Option<Language> {
        match path.rsplit_once('.')?.1 {
            "py" | "pyi" => Some(Language::Python),
            "rs" => Some(Language::Rust),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "tsx" | "jsx" => Some(Language::JavaScript),
            _ => None,
        }
    }

    fn test_lines(self, lines: &[&str]) -> Vec<bool> {
        match self {
            Language::Python => {
                let doctests = python_doctests(lines);
                doctests.into_iter().zip(python_test_lines(lines)).map(|(one, other)| one || other).collect()
            }
            Language::Rust => rust_doctests(lines),
            Language::JavaScript => in_source_blocks(lines),
        }
    }
}

/// A prompt, its continuation, and the expected output up to an empty line or the end of the string.
fn python_doctests(lines: &[&str]) -> Vec<bool> {
    let mut in_example = false;
    let mark = |line: &&str| {
        let text = line.trim();
        if text.starts_with(">>> ") || text == ">>>" {
            in_example = true;
        } else if text.is_empty() || text.contains("\"\"\"") || text.contains("'''") {
            in_example = false;
        }
        in_example
    };
    lines.iter().map(mark).collect()
}

/// Lines between code fences in documentation comments, the fences included.
fn rust_doctests(lines: &[&str]) -> Vec<bool> {
    let mut in_fence = false;
    let mark = |line: &&str| {
        let text = line.trim_start();
        let Some(doc) = text.strip_prefix("///").or_else(|| text.strip_prefix("//!")) else {
            in_fence = false;
            return false;
        };
        let is_fence = doc.trim_start().starts_with("```");
        let is_test = in_fence || is_fence;
        in_fence ^= is_fence;
        is_test
    };
    lines.iter().map(mark).collect()
}

/// From `if (import.meta.vitest)` to the line that begins with its closing brace.
fn in_source_blocks(lines: &[&str]) -> Vec<bool> {
    let mut indent: Option<usize> = None;
    let mark = |line: &&str| {
        let depth = line.len() - line.trim_start().len();
        if let Some(start) = indent {
            if depth <= start && line.trim_start().starts_with('}') {
                indent = None;
            }
            return true;
        }
        let begins = line.contains("import.meta.vitest") && line.trim_start().starts_with("if");
        if begins {
            indent = Some(depth);
        }
        begins
    };
    lines.iter().map(mark).collect()
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

type Hunk = (std::ops::Range<usize>, std::ops::Range<usize>);

/// Returns the ranges of lines that differ, removed and added, by a longest common subsequence.
fn hunks(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let head = before.iter().zip(after).take_while(|(left, right)| left == right).count();
    let same_ends = before[head..].iter().rev().zip(after[head..].iter().rev());
    let tail = same_ends.take_while(|(left, right)| left == right).count();
    let (left, right) = (&before[head..before.len() - tail], &after[head..after.len() - tail]);
    if left.is_empty() && right.is_empty() {
        return Vec::new();
    }
    if left.len().saturating_mul(right.len()) > DIFF_LIMIT {
        return vec![(head..head + left.len(), head..head + right.len())];
    }
    let width = right.len() + 1;
    let mut common = vec![0_u32; (left.len() + 1) * width];
    for row in (0..left.len()).rev() {
        for column in (0..right.len()).rev() {
            common[row * width + column] = match left[row] == right[column] {
                true => common[(row + 1) * width + column + 1] + 1,
                false => common[(row + 1) * width + column].max(common[row * width + column + 1]),
            };
        }
    }
    let mut found: Vec<Hunk> = Vec::new();
    let (mut row, mut column) = (0, 0);
    let (mut row_start, mut column_start) = (0, 0);
    let mut push = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        if !rows.is_empty() || !columns.is_empty() {
            found.push((head + rows.start..head + rows.end, head + columns.start..head + columns.end));
        }
    };
    while row < left.len() && column < right.len() {
        if left[row] == right[column] {
            push(row_start..row, column_start..column);
            (row, column) = (row + 1, column + 1);
            (row_start, column_start) = (row, column);
        } else if common[(row + 1) * width + column] >= common[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    push(row_start..left.len(), column_start..right.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASE: &str =
        "def add(a, b):\n    \"\"\"Adds.\n\n    >>> add(1, 2)\n    3\n    \"\"\"\n    return a + b\n";

    #[test]
    fn puts_a_changed_doctest_back() {
        let weakened = BASE.replace("    3\n", "    4\n").replace("return a + b", "return a + b + 1");
        let expected = BASE.replace("return a + b", "return a + b + 1");
        assert_eq!(put_tests_back("calc.py", BASE, &weakened), PutBack::Restored(expected));
        let deleted = BASE.replace("    >>> add(1, 2)\n    3\n", "");
        assert_eq!(put_tests_back("calc.py", BASE, &deleted), PutBack::Restored(BASE.to_owned()));
    }

    #[test]
    fn leaves_added_doctests_and_other_changes() {
        let more = BASE.replace("    3\n", "    3\n    >>> add(2, 2)\n    4\n");
        assert_eq!(put_tests_back("calc.py", BASE, &more), PutBack::Unchanged);
        let code = BASE.replace("a + b", "b + a");
        assert_eq!(put_tests_back("calc.py", BASE, &code), PutBack::Unchanged);
        assert_eq!(put_tests_back("calc.c", BASE, ""), PutBack::Unchanged);
    }

    #[test]
    fn does_not_judge_a_hunk_of_code_and_test() {
        assert_eq!(put_tests_back("calc.py", BASE, "def sub(a, b):\n    return a - b\n"), PutBack::Mixed);
    }

    #[test]
    fn knows_doctests_of_rust_and_blocks_of_vitest() {
        let base = "/// Adds.\n/// ```\n/// assert_eq!(add(1), 2);\n/// ```\npub fn add() {}\n";
        let changed = base.replace("/// assert_eq!(add(1), 2);\n", "");
        assert_eq!(put_tests_back("src/lib.rs", base, &changed), PutBack::Restored(base.to_owned()));
        let base = "export const a = 1\nif (import.meta.vitest) {\n  test('a', () => {})\n}\n";
        let changed = "export const a = 2\nif (import.meta.vitest) {\n}\n";
        let expected = base.replace("a = 1", "a = 2");
        assert_eq!(put_tests_back("a.ts", base, changed), PutBack::Restored(expected));
    }

    proptest! {
        #[test]
        fn hunks_rebuild_the_other_side(
            before in prop::collection::vec("[a-c]\n", 0..12),
            after in prop::collection::vec("[a-c]\n", 0..12),
        ) {
            let (left, right): (Vec<&str>, Vec<&str>) =
                (before.iter().map(String::as_str).collect(), after.iter().map(String::as_str).collect());
            let mut rebuilt: Vec<&str> = Vec::new();
            let mut at = 0;
            for (removed, added) in hunks(&left, &right) {
                rebuilt.extend(&left[at..removed.start]);
                rebuilt.extend(&right[added]);
                at = removed.end;
            }
            rebuilt.extend(&left[at..]);
            prop_assert_eq!(rebuilt, right);
        }
    }
}
