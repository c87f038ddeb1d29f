//! The names that conditions may use in a phase, and their kinds: what the engine supplies, what the
//! phase's checks measure, the facts, and what its report may claim. A name outside this list would
//! be unknown forever, so it is a mistake.

use crate::facts::{FactName, Supplier};
use crate::workflow::model::{Check, Protocol};
use loop_base::value::ValueKind;
use std::collections::BTreeMap;

/// What a `prp-status` report brings by its own rules, without being listed in `claims`.
const PRP_STATUS: &[(&str, ValueKind)] = &[
    ("blocking_issues", ValueKind::Number),
    ("checks_passing", ValueKind::Number),
    ("checks_total", ValueKind::Number),
    ("complexity_score", ValueKind::Number),
    ("criteria_covered", ValueKind::Number),
    ("diagrams_total", ValueKind::Number),
    ("diagrams_valid", ValueKind::Number),
    ("patterns_applied", ValueKind::Number),
    ("refactoring_complete", ValueKind::Bool),
    ("warning_issues", ValueKind::Number),
];

const COUNT_SUFFIXES: [&str; 4] = ["_failing", "_passing", "_skipped", "_total"];

pub(crate) type NameKinds = BTreeMap<String, ValueKind>;

/// Returns the names that a phase with these checks and claims knows.
pub(crate) fn in_phase<'a>(
    checks: impl IntoIterator<Item = (&'a String, &'a Check)>,
    facts: impl IntoIterator<Item = &'a String>,
    claims: &[String],
    report: &Protocol,
    has_items: bool,
) -> NameKinds {
    let mut names = NameKinds::new();
    for claim in claims {
        names.insert(claim.clone(), ValueKind::Any);
    }
    if *report == Protocol::PrpStatus {
        names.extend(owned(PRP_STATUS));
    }
    for fact in facts {
        names.insert(fact.clone(), ValueKind::Bool);
    }
    names.extend(of(Supplier::Patterns));
    for (name, check) in checks {
        names.insert(format!("{name}_ok"), ValueKind::Bool);
        names.extend(COUNT_SUFFIXES.iter().map(|it| (format!("{name}{it}"), ValueKind::Number)));
        names.extend(check.files.keys().map(|it| (it.clone(), ValueKind::Number)));
    }
    for fact in FactName::ALL {
        let is_supplied = match fact.row().supplier {
            Supplier::Items => has_items,
            Supplier::WorldUnnamed | Supplier::Patterns => false,
            Supplier::Engine
            | Supplier::TestCounts
            | Supplier::Checks
            | Supplier::Opening
            | Supplier::World
            | Supplier::Report => true,
        };
        if is_supplied {
            names.insert(fact.name().to_owned(), fact.row().kind);
        }
    }
    names
}

fn of(supplier: Supplier) -> impl Iterator<Item = (String, ValueKind)> {
    FactName::supplied_by(supplier).map(|it| (it.name().to_owned(), it.row().kind))
}

fn owned(list: &'static [(&'static str, ValueKind)]) -> impl Iterator<Item = (String, ValueKind)> {
    list.iter().map(|(name, kind)| ((*name).to_owned(), *kind))
}

/// Whether the engine would overwrite a fact or a metric of this name.
pub(crate) fn is_taken(name: &str) -> bool {
    FactName::named(name).is_some_and(|it| it.row().supplier != Supplier::Patterns)
}

/// Whether a name counts tests of the whole phase.
pub(crate) fn counts_tests(name: &str) -> bool {
    is_supplied_by(name, Supplier::TestCounts)
}

/// Whether a name is what this check brings.
pub(crate) fn is_of_check(name: &str, check: &str) -> bool {
    name.strip_prefix(check).is_some_and(|it| it == "_ok" || COUNT_SUFFIXES.contains(&it))
}

/// Whether a name stands for a number that we count, which is never below 0.
pub(crate) fn is_count(name: &str, checks: &[String]) -> bool {
    let ours = FactName::named(name).is_some_and(|it| it.row().kind == ValueKind::Number);
    ours || counted_check(name, checks).is_some()
}

/// Whether a name is read from the document that a run works on.
pub(crate) fn is_of_input(name: &str) -> bool {
    is_supplied_by(name, Supplier::Opening)
}

/// Whether a name is supplied where there are items.
pub(crate) fn is_of_items(name: &str) -> bool {
    is_supplied_by(name, Supplier::Items)
}

fn is_supplied_by(name: &str, supplier: Supplier) -> bool {
    FactName::named(name).is_some_and(|it| it.row().supplier == supplier)
}

/// Returns the check whose own counts a name stands for.
pub(crate) fn counted_check<'a>(name: &str, checks: &'a [String]) -> Option<&'a String> {
    checks
        .iter()
        .find(|check| name.strip_prefix(check.as_str()).is_some_and(|it| COUNT_SUFFIXES.contains(&it)))
}

/// Whether conditions can use this name: letters, digits and `_`, not beginning with a digit.
pub(crate) fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
        && letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
}
