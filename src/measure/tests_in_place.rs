//! Which tests the checks in place ran, kept beside the run: those of the opening and those of the
//! last measurement. They are compared after every call, which costs no run of its own, and the proof
//! at the end uses them to tell a test that fails only in a clean checkout.

use loop_core::engine::{CheckOutcome, CheckResult};
use loop_core::proof::{Exit, Results, TestOutcome, read_results};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// The checks at the opening.
pub(crate) const OPENING: &str = "tests-opening.json";

/// The checks of the last measurement.
pub(crate) const LAST: &str = "tests-last.json";

/// What was measured last when the visit to a phase began.
const BEGUN: &str = "tests-begun.json";

/// A log is read for the names of tests; what a runner prints beyond this is a loop gone wild.
const LOG_MOST: usize = 64 << 20;

/// A file of ours; 50,000 names of tests have about 10 MB.
const FILE_MOST: usize = 64 << 20;

/// Reads which tests the checks ran from their logs.
pub(crate) fn of(folder: &Path, results: &[CheckResult]) -> Vec<Results> {
    let ran = results.iter().filter(|it| it.outcome != CheckOutcome::Skipped);
    ran.map(|it| {
        let text = loop_base::files::read(&folder.join(&it.log), LOG_MOST).unwrap_or_default();
        read_results(&it.name, Exit::from_code(it.exit), &String::from_utf8_lossy(&text), &[])
    })
    .collect()
}

/// Tests of one iteration that are named; more show nothing that these do not.
const NAMED_MOST: usize = 20;

/// Returns the tests that pass now and did not when the visit to the phase began, or at the opening: what the visit
/// broke and repaired is no evidence of new work. `begins` says that this is its first measurement.
pub(crate) fn turned_green(folder: &Path, now: &[Results], begins: bool) -> io::Result<Vec<String>> {
    if begins || !folder.join(BEGUN).exists() {
        write(folder, BEGUN, &read(folder, LAST))?;
    }
    let (begun, opening) = (read(folder, BEGUN), read(folder, OPENING));
    let before = |check: &str| begun.iter().chain(&opening).find(|it| it.check == check);
    let passed = |check: &str, name: &str| {
        let same = before(check);
        same.is_some_and(|it| it.ids.get(name) == Some(&TestOutcome::Passed))
    };
    let green = now.iter().flat_map(|results| {
        let fresh =
            results.ids.iter().filter(|it| *it.1 == TestOutcome::Passed && !passed(&results.check, it.0));
        fresh.map(|it| it.0.clone())
    });
    Ok(green.take(NAMED_MOST).collect())
}

/// Returns those of these tests that pass in no measurement which was the last of its check. A measurement in which
/// no test passes tells nothing of any.
pub(crate) fn lost_green<'a>(
    folder: &Path,
    now: &[Results],
    asked: impl Iterator<Item = &'a String>,
) -> Vec<String> {
    let is_green = |it: &Results, name: &str| it.ids.get(name) == Some(&TestOutcome::Passed);
    if !now.iter().any(|it| it.ids.values().any(|it| *it == TestOutcome::Passed)) {
        return Vec::new();
    }
    let last = read(folder, LAST);
    let lost = asked.filter(|name| !last.iter().any(|it| is_green(it, name)));
    lost.cloned().collect::<BTreeSet<String>>().into_iter().collect()
}

/// Keeps the results of a measurement as the last of their checks. A phase that runs none of them changes
/// nothing: the next one that does is compared with what was measured before it.
pub(crate) fn keep_last(folder: &Path, now: &[Results]) -> io::Result<()> {
    let has_now = |it: &Results| now.iter().any(|new| new.check == it.check);
    let mut kept = read(folder, LAST);
    kept.retain(|it| !has_now(it));
    kept.extend(now.iter().cloned());
    write(folder, LAST, &kept)
}

pub(crate) fn write(folder: &Path, name: &str, results: &[Results]) -> io::Result<()> {
    let path = folder.join(name);
    loop_base::files::replace_ours(&path, &serde_json::to_string(results)?)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// What is missing or damaged counts as nothing known.
pub(crate) fn read(folder: &Path, name: &str) -> Vec<Results> {
    let text = loop_base::files::read(&folder.join(name), FILE_MOST).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}
