//! What an agent may not do. Every request that changes something comes by here first: inside a call
//! of ours all of them are refused, and so they are to whatever outlived its call. A session with our
//! hook is not a call of ours; to its processes only what is a person's word is refused. The attempt
//! is written down for the run that it came from, and stands in its journal.

use super::caller::{Caller, load};
use super::refusal::Refusal;
use crate::world::wait::now;
use loop_core::engine::Command;
use loop_store::{Home, Row};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
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
    Ship,
    Restore,
    Prune,
    ClearLimits,
    Join,
}

impl Deed {
    /// The command, as it is typed.
    fn word(self) -> &'static str {
        match self {
            Deed::Answer => "answer",
            Deed::Gate => "approve, changes or reject",
            Deed::Guide => "guide",
            Deed::Skip => "skip",
            Deed::Waive => "waive",
            Deed::Stop => "stop",
            Deed::Pause => "pause",
            Deed::Cancel => "cancel",
            Deed::Run => "run",
            Deed::Resume => "resume",
            Deed::Reset => "resume --reset",
            Deed::Ship => "ship",
            Deed::Restore => "restore",
            Deed::Prune => "runs --prune",
            Deed::ClearLimits => "limits --clear",
            Deed::Join => "hook join",
        }
    }

    /// Whether it is a person's word, which a session cannot speak for them.
    fn is_a_persons_word(self) -> bool {
        match self {
            Deed::Answer | Deed::Gate | Deed::Skip | Deed::Waive | Deed::Reset => true,
            Deed::Guide
            | Deed::Stop
            | Deed::Pause
            | Deed::Cancel
            | Deed::Run
            | Deed::Resume
            | Deed::Ship
            | Deed::Restore
            | Deed::Prune
            | Deed::ClearLimits
            | Deed::Join => false,
        }
    }

    fn refusal(self, run: &str) -> anyhow::Error {
        let run = run.get(..8).unwrap_or(run);
        let text = format!("this is inside an agent call of run {run}");
        match self {
            Deed::Run => Refusal::usage(text, "a run inside a run needs --nested"),
            Deed::Answer | Deed::Gate | Deed::Guide | Deed::Skip | Deed::Waive => {
                Refusal::usage(format!("{text}; only a person may answer"), "answer from another terminal")
            }
            Deed::Stop
            | Deed::Pause
            | Deed::Cancel
            | Deed::Resume
            | Deed::Reset
            | Deed::Ship
            | Deed::Restore
            | Deed::Prune
            | Deed::ClearLimits
            | Deed::Join => Refusal::usage(
                format!("{text}; only a person may use loop {}", self.word()),
                "do it from another terminal",
            ),
        }
    }
}

/// Refuses what comes from an agent. `about` is the run that the request is for, where there is one.
pub(crate) fn refuse(caller: &Caller, about: Option<(&Home, &Row)>, deed: Deed) -> anyhow::Result<()> {
    let line = &caller.environment.process_line;
    if let Some(run) = line.call() {
        note(caller, run, deed);
        return Err(deed.refusal(run));
    }
    let Some((home, row)) = about else { return Ok(()) };
    if line.outlived_call(&home.folder(&row.id)) {
        note(caller, &row.id, deed);
        return Err(deed.refusal(&row.id));
    }
    if !deed.is_a_persons_word() {
        return Ok(());
    }
    let session = load(home, row)?.1.session.and_then(|it| it.process);
    match session.filter(|it| line.descends_from(it.pid, it.start, &it.boot)) {
        None => Ok(()),
        Some(_) => {
            note(caller, &row.id, deed);
            let text = format!("this comes from the session that works on run {}", &row.id[..8]);
            Err(Refusal::usage(
                format!("{text}; only a person may use loop {}", deed.word()),
                "do it from another terminal",
            ))
        }
    }
}

/// Writes the attempt down for whoever drives the run. That it is refused does not depend on it: the
/// home may be another one, or not writable from inside.
fn note(caller: &Caller, run: &str, deed: Deed) {
    let written = || -> anyhow::Result<()> {
        let Some(home) = caller.existing_home()? else { return Ok(()) };
        let body = serde_json::to_string(&Command::Tried { what: deed.word().to_owned() })?;
        home.command(run, now().0, &body)?;
        Ok(())
    };
    let result = written();
    tracing::warn!(run, deed = deed.word(), recorded = result.is_ok(), "refused inside a call");
}
