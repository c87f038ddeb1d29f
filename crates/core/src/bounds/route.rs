//! From visit to visit: which phase follows which, as the engine decides it, with the items, the
//! rejections and the way back that it remembers. How long a visit is, is known (`visit.rs`).

use super::graph::{self, Edge};
use super::visit::{self, VisitLength};
use super::world::{Reached, onward, opened};
use crate::engine::{CheckpointKind, Item, State, Verdict};
use crate::facts::FactName;
use crate::workflow::condition::Condition;
use crate::workflow::model::{PhaseId, Workflow};
use std::collections::BTreeMap;

/// Visits told apart. Presets have fewer than fifty; a workflow with more than this many combinations
/// of rejections is beyond what a person can follow, and gets no bound.
const MOST_VISITS: usize = 20_000;

/// The lengths of visits, each computed once.
pub(super) struct Lengths {
    world: Workflow,
    known: BTreeMap<PhaseId, VisitLength>,
}

impl Lengths {
    pub(super) fn new(world: &Workflow) -> Lengths {
        Lengths { world: world.clone(), known: BTreeMap::new() }
    }

    pub(super) fn of(&mut self, phase: PhaseId) -> VisitLength {
        let world = &self.world;
        *self.known.entry(phase).or_insert_with(|| {
            let mut state = opened(world);
            state.phase = phase;
            if world.phases[phase].each.is_some() {
                state.item = Some(Item::new("item", "item"));
            }
            visit::length(world, &state)
        })
    }
}

/// Every visit that can happen and what can follow it.
pub(super) struct Routes {
    phases: Vec<PhaseId>,
    after: Vec<Vec<(usize, Way)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Left,
    Rejected,
}

/// What tells two visits apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RouteKey {
    phase: PhaseId,
    item: Option<String>,
    items_done: u32,
    listed: bool,
    back_to: Option<PhaseId>,
    rejections: BTreeMap<PhaseId, u32>,
    proof_returns: u32,
    landing_returns: u32,
}

/// Returns the routes of a run with so many items; `None` when decisions never come to a call, or
/// when there are too many visits to tell apart.
pub(super) fn explore(world: &Workflow, items: usize) -> Option<Routes> {
    let items: Vec<Item> =
        (0..items).map(|it| Item::new(format!("item-{it}"), format!("item {it}"))).collect();
    let mut routes = Routes { phases: Vec::new(), after: Vec::new() };
    let mut known = BTreeMap::new();
    let mut states = Vec::new();
    match onward(world, opened(world), &items) {
        Reached::Rest => return Some(routes),
        Reached::Endless => return None,
        Reached::Call(state) => states.push(plain(*state, &items)),
    }
    known.insert(key(&states[0]), 0);
    while routes.phases.len() < states.len() {
        let state = states[routes.phases.len()].clone();
        let mut after = Vec::new();
        let rejects = world.phases[state.phase].reject.is_some();
        let lands = world.phases[state.phase].exit.as_ref().is_some_and(waits_for_merge);
        let ways = [
            (Way::Left, Verdict::Leave, true),
            (Way::Left, Verdict::Checkpoint(CheckpointKind::Merge), lands),
            (Way::Rejected, Verdict::Reject, rejects),
        ];
        for (way, verdict, _) in ways.into_iter().filter(|it| it.2) {
            let next = match visit::end(world, &state, verdict, &items) {
                Reached::Rest => continue,
                Reached::Endless => return None,
                Reached::Call(next) => plain(*next, &items),
            };
            let node = *known.entry(key(&next)).or_insert(states.len());
            if node == states.len() {
                states.push(next);
            }
            after.push((node, way));
        }
        if MOST_VISITS < states.len() {
            return None;
        }
        routes.phases.push(state.phase);
        routes.after.push(after);
    }
    Some(routes)
}

impl Routes {
    /// Returns the most iterations of a run in the phases that count; `None` when there is no most.
    pub(super) fn longest(
        &self,
        world: &Workflow,
        lengths: &mut Lengths,
        counts: &dyn Fn(PhaseId) -> bool,
    ) -> Option<u64> {
        let (edges, ends) = self.weighed(world, lengths, counts);
        graph::longest(&edges, &ends).map(|it| it.first().copied().unwrap_or(0))
    }

    /// Returns the most iterations in a row in phases of this kind, wherever that begins.
    pub(super) fn longest_stretch(
        &self,
        world: &Workflow,
        lengths: &mut Lengths,
        of: &dyn Fn(PhaseId) -> bool,
    ) -> Option<u64> {
        let (mut edges, ends) = self.weighed(world, lengths, of);
        for (node, edges) in edges.iter_mut().enumerate() {
            edges.retain(|(target, _)| of(self.phases[node]) && of(self.phases[*target]));
        }
        graph::longest(&edges, &ends).map(|it| it.into_iter().max().unwrap_or(0))
    }

    fn weighed(
        &self,
        world: &Workflow,
        lengths: &mut Lengths,
        counts: &dyn Fn(PhaseId) -> bool,
    ) -> (Vec<Vec<Edge>>, Vec<u64>) {
        let lengths: Vec<VisitLength> = (0..world.phases.len()).map(|it| lengths.of(it)).collect();
        let weight = |phase: PhaseId, length: u64| if counts(phase) { length } else { 0 };
        let edges = self.phases.iter().zip(&self.after).map(|(phase, after)| {
            let length = |way: Way| match way {
                Way::Left => lengths[*phase].leave,
                Way::Rejected => lengths[*phase].reject,
            };
            after.iter().map(|(target, way)| (*target, weight(*phase, length(*way)))).collect()
        });
        let ends = self.phases.iter().map(|it| weight(*it, lengths[*it].any)).collect();
        (edges.collect(), ends)
    }
}

/// Whether a phase is left when the work is merged, which can send it back.
fn waits_for_merge(exit: &Condition) -> bool {
    exit.names().iter().any(|(name, _)| *name == FactName::PrMerged.name())
}

/// Forgets what no route depends on. Retries have a total for the whole run and are added up apart;
/// beginning each visit without any failure allows the most.
fn plain(mut state: State, items: &[Item]) -> State {
    state.visit.iteration = 0;
    state.iterations_total = 0;
    state.iterations_counted = 0;
    state.retry.count = 0;
    state.retry.same = 0;
    state.retry.total = 0;
    state.retry.signatures.clear();
    state.retry.class = None;
    state.retry.fix = None;
    state.troubles = Default::default();
    state.warnings.clear();
    state.feedback = None;
    let listed = |id: &str| items.iter().any(|it| it.id == id);
    state.keep_done(listed);
    // What was sent back is an item of its own, named after the iteration.
    if let Some(item) = state.item.as_mut().filter(|it| !listed(&it.id)) {
        item.id = "rework".to_owned();
    }
    state
}

fn key(state: &State) -> RouteKey {
    RouteKey {
        phase: state.phase,
        item: state.item.as_ref().map(|it| it.id.clone()),
        items_done: state.items_done,
        listed: state.listed,
        back_to: state.back_to,
        rejections: state.rejections.clone(),
        proof_returns: state.proof_returns,
        landing_returns: state.landing_returns,
    }
}
