//! The fixtures are real output of real runners; the table beside them says what must be read from
//! each: listing, whether the run got to its end, whether something did not build, numbers, names.

use super::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/counts")
}

fn row(fixture: &str, results: &Results) -> String {
    let mut row = String::new();
    let flag = |it: bool, word: &'static str| if it { word } else { "-" };
    write!(
        row,
        "{fixture}\t{:?}\t{}\t{}\t{}\t{}\t{}",
        results.listing,
        flag(results.complete, "complete"),
        flag(results.build_failed, "not-built"),
        results.passed,
        results.failed,
        results.skipped
    )
    .expect("a string");
    for (name, outcome) in &results.ids {
        write!(row, "\t{name}={outcome:?}").expect("a string");
    }
    row
}

#[test]
fn reads_every_fixture() {
    let mut table = String::new();
    let mut folders: Vec<_> =
        std::fs::read_dir(fixtures()).expect("fixtures").map(|it| it.expect("an entry").path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|it| it.is_dir()) {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path()).collect();
        files.sort();
        for file in files {
            let text = String::from_utf8_lossy(&std::fs::read(&file).expect("a file")).into_owned();
            let name = file.strip_prefix(fixtures()).expect("inside").with_extension("");
            let results = read_results("tests", Exit::Red, &text, &[]);
            table.push_str(&row(&name.to_string_lossy(), &results));
            table.push('\n');
        }
    }
    insta::assert_snapshot!("fixtures", table);
}

#[test]
fn doc_tests_of_one_item_are_numbered_by_their_lines() {
    let printed = |lines: [&str; 3]| {
        let text = format!(
            "   Doc-tests shop\n\nrunning 3 tests\n{}\n\nfailures:\n\nfailures:\n    src/lib.rs - half (line 12)\n\n\
             test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n\n\
             error: doctest failed, to rerun pass `--doc`\n",
            lines.join("\n")
        );
        read_results("tests", Exit::Red, &text, &[]).ids
    };
    let first = "test src/lib.rs - half (line 5) ... ok";
    let second = "test src/lib.rs - half (line 12) ... FAILED";
    let third = "test src/lib.rs - half (line 101) ... ok";
    let expected = BTreeMap::from([
        ("src/lib.rs - half (doc test of shop)".to_owned(), TestOutcome::Passed),
        ("src/lib.rs - half (doc test of shop) (2)".to_owned(), TestOutcome::Failed),
        ("src/lib.rs - half (doc test of shop) (3)".to_owned(), TestOutcome::Passed),
    ]);
    assert_eq!(printed([first, second, third]), expected);
    assert_eq!(printed([third, second, first]), expected);
}

fn pytest_file(text: &str) -> Vec<IdFile> {
    vec![IdFile { name: "pytest.xml".to_owned(), text: text.to_owned() }]
}

#[test]
fn takes_pytest_names_from_its_file() {
    let (text, xml) = (include_str!("fixtures/pytest.txt"), include_str!("fixtures/pytest_xunit1.xml"));
    let results = read_results("tests", Exit::Red, text, &pytest_file(xml));
    let expected = "tests\tAll\tcomplete\t-\t4\t4\t2\t\
        tests/test_calc.py::TestCalc::test_add=Passed\ttests/test_calc.py::TestCalc::test_bad=Failed\t\
        tests/test_calc.py::TestCalc::test_doc=Passed\ttests/test_calc.py::TestCalc::test_skip=Skipped\t\
        tests/test_calc.py::TestCalc::test_subs=Failed\ttests/test_calc.py::test_err=Failed\t\
        tests/test_calc.py::test_param[1]=Failed\ttests/test_calc.py::test_param[a b]=Passed\t\
        tests/test_calc.py::test_param[c::d]=Passed\ttests/test_calc.py::test_xfail=Skipped";
    assert_eq!(row("tests", &results), expected);
    // Two sessions wrote the same file one after the other: the second is all that it holds.
    let twice = read_results("tests", Exit::Red, &format!("{text}\n{text}"), &pytest_file(xml));
    assert_eq!((twice.listing, twice.passed), (NamedTests::Failures, 10));
}

#[test]
fn a_file_that_does_not_import_is_not_built() {
    let (text, xml) =
        (include_str!("fixtures/pytest_collection.txt"), include_str!("fixtures/pytest_collection.xml"));
    let results = read_results("tests", Exit::Red, text, &pytest_file(xml));
    assert_eq!(row("tests", &results), "tests\tAll\t-\tnot-built\t0\t0\t0");
}

#[test]
fn an_unfinished_line_is_unknown() {
    let text =
        "     Running tests/a.rs (target/debug/deps/a-1)\n\nrunning 2 tests\ntest one ... ok\ntest two ... ";
    let results = read_results("tests", Exit::Interrupted, text, &[]);
    assert_eq!(row("tests", &results), "tests\tAll\t-\t-\t1\t0\t0\ttests/a.rs a::one=Passed");
}

#[test]
fn a_check_without_tests_has_its_exit_code() {
    let results = read_results("lint", Exit::Green, "all files formatted\n", &[]);
    assert_eq!(results, Results::by_exit("lint", Exit::Green));
}

#[test]
fn too_many_tests_are_a_number() {
    let mut text = format!("running {} tests\n", IDS_LIMIT + 1);
    (0..=IDS_LIMIT).for_each(|it| writeln!(text, "test t{it} ... ok").expect("a string"));
    let total = IDS_LIMIT + 1;
    writeln!(text, "\ntest result: ok. {total} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out")
        .expect("a string");
    let results = read_results("tests", Exit::Green, &text, &[]);
    assert!(results.too_many && results.ids.is_empty() && results.complete);
    assert_eq!((results.listing, results.executed()), (NamedTests::Failures, Some(total as u32)));
}

proptest::proptest! {
    #[test]
    fn never_panics(text in "(running 2 tests\n|test a ... ok\n|test |ok 1 - a\n|1..2\n|    |# Subtest: x\n|  ● |FAIL a\n|---\n|type: 'suite'\n|=== RUN   T\n|--- FAIL: T \\(0.0s\\)\n|<testsuite >|<testcase name=\"|\"/>|</testsuite>|\n|[ -~é✔✖▶ℹ]{0,8}){0,40}") {
        let results = read_results("tests", Exit::Red, &text, &pytest_file(&text));
        proptest::prop_assert!(results.ids.len() <= text.len());
    }
}
