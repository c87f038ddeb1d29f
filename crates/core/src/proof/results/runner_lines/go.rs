//! Lines of `go test`, plain and with `-v`.

use crate::proof::results::ids::TestOutcome;

/// How a package ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoEnding {
    Passed,
    Failed,
    NoTests,
    NotBuilt,
}

/// Reads `--- FAIL: TestName (0.00s)`, which follows what the test printed without a line end.
pub fn outcome(text: &str) -> Option<(TestOutcome, &str)> {
    let rest = &text[text.rfind("--- ")? + 4..];
    let (word, rest) = rest.split_once(": ")?;
    let (test, time) = rest.rsplit_once(" (")?;
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ => return None,
    };
    time.ends_with("s)").then_some((outcome, test))
}

/// Reads `ok PACKAGE 0.002s`, `FAIL PACKAGE [build failed]` and `? PACKAGE [no test files]`, with tabs
/// before and after the package.
pub fn package(text: &str) -> Option<(GoEnding, &str)> {
    let (word, rest) = text.split_once('\t')?;
    let (name, remark) = rest.split_once(['\t', ' ']).unwrap_or((rest, ""));
    let ending = match word.trim_end() {
        "ok" if remark.contains("[no tests to run]") => GoEnding::NoTests,
        "ok" => GoEnding::Passed,
        "FAIL" if remark.contains("[build failed]") || remark.contains("[setup failed]") => {
            GoEnding::NotBuilt
        }
        "FAIL" => GoEnding::Failed,
        "?" => GoEnding::NoTests,
        _ => return None,
    };
    (!name.is_empty()).then_some((ending, name))
}
