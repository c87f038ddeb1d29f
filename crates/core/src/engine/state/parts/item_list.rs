//! The list that a body of phases repeats over, and how it is journaled: as what changed since it
//! was last read, with the item that comes next. An unchanged list costs the same few bytes however
//! long it is.
//!
//! The list is a fold of the facts `Listed` and `ItemDone` alone; a fact `Listed` also says which items are
//! open again. It is kept beside the state and not in it, because the state is written with every commit and
//! the list grows with the work.

use crate::engine::journal::event::Event;
use crate::engine::journal::task::item::{Added, Item, ListChange, Listing};
use std::collections::{BTreeMap, BTreeSet};

/// The list as it was last read, and which items are done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemList {
    entries: Vec<ListEntry>,
    /// Done items stay known by their ids, listed or not.
    done: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct ListEntry {
    item: Item,
    is_done: bool,
}

impl ItemList {
    /// Takes one fact into account; most say nothing about the list.
    pub fn follow(&mut self, event: &Event) {
        match event {
            Event::Listed(Listing::Whole(items)) => {
                let change = self.change_to(items);
                self.apply(&change);
            }
            Event::Listed(Listing::Change(change)) => self.apply(change),
            Event::ItemDone { id, also } => std::iter::once(id).chain(also).for_each(|it| self.finish(it)),
            _ => (),
        }
    }

    /// Returns what turns this list into another. An id that stands there twice counts once.
    pub(crate) fn change_to(&self, wanted: &[Item]) -> ListChange {
        if self.is_same(wanted) {
            return ListChange { next: self.next().cloned(), left: self.left(), ..ListChange::default() };
        }
        let is_again = |it: &&Item| it.undone && self.is_done(&it.id);
        let reopened: Vec<String> = wanted.iter().filter(is_again).map(|it| it.id.clone()).collect();
        // That its work is gone is no part of an item.
        let plain = |it: &Item| Item { undone: false, ..it.clone() };
        let wanted: Vec<Item> = wanted.iter().map(plain).collect();
        let change = ListChange { reopened, ..self.difference(&wanted) };
        let mut after = self.clone();
        after.apply(&change);
        ListChange { next: after.next().cloned(), left: after.left(), ..change }
    }

    pub(crate) fn is_same(&self, items: &[Item]) -> bool {
        self.entries.len() == items.len()
            && self.entries.iter().zip(items).all(|(entry, item)| entry.item == *item)
    }

    fn difference(&self, wanted: &[Item]) -> ListChange {
        let places: BTreeMap<&str, usize> =
            self.entries.iter().enumerate().map(|(place, it)| (it.item.id.as_str(), place)).collect();
        let mut seen = BTreeSet::new();
        let wanted: Vec<(&Item, Option<usize>)> = wanted
            .iter()
            .filter(|it| seen.insert(it.id.as_str()))
            .map(|it| (it, places.get(it.id.as_str()).copied()))
            .collect();
        let known: Vec<usize> = wanted.iter().filter_map(|it| it.1).collect();
        let stays = longest_rising(&known);
        let mut change = ListChange::default();
        let is_gone = |(place, _): &(usize, &ListEntry)| !stays.contains(place);
        let gone = self.entries.iter().enumerate().filter(is_gone);
        change.removed.extend(gone.map(|(_, it)| it.item.id.clone()));
        // The last item that stays, and whether the items after it have a group already.
        let (mut before, mut is_open) = (None, false);
        for (item, place) in wanted {
            match place.filter(|it| stays.contains(it)) {
                Some(place) => {
                    if self.entries[place].item != *item {
                        change.changed.push(item.clone());
                    }
                    (before, is_open) = (Some(&item.id), false);
                }
                None => {
                    if !is_open {
                        change.added.push(Added { after: before.cloned(), items: Vec::new() });
                        is_open = true;
                    }
                    let group = change.added.last_mut().expect("a group was just opened");
                    group.items.push(item.clone());
                }
            }
        }
        change
    }

    pub(crate) fn apply(&mut self, change: &ListChange) {
        if !change.removed.is_empty() {
            let removed: BTreeSet<&str> = change.removed.iter().map(String::as_str).collect();
            self.entries.retain(|it| !removed.contains(it.item.id.as_str()));
        }
        for item in &change.changed {
            if let Some(place) = self.place(&item.id) {
                self.entries[place].item = item.clone();
            }
        }
        for Added { after, items } in &change.added {
            let place = after.as_ref().and_then(|it| self.place(it)).map_or(0, |it| it + 1);
            let done = &self.done;
            let entries: Vec<ListEntry> = items
                .iter()
                .map(|it| ListEntry { is_done: done.contains(&it.id), item: it.clone() })
                .collect();
            self.entries.splice(place..place, entries);
        }
        for id in &change.reopened {
            self.done.remove(id);
            if let Some(place) = self.place(id) {
                self.entries[place].is_done = false;
            }
        }
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Item> {
        self.entries.iter().filter(|it| !it.is_done).map(|it| &it.item)
    }

    /// Returns every item with whether it is done.
    pub fn all(&self) -> impl Iterator<Item = (&Item, bool)> {
        self.entries.iter().map(|it| (&it.item, it.is_done))
    }

    /// Whether an item was done, also where the list has it no more.
    pub fn is_done(&self, id: &str) -> bool {
        self.done.contains(id)
    }

    /// Whether the item is in the list, and done.
    pub fn is_listed_done(&self, id: &str) -> bool {
        self.is_done(id) && self.place(id).is_some()
    }

    pub(crate) fn finish(&mut self, id: &str) {
        self.done.insert(id.to_owned());
        if let Some(place) = self.place(id) {
            self.entries[place].is_done = true;
        }
    }

    /// Forgets that other items are done, and returns how many still are.
    pub(crate) fn keep_done(&mut self, is_kept: impl Fn(&str) -> bool) -> u32 {
        self.done.retain(|it| is_kept(it));
        for entry in &mut self.entries {
            entry.is_done = self.done.contains(&entry.item.id);
        }
        u32::try_from(self.done.len()).unwrap_or(u32::MAX)
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.entries.iter().position(|it| it.item.id == id)
    }

    fn next(&self) -> Option<&Item> {
        self.entries.iter().find(|it| !it.is_done).map(|it| &it.item)
    }

    fn left(&self) -> u32 {
        u32::try_from(self.entries.iter().filter(|it| !it.is_done).count()).unwrap_or(u32::MAX)
    }
}

/// Returns the most of these different numbers that rise from left to right: the items that need not
/// be moved. A list that was only added to and ticked off keeps all of them.
fn longest_rising(numbers: &[usize]) -> BTreeSet<usize> {
    if numbers.is_sorted() {
        return numbers.iter().copied().collect();
    }
    // `ends[n]` is where the rising row of n + 1 numbers with the lowest end has its end.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; numbers.len()];
    for (index, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|it| numbers[*it] < *number);
        before[index] = length.checked_sub(1).map(|it| ends[it]);
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut row = BTreeSet::new();
    let mut at = ends.last().copied();
    while let Some(index) = at {
        row.insert(numbers[index]);
        at = before[index];
    }
    row
}

#[cfg(test)]
mod tests {
    use super::{Event, Item, ItemList, ListChange, Listing};
    use proptest::prelude::*;

    fn items(ids: &[u8]) -> Vec<Item> {
        ids.iter().map(|it| Item::new(format!("i{it}"), format!("item {it}"))).collect()
    }

    fn size(change: &ListChange) -> usize {
        let added: usize = change.added.iter().map(|it| it.items.len()).sum();
        change.removed.len() + change.changed.len() + added
    }

    #[test]
    fn wf04_a_difference_names_only_what_changed() {
        let mut list = ItemList::default();
        list.follow(&Event::Listed(Listing::Whole(items(&[1, 2, 3, 4, 5]))));
        let sizes = [
            (items(&[1, 2, 3, 4, 5]), 0),
            (items(&[1, 2, 3, 4, 5, 6]), 1),
            (items(&[0, 1, 2, 3, 4, 5]), 1),
            (items(&[2, 3, 4, 5]), 1),
            // What was at the front stands at the end: one item is removed and added.
            (items(&[2, 3, 4, 5, 1]), 2),
            (items(&[5, 1, 2, 3, 4]), 2),
        ];
        for (wanted, expected) in sizes {
            assert_eq!(size(&list.change_to(&wanted)), expected, "{wanted:?}");
        }
        let mut renamed = items(&[1, 2, 3, 4, 5]);
        renamed[2].group = Some("wave 2".to_owned());
        let change = list.change_to(&renamed);
        assert_eq!((change.changed, change.added.len()), (vec![renamed[2].clone()], 0));
    }

    proptest! {
        /// Whatever becomes of a list, its differences lead to it, and to the first item not done.
        #[test]
        fn differences_lead_to_the_list(
            lists in prop::collection::vec(prop::collection::vec(0u8..12, 0..10), 1..6),
            done in prop::collection::vec(0u8..12, 6),
        ) {
            let mut list = ItemList::default();
            let mut finished = Vec::new();
            for (ids, done) in lists.iter().zip(done) {
                let wanted = items(ids);
                let change = list.change_to(&wanted);
                let text = serde_json::to_string(&Event::Listed(Listing::Change(Box::new(change.clone())))).expect("data");
                list.follow(&serde_json::from_str(&text).expect("what was written can be read"));
                let mut expected: Vec<Item> = Vec::new();
                for item in wanted {
                    if expected.iter().all(|it| it.id != item.id) {
                        expected.push(item);
                    }
                }
                let found: Vec<Item> = list.entries.iter().map(|it| it.item.clone()).collect();
                prop_assert_eq!(&found, &expected);
                let open: Vec<&Item> = expected.iter().filter(|it| !finished.contains(&it.id)).collect();
                prop_assert_eq!(change.next.as_ref(), open.first().copied());
                prop_assert_eq!(change.left as usize, open.len());
                list.follow(&Event::ItemDone { id: format!("i{done}"), also: Vec::new() });
                finished.push(format!("i{done}"));
            }
        }
    }

    #[test]
    fn an_item_whose_work_is_gone_is_open_again() {
        let mut list = ItemList::default();
        list.follow(&Event::Listed(Listing::Whole(items(&[1, 2, 3]))));
        for id in ["i1", "i2"] {
            list.follow(&Event::ItemDone { id: id.to_owned(), also: Vec::new() });
        }
        let mut found = items(&[1, 2, 3]);
        // What was never done is open anyhow.
        (found[1].undone, found[2].undone) = (true, true);
        let change = list.change_to(&found);
        let next = change.next.as_ref().map(|it| (it.id.as_str(), it.undone));
        assert_eq!(
            (change.reopened.as_slice(), next, change.left),
            (&["i2".to_owned()][..], Some(("i2", false)), 2)
        );
        assert!(change.changed.is_empty() && !change.is_empty());
        list.follow(&Event::Listed(Listing::Change(Box::new(change))));
        assert!(!list.is_done("i2") && list.is_done("i1"));
        assert!(list.change_to(&items(&[1, 2, 3])).is_empty());
    }

    #[test]
    fn a_list_of_an_earlier_version_is_read() {
        let event: Event = serde_json::from_str(r#"{"listed":[{"id":"a","name":"A"}]}"#).expect("readable");
        assert_eq!(event, Event::Listed(Listing::Whole(vec![Item::new("a", "A")])));
    }
}
