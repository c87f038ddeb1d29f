//! A system of the queue in the words of its seed: the five lines of its status, and the report of one that
//! is blocked.

use crate::tree::git::Git;
use crate::tree::worktree;
use loop_base::secret::redact;
use loop_core::documents::system_queue::JobStatus;
use loop_core::engine::{State, Status};
use loop_core::workflow::model::{ErrorClass, MirrorFormat, Workflow};
use loop_store::mirror::domain_memory::{
    Capabilities, DomainMemory, FOLDER, GateStatus, SystemView, queue_file,
};
use loop_store::{Home, QueueKey};
use std::fmt::Write;
use std::path::Path;

/// Tries that a report names; the state file has the others.
const TRIED_SHOWN: usize = 5;

/// Returns what `loop status` says about a system; nothing for any other run.
pub(crate) fn status(home: &Home, run: &str, workflow: &Workflow, state: &State) -> String {
    if workflow.mirror.format != Some(MirrorFormat::DomainMemory) {
        return String::new();
    }
    let Ok(Some(memory)) = DomainMemory::open(home, run, workflow) else { return String::new() };
    let view = memory.view(workflow);
    let mut out = String::new();
    let _ = writeln!(out, "  System: {} ({})", view.name, state.opening.input);
    let _ = writeln!(out, "  State: {}{}", view.state, capability(&view.capabilities));
    let _ = writeln!(out, "  Failures: {}", failures(state));
    let _ = writeln!(out, "  Gates: {}", gates(&view.gates));
    let _ = writeln!(out, "  Last activity: {}", state.updated_at);
    if tells_reason(workflow, state) {
        out.push_str(&blocked(workflow, state, &view));
    }
    redact(&out).into_owned()
}

/// Returns what the end of a system adds, a line each: how far its domain is, and what was written there and is in
/// no commit.
pub(crate) fn at_end(home: &Home, workflow: &Workflow, state: &State) -> Vec<String> {
    [progress(home, workflow, state), uncommitted(workflow, state)].into_iter().flatten().collect()
}

fn uncommitted(workflow: &Workflow, state: &State) -> Option<String> {
    let (domain, root) = completed(workflow, state)?;
    let folder = format!("{FOLDER}/{domain}");
    let asked = ["status", "--porcelain", "--untracked-files=normal", "--", folder.as_str()];
    let found = Git::reopen(Path::new(root)).ok()?.run(asked).ok()?;
    let what = "the queue, the handoff and what the last stages wrote";
    (!found.is_empty()).then(|| format!("not committed: {what}, in {folder}"))
}

/// The domain and the project of a system that is complete.
fn completed<'a>(workflow: &Workflow, state: &'a State) -> Option<(&'a str, &'a str)> {
    let domain = state.opening.beginning.domain.as_deref()?;
    let plan = state.opening.worktree.as_ref()?;
    let is_over =
        workflow.mirror.format == Some(MirrorFormat::DomainMemory) && Status::of(state) == Status::Completed;
    is_over.then_some((domain, plan.root.as_str()))
}

fn progress(home: &Home, workflow: &Workflow, state: &State) -> Option<String> {
    let (domain, root) = completed(workflow, state)?;
    let file = queue_file(Path::new(root), domain);
    let jobs = home.jobs(QueueKey { project: root, domain, file: &file }).ok()?;
    let done = jobs.iter().filter(|it| it.system.status == JobStatus::Complete).count();
    let percent = (done * 100 + jobs.len() / 2) / jobs.len().max(1);
    Some(format!("domain {domain}: {done} of {} systems complete, {percent} %", jobs.len()))
}

/// Whether the lines above say why the run stopped: the report of a system that is blocked does.
pub(crate) fn tells_reason(workflow: &Workflow, state: &State) -> bool {
    workflow.mirror.format == Some(MirrorFormat::DomainMemory) && Status::of(state) == Status::Halted
}

/// ` (capability 3/5: work-order-assignment)`
fn capability(capabilities: &Capabilities) -> String {
    match &capabilities.current {
        Some(current) => {
            format!(" (capability {}/{}: {current})", capabilities.completed + 1, capabilities.total)
        }
        None => String::new(),
    }
}

fn failures(state: &State) -> String {
    let all = &state.troubles.failures;
    let open = all.iter().filter(|it| it.resolved_at.is_none()).count();
    match (all.len(), open) {
        (0, _) => "0".to_owned(),
        (all, 0) => format!("{all} (resolved)"),
        (all, open) => format!("{all} ({open} open)"),
    }
}

fn gates(gates: &[(String, bool, GateStatus)]) -> String {
    let words: Vec<String> = gates
        .iter()
        .filter_map(|(name, is_required, status)| match status {
            GateStatus::Approved => Some(format!("{name} ✓")),
            other => is_required.then(|| format!("{name} {}", other.word())),
        })
        .collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn blocked(workflow: &Workflow, state: &State, view: &SystemView) -> String {
    let mut out = String::new();
    let reason = state.reason(workflow);
    let _ = writeln!(out, "  BLOCKED: {}", view.name);
    let _ = writeln!(out, "    Reason: {}", reason.replace('\n', "\n      "));
    let last = state.troubles.failures.last().map(|it| it.text.lines().next().unwrap_or_default());
    if let Some(last) = last.filter(|it| !reason.contains(it)) {
        let _ = writeln!(out, "    Last failure: {last}");
    }
    // A service outside is tried again more often than what an agent can repair.
    let (count, most) = (state.retry.count, view.retries_most.max(state.retry.count));
    let _ = writeln!(out, "    Retry attempts: {count} / {most}");
    let tried = tried(workflow, state, &reason);
    if !tried.is_empty() {
        let _ = writeln!(out, "    What was tried:");
        for (number, it) in tried {
            let _ = writeln!(out, "      {number}. {it}");
        }
    }
    let issue = state.opening.beginning.issue.map(|it| format!(", issue #{it}")).unwrap_or_default();
    let commit = state.seen.commit.get(..12).unwrap_or("no commit");
    let branch = state.opening.worktree.as_deref().map(|it| it.branch.as_str()).unwrap_or_default();
    let _ = writeln!(out, "    Context: {branch} at {commit}{issue}");
    if let Some(stage) = state.stage_to_review(workflow) {
        let _ = writeln!(out, "    Human action needed: look at the branch, in {}", place(state));
        let _ = writeln!(out, "    To resume: loop resume --state {stage}");
        return out;
    }
    let stage = &workflow.phases[state.phase].name;
    let _ = writeln!(out, "    Human action needed: {}", to_do(state, view, &reason));
    let _ = writeln!(
        out,
        "    To resume: loop resume, or loop resume --state {stage} to do the whole stage again"
    );
    out
}

/// What only a person can do about it.
fn to_do(state: &State, view: &SystemView, reason: &str) -> String {
    let is_meant = |name: &str| {
        reason.contains(&format!("gate \"{name}\"")) || reason.ends_with(&format!("timeout: {name}"))
    };
    if let Some((gate, _, status)) = view.gates.iter().find(|it| is_meant(&it.0)) {
        return match status {
            GateStatus::Rejected => {
                format!("settle why the gate {gate} was rejected; once the run continues, it is asked again")
            }
            GateStatus::Pending
            | GateStatus::Requested
            | GateStatus::Approved
            | GateStatus::NotApplicable => {
                format!("answer the gate {gate} in time; once the run continues, it is asked again")
            }
        };
    }
    if let Some(lost) = state.opening.worktree.as_deref().and_then(|it| worktree::verify(it).err())
        && state.place.is_some()
    {
        return lost.next;
    }
    let failure = state.troubles.failures.last().filter(|it| it.resolution.is_none());
    match failure.map(|it| &it.class) {
        Some(ErrorClass::Ambiguous) => {
            "say what is meant, before the run continues: loop guide TEXT".to_owned()
        }
        Some(_) | None => format!("remove the cause above, in {}", place(state)),
    }
}

fn place(state: &State) -> &str {
    state.place.as_deref().unwrap_or("the project")
}

/// What was done about the failures of this stage, in its own words where somebody said them. A failure
/// that the reason names already is not repeated.
fn tried(workflow: &Workflow, state: &State, reason: &str) -> Vec<(usize, String)> {
    let with = workflow.retries.as_ref().and_then(|it| it.with.as_deref()).unwrap_or("retry");
    let here = state.troubles.failures.iter().filter(|it| it.phase == state.phase);
    let told = here.filter_map(|it| {
        let error = it.text.lines().next().unwrap_or_default();
        let tried = it.tried.as_deref().and_then(|it| it.lines().next()).map(|it| format!("{with}: {it}"));
        let done = tried.or_else(|| it.resolution.clone());
        match (done, reason.contains(error)) {
            (Some(done), true) => Some(done),
            (Some(done), false) => Some(format!("{error}: {done}")),
            (None, true) => None,
            (None, false) => Some(error.to_owned()),
        }
    });
    let mut counted: Vec<(String, usize)> = Vec::new();
    for line in told {
        match counted.iter_mut().find(|it| it.0 == line) {
            Some(known) => known.1 += 1,
            None => counted.push((line, 1)),
        }
    }
    let said = |(line, times): (String, usize)| match times {
        1 => line,
        times => format!("{line} ({times} times)"),
    };
    let mut lines: Vec<(usize, String)> =
        counted.into_iter().map(said).enumerate().map(|(at, it)| (at + 1, it)).collect();
    let over = lines.len().saturating_sub(TRIED_SHOWN);
    lines.split_off(over)
}
