//! Commits as evidence of work: those that a call made, and those that all calls on the current item made.
//! Records are no work, and neither are commits that leave everything as it was.

use super::differences::glob;
use crate::tree::changes;
use crate::tree::commit_name::commit_of;
use crate::tree::git::GitError;
use crate::tree::pinned::Pinned;
use crate::tree::tree_status::TreeStatus;
use globset::GlobMatcher;
use loop_core::engine::Item;
use loop_core::facts::FactName;
use loop_core::workflow::model::Protocol;
use loop_store::run::Run;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The commits that show work.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkCommits {
    /// How many the call made.
    pub(crate) count: u64,
    /// Their names, newest first, where somebody asks for them.
    pub(crate) made: Vec<String>,
    /// Those of earlier calls on the same item, newest first.
    pub(crate) earlier: Vec<String>,
    /// How many the item has.
    pub(crate) of_item: u64,
}

/// Returns the commits of work between two commits, and those that the item had before.
pub(crate) fn of_work(
    pinned: &Pinned,
    run: &Run,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<WorkCommits, GitError> {
    let work = WorkFilter::of(run);
    if !is_named(run) {
        let count = changes::commits_between(pinned, from, to)?;
        return Ok(WorkCommits { count, of_item: count, ..WorkCommits::default() });
    }
    let written: Vec<(String, Vec<PathBuf>)> =
        changes::commits_with_paths(pinned, from, to)?.into_iter().filter(|it| work.is_in(&it.1)).collect();
    let names = || written.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    // Commits that leave everything as it was do not count: rewritten, empty, or taken back.
    let made = match from.zip(to) {
        Some((from, to)) if !work.differs(pinned, from, to, None)? => Vec::new(),
        Some(_) | None => names(),
    };
    let count = made.len() as u64;
    let item = run.state.item.as_ref().map(|it| it.id.as_str()).unwrap_or_default();
    let known = run.state.commits_of_item(item);
    let Some((oldest, to)) = known.first().zip(to) else {
        return Ok(WorkCommits { count, of_item: count, made, earlier: Vec::new() });
    };
    let mut earlier = Vec::new();
    let mut touched: BTreeSet<PathBuf> = written.iter().flat_map(|it| it.1.iter().cloned()).collect();
    for commit in known.iter().rev().filter(|it| written.iter().all(|new| new.0 != **it)) {
        if changes::is_ancestor(&pinned.repository, commit, to)? {
            touched.extend(changes::paths_of(pinned, commit)?);
            earlier.push(commit.clone());
        }
    }
    // The item began before its first commit, whether that still stands or was rewritten.
    let stands = match changes::parent(pinned, oldest)? {
        Some(base) => work.differs(pinned, &base, to, Some(&touched))?,
        None => true,
    };
    Ok(match stands {
        true => {
            WorkCommits { count, of_item: (written.len() + earlier.len()) as u64, made: names(), earlier }
        }
        false => WorkCommits { count, of_item: 0, made, earlier: Vec::new() },
    })
}

/// Returns the commits of a call that nobody judges, for those on the same item that follow.
pub(crate) fn of_unjudged_call(
    pinned: &Pinned,
    run: &Run,
    from: Option<&str>,
    to: Option<&str>,
) -> Result<Vec<String>, GitError> {
    if run.state.baseline.is_none() || !is_named(run) {
        return Ok(Vec::new());
    }
    Ok(of_work(pinned, run, from, to)?.made)
}

/// Returns the items that are done and whose work is gone: their commit is no longer in the history, and everything
/// that it touched is as it was before. A commit that was only written anew leaves its work where it was.
pub(crate) fn lost_items(pinned: &Pinned, run: &Run) -> Result<Vec<String>, GitError> {
    let done = run.state.done_commits();
    if done.is_empty() {
        return Ok(Vec::new());
    }
    let Some(head) = commit_of(&pinned.repository, "HEAD")? else { return Ok(Vec::new()) };
    let known = done.values().map(|it| changes::checked(it));
    let arguments = ["rev-list", "--ignore-missing"].into_iter().chain(known);
    let output = pinned.repository.run(arguments.chain(["--not", &head, "--"]))?;
    let outside: BTreeSet<String> = String::from_utf8_lossy(&output).lines().map(str::to_owned).collect();
    let mut lost = Vec::new();
    // What is not in the list could not be done again.
    let is_listed = |id: &String| run.state.item_list().is_some_and(|it| it.is_listed_done(id));
    for (item, commit) in done.iter().filter(|it| outside.contains(it.1) && is_listed(it.0)) {
        let Some(base) = changes::parent(pinned, commit)? else { continue };
        let touched: BTreeSet<PathBuf> = changes::paths_of(pinned, commit)?.into_iter().collect();
        let records = bookkeeping(run);
        let is_only_records = touched.iter().all(|path| records.iter().any(|it| it.is_match(path)));
        if !(WorkFilter { records, is_only_records }).differs(pinned, &base, &head, Some(&touched))? {
            lost.push(item.clone());
        }
    }
    Ok(lost)
}

/// Changed files that are named; whoever reads it looks at the history anyway.
const CHANGED_NAMED: usize = 5;

/// Returns committed work, records aside, that differs from what a call began with.
pub(crate) fn changed_work(
    pinned: &Pinned,
    run: &Run,
    before: &str,
    status: &TreeStatus,
) -> Result<Vec<String>, GitError> {
    let now = status.commit.as_deref().unwrap_or_default();
    if before.is_empty() || now.is_empty() || before == now {
        return Ok(Vec::new());
    }
    let work = WorkFilter { records: bookkeeping(run), is_only_records: false };
    let changed = changes::changes(pinned, before, now)?;
    let paths = changed.iter().map(|it| it.path.as_path()).filter(|it| work.is_work(it));
    Ok(paths.take(CHANGED_NAMED).map(|it| it.to_string_lossy().into_owned()).collect())
}

/// Whether somebody asks for the names of commits: a report that has to name one, or a rule about items.
fn is_named(run: &Run) -> bool {
    let phase = &run.workflow.phases[run.state.phase];
    let has_records = run.workflow.items.as_ref().is_some_and(|it| !it.bookkeeping.is_empty());
    has_records || phase.report == Protocol::ExitSignal || phase.asks_for(FactName::ItemCommits.name())
}

/// Files that are records and no work.
pub(super) fn bookkeeping(run: &Run) -> Vec<GlobMatcher> {
    run.workflow.items.iter().flat_map(|it| &it.bookkeeping).filter_map(|it| glob(it)).collect()
}

/// Tells work from records.
struct WorkFilter {
    records: Vec<GlobMatcher>,
    /// The item is about nothing but records, so they are its work.
    is_only_records: bool,
}

impl WorkFilter {
    fn of(run: &Run) -> WorkFilter {
        let records = bookkeeping(run);
        let files = run.state.item.as_ref().map(|it: &Item| it.files.as_slice()).unwrap_or_default();
        let is_record = |path: &String| records.iter().any(|it| it.is_match(path));
        let is_only_records = !files.is_empty() && files.iter().all(is_record);
        WorkFilter { records, is_only_records }
    }

    fn is_work(&self, path: &Path) -> bool {
        self.is_only_records || !self.records.iter().any(|it| it.is_match(path))
    }

    fn is_in(&self, paths: &[PathBuf]) -> bool {
        self.is_only_records || paths.iter().any(|it| self.is_work(it))
    }

    /// Whether work differs between two commits, in these paths alone where some are given.
    fn differs(
        &self,
        pinned: &Pinned,
        from: &str,
        to: &str,
        paths: Option<&BTreeSet<PathBuf>>,
    ) -> Result<bool, GitError> {
        let is_asked = |it: &Path| paths.is_none_or(|paths| paths.contains(it));
        let changed = changes::changes(pinned, from, to)?;
        Ok(changed.iter().any(|it| is_asked(&it.path) && self.is_work(&it.path)))
    }
}
