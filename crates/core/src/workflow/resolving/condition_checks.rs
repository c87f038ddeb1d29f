//! The conditions of a phase, held against what is known there: names that nothing supplies, values of
//! unlike kinds, and conditions that can never come true, each with the most likely way out.

use super::context::{Defaults, FOUND_CHECKS, Resolver};
use super::names::{self, NameKinds};
use crate::workflow::grammar::condition::{Condition, Truth};
use crate::workflow::grammar::problem::{Place, nearest};
use crate::workflow::model::Protocol;

use super::sections::entries;
use crate::facts::FactName;
use crate::workflow::syntax::typed::At;
use loop_base::text::counted;
use loop_base::value::ValueKind;

/// Reports what a condition names or compares wrongly, and a condition that is never true.
pub(crate) fn condition(context: &mut Resolver<'_>, condition: &At<Condition>, names: &NameKinds) {
    let At { value, place } = condition;
    let unknown = value.names().into_iter().filter(|(name, _)| !names.contains_key(*name));
    for (name, at) in unknown {
        let place = context.sources.inside(place, value.source(), &at);
        unsupplied(context, name, &place, names);
    }
    for mistake in value.check(&|it| names.get(it).copied().or(Some(ValueKind::Any))) {
        let place = context.sources.inside(place, value.source(), &mistake.at);
        context.sources.refuse(&place, mistake.says);
    }
    if value.names().is_empty() && value.truth(&|_| None) == Truth::False {
        context.sources.refuse(place, "this condition is never true");
    }
}

/// Reports a condition that its numbers keep from ever being true.
pub(crate) fn possible(
    context: &mut Resolver<'_>,
    defaults: &Defaults,
    condition: &At<Condition>,
    checks: &[String],
    cap: u32,
) {
    let At { value, place } = condition;
    let span = |name: &str| match FactName::named(name) {
        Some(FactName::Iteration) => Some((1.0, f64::from(cap))),
        Some(_) | None => names::is_count(name, checks).then_some((0.0, f64::INFINITY)),
    };
    if !value.names().is_empty()
        && let Some(at) = value.impossible(&span)
    {
        let part = value.source()[at.clone()].to_owned();
        let place = context.sources.inside(place, value.source(), &at);
        let (says, next) = if part.contains(FactName::Iteration.name()) {
            let next = "ask for fewer, or raise iterations of the phase or limits.phase_iterations";
            (format!("never true: a visit to this phase has at most {}", counted(cap, "iteration")), next)
        } else {
            ("never true: a count is not below 0".to_owned(), "ask for a number that can be counted")
        };
        context.sources.refuse_with(&place, says, next);
    }
    for (name, at) in value.names() {
        if names::is_of_input(name) && !defaults.takes_input {
            let place = context.sources.inside(place, value.source(), &at);
            let says = format!("nothing supplies \"{name}\": the workflow takes no input");
            context.sources.refuse_with(&place, says, "write input = { kind = \"file\" }");
        }
    }
}

/// Reports a verdict that the phase's report never brings like that.
pub(crate) fn verdicts(context: &mut Resolver<'_>, condition: &At<Condition>, report: &Protocol) {
    match report {
        Protocol::Json | Protocol::PrpStatus => {}
        Protocol::ExitSignal | Protocol::Promise | Protocol::Frontmatter(_) | Protocol::None => return,
    }
    for (text, at) in condition.value.texts_of(FactName::Verdict.name()) {
        let capitals = text.to_ascii_uppercase();
        if text != capitals {
            let place = context.sources.inside(&condition.place, condition.value.source(), &at);
            let says = "the verdict of this report is always in capitals, however the agent writes it";
            context.sources.refuse_with(&place, says, format!("write \"{capitals}\""));
        }
    }
}

/// Reports a name that would be unknown forever, with the most likely way out.
pub(crate) fn unsupplied(context: &mut Resolver<'_>, name: &str, place: &Place, names: &NameKinds) {
    let checks = entries(&context.merged.file.checks).map(|(name, _)| name.as_str()).chain(FOUND_CHECKS);
    let mut checks = checks.filter(|it| names::is_of_check(name, it));
    let next = if let Some(check) = checks.next() {
        format!("add \"{check}\" to the checks of this phase")
    } else if names::is_of_items(name) {
        "write a section [items]".to_owned()
    } else if let Some(near) = nearest(name, names.keys().map(String::as_str)) {
        format!("did you mean \"{near}\"?")
    } else {
        format!("if the agent's report contains it, write claims = [\"{name}\"]")
    };
    context.sources.refuse_with(place, format!("nothing supplies \"{name}\" in this phase"), next);
}
