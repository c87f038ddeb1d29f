//! What a body of phases repeats over, as far as the state knows it. Consecutive phases with the
//! same `each` form a body; when its last phase is left the item is done, and the list is read again
//! before the next.

use crate::engine::journal::event::Event;
use crate::engine::journal::task::item::{Item, ListChange, Listing};
use crate::engine::journal::task::requirement::Requirement;
use crate::engine::state::parts::item_list::ItemList;
use crate::engine::state::parts::station::Station;
use crate::engine::state::run_state::{ItemBegan, State};
use crate::facts::FactName;
use crate::workflow::model::{ItemSource, PhaseId, Workflow};
use loop_base::value::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How the ids of items begin that no list has: work that was sent back when every item was done.
const FEEDBACK: &str = "gate feedback ";

/// Commits that are remembered of one open item; any of them shows that there is work.
const COMMITS_KEPT: usize = 50;

/// Returns the first and the last phase of the body that `phase` belongs to.
pub(crate) fn body(workflow: &Workflow, phase: PhaseId) -> Option<(PhaseId, PhaseId)> {
    let each = workflow.phases[phase].each.as_ref()?;
    let belongs = |id: &PhaseId| workflow.phases[*id].each.as_ref() == Some(each);
    let first = (0..=phase).rev().take_while(belongs).last()?;
    let last = (phase..workflow.phases.len()).take_while(belongs).last()?;
    Some((first, last))
}

impl State {
    /// Returns a fact as it is journaled: a list that was read becomes what changed in it.
    pub fn journaled(&self, workflow: &Workflow, event: Event) -> Event {
        match event {
            Event::Listed(Listing::Whole(items)) => {
                Event::Listed(Listing::Change(Box::new(self.list_change(workflow, &items))))
            }
            other => other,
        }
    }

    /// Whether the list has to be read from the journal before this state can continue: a state that was
    /// read from a snapshot comes without it.
    pub fn lacks_list(&self, workflow: &Workflow) -> bool {
        self.list.is_none() && workflow.items.is_some() && !matches!(self.station, Station::Closed(_))
    }

    /// Whether the list reads like this.
    pub fn is_list(&self, items: &[Item]) -> bool {
        self.list.as_ref().is_some_and(|it| it.is_same(items))
    }

    pub fn give_list(&mut self, mut list: ItemList) {
        self.opening.beginning.done.iter().for_each(|it| list.finish(it));
        self.list = Some(Arc::new(list));
    }

    /// Returns how many items of the list are done.
    pub(crate) fn listed_items_done(&self) -> u32 {
        self.items_done.saturating_sub(self.feedback_done)
    }

    pub(crate) fn take_listing(&mut self, workflow: &Workflow, listing: &Listing) {
        let change = match listing {
            Listing::Whole(items) => Cow::Owned(self.list_change(workflow, items)),
            Listing::Change(change) => Cow::Borrowed(change.as_ref()),
        };
        self.item.clone_from(&change.next);
        let begun =
            self.item.as_ref().filter(|it| self.item_began.as_ref().is_none_or(|was| was.item != it.id));
        if let Some(item) = begun {
            self.item_began = Some(ItemBegan { item: item.id.clone(), tree: self.seen.tree.clone() });
        }
        self.items_left = change.left;
        self.listed = true;
        self.warn_of_removed(workflow, &change);
        self.warn_of_reopened(&change.reopened);
        if let Some(list) = self.list.as_mut().filter(|_| !change.is_empty()) {
            Arc::make_mut(list).apply(&change);
        }
    }

    /// Work that is gone is done once more.
    fn warn_of_reopened(&mut self, reopened: &[String]) {
        for id in reopened {
            self.items_done = self.items_done.saturating_sub(1);
            let commit = self.done_commits.remove(id).unwrap_or_default();
            let short: String = commit.chars().take(7).collect();
            self.warn(format!(
                "{id} is open again: its commit {short} is no longer in the history, and its work is gone"
            ));
        }
    }

    /// Whoever removes an item from its list has not done it. A task of a plan was asked for, so it becomes a row
    /// of its own until it is back.
    fn warn_of_removed(&mut self, workflow: &Workflow, change: &ListChange) {
        let is_back = |id: &String| change.added.iter().any(|it| it.items.iter().any(|it| it.id == *id));
        self.requirements.retain(|it| it.by.is_some() || !is_back(&it.id));
        let Some(list) = &self.list else { return };
        let is_gone = |it: &&Item| change.removed.contains(&it.id) && !is_back(&it.id) && !it.is_summary();
        let gone: Vec<Item> = list.open().filter(is_gone).cloned().collect();
        if gone.is_empty() {
            return;
        }
        let named: Vec<String> = gone.iter().map(|it| format!("{} ({})", it.id, it.name)).collect();
        self.warn(format!("no longer in the list, and not done: {}", named.join(", ")));
        if lists_plans(workflow) {
            for it in gone {
                let text = format!("{} (taken out of its plan)", it.name);
                if self.requirements.iter().all(|row| row.id != it.id) {
                    self.requirements.push(Requirement::new(it.id, text));
                }
            }
        }
    }

    /// A task that an agent called complete without a commit of its own, or together with another one, was asked for
    /// all the same, so it becomes a row of its own.
    pub(crate) fn ask_for_unworked(&mut self, workflow: &Workflow, id: &str, also: &[String]) {
        if !lists_plans(workflow) {
            return;
        }
        // What a person settled or skipped, a person answers for.
        let is_own = self.item.as_ref().is_some_and(|it| it.id == id && it.checkpoint().is_none());
        let is_bare = is_own && !self.visit.skipped && !self.has_commits(id);
        let own = is_bare.then_some((id, "called complete without a commit of its own".to_owned()));
        let together = format!("called complete together with {id}, without an iteration of its own");
        let others = also.iter().map(|it| (it.as_str(), together.clone()));
        for (task, text) in own.into_iter().chain(others).filter(|it| !Item::names_summary(it.0)) {
            if self.requirements.iter().all(|row| row.id != task) {
                self.requirements.push(Requirement::new(task, text));
            }
        }
    }

    /// Whether there is work of the item in hand, as it was measured last: a commit that was taken back is none.
    fn has_commits(&self, id: &str) -> bool {
        match self.seen.values.get(FactName::ItemCommits.name()) {
            Some(Value::Int(count)) => 0 < *count,
            Some(_) | None => !self.commits_of_item(id).is_empty(),
        }
    }

    /// Returns the ids of the items of a group that are not done and that are work for agents. What is for a
    /// person stays open until a person settles it, whatever an agent says.
    pub(crate) fn open_work_of<'a>(&'a self, group: &'a str) -> impl Iterator<Item = String> + 'a {
        let open = self.list.iter().flat_map(|it| it.open());
        let is_work = move |it: &&Item| it.group.as_deref() == Some(group) && it.checkpoint().is_none();
        open.filter(is_work).map(|it| it.id.clone())
    }

    /// Returns the list with what is done, where this state knows it.
    pub fn item_list(&self) -> Option<&ItemList> {
        self.list.as_deref()
    }

    /// Returns the commits of work that the calls on an open item made, oldest first.
    pub fn commits_of_item(&self, id: &str) -> &[String] {
        self.item_commits.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the newest commit of each item that is done, as far as one is known.
    pub fn done_commits(&self) -> &BTreeMap<String, String> {
        &self.done_commits
    }

    /// Remembers the commits that a call made, named newest first, for its item.
    pub(crate) fn keep_commits(&mut self, item: Option<&Item>, commits: &[String]) {
        let Some(item) = item.filter(|_| !commits.is_empty()) else { return };
        let kept = self.item_commits.entry(item.id.clone()).or_default();
        for commit in commits.iter().rev() {
            if kept.len() < COMMITS_KEPT && !kept.contains(commit) {
                kept.push(commit.clone());
            }
        }
    }

    pub(crate) fn finish_item(&mut self, id: &str) {
        let commits = self.item_commits.remove(id).unwrap_or_default();
        if let Some(newest) = commits.into_iter().next_back() {
            self.done_commits.insert(id.to_owned(), newest);
        }
        self.items_done += 1;
        self.feedback_done += u32::from(id.starts_with(FEEDBACK));
        self.items_left = self.items_left.saturating_sub(1);
        self.item = None;
        self.listed = false;
        if let Some(list) = &mut self.list {
            Arc::make_mut(list).finish(id);
        }
    }

    fn list_change(&self, workflow: &Workflow, listed: &[Item]) -> ListChange {
        let list = self.list.as_ref().expect("the owner of a run knows its list");
        list.change_to(&self.whole_list(workflow, listed))
    }

    /// Returns the whole list. A job whose queue entry names no items has those that a report
    /// proposed, else one that is named like the job.
    fn whole_list<'a>(&self, workflow: &Workflow, listed: &'a [Item]) -> Cow<'a, [Item]> {
        let from_queue = workflow.items.as_ref().is_some_and(|it| matches!(it.from, ItemSource::Queue(_)));
        if !listed.is_empty() || !from_queue {
            return Cow::Borrowed(listed);
        }
        let named = |name: &String| Item::new(name, name);
        if self.items_proposed.is_empty() {
            let input = &self.opening.input;
            let name = self.opening.beginning.title.as_ref().unwrap_or(input);
            return Cow::Owned(vec![Item::new(input, name)]);
        }
        Cow::Owned(self.items_proposed.iter().map(named).collect())
    }

    /// The work of a person's feedback, where every item may be done already.
    pub(crate) fn feedback_item(&self) -> Item {
        Item::new(format!("{FEEDBACK}{}", self.iterations_total), "gate feedback")
    }

    /// Forgets that any other items than these are done.
    pub(crate) fn keep_done(&mut self, is_kept: impl Fn(&str) -> bool) {
        let list = self.list.as_mut().expect("a state that was not read from a snapshot has its list");
        self.items_done = Arc::make_mut(list).keep_done(is_kept);
        self.feedback_done = 0;
    }
}

fn lists_plans(workflow: &Workflow) -> bool {
    workflow.items.as_ref().is_some_and(|it| matches!(it.from, ItemSource::Plans(_)))
}
