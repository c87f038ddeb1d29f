//! A record, looked at by somebody who was not there: that no byte of it was changed, who signed it, that
//! the repository has the tree that it is about, that its approvals were signed by those who might, and,
//! where the home knows the run, that its journal says the same. Nothing is asked of any network. Its
//! checks can be run again in a clean checkout of the tree.

use crate::desk::caller::Caller;
use crate::desk::refusal::{NextStep, Refusal, why_unreadable};
use crate::measure::proof::{OpeningConditions, ProofCheck, ProofRequest, Prover};
use crate::tree::git::{Git, GitError};
use crate::tree::path_patterns::Ours;
use crate::tree::tree_without::tree_without;
use loop_core::engine::SIGNATURE_NAMESPACE;
use loop_core::proof::{Exit, ProofStep, StepOutcome};
use loop_core::record::{Approval, RECORD_NAMESPACE, Statement};
use loop_store::JournalVerdict;
use loop_supervise::ssh_keygen;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What is wanted of a record.
pub(crate) struct RecordRequest {
    pub file: PathBuf,
    /// Who may have signed it.
    pub signers: Option<PathBuf>,
    pub rerun: bool,
    /// Where temporary files may lie.
    pub scratch: PathBuf,
}

/// What was found, one line each.
pub(crate) fn verify_record(caller: &Caller, request: &RecordRequest) -> Result<Vec<String>, Refusal> {
    check(caller, request).map_err(Refusal::from)
}

fn refused(why: impl std::fmt::Display) -> anyhow::Error {
    let next = NextStep::by_hand("get it again from its source, or do not rely on it");
    Refusal { text: format!("this record is not valid: {why}"), next: Some(next), exit: 8 }.into()
}

/// What a record is about may be in another clone.
fn missing(what: &str) -> anyhow::Error {
    let next =
        NextStep::by_hand("git fetch it, or name another clone with -C DIR; else do not rely on the record");
    let text = format!("this record is not valid here: this repository does not have {what}");
    Refusal { text, next: Some(next), exit: 8 }.into()
}

fn check(caller: &Caller, request: &RecordRequest) -> anyhow::Result<Vec<String>> {
    let file = caller.dir.join(&request.file);
    let text = loop_base::files::text(&file).map_err(|error| {
        if error.kind() == std::io::ErrorKind::InvalidData {
            return refused("it is not text");
        }
        Refusal::usage(
            format!("{} {}", file.display(), why_unreadable(&error)),
            NextStep::by_hand("name the record.json of a run"),
        )
    })?;
    let statement = Statement::read(&text).map_err(refused)?;
    let record = &statement.predicate;
    let run = record.run.get(..8).unwrap_or(&record.run);
    let verified = if record.verified { "verified" } else { "not verified" };
    let mut lines =
        vec![format!("run {run} of {}, completed {}, {verified}", record.workflow, record.completed_at)];
    lines.extend(record.closing.clone());
    lines.push(signed_by(caller, request, &statement)?);
    for approval in &record.approvals {
        lines.push(approved_by(&record.run, approval)?);
    }
    lines.extend(record.waivers.iter().map(|it| {
        format!(
            "waived: {} ({}){}",
            it.what,
            it.reason,
            it.by.as_ref().map(|it| format!(", by {it}")).unwrap_or_default()
        )
    }));
    let git = Git::around(&caller.project()?).map_err(|error| match error {
        GitError::NotARepository { path, .. } => Refusal::usage(
            format!("{} is not a git repository, and a record is about a tree in one", path.display()),
            NextStep::by_hand("name a clone of the repository with -C DIR"),
        ),
        other => other.into(),
    })?;
    let tree = match_tree(&git, &statement)?;
    lines.push(format!("this repository has the tree {tree}"));
    lines.extend(match_journal(caller, record.run.as_str(), &record.journal)?);
    if request.rerun {
        lines.extend(rerun(&request.scratch, &git, &statement, &tree)?);
    }
    Ok(lines)
}

fn signed_by(caller: &Caller, request: &RecordRequest, statement: &Statement) -> anyhow::Result<String> {
    let signers = match &request.signers {
        Some(file) => Some(loop_base::files::text(&caller.dir.join(file)).map_err(|error| {
            Refusal::usage(
                format!("{} {}", file.display(), why_unreadable(&error)),
                NextStep::by_hand("name a file of allowed signers"),
            )
        })?),
        None => None,
    };
    let text = statement.unsealed();
    match (statement.signature(), signers) {
        (None, None) => Ok("not signed: only its own hash protects it".to_owned()),
        (None, Some(_)) => Err(refused("it is not signed")),
        (Some(signature), Some(signers)) => {
            let who = ssh_keygen::verify(&signers, RECORD_NAMESPACE, &text, signature).map_err(refused)?;
            Ok(format!("signed by {who}"))
        }
        (Some(signature), None) => {
            let key = ssh_keygen::signing_key(RECORD_NAMESPACE, &text, signature).map_err(refused)?;
            Ok(format!("signed by the key {key}; --signers FILE says whose it is"))
        }
    }
}

fn approved_by(run: &str, approval: &Approval) -> anyhow::Result<String> {
    let Approval { gate, at, by, about, signer, signers } = approval;
    let about = about.as_ref().map(|it| format!(": {}", it.line())).unwrap_or_default();
    let Some(signer) = signer else {
        return Ok(format!("gate {gate} approved by {by} at {at}, unsigned{about}"));
    };
    let statement = approval.about.as_ref().map(|it| it.statement(run, gate)).unwrap_or_default();
    let signers = signers.as_deref().unwrap_or_default();
    let who = ssh_keygen::verify(signers, SIGNATURE_NAMESPACE, &statement, &signer.armored)
        .map_err(|why| refused(format!("the approval of gate {gate}: {why}")))?;
    Ok(format!("gate {gate} approved by {by} at {at}, signed by {who}{about}"))
}

/// Finds the tree in this repository: by itself, or as what the commit holds beside the run's own files.
fn match_tree(git: &Git, statement: &Statement) -> anyhow::Result<String> {
    let tree = statement.digest("gitTree").ok_or_else(|| refused("it names no tree"))?.to_owned();
    let is_there = |what: String| git.run(["cat-file", "-e", &what]).is_ok();
    match statement.digest("gitCommit") {
        Some(commit) => {
            if !is_there(format!("{commit}^{{commit}}")) {
                return Err(missing(&format!("the commit {commit}")));
            }
            let ours = Ours::read(&statement.predicate.own_files)?;
            let found = tree_without(git, commit, &ours)?;
            if found != tree {
                return Err(refused(format!("the commit {commit} has another tree, {found}")));
            }
        }
        None if is_there(format!("{tree}^{{tree}}")) => (),
        None => return Err(missing(&format!("the tree {tree}"))),
    }
    Ok(tree)
}

/// Where the home knows the run, its journal has to say the same.
fn match_journal(caller: &Caller, run: &str, journal: &str) -> anyhow::Result<Option<String>> {
    let Some(home) = caller.existing_home()? else { return Ok(None) };
    if home.run(run)?.is_none() {
        return Ok(None);
    }
    if let JournalVerdict::Broken { seq, what } = home.verify(run)? {
        return Err(refused(format!("the journal of its run is damaged at event {seq}: {what}")));
    }
    if let Some(what) = loop_store::derived::derived_fault(&home, run)? {
        return Err(refused(format!("the journal of its run is damaged: {what}")));
    }
    home.match_head(run, journal).map_err(refused)?;
    Ok(Some("the journal in this home says the same".to_owned()))
}

/// Runs the named checks in a clean checkout of the tree, in a home of their own.
fn rerun(scratch: &Path, git: &Git, statement: &Statement, tree: &str) -> anyhow::Result<Vec<String>> {
    let home = scratch.join(format!("loop-verify-{}", uuid::Uuid::new_v4()));
    std::fs::DirBuilder::new().mode(0o700).create(&home)?;
    let found = rerun_in(&home, git, statement, tree);
    let _nobody_needs_it = std::fs::remove_dir_all(&home);
    found
}

fn rerun_in(home: &Path, git: &Git, statement: &Statement, tree: &str) -> anyhow::Result<Vec<String>> {
    let record = &statement.predicate;
    let commit = statement.digest("gitCommit").map(str::to_owned);
    let checks = record.checks.iter().map(|it| ProofCheck {
        name: it.name.clone(),
        command: it.command.clone(),
        prepare: it.prepare.clone(),
        timeout_ms: it.timeout_ms,
    });
    let request = ProofRequest {
        place: git.work_tree().to_owned(),
        borrow_from: git.work_tree().to_owned(),
        base: tree.to_owned(),
        base_commit: commit.clone(),
        tree: tree.to_owned(),
        tree_commit: commit,
        opening: OpeningConditions::take(git, git)?.keep(home)?,
        opened_at_ms: None,
        agent_times: Vec::new(),
        checks: checks.collect(),
        prepare: record.prepare.clone(),
        variables: record.env.clone(),
        protect: Vec::new(),
    };
    let result = Prover::new(home, request)?.step(ProofStep::Baseline)?;
    let StepOutcome::Ran(run) = &result.outcome else {
        return Err(refused("its checks could not be run in a clean checkout here"));
    };
    let results: Vec<_> = run.attempts.first().into_iter().flatten().collect();
    if results.is_empty() {
        return Err(refused("it names no check that could be run again"));
    }
    if let Some(red) = results.iter().find(|it| it.exit != Exit::Green) {
        return Err(refused(format!("the check {} does not pass on this tree here", red.check)));
    }
    let names: Vec<String> = results.iter().map(|it| it.check.clone()).collect();
    Ok(vec![format!("run again in a clean checkout, and passed: {}", names.join(", "))])
}
