//! The record of a completed run: what was proven about which tree, by which commands and with which
//! results, what was waived and approved, and by whom. It is an in-toto statement, complete in itself,
//! and says the same wherever it is read. Its bytes are fixed: a file that reads the same and is written
//! differently is not the one that was made.

use crate::digest::sha256;
use crate::engine::{Event, Signer, State, Subject as Asked, proof_checks};
use crate::proof::{Proof, Waiver};
use crate::workflow::model::Workflow;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "urn:loopctl:record:1";

/// The namespace of signatures on records.
pub const RECORD_NAMESPACE: &str = "loop-record";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    #[serde(rename = "_type")]
    pub kind: String,
    pub subject: Vec<Thing>,
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    pub predicate: Record,
}

/// What the statement is about: a tree, and the commit that has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    pub name: String,
    pub digest: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub run: String,
    pub workflow: String,
    /// SHA-256 of the workflow that was in force at the end.
    pub policy: String,
    pub input: String,
    pub opened_at: String,
    pub completed_at: String,
    pub verified: bool,
    /// The tree that the run began with.
    pub base: String,
    pub proof: Option<Proof>,
    /// The sentence for people.
    pub closing: Option<String>,
    pub checks: Vec<RecordedCheck>,
    /// Runs in a clean checkout before its checks.
    pub prepare: Option<String>,
    /// Variables that its checks may see beside the usual ones.
    pub env: Vec<String>,
    pub waivers: Vec<Waiver>,
    pub approvals: Vec<Approval>,
    /// Skipped phases and whatever else people decided, one line each.
    pub decisions: Vec<String>,
    pub warnings: Vec<String>,
    pub delivered: Option<String>,
    /// Files that belong to the run, which are part of no tree that is judged.
    pub own_files: Vec<String>,
    /// The head of the run's journal.
    pub journal: String,
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Integrity>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedCheck {
    pub name: String,
    pub command: String,
    pub prepare: Option<String>,
    pub timeout_ms: u64,
}

/// A gate that was passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    pub gate: String,
    pub at: String,
    pub by: String,
    pub about: Option<Box<Asked>>,
    pub signer: Option<Box<Signer>>,
    /// Who might sign, where a signature was asked for.
    pub signers: Option<String>,
}

/// What holds the rest together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Integrity {
    /// Of the statement without this.
    pub sha256: String,
    /// Of the same bytes, as `ssh-keygen -Y sign` writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What the record needs beside the state.
pub struct Around<'a> {
    pub run: &'a str,
    pub input: &'a str,
    /// The events that tell of people's decisions, in order.
    pub events: &'a [(Timestamp, Event)],
    pub own_files: Vec<String>,
    pub journal: String,
    pub program: String,
}

impl Statement {
    /// Makes the record of a run as it stands.
    pub fn of(workflow: &Workflow, state: &State, around: Around<'_>) -> Statement {
        let proof = state.shown_proof(workflow);
        let tree = state.seen.tree.clone();
        let mut subject = vec![thing("tree", "gitTree", &tree)];
        if let Some(commit) = proof.as_ref().and_then(|it| it.commit.as_ref()) {
            subject.push(thing("commit", "gitCommit", commit));
        }
        let checks = proof_checks(workflow, state).map(|(name, command)| RecordedCheck {
            name: name.clone(),
            command: command.clone(),
            prepare: workflow.checks[name].prepare.clone(),
            timeout_ms: workflow.checks[name].timeout,
        });
        let policy = serde_json::to_string(workflow).expect("a workflow is plain data");
        let predicate = Record {
            run: around.run.to_owned(),
            workflow: workflow.name.clone(),
            policy: sha256(&policy),
            input: around.input.to_owned(),
            opened_at: state.opened_at.to_string(),
            completed_at: state.updated_at.to_string(),
            verified: state.verified(),
            base: state.baseline.as_ref().map(|it| it.facts.tree.clone()).unwrap_or_default(),
            closing: state.closing(workflow),
            proof,
            checks: checks.collect(),
            prepare: state.prepare.clone().or_else(|| workflow.proof.prepare.clone()),
            env: workflow.proof.env.clone(),
            waivers: state.waivers.clone(),
            approvals: around.events.iter().filter_map(|it| approval(workflow, it)).collect(),
            decisions: around.events.iter().filter_map(decision).collect(),
            warnings: state.warnings.clone(),
            delivered: state.delivered.clone(),
            own_files: around.own_files,
            journal: around.journal,
            program: around.program,
            integrity: None,
        };
        let (kind, predicate_type) = (STATEMENT.to_owned(), PREDICATE.to_owned());
        Statement { kind, subject, predicate_type, predicate }
    }

    /// Returns the bytes that are hashed and signed.
    pub fn unsealed(&self) -> String {
        let mut open = self.clone();
        open.predicate.integrity = None;
        open.text()
    }

    /// Binds it together.
    pub fn seal(&mut self, signature: Option<String>) {
        self.predicate.integrity = Some(Integrity { sha256: sha256(&self.unsealed()), signature });
    }

    /// Returns its one text: keys in order, so that equal statements have equal bytes.
    pub fn text(&self) -> String {
        let value = serde_json::to_value(self).expect("a statement is plain data");
        let mut text = serde_json::to_string_pretty(&value).expect("a value is plain data");
        text.push('\n');
        text
    }

    /// Reads a record, or says what is wrong with it.
    pub fn read(text: &str) -> Result<Statement, String> {
        let statement: Statement = serde_json::from_str(text)
            .map_err(|_| "it is not a record of a run, or is incomplete".to_owned())?;
        if statement.kind != STATEMENT || statement.predicate_type != PREDICATE {
            return Err("it is a statement of another kind".to_owned());
        }
        if statement.text() != text {
            return Err("its bytes are not those that were written".to_owned());
        }
        match &statement.predicate.integrity {
            Some(integrity) if integrity.sha256 == sha256(&statement.unsealed()) => Ok(statement),
            Some(_) => Err("it was changed: its hash is another one".to_owned()),
            None => Err("it was changed: its hash is missing".to_owned()),
        }
    }

    /// Returns the digest of a subject.
    pub fn digest(&self, kind: &str) -> Option<&str> {
        self.subject.iter().find_map(|it| it.digest.get(kind)).map(String::as_str)
    }

    pub fn signature(&self) -> Option<&str> {
        self.predicate.integrity.as_ref()?.signature.as_deref()
    }
}

fn thing(name: &str, kind: &str, digest: &str) -> Thing {
    Thing { name: name.to_owned(), digest: BTreeMap::from([(kind.to_owned(), digest.to_owned())]) }
}

fn approval(workflow: &Workflow, (at, event): &(Timestamp, Event)) -> Option<Approval> {
    let Event::Approved { gate, by, about, signer } = event else { return None };
    Some(Approval {
        gate: gate.clone(),
        at: at.to_string(),
        by: by.clone(),
        about: about.clone(),
        signer: signer.clone(),
        signers: workflow.gates.get(gate).and_then(|it| it.signers.clone()),
    })
}

/// Whether an event tells of what a person decided, and belongs into the record.
pub fn is_recorded(event: &Event) -> bool {
    matches!(event, Event::Approved { .. }) || decision(&(Timestamp(0), event.clone())).is_some()
}

fn decision((at, event): &(Timestamp, Event)) -> Option<String> {
    let text = if let Event::Skipped { why } = event {
        format!("a phase was skipped: {why}")
    } else if let Event::Accepted { tree, reason, by } = event {
        format!("tree {tree} was accepted by {by}: {reason}")
    } else if let Event::Prepared { command: None } = event {
        "the run goes without a clean checkout".to_owned()
    } else if let Event::Supplied { check, command } = event {
        format!("the check {check} was given: {command}")
    } else if let Event::Reloaded { keys, definition: _ } = event {
        format!("the workflow was changed: {}", keys.join(", "))
    } else if let Event::Voided { gate, why, .. } = event {
        format!("an approval of gate {gate} was void: {why}")
    } else {
        return None;
    };
    Some(format!("{at} {text}"))
}
