//! The ten boxes of a system that is complete. Each is shown with its evidence, does not apply for a reason that a
//! person gave, or is open; an open one keeps the work from being merged. Everything is read from what was
//! measured, judged and approved; no agent ticks a box.

use loop_core::engine::{PhaseStatus, ShownKind, State};
use loop_core::workflow::model::Workflow;

/// How a box stands.
pub(crate) enum Standing {
    Shown(String),
    NotApplicable(String),
    Open(String),
}

pub(crate) struct CompletionBox {
    pub what: &'static str,
    pub standing: Standing,
}

impl CompletionBox {
    /// Returns the box as a line of a list.
    pub(crate) fn line(&self) -> String {
        match &self.standing {
            Standing::Shown(evidence) => format!("[x] {}: {evidence}", self.what),
            Standing::NotApplicable(why) => format!("[-] {}: not applicable, {why}", self.what),
            Standing::Open(why) => format!("[ ] {}: {why}", self.what),
        }
    }
}

/// The boxes that a stage ticks, the skill whose skipping makes one not apply, and what of the stage shows it.
const OF_STAGES: [(&str, &str, &str, ShownKind); 7] = [
    ("tests pass", "TEST", "test-generation", ShownKind::Tests),
    ("verification: lint, types, tests", "VERIFY", "code-verification", ShownKind::Checks),
    ("validation: every requirement", "VALIDATE", "code-validation", ShownKind::Checks),
    ("security: no critical or high finding", "VALIDATE", "security-audit", ShownKind::Security),
    ("performance targets", "VALIDATE", "perf-analysis", ShownKind::Performance),
    ("documents", "DOCUMENT", "document", ShownKind::Checks),
    ("review", "REVIEW", "code-review", ShownKind::Review),
];

/// Evaluates the boxes before the work is merged.
pub(crate) fn boxes(workflow: &Workflow, state: &State) -> Vec<CompletionBox> {
    let mut found = vec![CompletionBox { what: "capabilities", standing: capabilities(state) }];
    for (what, stage, skill, kind) in OF_STAGES {
        found.push(CompletionBox { what, standing: of_stage(workflow, state, stage, skill, kind) });
    }
    let proof = match state.closing(workflow) {
        Some(words) if state.is_proven() || workflow.proof.accept_unverified => Standing::Shown(words),
        Some(words) => Standing::Open(words),
        None if workflow.proof.accept_unverified => {
            Standing::Shown("none; the workflow accepts that".to_owned())
        }
        None => Standing::Open("nothing is proven yet".to_owned()),
    };
    found.push(CompletionBox { what: "proof, before the merge", standing: proof });
    found.push(CompletionBox { what: "required gates", standing: gates(state) });
    found
}

fn capabilities(state: &State) -> Standing {
    let open: Vec<&str> = state
        .item_list()
        .into_iter()
        .flat_map(|it| it.all())
        .filter(|it| !it.1)
        .map(|it| it.0.name.as_str())
        .collect();
    match open.as_slice() {
        [] => Standing::Shown(format!("{} done", state.items_done)),
        open => Standing::Open(format!("not done: {}", open.join(", "))),
    }
}

fn of_stage(workflow: &Workflow, state: &State, stage: &str, skill: &str, kind: ShownKind) -> Standing {
    let Some(id) = workflow.phases.iter().position(|it| it.name == stage) else {
        return Standing::NotApplicable(format!("the workflow has no stage {stage}"));
    };
    let log = &state.phases[id];
    match (log.status, state.skipped.get(skill)) {
        (PhaseStatus::Completed, Some(why)) => Standing::NotApplicable(format!("{skill} was skipped: {why}")),
        (PhaseStatus::Completed, None) => {
            let at = log.completed_at.map(|it| it.to_string()).unwrap_or_default();
            let no_target = log.shown.get(&ShownKind::NoPerformanceTarget);
            match (log.shown.get(&kind), no_target.filter(|_| kind == ShownKind::Performance)) {
                (Some(words), _) => Standing::Shown(format!("{words} ({stage} was passed {at})")),
                (None, Some(words)) => Standing::NotApplicable(words.clone()),
                (None, None) => Standing::Shown(format!("{stage} was passed {at}")),
            }
        }
        (PhaseStatus::Skipped | PhaseStatus::Forced, _) => {
            Standing::Open(format!("a person skipped {stage}"))
        }
        (PhaseStatus::Pending | PhaseStatus::Active, _) => Standing::Open(format!("{stage} is not passed")),
    }
}

fn gates(state: &State) -> Standing {
    match state.gates_wanted.as_slice() {
        [] if state.gates_passed.is_empty() => Standing::Shown("none was required".to_owned()),
        [] => {
            let passed = state.gates_passed.iter();
            let passed: Vec<String> = passed.map(|(gate, by)| format!("{gate} approved by {by}")).collect();
            Standing::Shown(passed.join(", "))
        }
        wanted => Standing::Open(format!("not passed: {}", wanted.join(", "))),
    }
}
