//! What was there before the first call: the opening, what another controller had done, and the tests
//! that failed already.

use crate::engine::journal::measured::evidence::{Baseline, CheckResult, Evidence};
use crate::engine::journal::task::opening::Opening;
use crate::engine::state::apply::people::NOT_NEEDED;
use crate::engine::state::parts::visit::PhaseStatus;
use crate::engine::state::run_state::State;
use crate::workflow::model::Workflow;
use loop_base::text::counted;
use loop_base::time::Timestamp;
use std::sync::Arc;

impl State {
    pub(super) fn open(&mut self, workflow: &Workflow, at: Timestamp, opening: &Opening) {
        self.opening = opening.clone();
        self.opened_at = at;
        self.phases[0].begin(at);
        self.untested = opening.imported;
        self.begin_where_it_was(workflow, at, opening);
        if opening.unverified {
            self.unproven = true;
            self.warn("unverified: the agent's word is taken where nothing is measured".to_owned());
        }
    }

    /// Takes over what was known before the run was opened: what is asked for, what is done already, and
    /// how far another controller had come.
    fn begin_where_it_was(&mut self, workflow: &Workflow, at: Timestamp, opening: &Opening) {
        self.requirements.clone_from(&opening.beginning.requirements);
        self.iterations_total = opening.beginning.iterations;
        self.iterations_counted = opening.beginning.iterations;
        self.visit.breaker.failures = opening.beginning.failed_in_a_row;
        self.items_done = u32::try_from(opening.beginning.done.len()).unwrap_or(u32::MAX);
        if let Some(list) = &mut self.list {
            opening.beginning.done.iter().for_each(|it| Arc::make_mut(list).finish(it));
        }
        for (name, why) in &opening.beginning.off {
            let Some(phase) = workflow.phases.iter().position(|it| it.name == *name) else { continue };
            self.phases[phase].begin(at);
            self.phases[phase].end(at, PhaseStatus::Skipped, why);
            self.unproven = true;
            self.warn(format!("{name} is off: {why}"));
        }
        self.gates_wanted.clone_from(&opening.beginning.gates);
        self.retry.count = opening.beginning.retries;
        self.retry.total = opening.beginning.failures_total;
        opening.beginning.failures.iter().for_each(|it| self.troubles.note_failure(it.into()));
        for (skill, target) in &opening.beginning.prerequisites {
            self.prerequisites.insert(skill.clone(), target.clone());
            if target.is_none() {
                self.skipped.insert(skill.clone(), NOT_NEEDED.to_owned());
            }
        }
        for (name, count) in &opening.beginning.rejections {
            if let Some(phase) = workflow.phases.iter().position(|it| it.name == *name) {
                self.rejections.insert(phase, *count);
            }
        }
    }

    pub(super) fn take_baseline(&mut self, baseline: &Baseline) {
        self.spent.ms += baseline.ms;
        baseline.results.iter().filter_map(known_red_words).for_each(|it| self.warn(it));
        self.seen = baseline.facts.clone();
        self.baseline = Some(baseline.clone());
    }

    /// Tests that failed before the run began and pass now are no longer worth a warning.
    pub(in crate::engine::state) fn forget_mended(&mut self, evidence: &Evidence) {
        let Some(baseline) = &self.baseline else { return };
        let passes = |name: &String| {
            let now = evidence.results.iter().find(|it| it.name == *name);
            now.and_then(|it| it.counts.as_ref()).is_some_and(|it| it.failing == 0)
        };
        let mended: Vec<String> =
            baseline.results.iter().filter(|it| passes(&it.name)).filter_map(known_red_words).collect();
        self.warnings.retain(|it| !mended.contains(it));
    }
}

fn known_red_words(result: &CheckResult) -> Option<String> {
    let tests = result.counts.as_ref().filter(|it| 0 < it.failing)?;
    let names =
        if tests.failed.is_empty() { String::new() } else { format!(": {}", shortened(&tests.failed)) };
    let count = counted(tests.failing, "test");
    Some(format!("{count} of \"{}\" failed before the run began{names}", result.name))
}

/// Returns the first names of a list, and how many follow.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if SHOWN < names.len() {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
