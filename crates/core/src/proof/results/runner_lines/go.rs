//! Lines of `go test`, plain, with `-v` and with `-json`.

use crate::proof::results::ids::TestOutcome;
use serde::Deserialize;

/// How a package ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoEnding {
    Passed,
    Failed,
    NoTests,
    NotBuilt,
}

/// One line of `-json`.
#[derive(Debug)]
pub struct GoEvent {
    pub action: GoAction,
    pub package: Option<String>,
    /// None: it is about the package.
    pub test: Option<String>,
    /// The package failed because it, or one that it needs, does not build.
    pub failed_build: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoAction {
    Begins,
    Ends(TestOutcome),
    NotBuilt,
}

/// Whether a line is one of `-json`. What a test printed stands in such a line too.
pub fn is_event(text: &str) -> bool {
    text.starts_with('{') && text.contains("\"Action\":")
}

/// Reads a line of `-json` about the beginning or the end of something.
pub fn event(text: &str) -> Option<GoEvent> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct GoLine {
        action: String,
        package: Option<String>,
        test: Option<String>,
        failed_build: Option<String>,
    }
    let GoLine { action, package, test, failed_build } = serde_json::from_str(text).ok()?;
    let action = match action.as_str() {
        "run" => GoAction::Begins,
        "pass" => GoAction::Ends(TestOutcome::Passed),
        "fail" => GoAction::Ends(TestOutcome::Failed),
        "skip" => GoAction::Ends(TestOutcome::Skipped),
        "build-fail" => GoAction::NotBuilt,
        _ => return None,
    };
    Some(GoEvent { action, package, test, failed_build: failed_build.is_some() })
}

/// Reads `=== RUN   TestName`.
pub fn begun(text: &str) -> Option<&str> {
    text.split_once("=== RUN   ").map(|(_, test)| test.trim())
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
