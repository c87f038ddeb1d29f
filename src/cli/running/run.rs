//! `loop run` and `loop next`: continue the run that is meant or open one, and drive it. What the
//! desk cannot settle alone is asked here, where somebody can be asked.

use super::detach;
use super::drive::{self, Ask};
use super::flags::{OnQuestion, RunFlags};
use super::jobs;
use crate::cli::context::Context;
use crate::cli::terminal::desk_question;
use crate::cli::{hint, json};
use crate::desk::{
    self, About, CarriedOutBy, Continued, FoundRun, Going, Note, OpenReply, PersonReply, Reach,
    RequestQuestion, RunRequest,
};
use loop_store::Home;
use std::rc::Rc;

pub(crate) fn run(context: &Context, flags: &RunFlags, reach: Reach) -> anyhow::Result<u8> {
    detach::refuse_one_call(flags.detach, reach)?;
    if let Some(jobs) = flags.jobs {
        return jobs::run(context, flags, jobs, reach);
    }
    let asking = asking(flags.on_question, context.is_interactive());
    let mut request = flags.request(CarriedOutBy::Us);
    request.ask_before_resuming = asking == Ask::Here;
    let mut told = TellOnce::default();
    loop {
        let question = match open(context, &request, &mut told)? {
            OpenReply::Question(question) => *question,
            OpenReply::Next(text) => return Ok(tell_next(context, &text)),
            OpenReply::Before(found) | OpenReply::Adopted(found) => {
                match told.with(context, |notes| desk::ready(&context.caller, &found, &request, notes))? {
                    Continued::Done(text) => return drive::done_before(context, &found, &text),
                    Continued::Anew(why) => {
                        tell_why(context, &found.row.id, &why);
                        request.fresh = true;
                        request.input.get_or_insert_with(|| found.row.input.clone());
                        continue;
                    }
                    Continued::Ready(going) if flags.detach => {
                        let FoundRun { home, row } = found;
                        return detach::start(context, &home, &row.id, &going, flags.on_question);
                    }
                    Continued::Ready(going) => {
                        let (home, id) = (Rc::clone(&found.home), found.row.id.clone());
                        let exit = drive::resume(context, found, &going, &asking, reach)?;
                        match next_request(flags, &home, &id, exit, reach)? {
                            Some(next) => request = next,
                            None => return Ok(exit),
                        }
                        continue;
                    }
                    Continued::Question(question) => *question,
                }
            }
            OpenReply::Opened(it) if flags.detach => {
                let (home, id) = (Rc::clone(&it.home), it.run.id.clone());
                // Whoever continues takes the run and its tree, so both are let go here.
                drop(it);
                return detach::start(context, &home, &id, &Going::default(), flags.on_question);
            }
            OpenReply::Opened(it) => {
                let (home, id) = (Rc::clone(&it.home), it.run.id.clone());
                let exit = drive::run(context, *it, &asking, reach)?;
                match next_request(flags, &home, &id, exit, reach)? {
                    Some(next) => request = next,
                    None => return Ok(exit),
                }
                continue;
            }
        };
        request = match answered(context, question, request)? {
            Some(request) => request,
            None => return Ok(5),
        };
    }
}

/// The run of the next system, where the workflow continues with it.
fn next_request(
    flags: &RunFlags,
    home: &Home,
    run: &str,
    exit: u8,
    reach: Reach,
) -> anyhow::Result<Option<RunRequest>> {
    if exit != 0 || reach != Reach::Far {
        return Ok(None);
    }
    let next = desk::next_system(home, run)?;
    Ok(next.map(|it| RunRequest { input: Some(it), ..flags.request(CarriedOutBy::Us) }))
}

/// The notes that were told while one request went back and forth: nothing is said twice.
#[derive(Default)]
pub(crate) struct TellOnce(Vec<Note>);

impl TellOnce {
    /// Asks the desk something, and tells what it noted, however that ends.
    pub(crate) fn with<T>(&mut self, context: &Context, ask: impl FnOnce(&mut Vec<Note>) -> T) -> T {
        let mut notes = Vec::new();
        let answer = ask(&mut notes);
        notes.retain(|it| !self.0.contains(it));
        context.tell(&notes);
        self.0.extend(notes);
        answer
    }
}

/// Opens what is asked for. A question comes back only where somebody can be asked.
pub(crate) fn open(
    context: &Context,
    request: &RunRequest,
    told: &mut TellOnce,
) -> anyhow::Result<OpenReply> {
    match told.with(context, |notes| desk::open(&context.caller, request, notes))? {
        OpenReply::Question(question) if !context.is_interactive() => Err(question.unasked.into()),
        found => Ok(found),
    }
}

/// Puts a question to the person. Returns the request with the answer in it, or nothing where a run
/// that stopped is to be left alone.
pub(crate) fn answered(
    context: &Context,
    question: RequestQuestion,
    request: RunRequest,
) -> anyhow::Result<Option<RunRequest>> {
    if !context.is_interactive() {
        return Err(question.unasked.into());
    }
    let choice = desk_question(&question)?.unwrap_or(PersonReply::Abort);
    match request.answered(choice, question.about) {
        Some(request) => Ok(Some(request)),
        None if question.about == About::Resume => {
            context.tell(&[Note::for_people(question.aborted.text)]);
            if let Some(step) = question.aborted.next.filter(|_| !context.quiet && !context.json) {
                eprintln!("{}", hint::next(step.first()));
            }
            Ok(None)
        }
        None => Err(question.aborted.into()),
    }
}

/// Says why a finished run is followed by another one.
pub(super) fn tell_why(context: &Context, run: &str, why: &[String]) {
    let text = format!("run {} is finished; starting a new one: {}", &run[..8], why.join("; "));
    context.tell(&[Note::for_people(text)]);
}

pub(crate) fn tell_next(context: &Context, text: &str) -> u8 {
    match context.json {
        true => println!("{}", json::line(&serde_json::json!({ "next_decision": text }))),
        false => println!("next decision: {}", loop_base::text::sanitise(text)),
    }
    0
}

/// What to do at a question: as the flag says, else ask on a terminal and exit elsewhere.
pub(crate) fn asking(on_question: Option<OnQuestion>, interactive: bool) -> Ask {
    match on_question {
        Some(OnQuestion::Wait) => Ask::Wait,
        Some(OnQuestion::Exit) => Ask::Exit,
        Some(OnQuestion::Ask) | None if interactive => Ask::Here,
        Some(OnQuestion::Ask) | None => Ask::Exit,
    }
}
