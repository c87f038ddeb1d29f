//! Which children of this process are no part of an agent call. A shim is a subreaper, so while it
//! lives whatever its call leaves behind falls to the shim. Only after a shim has died do processes
//! of its call become children of the controller, beside the ones that the controller started for
//! itself. Those are known by pid and start time: what this program started on purpose, and what was
//! there already when the call was ordered. Processes that survived a sweep are remembered too, so
//! that the next call does not take them for the controller's own.

use super::proc_stat::{Stat, children};
use rustix::process::Pid;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pid and start time: one process for as long as the machine runs.
pub(crate) type Id = (i32, u64);

#[derive(Default)]
struct KnownChildren {
    own: Option<HashSet<Id>>,
    survivors: Option<HashSet<Id>>,
    has_ordered: bool,
}

static KNOWN: Mutex<KnownChildren> =
    Mutex::new(KnownChildren { own: None, survivors: None, has_ordered: false });

/// Remembers a child that is no part of a call; returns what it is remembered by.
pub(crate) fn remember(child: Pid) -> Option<Id> {
    let id = id(child)?;
    known().own.get_or_insert_default().insert(id);
    Some(id)
}

/// Returns a child to those that a sweep may end and collect.
pub(crate) fn forget(id: Id) {
    known().own.get_or_insert_default().remove(&id);
}

/// A call is about to be ordered: every child that is there now is none of its processes.
pub(crate) fn before_order() {
    let present: Vec<Id> = children().into_iter().filter_map(id).collect();
    let mut known = known();
    known.has_ordered = true;
    let survivors = known.survivors.clone().unwrap_or_default();
    known.own.get_or_insert_default().extend(present.into_iter().filter(|it| !survivors.contains(it)));
}

/// Returns whether this process has ordered a call, without which none can have fallen to it.
pub(crate) fn has_ordered() -> bool {
    known().has_ordered
}

/// Returns whether a child is no part of a call.
pub(crate) fn is_own(child: Pid) -> bool {
    // One that is gone meanwhile has nothing to be spared.
    id(child).is_some_and(|it| known().own.as_ref().is_some_and(|own| own.contains(&it)))
}

/// Remembers children that could not be ended.
pub(crate) fn survived(children: impl IntoIterator<Item = Pid>) {
    let ids: Vec<Id> = children.into_iter().filter_map(id).collect();
    known().survivors.get_or_insert_default().extend(ids);
}

fn id(child: Pid) -> Option<Id> {
    let pid = child.as_raw_nonzero().get();
    Some((pid, Stat::read(pid).ok()??.start))
}

fn known() -> MutexGuard<'static, KnownChildren> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
