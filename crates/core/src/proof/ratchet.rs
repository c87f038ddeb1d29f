//! Compares the checks in place with those at the opening, at every iteration and without another
//! run. A test that was green and is red or skipped, and a check that runs no tests any more, is not
//! done; a test that is gone is a note, because only the overlay can say whether its text still
//! passes. What the opening did not get to is not compared.

use crate::proof::results::ids::{Exit, NamedTests, Results, TestOutcome};

/// The lines of one kind that are written out; the others are a number.
const LINES_LIMIT: usize = 20;

/// What the comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ratchet {
    /// Lines for the agent that say why this is not done.
    pub not_done: Vec<String>,
    /// Lines that are only worth knowing.
    pub notes: Vec<String>,
}

pub fn ratchet(opening: &[Results], now: &[Results]) -> Ratchet {
    let mut ratchet = Ratchet::default();
    for after in now {
        let Some(before) = opening.iter().find(|it| it.check == after.check) else { continue };
        compare(before, after, &mut ratchet);
    }
    ratchet
}

fn compare(before: &Results, after: &Results, ratchet: &mut Ratchet) {
    let check = &after.check;
    let ran_before = before.executed().unwrap_or(0);
    if after.build_failed && after.executed().unwrap_or(0) == 0 {
        if ran_before > 0 {
            ratchet
                .not_done
                .push(format!("{check}: the tests do not build, {} ran before the run", tests(ran_before)));
        }
        return;
    }
    let no_longer_read = after.listing == NamedTests::Nothing && after.exit == Exit::Green;
    if ran_before > 0 && (after.executed() == Some(0) || no_longer_read) {
        ratchet.not_done.push(format!("{check}: 0 tests ran, {ran_before} before the run"));
        return;
    }
    let mut red = Vec::new();
    let mut skipped = Vec::new();
    let mut gone = Vec::new();
    for name in before.names(TestOutcome::Passed) {
        match after.outcome(name) {
            Some(TestOutcome::Failed) => red.push(name),
            Some(TestOutcome::Skipped) => skipped.push(name),
            None if after.listing == NamedTests::All && after.complete => gone.push(name),
            None | Some(TestOutcome::Passed) => {}
        }
    }
    if before.listing == NamedTests::Failures && before.complete && after.executed() <= before.executed() {
        // At the opening only failures were named: where no test was added, any other name had passed.
        let known = before.names(TestOutcome::Failed).collect::<Vec<_>>();
        red.extend(after.names(TestOutcome::Failed).filter(|it| !known.contains(it)));
    }
    lines(&mut ratchet.not_done, check, &red, "was passing before the run and fails now");
    lines(&mut ratchet.not_done, check, &skipped, "was passing before the run and is skipped now");
    lines(&mut ratchet.notes, check, &gone, "passed before the run and is missing");
    if skipped.is_empty() && after.skipped > before.skipped && after.listing == NamedTests::Failures {
        let (more, then) = (after.skipped, before.skipped);
        ratchet.not_done.push(format!("{check}: {} skipped, {then} before the run", are(more)));
    }
    let ran = after.executed().unwrap_or(ran_before);
    if gone.is_empty() && after.complete && ran < ran_before {
        ratchet.notes.push(format!("{check}: {} ran, {ran_before} before the run", tests(ran)));
    }
}

/// Says which tests of a finished run do not pass any more: it was done with them.
pub fn lost_since(finished: &[Results], now: &[Results]) -> Vec<String> {
    const THEN: &str = "when the run was completed";
    let mut lost = Vec::new();
    for after in now {
        let Some(before) = finished.iter().find(|it| it.check == after.check) else { continue };
        let check = &after.check;
        let ran_before = before.executed().unwrap_or(0);
        let ran = after.executed().unwrap_or(0);
        if ran_before > 0 && ran == 0 {
            lost.push(format!("{check}: 0 tests ran, {ran_before} {THEN}"));
            continue;
        }
        let (mut skipped, mut gone) = (Vec::new(), Vec::new());
        for name in before.names(TestOutcome::Passed) {
            match after.outcome(name) {
                Some(TestOutcome::Skipped) => skipped.push(name),
                None if after.listing == NamedTests::All && after.complete => gone.push(name),
                None | Some(TestOutcome::Passed | TestOutcome::Failed) => {}
            }
        }
        lines(&mut lost, check, &skipped, &format!("passed {THEN} and is skipped"));
        lines(&mut lost, check, &gone, &format!("passed {THEN} and is gone"));
        if skipped.is_empty() && after.skipped > before.skipped && after.listing == NamedTests::Failures {
            lost.push(format!("{check}: {} skipped, {} {THEN}", are(after.skipped), before.skipped));
        } else if gone.is_empty() && skipped.is_empty() && ran < ran_before {
            lost.push(format!("{check}: {} ran, {ran_before} {THEN}", tests(ran)));
        }
    }
    lost
}

fn lines(into: &mut Vec<String>, check: &str, names: &[&str], what: &str) {
    into.extend(names.iter().take(LINES_LIMIT).map(|it| format!("{check}: {it} {what}")));
    if names.len() > LINES_LIMIT {
        let rest = names.len() - LINES_LIMIT;
        into.push(format!("{check}: the same for {rest} more"));
    }
}

fn tests(number: u32) -> String {
    if number == 1 { "1 test".to_owned() } else { format!("{number} tests") }
}

fn are(number: u32) -> String {
    if number == 1 { "1 test is".to_owned() } else { format!("{number} tests are") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::testing::results;

    const P: TestOutcome = TestOutcome::Passed;
    const F: TestOutcome = TestOutcome::Failed;
    const S: TestOutcome = TestOutcome::Skipped;

    #[test]
    fn says_what_got_worse() {
        let opening = results("tests", Exit::Green, &[("a", P), ("b", P), ("c", P), ("d", F)]);
        let now = results("tests", Exit::Green, &[("a", S), ("b", F), ("d", F), ("e", P)]);
        let expected = Ratchet {
            not_done: vec![
                "tests: b was passing before the run and fails now".to_owned(),
                "tests: a was passing before the run and is skipped now".to_owned(),
            ],
            notes: vec!["tests: c passed before the run and is missing".to_owned()],
        };
        assert_eq!(ratchet(std::slice::from_ref(&opening), &[now]), expected);
        assert_eq!(
            ratchet(std::slice::from_ref(&opening), std::slice::from_ref(&opening)),
            Ratchet::default()
        );
    }

    #[test]
    fn a_finished_run_is_done_while_its_tests_pass() {
        let finished = results("tests", Exit::Green, &[("a", P), ("b", P), ("c", P)]);
        let lost = |now: Results| lost_since(std::slice::from_ref(&finished), &[now]);
        assert_eq!(lost(finished.clone()), Vec::<String>::new());
        let more = results("tests", Exit::Green, &[("a", P), ("b", P), ("c", P), ("d", P)]);
        assert_eq!(lost(more), Vec::<String>::new());
        let then = "when the run was completed";
        let fewer = results("tests", Exit::Green, &[("a", P), ("b", S)]);
        let expected =
            [format!("tests: b passed {then} and is skipped"), format!("tests: c passed {then} and is gone")];
        assert_eq!(lost(fewer), expected);
        let none = [format!("tests: 0 tests ran, 3 {then}")];
        assert_eq!(lost(results("tests", Exit::Green, &[])), none);
        assert_eq!(lost(Results::by_exit("tests", Exit::Green)), none);
    }

    #[test]
    fn no_tests_is_not_done() {
        let opening = results("tests", Exit::Green, &[("a", P), ("b", P), ("c", P)]);
        let line = vec!["tests: 0 tests ran, 3 before the run".to_owned()];
        let emptied = results("tests", Exit::Green, &[]);
        assert_eq!(ratchet(std::slice::from_ref(&opening), &[emptied]).not_done, line);
        let silenced = Results::by_exit("tests", Exit::Green);
        assert_eq!(ratchet(std::slice::from_ref(&opening), &[silenced]).not_done, line);
        let broken = Results { build_failed: true, complete: false, ..results("tests", Exit::Red, &[]) };
        let expected = ["tests: the tests do not build, 3 tests ran before the run"];
        assert_eq!(ratchet(&[opening], &[broken]).not_done, expected);
    }

    #[test]
    fn what_did_not_run_is_not_gone() {
        let opening = results("tests", Exit::Green, &[("a", P), ("b", P)]);
        let stopped = Results { complete: false, ..results("tests", Exit::Red, &[("a", F)]) };
        let found = ratchet(&[opening], &[stopped]);
        assert_eq!((found.not_done.len(), found.notes.len()), (1, 0));
    }

    #[test]
    fn a_test_that_was_added_and_fails_got_no_worse() {
        let named_failures = |passed, ids: &[(&str, TestOutcome)]| Results {
            listing: NamedTests::Failures,
            passed,
            complete: true,
            ..results("tests", Exit::Red, ids)
        };
        let added = ratchet(&[named_failures(1, &[])], &[named_failures(1, &[("new", F)])]);
        assert_eq!(added, Ratchet::default());
        let broken = ratchet(&[named_failures(2, &[])], &[named_failures(1, &[("old", F)])]);
        assert_eq!(broken.not_done, ["tests: old was passing before the run and fails now"]);
    }

    #[test]
    fn numbers_stand_in_where_names_are_missing() {
        let counted = |passed, skipped| Results {
            listing: NamedTests::Failures,
            passed,
            skipped,
            ..Results::by_exit("tests", Exit::Green)
        };
        let found = ratchet(&[counted(5, 0)], &[counted(3, 1)]);
        assert_eq!(found.not_done, ["tests: 1 test is skipped, 0 before the run"]);
        assert_eq!(found.notes, ["tests: 3 tests ran, 5 before the run"]);
    }
}
