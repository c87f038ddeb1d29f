//! What an agent may not do. Every request that changes something comes by here first: inside a call
//! of ours all of them are refused, and so they are to whatever outlived its call. A session with our
//! hook is not a call of ours; to its processes only what is a person's word is refused. The attempt
//! is written down for the run that it came from, and stands in its journal.

use super::caller::{Caller, is_unfinished, load};
use super::refusal::{NextStep, Refusal};
use crate::world::wait::now;
use loop_core::engine::Command;
use loop_store::{Filter, Home, Row};
use std::path::Path;
use std::time::Duration;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuardedCommand {
    Answer,
    Gate,
    Guide,
    Skip,
    Waive,
    Stop,
    Pause,
    Cancel,
    Run,
    Resume,
    /// `resume --reset`: the counters that protect a run.
    Reset,
    /// `--reload`, and flags that change what a run was opened with.
    Reload,
    Ship,
    Restore,
    Prune,
    ClearLimits,
    Join,
    Queue,
    SetUp,
    InstallHook,
    RemoveHook,
    /// `doctor --fix`.
    Fix,
    Design,
}

impl GuardedCommand {
    /// The command, as it is typed.
    fn word(self) -> &'static str {
        match self {
            GuardedCommand::Answer => "answer",
            GuardedCommand::Gate => "approve, changes or reject",
            GuardedCommand::Guide => "guide",
            GuardedCommand::Skip => "skip",
            GuardedCommand::Waive => "waive",
            GuardedCommand::Stop => "stop",
            GuardedCommand::Pause => "pause",
            GuardedCommand::Cancel => "cancel",
            GuardedCommand::Run => "run",
            GuardedCommand::Resume => "resume",
            GuardedCommand::Reset => "resume --reset",
            GuardedCommand::Reload => "run --reload",
            GuardedCommand::Ship => "ship",
            GuardedCommand::Restore => "restore",
            GuardedCommand::Prune => "runs --prune",
            GuardedCommand::ClearLimits => "limits --clear",
            GuardedCommand::Join => "hook join",
            GuardedCommand::Queue => "queue add, set, import or accept",
            GuardedCommand::SetUp => "setup",
            GuardedCommand::InstallHook => "hook install",
            GuardedCommand::RemoveHook => "hook remove",
            GuardedCommand::Fix => "doctor --fix",
            GuardedCommand::Design => "design",
        }
    }

    /// The flag that makes a command one that changes something.
    fn flag(self) -> Option<&'static str> {
        match self {
            GuardedCommand::Reset => Some("--reset"),
            GuardedCommand::Reload => Some("--reload"),
            GuardedCommand::Prune => Some("--prune"),
            GuardedCommand::ClearLimits => Some("--clear"),
            GuardedCommand::Fix => Some("--fix"),
            GuardedCommand::Answer
            | GuardedCommand::Gate
            | GuardedCommand::Guide
            | GuardedCommand::Skip
            | GuardedCommand::Waive
            | GuardedCommand::Stop
            | GuardedCommand::Pause
            | GuardedCommand::Cancel
            | GuardedCommand::Run
            | GuardedCommand::Resume
            | GuardedCommand::Ship
            | GuardedCommand::Restore
            | GuardedCommand::Join
            | GuardedCommand::Queue
            | GuardedCommand::SetUp
            | GuardedCommand::InstallHook
            | GuardedCommand::RemoveHook
            | GuardedCommand::Design => None,
        }
    }

    /// Returns the command that was tried, as far as it was typed: several commands ask for one thing.
    fn tried(self, caller: &Caller) -> String {
        match (caller.environment.command.as_str(), self.flag()) {
            ("", _) => self.word().to_owned(),
            (typed, None) => typed.to_owned(),
            (typed, Some(flag)) => format!("{typed} {flag}"),
        }
    }

    /// Whether it is a person's word, which a session cannot speak for them.
    fn is_a_persons_word(self) -> bool {
        match self {
            GuardedCommand::Answer
            | GuardedCommand::Gate
            | GuardedCommand::Skip
            | GuardedCommand::Waive
            | GuardedCommand::Reset
            | GuardedCommand::Reload => true,
            GuardedCommand::Guide
            | GuardedCommand::Stop
            | GuardedCommand::Pause
            | GuardedCommand::Cancel
            | GuardedCommand::Run
            | GuardedCommand::Resume
            | GuardedCommand::Ship
            | GuardedCommand::Restore
            | GuardedCommand::Prune
            | GuardedCommand::ClearLimits
            | GuardedCommand::Join
            | GuardedCommand::Queue
            | GuardedCommand::SetUp
            | GuardedCommand::InstallHook
            | GuardedCommand::RemoveHook
            | GuardedCommand::Fix
            | GuardedCommand::Design => false,
        }
    }

    fn refusal(self, caller: &Caller, run: &str) -> anyhow::Error {
        let run = run.get(..8).unwrap_or(run);
        let text = format!("this is inside an agent call of run {run}");
        match self {
            GuardedCommand::Run => Refusal::usage(
                format!("{text}; a run inside a run needs --nested and its own working tree"),
                NextStep::by_hand("add --nested, and name another repository with -C DIR"),
            ),
            GuardedCommand::Answer
            | GuardedCommand::Gate
            | GuardedCommand::Guide
            | GuardedCommand::Skip
            | GuardedCommand::Waive => Refusal::usage(
                format!("{text}; only a person may answer"),
                NextStep::by_hand("answer from another terminal"),
            ),
            GuardedCommand::Stop
            | GuardedCommand::Pause
            | GuardedCommand::Cancel
            | GuardedCommand::Resume
            | GuardedCommand::Reset
            | GuardedCommand::Reload
            | GuardedCommand::Ship
            | GuardedCommand::Restore
            | GuardedCommand::Prune
            | GuardedCommand::ClearLimits
            | GuardedCommand::Join
            | GuardedCommand::Queue
            | GuardedCommand::SetUp
            | GuardedCommand::InstallHook
            | GuardedCommand::RemoveHook
            | GuardedCommand::Fix
            | GuardedCommand::Design => Refusal::usage(
                format!("{text}; only a person may use loop {}", self.tried(caller)),
                NextStep::by_hand("do it from another terminal"),
            ),
        }
    }
}

/// Refuses what comes from an agent. `about` is the run that the request is for, where there is one.
pub(crate) fn refuse(
    caller: &Caller,
    about: Option<(&Home, &Row)>,
    deed: GuardedCommand,
) -> anyhow::Result<()> {
    if let Some(run) = call_of(caller) {
        note(caller, &run, deed);
        return Err(deed.refusal(caller, &run));
    }
    if caller.environment.process_line.is_hidden() {
        return Err(unseen(
            "something is mounted over /proc, so loop cannot tell who is asking",
            caller,
            deed,
        ));
    }
    if let Some(run) = below_controller(caller, deed)? {
        note(caller, &run, deed);
        let text = format!("this was started by whoever drives run {}", &run[..8]);
        return Err(Refusal::usage(
            format!("{text}; only a person may use loop {}", deed.tried(caller)),
            NextStep::by_hand("do it from another terminal"),
        ));
    }
    if let Some(run) = driven_unseen(caller, deed)? {
        note(caller, &run, deed);
        let text = format!("run {} is driven by a process that cannot be seen from here", &run[..8]);
        return Err(unseen(&format!("{text}; this may be inside one of its calls"), caller, deed));
    }
    let Some((home, row)) = about else { return Ok(()) };
    if !deed.is_a_persons_word() {
        return Ok(());
    }
    match session_above(caller, home, row)? {
        None => Ok(()),
        Some(run) => {
            note(caller, &run, deed);
            let text = format!("this comes from the session that works on run {}", &run[..8]);
            Err(Refusal::usage(
                format!("{text}; only a person may use loop {}", deed.tried(caller)),
                NextStep::by_hand("do it from another terminal"),
            ))
        }
    }
}

fn unseen(why: &str, caller: &Caller, deed: GuardedCommand) -> anyhow::Error {
    Refusal::usage(
        format!("{why}; loop {} is refused here", deed.tried(caller)),
        NextStep::by_hand("do it from another terminal, outside of containers and namespaces"),
    )
}

/// Runs of a home that are looked at; a machine drives a handful.
const DRIVEN_LOOKED_AT: usize = 200;

/// Whoever drives a run lets go of its lock a moment before it stops listening.
const FAREWELL: Duration = Duration::from_millis(300);

/// Whether runs may do this beside each other, and a pool for its runs.
fn works_elsewhere(deed: GuardedCommand) -> bool {
    matches!(
        deed,
        GuardedCommand::Run
            | GuardedCommand::Resume
            | GuardedCommand::Join
            | GuardedCommand::SetUp
            | GuardedCommand::InstallHook
            | GuardedCommand::RemoveHook
            | GuardedCommand::Fix
            | GuardedCommand::Design
    )
}

/// Returns the run whose controller started the program that asks, outside of every call. No person works
/// there: git, or something that git was led to, does.
fn below_controller(caller: &Caller, deed: GuardedCommand) -> anyhow::Result<Option<String>> {
    if works_elsewhere(deed) {
        return Ok(None);
    }
    let Some(home) = caller.home_to_look_at()? else { return Ok(None) };
    let rows = home.runs(&Filter { limit: Some(DRIVEN_LOOKED_AT), ..Filter::default() })?;
    let line = &caller.environment.process_line;
    let drives =
        |row: &&Row| home.holder(&row.id).is_some_and(|it| line.stands_below(it.pid, it.start, &it.boot));
    // Whoever ships drives a completed run.
    Ok(rows.iter().find(drives).map(|it| it.id.clone()))
}

/// Returns a run that somebody drives who cannot be seen from here: then the request comes from a PID
/// namespace, and that may be one that a call of this run was given or has made. Runs may be driven beside
/// each other in containers that share a home.
fn driven_unseen(caller: &Caller, deed: GuardedCommand) -> anyhow::Result<Option<String>> {
    if works_elsewhere(deed) || caller.environment.process_line.sees_all() {
        return Ok(None);
    }
    let Some(home) = caller.home_to_look_at()? else { return Ok(None) };
    let rows = home.runs(&Filter { limit: Some(DRIVEN_LOOKED_AT), ..Filter::default() })?;
    let is_unseen =
        |row: &Row| home.holder(&row.id).is_none() && loop_store::is_listening(&home.folder(&row.id));
    for row in rows.iter().filter(|it| is_unfinished(it)) {
        if !is_unseen(row) {
            continue;
        }
        loop_store::wait_for_listener_to_leave(&home.folder(&row.id), FAREWELL);
        if is_unseen(row) {
            return Ok(Some(row.id.clone()));
        }
    }
    Ok(None)
}

/// Returns the run whose call the request comes from, or has outlived.
fn call_of(caller: &Caller) -> Option<String> {
    let line = &caller.environment.process_line;
    line.call().map(str::to_owned).or_else(|| line.outlived_call(&caller.home.join("runs")))
}

/// Whether the request comes from a call of ours, or from what outlived one.
pub(crate) fn is_inside_call(caller: &Caller) -> bool {
    call_of(caller).is_some()
}

/// Refuses what a call wants with the run that it belongs to, which `--nested` never allows.
pub(crate) fn refuse_own(caller: &Caller, row: &Row, deed: GuardedCommand) -> anyhow::Result<()> {
    match call_of(caller).is_some_and(|it| it == row.id) {
        true => refuse(caller, None, deed),
        false => Ok(()),
    }
}

/// Refuses a run inside a run in the working tree of that run: whoever drives it counts on being alone.
pub(crate) fn refuse_same_tree(caller: &Caller) -> anyhow::Result<()> {
    let Some(run) = call_of(caller) else { return Ok(()) };
    let project = caller.project()?;
    match home_of(caller, &run)?.filter(|(_, row)| Path::new(&row.place) == project) {
        Some((_, row)) => refuse_own(caller, &row, GuardedCommand::Run),
        None => Ok(()),
    }
}

/// Finds the home that a run of a call is in: the call itself tells it, and the one that a request names
/// may be another, or none.
fn home_of(caller: &Caller, run: &str) -> anyhow::Result<Option<(Home, Row)>> {
    let of_call = caller.environment.process_line.folder().and_then(|it| it.parent()?.parent());
    for path in of_call.into_iter().chain([caller.home.as_path()]) {
        if let Some(home) = Home::open_existing(path)?
            && let Some(row) = home.run(run)?
        {
            return Ok(Some((home.knowing(caller.environment.agents.clone()), row)));
        }
    }
    Ok(None)
}

/// Returns the run whose session the request comes from: this one, or another of its project.
fn session_above(caller: &Caller, home: &Home, row: &Row) -> anyhow::Result<Option<String>> {
    let line = &caller.environment.process_line;
    let is_below = |row: &Row| -> anyhow::Result<bool> {
        let session = load(home, row)?.1.session.and_then(|it| it.process);
        Ok(session.is_some_and(|it| line.descends_from(it.pid, it.start, &it.boot)))
    };
    if is_below(row)? {
        return Ok(Some(row.id.clone()));
    }
    let others = caller.runs_of_project(home)?;
    // What is wrong with another run is no reason to refuse this one.
    let found = others.iter().filter(|it| is_unfinished(it)).find(|it| is_below(it).unwrap_or(false));
    Ok(found.map(|it| it.id.clone()))
}

/// Writes the attempt down for whoever drives the run. That it is refused does not depend on it: the
/// home may not be writable from inside.
fn note(caller: &Caller, run: &str, deed: GuardedCommand) {
    let written = || -> anyhow::Result<()> {
        let body = serde_json::to_string(&Command::Tried { what: deed.tried(caller) })?;
        match home_of(caller, run)? {
            Some((home, _)) => home.command(run, now().0, &body).map(|_| ()).map_err(Into::into),
            None => anyhow::bail!("no home knows the run"),
        }
    };
    let result = written();
    tracing::warn!(run, deed = deed.word(), recorded = result.is_ok(), "refused inside a call");
}
