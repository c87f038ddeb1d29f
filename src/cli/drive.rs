//! Driving a run from the command line: until it rests, and then what the person at the terminal,
//! or the one who is not there, wants to happen.

use super::ask::{Said, Turn};
use super::context::Context;
use super::voice::Voice;
use super::{open, report};
use crate::drive::drive;
use crate::world::real::{Host, Leash};
use crate::world::wait::{Ears, Heard, Signals, now};
use loop_core::engine::{Answer, Command, Event, Opening, Question, QuestionKind, Rest, Status, acceptable};
use loop_core::workflow::model::PhaseId;
use loop_store::mirror::Mirror;
use loop_store::run::Run;
use loop_store::{Home, Row, TreeLock};
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

/// A run that was taken, with its working tree, and is about to go on.
pub(super) struct Taking {
    taken: Taken,
    place: PathBuf,
    ours: Vec<String>,
    _tree: TreeLock,
}

/// What came of taking a run.
pub(super) enum Took {
    Run(Box<Taking>),
    /// A session of the agent goes on with it; that was said, and this is what to exit with.
    Told(u8),
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
    match take(context, &home, row, going)? {
        Took::Run(it) => go(context, home, *it, asking, reach),
        Took::Told(exit) => Ok(exit),
    }
}

/// Drives what was taken.
pub(super) fn go(
    context: &Context,
    home: Rc<Home>,
    taking: Taking,
    asking: &Ask,
    reach: Reach,
) -> anyhow::Result<u8> {
    let Taking { taken, place, ours, _tree } = taking;
    run(context, home, taken, &place, &ours, asking, reach)
}

/// Takes a run that exists.
pub(super) fn take(context: &Context, home: &Rc<Home>, row: &Row, going: &Going) -> anyhow::Result<Took> {
    let mut taken = Taken::open(home, &row.id)?;
    let run = &mut taken.run;
    if run.state.opening == Opening::default() {
        return Err(super::Trouble::usage(
            format!("run {} was killed before it was opened", &row.id[..8]),
            format!("loop run {:?}", row.input),
        ));
    }
    let place = super::place::again(run, &row.place)?;
    let tree = TreeLock::take(context.home_path(), &place)?;
    let command = Command::Resume { reset: going.reset, phase: going.phase, most: going.most };
    match acceptable(&run.workflow, &run.state, command) {
        Ok(command) => run.record(now(), Event::Commanded(command)),
        Err(why) => return Err(super::Trouble::usage(why, "loop status")),
    }
    if run.state.session.is_some() {
        super::control::conclude(run);
        run.commit()?;
        loop_store::mirror::restore(home, &run.id, &run.workflow, &run.state, &place);
        return Ok(Took::Told(super::hook::tell_how_it_goes_on(context, run)));
    }
    if let Some(question) =
        run.state.question().filter(|it| going.unblock && it.kind == QuestionKind::Blocked)
    {
        let by = std::env::var("USER").unwrap_or_default();
        let answer = Answer { question: question.id, choice: "resume".to_owned(), text: String::new(), by };
        run.record(now(), Event::Commanded(Command::Answer(answer)));
    }
    let ours = open::ours_of(&place, run);
    Ok(Took::Run(Box::new(Taking { taken, place, ours, _tree: tree })))
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
    voice.greet(&run.id, &run.workflow);
    voice.show(&run.workflow, &run.state, &[]);
    let mut mirror = Mirror::open(Rc::clone(&home), &run)?;
    let watcher = Box::new(|run: &Run, facts: &[_]| {
        voice.say(&run.workflow, &run.state, facts);
        mirror.follow(run, place, facts)
    });
    let ears = Ears::new(Rc::clone(&home), &run.id, signals)?;
    let onlooker = voice.onlooker();
    let mut host = Host::new(ears, &run, place, input, ours, leash, watcher)?;
    host.onlooker = onlooker;
    loop {
        let rest = drive(&mut run, &mut host)?;
        match (&rest, asking) {
            (Rest::Waiting(question), Ask::Here) => {
                let check = |command| acceptable(&run.workflow, &run.state, command);
                let answer = voice.ask(question, &check, &mut |nap| {
                    Ok(match host.shim.ears.listen(Some(rustix::stdio::stdin()), nap)? {
                        Heard::Answer => Turn::Typed,
                        Heard::Command | Heard::Now { .. } => Turn::Elsewhere,
                        Heard::Nothing => Turn::Nothing,
                    })
                })?;
                match answer {
                    Said::Answer(command) => leave(&home, &run, &command)?,
                    Said::Elsewhere => (),
                    Said::Nothing => break,
                }
            }
            (Rest::Waiting(question), Ask::Wait) => wait(&mut host, question)?,
            _ => break,
        }
    }
    let signal = host.shim.ears.signals.last();
    drop(host);
    let status = Status::of(&run.state);
    let exit = match signal {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(0),
        None => status.exit(),
    };
    voice.rest(&run.workflow, &run.state, exit);
    report::at_end(context, &home, &run, place);
    let is_offered = run.workflow.finish.ship == "offer" && run.state.is_to_ship(&run.workflow);
    if *asking == Ask::Here && is_offered {
        let id = run.id.clone();
        drop(run);
        if let Some(row) = home.run(&id)? {
            super::ship::offer(context, &home, &row)?;
        }
    }
    Ok(exit)
}

/// Waits until somebody answers, or the question decides itself.
fn wait(host: &mut Host, question: &Question) -> anyhow::Result<()> {
    loop {
        let left = question.deadline.map_or(u64::MAX, |it| it.since(now()));
        if left == 0 {
            return Ok(());
        }
        match host.shim.ears.listen(None, Duration::from_millis(left))? {
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
    if !matches!(run.state.station, loop_core::engine::Station::Working(_)) {
        return Ok(());
    }
    run.record(now(), Event::Commanded(Command::Pause { reason: "begun anew".to_owned() }));
    let ours = open::ours_of(place, run);
    let ears = Ears::new(Rc::clone(home), &run.id, Signals::listen()?)?;
    let mut host = Host::new(ears, run, place, None, &ours, Leash::Free, Box::new(|_, _| Vec::new()))?;
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
