//! Every fixture is the real output of the real runner, with the paths of the machine replaced.
//! The projects behind them have tests that print a summary of their own with 99 passing tests.

use super::{CountReader, TestCounts};
use loop_base::value::Value;
use loop_core::proof::CountFormat;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Passing, failing and skipped.
type Numbers = Option<(u32, u32, u32)>;

#[test]
fn reads_every_fixture_by_its_format_and_by_itself() {
    for (fixture, expected) in expectations() {
        let log = std::fs::read(path_of(fixture)).expect(fixture);
        assert_eq!(read(format_of(fixture), &log), expected, "{fixture}");
        assert_eq!(read("auto", &log), expected, "{fixture} with auto");
    }
}

#[test]
fn has_an_expectation_for_every_fixture() {
    let mut found: Vec<String> = Vec::new();
    for folder in std::fs::read_dir(folder()).expect("fixtures") {
        let Ok(files) = std::fs::read_dir(folder.expect("a folder").path()) else { continue };
        for file in files {
            let file = file.expect("a file").path();
            let name = file.strip_prefix(self::folder()).expect("inside").with_extension("");
            found.push(name.to_string_lossy().into_owned());
        }
    }
    found.sort();
    let expected: Vec<&str> = expectations().into_iter().map(|(fixture, _)| fixture).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_short_log_means_what_it_says() {
    let cases: &[(&str, &str, Numbers)] = &[
        // A result without its announcement, or whose numbers differ from it, was printed by a test.
        ("cargo", "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n", None),
        ("cargo", "running 2 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured\n", None),
        ("cargo", "running 1 test\n  test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n", None),
        // A test that shows another cargo run does not add to its own.
        (
            "cargo",
            "running 2 tests\nrunning 5 tests\ntest result: ok. 5 passed; 0 failed; 0 ignored; 0 measured\n\
             test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured\n",
            Some((2, 0, 0)),
        ),
        // The log of a run that was cut off says nothing, that of a process that died does.
        ("cargo", "running 3 tests\ntest a ... ok\n", None),
        (
            "cargo",
            "running 3 tests\ntest a ... ok\nerror: test failed, to rerun pass `--lib`\n",
            Some((1, 2, 0)),
        ),
        ("cargo", "error: could not compile `shop` (lib) due to 1 previous error\n", None),
        (
            "nextest",
            "     Summary [   1.0s] 4 tests run: 3 passed (1 slow, 1 flaky), 1 timed out, 0 skipped\n",
            Some((3, 1, 0)),
        ),
        ("pytest", "3 apples in 2.0s\n", None),
        ("pytest", "2 passed in 75.32s (0:01:15)\n", Some((2, 0, 0))),
        ("unittest", "Ran 3 tests in 0.1s\n\nOK\n", None),
        ("jest", "Tests:       3 passed, 3 total\n", None),
        ("tap", "ok 1 - a\nok 2 - b\n", None),
        ("tap", "1..4\nok 1 - a\nnot ok 2 - b\n", Some((1, 3, 0))),
        ("tap", "1..2\nok 1 - a\nok 7 - printed\nok 2 - b # SKIP\n", Some((1, 0, 1))),
        ("tap", "1..3\nok 1 - a\nBail out! no database\n", Some((1, 3, 0))),
        (
            "junit",
            "<testsuite tests=\"9\" failures=\"2\" errors=\"1\" skipped=\"3\"><testcase name=\"a\"/>",
            Some((3, 3, 3)),
        ),
        (
            "junit",
            "<!-- never closed\n<testsuite tests=\"1\"><testcase name='a>b'/></testsuite>",
            Some((1, 0, 0)),
        ),
        ("go", "ok  \texample.com/a\t0.1s\nok  \texample.com/b\t(cached)\n", Some((2, 0, 0))),
        ("key-value", "tests_total=12 tests_passing=11\n", Some((11, 1, 0))),
        ("key-value", "done: tests_total=12, tests_failing=2; tests_skipped=1\n", Some((9, 2, 1))),
        ("key-value", "tests_total=9 tests_passing=5 tests_failing=1\n", Some((5, 1, 3))),
        ("key-value", "tests_total=1 tests_passing=5 tests_failing=1\n", Some((5, 1, 0))),
        ("key-value", "tests_passing=1\ntests_passing=2\n", Some((2, 0, 0))),
        ("key-value", "tests_total=0\n", Some((0, 0, 0))),
        ("key-value", "tests_passing=-1 a=b =3\n", Some((0, 0, 0))),
        ("key-value", "nothing here\n", None),
        // A line that is redrawn with carriage returns is several lines.
        ("auto", " 10%\r 50%\r1 failed, 2 passed in 0.10s\r\n", Some((2, 1, 0))),
        // Two runners in one log are two groups of tests, one inside the other is not.
        ("auto", "1..1\nok 1 a\n2 passed in 0.1s\n", Some((3, 0, 0))),
        ("auto", "1..2\nok 1 a\n2 passed in 0.1s\nok 2 b\n", Some((2, 0, 0))),
        // What is printed to be read by us counts instead of the runner that it sums up.
        ("auto", "2 passed in 0.1s\ntests_total=7 tests_passing=7\n", Some((7, 0, 0))),
        (
            "auto",
            "running 1 test\ntests_total=7 tests_passing=7\ntest result: ok. 1 passed; 0 failed\n",
            Some((1, 0, 0)),
        ),
        ("auto", "compiling\nport=8080\n", None),
        ("auto", "", None),
    ];
    for (format, log, expected) in cases {
        let counts = read(format, log.as_bytes());
        let numbers = counts.map(|it| (it.passing, it.failing, it.skipped));
        assert_eq!(numbers, *expected, "{format}: {log}");
    }
}

#[test]
fn pairs_become_metrics() {
    let counts = read("key-value", b"coverage=87.5 lint_ok=true\nwarnings=3 a.b=1 x=\"y\" tests_passing=2\n");
    let metrics = [
        ("coverage", Value::Number(87.5)),
        ("lint_ok", Value::Bool(true)),
        ("tests_passing", Value::Int(2)),
        ("warnings", Value::Int(3)),
    ];
    let metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(counts, Some(TestCounts { total: 2, passing: 2, metrics, ..TestCounts::default() }));
    // The same words in a log that nobody wrote for us are only words.
    assert_eq!(read("auto", b"coverage=87.5 lint_ok=true\n"), None);
}

#[test]
fn holds_a_bounded_amount_of_a_long_log() {
    let mut reader = CountReader::new(CountFormat::Auto);
    for number in 0..20_000 {
        reader.line(format!("=== RUN   Test{number}").as_bytes());
        reader.line(format!("--- FAIL: Test{number} (0.00s)").as_bytes());
        reader.line(format!("name{number}={number} <a b='").as_bytes());
    }
    reader.line(&vec![b'x'; 1_000_000]);
    reader.line(b"FAIL\texample.com/shop\t0.1s");
    let counts = reader.finish().expect("a summary");
    assert_eq!((counts.total, counts.failing, counts.failed.len()), (20_000, 20_000, 500));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn survives_any_bytes(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..40)) {
        for format in CountFormat::ALL {
            let mut reader = CountReader::new(format);
            lines.iter().for_each(|it| reader.line(it));
            prop_assert!(adds_up(&reader.finish()));
        }
    }

    #[test]
    fn survives_real_lines_in_any_order(seed in prop::collection::vec(any::<prop::sample::Index>(), 0..200)) {
        let pool = all_lines();
        let mut reader = CountReader::new(CountFormat::Auto);
        seed.iter().for_each(|it| reader.line(it.get::<Vec<u8>>(&pool)));
        prop_assert!(adds_up(&reader.finish()));
    }

    #[test]
    fn survives_damaged_lines(
        seed in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..100)
    ) {
        let pool = all_lines();
        let mut reader = CountReader::new(CountFormat::Auto);
        for (line, place, byte) in seed {
            let mut line = line.get(&pool).clone();
            if !line.is_empty() {
                let place = place.index(line.len());
                line[place] = byte;
            }
            reader.line(&line);
        }
        prop_assert!(adds_up(&reader.finish()));
    }

    #[test]
    fn noise_between_the_lines_changes_nothing(
        fixture in prop::sample::select(expectations()),
        noise in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(NOISE)), 0..40),
    ) {
        let (name, _) = fixture;
        let log = std::fs::read(path_of(name)).expect(name);
        let clean: Vec<&[u8]> = log.split(|it| *it == b'\n').collect();
        let mut noisy = clean.clone();
        for (place, line) in noise {
            noisy.insert(place.index(noisy.len() + 1), line.as_bytes());
        }
        for format in [format_of(name), "auto"] {
            prop_assert_eq!(read_lines(format, &noisy), read_lines(format, &clean), "{} as {}", name, format);
        }
    }
}

const NOISE: &[&str] = &[
    "npm warn deprecated inflight@1.0.6: this module is not supported",
    "[2026-01-01T10:00:00Z INFO  server] listening on port 8080",
    "\u{1b}[33mwarning\u{1b}[0m: unused variable: `x`",
    " 10% [##        ]\r 50% [#####     ]\r100% [##########]",
    "a < b && c > d \"unfinished",
    "            at Object.<anonymous> (index.js:1:1)",
    "===> building",
    "ok then",
    "{\"level\":\"info\",\"msg\":\"started\"}",
    "caf\u{fffd} \u{1b}[",
];

/// Reads the table beside the fixtures: name, passing, failing, skipped, then the failing tests.
fn expectations() -> Vec<(&'static str, Option<TestCounts>)> {
    let table = include_str!("../../../tests/fixtures/counts/expected.tsv");
    let rows = table.lines().filter(|it| !it.starts_with('#')).map(|it| it.split('\t').collect::<Vec<_>>());
    rows.map(|row| {
        let number = |column: usize| row[column].parse().expect("a number");
        let counts = (row[1] != "none").then(|| TestCounts {
            total: number(1) + number(2) + number(3),
            passing: number(1),
            failing: number(2),
            skipped: number(3),
            failed: row[4..].iter().map(|it| (*it).to_owned()).collect(),
            metrics: BTreeMap::new(),
        });
        (row[0], counts)
    })
    .collect()
}

fn adds_up(counts: &Option<TestCounts>) -> bool {
    counts.as_ref().is_none_or(|it| {
        let sum = it.passing.checked_add(it.failing).and_then(|sum| sum.checked_add(it.skipped));
        sum == Some(it.total) && it.failed.is_sorted() && it.failed.len() <= 500
    })
}

fn all_lines() -> Vec<Vec<u8>> {
    let logs = expectations().into_iter().map(|(name, _)| std::fs::read(path_of(name)).expect(name));
    logs.flat_map(|log| log.split(|it| *it == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()).collect()
}

fn read(format: &str, log: &[u8]) -> Option<TestCounts> {
    read_lines(format, &log.split(|it| *it == b'\n').collect::<Vec<_>>())
}

fn read_lines(format: &str, lines: &[&[u8]]) -> Option<TestCounts> {
    let mut reader = CountReader::new(CountFormat::named(format).expect("a format"));
    lines.iter().for_each(|it| reader.line(it));
    reader.finish()
}

fn format_of(fixture: &'static str) -> &'static str {
    fixture.split('/').next().unwrap_or(fixture)
}

fn path_of(fixture: &str) -> PathBuf {
    folder().join(fixture).with_extension("txt")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/counts")
}
