//! What a run shows of its proof: the record for programs, and one sentence for people. A run that is
//! completed without a proof has both too, at the lowest level and with the reason.

use super::proving;
use crate::engine::journal::hold::Outcome;
use crate::engine::state::parts::station::Station;
use crate::engine::state::parts::visit::PhaseStatus;
use crate::engine::state::run_state::State;
use crate::proof::{Level, Proof, closing_sentence};
use crate::workflow::model::{CleanWhen, Workflow};

impl State {
    /// Returns the proof as people and programs see it: none before the first one was concluded.
    pub fn shown_proof(&self, workflow: &Workflow) -> Option<Proof> {
        let Some(why) = self.why_unproven(workflow) else { return self.proof().cloned() };
        let taken = self.proving.as_ref().and_then(|it| it.proof.as_deref().cloned());
        let mut proof = taken.unwrap_or_else(|| Proof::of_nothing(self.seen.tree.clone()));
        proof.level = Level::None;
        proof.notes.push(why);
        Some(proof)
    }

    /// Returns the sentence at the end of a run: what was proven, or why nothing was.
    pub fn closing(&self, workflow: &Workflow) -> Option<String> {
        match self.why_unproven(workflow) {
            Some(why) => Some(format!("not proven: {why}")),
            None => self.proof().map(closing_sentence),
        }
    }

    /// Returns why a completed run has no proof that counts.
    fn why_unproven(&self, workflow: &Workflow) -> Option<String> {
        let is_at_its_end = matches!(
            self.station,
            Station::Finishing | Station::Finished | Station::Closed(Outcome::Completed)
        );
        if !is_at_its_end {
            return None;
        }
        let skipped = workflow
            .phases
            .iter()
            .zip(&self.phases)
            .find(|(_, log)| matches!(log.status, PhaseStatus::Skipped | PhaseStatus::Forced))
            .filter(|_| self.unproven);
        let is_off =
            |name: &String| self.opening.beginning.off.iter().find(|it| it.0 == *name).map(|it| &it.1);
        let why = if let Some((phase, _)) = skipped {
            match is_off(&phase.name) {
                Some(why) => format!("{} is off: {why}", phase.name),
                None => format!("a person skipped {}", phase.name),
            }
        } else if self.waits_for_look() {
            format!("a person has yet to look: {}", self.left_to_person.join("; "))
        } else if self.opening.unverified {
            "this run was started with --unverified, which takes the agent's word".to_owned()
        } else if self.unproven {
            "part of it was claimed by the agent and not measured".to_owned()
        } else if self.untested {
            "the run was imported, and nothing has been measured since".to_owned()
        } else if self.uncontained {
            "leftover processes of a killed call could not be ruled out".to_owned()
        } else if self.proof().is_some() {
            return None;
        } else if workflow.proof.clean == CleanWhen::Never {
            "the workflow says clean = \"never\", so no clean checkout was tried".to_owned()
        } else if self.proof_skipped {
            "a person chose to go without a clean checkout".to_owned()
        } else if proving::checks(workflow, self).next().is_none() {
            "no check could show that the work is done".to_owned()
        } else if self.proving.is_some() {
            "the tree changed after its proof".to_owned()
        } else {
            "no proof was taken".to_owned()
        };
        Some(why)
    }
}
