//! The end of a run: the work is handed in, and a worktree that is not to stay is removed.

use crate::deliver::finish::{Delivered, deliver};
use crate::deliver::ship::changed_since;
use crate::deliver::{memory, planning};
use crate::drive::Performed;
use crate::tree::worktree;
use crate::world::real::Host;
use crate::world::wait::WaitResult;
use loop_core::engine::Event;
use loop_store::Home;
use loop_store::run::Run;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Closes one kind of documents, and returns the command to continue with after the run.
type Close = fn(&Run, &Home, &Path) -> anyhow::Result<Option<String>>;

/// What is closed before the work is handed in, in this order; each of them leaves alone what is not its own.
const CLOSING: [(&str, Close); 2] = [
    ("the planning documents could not be updated", planning::close_phase),
    ("domain-memory/ could not be updated", memory::close_system),
];

impl Host<'_> {
    pub(crate) fn finish(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.forget_status();
        let home = self.shim.listener.shared_home();
        let (mut next, mut unclosed) = (None, None);
        for (what, close) in CLOSING {
            match close(run, &home, &self.place) {
                Ok(found) => next = found.or(next),
                Err(error) => unclosed = Some(format!("{what}: {error:#}")),
            }
        }
        let (shipped, trouble, commit) = match self.hand_in(run)? {
            Delivered::Cut => return Ok(Performed::Begun),
            Delivered::Not(why) => (None, Some(format!("{why}; next: loop ship")), None),
            // What was handed in is safe, so a worktree may go; its own trouble comes after.
            Delivered::Done { shipped, trouble, commit } => {
                let left = self.leave_worktree(run)?;
                (
                    shipped,
                    [trouble, left].into_iter().flatten().reduce(|one, other| format!("{one}; {other}")),
                    commit,
                )
            }
        };
        let trouble =
            [unclosed, trouble].into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
        Ok(Performed::Done(Event::Finished { trouble, shipped, commit, next }))
    }

    fn hand_in(&mut self, run: &Run) -> anyhow::Result<Delivered> {
        let changed = changed_since(&mut self.tree, &run.state.seen.tree)?;
        let listener = &mut self.shim.listener;
        let home = listener.shared_home();
        deliver(run, &home, changed, || {
            Ok(matches!(listener.listen(None, Duration::ZERO)?, WaitResult::Now { .. }))
        })
    }

    /// Removes a worktree that is not to stay, unless something in it is not committed; returns why
    /// it is still there.
    fn leave_worktree(&mut self, run: &Run) -> anyhow::Result<Option<String>> {
        let plan = run.state.opening.worktree.as_ref().filter(|_| run.workflow.workspace.cleanup);
        let Some(plan) = plan else { return Ok(None) };
        if self.place.exists() {
            self.keep()?;
        }
        let trouble = worktree::remove(plan, run.state.opening.git_programs())?;
        if trouble.is_none() && run.workflow.workspace.delete_branch {
            worktree::delete_merged_branch(plan)?;
        }
        if !self.place.exists() {
            self.place = PathBuf::from(&plan.root);
        }
        Ok(trouble)
    }
}
