//! The detached prover: this program again, in a session of its own, takes one step on a snapshot. It
//! does not own the run and writes nothing but the result. Whoever started it can wait for it, look
//! how long it is expected to take, or end it; what it leaves then is cleared by the next one. A
//! prover outlives whoever started it, so that a hook with little time can come back later.

use crate::clock::since_epoch;
use crate::measure::proof::pure::ProofStep;
use crate::measure::proof::request::{ProofError, ProofRequest, StepResult};
use crate::measure::proof::steps::prover::Prover;
use crate::measure::proof::storage::files;
use crate::tree::git::GitError;
use loop_supervise::detached;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode};
use std::time::{Duration, Instant};

/// The word that makes this program a prover.
pub(crate) const WORD: &str = "__prove";

/// A prover that was told to end gives its shim this long to end the check.
const END_PATIENCE: Duration = Duration::from_secs(20);

/// What a prover reads when it starts.
#[derive(Serialize, Deserialize)]
struct ProverTask {
    home: PathBuf,
    request: ProofRequest,
    step: ProofStep,
    /// Steps that are taken after it, for whoever comes back later.
    #[serde(default)]
    then: Vec<ProofStep>,
}

/// What a prover says that could not take its step.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Complaint {
    DiskFull(String),
    /// An object of the repository that is not what its id says, and the file that it stands for.
    Forged {
        object: String,
        path: PathBuf,
    },
    Other(String),
}

/// A step under way in another process.
pub(crate) struct Pending {
    /// Collected when it has ended, if it is a child of ours.
    child: Option<Child>,
    pidfd: OwnedFd,
    step: ProofStep,
    pub(crate) expected_s: Option<f64>,
}

impl Prover {
    /// Starts a prover for a step, or finds the one that is at it.
    pub(crate) fn start(&self, step: ProofStep) -> Result<Pending, ProofError> {
        self.start_with(step, Vec::new())
    }

    /// Starts a prover that continues to the end of the proof, or finds the one that is at this step.
    pub(crate) fn start_to_the_end(&self, step: ProofStep) -> Result<Pending, ProofError> {
        let then: Vec<ProofStep> = ProofStep::ALL.into_iter().filter(|it| step < *it).collect();
        let rest: Option<f64> = then.iter().map(|it| self.expected_s(*it)).sum();
        let mut pending = self.start_with(step, then)?;
        pending.expected_s = pending.expected_s.map(|it| it + rest.unwrap_or_default());
        Ok(pending)
    }

    fn start_with(&self, step: ProofStep, then: Vec<ProofStep>) -> Result<Pending, ProofError> {
        if let Some(pending) = self.running(step)? {
            return Ok(pending);
        }
        let key = self.request.key(step);
        let task = ProverTask { home: self.home.clone(), request: self.request.clone(), step, then };
        let file = self.folders.result(&key).with_extension("task");
        files::replace(&file, &serde_json::to_vec(&task).map_err(io::Error::from)?)?;
        let complaints = loop_base::files::ours()
            .write(true)
            .create(true)
            .truncate(true)
            .open(file.with_extension("error"))?;
        let child = detached::launch(&[WORD.into(), file.into()], complaints)?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(io::Error::from)?;
        Ok(Pending { child: Some(child), pidfd, step, expected_s: self.expected_s(step) })
    }

    /// Returns the prover that is at this very step, if there is one.
    pub(crate) fn running(&self, step: ProofStep) -> Result<Option<Pending>, ProofError> {
        let Some(occupant) = self.folders.occupant().filter(|it| it.key == self.request.key(step)) else {
            return Ok(None);
        };
        let Some(pidfd) = occupant.identity.open()? else { return Ok(None) };
        let since = Duration::from_secs(occupant.since);
        let spent = since_epoch().saturating_sub(since);
        let expected_s = occupant.expected_s.map(|it| (it - spent.as_secs_f64()).max(0.0));
        Ok(Some(Pending { child: None, pidfd, step, expected_s }))
    }

    /// Takes a step in a process of its own and waits for it.
    #[cfg(debug_assertions)]
    pub(crate) fn step_apart(&self, step: ProofStep) -> Result<StepResult, ProofError> {
        if let Some(known) = self.known(step) {
            return Ok(known);
        }
        let mut pending = self.start(step)?;
        pending.wait(None)?;
        self.collect(pending)
    }

    /// Reads what a prover that has ended found.
    pub(crate) fn collect(&self, mut pending: Pending) -> Result<StepResult, ProofError> {
        if let Some(child) = &mut pending.child {
            let _somebody_else_may_have_collected_it = child.wait();
        }
        if let Some(result) = self.last(pending.step) {
            return Ok(result);
        }
        let file = self.folders.result(&self.request.key(pending.step));
        let said = fs::read_to_string(file.with_extension("error")).unwrap_or_default();
        let said = said.trim();
        Err(match serde_json::from_str(said) {
            Ok(Complaint::DiskFull(text)) => ProofError::DiskFull(text),
            Ok(Complaint::Forged { object, path }) => GitError::Forged { object, path }.into(),
            Ok(Complaint::Other(text)) => ProofError::Prover(text),
            Err(_) if said.is_empty() => ProofError::ProverKilled,
            Err(_) => ProofError::Prover(said.to_owned()),
        })
    }
}

impl Pending {
    /// Waits until the prover has ended, or for so long; returns whether it has.
    pub(crate) fn wait(&mut self, patience: Option<Duration>) -> Result<bool, ProofError> {
        let deadline = patience.map(|it| Instant::now() + it);
        loop {
            let rest = deadline.map(|it| it.saturating_duration_since(Instant::now()));
            let timeout = rest.and_then(|it| Timespec::try_from(it).ok());
            match poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], timeout.as_ref()) {
                Ok(count) => return Ok(0 < count),
                Err(rustix::io::Errno::INTR) => (),
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }

    /// Ends the prover and its check. What is left is cleared by the next one.
    pub(crate) fn end(mut self) -> Result<(), ProofError> {
        let _may_have_ended = pidfd_send_signal(&self.pidfd, Signal::KILL);
        self.wait(Some(END_PATIENCE))?;
        if let Some(child) = &mut self.child {
            let _somebody_else_may_have_collected_it = child.wait();
        }
        Ok(())
    }
}

/// Readable when the prover has ended.
impl AsFd for Pending {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// Is the prover: takes the step that the file names.
pub(crate) fn serve(file: &Path) -> ExitCode {
    detached::leave_session();
    match try_serve(file) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let text = error.to_string();
            let complaint = match (error.disk_full(), error) {
                (Some(text), _) => Complaint::DiskFull(text),
                (None, ProofError::Git(GitError::Forged { object, path })) => {
                    Complaint::Forged { object, path }
                }
                (None, _) => Complaint::Other(text.clone()),
            };
            eprintln!("{}", serde_json::to_string(&complaint).unwrap_or(text));
            ExitCode::FAILURE
        }
    }
}

fn try_serve(file: &Path) -> Result<(), ProofError> {
    let task: ProverTask = serde_json::from_slice(&fs::read(file)?).map_err(io::Error::from)?;
    let prover = Prover::new(&task.home, task.request)?;
    let once = prover.once(task.step);
    files::remove(&once)?;
    let result = prover.step(task.step)?;
    // A result that is not kept under its key is for whoever waits.
    if prover.known(task.step).is_none() {
        files::replace(&once, &serde_json::to_vec(&result).map_err(io::Error::from)?)?;
    }
    for step in task.then {
        prover.step(step)?;
    }
    Ok(())
}
