//! The proof in the state: steps that were taken, its conclusion, and what a person made of it.

use crate::engine::journal::closing::proof_steps::{Proving, StepTaken};
use crate::engine::state::run_state::State;
use crate::proof::{Level, Proof};

impl State {
    /// Returns the proof of the tree as it was judged last, or as the phase left it that only a proof lets
    /// pass: what later phases write about the work is no part of it.
    pub fn proof(&self) -> Option<&Proof> {
        let left = self.proven.as_ref().map(|it| &it.tree);
        let is_its = |it: &&Proving| it.tree == self.seen.tree || Some(&it.tree) == left;
        let proving = self.proving.as_ref().filter(is_its)?;
        proving.proof.as_deref()
    }

    pub(crate) fn take_step(&mut self, taken: &StepTaken) {
        let same = self.proving.take().filter(|it| it.tree == taken.tree);
        let mut proving =
            same.unwrap_or(Proving { tree: taken.tree.clone(), steps: Vec::new(), proof: None });
        proving.steps.retain(|it| it.step != taken.step);
        proving.steps.push(taken.clone());
        self.spent.ms += (taken.seconds * 1000.0) as u64;
        self.proving = Some(proving);
    }

    pub(crate) fn conclude(&mut self, proof: &Proof) {
        self.confirm_requirements(proof);
        if let Some(proving) = &mut self.proving {
            proving.proof = Some(Box::new(proof.clone()));
        }
    }

    /// Takes the conclusion back, because what it depends on has changed.
    pub(crate) fn reconsider(&mut self) {
        if let Some(proving) = &mut self.proving {
            proving.proof = None;
        }
    }

    /// A person takes the work as it is.
    pub(crate) fn accept(&mut self) {
        self.accepted = true;
        if let Some(proof) = self.proving.as_mut().and_then(|it| it.proof.as_mut()) {
            proof.level = proof.level.max(Level::Approved);
        }
    }
}
