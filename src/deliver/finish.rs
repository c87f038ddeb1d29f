//! What the workflow does at the end: documents are committed and the work is handed in. Whatever goes
//! wrong with it is said and takes nothing from what was reached; a wish that comes before anything
//! has left the house is heard first.

use crate::deliver::ship;
use loop_core::workflow::model::Ship;
use loop_store::Home;
use loop_store::run::Run;
use std::path::PathBuf;

/// What came of handing the work in.
pub(crate) enum Delivered {
    Done {
        shipped: Option<String>,
        trouble: Option<String>,
        /// The commit that holds what was handed in.
        commit: Option<String>,
    },
    Not(String),
    /// A person wants something first.
    Cut,
}

/// Hands the work in, as far as the workflow asks for it; what was changed after the run had judged it is
/// not for us to hand in. `is_interrupted` says whether a person wants
/// something; it is asked before anything leaves the house.
pub(crate) fn deliver(
    run: &Run,
    home: &Home,
    changed_since: Vec<PathBuf>,
    mut is_interrupted: impl FnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<Delivered> {
    let nothing = |commit, trouble| Delivered::Done { shipped: None, trouble, commit };
    let finish = &run.workflow.finish;
    let (commits, ships) = (finish.commit_docs, finish.ship == Ship::Auto);
    if !commits && !ships {
        return Ok(nothing(None, None));
    }
    let Some(row) = home.run(&run.id)? else { return Ok(nothing(None, None)) };
    let wanted = ship::ShipOptions { kind: None, request: true };
    let work =
        ship::CompletedWork::look(row, run.workflow.clone(), run.state.clone(), wanted, changed_since)?;
    let documents = match commits.then(|| work.commit_documents()).transpose() {
        Ok(documents) => documents,
        Err(error) => return Ok(Delivered::Not(format!("the documents were not committed: {error:#}"))),
    };
    if !ships {
        let commit = documents.as_ref().filter(|it| it.is_any).and_then(|_| work.head());
        return Ok(nothing(commit, documents.and_then(|it| it.removed_words())));
    }
    if !run.state.is_proven() && !run.workflow.proof.accept_unverified {
        let why = run.state.closing(&run.workflow).unwrap_or_default();
        return Ok(Delivered::Not(format!("not shipped, because the run is not verified: {why}")));
    }
    if let Some(why) = ship::changed_words(&work.changed_since) {
        return Ok(Delivered::Not(format!("not shipped: {why}")));
    }
    let preflight = work.preflight()?;
    if is_interrupted()? {
        return Ok(Delivered::Cut);
    }
    let shipped = work.hand_in(&preflight);
    let said: Vec<String> = shipped.errors.iter().chain(&shipped.warnings).cloned().collect();
    let trouble = (!said.is_empty()).then(|| said.join("; "));
    Ok(match shipped.is_done {
        true => Delivered::Done { trouble, shipped: shipped.words(), commit: shipped.commit },
        false => Delivered::Not(format!("not shipped: {}", trouble.unwrap_or_default())),
    })
}
