//! Whether a merge holds, wherever it stands: one we made, one a host made, one somebody made by hand.

use crate::deliver::land;
use crate::deliver::merged::Judged;
use crate::deliver::train::merge::{short, tree_of};
use crate::measure::checks::run_checks::Cut;
use crate::measure::proof::ProofRequest;
use crate::tree::git::Git;
use crate::world::effects::closing::proving::{in_words, is_proven};
use crate::world::real::Host;
use loop_core::engine::{Merge, proof_checks};
use loop_core::proof::{NotRun, ProofEvidence, ProofStep, StepOutcome, conclude, red_on_merge};
use loop_store::run::Run;

impl Host<'_> {
    /// Finds out whether the tree of a merge holds. Where the target has not moved since the work began, it is the
    /// tree that was proven; runs that no proof is asked of run their checks.
    pub(crate) fn prove_tree(&mut self, run: &Run, git: &Git, merge: &Merge) -> anyhow::Result<Judged> {
        let Ok((plan, _)) = land::target(run) else { anyhow::bail!("a merge has a target") };
        let proven = run.state.proven.as_ref().map(|it| it.commit.clone()).unwrap_or_default();
        let is_itself = merge.commit == proven;
        let is_same = is_itself || merge.from == plan.base && merge.tree == tree_of(git, &proven)?;
        if is_same && run.state.is_proven() {
            return Ok(Judged::Holds("it is identical to the tree that was proven".to_owned()));
        }
        if is_proven(run) {
            return self.judge(run, git, merge);
        }
        let names = proof_checks(&run.workflow, &run.state).map(|(name, _)| name.clone());
        let names = names.collect::<Vec<_>>().join(", ");
        let shim = &mut self.shim;
        let mut execute = |order| shim.carry_out(run.state.epoch, order);
        Ok(match land::check(run, git, &merge.commit, &mut execute)? {
            Ok(None) if names.is_empty() => Judged::Holds("the run has no check, so none was run".to_owned()),
            Ok(None) => Judged::Holds(format!("{names} passed in a worktree")),
            Ok(Some(why)) => Judged::Red(vec![why]),
            Err(Cut) => Judged::Cut,
        })
    }

    /// Judges a merge, wherever it stands, by the clean checkout and the overlay, with its first parent as the
    /// base. Waivers carry over.
    fn judge(&mut self, run: &Run, git: &Git, merge: &Merge) -> anyhow::Result<Judged> {
        let branch = self.request(run)?;
        let request = ProofRequest {
            base: tree_of(git, &merge.from)?,
            base_commit: Some(merge.from.clone()),
            tree: merge.tree.clone(),
            tree_commit: Some(merge.commit.clone()),
            ..branch.clone()
        };
        let prover = self.prover(request)?;
        let mut said = Vec::new();
        for step in [ProofStep::Baseline, ProofStep::Clean, ProofStep::Overlay] {
            let Some(result) = self.take_step(&prover, step)? else { return Ok(Judged::Cut) };
            match &result.outcome {
                StepOutcome::NotRun(NotRun::Failed(why)) if step == ProofStep::Clean => {
                    return Ok(Judged::Unknown(format!("the merged tree could not be checked: {why}")));
                }
                StepOutcome::Ran(_) if step != ProofStep::Baseline => {
                    said.push(format!("{}: {}", step.words(), in_words(&result)));
                }
                StepOutcome::Ran(_) | StepOutcome::NotRun(_) => (),
            }
        }
        let proven = run.state.proven.as_ref().map(|it| it.tree.clone()).unwrap_or_default();
        let alone = self.prover(ProofRequest { tree: proven, ..branch })?.known(ProofStep::Clean);
        let evidence = ProofEvidence {
            commit: Some(merge.commit.clone()),
            waivers: run.state.waivers.clone(),
            allowed: run.workflow.proof.allow.clone(),
            approved: run.state.accepted,
            ..prover.evidence()?
        };
        let mut why = red_on_merge(&evidence.clean, alone.as_ref().map(|it| &it.outcome));
        why.extend(conclude(&evidence).findings.into_iter().map(|it| it.line));
        if why.is_empty() {
            let by = format!("{} (base: {} {})", said.join("; "), merge.into, short(&merge.from));
            return Ok(Judged::Holds(by));
        }
        Ok(Judged::Red(why))
    }
}
