//! Measuring: the checks before the first call and after every other, each about one tree, with what
//! the tree and the input say besides. Results about a tree that the checks themselves keep changing
//! are about nothing, and are said to be so.

use super::facts;
use crate::drive::Performed;
use crate::measure::check_place::Room;
use crate::measure::run_checks;
use crate::tree::changes;
use crate::tree::git::GitError;
use crate::tree::working_tree::TreeStatus;
use crate::world::real::{Cut, Host};
use loop_core::engine::{Baseline, Event, Evidence, Facts};
use loop_core::workflow::model::Proof;
use loop_store::run::Run;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// What snapshots do not hold is named up to here.
const LEFT_OUT_NAMED: usize = 10;

impl Host<'_> {
    /// Every check that a phase uses, once, before the first call.
    pub(crate) fn baseline(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let status = match self.tree.status() {
            Ok(status) => status,
            Err(error) => anyhow::bail!("{error}"),
        };
        let used: BTreeSet<&String> = run.workflow.phases.iter().flat_map(|it| &it.checks).collect();
        let names: Vec<String> = used.into_iter().cloned().collect();
        let room = Room::in_place(&self.place);
        let results = match run_checks::run_all(self, run, &names, &status, &room)? {
            Ok(results) => results,
            Err(Cut) => return Ok(Performed::Begun),
        };
        // What the checks themselves leave behind belongs to the beginning.
        let status = self.tree.status()?;
        let facts = facts::gather(&self.tree, &status, run, self.input.as_deref())?;
        self.status = Some(status);
        let ms = results.iter().map(|it| it.ms).sum();
        Ok(Performed::Done(Event::Baselined(Baseline { results, facts, ms })))
    }

    pub(crate) fn measure(
        &mut self,
        run: &Run,
        names: &[String],
        deliverables: &[String],
    ) -> anyhow::Result<Performed> {
        let mut notes = Vec::new();
        let mut ms = 0;
        let (status, results, unstable) = loop {
            let status = self.tree.status()?;
            let room = match run.workflow.phases[run.state.phase].proof {
                Proof::Clean if !names.is_empty() => {
                    Room::fresh(&self.tree, &status, &self.run_id, &self.folder)?
                }
                Proof::Clean | Proof::Tree => Room::in_place(&self.place),
            };
            let results = match run_checks::run_all(self, run, names, &status, &room)? {
                Ok(results) => results,
                Err(Cut) => return Ok(Performed::Begun),
            };
            ms += results.iter().map(|it| it.ms).sum::<u64>();
            let after = if names.is_empty() { status.clone() } else { self.tree.status()? };
            let touched = self.touched_by_checks(&status, &after)?;
            if touched.is_empty() {
                break (after, results, Vec::new());
            }
            // A lock file or a formatted source settles after one round; what moves again will not.
            if notes.is_empty() {
                notes.push(format!("the checks changed {} and were run again", touched.join(", ")));
                continue;
            }
            break (after, results, touched);
        };
        let evidence = Evidence { results, unstable, notes, ms, ..Evidence::default() };
        Ok(Performed::Done(self.measured(run, status, evidence, deliverables)?))
    }

    /// Completes what was measured with what the tree and the input say.
    pub(crate) fn measured(
        &mut self,
        run: &Run,
        status: TreeStatus,
        mut evidence: Evidence,
        deliverables: &[String],
    ) -> Result<Event, GitError> {
        evidence.facts = facts::gather(&self.tree, &status, run, self.input.as_deref())?;
        self.status = Some(status);
        self.note_left_out(&mut evidence.notes);
        evidence.missing = self.missing(deliverables, &evidence.facts);
        evidence.notes.extend(facts::notes_on_input(run, self.input.as_deref()));
        Ok(Event::Measured(Box::new(evidence)))
    }

    /// Says once what no snapshot holds, so that nobody relies on it.
    fn note_left_out(&mut self, notes: &mut Vec<String>) {
        let Some(status) = &self.status else { return };
        if status.left_out == self.left_out_told {
            return;
        }
        self.left_out_told.clone_from(&status.left_out);
        let named = status.left_out.iter().take(LEFT_OUT_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = status.left_out.len().saturating_sub(LEFT_OUT_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        if !named.is_empty() {
            notes.push(format!("not kept in snapshots: {named}{more}"));
        }
    }

    /// Tracked files that differ after the checks. Files that git does not know may come and go:
    /// coverage data, caches that nobody ignored.
    fn touched_by_checks(&self, before: &TreeStatus, after: &TreeStatus) -> Result<Vec<String>, GitError> {
        let changes = changes::changes(&self.tree.pinned, &before.tree, &after.tree)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let paths = changes.iter().map(|it| it.path.as_os_str().to_owned());
        let asked = ["ls-files", "-z", "--"].map(OsString::from).into_iter().chain(paths);
        let tracked = self.tree.pinned.repository.run(asked)?;
        let names = tracked.split(|it| *it == 0).filter(|it| !it.is_empty());
        Ok(names.map(|it| String::from_utf8_lossy(it).into_owned()).collect())
    }

    /// Deliverables must exist, hold something, and have been touched in this run.
    fn missing(&self, deliverables: &[String], facts: &Facts) -> Vec<String> {
        let there = |pattern: &&String| {
            let Ok(glob) = globset::Glob::new(pattern) else { return false };
            let glob = glob.compile_matcher();
            let files = facts.files.iter().filter(|it| glob.is_match(it));
            files.into_iter().any(|it| std::fs::metadata(self.place.join(it)).is_ok_and(|it| 0 < it.len()))
        };
        deliverables.iter().filter(|it| !there(it)).cloned().collect()
    }
}
