//! What may be landed, and how work stands that somebody else merges. The steps of a landing are in `train/`;
//! checks that no proof takes are run on the merged tree here, in a worktree of its own.

use crate::deliver::completion::{Standing, boxes};
use crate::deliver::train::merge::Work;
use crate::measure::checks::check_folder::CheckFolder;
use crate::measure::checks::run_checks::{Cut, Execute, order};
use crate::tree::git::{Git, GitError};
use crate::tree::worktree;
use loop_core::engine::{Landing, Worktree, proof_checks};
use loop_core::workflow::model::Millis;
use loop_store::run::Run;
use std::path::{Path, PathBuf};

/// Where a merged tree is checked, below the folder of the run.
const ROOM: &str = "landing";

/// How long one check of the merged tree may take where it says nothing itself.
const CHECK_MS: Millis = 1_800_000;

/// The plan of a run whose work has a branch to go to, with that branch.
pub(crate) fn target(run: &Run) -> Result<(&Worktree, &str), Landing> {
    let Some(plan) = run.state.opening.worktree.as_deref() else {
        return Err(kept_back("the run has no worktree, so there is no branch to merge".to_owned()));
    };
    match plan.target.as_deref() {
        Some(target) => Ok((plan, target)),
        None => Err(kept_back(format!(
            "the project was on no branch when the run began; merge {} by hand, then loop resume",
            plan.branch
        ))),
    }
}

/// Says why the work of a run must not be landed, if so.
pub(crate) fn barred(run: &Run) -> Option<Landing> {
    if !run.state.is_proven() && !run.workflow.proof.accept_unverified {
        let why = run.state.closing(&run.workflow).unwrap_or_else(|| "nothing proves the work".to_owned());
        return Some(kept_back(format!("the run is not verified: {why}")));
    }
    let open =
        boxes(&run.workflow, &run.state).into_iter().find(|it| matches!(it.standing, Standing::Open(_)));
    open.map(|open| kept_back(format!("the completion list has an open box: {}", open.line())))
}

fn kept_back(why: String) -> Landing {
    Landing::Not { why, unreviewed: false }
}

/// The first line of the merge's message.
pub(crate) fn subject(run: &Run) -> String {
    let opening = &run.state.opening;
    let name = opening.beginning.title.as_deref().unwrap_or(&opening.input);
    format!("Merge {}: {name}", opening.input)
}

/// What is to be landed of a run.
pub(crate) fn work<'a>(run: &'a Run, subject: &'a str) -> Result<Work<'a>, Landing> {
    let (plan, target) = target(run)?;
    let proven = run.state.proven.as_ref().map(|it| it.commit.as_str()).unwrap_or_default();
    Ok(Work { run: &run.id, plan, target, proven, subject })
}

/// Runs every check that proves the work on the merged tree. Says what failed.
pub(crate) fn check(
    run: &Run,
    git: &Git,
    commit: &str,
    execute: &mut Execute<'_>,
) -> anyhow::Result<Result<Option<String>, Cut>> {
    let room = checkout(&run.folder(), git, commit)?;
    let prepare =
        run.workflow.workspace.prepare.iter().map(|it| ("prepare".to_owned(), it.clone(), CHECK_MS));
    let checks = proof_checks(&run.workflow, &run.state)
        .map(|(name, command)| (name.clone(), command.clone(), run.workflow.checks[name].timeout));
    let commands: Vec<(String, String, Millis)> = prepare.chain(checks).collect();
    let in_place = CheckFolder::in_place(&room);
    let mut failed = None;
    for (name, command, timeout) in commands {
        let stem = format!("landing-{name}");
        match execute(order(&run.id, &stem, &command, timeout, &in_place.path))? {
            Ok(ending) if ending.code == Some(0) => (),
            Ok(_) => {
                failed = Some(format!(
                    "the check \"{name}\" fails on the merged tree; the log is {}",
                    run.folder().join(format!("{stem}.log")).display()
                ));
                break;
            }
            Err(cut) => {
                remove(git, &room);
                return Ok(Err(cut));
            }
        }
    }
    remove(git, &room);
    Ok(Ok(failed))
}

/// Makes a worktree of ours in which a merge is checked.
pub(crate) fn checkout(folder: &Path, git: &Git, commit: &str) -> Result<PathBuf, GitError> {
    let room = folder.join(ROOM);
    remove(git, &room);
    worktree::add_detached(git, &room, commit)?;
    Ok(room)
}

/// Removes it.
pub(crate) fn remove(git: &Git, room: &Path) {
    let place = room.to_string_lossy().into_owned();
    let _may_be_absent = git.run(["worktree", "remove", "--force", "--", &place]);
    let _may_be_absent = std::fs::remove_dir_all(room);
}
