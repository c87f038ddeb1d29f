//! `qa-report-N.md`: what the reviewer found, for the person who is asked when the attempts are used
//! up. The numbers are the reviewer's own claims unless a check brought them, and the text says so.

use super::block::{one_line, plain, reported, verdict};
use loop_base::time::Timestamp;
use loop_core::engine::{JudgedTurn, Source, State, review_attempt};
use loop_core::facts::{FactName, Supplier};
use loop_core::workflow::model::Workflow;
use std::fmt::Write;

pub(super) fn text(workflow: &Workflow, state: &State, at: Timestamp, turn: &JudgedTurn) -> String {
    let judgement = &turn.judgement;
    let (attempt, most) = review_attempt(workflow, state, turn.call.phase);
    let model = |name: Option<&String>| name.map_or_else(|| "unknown".to_owned(), Clone::clone);
    let implementer =
        workflow.phases[turn.call.phase].reject.as_ref().and_then(|it| state.models.get(&it.go));
    let mut out = String::new();
    let _ = writeln!(out, "# QA report: {}\n", feature(&state.opening.input));
    let _ = writeln!(out, "- PRP: {}", one_line(&state.opening.input));
    let _ = writeln!(out, "- time: {at}");
    let _ = writeln!(out, "- attempt: {attempt} of {most}");
    // The model that answered, as the agent named it; else the one that was asked for.
    let reviewer = state.models.get(&turn.call.phase).or(turn.call.model.as_ref());
    let _ = writeln!(out, "- reviewer: {}", model(reviewer));
    let _ = writeln!(out, "- implementer: {}", model(implementer));
    let _ = writeln!(out, "\n## Verdict\n\n{}", verdict(turn.verdict()));
    let _ = writeln!(out, "\n## Metrics\n\n| metric | value | source |\n|---|---|---|");
    for (name, metric) in judgement.metrics.iter().filter(|it| is_about_review(it.0)) {
        let source = match metric.source {
            Source::Measured => "measured",
            Source::Engine => "engine",
            Source::Claimed => "claimed",
        };
        let value = plain(&metric.value).replace('|', "\\|");
        let _ = writeln!(out, "| {} | {value} | {source} |", one_line(name));
    }
    let mut blocking = turn.report.blockers.clone();
    if let (true, Some(count @ 1..)) = (blocking.is_empty(), reported(turn, "blocking_issues")) {
        blocking.push(format!("{count}, as the reviewer counts; the end of the message says which"));
    }
    list(&mut out, "Blocking issues", &blocking);
    list(&mut out, "Noted", &judgement.notes);
    let recommendation: Vec<String> = turn.report.summary.clone().into_iter().collect();
    list(&mut out, "Recommendation", &recommendation);
    if !turn.tail.trim().is_empty() {
        let _ = writeln!(out, "\n## The end of the reviewer's message\n");
        for line in turn.tail.lines() {
            let _ = writeln!(out, "    {}", one_line_keeping_indent(line));
        }
    }
    out
}

/// Whether a value is the reviewer's, or that of a check. What is known about the tree and the run decides what
/// comes next, and says nothing about the review.
fn is_about_review(name: &str) -> bool {
    FactName::named(name).is_none_or(|it| match it.row().supplier {
        Supplier::Report | Supplier::Checks | Supplier::TestCounts => true,
        Supplier::Engine
        | Supplier::World
        | Supplier::WorldUnnamed
        | Supplier::Opening
        | Supplier::Items
        | Supplier::Patterns => false,
    })
}

fn list(out: &mut String, title: &str, lines: &[String]) {
    let _ = writeln!(out, "\n## {title}\n");
    for line in lines {
        let _ = writeln!(out, "- {}", one_line(line));
    }
    if lines.is_empty() {
        let _ = writeln!(out, "none");
    }
}

fn feature(input: &str) -> String {
    let name = input.rsplit('/').next().unwrap_or(input);
    one_line(name.strip_suffix(".md").unwrap_or(name))
}

fn one_line_keeping_indent(line: &str) -> String {
    line.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}
