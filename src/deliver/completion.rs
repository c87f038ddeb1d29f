//! The completion list of a system. Each box is shown with its evidence, does not apply for a reason that it names,
//! or is open; an open one keeps the work from being merged. Which phases it asks for is said by the workflow.
//! Everything is read from what was measured, judged and approved; no agent ticks a box.

use loop_core::engine::{PhaseStatus, State};
use loop_core::workflow::completion;
use loop_core::workflow::model::{CompletionRow, PhaseId, ShownKind, Workflow};

/// How a box stands.
pub(crate) enum Standing {
    Shown(String),
    NotApplicable(String),
    Open(String),
}

pub(crate) struct CompletionBox {
    pub what: String,
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

/// Evaluates the boxes before the work is merged: the items, the rows of the workflow, the proof and the gates.
pub(crate) fn boxes(workflow: &Workflow, state: &State) -> Vec<CompletionBox> {
    let mut found = Vec::new();
    if let Some(of) = &workflow.items {
        found.push(CompletionBox { what: format!("every {}", of.name), standing: items(state) });
    }
    for row in completion::rows(workflow).iter() {
        found.push(CompletionBox { what: row.name.clone(), standing: of_phase(workflow, state, row) });
    }
    // What a reader of the sentence would miss, such as a test that is gone.
    let notes = state.proof().map(|it| it.notes.clone()).unwrap_or_default();
    let told = |words: String| [words].into_iter().chain(notes.clone()).collect::<Vec<_>>().join("; ");
    let proof = match state.closing(workflow).map(told) {
        Some(words) if state.is_proven() || workflow.proof.accept_unverified => Standing::Shown(words),
        Some(words) => Standing::Open(words),
        None if workflow.proof.accept_unverified => {
            Standing::Shown("none; the workflow accepts that".to_owned())
        }
        None => Standing::Open("nothing is proven yet".to_owned()),
    };
    found.push(CompletionBox { what: "proof, before the merge".to_owned(), standing: proof });
    found.push(CompletionBox { what: "required gates".to_owned(), standing: gates(state) });
    found
}

fn items(state: &State) -> Standing {
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

fn of_phase(workflow: &Workflow, state: &State, row: &CompletionRow) -> Standing {
    let stage = &row.stage;
    let Some(id) = row.phase else {
        return Standing::NotApplicable(format!("the workflow has no phase {stage}"));
    };
    let log = &state.phases[id];
    match log.status {
        PhaseStatus::Completed => passed(workflow, state, row, id),
        PhaseStatus::Skipped | PhaseStatus::Forced => Standing::Open(format!("a person skipped {stage}")),
        PhaseStatus::Pending | PhaseStatus::Active => Standing::Open(format!("{stage} is not passed")),
    }
}

/// How a row stands whose phase is passed.
fn passed(workflow: &Workflow, state: &State, row: &CompletionRow, id: PhaseId) -> Standing {
    let (stage, log) = (&row.stage, &state.phases[id]);
    if let Some((skill, why)) = row.skill.as_ref().and_then(|it| state.skipped.get_key_value(it)) {
        return Standing::NotApplicable(format!("{skill} was skipped: {why}"));
    }
    let at = log.completed_at.map(|it| it.to_string()).unwrap_or_default();
    if let Some(words) = log.shown.get(&row.shows) {
        return Standing::Shown(format!("{words} ({stage} was passed {at})"));
    }
    let no_target = log.shown.get(&ShownKind::NoPerformanceTarget);
    if let Some(words) = no_target.filter(|_| row.shows == ShownKind::Performance) {
        return Standing::NotApplicable(words.clone());
    }
    match row.skill.as_ref().filter(|it| !workflow.phases[id].skills.contains(it)) {
        Some(skill) => Standing::NotApplicable(format!("{stage} does not call {skill}")),
        None => Standing::Shown(format!("{stage} was passed {at}")),
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
