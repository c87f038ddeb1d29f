//! Runs that a session of the agent works on: it joins, and whenever it wants to stop it is told what
//! comes next, or let go.

use crate::desk::caller::{Caller, is_unfinished, load};
use crate::desk::driving::open::OpenRun;
use crate::desk::idle_world::IdleWorld;
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::own_paths;
use crate::desk::refusal::Refusal;
use crate::drive::{self, drive};
use crate::hook::{self, HookWorld, Setting, Stop};
use crate::world::question_text;
use crate::world::wait::now;
use loop_core::engine::{News, Rest, Session, SessionProcess, State, Station, Status};
use loop_store::mirror::RunMirror;
use loop_store::run::Run;
use loop_store::{Home, Row, TreeLock};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// What came of a stop.
pub(crate) enum Stopped {
    /// It is no business of a run here.
    None,
    /// The session continues, with this answer for the agent.
    GoesOn(String),
    /// It may stop: what to tell the person.
    LetGo(String),
}

/// Answers a session that wants to stop.
pub(crate) fn stopped(
    caller: &Caller,
    stop: &Stop,
    timeout: Duration,
    cap_lifted: bool,
) -> Result<Stopped, Refusal> {
    answer(caller, stop, timeout, cap_lifted).map_err(Refusal::from)
}

fn answer(caller: &Caller, stop: &Stop, timeout: Duration, cap_lifted: bool) -> anyhow::Result<Stopped> {
    let Some(home) = caller.home_to_look_at()? else { return Ok(Stopped::None) };
    let Some(row) = run_of(caller, &home, &stop.session)? else { return Ok(Stopped::None) };
    let said = match &stop.message {
        Some(message) => message.clone(),
        None => said_in_transcript(stop)?,
    };
    let place = PathBuf::from(&row.place);
    let mut run = Run::visit(Rc::clone(&home), &row.id, now())?;
    let _tree = TreeLock::take(home.path(), &place)?;
    let session = joined(caller, &run.state, stop);
    let ours = own_paths::of_run(&place, &run);
    let mut visit = visit(home, &run, &place, &ours, session, Some(said), timeout)?;
    let rest = drive(&mut run, &mut visit)?;
    if let (Rest::Elsewhere, Some(proof)) = (&rest, &visit.proof) {
        let text = proof.words();
        let blocked = run.state.session.as_ref().map_or(0, |it| it.proofs);
        return Ok(if blocked < hook::PROOF_BLOCKS_MOST && !visit.is_told_to_end() {
            Stopped::GoesOn(hook::block(&run, &text, cap_lifted))
        } else {
            Stopped::LetGo(format!("{text}. Until then this run is unverified; the next stop checks again"))
        });
    }
    let reason = match (rest, visit.prompt.take(), visit.cut) {
        (Rest::Elsewhere, Some(prompt), _) => prompt,
        (Rest::Elsewhere, None, true) if visit.is_told_to_end() => {
            let text = "the hook was ended before its checks were; they are run at the next stop";
            return Ok(Stopped::LetGo(text.to_owned()));
        }
        (Rest::Elsewhere, None, true) => hook::carried_over(timeout),
        (Rest::Elsewhere | Rest::Held(_) | Rest::Waiting(_) | Rest::Closed(_), _, _) => {
            let status = Status::of(&run.state);
            let reason = run.state.reason(&run.workflow);
            let text = match run.state.question() {
                Some(question) => format!(
                    "{}: {}",
                    status.word(),
                    question_text::whole(&run.workflow, &run.state, question)
                ),
                None => format!("{}: {reason}", status.word()),
            };
            return Ok(Stopped::LetGo(text));
        }
    };
    Ok(Stopped::GoesOn(hook::block(&run, &reason, cap_lifted)))
}

fn said_in_transcript(stop: &Stop) -> anyhow::Result<String> {
    let path = stop.transcript.as_deref();
    let path =
        path.ok_or_else(|| anyhow::anyhow!("the hook's input has neither a message nor a transcript"))?;
    hook::last_message(path).map_err(|why| anyhow::anyhow!(why))
}

/// Whether the request comes from the session that works on a run, which has only to stop again to learn what came of
/// the proof of its work.
pub(crate) fn stops_again(caller: &Caller, state: &State) -> bool {
    let is_judged = matches!(state.station, Station::Judged(_) | Station::Leaving { .. });
    let process = state.session.as_ref().and_then(|it| it.process.as_ref());
    let line = &caller.environment.process_line;
    let is_inside = process.is_some_and(|it| line.descends_from(it.pid, it.start, &it.boot));
    is_judged && is_inside && state.hold.is_none()
}

fn joined(caller: &Caller, state: &State, stop: &Stop) -> Session {
    let before = state.session.clone().unwrap_or_default();
    let same = before.id == stop.session;
    let carried = matches!(state.station, Station::Reported(_));
    // What was judged waits only for its proof.
    let is_proven = matches!(state.station, Station::Judged(_) | Station::Leaving { .. });
    Session {
        id: stop.session.clone(),
        active: stop.active,
        stops: if stop.active && same { before.stops + 1 } else { 1 },
        cuts: if carried { before.cuts + 1 } else { 0 },
        proofs: if is_proven { before.proofs + 1 } else { 0 },
        process: caller.environment.process_line.caller().map(|(pid, start, boot)| SessionProcess {
            pid,
            start,
            boot,
        }),
    }
}

fn visit<'a>(
    home: Rc<Home>,
    run: &Run,
    place: &'a Path,
    ours: &'a [String],
    session: Session,
    said: Option<String>,
    timeout: Duration,
) -> anyhow::Result<HookWorld<'a>> {
    let input = run.state.opening.path.as_ref().map(PathBuf::from);
    let mut mirror = RunMirror::open(Rc::clone(&home), run, place)?;
    let found = mirror.look_back(run, place)?;
    let news = std::iter::once(News::Joined(session)).chain(found).map(|it| (now(), it)).collect();
    let watcher = Box::new(move |run: &Run, facts: &[_]| mirror.follow(run, place, facts));
    let setting = Setting { home, place, folder: run.folder(), input, ours };
    Ok(HookWorld::new(setting, news, said, timeout, watcher))
}

/// Returns the run that this session has, or may take. A run that another session has is none of
/// its business.
fn run_of(caller: &Caller, home: &Home, session: &str) -> anyhow::Result<Option<Row>> {
    let runs = of_project(caller, home)?;
    let own = runs.iter().find(|(_, has)| has.id == session);
    let free = |(row, has): &&(Row, Session)| {
        has.id.is_empty() && matches!(row.status, Status::Ready | Status::Running)
    };
    Ok(own.or_else(|| runs.iter().find(free)).map(|(row, _)| row.clone()))
}

/// Returns the unfinished runs of this project that sessions work on, the newest first.
pub(crate) fn of_project(caller: &Caller, home: &Home) -> anyhow::Result<Vec<(Row, Session)>> {
    /// The one part of a state that says whose run it is; the rest is not read.
    #[derive(Deserialize)]
    struct Whose {
        #[serde(default)]
        session: Option<Session>,
    }
    let mut found = Vec::new();
    for row in caller.runs_of_project(home)?.into_iter().filter(is_unfinished) {
        let Some(snapshot) = home.snapshot(&row.id)? else { continue };
        let session = match snapshot.state() {
            Some(text) => serde_json::from_str::<Whose>(text)?.session,
            None => load(home, &row)?.1.session,
        };
        found.extend(session.map(|session| (row, session)));
    }
    Ok(found)
}

/// Gives an opened run to a session, or to the first one that stops, and goes as far as its first
/// prompt.
pub(crate) fn first_prompt(opened: &mut OpenRun, session: Option<&str>) -> Result<Option<String>, Refusal> {
    let OpenRun { home, run, place, own_paths, .. } = opened;
    let id = session.unwrap_or_default().to_owned();
    let session = Session { id, ..Session::default() };
    let mut visit = visit(Rc::clone(home), run, place, own_paths, session, None, Duration::MAX)?;
    drive(run, &mut visit)?;
    Ok(visit.prompt.take())
}

/// Gives the work of this project's run to another session; returns the run.
pub(crate) fn join(caller: &Caller, session: Option<&str>) -> Result<Row, Refusal> {
    let join = || -> anyhow::Result<Row> {
        let none = || {
            Refusal::usage(
                "no session works on a run of this project",
                "loop init --preset ralph --hook \"what to build\"",
            )
        };
        inside_call::refuse(caller, None, GuardedCommand::Join)?;
        let home = caller.existing_home()?.ok_or_else(none)?;
        let (row, _) = of_project(caller, &home)?.into_iter().next().ok_or_else(none)?;
        let mut run = Run::open(Rc::clone(&home), &row.id, now())?;
        let id = session.unwrap_or_default().to_owned();
        let joined = News::Joined(Session { id, ..Session::default() });
        drive::commit(&mut run, &mut IdleWorld::new(&home, Path::new(&row.place)).with(joined))?;
        Ok(row)
    };
    join().map_err(Refusal::from)
}
