//! Why an iteration did not finish its phase, in words. They are made here once, from what was measured
//! and said, and read everywhere: in the lines of a run, in the next prompt, in questions, `status`,
//! `why` and notifications. A reader is told facts ("tests: 1 of 2 failed: test_sub"), never the names
//! and conditions that a workflow is written in; only a name that the author of a workflow chose is
//! shown as it is. The values themselves are in the judgement, for `loop why`.

use super::failure::{is_silent, missing_words};
use super::grounds::{Grounds, once, plain};
use super::metrics::{broken_checks, failing_checks, keeping_checks, known_red};
use super::report_words::{done_words, no_report_words};
use crate::build_output::ignore_line;
use crate::engine::journal::calls::ending::Ending;
use crate::engine::journal::measured::evidence::{
    CheckOutcome, CheckResult, NO_TESTS_RAN, Tests, Uncommitted,
};
use crate::engine::state::run_state::State;
use crate::facts::{FactName, FactWords, Supplier};
use crate::workflow::condition::{Missing, MissingBound, Must};
use crate::workflow::model::{Phase, Signal, SignalWord};
use loop_base::value::Value;
use std::collections::BTreeSet;

/// Tests that a reason names; more would hide the other reasons.
const TESTS_NAMED: usize = 3;

/// Findings of a reviewer that a reason names; its report has all of them.
const FINDINGS_NAMED: usize = 5;

/// How much of a line of output a reason shows.
const LINE_SHOWN: usize = 120;

/// Returns why the phase is not done, the most telling reason first. `not_met` is what the condition of
/// the phase lacks.
pub(crate) fn reasons(grounds: &Grounds<'_>, not_met: &[Missing<'_>]) -> Vec<String> {
    let Grounds { phase, turn, evidence, .. } = grounds;
    let report = &turn.ended.report;
    let mut why = Vec::new();
    why.extend(call_trouble(&turn.ended.ending));
    if !evidence.unstable.is_empty() {
        why.push(format!("the checks change files themselves: {}", evidence.unstable.join(", ")));
    }
    why.extend(keeping_checks(phase, &evidence.results).into_iter().map(|it| grounds.check_words(it)));
    if phase.asks_for(FactName::PrMerged.name()) && !evidence.missing.is_empty() {
        // Nobody merges before the file is there, so it is named first.
        why.push(missing_words(&evidence.missing));
    }
    for missing in not_met {
        why.extend(grounds.missing_words(missing));
    }
    why.extend(evidence.ratchet.iter().cloned());
    if !evidence.missing.is_empty() {
        why.push(missing_words(&evidence.missing));
    }
    if report.failed {
        why.push("the agent reports that it failed".to_owned());
    }
    if let Some(error) = report.error.as_ref().filter(|_| phase.retries) {
        why.push(format!("the agent reports an error: {}", error.text));
    }
    if !grounds.signal && turn.ended.ending == Ending::Done {
        why.push(grounds.not_said());
    }
    once(why)
}

/// Returns how a call went wrong, where it did.
pub(crate) fn call_trouble(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Failed { why } => Some(format!("the agent failed: {why}")),
        Ending::TimedOut { why } | Ending::CutOff { why } | Ending::WaitedForInput { why } => {
            Some(format!("the call was ended: {why}"))
        }
        Ending::Lost { why } => Some(format!("the call was lost: {why}")),
        Ending::Done
        | Ending::Interrupted
        | Ending::NotStarted
        | Ending::Barred { .. }
        | Ending::Limited { .. }
        | Ending::Refused { .. }
        | Ending::Unreachable { .. } => None,
    }
}

/// Returns why a phase is passed, for people.
pub(crate) fn passed_words(grounds: &Grounds<'_>) -> Vec<String> {
    let Grounds { phase, evidence, metrics, .. } = grounds;
    let mut why = Vec::new();
    let ran = evidence.results.iter().any(|it| it.outcome != CheckOutcome::Skipped);
    let failing = failing_checks(phase, &evidence.results).next().is_some();
    match (ran && !failing, phase.expect_failing) {
        (true, true) => why.push("the new tests fail as they should".to_owned()),
        (true, false) => why.push("checks pass".to_owned()),
        (false, _) => (),
    }
    let verdict = metrics.get(FactName::Verdict.name());
    if let Some(verdict) = verdict.filter(|_| phase.asks_for(FactName::Verdict.name())) {
        why.push(format!("the verdict is {}", plain(&verdict.value)));
    }
    if grounds.turn.ended.report.signal.is_some() {
        why.push("the agent says it is done".to_owned());
    }
    why
}

/// Returns why a phase sent the work back: what the reviewer found, in the reviewer's words, and what
/// was measured.
pub(crate) fn rejection_words(grounds: &Grounds<'_>) -> Vec<String> {
    let Grounds { phase, turn, evidence, metrics, .. } = grounds;
    let found = &turn.ended.report.blockers;
    let mut why: Vec<String> = found.iter().take(FINDINGS_NAMED).cloned().collect();
    if FINDINGS_NAMED < found.len() {
        why.push(format!("{} more findings", found.len() - FINDINGS_NAMED));
    }
    if let (true, Some(verdict)) = (why.is_empty(), metrics.get(FactName::Verdict.name())) {
        why.push(format!("the verdict is {}", plain(&verdict.value)));
    }
    why.extend(broken_checks(phase, &evidence.results).map(|it| grounds.check_words(it)));
    once(why)
}

/// Returns what an agent claimed that is not so, in words.
pub(crate) fn false_claim_words(name: &str, claimed: &Value, is: &Value, measured: bool) -> String {
    let by = if measured { "measured" } else { "it is" };
    let label = match FactName::named(name).map(|it| it.row().words) {
        Some(FactWords::Count { label, .. } | FactWords::Text { label, .. }) => label.to_owned(),
        Some(FactWords::State { is: words, .. }) => format!("whether {words}"),
        None => name.to_owned(),
    };
    format!("{label}: the agent claimed {}, {by} {}", plain(claimed), plain(is))
}

impl Grounds<'_> {
    fn not_said(&self) -> String {
        let report = &self.turn.ended.report;
        let asked = match &self.phase.signal {
            Signal::Words(words) => words.iter().map(SignalWord::word).collect::<Vec<_>>().join(" or "),
            Signal::Own | Signal::None => String::new(),
        };
        if let (Some(said), Some(asked)) = (&report.other_promise, self.promise) {
            return format!("said {said}, {asked} was asked for");
        }
        if let Some(place) = report.ignored_promise {
            let why = place.words();
            return format!("the agent's promise does not count: {why}, but must be alone on its own line");
        }
        match &report.signal {
            Some(said) if !asked.is_empty() => format!("said {said}, {asked} was asked for"),
            Some(_) | None if is_silent(self.phase, self.turn) => no_report_words(&self.phase.report),
            Some(_) | None => match done_words(&self.phase.report, self.promise) {
                Some(how) => format!("the agent did not say that it is done: {how}"),
                None => "the agent did not say that it is done".to_owned(),
            },
        }
    }

    /// `tests: 1 of 2 failed: test_sub`, or how the command ended.
    fn check_words(&self, result: &CheckResult) -> String {
        let before = self.before.iter().find(|it| it.name == result.name);
        check_words(result, before.and_then(|it| it.counts.as_ref()))
    }

    fn missing_words(&self, missing: &Missing<'_>) -> Vec<String> {
        match missing {
            Missing::Never => vec!["the exit condition can never be met".to_owned()],
            Missing::OneOf(alternatives) => self.alternative_words(alternatives),
            Missing::Is { name, wanted } => self.state_words(name, *wanted),
            Missing::Compares { name, must, bound } => self.count_words(name, *must, bound),
        }
    }

    /// If the agent gave a signal too early, lists what is missing for it.
    fn alternative_words(&self, alternatives: &[Vec<Missing<'_>>]) -> Vec<String> {
        let said = self.turn.ended.report.signal.as_ref();
        // That there is no report is said apart, and what the signal may not be is no help then.
        let is_known = said.is_some() || is_silent(self.phase, self.turn);
        let forbids = |it: &Vec<Missing<'_>>| is_known && it.iter().any(forbids_signal);
        let told = alternatives.iter().filter(|it| !forbids(it));
        let told = told.map(|it| once(it.iter().flat_map(|part| self.missing_words(part))).join(" and "));
        let told = once(told);
        match (said.filter(|_| alternatives.iter().any(forbids)), told.as_slice()) {
            (Some(_), []) => once(alternatives.iter().flatten().flat_map(|part| self.missing_words(part))),
            (Some(said), told) => vec![format!("said {said}, but {}", told.join(" or "))],
            (None, [] | [_]) => told,
            // That there is no signal is told once, with what the report lacks.
            (None, _) if said.is_none() && alternatives.iter().flatten().any(forbids_signal) => Vec::new(),
            (None, _) => vec![format!("needs {}", self.one_of(alternatives, ", or "))],
        }
    }

    fn state_words(&self, name: &str, wanted: bool) -> Vec<String> {
        if let Some(check) = self.check_of(name, &["ok"]) {
            return vec![self.outcome_words(check)];
        }
        let known = self.value(name).is_some();
        match FactName::named(name).map(|it| (it, it.row().words)) {
            Some((FactName::TreeClean | FactName::WorkCommitted, _))
                if known && wanted && !self.evidence.uncommitted.is_empty() =>
            {
                self.evidence.uncommitted.iter().map(uncommitted_words).collect()
            }
            Some((_, FactWords::State { is, is_not })) if known => {
                vec![if wanted { is_not } else { is }.to_owned()]
            }
            // Nobody looks at the tree while the agent continues working, and that is no fault of its work.
            Some((fact, FactWords::State { .. }))
                if !self.signal && matches!(fact.row().supplier, Supplier::World) =>
            {
                Vec::new()
            }
            Some((_, FactWords::State { is, .. })) => vec![format!("it is unknown whether {is}")],
            Some((_, FactWords::Count { .. } | FactWords::Text { .. })) => self.unknown_words(name),
            None => vec![match self.value(name) {
                Some(value) => format!("{name} is {}", plain(value)),
                None => format!("{name} is not reported"),
            }],
        }
    }

    fn count_words(&self, name: &str, must: Must, bound: &MissingBound<'_>) -> Vec<String> {
        let fact = FactName::named(name);
        if let Some(lines) = fact.and_then(|it| self.failing_instead(it)) {
            return lines;
        }
        let (limit, of) = match bound {
            MissingBound::Value(value) => (Some((*value).clone()), String::new()),
            MissingBound::Name(other) => {
                (self.value(other).cloned(), format!(", as many as {}", self.label(other)))
            }
        };
        let (is, label) = (self.value(name), self.label(name));
        let none = match fact.map(|it| it.row().words) {
            Some(FactWords::Count { none, .. }) => Some(none),
            Some(FactWords::State { .. } | FactWords::Text { .. }) | None => None,
        };
        let (Some(is), Some(limit)) = (is, limit) else {
            let unknown = match bound {
                MissingBound::Name(other) if is.is_some() => other,
                MissingBound::Name(_) | MissingBound::Value(_) => name,
            };
            return self.unknown_words(unknown);
        };
        let is_text = matches!(limit, Value::Text(_));
        let zero = is.number() == Some(0.0);
        if let (Value::Text(text), false) = (is, is_text) {
            return vec![format!("{label}: {text:?} is a text and no number")];
        }
        let (is, limit) = (plain(is), plain(&limit));
        let said = match (fact, none) {
            (_, Some(none)) if zero && matches!(must, Must::BeMore | Must::BeAtLeast) => none.to_owned(),
            (Some(_), Some(_)) => format!("{label}: {is}"),
            (Some(_), None) => format!("the {label} is {is}"),
            (None, _) => format!("{label}: {is}"),
        };
        vec![match must {
            Must::Equal if is_text => format!("{said}, {limit}{of} was asked for"),
            Must::Equal | Must::BeAtMost if limit == "0" && fact.is_some() => said,
            Must::Equal => format!("{said}; {limit} needed{of}"),
            Must::Differ if is_text => format!("{said}, another one was asked for"),
            Must::Differ => format!("{said}; another number is needed"),
            Must::BeLess => format!("{said}; fewer than {limit} allowed{of}"),
            Must::BeAtMost => format!("{said}; at most {limit} allowed{of}"),
            Must::BeMore if limit == "0" && zero && none.is_some() => said,
            Must::BeAtLeast if limit == "1" && zero && none.is_some() => said,
            Must::BeMore => format!("{said}; more than {limit} needed{of}"),
            Must::BeAtLeast => format!("{said}; at least {limit} needed{of}"),
        }]
    }

    /// What is not known lets no phase pass.
    fn unknown_words(&self, name: &str) -> Vec<String> {
        let Some(fact) = FactName::named(name) else { return vec![format!("{name} is not reported")] };
        let row = fact.row();
        if matches!(row.supplier, Supplier::TestCounts | Supplier::Checks) {
            let failing = failing_checks(self.phase, &self.evidence.results);
            let failing: Vec<String> = failing.map(|it| self.check_words(it)).collect();
            let uncounted = || vec!["no check counted the tests".to_owned()];
            return if failing.is_empty() { uncounted() } else { failing };
        }
        vec![match row.words {
            FactWords::Count { label, .. } => format!("{label}: not known"),
            FactWords::State { is, .. } => format!("it is unknown whether {is}"),
            FactWords::Text { none, .. } => none.to_owned(),
        }]
    }

    /// Counts that are wrong because a check fails are told by that check.
    fn failing_instead(&self, fact: FactName) -> Option<Vec<String>> {
        let counts_tests = |it: &&CheckResult| it.counts.is_some() && it.passes == 0;
        let failing = failing_checks(self.phase, &self.evidence.results);
        let is_of_tests =
            matches!(fact, FactName::TestsFailing | FactName::TestsPassing | FactName::ConsecutiveGreenRuns);
        let lines: Vec<String> = if fact == FactName::ChecksFailing {
            failing.map(|it| self.check_words(it)).collect()
        } else if is_of_tests {
            failing.filter(counts_tests).map(|it| self.check_words(it)).collect()
        } else {
            Vec::new()
        };
        (!lines.is_empty()).then_some(lines)
    }

    fn outcome_words(&self, check: &str) -> String {
        match self.evidence.results.iter().find(|it| it.name == check) {
            Some(result) => match &result.outcome {
                CheckOutcome::Failed(_) => self.check_words(result),
                CheckOutcome::Passed => format!("{check}: passes"),
                CheckOutcome::Skipped => format!("{check}: the check has no command"),
            },
            None => format!("{check}: the check did not run"),
        }
    }
}

impl State {
    /// Returns why a phase is given up: what the breaker counted, and what the last iteration lacked.
    pub(crate) fn stuck_words(&self, phase: &Phase, counted: &str) -> String {
        let name = &phase.name;
        let trouble = self.feedback.as_ref().and_then(|it| it.trouble.as_ref());
        match trouble {
            Some(trouble) => {
                let times = times(self.visit.breaker.same_error);
                format!("{name}: the agent failed{times}: {trouble}")
            }
            None => format!("{name}: {counted}{}", self.cause()),
        }
    }

    /// Returns what the last iteration lacked, to follow a sentence; nothing where that is not known.
    pub(crate) fn cause(&self) -> String {
        match &self.feedback {
            Some(feedback) if !feedback.why.is_empty() => format!(": {}", feedback.why.join("; ")),
            Some(_) | None => String::new(),
        }
    }
}

fn times(count: u32) -> String {
    match count {
        0 | 1 => String::new(),
        2 => " twice".to_owned(),
        more => format!(" {more} times"),
    }
}

/// Returns what a failed check says, in one phrase: which tests failed, or how the command ended. Tests
/// that failed before the run began are counted apart.
pub(crate) fn check_words(result: &CheckResult, before: Option<&Tests>) -> String {
    let CheckOutcome::Failed(why) = &result.outcome else { return format!("{}: passes", result.name) };
    let name = &result.name;
    let Some(tests) = result.counts.as_ref().filter(|it| 0 < it.failing) else {
        // Where no test ran, the last line says that nothing failed.
        let last = if why == NO_TESTS_RAN { String::new() } else { last_words(result) };
        return format!("{name}: {why}{last}");
    };
    let old = before.map_or(0, |it| known_red(tests, it));
    let was_red = |id: &String| before.is_some_and(|it| it.failed.contains(id));
    let failed = tests.failing.saturating_sub(old);
    if failed == 0 {
        let ids: Vec<&str> = tests.failed.iter().map(String::as_str).collect();
        let named = named(&ids, tests.failing);
        return format!("{name}: {} of {} failed, as before the run{named}", tests.failing, tests.total);
    }
    let ids: Vec<&str> =
        tests.failed.iter().filter(|it| old == 0 || !was_red(it)).map(String::as_str).collect();
    let named = named(&ids, failed);
    let old = if old == 0 { String::new() } else { format!(" ({old} more failed before the run began)") };
    format!("{name}: {failed} of {} failed{named}{old}", tests.total)
}

/// Returns the first of these tests, to follow a count of them; nothing where none is known by name.
fn named(ids: &[&str], count: u32) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let first = ids.iter().take(TESTS_NAMED).copied().collect::<Vec<_>>().join(", ");
    match (count as usize).max(ids.len()).saturating_sub(TESTS_NAMED) {
        0 => format!(": {first}"),
        more => format!(": {first} and {more} more"),
    }
}

/// Returns the last line that a command printed before it failed, to follow how it ended: most programs
/// say there what was wrong. What make says about folders is no reason.
fn last_words(result: &CheckResult) -> String {
    let is_talk = |it: &str| it.starts_with("make") && it.contains(": Leaving directory ");
    let last = result.excerpt.lines().map(str::trim).rfind(|it| !it.is_empty() && !is_talk(it));
    let Some(last) = last else { return String::new() };
    match last.char_indices().nth(LINE_SHOWN) {
        Some((end, _)) => format!(": {}…", &last[..end]),
        None => format!(": {last}"),
    }
}

fn forbids_signal(missing: &Missing<'_>) -> bool {
    match missing {
        Missing::Compares { name, must: Must::Differ, .. } => *name == FactName::Signal.name(),
        Missing::Compares { .. } | Missing::Is { .. } | Missing::OneOf(_) | Missing::Never => false,
    }
}

/// Says which of these folders belong into `.gitignore`.
fn ignored(paths: &[String]) -> String {
    let lines: BTreeSet<&str> = paths.iter().filter_map(|it| ignore_line(it)).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(" (build output: add {} to .gitignore)", lines.into_iter().collect::<Vec<_>>().join(" and "))
}

fn uncommitted_words(uncommitted: &Uncommitted) -> String {
    let Uncommitted { paths, more, left_by, filter } = uncommitted;
    let more = if *more == 0 { String::new() } else { format!(" and {more} more") };
    if let Some(filter) = filter {
        let paths = paths.join(", ");
        return format!(
            "may be uncommitted: {paths}{more} (stored through the filter {filter}, which loop does not start)"
        );
    }
    let by = match left_by.as_slice() {
        [] => ignored(paths),
        [check] => format!(" (left by the check {check})"),
        checks => format!(" (left by the checks {})", checks.join(", ")),
    };
    format!("uncommitted: {}{more}{by}", paths.join(", "))
}

#[cfg(test)]
mod tests {
    use super::check_words;
    use crate::engine::{CheckOutcome, CheckResult, NO_TESTS_RAN, Tests};

    fn failed(total: u32, ids: &[&str], failing: u32) -> CheckResult {
        let failed = ids.iter().map(|it| (*it).to_owned()).collect();
        let counts = Tests { total, passing: total - failing, failing, skipped: 0, failed };
        let why = format!("{failing} of {total} tests fail");
        CheckResult { counts: Some(counts), ..CheckResult::plain("tests", CheckOutcome::Failed(why)) }
    }

    #[test]
    fn a_failed_check_names_up_to_three_tests() {
        let words = |ids: &[&str], failing| check_words(&failed(9, ids, failing), None);
        assert_eq!(words(&["a::b"], 1), "tests: 1 of 9 failed: a::b");
        assert_eq!(words(&["a", "b", "c", "d", "e"], 5), "tests: 5 of 9 failed: a, b, c and 2 more");
        assert_eq!(words(&[], 2), "tests: 2 of 9 failed");
        let ended = CheckResult::plain("build", CheckOutcome::Failed("exit 101".to_owned()));
        assert_eq!(check_words(&ended, None), "build: exit 101");
        let none = CheckOutcome::Failed(NO_TESTS_RAN.to_owned());
        let none = CheckResult { outcome: none, excerpt: "OK".to_owned(), ..failed(0, &[], 0) };
        assert_eq!(check_words(&none, None), "tests: 0 tests ran");
        let said = |text: &str| CheckResult { excerpt: text.to_owned(), ..ended.clone() };
        let said = |text: &str| check_words(&said(text), None);
        assert_eq!(said("checking\nno module named pytest\n\n"), "build: exit 101: no module named pytest");
        let make = "make: *** [Makefile:2: t] Error 1\nmake: Leaving directory '/p/a'\n";
        assert_eq!(said(make), "build: exit 101: make: *** [Makefile:2: t] Error 1");
    }

    #[test]
    fn tests_that_failed_before_are_counted_apart() {
        let before = failed(8, &["old"], 1).counts;
        let both = failed(9, &["old", "fresh"], 2);
        assert_eq!(
            check_words(&both, before.as_ref()),
            "tests: 1 of 9 failed: fresh (1 more failed before the run began)"
        );
        let same = failed(9, &["old"], 1);
        assert_eq!(check_words(&same, before.as_ref()), "tests: 1 of 9 failed, as before the run: old");
    }
}
