//! The items of a body: what the workflow's source of them lists, be it a command, the queue or files.

use crate::drive::Performed;
use crate::measure::checks::run_checks::{self, Cut, exit_words};
use crate::measure::{commits, item_list};
use crate::world::real::Host;
use crate::world::wait::now;
use loop_core::engine::{Event, Hold, HoldKind, Listing, News};
use loop_core::workflow::model::ItemSource;
use loop_store::mirror::domain_memory::queue_file;
use loop_store::run::Run;
use loop_store::{QueueKey, QueueRead};
use std::path::Path;

/// What the log of a list's command is called.
const LIST: &str = "list";

/// A list that takes longer to print is work of its own.
const LIST_MS: u64 = 300_000;

impl Host<'_> {
    /// An empty list would pass a body over as if everything in it were done, so one that cannot be
    /// read is an error.
    pub(crate) fn list(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let items = run.workflow.items.as_ref().expect("a body has items");
        let unread = |why: String| anyhow::anyhow!("the list of {}s: {why}", items.name);
        let mut printed = String::new();
        let mut queued = Vec::new();
        if let ItemSource::Queue(_) = &items.from {
            queued = self.capabilities(run)?;
        }
        if let ItemSource::Command(command) = &items.from {
            // What it complains about is no item.
            let quiet = format!("{{ {command}\n}} 2>/dev/null");
            let order = run_checks::order(&self.run_id, LIST, &quiet, LIST_MS, &self.place);
            let exit = match self.shim.carry_out(run.state.epoch, order)? {
                Ok(exit) => exit,
                Err(Cut) => return Ok(Performed::Begun),
            };
            if exit.code != Some(0) {
                return Err(unread(format!("`{command}`: {}", exit_words(exit.code, exit.signal))));
            }
            printed = loop_base::files::text(&self.folder.join(format!("{LIST}.log"))).unwrap_or_default();
        }
        let (known, refused) = (run.state.item_list(), &run.state.refused_plans);
        match item_list::list(&self.place, items, &printed, &queued, known, refused) {
            Ok(mut found) => {
                let lost = commits::lost_items(&self.tree.pinned, run)?;
                found.iter_mut().for_each(|it| it.undone = lost.contains(&it.id));
                Ok(Performed::Done(Event::Listed(Listing::Whole(found))))
            }
            // Whoever wrote them can mend them; nothing is wrong with the controller.
            Err(why) if matches!(items.from, ItemSource::Plans(_)) => {
                let input = &run.state.opening.input;
                let reason = format!(
                    "the list of {}s cannot be read: {why}; fix it, then loop run {input}",
                    items.name
                );
                Ok(Performed::Done(Event::Held(Hold { kind: HoldKind::Halted, reason })))
            }
            Err(why) => Err(unread(why)),
        }
    }

    /// What the queue says is to be built; a queue that cannot be read says nothing new.
    fn capabilities(&mut self, run: &Run) -> anyhow::Result<Vec<String>> {
        let opening = &run.state.opening;
        let (Some(domain), Some(plan)) = (&opening.beginning.domain, &opening.worktree) else {
            return Ok(Vec::new());
        };
        let file = queue_file(Path::new(&plan.root), domain);
        let queue = QueueKey { project: &plan.root, domain, file: &file };
        let home = self.shim.listener.shared_home();
        if let QueueRead::Read { refused } = home.read_queue(queue, now())? {
            // It is undone, and this is the only one who knows of it.
            self.notes.extend(refused.into_iter().map(News::Noted));
        }
        Ok(home.job(queue, &opening.input)?.map(|it| it.system.capabilities).unwrap_or_default())
    }
}
