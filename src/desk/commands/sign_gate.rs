//! Approving with a signature. The text that is signed follows from the open question alone, so it can
//! be signed here, with a key of the person, or on another machine that has nothing but that text.

use crate::desk::caller::Caller;
use crate::desk::refusal::{NextStep, Refusal};
use crate::world::effects::approval::{ONLY_TOUCHED, presence_of, signer};
use crate::world::wait::now;
use loop_core::engine::{
    Answer, Choice, Command, Presence, Question, QuestionKind, SIGNATURE_NAMESPACE, Signature, State,
};
use loop_core::workflow::model::{Gate, Workflow};
use loop_store::Row;
use loop_supervise::ssh_keygen;
use std::path::{Path, PathBuf};

/// Where the signature comes from.
#[derive(Clone, Debug)]
pub(crate) enum SignatureSource {
    /// A key: this one, or the person's usual one.
    With(Option<PathBuf>),
    /// A file that holds a signature made elsewhere.
    From(PathBuf),
}

/// Keys that are looked for in `~/.ssh` where none is named: first those that ask for a touch.
const USUAL_KEYS: [&str; 5] = ["id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa"];

/// A gate that waits for a signature, and what to sign.
pub(crate) struct ToSign {
    pub gate: String,
    pub statement: String,
    /// Only a security key that was touched counts.
    pub presence: bool,
}

/// Returns what the open question wants signed.
pub(crate) fn to_sign(run: &str, workflow: &Workflow, state: &State) -> Option<ToSign> {
    let (name, gate, question) = open_gate(workflow, state)?;
    let statement = question.about.as_ref().filter(|_| gate.sign)?.statement(run, name);
    Some(ToSign { gate: name.to_owned(), statement, presence: gate.presence })
}

fn open_gate<'a>(workflow: &'a Workflow, state: &'a State) -> Option<(&'a str, &'a Gate, &'a Question)> {
    let question = state.question()?;
    let QuestionKind::Gate(name) = &question.kind else { return None };
    Some((name, workflow.gates.get(name)?, question))
}

/// Returns the person's usual key and what stands between it and its use.
pub(crate) fn usual_key(home: &Path) -> Option<(PathBuf, Result<Presence, String>)> {
    let key = USUAL_KEYS.iter().map(|it| home.join(".ssh").join(it)).find(|it| it.is_file())?;
    let kind = ssh_keygen::kind(&key).map(presence_of);
    Some((key, kind))
}

/// Adds the signature to an approval, and looks whether it holds.
pub(crate) fn sign_gate(
    caller: &Caller,
    row: &Row,
    workflow: &Workflow,
    state: &State,
    command: Command,
    sign: Option<SignatureSource>,
) -> anyhow::Result<Command> {
    let (Some(sign), Command::Answer(answer)) = (sign, &command) else { return Ok(command) };
    let Some((name, gate, question)) = open_gate(workflow, state) else { return Ok(command) };
    if !gate.sign {
        let text = format!("the gate \"{name}\" needs no signature");
        return Err(Refusal::usage(text, format!("loop approve {name}")));
    }
    let about = question.about.clone().unwrap_or_default();
    if about.expires.is_some_and(|it| it <= now()) {
        let text = format!("the question of the gate \"{name}\" has expired; the run asks again");
        return Err(Refusal::usage(text, "loop run"));
    }
    let statement = about.statement(&row.id, name);
    let signature = match sign {
        SignatureSource::From(file) => {
            let file = caller.dir.join(file);
            let armored = loop_base::files::text(&file).map_err(|error| {
                Refusal::usage(
                    format!("{}: {error}", file.display()),
                    NextStep::by_hand("name the file that ssh-keygen wrote"),
                )
            })?;
            Signature { armored, presence: Presence::Unknown }
        }
        SignatureSource::With(key) => with_key(caller, gate, name, key, &statement)?,
    };
    signer(gate, &statement, Some(&signature)).map_err(|why| {
        Refusal::usage(format!("this signature does not pass the gate \"{name}\": {why}"), "loop status")
    })?;
    Ok(Command::Answer(Answer { signature: Some(Box::new(signature)), ..answer.clone() }))
}

fn with_key(
    caller: &Caller,
    gate: &Gate,
    name: &str,
    key: Option<PathBuf>,
    statement: &str,
) -> anyhow::Result<Signature> {
    let key = match key {
        Some(key) => caller.dir.join(key),
        None => match caller.environment.user_home.as_deref().and_then(usual_key) {
            Some((key, _)) => key,
            None => {
                let help = format!("name a key: loop approve {name} --sign KEY");
                return Err(Refusal::usage("no SSH key was found in ~/.ssh", NextStep::by_hand(help)));
            }
        },
    };
    let help = || NextStep::by_hand(format!("name another key: loop approve {name} --sign KEY"));
    let refused = |why: String| Refusal::usage(why, help());
    let kind = ssh_keygen::kind(&key).map_err(refused)?;
    let presence = presence_of(kind);
    if gate.presence && !presence.is_shown() {
        let text = format!(
            "the gate \"{name}\" asks for a person, and {} is {}; {ONLY_TOUCHED}",
            key.display(),
            presence.words()
        );
        let help = format!(
            "name a security key: loop approve {name} --sign KEY; without one, take presence out of \
             [gates.{name}] and start again: loop run --fresh"
        );
        return Err(Refusal::usage(text, NextStep::by_hand(help)));
    }
    let armored = ssh_keygen::sign(&key, kind, SIGNATURE_NAMESPACE, statement).map_err(refused)?;
    Ok(Signature { armored, presence })
}

/// An approval without the signature that its gate asks for is refused before it is written down.
pub(crate) fn refuse_unsigned(
    row: &Row,
    workflow: &Workflow,
    state: &State,
    command: &Command,
) -> anyhow::Result<()> {
    let Command::Answer(Answer { choice: Choice::Approve, signature: None, .. }) = command else {
        return Ok(());
    };
    match to_sign(&row.id, workflow, state) {
        None => Ok(()),
        Some(ToSign { gate, .. }) => Err(Refusal::usage(
            format!("the gate \"{gate}\" needs a signature; loop status shows what to sign"),
            NextStep::PasteOrByHand(
                format!("loop approve {gate} --sign"),
                format!("loop approve {gate} --signature FILE takes one that was made elsewhere"),
            ),
        )),
    }
}
