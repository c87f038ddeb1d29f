//! What phases have to do with each other: who counts the tests, bodies that repeat over items, and
//! whether every way leads somewhere.

use crate::proof::CountFormat;
use crate::workflow::grammar::problem::Place;
use crate::workflow::model::routes;
use crate::workflow::model::{Check, Gate, Items, Phase, PhaseId};
use crate::workflow::resolving::context::Resolver;
use crate::workflow::resolving::names::{self};
use crate::workflow::syntax::phase_file::PhaseFile;
use crate::workflow::syntax::typed::At;
use std::collections::BTreeMap;

/// Makes the checks count whose counts a condition of the phase needs.
pub(super) fn count_tests(
    context: &mut Resolver<'_>,
    file: &PhaseFile,
    phase: &Phase,
    checks: &mut BTreeMap<String, Check>,
) {
    let rejects = file.reject.iter().filter_map(|it| it.value.when.as_ref());
    for at in file.exit.iter().chain(rejects) {
        for (name, span) in at.value.names() {
            let own = names::counted_check(name, &phase.checks).cloned();
            let counting: Vec<String> = if own.is_some() {
                own.into_iter().collect()
            } else if names::counts_tests(name) {
                counting_checks(&phase.checks, checks)
            } else {
                continue;
            };
            // Without any check the report's own numbers are meant, which a run refuses unless it was
            // told to take the agent's word.
            if counting.is_empty() && !phase.checks.is_empty() && !phase.claims.iter().any(|it| it == name) {
                let place = context.sources.inside(&at.place, at.value.source(), &span);
                let says = format!("no check of this phase counts tests for \"{name}\"");
                context.sources.refuse_with(&place, says, "add \"tests\" to its checks");
            }
            for check in &counting {
                if let Some(check) = checks.get_mut(check) {
                    check.must_count = true;
                    check.counts.get_or_insert(CountFormat::Auto);
                }
            }
        }
    }
}

/// Returns the checks that tests are counted from: those that say so, else `tests`, else the only one
/// that can be meant.
fn counting_checks(own: &[String], checks: &BTreeMap<String, Check>) -> Vec<String> {
    let counts = |it: &&String| checks.get(*it).is_some_and(|it| it.counts.is_some());
    let saying: Vec<String> = own.iter().filter(counts).cloned().collect();
    if !saying.is_empty() {
        return saying;
    }
    let uncounted = ["build", "lint", "types", "integration", "security", "perf"];
    let others: Vec<String> = own.iter().filter(|it| !uncounted.contains(&it.as_str())).cloned().collect();
    if others.len() == 1 { others } else { Vec::new() }
}

/// Reports phases of one body that do not stand together, and items that nobody repeats over.
pub(super) fn check_bodies(context: &mut Resolver<'_>, items: Option<&Items>) {
    let files = &context.merged.phases;
    let mut ended = false;
    let mut inside = false;
    for file in files {
        match &file.value.each {
            Some(each) if ended => {
                let says =
                    "phases that share their items must follow each other, but another one is in between";
                context.sources.refuse(&each.place, says);
            }
            Some(_) => inside = true,
            None => ended = inside,
        }
    }
    if let (Some(items), false, Some(section)) = (items, inside, &context.merged.file.items) {
        let says = "no phase repeats over these items";
        let next = format!("write each = \"{}\" in a phase", items.name);
        context.sources.refuse_with(&section.place, says, next);
    }
}

pub(super) fn check_routes(context: &mut Resolver<'_>, phases: &[Phase], gates: &BTreeMap<String, At<Gate>>) {
    let merged = context.merged;
    let place = |id: PhaseId, file: fn(&PhaseFile) -> Option<&Place>| {
        file(&merged.phases[id].value).unwrap_or(&merged.phases[id].place)
    };
    for circle in routes::circles(phases) {
        let mut names: Vec<&str> = circle.iter().map(|it| phases[*it].name.as_str()).collect();
        names.push(names[0]);
        let last = circle[circle.len() - 1];
        context.sources.refuse_with(
            place(last, |it| it.next.as_ref().map(|it| &it.place)),
            format!("{} repeats forever", names.join(" -> ")),
            "go back with reject = { when, go, at_most }, or leave with next = \"done\"",
        );
    }
    let gates = gates.iter().map(|(name, it)| (name.clone(), it.value.clone())).collect();
    for id in routes::unreachable(phases, &gates) {
        context.sources.refuse_with(
            place(id, |it| it.name.as_ref().map(|it| &it.place)),
            format!("phase \"{}\" is never reached", phases[id].name),
            "lead to it with next or reject, or take it out",
        );
    }
}
