//! Measuring: the checks before the first call and after every other, each about one tree, with what
//! the tree and the input say besides. Results about a tree that the checks themselves keep changing
//! are about nothing, and are said to be so.

use super::commits;
use super::differences::Differences;
use super::facts;
use super::tests_in_place;
use super::uncommitted;
use crate::measure::checks::check_folder::CheckFolder;
use crate::measure::checks::run_checks::{Cut, Execute, run_all};
use crate::tree::changes;
use crate::tree::git::GitError;
use crate::tree::git_text::listed_paths;
use crate::tree::tree_status::{TreeStatus, shown};
use crate::tree::working_tree::WorkingTree;
use loop_core::engine::{Baseline, Evidence};
use loop_core::facts::FactName;
use loop_core::proof::{Defence, ratchet};
use loop_core::workflow::model::{PhaseProof, Protocol};
use loop_store::run::Run;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A note names this many files or folders; a build folder that nobody ignored has thousands.
const FILES_NAMED: usize = 10;

/// Which run is measured, and where.
#[derive(Clone, Copy)]
pub(crate) struct MeasuredRun<'a> {
    pub(crate) run: &'a Run,
    /// The working tree that agents and checks run in.
    pub(crate) place: &'a Path,
    pub(crate) input: Option<&'a Path>,
    /// The tree as it was before the call, where that is known.
    pub(crate) before_call: Option<&'a str>,
    /// The commit before the call, where that is known; empty where there was none.
    pub(crate) before_commit: Option<&'a str>,
}

/// Every check that a phase uses, once, before the first call.
pub(crate) fn baseline(
    subject: MeasuredRun<'_>,
    tree: &mut WorkingTree,
    execute: &mut Execute<'_>,
) -> anyhow::Result<Result<(TreeStatus, Baseline), Cut>> {
    let run = subject.run;
    let status = tree.status()?;
    let used: BTreeSet<&String> = run.workflow.phases.iter().flat_map(|it| &it.checks).collect();
    let names: Vec<String> = used.into_iter().cloned().collect();
    let results = match run_all(execute, run, &names, &status, &CheckFolder::in_place(subject.place))? {
        Ok(results) => results,
        Err(cut) => return Ok(Err(cut)),
    };
    // What the checks themselves leave behind belongs to the beginning.
    let before = status;
    let status = tree.status()?;
    uncommitted::remember_left(tree, &before, &status)?;
    uncommitted::remember_beginning(tree, &status)?;
    uncommitted::remember_written(tree, &changes::changes(&tree.pinned, &before.tree, &status.tree)?)?;
    let differences = Differences::between(tree, &status, &run.state, subject.before_call, false)?;
    let facts = facts::gather(tree, &status, run, subject.input, &differences, None)?;
    let ms = results.iter().map(|it| it.ms).sum();
    tests_in_place::write(
        &run.folder(),
        tests_in_place::OPENING,
        &tests_in_place::of(&run.folder(), &results),
    )?;
    Ok(Ok((status, Baseline { results, facts, ms, opening: None })))
}

/// These checks, and everything else that the exit rule may ask about.
pub(crate) fn measure(
    subject: MeasuredRun<'_>,
    tree: &mut WorkingTree,
    execute: &mut Execute<'_>,
    names: &[String],
    deliverables: &[String],
) -> anyhow::Result<Result<(TreeStatus, Evidence), Cut>> {
    let run = subject.run;
    let mut notes = Vec::new();
    let mut ms = 0;
    let mut is_second = false;
    let (status, results, unstable) = loop {
        let status = tree.status()?;
        let room = match run.workflow.phases[run.state.phase].proof {
            PhaseProof::Clean if !names.is_empty() => {
                CheckFolder::fresh(tree, &status, &run.id, &run.folder())?
            }
            PhaseProof::Clean | PhaseProof::Tree => CheckFolder::in_place(subject.place),
        };
        let results = match run_all(execute, run, names, &status, &room)? {
            Ok(results) => results,
            Err(cut) => return Ok(Err(cut)),
        };
        ms += results.iter().map(|it| it.ms).sum::<u64>();
        let after = if names.is_empty() { status.clone() } else { tree.status()? };
        uncommitted::remember_left(tree, &status, &after)?;
        let written = written_by_checks(tree, &status, &after)?;
        uncommitted::remember_own_output(tree, &written.untracked)?;
        let own = uncommitted::own_output(tree);
        let touched: Vec<PathBuf> = written.tracked.into_iter().filter(|it| !own.contains(it)).collect();
        if touched.is_empty() {
            break (after, results, Vec::new());
        }
        // A lock file or a formatted source settles after one round; what moves again will not.
        if !is_second {
            is_second = true;
            notes.push(format!("the checks changed {} and were run again", shown(&touched, FILES_NAMED)));
            continue;
        }
        break (after, results, uncommitted::remember_own_output(tree, &touched)?);
    };
    let own: Vec<PathBuf> = uncommitted::own_output(tree).into_iter().collect();
    if !own.is_empty() {
        notes.push(format!(
            "the checks write {} whenever they run; this is not counted",
            shown(&own, FILES_NAMED)
        ));
    }
    let unstable = unstable.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let now = tests_in_place::of(&run.folder(), &results);
    let begins = run.state.visit.iteration == 0;
    let turned_green = tests_in_place::turned_green(&run.folder(), &now, begins)?;
    tests_in_place::keep_last(&run.folder(), &now)?;
    let shown = run.state.requirements.iter().flat_map(|it| &it.tests);
    let lost_green = tests_in_place::lost_green(&run.folder(), &now, shown);
    let compared = ratchet(&tests_in_place::read(&run.folder(), tests_in_place::OPENING), &now);
    notes.extend(compared.notes);
    let ratchet = if Defence::Ratchet.is_on() { compared.not_done } else { Vec::new() };
    let evidence =
        Evidence { results, unstable, notes, ms, ratchet, turned_green, lost_green, ..Evidence::default() };
    let evidence = complete(subject, tree, &status, evidence, deliverables)?;
    Ok(Ok((status, evidence)))
}

/// Completes what was measured with what the tree and the input say.
pub(crate) fn complete(
    subject: MeasuredRun<'_>,
    tree: &WorkingTree,
    status: &TreeStatus,
    mut evidence: Evidence,
    deliverables: &[String],
) -> Result<Evidence, GitError> {
    let MeasuredRun { run, place, input, before_call, before_commit } = subject;
    let is_of_item = run.workflow.phases[run.state.phase].each.is_some();
    let differences = Differences::between(tree, status, &run.state, before_call, is_of_item)?;
    // Where nothing depends on it, an agent may leave its work uncommitted.
    let exit = run.workflow.phases[run.state.phase].exit.as_ref();
    let asks = |fact: FactName| exit.is_some_and(|it| it.names().iter().any(|it| *it.0 == *fact.name()));
    evidence.facts = facts::gather(tree, status, run, input, &differences, before_commit)?;
    evidence.refused_plans = facts::refused_plans(tree, run, &differences.call);
    let uncounted = evidence.refused_plans.iter().map(|it| format!("{} does not count: {}", it.name, it.why));
    evidence.notes.extend(uncounted);
    evidence.lost_work = commits::lost_items(&tree.pinned, run)?;
    let phase = &run.workflow.phases[run.state.phase];
    if phase.each.is_some() {
        evidence.notes.extend(evidence.lost_work.iter().map(|item| {
            let commit = run.state.done_commits()[item].as_str();
            format!("the work of {item}, which was done, is gone: git cherry-pick {commit} brings it back")
        }));
    }
    // A report about work that its own call changed is about something that is no longer there.
    if let (Protocol::Frontmatter(_), Some(before)) = (&phase.report, before_commit) {
        evidence.changed_work = commits::changed_work(&tree.pinned, run, before, status)?;
    }
    if asks(FactName::WorkCommitted) {
        let work = facts::uncommitted_work(tree, run, &differences.uncommitted);
        evidence.uncommitted = uncommitted::groups(tree, status, &work, &[]);
    }
    if asks(FactName::TreeClean) {
        evidence.uncommitted =
            uncommitted::groups(tree, status, &differences.uncommitted, &commanded_checks(run));
        if evidence.uncommitted.iter().any(|it| !it.left_by.is_empty()) {
            evidence.notes.push("commit what the checks leave behind, or add it to .gitignore".to_owned());
        }
    }
    evidence.missing = differences.missing(place, deliverables);
    evidence.notes.extend(facts::notes_on_input(run, input));
    Ok(evidence)
}

/// The checks that have a command, any of which may have left a file.
fn commanded_checks(run: &Run) -> Vec<String> {
    let used = |name: &String| run.workflow.phases.iter().any(|it| it.checks.contains(name));
    let checks = run.workflow.checks.iter();
    let ran = checks.filter(|(name, it)| it.run.is_some() || run.state.commands.contains_key(*name));
    ran.map(|(name, _)| name).filter(|it| used(it)).cloned().collect()
}

/// Files that differ after the checks.
#[derive(Default)]
struct WrittenByChecks {
    tracked: Vec<PathBuf>,
    /// Files that git does not know may come and go: coverage data, caches that nobody ignored.
    untracked: Vec<PathBuf>,
}

fn written_by_checks(
    tree: &WorkingTree,
    before: &TreeStatus,
    after: &TreeStatus,
) -> Result<WrittenByChecks, GitError> {
    let changes = changes::changes(&tree.pinned, &before.tree, &after.tree)?;
    if changes.is_empty() {
        return Ok(WrittenByChecks::default());
    }
    // All of them: there may be more changes than a command line holds.
    let tracked = tree.pinned.repository.run(["ls-files", "-z"])?;
    let tracked: BTreeSet<PathBuf> = listed_paths(&tracked).collect();
    let (tracked, untracked) = changes.into_iter().map(|it| it.path).partition(|it| tracked.contains(it));
    Ok(WrittenByChecks { tracked, untracked })
}
