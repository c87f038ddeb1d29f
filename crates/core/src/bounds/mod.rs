//! That a workflow ends, and after how many agent calls at most. The engine itself is explored, with a
//! world in which every call may come to anything: it leaves, continues with or without progress, fails
//! with the same or another error, rejects, is stuck. What is shown is that such a run stops
//! without a person, and a number that its iterations cannot exceed; the number may be too high (not
//! every behaviour is possible in every phase), never too low.
//!
//! Two levels keep it small. Within one visit to a phase, iterations are counted apart from everything
//! else (`visit.rs`). Between visits, what the engine remembers is the phase, the items, the rejections
//! and the way back (`route.rs`); the longest path through those is the bound.
//!
//! Left out on purpose, each said in words: calls that a provider refuses (they do no work and are made
//! again after a wait), calls that never start, and everything that a person does.

mod graph;
mod route;
mod visit;
mod world;

use crate::workflow::model::{ItemSource, RejectThen, Workflow};
use loop_base::text::counted;
use route::Lengths;
use serde::Serialize;

/// What is known about every run of a workflow before it begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkflowBounds {
    /// Whatever the agents do, the run ends or stops.
    pub ends: bool,
    pub calls: Bound,
    /// What the bound stands on, in sentences.
    pub why: Vec<String>,
}

/// The most agent calls before a run ends or needs a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    AtMost(u64),
    /// So many, and so many more for each item that is ever listed.
    PerItem {
        once: u64,
        each: u64,
    },
    Unknown,
}

impl Bound {
    /// Returns the bound for a run with this many items.
    pub fn calls(&self, items: u64) -> Option<u64> {
        match self {
            Bound::AtMost(calls) => Some(*calls),
            Bound::PerItem { once, each } => Some(once.saturating_add(each.saturating_mul(items))),
            Bound::Unknown => None,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::AtMost(1) => write!(f, "at most 1 agent call"),
            Bound::AtMost(calls) => write!(f, "at most {calls} agent calls"),
            Bound::PerItem { once, each } => {
                write!(f, "at most {once} agent calls, and {each} for each item")
            }
            Bound::Unknown => write!(f, "no bound on the agent calls is known"),
        }
    }
}

/// Numbers of items for which the routes are explored. A body is the same for every item, so the
/// bound grows by the same amount with each; three steps show that it does.
const ITEMS_TRIED: std::ops::RangeInclusive<usize> = 0..=3;

/// Explores every way that a run of the workflow can take.
pub fn explore(workflow: &Workflow) -> WorkflowBounds {
    let world = world::abstracted(workflow);
    let mut lengths = Lengths::new(&world);
    let (ends, calls) = bound(workflow, &world, &mut lengths);
    WorkflowBounds { ends, calls, why: reasons(workflow, &mut lengths, ends) }
}

fn bound(workflow: &Workflow, world: &Workflow, lengths: &mut Lengths) -> (bool, Bound) {
    let tried: Vec<usize> = if workflow.items.is_some() { ITEMS_TRIED.collect() } else { vec![0] };
    let mut totals = Vec::new();
    let mut uncounted = Vec::new();
    let mut stretches = Vec::new();
    for items in tried {
        let Some(routes) = route::explore(world, items) else { return (false, Bound::Unknown) };
        totals.push(routes.longest(world, lengths, &|_| true));
        uncounted.push(routes.longest(world, lengths, &|phase| !world.phases[phase].counted));
        stretches.push(routes.longest_stretch(world, lengths, &|phase| !world.phases[phase].counted));
    }
    let total = all(&totals).map_or(Bound::Unknown, |it| line(&it, failures(workflow, lengths, |_| true)));
    let known_items = match workflow.items.as_ref().map(|it| &it.from) {
        None => Some(0),
        Some(ItemSource::List(names)) => Some(names.len() as u64),
        Some(_) => None,
    };
    let total = match known_items {
        Some(items) => total.calls(items).map_or(Bound::Unknown, Bound::AtMost),
        None => total,
    };
    let Some(most) = workflow.limits.iterations.map(u64::from) else {
        return (total != Bound::Unknown, total);
    };
    let apart = failures(workflow, lengths, |phase| !world.phases[phase].counted);
    let capped = match (all(&uncounted), all(&stretches)) {
        (Some(uncounted), _) => line(&uncounted, apart + most),
        // Every round passes a phase that counts, so there are at most as many rounds as iterations.
        (None, Some(stretches)) => {
            let rounds: Vec<u64> = stretches.iter().map(|it| it.saturating_mul(most + 1)).collect();
            line(&rounds, apart + most)
        }
        (None, None) => Bound::Unknown,
    };
    let capped = match known_items.and_then(|items| capped.calls(items)) {
        Some(calls) => Bound::AtMost(calls),
        None => capped,
    };
    let best = smaller(total, capped);
    (best != Bound::Unknown, best)
}

fn all(lengths: &[Option<u64>]) -> Option<Vec<u64>> {
    lengths.iter().copied().collect()
}

/// Returns the line above the bounds for 0, 1, 2 and 3 items, or that there is none.
fn line(lengths: &[u64], more: u64) -> Bound {
    let Some(first) = lengths.first() else { return Bound::Unknown };
    let steps: Vec<u64> = lengths.windows(2).map(|it| it[1].saturating_sub(it[0])).collect();
    // The first item may bring more with it than the others do; they must all bring the same.
    if steps.iter().skip(1).any(|it| Some(it) != steps.last()) {
        return Bound::Unknown;
    }
    match steps.into_iter().max().unwrap_or(0) {
        0 => Bound::AtMost(first.saturating_add(more)),
        each => Bound::PerItem { once: first.saturating_add(more), each },
    }
}

fn smaller(one: Bound, other: Bound) -> Bound {
    match (one, other) {
        (Bound::Unknown, it) | (it, Bound::Unknown) => it,
        (Bound::AtMost(one), Bound::AtMost(other)) => Bound::AtMost(one.min(other)),
        (it @ Bound::AtMost(_), Bound::PerItem { .. }) | (Bound::PerItem { .. }, it @ Bound::AtMost(_)) => it,
        (Bound::PerItem { once: a, each: b }, Bound::PerItem { once: c, each: d }) => {
            if (b, a) <= (d, c) {
                one
            } else {
                other
            }
        }
    }
}

/// What failures that are tried again can add in all: `total` of them, each with what it brings.
fn failures(workflow: &Workflow, lengths: &mut Lengths, of: impl Fn(usize) -> bool) -> u64 {
    let Some(rules) = &workflow.retries else { return 0 };
    let phases = (0..workflow.phases.len()).filter(|it| workflow.phases[*it].retries && of(*it));
    let worst = phases.map(|it| lengths.of(it).each_failure).max().unwrap_or(0);
    worst.saturating_mul(u64::from(rules.total))
}

fn reasons(workflow: &Workflow, lengths: &mut Lengths, ends: bool) -> Vec<String> {
    let mut why = Vec::new();
    let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    for (id, phase) in workflow.phases.iter().enumerate() {
        let length = lengths.of(id);
        let by = if length.by_cap { "its cap" } else { "its skills and its breaker" };
        why.push(format!("{}: at most {} in a visit, by {by}", phase.name, calls(length.any)));
        if let Some(reject) = &phase.reject {
            let then = match reject.then {
                RejectThen::Ask => "a person is asked",
                RejectThen::Halt => "the run halts",
            };
            let go = &workflow.phases[reject.go].name;
            let often = times(u64::from(reject.at_most));
            why.push(format!(
                "{} sends back to {go} at most {often} before it passes, then {then}",
                phase.name
            ));
        }
    }
    if let Some(most) = workflow.limits.iterations {
        let free: Vec<&str> =
            workflow.phases.iter().filter(|it| !it.counted).map(|it| it.name.as_str()).collect();
        let but = if free.is_empty() { String::new() } else { format!(", {} aside", free.join(" and ")) };
        why.push(format!("the run has at most {}{but}", counted(most, "iteration")));
    }
    if let Some(rules) = &workflow.retries {
        let phases = (0..workflow.phases.len()).filter(|it| workflow.phases[*it].retries);
        let each = phases.map(|it| lengths.of(it).each_failure).max().unwrap_or(0);
        why.push(format!(
            "a failure that is tried again adds at most {}, and failure number {} of a run is not tried again",
            calls(each),
            rules.total
        ));
    }
    if let Some(items) = &workflow.items {
        match &items.from {
            ItemSource::List(names) => {
                why.push(format!("the list has {} of \"{}\"", names.len(), items.name))
            }
            ItemSource::Json { .. }
            | ItemSource::Plans(_)
            | ItemSource::Queue(_)
            | ItemSource::Command(_) => {
                let name = &items.name;
                why.push(format!(
                    "how many items of \"{name}\" there are is known only when the list is read"
                ));
            }
        }
    }
    if let Some(window) = &workflow.limits.window {
        let every = loop_base::time::length(window.every);
        why.push(format!("no more than {} go out in {every}", calls(u64::from(window.calls))));
    }
    let limits = &workflow.limits;
    for (most, of) in [(limits.usd, ""), (limits.phase_usd, " by its phase"), (limits.day_usd, " on its day")]
    {
        let Some(usd) = most else { continue };
        why.push(format!("no call goes out once ${usd:.2} are spent{of}; the one before may exceed it"));
    }
    if let Some(tokens) = workflow.limits.tokens {
        why.push(format!("no call goes out once {tokens} tokens are spent; the one before may exceed it"));
    }
    if let Some(time) = workflow.limits.time {
        why.push(format!("no call goes out after {} of work", loop_base::time::length(time)));
    }
    why.push(format!(
        "calls that the provider refuses are repeated after a wait ({} unless it names a time) and are not \
         counted here",
        loop_base::time::length(workflow.limits.provider_wait)
    ));
    if !ends {
        why.push(
            "routes back can follow each other forever; only limits.iterations would end that".to_owned(),
        );
    }
    why
}

fn calls(count: u64) -> String {
    counted(count, "call")
}
