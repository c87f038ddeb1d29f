//! What the workflow does at the end: documents are committed, the work is handed in, a worktree that
//! is not to stay is removed. Whatever goes wrong with it is said and takes nothing from what was
//! reached; a wish that comes before anything has left the house is heard first.

use crate::deliver::ship;
use crate::drive::Performed;
use crate::tree::worktree;
use crate::world::real::Host;
use crate::world::wait::Heard;
use loop_core::engine::Event;
use loop_store::run::Run;
use std::path::PathBuf;
use std::time::Duration;

/// What came of handing the work in.
enum Delivered {
    Done {
        shipped: Option<String>,
        trouble: Option<String>,
    },
    Not(String),
    /// A person wants something first.
    Cut,
}

impl Host<'_> {
    pub(crate) fn finish(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.forget_look();
        let (shipped, trouble) = match self.deliver(run)? {
            Delivered::Cut => return Ok(Performed::Begun),
            Delivered::Not(why) => (None, Some(format!("{why}; next: loop ship"))),
            // What was handed in is safe, so a worktree may go; its own trouble comes after.
            Delivered::Done { shipped, trouble } => {
                let left = self.leave_worktree(run)?;
                (
                    shipped,
                    [trouble, left].into_iter().flatten().reduce(|one, other| format!("{one}; {other}")),
                )
            }
        };
        Ok(Performed::Done(Event::Finished { trouble, shipped }))
    }

    fn deliver(&mut self, run: &Run) -> anyhow::Result<Delivered> {
        let nothing = Delivered::Done { shipped: None, trouble: None };
        let finish = &run.workflow.finish;
        let (commits, ships) = (finish.commit_docs, finish.ship == "auto");
        if !commits && !ships {
            return Ok(nothing);
        }
        let home = self.ears.home();
        let Some(row) = home.run(&run.id)? else { return Ok(nothing) };
        let wanted = ship::Wanted { kind: None, request: true };
        let work = ship::Work::look(row, run.workflow.clone(), run.state.clone(), wanted)?;
        if let Err(error) = if commits { work.commit_documents() } else { Ok(0) } {
            return Ok(Delivered::Not(format!("the documents were not committed: {error:#}")));
        }
        if !ships {
            return Ok(nothing);
        }
        let preflight = work.preflight()?;
        if let Heard::Now { .. } = self.ears.listen(None, Duration::ZERO)? {
            return Ok(Delivered::Cut);
        }
        let shipped = work.hand_in(&preflight);
        let said: Vec<String> = shipped.errors.iter().chain(&shipped.warnings).cloned().collect();
        let trouble = (!said.is_empty()).then(|| said.join("; "));
        Ok(match shipped.is_done {
            true => Delivered::Done { trouble, shipped: shipped.words() },
            false => Delivered::Not(format!("not shipped: {}", trouble.unwrap_or_default())),
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
        let trouble = worktree::remove(plan)?;
        if !self.place.exists() {
            self.place = PathBuf::from(&plan.root);
        }
        Ok(trouble)
    }
}
