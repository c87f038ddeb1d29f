//! What people say to a run: answers to its questions, guidance, skipped skills.

use crate::cli::context::show;
use crate::cli::{Context, hint, json};
use crate::desk::{self, AnswerRequest, Answered, Saying, SignatureSource};
use clap::Args;
use loop_base::text::sanitise;
use loop_core::engine::{Choice, choices};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct AnswerFlags {
    /// The question's number (optional), the choice, and a text if the choice needs one
    #[arg(value_name = "[ID] CHOICE [TEXT]")]
    words: Vec<String>,
    /// Who answers
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Args)]
pub(crate) struct GateFlags {
    /// The gate; optional if only one is waiting
    gate: Option<String>,
    /// Who approves
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Sign the approval with an SSH key: this one, or the usual one in ~/.ssh
    #[arg(long, value_name = "KEY", num_args = 0..=1)]
    sign: Option<Option<PathBuf>>,
    /// Use a signature that was made elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "sign")]
    signature: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ChangesFlags {
    /// The gate (optional), and what to change
    #[arg(value_name = "[GATE] TEXT", required = true)]
    words: Vec<String>,
    /// Who asks
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Args)]
pub(crate) struct RejectFlags {
    /// The gate (optional), and why
    #[arg(value_name = "[GATE] [TEXT]")]
    words: Vec<String>,
    /// Who rejects
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Args)]
pub(crate) struct GuideFlags {
    /// What the next prompt should say
    text: String,
}

#[derive(Args)]
pub(crate) struct SkipFlags {
    /// The skill
    skill: String,
    /// Why it is not needed
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Args)]
pub(crate) struct WaiveFlags {
    /// The finding: a test, a path, a glob of paths, or a check
    what: String,
    /// Why it is accepted
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Who accepts it
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

pub(crate) fn run(context: &Context, flags: &AnswerFlags) -> anyhow::Result<u8> {
    if flags.words.is_empty() {
        return list(context);
    }
    send(context, Saying::Answer(flags.words.clone()), flags.by.as_deref())
}

/// Every question that is open in this project.
fn list(context: &Context) -> anyhow::Result<u8> {
    let open = desk::open_questions(&context.caller)?;
    if context.json {
        let list: Vec<_> = open
            .iter()
            .map(|it| {
                serde_json::json!({
                    "run": it.run, "id": it.question.id, "kind": it.question.kind.word(), "text": it.question.text,
                    "choices": choices(&it.question), "next_step": it.next.as_deref().map(hint::pasteable),
                })
            })
            .collect();
        println!("{}", json::line(&list));
        return Ok(0);
    }
    for question in &open {
        let next = question.next.as_deref().map(|it| format!("; continue with: {}", hint::pasteable(it)));
        let next = next.unwrap_or_default();
        let text = format!("run {}, {}{}", &question.run[..8], sanitise(&question.text), sanitise(&next));
        text.lines().for_each(show);
    }
    if open.is_empty() {
        println!("no question is open");
    }
    Ok(0)
}

pub(crate) fn approve(context: &Context, flags: &GateFlags) -> anyhow::Result<u8> {
    let words = flags.gate.iter().cloned().collect();
    let made = flags.signature.clone().map(SignatureSource::From);
    let sign = flags.sign.clone().map(SignatureSource::With).or(made);
    send(context, Saying::Gate { choice: Choice::Approve, words, sign }, flags.by.as_deref())
}

pub(crate) fn changes(context: &Context, flags: &ChangesFlags) -> anyhow::Result<u8> {
    let words = flags.words.clone();
    send(context, Saying::Gate { choice: Choice::Changes, words, sign: None }, flags.by.as_deref())
}

pub(crate) fn reject(context: &Context, flags: &RejectFlags) -> anyhow::Result<u8> {
    let words = flags.words.clone();
    send(context, Saying::Gate { choice: Choice::Reject, words, sign: None }, flags.by.as_deref())
}

pub(crate) fn guide(context: &Context, flags: &GuideFlags) -> anyhow::Result<u8> {
    send(context, Saying::Guide(flags.text.clone()), None)
}

pub(crate) fn skip(context: &Context, flags: &SkipFlags) -> anyhow::Result<u8> {
    send(context, Saying::Skip { skill: flags.skill.clone(), reason: flags.reason.clone() }, None)
}

pub(crate) fn waive(context: &Context, flags: &WaiveFlags) -> anyhow::Result<u8> {
    let words = Saying::Waive { what: flags.what.clone(), reason: flags.reason.clone() };
    send(context, words, flags.by.as_deref())
}

fn send(context: &Context, words: Saying, by: Option<&str>) -> anyhow::Result<u8> {
    let by = by.unwrap_or(&context.caller.environment.user).to_owned();
    let request = AnswerRequest { words, by };
    let text = match desk::answer(&context.caller, request)? {
        Answered::AtOnce => "saved; the run applies it now".to_owned(),
        Answered::AtNextStop => "saved; the session gets it at its next stop".to_owned(),
        Answered::WhenContinued { with, instead_of } => {
            let instead_of = instead_of.map(|it| format!(" instead of {it}")).unwrap_or_default();
            format!("saved{instead_of}; continue with: {}", hint::pasteable(&with))
        }
        Answered::Void(why) => {
            format!("the work changed since the gate asked: {why}; loop run measures it and asks again")
        }
    };
    if context.json {
        println!("{}", serde_json::json!({ "done": text }));
    } else {
        println!("{text}");
    }
    Ok(0)
}
