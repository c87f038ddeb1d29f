//! What a run would be approved for as it stands.

use crate::digest::sha256;
use crate::engine::journal::people::approval::Subject;
use crate::engine::state::run_state::State;
use crate::workflow::model::Workflow;
use loop_base::time::Timestamp;

impl Subject {
    /// Returns what the run would be approved for now; `None` where nothing has been measured.
    pub fn of(workflow: &Workflow, state: &State, expires: Option<Timestamp>) -> Option<Subject> {
        if state.seen.tree.is_empty() {
            return None;
        }
        let base = state.baseline.as_ref().map(|it| it.facts.tree.clone()).unwrap_or_default();
        let tree = state.seen.tree.clone();
        let policy = serde_json::to_string(workflow).expect("a workflow is plain data");
        Some(Subject {
            commit: state.seen.commit.clone(),
            changes: sha256(&format!("{base}..{tree}\n")),
            policy: sha256(&policy),
            base,
            tree,
            expires,
        })
    }
}
