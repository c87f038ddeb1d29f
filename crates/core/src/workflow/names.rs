//! The names that conditions may use in a phase, and their kinds: what the engine supplies, what the
//! phase's checks measure, the facts, and what its report may claim. A name outside this list would
//! be unknown for ever, so it is a mistake.

use super::condition::Kind;
use super::model::{Check, Protocol};
use std::collections::BTreeMap;

/// What the engine supplies in every phase.
const ENGINE: &[(&str, Kind)] = &[
    ("autonomous", Kind::Bool),
    ("checks_failing", Kind::Number),
    ("commits_made", Kind::Number),
    ("consecutive_green_runs", Kind::Number),
    ("criteria_count", Kind::Number),
    ("criteria_open", Kind::Number),
    ("docs_generated", Kind::Number),
    ("files_changed", Kind::Number),
    ("has_adr", Kind::Bool),
    ("iteration", Kind::Number),
    ("new_plans", Kind::Number),
    ("plan_summarised", Kind::Bool),
    ("pr_merged", Kind::Bool),
    ("signal", Kind::Text),
    ("tests_failing", Kind::Number),
    ("tests_generated", Kind::Number),
    ("tests_passing", Kind::Number),
    ("tests_skipped", Kind::Number),
    ("tests_total", Kind::Number),
    ("tree_changed", Kind::Bool),
    ("tree_clean", Kind::Bool),
    ("verdict", Kind::Text),
];

/// What the engine supplies where there are items.
const ITEMS: &[(&str, Kind)] = &[("items_completed", Kind::Number), ("items_remaining", Kind::Number)];

/// What a `prp-status` report brings by its own rules, without being listed in `claims`.
const PRP_STATUS: &[(&str, Kind)] = &[
    ("blocking_issues", Kind::Number),
    ("checks_passing", Kind::Number),
    ("checks_total", Kind::Number),
    ("complexity_score", Kind::Number),
    ("criteria_covered", Kind::Number),
    ("diagrams_total", Kind::Number),
    ("diagrams_valid", Kind::Number),
    ("patterns_applied", Kind::Number),
    ("refactoring_complete", Kind::Bool),
    ("warning_issues", Kind::Number),
];

/// Facts with these names are looked for in the preset that defines them where a file has none.
pub(super) const STANDARD_FACTS: [&str; 4] =
    ["touches_security", "schema_changes", "external_apis", "new_patterns"];

/// How the summary of a check can be read.
pub const COUNT_FORMATS: [&str; 12] = [
    "auto",
    "cargo",
    "nextest",
    "pytest",
    "unittest",
    "jest",
    "vitest",
    "mocha",
    "go",
    "tap",
    "junit",
    "key-value",
];

/// Names that count tests, summed over the checks of a phase.
const TEST_COUNTS: [&str; 5] =
    ["tests_failing", "tests_generated", "tests_passing", "tests_skipped", "tests_total"];

const COUNT_SUFFIXES: [&str; 4] = ["_failing", "_passing", "_skipped", "_total"];

pub(super) type Names = BTreeMap<String, Kind>;

/// Returns the names that a phase with these checks and claims knows.
pub(super) fn in_phase<'a>(
    checks: impl IntoIterator<Item = (&'a String, &'a Check)>,
    facts: impl IntoIterator<Item = &'a String>,
    claims: &[String],
    report: &Protocol,
    has_items: bool,
) -> Names {
    let mut names = Names::new();
    for claim in claims {
        names.insert(claim.clone(), Kind::Any);
    }
    if *report == Protocol::PrpStatus {
        names.extend(owned(PRP_STATUS));
    }
    for fact in facts {
        names.insert(fact.clone(), Kind::Bool);
    }
    for fact in STANDARD_FACTS {
        names.insert(fact.to_owned(), Kind::Bool);
    }
    for (name, check) in checks {
        names.insert(format!("{name}_ok"), Kind::Bool);
        names.extend(COUNT_SUFFIXES.iter().map(|it| (format!("{name}{it}"), Kind::Number)));
        names.extend(check.files.keys().map(|it| (it.clone(), Kind::Number)));
    }
    if has_items {
        names.extend(owned(ITEMS));
    }
    names.extend(owned(ENGINE));
    names
}

fn owned(list: &'static [(&'static str, Kind)]) -> impl Iterator<Item = (String, Kind)> {
    list.iter().map(|(name, kind)| ((*name).to_owned(), *kind))
}

/// Whether the engine would overwrite a fact or a metric of this name.
pub(super) fn is_taken(name: &str) -> bool {
    ENGINE.iter().chain(ITEMS).any(|it| it.0 == name)
}

/// Whether a name counts tests of the whole phase.
pub(super) fn counts_tests(name: &str) -> bool {
    TEST_COUNTS.contains(&name)
}

/// Whether a name is what this check brings.
pub(super) fn is_of_check(name: &str, check: &str) -> bool {
    name.strip_prefix(check).is_some_and(|it| it == "_ok" || COUNT_SUFFIXES.contains(&it))
}

/// Whether a name stands for a number that we count, which is never below 0.
pub(super) fn is_count(name: &str, checks: &[String]) -> bool {
    let engine = ENGINE.iter().chain(ITEMS).any(|it| it.0 == name && it.1 == Kind::Number);
    engine || counted_check(name, checks).is_some()
}

/// Whether a name is read from the document that a run works on.
pub(super) fn is_of_input(name: &str) -> bool {
    name == "criteria_count"
}

/// Whether a name is supplied where there are items.
pub(super) fn is_of_items(name: &str) -> bool {
    ITEMS.iter().any(|it| it.0 == name)
}

/// Returns the check whose own counts a name stands for.
pub(super) fn counted_check<'a>(name: &str, checks: &'a [String]) -> Option<&'a String> {
    checks
        .iter()
        .find(|check| name.strip_prefix(check.as_str()).is_some_and(|it| COUNT_SUFFIXES.contains(&it)))
}

/// Whether conditions can use this name: letters, digits and `_`, not beginning with a digit.
pub(super) fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
        && letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
}
