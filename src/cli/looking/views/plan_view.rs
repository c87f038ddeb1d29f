//! What people see of a run that works on a planning folder: plans and tasks in the
//! status, what was asked for as a table, and at the end what there is to know and to do.

use crate::desk::Going;
use crate::measure::planning;
use loop_base::text::counted;
use loop_core::documents::planning::learnings;
use loop_core::engine::{Item, QuestionKind, Requirement, State, Status, models};
use loop_core::facts::FactName;
use loop_core::workflow::model::{ItemSource, MirrorFormat, Workflow};
use loop_store::mirror::planning::{LoopState, RestEdit, failures};
use loop_store::run::Run;
use loop_store::{Home, fold, mirror};
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

/// What a phase consists of: tasks and summaries with whether they are done.
struct PlannedWork(Vec<(Item, bool)>);

impl PlannedWork {
    fn of(home: &Home, run: &str, workflow: &Workflow, state: &State, place: &Path) -> PlannedWork {
        let mut known = state.clone();
        if let Ok(list) = fold::item_list(home, run) {
            known.give_list(list);
        }
        let list = known.item_list();
        let listed: Vec<(Item, bool)> =
            list.iter().flat_map(|it| it.all()).map(|(item, done)| (item.clone(), done)).collect();
        // Before a run has read the plans itself, it is told by what they are now.
        PlannedWork(if listed.is_empty() { planned(workflow, state, place) } else { listed })
    }

    /// A summary is part of its plan and no task of it.
    fn tasks(&self) -> impl Iterator<Item = &(Item, bool)> {
        self.0.iter().filter(|it| !it.0.is_summary())
    }

    /// Returns how many tasks are done, and how many there are.
    fn count(&self) -> (usize, usize) {
        (self.tasks().filter(|it| it.1).count(), self.tasks().count())
    }

    /// Returns how many plans are done, and how many there are.
    fn count_plans(&self) -> (usize, usize) {
        let plans = self.plans();
        (plans.iter().filter(|it| it.1.iter().all(|it| it.1)).count(), plans.len())
    }

    /// Plans in their order, each with what belongs to it.
    fn plans(&self) -> Vec<(String, Vec<&(Item, bool)>)> {
        let mut plans: Vec<(String, Vec<&(Item, bool)>)> = Vec::new();
        for part in &self.0 {
            let plan = part.0.group.clone().unwrap_or_default();
            match plans.iter_mut().find(|it| it.0 == plan) {
                Some(known) => known.1.push(part),
                None => plans.push((plan, vec![part])),
            }
        }
        plans
    }
}

/// The tasks of the plans as they lie there.
fn planned(workflow: &Workflow, state: &State, place: &Path) -> Vec<(Item, bool)> {
    let Some(ItemSource::Plans(folder)) = workflow.items.as_ref().map(|it| &it.from) else {
        return Vec::new();
    };
    // A worktree is made when the run is driven.
    let unmade = state.opening.worktree.as_deref().filter(|_| state.place.is_none());
    let top = unmade.map_or(place, |it| Path::new(&it.root));
    let Ok(phase) = planning::read_phase(top, folder, &[]) else { return Vec::new() };
    let is_done = |it: &Item| state.opening.beginning.done.contains(&it.id);
    planning::items(&phase, folder, None).into_iter().map(|it| (it.clone(), is_done(&it))).collect()
}

fn title(state: &State) -> String {
    state.opening.beginning.title.clone().unwrap_or_else(|| format!("Phase {}", state.opening.input))
}

/// Returns what a run that begins or continues says beyond that of every run: what there is to do, how far it may go,
/// and which models do it.
pub(crate) fn at_start(home: &Home, run: &Run, place: &Path, going: &Going) -> Vec<String> {
    let Run { id, workflow, state, .. } = run;
    if !is_planning(workflow) {
        return Vec::new();
    }
    let work = PlannedWork::of(home, id, workflow, state, place);
    let ((plans_done, plans), (tasks_done, tasks)) = (work.count_plans(), work.count());
    let done = match (plans_done, tasks_done) {
        (0, 0) => format!("{}, {}", counted(plans, "plan"), counted(tasks, "task")),
        _ => format!("{plans_done}/{plans} plans and {tasks_done}/{tasks} tasks done"),
    };
    let used = state.iterations_numbered();
    let forgiven = if going.reset { used } else { state.iterations_forgiven };
    let most = going.most.or(state.iterations_limit(workflow)).map(|it| it + forgiven);
    let most = most.map(|it| match used {
        0 => format!(", at most {}", counted(it, "iteration")),
        used => format!(", {used} of at most {} used", counted(it, "iteration")),
    });
    let mut lines = vec![format!("{}: {done}{}", title(state), most.unwrap_or_default())];
    let asked: Vec<String> = models(workflow, state)
        .into_iter()
        .filter_map(|(role, model)| model.map(|model| format!("{role} {model}")))
        .collect();
    if !asked.is_empty() {
        lines.push(format!("models: {}", asked.join(", ")));
    }
    lines
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
    let work = PlannedWork::of(home, run, workflow, state, place);
    let ((plans_done, plans), (tasks_done, tasks)) = (work.count_plans(), work.count());
    let _ = writeln!(out, "  plans       {plans_done}/{plans} done");
    let _ = writeln!(out, "  tasks       {tasks_done}/{tasks} done");
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
    if home.holder(run).is_none()
        && let Some(told) = mirror::rest_edit(home, run, workflow, place).and_then(RestEdit::told)
    {
        let _ = writeln!(out, "  {told}");
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
    let title = title(state);
    let work = PlannedWork::of(home, run, workflow, state, place);
    let plans = work.plans();
    match Status::of(state) {
        Status::Completed => {
            // The proof and the next phase have lines of their own.
            let verdict = match state.visit.metrics.get(FactName::Verdict.name()).map(|it| &it.value) {
                Some(loop_base::value::Value::Text(word)) => Some(word.as_str()),
                Some(_) | None => None,
            };
            let last = state.next_run.is_none().then_some("; no phase follows in ROADMAP.md");
            let mut lines = vec![format!(
                "{title}: complete in {}, {}; verification: {}{}",
                counted(state.iterations_numbered(), "iteration"),
                counted(plans.len(), "plan"),
                verdict.unwrap_or("none"),
                last.unwrap_or_default()
            )];
            lines.extend(open_rows(state));
            lines
        }
        Status::Halted => stuck(workflow, state, place, &title),
        Status::Capped => {
            let open = plans.iter().filter(|it| it.1.iter().any(|it| !it.1));
            let (done, all) = work.count();
            let mut lines = vec![format!("{title}: {done} of {} done", counted(all, "task"))];
            lines.extend(open.map(|(plan, parts)| format!("open in {plan}: {}", named(parts))));
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

/// Rows of a completed phase that nothing shows to be met, and how a person closes them.
fn open_rows(state: &State) -> Option<String> {
    let open: Vec<&str> =
        state.requirements.iter().filter(|it| it.by.is_none()).map(|it| it.id.as_str()).collect();
    let first = open.first()?;
    Some(format!(
        "open: {} (loop show --requirements); once you have looked: loop waive {first} --reason TEXT",
        open.join(", ")
    ))
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
        "1. read the reason above, 2. see whether .planning/LEARNINGS.md has it".to_owned(),
        "3. fix the cause: code, tests or plan".to_owned(),
        format!("4. reset: {reset}, or write Status: running into .planning/LOOP-STATE.md"),
        format!("5. continue: loop run {}", state.opening.input),
    ]);
    lines
}
