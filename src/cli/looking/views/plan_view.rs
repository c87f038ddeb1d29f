//! What people see of a run that works on a planning folder: plans and tasks in the
//! status, what was asked for as a table, and at the end what there is to know and to do.

use crate::measure::planning;
use loop_base::text::counted;
use loop_core::documents::planning::learnings;
use loop_core::engine::{Item, QuestionKind, Requirement, State, Status};
use loop_core::facts::FactName;
use loop_core::workflow::model::{MirrorFormat, Workflow};
use loop_store::mirror::planning::{LoopState, failures};
use loop_store::{Home, fold};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

const LEARNINGS: &str = ".planning/LEARNINGS.md";

/// Rows of the table of progress that a status shows.
const ROWS_SHOWN: usize = 5;

/// Issues that a halt shows.
const ISSUES_SHOWN: usize = 3;

/// Notes on the last iteration that a halt shows.
const NOTES_SHOWN: usize = 1;

/// Tasks of one plan that are named.
const TASKS_NAMED: usize = 5;

/// Returns the rows of what was asked for, for programs.
pub(crate) fn requirements_json(state: &State) -> Vec<Value> {
    let row = |it: &Requirement| {
        json!({
            "id": it.id, "text": it.text, "task": it.task, "commit": it.commit, "evidence": it.evidence,
            "by": it.by.map(|it| it.word()), "standing": it.standing(),
        })
    };
    state.requirements.iter().map(row).collect()
}

/// Returns the rows of what was asked for, as a table; nothing where nothing was.
pub(crate) fn requirements_table(state: &State) -> Option<String> {
    if state.requirements.is_empty() {
        return None;
    }
    let cell = |it: Option<&str>| {
        it.unwrap_or("-").replace('|', "/").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut out =
        "| Id | Requirement | Task | Commit | Evidence | By | Standing |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for it in &state.requirements {
        let commit = it.commit.as_deref().map(|it| it.get(..7).unwrap_or(it));
        let cells = [
            cell(Some(&it.id)),
            cell(Some(&it.text)),
            cell(it.task.as_deref()),
            cell(commit),
            cell(it.evidence.as_deref()),
            cell(it.by.map(|it| it.word())),
            it.standing().to_owned(),
        ];
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    Some(out)
}

fn is_planning(workflow: &Workflow) -> bool {
    workflow.mirror.format == Some(MirrorFormat::Planning)
}

/// Returns every task with whether it is done.
fn tasks(home: &Home, run: &str, state: &State) -> Vec<(Item, bool)> {
    let mut state = state.clone();
    if let Ok(list) = fold::item_list(home, run) {
        state.give_list(list);
    }
    // A summary is part of its plan and no task of it.
    let is_task = |it: &(&Item, bool)| !it.0.is_summary();
    state
        .item_list()
        .map(|it| it.all().filter(is_task).map(|(item, done)| (item.clone(), done)).collect())
        .unwrap_or_default()
}

/// Plans in their order, each with its tasks.
fn plans(tasks: &[(Item, bool)]) -> Vec<(String, Vec<&(Item, bool)>)> {
    let mut plans: Vec<(String, Vec<&(Item, bool)>)> = Vec::new();
    for task in tasks {
        let plan = task.0.group.clone().unwrap_or_default();
        match plans.iter_mut().find(|it| it.0 == plan) {
            Some(known) => known.1.push(task),
            None => plans.push((plan, vec![task])),
        }
    }
    plans
}

fn threshold(workflow: &Workflow) -> String {
    let phase = workflow.phases.iter().find(|it| it.each.is_some());
    phase.and_then(|it| it.breaker.failures).map_or("-".to_owned(), |it| it.to_string())
}

/// Returns the lines of a status beyond those of every run.
pub(crate) fn status(home: &Home, run: &str, workflow: &Workflow, state: &State, place: &Path) -> String {
    let mut out = String::new();
    if !is_planning(workflow) {
        return out;
    }
    let tasks = tasks(home, run, state);
    let plans = plans(&tasks);
    let plans_done = plans.iter().filter(|it| it.1.iter().all(|it| it.1)).count();
    let tasks_done = tasks.iter().filter(|it| it.1).count();
    let _ = writeln!(out, "  plans       {plans_done}/{} done", plans.len());
    let _ = writeln!(out, "  tasks       {tasks_done}/{} done", tasks.len());
    let _ = writeln!(out, "  failures    {}/{}", failures(workflow, state), threshold(workflow));
    if !state.requirements.is_empty() {
        let open = state.requirements.iter().filter(|it| it.is_open()).count();
        let _ = writeln!(
            out,
            "  required    {}/{} shown; loop show --requirements",
            state.requirements.len() - open,
            state.requirements.len()
        );
    }
    if let Ok(Some(mirror)) = LoopState::open(home, run, workflow, place) {
        for row in mirror.last_rows(ROWS_SHOWN) {
            let _ = writeln!(out, "    {row}");
        }
    }
    if let Some(text) = planning::document(place, LEARNINGS) {
        let entries = learnings::entries(&text);
        let _ = writeln!(
            out,
            "  learnings   {}, {}, {}, {}, {}",
            counted(text.lines().count(), "line"),
            counted(entries.patterns, "pattern"),
            counted(entries.constraints, "constraint"),
            counted(entries.decisions, "decision"),
            counted(entries.issues, "issue")
        );
    }
    out
}

/// Returns what the end of a run says beyond that of every run: completed, stuck, or at its cap.
pub(crate) fn at_end(
    home: &Home,
    run: &str,
    workflow: &Workflow,
    state: &State,
    place: &Path,
) -> Vec<String> {
    if !is_planning(workflow) {
        return Vec::new();
    }
    let title =
        state.opening.beginning.title.clone().unwrap_or_else(|| format!("Phase {}", state.opening.input));
    let tasks = tasks(home, run, state);
    let plans = plans(&tasks);
    match Status::of(state) {
        Status::Completed => {
            // The proof and the next phase have lines of their own.
            let verdict = match state.visit.metrics.get(FactName::Verdict.name()).map(|it| &it.value) {
                Some(loop_base::value::Value::Text(word)) => Some(word.as_str()),
                Some(_) | None => None,
            };
            let last = state.next_run.is_none().then_some("; no phase follows in ROADMAP.md");
            vec![format!(
                "{title}: complete in {}, {}; verification: {}{}",
                counted(state.iterations_numbered(), "iteration"),
                counted(plans.len(), "plan"),
                verdict.unwrap_or("none"),
                last.unwrap_or_default()
            )]
        }
        Status::Halted => stuck(workflow, state, place, &title),
        Status::Capped => {
            let open = plans.iter().filter(|it| it.1.iter().any(|it| !it.1));
            let mut lines = vec![format!(
                "{title}: {} of {} done",
                tasks.iter().filter(|it| it.1).count(),
                counted(tasks.len(), "task")
            )];
            lines.extend(open.map(|(plan, tasks)| format!("open in {plan}: {}", named(tasks))));
            lines
        }
        Status::Ready
        | Status::Running
        | Status::Waiting
        | Status::Paused
        | Status::Stopped
        | Status::Cancelled => Vec::new(),
    }
}

fn named(tasks: &[&(Item, bool)]) -> String {
    let open: Vec<&str> = tasks.iter().filter(|it| !it.1).map(|it| it.0.name.as_str()).collect();
    let more = open.len().saturating_sub(TASKS_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", open[..open.len().min(TASKS_NAMED)].join("; "))
}

fn stuck(workflow: &Workflow, state: &State, place: &Path, title: &str) -> Vec<String> {
    let mut lines = vec![format!(
        "{title}, iteration {}, failures in a row: {}/{}",
        state.iterations_numbered(),
        failures(workflow, state),
        threshold(workflow)
    )];
    let notes = state.feedback.iter().flat_map(|it| &it.notes).take(NOTES_SHOWN);
    lines.extend(notes.map(|it| format!("noted: {it}")));
    let issues = planning::document(place, LEARNINGS).map(|it| learnings::last_issues(&it, ISSUES_SHOWN));
    lines.extend(issues.unwrap_or_default().into_iter().map(|it| format!("issue in LEARNINGS.md: {it}")));
    let is_breaker = state.question().is_some_and(|it| it.kind == QuestionKind::Breaker);
    let reset = if is_breaker { "loop answer reset" } else { "loop resume --reset" };
    lines.extend([
        "1. read the reason above, 2. look for what is known about it in .planning/LEARNINGS.md".to_owned(),
        "3. fix the cause: code, tests or plan".to_owned(),
        format!("4. reset: {reset}, or write Status: running into .planning/LOOP-STATE.md"),
        format!("5. continue: loop run {}", state.opening.input),
    ]);
    lines
}
