//! What the tree and the input say: the names that the engine supplies to conditions and that no
//! check measures. Everything about files comes from one comparison with the run's beginning and with
//! the tree before the call.

use super::commits::{self, WorkCommits, bookkeeping};
use super::differences::{Differences, glob, present};
use super::planning;
use super::uncommitted;
use crate::tree::changes::{self, Change, ChangeKind};
use crate::tree::git::GitError;
use crate::tree::tree_status::TreeStatus;
use crate::tree::working_tree::WorkingTree;
use loop_base::value::Value;
use loop_core::digest::sha256;
use loop_core::documents::input;
use loop_core::documents::planning::phase;
use loop_core::engine::{Facts, FilesChanged, Item, Landing, RefusedPlan, Station};
use loop_core::facts::FactName;
use loop_core::proof::is_test_path;
use loop_core::workflow::model::{Fact, ItemSource, Workflow};
use loop_store::run::Run;
use regex_lite::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the names of plans end in.
const PLAN: &str = "-PLAN.md";

/// Files named in prompts and mirrors; beyond that their number is what matters.
const FILES_NAMED: usize = 200;

/// Returns the facts about a status of the tree.
pub(crate) fn gather(
    tree: &WorkingTree,
    status: &TreeStatus,
    run: &Run,
    input: Option<&Path>,
    differences: &Differences,
    before_commit: Option<&str>,
) -> Result<Facts, GitError> {
    let state = &run.state;
    let commit = status.commit.clone().unwrap_or_default();
    let mut values = BTreeMap::new();
    let base = state.baseline.as_ref().map(|it| it.facts.clone()).unwrap_or_default();
    let seen = &state.seen;
    let Differences { run: since_start, call: since_call, item: _, uncommitted } = differences;
    let known = |commit: &str| (!commit.is_empty()).then(|| commit.to_owned());
    let from = before_commit.map_or_else(|| known(&seen.commit), known);
    // A branch that was rewound or replaced has no commits between; that is no error.
    let commits = match state.baseline {
        Some(_) => commits::of_work(&tree.pinned, run, from.as_deref(), status.commit.as_deref()),
        None => Ok(WorkCommits::default()),
    };
    let commits = commits.unwrap_or_default();
    put(&mut values, FactName::CommitsMade, i64::try_from(commits.count).unwrap_or(i64::MAX));
    put(&mut values, FactName::ItemCommits, i64::try_from(commits.of_item).unwrap_or(i64::MAX));
    let changed_by_call = uncommitted::without_check_output(tree, status, since_call);
    put(&mut values, FactName::FilesChanged, changed_by_call);
    put(&mut values, FactName::TreeChanged, changed_by_call != 0);
    put(&mut values, FactName::TreeClean, uncommitted.is_empty());
    put(&mut values, FactName::WorkCommitted, uncommitted_work(tree, run, uncommitted).is_empty());
    put(&mut values, FactName::DocsGenerated, changes::documents(since_start).len());
    put(&mut values, FactName::HasAdr, changes::has_decision_record(since_start));
    put(&mut values, FactName::NewPlans, judge_plans(tree, run, since_call).0);
    let is_summarised = is_summarised(tree, state.item.as_ref(), differences);
    put(&mut values, FactName::PlanSummarised, is_summarised);
    let asks_for_summary = state.item.as_ref().is_some_and(Item::is_summary);
    put(&mut values, FactName::SummaryDue, asks_for_summary && !is_summarised);
    if let Some(landing) = &state.landing {
        put(&mut values, FactName::PrMerged, matches!(landing, Landing::Merged { .. }));
    }
    put(&mut values, FactName::Autonomous, run.workflow.is_autonomous());
    let mut about = BTreeMap::new();
    for (name, fact) in &run.workflow.facts {
        let digest = matched(tree, fact, &base.tree, status, since_start)?;
        values.insert(name.clone(), digest.is_some().into());
        about.extend(digest.map(|it| (name.clone(), it)));
    }
    count_files(&run.workflow, since_start, &mut values);
    values.extend(of_input(run, input));
    let names = since_start.iter().take(FILES_NAMED).map(|it| it.path.to_string_lossy().into_owned());
    let changed = FilesChanged { call: changes::counts(since_call), run: changes::counts(since_start) };
    let tree = status.tree.clone();
    Ok(Facts {
        commit,
        tree,
        branch: Some(status.branch.clone().unwrap_or_default()),
        files: names.collect(),
        values,
        about,
        commits: commits.made,
        earlier_commits: commits.earlier,
        changed: Some(Box::new(changed)),
        target_moved: None,
    })
}

/// Returns those of the uncommitted files that hold work: records may stay uncommitted, and whoever finds what a
/// check wrote can make it again.
pub(crate) fn uncommitted_work(tree: &WorkingTree, run: &Run, paths: &[PathBuf]) -> Vec<PathBuf> {
    let globs = bookkeeping(run);
    let left = uncommitted::left_by_checks(tree);
    // Python writes it beside the code for whoever runs the tests, the agent too.
    let is_compiled = |it: &Path| it.components().any(|it| it.as_os_str() == "__pycache__");
    let is_record = |it: &Path| globs.iter().any(|glob| glob.is_match(it));
    let is_work = |it: &&PathBuf| !left.contains(*it) && !is_record(it) && !is_compiled(it);
    paths.iter().filter(is_work).cloned().collect()
}

/// Returns how many plans a call added, and those of them that do not count: where the workflow lists its
/// tasks by plan files, a plan for gaps has to fit. One that was refused before and was changed is looked
/// at again.
fn judge_plans(tree: &WorkingTree, run: &Run, since_call: &[Change]) -> (usize, Vec<RefusedPlan>) {
    let from = run.workflow.items.as_ref().map(|it| &it.from);
    let Some(ItemSource::Plans(folder)) = from else { return (added(since_call, PLAN).count(), Vec::new()) };
    let place = tree.pinned.repository.work_tree();
    let file_name = |it: &Path| it.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let was_refused = |it: &Change| run.state.refused_plans.iter().any(|old| old.name == file_name(&it.path));
    let is_fresh = |it: &&Change| match it.kind {
        ChangeKind::Added => true,
        ChangeKind::Modified => was_refused(it),
        ChangeKind::Deleted => false,
    };
    let fresh: Vec<&Path> = since_call
        .iter()
        .filter(is_fresh)
        .map(|it| it.path.as_path())
        .filter(|it| it.parent() == Some(Path::new(folder)) && it.to_string_lossy().ends_with(PLAN))
        .collect();
    if fresh.is_empty() {
        return (0, Vec::new());
    }
    let names = std::fs::read_dir(place.join(folder)).into_iter().flatten().flatten();
    let names = names.filter_map(|it| it.file_name().into_string().ok());
    let is_old = |name: &String| !fresh.iter().any(|it| file_name(it) == *name);
    let numbers = names.filter(is_old).filter_map(|it| phase::plan_id(&it).and_then(phase::plan_number));
    let before = numbers.max().unwrap_or(0);
    let gaps = run.state.review.as_ref().map(|it| it.blockers.as_slice()).unwrap_or_default();
    let (mut count, mut refused) = (0, Vec::new());
    for path in fresh {
        let name = file_name(path);
        let text = planning::document(place, &path.to_string_lossy()).unwrap_or_default();
        match planning::refused_gap_plan(&name, &text, before, gaps) {
            None => count += 1,
            Some(why) => refused.push(RefusedPlan { name, digest: sha256(&text), why }),
        }
    }
    (count, refused)
}

/// Returns those of the plans that a call added that do not count, where somebody asks for plans.
pub(crate) fn refused_plans(tree: &WorkingTree, run: &Run, since_call: &[Change]) -> Vec<RefusedPlan> {
    let asks = run.workflow.phases[run.state.phase].asks_for(FactName::NewPlans.name());
    if asks { judge_plans(tree, run, since_call).1 } else { Vec::new() }
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

/// Says whether the plan that is worked on has its summary: the one of the item's own plan, written
/// in this run. Without an item any summary that this call added will do.
fn is_summarised(tree: &WorkingTree, item: Option<&Item>, differences: &Differences) -> bool {
    let place = tree.pinned.repository.work_tree();
    let says_something = |it: &Change| {
        planning::document(place, &it.path.to_string_lossy()).is_some_and(|it| phase::is_summary(&it))
    };
    let is_own = |it: &Change| {
        let name = it.path.file_name().unwrap_or_default().to_string_lossy();
        phase::summary_id(&name).is_some_and(|plan| item.is_none_or(|item| is_of_plan(&item.id, plan)))
    };
    let changes = if item.is_some() { &differences.run } else { &differences.call };
    let mut there = present(changes).filter(|it| item.is_some() || it.kind == ChangeKind::Added);
    there.any(|it| is_own(it) && says_something(it))
}

/// Says whether an item is a plan or a task of it: `03-02` and `03-02/1` are of the plan `03-02`, and
/// so is `phases/03-auth/03-02-PLAN.md`; `03-021` is not.
fn is_of_plan(item: &str, plan: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|it: char| it.is_alphanumeric());
    let begins = |at: usize| at == 0 || item[..at].ends_with('/');
    !plan.is_empty() && item.match_indices(plan).any(|(at, _)| begins(at) && ends(&item[at + plan.len()..]))
}

/// What stands before the ending in the names of the files of this kind that were added.
fn added<'a>(changes: &'a [Change], ending: &'a str) -> impl Iterator<Item = String> {
    changes.iter().filter(|it| it.kind == ChangeKind::Added).filter_map(move |it| stem(it, ending))
}

fn stem(change: &Change, ending: &str) -> Option<String> {
    Some(change.path.file_name()?.to_string_lossy().strip_suffix(ending)?.to_owned())
}

/// Returns the digest of the changes in the files that a fact is about, if it is so.
fn matched(
    tree: &WorkingTree,
    fact: &Fact,
    base: &str,
    status: &TreeStatus,
    changes: &[Change],
) -> Result<Option<String>, GitError> {
    let paths = changes.iter().map(|it| it.path.as_path());
    let (paths, pattern): (Vec<&Path>, _) = match fact {
        Fact::Path(globs) => {
            let globs: Vec<_> = globs.iter().filter_map(|it| glob(it)).collect();
            (paths.filter(|path| globs.iter().any(|it| it.is_match(path))).collect(), None)
        }
        Fact::Diff(pattern) => match Regex::new(pattern) {
            Ok(pattern) => (paths.filter(|it| is_source(it)).collect(), Some(pattern)),
            Err(_) => return Ok(None),
        },
    };
    if paths.is_empty() || base.is_empty() {
        // Without a beginning to compare with, paths are all that is known.
        return Ok((!paths.is_empty() && pattern.is_none()).then(String::new));
    }
    changes::digest_of_changes(&tree.pinned, base, &status.tree, &paths, pattern.as_ref())
}

/// Whether lines of this file say what a change does: documents talk about everything, lock files name every
/// host, and tests hold made-up secrets.
fn is_source(path: &Path) -> bool {
    const LOCKS: [&str; 12] = [
        "cargo.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lockb",
        "poetry.lock",
        "uv.lock",
        "pipfile.lock",
        "gemfile.lock",
        "composer.lock",
        "go.sum",
    ];
    let text = path.to_string_lossy().to_lowercase();
    let name = text.rsplit('/').next().unwrap_or_default();
    let is_document = [".md", ".markdown", ".mdx", ".rst", ".adoc"].iter().any(|it| name.ends_with(it));
    !is_document && !LOCKS.contains(&name) && !is_test_path(&path.to_string_lossy())
}

fn count_files(workflow: &Workflow, changes: &[Change], values: &mut BTreeMap<String, Value>) {
    for (metric, pattern) in workflow.checks.values().flat_map(|it| &it.files) {
        let Some(pattern) = glob(pattern) else { continue };
        let counted = present(changes).filter(|it| pattern.is_match(&it.path)).count();
        values.insert(metric.clone(), counted.into());
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_plan;

    #[test]
    fn a_summary_counts_for_the_plan_of_its_own_item() {
        for item in ["03-02", "03-02/1", "03-02#4", "phases/03-auth/03-02-PLAN.md", "03-auth/03-02"] {
            assert!(is_of_plan(item, "03-02"), "{item}");
        }
        for item in ["03-021", "03-01", "103-02", "03-0", ""] {
            assert!(!is_of_plan(item, "03-02"), "{item}");
        }
    }
}
