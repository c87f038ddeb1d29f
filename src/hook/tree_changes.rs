//! What a stop without a promise needs to know of the tree, found out without git: whether anything
//! changed since the session was sent on, and how many commits it made. That feeds the breaker and
//! nothing else. Where a workflow asks for more at such a stop, or the file system does not answer
//! plainly, git is asked as always.

use super::{HookWorld, head};
use crate::drive::Performed;
use crate::hook::file_stamps::Marks;
use crate::measure::facts::{notes_on_input, of_input};
use loop_base::value::Value;
use loop_core::engine::{Event, Evidence, Facts, Station};
use loop_core::facts::FactName;
use loop_core::workflow::model::{Phase, Signal, Workflow};
use loop_store::run::Run;
use std::collections::BTreeMap;

/// Files named in prompts and mirrors, as many as a look of git's names.
const FILES_NAMED: usize = 200;

impl HookWorld<'_> {
    /// Returns what was measured, or nothing where git has to look.
    pub(super) fn measure_without_git(&mut self, run: &Run, deliverables: &[String]) -> Option<Event> {
        let Station::Reported(turn) = &run.state.station else { return None };
        let phase = &run.workflow.phases[turn.call.phase];
        let suffices = deliverables.is_empty() && suffices(&run.workflow, phase);
        if turn.ended.report.signal.is_some() || run.state.baseline.is_none() || !suffices {
            return None;
        }
        let place = self.setting.place;
        let before = Marks::read(&self.setting.folder, turn.call.number)?;
        let mut marks = self.setting.marks()?;
        let (commit, commits) = head::commits_since(place, &run.state.seen.commit)?;
        // Which of them are work for the item, only git can tell.
        if commits != 0 && phase.asks_for(FactName::ItemCommits.name()) {
            return None;
        }
        let changed = marks.changes_since(&before, place);
        self.marks = Some(marks);
        let input = self.setting.input.as_deref();
        let mut values = of_input(run, input);
        values.extend(change_facts(changed.len()));
        values.insert(FactName::CommitsMade.name().to_owned(), commits.into());
        let mut files = run.state.seen.files.clone();
        files.extend(changed);
        files.sort();
        files.dedup();
        files.truncate(FILES_NAMED);
        let tree = run.state.seen.tree.clone();
        let facts = Facts { commit, tree, values, files, ..Facts::default() };
        let notes = notes_on_input(run, input);
        Some(Event::Measured(Box::new(Evidence { facts, notes, ..Evidence::default() })))
    }

    /// A look of git's compares with the last look of git's, which may be several stops ago. What
    /// changed in this iteration is what changed since the session was sent on.
    pub(super) fn corrected(&mut self, run: &Run, performed: Performed) -> Performed {
        match (performed, &run.state.station) {
            (Performed::Done(Event::Measured(mut evidence)), Station::Reported(turn)) => {
                let place = self.setting.place;
                if let Some(before) = Marks::read(&self.setting.folder, turn.call.number) {
                    self.marks = self.setting.marks();
                    let changed = self.marks.as_mut().map(|it| it.changes_since(&before, place));
                    evidence.facts.values.extend(changed.into_iter().flat_map(|it| change_facts(it.len())));
                }
                Performed::Done(Event::Measured(evidence))
            }
            (performed, _) => performed,
        }
    }
}

fn change_facts(changed: usize) -> BTreeMap<String, Value> {
    BTreeMap::from([
        (FactName::FilesChanged.name().to_owned(), changed.into()),
        (FactName::TreeChanged.name().to_owned(), (changed != 0).into()),
    ])
}

/// Whether a stop without a promise cannot lead out of the phase, and what counts as progress is
/// told here or by checks, which do not run then.
fn suffices(workflow: &Workflow, phase: &Phase) -> bool {
    let counted = |name: &String| workflow.checks.values().any(|it| it.files.contains_key(name));
    let needs_git = |name: &String| FactName::named(name).is_some_and(|it| it.row().needs_git);
    let untold = |name: &String| needs_git(name) || workflow.facts.contains_key(name) || counted(name);
    let progress = phase.progress.up.iter().chain(&phase.progress.down);
    phase.signal != Signal::None && phase.reject.is_none() && !progress.into_iter().any(untold)
}
