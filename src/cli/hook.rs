//! `loop hook`: what the hooks of an agent call, and how they come into its settings. A stop is
//! answered with what the session is to do next, or with nothing, which lets it go. Whatever is in
//! doubt lets it go with a line on standard error, and the exit status is always 0: to the agent any
//! other would be an error, and 2 a block.

use super::context::{Context, is_unfinished};
use super::open::{Opened, ours_of};
use super::{Common, Trouble};
use crate::drive::drive;
use crate::hook::{self, Setting, Stop, Visit};
use crate::world::wait::now;
use clap::{Args, Subcommand};
use loop_base::text::sanitise;
use loop_core::engine::{Event, Rest, Session, State, Station, Status};
use loop_store::mirror::Mirror;
use loop_store::run::Run;
use loop_store::{Home, Row, TreeLock, fold};
use loop_supervise::which::executable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Answer a session that wants to stop; reads the hook's JSON from standard input
    Stop(StopFlags),
    /// Give the work of this project's run to another session
    Join(JoinFlags),
    /// Put the stop hook into .claude/settings.json of this project
    Install,
}

/// Agents give a hook a minute if nothing else is said.
const CHECKS_SECONDS: u64 = 50;

#[derive(Args)]
pub(super) struct StopFlags {
    /// How long the checks may take, in seconds; the agent's own limit should be ten more
    #[arg(long, value_name = "SECONDS", default_value_t = CHECKS_SECONDS, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

#[derive(Args)]
pub(super) struct JoinFlags {
    /// The session (default: the next one that stops in this project)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub(super) fn run(context: &Context, command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Stop(flags) => {
            stop(context, Duration::from_secs(flags.timeout));
            Ok(0)
        }
        Command::Join(flags) => join(context, flags),
        Command::Install => install(context),
    }
}

/// Answers a session whose hook is called as `hook install` and the plugin write it, without a parser
/// for the command line: making one of all commands takes as long as the rest of most answers.
pub(super) fn answer_plain_stop() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let is_plain = words.next()? == "hook" && words.next()? == "stop" && words.next().is_none();
    is_plain.then(|| {
        stop(&Context::new(Common::default()), Duration::from_secs(CHECKS_SECONDS));
        ExitCode::SUCCESS
    })
}

/// A mistyped hook must not hold a session fast, as the usual exit status of a mistake would.
pub(super) fn misread() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().collect();
    let is_stop = words.iter().any(|it| it == "hook") && words.iter().any(|it| it == "stop");
    let asks = words.iter().any(|it| matches!(it.as_str(), "-h" | "--help"));
    (is_stop && !asks).then(|| {
        warn("the hook's command line is not understood; loop hook stop --help shows it");
        ExitCode::SUCCESS
    })
}

fn stop(context: &Context, timeout: Duration) {
    let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(context, timeout)));
    match answered {
        Ok(Ok(Some(text))) => {
            // Nobody may be left to read it.
            println!("{text}");
        }
        Ok(Ok(None)) => (),
        Ok(Err(error)) => warn(&format!("{error:#}; the session may stop")),
        Err(_) => warn("the hook failed; the session may stop"),
    }
}

fn warn(text: &str) {
    eprintln!("loop: {}", sanitise(text).replace('\n', " "));
}

/// Returns what keeps the session going, or nothing.
fn answer(context: &Context, timeout: Duration) -> anyhow::Result<Option<String>> {
    // An agent that we started ourselves has its own way to report.
    if std::env::var_os("LOOP_RUN").is_some() {
        return Ok(None);
    }
    let bytes = read_input()?;
    let Some(stop) = Stop::parse(&bytes).map_err(|why| anyhow::anyhow!("the hook's input: {why}"))? else {
        return Ok(None);
    };
    let here = context.elsewhere(stop.cwd.as_deref().filter(|it| it.is_dir()));
    let Some(home) = here.home_to_look_at()? else { return Ok(None) };
    let Some(row) = run_of(&here, &home, &stop.session)? else { return Ok(None) };
    let said = match &stop.message {
        Some(message) => message.clone(),
        None => said_in_transcript(&stop)?,
    };
    let place = PathBuf::from(&row.place);
    let mut run = Run::visit(Rc::clone(&home), &row.id, now())?;
    let _tree = TreeLock::take(home.path(), &place)?;
    run.record(now(), Event::Joined(joined(&run.state, &stop)));
    let ours = ours_of(&place, &run);
    let mut visit = visit(home, &run, &place, &ours, Some(said), timeout)?;
    let rest = drive(&mut run, &mut visit)?;
    let cap_lifted = std::env::var("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").is_ok_and(|it| it == "0");
    let reason = match (rest, visit.prompt.take(), visit.cut) {
        (Rest::Elsewhere, Some(prompt), _) => prompt,
        (Rest::Elsewhere, None, true) if visit.is_told_to_end() => {
            warn("the hook was ended before its checks were; they are run at the next stop");
            return Ok(None);
        }
        (Rest::Elsewhere, None, true) => hook::carried_over(timeout),
        (Rest::Elsewhere | Rest::Held(_) | Rest::Waiting(_) | Rest::Closed(_), _, _) => {
            let status = Status::of(&run.state);
            warn(&format!("{}: {}", status.word(), run.state.reason(&run.workflow)));
            return Ok(None);
        }
    };
    Ok(Some(hook::block(&run, &reason, cap_lifted)))
}

fn said_in_transcript(stop: &Stop) -> anyhow::Result<String> {
    let path = stop.transcript.as_deref();
    let path =
        path.ok_or_else(|| anyhow::anyhow!("the hook's input has neither a message nor a transcript"))?;
    hook::last_message(path).map_err(|why| anyhow::anyhow!(why))
}

fn joined(state: &State, stop: &Stop) -> Session {
    let before = state.session.clone().unwrap_or_default();
    let same = before.id == stop.session;
    let carried = matches!(state.station, Station::Reported(_));
    Session {
        id: stop.session.clone(),
        active: stop.active,
        stops: if stop.active && same { before.stops + 1 } else { 1 },
        cuts: if carried { before.cuts + 1 } else { 0 },
    }
}

fn visit<'a>(
    home: Rc<Home>,
    run: &Run,
    place: &'a Path,
    ours: &'a [String],
    said: Option<String>,
    timeout: Duration,
) -> anyhow::Result<Visit<'a>> {
    let input = run.state.opening.path.as_ref().map(PathBuf::from);
    let mut mirror = Mirror::open(Rc::clone(&home), run)?;
    let watcher = Box::new(move |run: &Run, facts: &[_]| mirror.follow(run, place, facts));
    let setting = Setting { home, place, folder: run.folder(), input, ours };
    Ok(Visit::new(setting, said, timeout, watcher))
}

/// Returns the run that this session has, or may take. A run that another session has is none of
/// its business.
fn run_of(context: &Context, home: &Home, session: &str) -> anyhow::Result<Option<Row>> {
    let runs = runs_of_sessions(context, home)?;
    let own = runs.iter().find(|(_, has)| has.id == session);
    let free = |(row, has): &&(Row, Session)| {
        has.id.is_empty() && [Status::Ready, Status::Running].iter().any(|it| it.word() == row.status)
    };
    Ok(own.or_else(|| runs.iter().find(free)).map(|(row, _)| row.clone()))
}

/// Returns the unfinished runs of this project that sessions work on, the newest first.
pub(super) fn runs_of_sessions(context: &Context, home: &Home) -> anyhow::Result<Vec<(Row, Session)>> {
    /// The one part of a state that says whose run it is; the rest is not read.
    #[derive(Deserialize)]
    struct Whose {
        #[serde(default)]
        session: Option<Session>,
    }
    let mut found = Vec::new();
    for row in context.runs_of_project(home)?.into_iter().filter(is_unfinished) {
        let Some(snapshot) = home.snapshot(&row.id)? else { continue };
        let session = match snapshot.state() {
            Some(text) => serde_json::from_str::<Whose>(text)?.session,
            None => fold::state(home, &row.id, &fold::workflow(home, &row.id)?)?.session,
        };
        found.extend(session.map(|session| (row, session)));
    }
    Ok(found)
}

/// Goes as far as the first prompt for a session.
pub(super) fn first_prompt(opened: &mut Opened) -> anyhow::Result<Option<String>> {
    let Opened { home, taken, place, kept, .. } = opened;
    let run = &mut taken.run;
    let mut visit = visit(Rc::clone(home), run, place, kept, None, Duration::MAX)?;
    drive(run, &mut visit)?;
    Ok(visit.prompt.take())
}

/// Says what `loop run` and `loop resume` came to for a run that they cannot drive, and returns what
/// they exit with.
pub(super) fn tell_how_it_goes_on(context: &Context, run: &Run) -> u8 {
    let (status, reason) = (Status::of(&run.state), run.state.reason(&run.workflow));
    let next_step = run.state.next_step(&run.workflow);
    let (exit, what) = match status {
        Status::Ready | Status::Running => (0, "a session of the agent works on it".to_owned()),
        Status::Waiting
        | Status::Paused
        | Status::Halted
        | Status::Stopped
        | Status::Capped
        | Status::Completed
        | Status::Cancelled => (status.exit(), reason.clone()),
    };
    let word = status.word();
    if context.json {
        let object =
            serde_json::json!({ "status": word, "reason": reason, "next_step": next_step, "exit": exit });
        println!("{object}");
    } else {
        println!("run {} is {word}: {}", &run.id[..8], sanitise(&what));
        println!("next: {}", sanitise(&next_step));
    }
    exit
}

fn join(context: &Context, flags: &JoinFlags) -> anyhow::Result<u8> {
    let none =
        || Trouble::usage("no session works on a run of this project", "loop init --preset ralph --hook");
    let home = context.existing_home()?.ok_or_else(none)?;
    let runs = runs_of_sessions(context, &home)?;
    let (row, _) = runs.first().ok_or_else(none)?;
    let mut run = Run::open(Rc::clone(&home), &row.id, now())?;
    let id = flags.session.clone().unwrap_or_default();
    run.record(now(), Event::Joined(Session { id, ..Session::default() }));
    run.commit()?;
    let who = flags
        .session
        .as_deref()
        .map_or("the next session that stops here".to_owned(), |it| format!("session {it}"));
    println!("{} has run {}: {}", sanitise(&who), &row.id[..8], sanitise(&row.input));
    Ok(0)
}

/// Puts the stop hook beside what the project's settings hold.
pub(super) fn install(context: &Context) -> anyhow::Result<u8> {
    let folder = context.project()?.join(".claude");
    let path = folder.join("settings.json");
    let text = match loop_base::files::text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => anyhow::bail!("{} cannot be read: {error}", path.display()),
    };
    let wrong = |why| Trouble::usage(format!("{}: {why}", path.display()), "repair it; nothing was changed");
    match hook::install(&text, &our_command()?, HOOK_SECONDS).map_err(wrong)? {
        None => println!("{} has the hook already", path.display()),
        Some(changed) => {
            std::fs::create_dir_all(&folder)?;
            loop_base::files::replace_for_good(&path, &changed)?;
            println!("the stop hook is in {}", path.display());
            println!("next: loop init --preset ralph --hook \"what to build\"");
        }
    }
    Ok(0)
}

/// Ten seconds more than the checks may take, for what comes before and after them.
const HOOK_SECONDS: u64 = 60;

/// The short name where that is this program, so that a settings file can be shared.
fn our_command() -> anyhow::Result<String> {
    let ours = std::env::current_exe()?.canonicalize()?;
    let found = executable("loop", None).and_then(|it| it.canonicalize().ok());
    if found.as_ref() == Some(&ours) {
        return Ok("loop hook stop".to_owned());
    }
    Ok(format!("'{}' hook stop", ours.to_string_lossy().replace('\'', "'\\''")))
}

/// The longest input that is read; the session's last message is the largest part of it.
const INPUT_BYTES: u64 = 4 << 20;

/// The agent writes at once and closes; whoever does not is no agent.
const INPUT_PATIENCE: Duration = Duration::from_secs(2);

fn read_input() -> anyhow::Result<Vec<u8>> {
    let until = Instant::now() + INPUT_PATIENCE;
    let stdin = std::io::stdin();
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now()))?;
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut fds, Some(&left))? == 0 {
            anyhow::bail!("the hook's input does not end");
        }
        let count = stdin.lock().read(&mut chunk)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&chunk[..count]);
        anyhow::ensure!(bytes.len() as u64 <= INPUT_BYTES, "the hook's input is larger than 4 MB");
    }
}
