//! A run as a Markdown report, printed by `loop show`: only what was measured, and what is open now.

use crate::cli::hint;
use crate::cli::looking::views::{cost, plan_view, progress};
use crate::cli::terminal::time_taken;
use crate::tree::git::Git;
use crate::tree::git_text::is_object_id;
use loop_base::text::counted;
use loop_base::time::took;
use loop_core::engine::{Effect, Ended, Ending, Event, History, PhaseStatus, State, Status, Verdict};
use loop_core::event_line::{iteration_words, results};
use loop_core::workflow::model::Workflow;
use loop_store::Home;
use std::fmt::Write;
use std::path::Path;

/// Returns the report of a run with its calls and commits.
pub(crate) fn whole(
    home: &Home,
    id: &str,
    place: &Path,
    workflow: &Workflow,
    state: &State,
) -> anyhow::Result<String> {
    let told = BeyondState {
        calls: calls(home, id, workflow)?,
        commits: commits(place, state),
        past: progress::past(home, id, workflow, state),
        next: hint::next_step(home, id, workflow, state)?,
    };
    Ok(markdown(id, workflow, state, &told))
}

/// What a report tells beyond the state of its run.
#[derive(Default)]
struct BeyondState {
    calls: Vec<String>,
    commits: Vec<String>,
    /// Of a run that is completed.
    past: Option<History>,
    next: String,
}

fn markdown(id: &str, workflow: &Workflow, state: &State, told: &BeyondState) -> String {
    let mut out = String::new();
    headline(&mut out, id, workflow, state, told.past.as_ref());
    phases(&mut out, workflow, state, told.past.as_ref());
    if let Some(table) = plan_view::requirements_table(state) {
        let _ = writeln!(out, "\n## Requirements\n\n{}", table.trim_end());
    }
    checks(&mut out, workflow, state);
    for (title, lines) in [("Commits", &told.commits), ("Calls", &told.calls)] {
        listed(&mut out, title, lines);
    }
    open(&mut out, state);
    // What is completed needs no step more, and this is the report that the step would be.
    if Status::of(state) != Status::Completed {
        let before = hint::before_next(state, &out).map(|it| format!("{it}\n")).unwrap_or_default();
        let _ = writeln!(out, "\n{before}next: {}", told.next);
    }
    out
}

/// Which run it is, how it stands, and what it cost.
fn headline(out: &mut String, id: &str, workflow: &Workflow, state: &State, past: Option<&History>) {
    let status = Status::of(state);
    let verified = if state.is_called_unverified() { " (unverified)" } else { "" };
    let _ = writeln!(out, "# {}: {}{verified}\n", workflow.name, status.word());
    let _ = writeln!(out, "- run: {}", &id[..8]);
    let _ = writeln!(out, "- input: {}", state.opening.input.lines().next().unwrap_or(""));
    let cost = state.shown_proof(workflow).map_or(0.0, |it| it.cost_s);
    let cost = if cost == 0.0 {
        String::new()
    } else {
        format!(" (the proof took {cost:.1} s after the last call)")
    };
    let proof = state.closing(workflow);
    if proof.is_none() || status != Status::Completed {
        let _ = writeln!(out, "- reason: {}", state.reason(workflow));
    }
    if let Some(proof) = proof {
        let _ = writeln!(out, "- proof: {proof}{cost}");
    }
    if let (Some(worktree), Some(place)) = (&state.opening.worktree, &state.place) {
        let _ = writeln!(out, "- branch: {}", worktree.branch);
        let _ = writeln!(out, "- worktree: {place}");
    }
    let _ = writeln!(out, "- iterations: {}, calls: {}", state.iterations_told(workflow), state.calls_total);
    let _ = writeln!(out, "- took: {}", time_taken(state));
    if let Some(past) = past {
        let _ = writeln!(out, "- breaker: opened {}", counted(past.breaker_incidents, "time"));
    }
    for line in cost::report_lines(&state.spent) {
        let _ = writeln!(out, "- {line}");
    }
    if let Some(shipped) = &state.shipped {
        let _ = writeln!(out, "- shipped: {shipped}");
    }
}

fn phases(out: &mut String, workflow: &Workflow, state: &State, past: Option<&History>) {
    let _ = writeln!(out, "\n## Phases\n");
    for (id, (phase, log)) in workflow.phases.iter().zip(&state.phases).enumerate() {
        let word = match log.status {
            PhaseStatus::Pending => "not begun",
            PhaseStatus::Active => "in progress",
            PhaseStatus::Completed => "completed",
            PhaseStatus::Skipped => "skipped",
            PhaseStatus::Forced => "skipped by a person",
        };
        let headline = past.and_then(|it| progress::headline(workflow, it, id)).unwrap_or_default();
        let cost = log.spent.words_if_reported().map(|it| format!(", {it}")).unwrap_or_default();
        let iterations = counted(state.iterations_of(workflow, id), "iteration");
        let _ = writeln!(out, "- {}: {word}, {iterations}{headline}{cost}", phase.name);
    }
}

/// What was measured before the first call and after the last, and which files differ.
fn checks(out: &mut String, workflow: &Workflow, state: &State) {
    let Some(baseline) = &state.baseline else { return };
    let _ = writeln!(out, "\n## Checks\n");
    let before = results(&baseline.results);
    let before = if before.is_empty() { "none ran".to_owned() } else { before };
    let _ = writeln!(out, "- before the first call: {before}");
    let last: Vec<String> = workflow
        .checks
        .keys()
        .filter_map(|name| {
            let ok = state.visit.metrics.get(&format!("{name}_ok"))?;
            Some(format!("{name} {}", if ok.value == true.into() { "passed" } else { "failed" }))
        })
        .collect();
    if !last.is_empty() {
        let _ = writeln!(out, "- after the last call: {}", last.join(", "));
    }
    let files = state.changed_files(workflow);
    if files.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## Changes\n");
    for file in files.iter().take(FILES_MOST) {
        let _ = writeln!(out, "- {file}");
    }
    if FILES_MOST < files.len() {
        let _ = writeln!(out, "- and {} more", files.len() - FILES_MOST);
    }
}

fn listed(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {title}\n");
    for line in &lines[lines.len().saturating_sub(LISTED_MOST)..] {
        let _ = writeln!(out, "- {line}");
    }
    if LISTED_MOST < lines.len() {
        let _ = writeln!(out, "- these are the last {LISTED_MOST}; loop log has all of them");
    }
}

/// Why the work is not done, and what somebody should know about it.
fn open(out: &mut String, state: &State) {
    let why: Vec<&String> = match (&state.feedback, Status::of(state)) {
        (
            Some(feedback),
            Status::Halted | Status::Capped | Status::Paused | Status::Stopped | Status::Waiting,
        ) => feedback.why.iter().collect(),
        _ => Vec::new(),
    };
    let warnings: Vec<&String> = state.warnings.iter().collect();
    for (title, lines) in [("Open", why), ("Warnings", warnings)].into_iter().filter(|it| !it.1.is_empty()) {
        let _ = writeln!(out, "\n## {title}\n");
        for line in lines {
            let _ = writeln!(out, "- {line}");
        }
    }
}

/// Changed files that are listed; git has all of them.
const FILES_MOST: usize = 20;

/// Commits and calls that are listed; a report is for reading, and `loop log` has all of them.
const LISTED_MOST: usize = 30;

/// One line for each call: what it was for, what it cost, and what came of it.
fn calls(home: &Home, id: &str, workflow: &Workflow) -> anyhow::Result<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    // A question about an item that is a person's is judged without a call.
    let mut is_judged = true;
    // A call leaves about ten events; twice that is read, so that a run's age costs nothing here.
    let last = home.snapshot(id)?.map_or(0, |it| it.seq);
    let mut next = (last - 20 * LISTED_MOST as i64).max(1);
    loop {
        let page = home.events(id, next, 1000)?;
        let Some(last) = page.last() else { return Ok(lines) };
        next = last.seq + 1;
        for recorded in &page {
            if !matches!(recorded.kind.as_str(), Event::BEGAN | Event::ENDED | Event::JUDGED) {
                continue;
            }
            match serde_json::from_str(&recorded.body)? {
                Event::Began(Effect::Work(call)) => {
                    let phase = &workflow.phases[call.phase];
                    let item = call.item.as_ref().filter(|_| phase.is_numbered_by_run());
                    let item = item.map(|it| format!(" {}", it.id)).unwrap_or_default();
                    is_judged = false;
                    let iteration = iteration_words(phase, call.iteration);
                    lines.push(format!("{}: {}{item}{iteration}", call.number, phase.name));
                }
                Event::Ended(ended) => add(&mut lines, &call_end(&ended)),
                Event::Judged(judgement) if !is_judged => {
                    is_judged = true;
                    add(&mut lines, verdict(&judgement.verdict));
                }
                _ => (),
            }
        }
    }
}

fn add(lines: &mut [String], words: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(", ");
        line.push_str(words);
    }
}

fn call_end(ended: &Ended) -> String {
    let mut text = took(ended.ms);
    if let Some(cost) = cost::of_call(ended) {
        let _ = write!(text, ", {cost}");
    }
    let tokens = ended.usage.tokens.total();
    if tokens != 0 {
        let _ = write!(text, ", {}", counted(tokens, "token"));
    }
    match &ended.ending {
        Ending::Done => (),
        Ending::Interrupted => text.push_str(", interrupted"),
        Ending::NotStarted => text.push_str(", never started"),
        failed => {
            let why = failed.why().unwrap_or_default();
            let _ = write!(text, ", {}", why.lines().next().unwrap_or(""));
        }
    }
    text
}

fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Leave => "passed",
        Verdict::Step => "the next skill follows",
        Verdict::Again => "not done",
        Verdict::Fail => "failed",
        Verdict::Reject => "rejected the work",
        Verdict::Stuck(_) => "stuck",
        Verdict::Checkpoint(_) => "needs a person",
    }
}

/// Returns the commits since the run began, oldest first; none where git cannot tell.
fn commits(place: &Path, state: &State) -> Vec<String> {
    let Some(base) = state.baseline.as_ref().map(|it| it.facts.commit.as_str()) else { return Vec::new() };
    let last = state.seen.commit.as_str();
    if last.is_empty() || base == last || ![base, last].iter().all(|it| it.is_empty() || is_object_id(it)) {
        return Vec::new();
    }
    let range = if base.is_empty() { last.to_owned() } else { format!("{base}..{last}") };
    let listed = Git::open(place).and_then(|git| {
        git.run([
            "log",
            "--reverse",
            "--no-show-signature",
            "--max-count=1000",
            "--format=%h %s",
            &range,
            "--",
        ])
    });
    let listed = listed.unwrap_or_default();
    String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect()
}
