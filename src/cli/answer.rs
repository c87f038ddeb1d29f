//! What people say to a run: answers to its questions, guidance, skipped skills.

use super::context::is_unfinished;
use super::control::leave;
use super::log::none;
use super::trouble::meant;
use super::{Context, Trouble, status};
use crate::world::wait::call_around_us;
use clap::Args;
use loop_base::text::sanitise;
use loop_core::engine::{Answer, Choice, Command, QuestionKind, acceptable, choices};
use loop_store::{Home, Row};
use std::rc::Rc;

#[derive(Args)]
pub(super) struct Flags {
    /// The question's number, which may be left out; then the choice, and a text where it needs one
    #[arg(value_name = "[ID] CHOICE [TEXT]")]
    words: Vec<String>,
    /// Who answers
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Args)]
pub(super) struct GateFlags {
    /// The gate, which may be left out when one waits
    gate: Option<String>,
    /// Who approves
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Args)]
pub(super) struct ChangesFlags {
    /// The gate, which may be left out, and what to change
    #[arg(value_name = "[GATE] TEXT", required = true)]
    words: Vec<String>,
    /// Who asks
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Args)]
pub(super) struct RejectFlags {
    /// The gate, which may be left out, and why
    #[arg(value_name = "[GATE] [TEXT]")]
    words: Vec<String>,
    /// Who rejects
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

#[derive(Args)]
pub(super) struct GuideFlags {
    /// What the next prompt should say
    text: String,
}

#[derive(Args)]
pub(super) struct SkipFlags {
    /// The skill
    skill: String,
    /// Why it is not needed
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    let Some((home, row)) = found(context)? else { return none() };
    if flags.words.is_empty() {
        return list(context, &home);
    }
    let (_, state) = status::load(&home, &row)?;
    let Some(question) = state.question() else {
        return Err(Trouble::usage("no question is open", "loop status shows where the run stands"));
    };
    let (id, words) = match flags.words[0].parse::<u32>() {
        Ok(id) => (id, &flags.words[1..]),
        Err(_) => (question.id, &flags.words[..]),
    };
    let Some((choice, text)) = words.split_first() else {
        return Err(Trouble::usage(
            "the answer is missing",
            format!("one of: {}", choices(question).join(", ")),
        ));
    };
    send(context, &home, &row, answer(id, choice.clone().into(), &text.join(" "), flags.by.as_deref()))
}

/// Every question that is open in this project.
fn list(context: &Context, home: &Home) -> anyhow::Result<u8> {
    let mut open = 0;
    for row in context.runs_of_project(home)?.iter().filter(|it| is_unfinished(it)) {
        for question in home.open_questions(&row.id)? {
            open += 1;
            let choices: Vec<String> = serde_json::from_str(&question.choices).unwrap_or_default();
            println!("run {}, question {}: {}", &row.id[..8], question.id, sanitise(&question.text));
            println!("  answers: {}", choices.join(", "));
        }
    }
    if open == 0 {
        println!("no question is open");
    }
    Ok(0)
}

pub(super) fn approve(context: &Context, flags: &GateFlags) -> anyhow::Result<u8> {
    at_gate(context, flags.gate.iter().cloned().collect(), Choice::Approve, flags.by.as_deref())
}

pub(super) fn changes(context: &Context, flags: &ChangesFlags) -> anyhow::Result<u8> {
    at_gate(context, flags.words.clone(), Choice::Changes, flags.by.as_deref())
}

pub(super) fn reject(context: &Context, flags: &RejectFlags) -> anyhow::Result<u8> {
    at_gate(context, flags.words.clone(), Choice::Reject, flags.by.as_deref())
}

pub(super) fn guide(context: &Context, flags: &GuideFlags) -> anyhow::Result<u8> {
    let Some((home, row)) = found(context)? else { return none() };
    send(context, &home, &row, Command::Guide { text: flags.text.clone() })
}

pub(super) fn skip(context: &Context, flags: &SkipFlags) -> anyhow::Result<u8> {
    let Some((home, row)) = found(context)? else { return none() };
    send(context, &home, &row, Command::Skip { skill: flags.skill.clone(), reason: flags.reason.clone() })
}

fn found(context: &Context) -> anyhow::Result<Option<(Rc<Home>, Row)>> {
    let Some(home) = context.existing_home()? else { return Ok(None) };
    Ok(context.find_to_change(&home)?.map(|row| (home, row)))
}

fn at_gate(
    context: &Context,
    mut words: Vec<String>,
    choice: Choice,
    by: Option<&str>,
) -> anyhow::Result<u8> {
    let Some((home, row)) = found(context)? else { return none() };
    let (workflow, state) = status::load(&home, &row)?;
    let open = match state.question().map(|it| (it.id, &it.kind)) {
        Some((id, QuestionKind::Gate(gate))) => (id, gate.clone()),
        Some(_) | None => {
            return Err(Trouble::usage(
                "no gate waits for a person",
                "loop status shows where the run stands",
            ));
        }
    };
    let named = words.first().and_then(|it| workflow.gates.keys().find(|gate| gate.eq_ignore_ascii_case(it)));
    if let Some(first) = named {
        if *first != open.1 {
            let text = format!("the gate \"{first}\" does not wait; \"{}\" does", open.1);
            return Err(Trouble::usage(text, format!("loop {choice} {}", open.1)));
        }
        words.remove(0);
    } else if choice == Choice::Approve && !words.is_empty() {
        let text = format!("no gate is called \"{}\"", words[0]);
        let known = workflow.gates.keys().map(String::as_str);
        return Err(Trouble::usage(text, format!("{}; loop approve {}", meant(&words[0], known), open.1)));
    }
    send(context, &home, &row, answer(open.0, choice, &words.join(" "), by))
}

fn answer(question: u32, choice: Choice, text: &str, by: Option<&str>) -> Command {
    let by = by.map(str::to_owned).or_else(|| std::env::var("USER").ok()).unwrap_or_default();
    Command::Answer(Answer { question, choice, text: text.to_owned(), by })
}

/// A person's word comes from outside every agent call.
pub(super) fn refuse_agents() -> anyhow::Result<()> {
    match call_around_us() {
        Some(run) => Err(Trouble::usage(
            format!("this is inside an agent call of run {run}; only a person may answer"),
            "answer from another terminal",
        )),
        None => Ok(()),
    }
}

fn send(context: &Context, home: &Home, row: &Row, command: Command) -> anyhow::Result<u8> {
    refuse_agents()?;
    let (workflow, state) = status::load(home, row)?;
    let command = acceptable(&workflow, &state, command).map_err(|why| Trouble::usage(why, "loop status"))?;
    let owned = leave(home, row, &command)?;
    let text = match (owned, &state.session) {
        (true, _) => "recorded; the run takes it at once",
        (false, Some(_)) => "recorded; the session is told at its next stop",
        (false, None) => "recorded; loop run goes on",
    };
    if context.json {
        println!("{}", serde_json::json!({ "done": text }));
    } else {
        println!("{text}");
    }
    Ok(0)
}
