//! What the tree and the input say: the names that the engine supplies to conditions and that no
//! check measures. Everything is compared with the run's beginning, or with the end of the
//! iteration before.

use crate::tree::changes::{self, Change};
use crate::tree::git::GitError;
use crate::tree::working_tree::{Look, Tree};
use globset::GlobBuilder;
use loop_base::value::Value;
use loop_core::documents::input;
use loop_core::engine::{Facts, Station};
use loop_core::facts::FactName;
use loop_core::workflow::model::{Fact, Workflow};
use loop_store::run::Run;
use regex_lite::Regex;
use std::collections::BTreeMap;
use std::path::Path;

/// Files named in prompts and mirrors; beyond that their number is what matters.
const FILES_NAMED: usize = 200;

/// Returns the facts about what was looked at.
pub(crate) fn gather(tree: &Tree, look: &Look, run: &Run, input: Option<&Path>) -> Result<Facts, GitError> {
    let state = &run.state;
    let commit = look.commit.clone().unwrap_or_default();
    let mut values = BTreeMap::new();
    let base = state.baseline.as_ref().map(|it| it.facts.clone()).unwrap_or_default();
    let seen = &state.seen;
    let since_start = changed(tree, &base.tree, look)?;
    let since_last = changed(tree, &seen.tree, look)?;
    let known = |commit: &str| (!commit.is_empty()).then(|| commit.to_owned());
    let commits = match state.baseline {
        // A branch that was rewound or replaced has no commits between; that is no error.
        Some(_) => {
            changes::commits_between(&tree.pinned, known(&seen.commit).as_deref(), look.commit.as_deref())
                .unwrap_or(0)
        }
        None => 0,
    };
    put(&mut values, FactName::CommitsMade, i64::try_from(commits).unwrap_or(i64::MAX));
    put(&mut values, FactName::FilesChanged, since_last.len());
    put(&mut values, FactName::TreeChanged, !since_last.is_empty());
    put(&mut values, FactName::TreeClean, look.clean);
    put(&mut values, FactName::DocsGenerated, changes::documents(&since_start).len());
    put(&mut values, FactName::HasAdr, changes::has_decision_record(&since_start));
    put(&mut values, FactName::NewPlans, added(&since_last, "-PLAN.md"));
    put(&mut values, FactName::PlanSummarised, added(&since_last, "-SUMMARY.md") != 0);
    put(&mut values, FactName::PrMerged, false);
    put(&mut values, FactName::Autonomous, run.workflow.is_autonomous());
    for (name, fact) in &run.workflow.facts {
        values.insert(name.clone(), holds(tree, fact, &base.tree, look, &since_start)?.into());
    }
    count_files(&run.workflow, &since_start, &mut values);
    values.extend(of_input(run, input));
    let names = since_start.iter().take(FILES_NAMED).map(|it| it.path.to_string_lossy().into_owned());
    Ok(Facts { commit, tree: look.tree.clone(), files: names.collect(), values })
}

/// Returns what the input says: how many of its boxes are open, and whether its lock is broken.
pub(crate) fn of_input(run: &Run, input: Option<&Path>) -> BTreeMap<String, Value> {
    let mut values = BTreeMap::new();
    put(&mut values, FactName::CriteriaOpen, 0u32);
    if let Some(text) = input.and_then(|it| loop_base::files::text(it).ok()) {
        put(&mut values, FactName::CriteriaOpen, input::criteria(&text).open);
        let broken = run.state.opening.lock.as_ref().is_some_and(|lock| input::lock(&text) != *lock);
        put(&mut values, FactName::InputChanged, broken);
    }
    values
}

/// Criteria that a promise left open are named up to here; a longer list is the design itself.
const OPEN_NAMED: usize = 20;

/// Returns what is to be noted about the locked input.
pub(crate) fn notes_on_input(run: &Run, input: Option<&Path>) -> Vec<String> {
    let Some((path, lock)) = input.zip(run.state.opening.lock.as_ref()) else { return Vec::new() };
    let name = run.state.opening.document();
    let text = loop_base::files::text(path).unwrap_or_default();
    let promised =
        matches!(&run.state.station, Station::Reported(turn) if turn.ended.report.signal.is_some());
    let mut notes = Vec::new();
    if promised {
        let open = input::open_criteria(&text);
        notes.extend(open.iter().take(OPEN_NAMED).map(|it| format!("not ticked in {name}: {it}")));
    }
    if input::lock(&text) != *lock {
        notes.push(format!("{name} is locked and was changed beyond its checkboxes"));
    }
    notes
}

fn put(values: &mut BTreeMap<String, Value>, fact: FactName, value: impl Into<Value>) {
    values.insert(fact.name().to_owned(), value.into());
}

fn changed(tree: &Tree, from: &str, look: &Look) -> Result<Vec<Change>, GitError> {
    if from.is_empty() {
        return Ok(Vec::new());
    }
    changes::changes(&tree.pinned, from, &look.tree)
}

/// Files of this name that appeared in this iteration.
fn added(changes: &[Change], ending: &str) -> usize {
    let added = changes.iter().filter(|it| it.kind == changes::Kind::Added);
    added.filter(|it| it.path.to_string_lossy().ends_with(ending)).count()
}

fn holds(tree: &Tree, fact: &Fact, base: &str, look: &Look, changes: &[Change]) -> Result<bool, GitError> {
    match fact {
        Fact::Path(globs) => {
            Ok(globs.iter().filter_map(|it| glob(it)).any(|it| changes::paths_match(changes, &it)))
        }
        Fact::Diff(_) if base.is_empty() => Ok(false),
        Fact::Diff(pattern) => match Regex::new(pattern) {
            Ok(pattern) => changes::added_lines_match(&tree.pinned, base, &look.tree, &pattern),
            Err(_) => Ok(false),
        },
    }
}

fn count_files(workflow: &Workflow, changes: &[Change], values: &mut BTreeMap<String, Value>) {
    for (metric, pattern) in workflow.checks.values().flat_map(|it| &it.files) {
        let Some(pattern) = glob(pattern) else { continue };
        let kept = changes.iter().filter(|it| it.kind != changes::Kind::Deleted);
        values.insert(metric.clone(), kept.filter(|it| pattern.is_match(&it.path)).count().into());
    }
}

fn glob(pattern: &str) -> Option<globset::GlobMatcher> {
    GlobBuilder::new(pattern).literal_separator(true).build().ok().map(|it| it.compile_matcher())
}
