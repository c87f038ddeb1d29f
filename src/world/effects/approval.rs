//! Whether an approval holds: what was asked about is still what is there, it is not too late, and one
//! of the approvers signed it where the gate asks for that. It is looked at right before the gate is
//! passed, by whoever drives the run, whatever the one who took the approval has seen.

use crate::deliver::github::GitHub;
use crate::deliver::pull_request;
use crate::drive::Performed;
use crate::world::real::Host;
use crate::world::wait::now;
use loop_base::time::Timestamp;
use loop_core::engine::{
    Command, Event, News, Presence, Question, QuestionKind, SIGNATURE_NAMESPACE, Signature, Signer, Station,
    Subject, Void,
};
use loop_core::workflow::model::{Gate, Workflow};
use loop_store::run::Run;
use loop_supervise::ssh_keygen::{self, KeyKind};
use std::path::Path;

/// Returns who signed, where the gate asks for it, or why the approval does not count.
pub(crate) fn signer(
    gate: &Gate,
    statement: &str,
    signature: Option<&Signature>,
) -> Result<Option<Box<Signer>>, String> {
    if !gate.sign {
        return Ok(None);
    }
    let Some(signature) = signature else { return Err("it is not signed".to_owned()) };
    let signers = gate.signers.as_deref().unwrap_or_default();
    let principal = ssh_keygen::verify(signers, SIGNATURE_NAMESPACE, statement, &signature.armored)?;
    // Whatever else is said of it could be anybody's who can write into the database.
    let presence = match ssh_keygen::is_touched(&signature.armored) {
        true => Presence::Touch,
        false => Presence::Unknown,
    };
    if gate.presence && !presence.is_shown() {
        let words = presence.words();
        return Err(format!("it was signed with {words}, and the gate asks for a person; {ONLY_TOUCHED}"));
    }
    Ok(Some(Box::new(Signer { principal, presence, armored: signature.armored.clone() })))
}

/// What a gate takes that asks for a person.
pub(crate) const ONLY_TOUCHED: &str = "only the signature of a security key shows that somebody touched it";

/// Returns what stands between this key and its use.
pub(crate) fn presence_of(kind: KeyKind) -> Presence {
    match kind {
        KeyKind::SecurityKey => Presence::Touch,
        KeyKind::Encrypted => Presence::Passphrase,
        KeyKind::InAgent => Presence::Unknown,
        KeyKind::Open => Presence::None,
    }
}

/// Reads who may sign at each gate of a workflow, once for the whole run.
pub(crate) fn pin_signers(workflow: &mut Workflow, project: &Path) -> Result<(), String> {
    for (name, gate) in workflow.gates.iter_mut().filter(|(_, it)| it.sign) {
        let file = project.join(gate.approvers.as_deref().unwrap_or_default());
        let wrong = |why: String| format!("the approvers of gate \"{name}\", {}: {why}", file.display());
        let text = loop_base::files::text(&file).map_err(|error| wrong(error.to_string()))?;
        let is_entry = |it: &&str| !it.trim().is_empty() && !it.trim_start().starts_with('#');
        if !text.lines().any(|it| is_entry(&it)) {
            return Err(wrong("it names nobody".to_owned()));
        }
        gate.signers = Some(text);
    }
    Ok(())
}

impl Host<'_> {
    /// A gate that was asked on a request has its label there until it is answered, wherever that is.
    pub(crate) fn take_labels_off(&mut self, run: &Run, facts: &[(Timestamp, Event)]) {
        let is_answer = |it: &Event| match it {
            Event::Commanded(Command::Answer(_)) | Event::Expired { .. } => true,
            Event::Heard { answer, .. } => answer.is_some(),
            _ => false,
        };
        if !run.workflow.gates.values().any(|it| !it.logins.is_empty())
            || !facts.iter().any(|it| is_answer(&it.1))
        {
            return;
        }
        let open = match &run.state.station {
            Station::Waiting { question: Question { kind: QuestionKind::Gate(name), .. }, answer: None } => {
                Some(name.as_str())
            }
            _ => None,
        };
        let taken = match GitHub::of(run) {
            Ok(Some(hub)) => pull_request::gates_are_over(&hub, open),
            Ok(None) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = taken {
            let text = format!("the label of a gate that was answered stays on the pull request: {why}");
            self.notes.push(News::Noted(text));
        }
    }

    pub(crate) fn confirm(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let Station::Waiting {
            question: Question { kind: QuestionKind::Gate(name), about, .. },
            answer: Some(answer),
        } = &run.state.station
        else {
            anyhow::bail!("an approval is looked at where a gate was answered");
        };
        self.forget_status();
        let status = self.tree.status()?;
        let mut seen = run.state.clone();
        seen.seen.commit = status.commit.clone().unwrap_or_default();
        seen.seen.tree.clone_from(&status.tree);
        let there = Subject::of(&run.workflow, &seen, None);
        let void = |why: String, void| Event::Voided { gate: name.clone(), why, void };
        // What an earlier version asked about is what it had seen last.
        let asked = about.clone().or_else(|| Subject::of(&run.workflow, &run.state, None).map(Box::new));
        let changed = asked.as_ref().zip(there).and_then(|(asked, there)| asked.changed(&there));
        if let Some(why) = changed {
            let (commit, tree) = (seen.seen.commit, seen.seen.tree);
            return Ok(Performed::Done(void(why, Void::Changed { commit, tree })));
        }
        let gate = &run.workflow.gates[name];
        let asked = asked.unwrap_or_default();
        let statement = asked.statement(&run.id, name);
        Ok(Performed::Done(match signer(gate, &statement, answer.signature.as_deref()) {
            _ if asked.expires.is_some_and(|it| it <= now()) => {
                void("it came too late".to_owned(), Void::Expired)
            }
            Err(why) => void(why, Void::Unsigned),
            Ok(signer) => {
                let about = about.clone();
                Event::Approved { gate: name.clone(), by: answer.by.clone(), about, signer }
            }
        }))
    }
}
