//! Tests that only their text tells: classes and functions of tests in a Python file whose name and folder
//! say nothing, files that import a test runner, and programs that compare and fail.

const JAVA_SCRIPT: &[&str] = &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"];
const C: &[&str] = &["c", "cc", "cpp", "cxx"];

/// Modules of JavaScript that only tests import.
const RUNNERS: &[&str] = &["node:test", "vitest", "@jest/globals", "ava", "tape", "uvu", "bun:test"];

/// Headers of C and C++ that only tests include.
const HEADERS: &[&str] = &[
    "gtest/",
    "gmock/",
    "catch2/",
    "catch.hpp",
    "doctest",
    "cmocka.h",
    "unity.h",
    "criterion/",
    "boost/test/",
];

/// Tells by its name whether the text of a file can say that it is a test.
pub(crate) fn has_tests_by_text(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|it| it.1);
    extension.is_some_and(|it| it == "py" || JAVA_SCRIPT.contains(&it) || C.contains(&it))
}

/// Tells which lines of a Python file belong to tests: classes of tests and functions called `test_…`.
pub(crate) fn python_test_lines(lines: &[&str]) -> Vec<bool> {
    let mut marks = vec![false; lines.len()];
    let mut block: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let is_blank = text.trim_end().is_empty() || text.starts_with('#');
        if block.is_some_and(|it| !is_blank && indent <= it) {
            block = None;
        }
        if block.is_none() && begins_test(&lines[at..]) {
            block = Some(indent);
            let decorators =
                lines[..at].iter().rev().take_while(|it| it.trim_start().starts_with('@')).count();
            marks[at - decorators..at].fill(true);
        }
        marks[at] = block.is_some() && !text.trim_end().is_empty();
    }
    marks
}

/// Tells whether a file is there for tests alone, by its text.
pub(crate) fn is_test_text(path: &str, text: &str) -> bool {
    match path.rsplit_once('.').map(|it| it.1) {
        Some("py") => has_only_python_tests(text),
        Some(extension) if JAVA_SCRIPT.contains(&extension) => {
            let imports = |line: &str| line.starts_with("import") || line.contains("require(");
            let is_runner = |line: &str| {
                RUNNERS
                    .iter()
                    .any(|it| line.contains(&format!("'{it}'")) || line.contains(&format!("\"{it}\"")))
            };
            text.lines().any(|it| imports(it) && is_runner(it)) || has_cases(text)
        }
        Some(extension) if C.contains(&extension) => {
            let header =
                |line: &str| line.trim_start().strip_prefix("#include")?.trim().get(1..).map(str::to_owned);
            text.lines().filter_map(header).any(|it| HEADERS.iter().any(|name| it.starts_with(name)))
        }
        _ => false,
    }
}

/// Cases as jest, mocha and jasmine take them, which need no import.
fn has_cases(text: &str) -> bool {
    let begins =
        |line: &str| ["test(", "it(", "describe("].iter().any(|it| line.trim_start().starts_with(it));
    text.lines().any(begins) && (text.contains("expect(") || text.contains("assert"))
}

/// Tells whether a C file that a check's rule names is a program that tests: it has a `main` and compares.
pub(crate) fn is_c_test_program(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let compares = ["assert(", "ASSERT", "EXPECT", "CHECK", "check("].iter().any(|it| text.contains(it));
    C.contains(&extension) && stem != "main" && text.contains("main(") && compares
}

/// The modules that a test of Rust takes from elsewhere by `#[path = "../checks/same.rs"]`, as paths below the
/// top of the tree. What lies in a `src` folder is the product, whoever includes it.
pub(crate) fn rust_modules_by_path(test: &str, text: &str) -> Vec<String> {
    let mut folder: Vec<&str> = test.split('/').collect();
    folder.pop();
    let named = text.lines().filter_map(|it| {
        let value = it.trim().strip_prefix("#[path")?.trim_start().strip_prefix('=')?.trim_start();
        value.strip_prefix('"')?.split('"').next()
    });
    let below = named.filter_map(|it| {
        let mut parts = folder.clone();
        for part in it.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        (!parts.contains(&"src")).then(|| parts.join("/"))
    });
    below.collect()
}

/// Whether the first of these lines begins a test. Products have classes and functions that are called so
/// too (`TestClient`, `test_connection(host)`), so a class has to hold a test, and a function to take nothing
/// or what a fixture gives.
fn begins_test(lines: &[&str]) -> bool {
    let line = lines[0];
    let text = line.trim_start();
    let is_top = line.len() == text.len();
    let text = text.strip_prefix("async ").unwrap_or(text);
    let is_inside =
        |it: &&&str| it.trim().is_empty() || it.len() - it.trim_start().len() > line.len() - text.len();
    let has_test = || {
        let inside = lines[1..].iter().take_while(is_inside);
        inside.map(|it| it.trim_start().trim_start_matches("async ")).any(|it| it.starts_with("def test"))
    };
    match (text.strip_prefix("class "), text.strip_prefix("def ")) {
        (Some(class), _) => class.contains("TestCase") || is_top && class.starts_with("Test") && has_test(),
        (None, Some(function)) => is_top && function.starts_with("test_") && function.contains("():"),
        (None, None) => false,
    }
}

/// Every class and function at the top is a test, or serves one.
fn has_only_python_tests(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_definition = |it: &str| ["class ", "def ", "async def "].iter().any(|word| it.starts_with(word));
    let serves = |at: usize| {
        let line = lines[at].trim_start_matches("async ").trim_start_matches("def ");
        let is_fixture =
            lines[..at].iter().rev().take_while(|it| it.starts_with('@')).any(|it| it.contains("fixture"));
        let is_hook =
            ["setUpModule", "tearDownModule", "load_tests", "_"].iter().any(|it| line.starts_with(it));
        is_fixture || is_hook
    };
    let mut found = false;
    for (at, line) in lines.iter().enumerate().filter(|(_, it)| is_definition(it)) {
        let is_test = begins_test(&lines[at..]) || line.contains("def test_");
        found |= is_test;
        if !is_test && !serves(at) {
            return false;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_inside_ordinary_source_are_marked() {
        let text = "import unittest\ndef add(a):\n    return a\n\n@skip\nclass TestAdd(unittest.TestCase):\n    def test_a(self):\n\n        pass\ndef test_b():\n    pass\nx = 1\n";
        let lines: Vec<&str> = text.lines().collect();
        let marked: Vec<usize> =
            python_test_lines(&lines).iter().enumerate().filter(|it| *it.1).map(|it| it.0 + 1).collect();
        assert_eq!(marked, [5, 6, 7, 9, 10, 11]);
        assert!(!is_test_text("calc.py", text));
    }

    #[test]
    fn a_file_that_has_nothing_but_tests_is_one() {
        let text = "import unittest\nfrom calc import add\n\nclass Adding(unittest.TestCase):\n    def test_a(self):\n        pass\n\ndef _make():\n    pass\n";
        assert!(is_test_text("quality/verify_calc.py", text));
        assert!(!is_test_text("shop/prices.py", "def total():\n    pass\n"));
        let product = "class TestClient:\n    def get(self):\n        pass\n";
        assert!(!is_test_text("shop/client.py", product));
        assert!(!python_test_lines(&product.lines().collect::<Vec<_>>()).contains(&true));
        assert!(is_test_text("quality/verify.js", "const test = require('node:test');\n"));
        assert!(is_test_text(
            "quality/verify.ts",
            "describe('a', () => {\n  it('b', () => expect(1).toBe(1));\n});\n"
        ));
        assert!(!is_test_text("src/split.js", "exports.expect = (it) => it.test(text);\n"));
        assert!(is_test_text("quality/verify.cc", "#include <gtest/gtest.h>\nTEST(A, B) {}\n"));
        assert!(!is_test_text("src/index.js", "// run with node:test\nexport const a = 1;\n"));
    }

    #[test]
    fn modules_that_a_rust_test_takes_by_a_path_are_its_own() {
        let text = "#[path = \"../checks/same.rs\"]\n#[macro_use]\nmod same;\n#[path=\"../src/calc.rs\"]\nmod calc;\n#[path = \"../../../x.rs\"]\nmod x;\n";
        assert_eq!(rust_modules_by_path("a/tests/all.rs", text), ["a/checks/same.rs"]);
    }

    #[test]
    fn a_c_program_that_compares_is_a_test() {
        let text = "#include <assert.h>\nint main(void) { assert(add(1, 1) == 2); }\n";
        assert!(is_c_test_program("driver.c", text) && !is_c_test_program("src/main.c", text));
        assert!(!is_c_test_program("tool.c", "int main(void) { return run(); }\n"));
    }
}
