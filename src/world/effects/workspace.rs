//! The run's own worktree: made as it was planned when the run was opened, and prepared by its command.

use crate::drive::Performed;
use crate::measure::checks::run_checks::{self, Cut, exit_words};
use crate::tree::git::Git;
use crate::tree::pinned::Pinned;
use crate::tree::working_tree::WorkingTree;
use crate::tree::worktree;
use crate::world::deliverables::deliverables;
use crate::world::real::{Host, VIEW, VIEW_BEFORE};
use loop_core::engine::{Event, Hold, HoldKind};
use loop_store::run::Run;

/// What the log of a worktree's preparation is called.
const PREPARE: &str = "prepare";

/// Installing the dependencies of a large project takes minutes; half an hour is a network that is gone.
const PREPARE_MS: u64 = 1_800_000;

impl Host<'_> {
    /// Makes the worktree that was planned when the run was opened, or what is missing of it.
    pub(crate) fn workspace(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let Some(plan) = run.state.opening.worktree.clone() else {
            anyhow::bail!("run {} was opened without a plan for its worktree; loop run --fresh", self.run_id)
        };
        let view = self.folder.join(VIEW);
        worktree::ensure(&plan, &self.run_id, &view, run.state.opening.git_programs())?;
        worktree::bring(&plan, self.input.as_deref())?;
        let repository = Git::open(&self.place)?.looking_with(run.state.opening.git_programs());
        self.tree = WorkingTree::open(Pinned::open(&repository, &view)?, self.ours.clone())?;
        self.tree.ask_for(&deliverables(&run.workflow));
        let _only_a_cache = std::fs::remove_dir_all(self.folder.join(VIEW_BEFORE));
        if let Some(command) = &run.workflow.workspace.prepare {
            let order = run_checks::order(&self.run_id, PREPARE, command, PREPARE_MS, &self.place);
            match self.shim.carry_out(run.state.epoch, order)? {
                Ok(exit) if exit.code == Some(0) => (),
                Ok(exit) => {
                    let reason = format!(
                        "the worktree could not be prepared: `{command}`: {}; its log is {}, then loop run",
                        exit_words(exit.code, exit.signal),
                        self.folder.join(format!("{PREPARE}.log")).display()
                    );
                    return Ok(Performed::Done(Event::Held(Hold { kind: HoldKind::Halted, reason })));
                }
                Err(Cut) => return Ok(Performed::Begun),
            }
        }
        Ok(Performed::Done(Event::Placed { place: plan.place, branch: Some(plan.branch) }))
    }
}
