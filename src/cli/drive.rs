//! Driving a run from the command line: until it rests, and then what the person at the terminal,
//! or the one who is not there, wants to happen.

use super::context::Context;
use super::voice::Voice;
use super::{ask, open, report};
use crate::drive::drive;
use crate::engine::{Answer, Command, Event, Opening, Question, QuestionKind, Rest, Status, acceptable};
use crate::host::ears::{Ears, Heard, Signals, now};
use crate::host::world::{Host, Leash};
use crate::store::mirror::Mirror;
use crate::store::run::Run;
use crate::store::{Home, Row, TreeLock};
use crate::workflow::model::PhaseId;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// How far this process goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Far,
    OneCall,
}

/// What happens at a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// It is asked on the terminal.
    Here,
    /// Answers come from elsewhere.
    Wait,
    Exit,
}

/// How a run that rested goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Going {
    pub reset: bool,
    pub phase: Option<PhaseId>,
    pub most: Option<u32>,
    /// The person's word that what blocked the run is gone.
    pub unblock: bool,
}

/// A run that this process owns. Whoever wants it to end is heard from before it is taken.
pub(super) struct Taken {
    pub run: Run,
    signals: Signals,
}

impl Taken {
    pub(super) fn open(home: &Rc<Home>, id: &str) -> anyhow::Result<Taken> {
        let signals = Signals::listen()?;
        Ok(Taken { run: Run::open(Rc::clone(home), id, now())?, signals })
    }
}

/// Takes a run that exists and drives it.
pub(super) fn resume(
    context: &Context,
    home: Rc<Home>,
    row: &Row,
    going: &Going,
    asking: &Ask,
    reach: Reach,
) -> anyhow::Result<u8> {
    let mut taken = Taken::open(&home, &row.id)?;
    let run = &mut taken.run;
    if run.state.opening == Opening::default() {
        return Err(super::Trouble::usage(
            format!("run {} was killed before it was opened", &row.id[..8]),
            format!("loop run {:?}", row.input),
        ));
    }
    let place = super::place::again(run, &row.place)?;
    let _tree = TreeLock::take(context.home_path(), &place)?;
    let command = Command::Resume { reset: going.reset, phase: going.phase, most: going.most };
    match acceptable(&run.workflow, &run.state, command) {
        Ok(command) => run.record(now(), Event::Commanded(command)),
        Err(why) => return Err(super::Trouble::usage(why, "loop status")),
    }
    if run.state.session.is_some() {
        super::control::conclude(run);
        run.commit()?;
        crate::store::mirror::restore(&home, &run.id, &run.workflow, &run.state, &place);
        return Ok(super::hook::tell_how_it_goes_on(context, run));
    }
    if let Some(question) =
        run.state.question().filter(|it| going.unblock && it.kind == QuestionKind::Blocked)
    {
        let by = std::env::var("USER").unwrap_or_default();
        let answer = Answer { question: question.id, choice: "resume".to_owned(), text: String::new(), by };
        run.record(now(), Event::Commanded(Command::Answer(answer)));
    }
    let ours = open::ours_of(&place, run);
    self::run(context, home, taken, &place, &ours, asking, reach)
}

/// Drives a run until it rests, and says how.
pub(super) fn run(
    context: &Context,
    home: Rc<Home>,
    taken: Taken,
    place: &Path,
    ours: &[String],
    asking: &Ask,
    reach: Reach,
) -> anyhow::Result<u8> {
    let Taken { mut run, signals } = taken;
    let leash = match reach {
        Reach::Far => Leash::Free,
        Reach::OneCall => Leash::Calls(1),
    };
    let input = run.state.opening.path.as_ref().map(PathBuf::from);
    if reach == Reach::Far {
        home.grow_log()?;
    }
    let voice = Voice::new(context);
    voice.greet(&run);
    let mut mirror = Mirror::open(Rc::clone(&home), &run)?;
    let watcher = Box::new(|run: &Run, facts: &[_]| {
        voice.say(run, facts);
        mirror.follow(run, place, facts);
    });
    let ears = Ears::new(Rc::clone(&home), &run.id, signals)?;
    let onlooker = voice.onlooker();
    let mut host = Host::new(ears, &run, place, input, ours, leash, watcher)?;
    host.onlooker = onlooker;
    loop {
        let rest = drive(&mut run, &mut host)?;
        match (&rest, asking) {
            (Rest::Waiting(question), Ask::Here) => {
                let mut called = false;
                let answer = ask::question(question, &mut || {
                    called = !host.ears.await_input()?;
                    Ok(!called)
                })?;
                match answer {
                    Some(command) => leave(&home, &run, &command)?,
                    // Somebody else has answered, or wants it to end: both are found in the journal.
                    None if called => (),
                    None => break,
                }
            }
            (Rest::Waiting(question), Ask::Wait) => wait(&mut host, question)?,
            _ => break,
        }
    }
    let signal = host.ears.signals.last();
    drop(host);
    let status = Status::of(&run.state);
    let exit = match signal {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(0),
        None => status.exit(),
    };
    voice.rest(&run, status, exit);
    report::at_end(context, &run, place);
    Ok(exit)
}

/// Waits until somebody answers, or the question decides itself.
fn wait(host: &mut Host, question: &Question) -> anyhow::Result<()> {
    loop {
        let left = question.deadline.map_or(u64::MAX, |it| it.since(now()));
        if left == 0 {
            return Ok(());
        }
        match host.ears.listen(None, Duration::from_millis(left))? {
            Heard::Command | Heard::Now { .. } => return Ok(()),
            Heard::Answer | Heard::Nothing => (),
        }
    }
}

fn leave(home: &Home, run: &Run, command: &Command) -> anyhow::Result<()> {
    home.command(&run.id, now().0, &serde_json::to_string(command)?)?;
    Ok(())
}

/// Ends the call of a run that nobody owns any more.
pub(super) fn end_call(home: &Rc<Home>, run: &mut Run, place: &Path) -> anyhow::Result<()> {
    if !matches!(run.state.station, crate::engine::Station::Working(_)) {
        return Ok(());
    }
    run.record(now(), Event::Commanded(Command::Pause { reason: "begun anew".to_owned() }));
    let ours = open::ours_of(place, run);
    let ears = Ears::new(Rc::clone(home), &run.id, Signals::listen()?)?;
    let mut host = Host::new(ears, run, place, None, &ours, Leash::Free, Box::new(|_, _| ()))?;
    drive(run, &mut host)?;
    Ok(())
}

pub(super) fn completed_before(context: &Context, home: &Home, row: &Row) -> anyhow::Result<u8> {
    if context.json {
        let object = serde_json::json!({
            "status": row.status, "reason": row.reason, "next_step": "loop run --fresh", "exit": 0,
        });
        println!("{}", super::json::line(&object));
        return Ok(0);
    }
    let _ = home;
    println!("run {} is already completed: {}", &row.id[..8], row.reason.as_deref().unwrap_or(""));
    println!("next: loop run --fresh begins anew");
    Ok(0)
}
