//! One clean checkout with its environment, in which commands are run. Commands go through a shim of
//! their own, as checks in place do: each has a time limit, its output is kept, and when it is over
//! nothing that it started is alive. The checkout is seen at the path of the original tree where the
//! kernel grants a mount namespace.

use crate::measure::proof::checkout::clean_checkout::Checkout;
use crate::measure::proof::conditions::environment::CheckEnvironment;
use crate::measure::proof::pure::{Exit, IdFile, Results, id_environment, id_files, read_results};
use crate::measure::proof::request::{ProofCheck, ProofError};
use crate::measure::proof::storage::folders::StepFolder;
use loop_supervise::contain;
use loop_supervise::keeper::Keeper;
use loop_supervise::mount::{Bind, Mounts};
use loop_supervise::protocol::{Bounds, EndReason, Order, OrderEnd, OrderKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// A log is read for test ids; what a runner prints beyond this is a loop gone wild.
const LOG_MOST: u64 = 64 << 20;

/// A report of 50,000 tests has about 10 MB.
const REPORT_MOST: usize = 64 << 20;

/// A helper that mounts, or is refused, needs milliseconds.
const PROBE_MS: u64 = 10_000;

pub(crate) struct ProofSession {
    pub(crate) work: StepFolder,
    pub(crate) checkout: Checkout,
    /// The path under which commands see the checkout.
    pub(crate) seen: PathBuf,
    pub(crate) is_mounted: bool,
    keeper: Keeper,
    commands: u32,
}

/// What one run of a check brought, with everything that it printed.
pub(crate) struct Ran {
    pub(crate) results: Results,
    pub(crate) output: String,
}

impl ProofSession {
    /// Starts the shim and finds out whether the checkout can be mounted at `original`.
    pub(crate) fn open(
        work: StepFolder,
        checkout: Checkout,
        original: &Path,
        hidden: &[PathBuf],
    ) -> Result<ProofSession, ProofError> {
        let keeper = Keeper::start(Path::new("/proc/self/exe"), &work.run(), 1)?;
        let seen = checkout.path.clone();
        let mut session = ProofSession { work, checkout, seen, is_mounted: false, keeper, commands: 0 };
        // Whatever is below the original would vanish behind the mount.
        let hides = hidden.iter().any(|it| it.starts_with(original));
        if cfg!(target_os = "linux") && !hides && original.parent().is_some() {
            session.mount_at(original)?;
        }
        Ok(session)
    }

    fn mount_at(&mut self, original: &Path) -> Result<(), ProofError> {
        let binds =
            vec![Bind { from: self.checkout.path.clone(), to: original.to_owned(), read_only: false }];
        let mounts = Mounts { binds, cwd: original.to_owned() };
        fs::write(self.mounts(), serde_json::to_vec(&mounts).map_err(io::Error::from)?)?;
        self.is_mounted = true;
        let environment = vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())];
        let (ending, _) = self.command("mount", &["true"], environment, PROBE_MS)?;
        self.is_mounted = ending.code == Some(0);
        if self.is_mounted {
            original.clone_into(&mut self.seen);
        }
        Ok(())
    }

    fn mounts(&self) -> PathBuf {
        self.work.run().join("mounts.json")
    }

    /// Runs one check and reads which tests it ran.
    pub(crate) fn check(
        &mut self,
        check: &ProofCheck,
        environment: &CheckEnvironment,
    ) -> Result<Ran, ProofError> {
        let reports = self.work.reports().join(self.commands.to_string());
        fs::create_dir_all(&reports)?;
        let inherited = |name: &str| environment.get(name).map(|it| it.to_string_lossy().into_owned());
        let more = id_environment(&reports.to_string_lossy(), &inherited);
        let mut variables = environment.variables.clone();
        variables.retain(|(name, _)| !more.iter().any(|(it, _)| name == it.as_str()));
        variables.extend(more.into_iter().map(|(name, value)| (name.into(), value.into())));
        let (ending, output) = self.shell(&check.name, &check.command, variables, check.timeout_ms)?;
        let exit = match ending.how {
            EndReason::Exited => Exit::from_code(ending.code),
            EndReason::CouldNotStart(_) | EndReason::NotStarted => Exit::NotStarted,
            EndReason::NoFirstOutput
            | EndReason::Idle
            | EndReason::WaitedForInput(_)
            | EndReason::TimedOut
            | EndReason::Interrupted
            | EndReason::Lost(_) => Exit::Interrupted,
        };
        let files: Vec<IdFile> = id_files()
            .iter()
            .filter_map(|name| {
                let text = loop_base::files::read(&reports.join(name), REPORT_MOST).ok()?;
                Some(IdFile { name: (*name).to_owned(), text: String::from_utf8_lossy(&text).into_owned() })
            })
            .collect();
        Ok(Ran { results: read_results(&check.name, exit, &output, &files), output })
    }

    /// Runs a command of the user's that prepares the checkout; returns what went wrong.
    pub(crate) fn prepare(
        &mut self,
        command: &str,
        environment: &CheckEnvironment,
        timeout_ms: u64,
    ) -> Result<Option<String>, ProofError> {
        let (ending, output) = self.shell("prepare", command, environment.variables.clone(), timeout_ms)?;
        if ending.code == Some(0) {
            return Ok(None);
        }
        let last: Vec<&str> = output.lines().rev().filter(|it| !it.trim().is_empty()).take(3).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        Ok(Some(format!("`{command}` failed: {}", last.join(" / "))))
    }

    /// Runs a command line in the checkout; returns how it ended and what it printed.
    pub(crate) fn shell(
        &mut self,
        name: &str,
        command: &str,
        environment: Vec<(OsString, OsString)>,
        timeout_ms: u64,
    ) -> Result<(OrderEnd, String), ProofError> {
        self.command(name, &["sh", "-c", command], environment, timeout_ms)
    }

    fn command(
        &mut self,
        name: &str,
        argv: &[&str],
        environment: Vec<(OsString, OsString)>,
        timeout_ms: u64,
    ) -> Result<(OrderEnd, String), ProofError> {
        self.commands += 1;
        let plain: String =
            name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect();
        let stem = format!("{:02}-{plain}", self.commands);
        let bounds = Bounds {
            first_ms: u64::MAX,
            idle_ms: u64::MAX,
            total_ms: timeout_ms,
            pipe_ms: 2000,
            grace_ms: 2000,
            out_bytes: LOG_MOST,
            memory_bytes: u64::MAX,
            processes: u64::MAX,
        };
        let (argv, cwd) = if self.is_mounted {
            (Mounts::wrap(&self.mounts(), argv), self.work.run())
        } else {
            (argv.iter().map(OsString::from).collect(), self.checkout.path.clone())
        };
        let order = Order {
            stem: stem.clone(),
            kind: OrderKind::Check,
            argv,
            cwd,
            env: environment,
            stdin: String::new(),
            bounds,
        };
        self.keeper.send(order)?;
        let ending = self.wait()?;
        let log = loop_base::files::read(&self.work.run().join(format!("{stem}.log")), usize::MAX - 1)
            .unwrap_or_default();
        Ok((ending, String::from_utf8_lossy(&log).into_owned()))
    }

    fn wait(&mut self) -> io::Result<OrderEnd> {
        loop {
            match self.keeper.answer() {
                Ok(Some(ending)) => return Ok(ending),
                Ok(None) => (),
                Err(error) => {
                    contain::sweep();
                    return Ok(OrderEnd::without_exit(EndReason::Lost(error.to_string())));
                }
            }
            self.keeper.end_if_overdue()?;
            let timeout = Timespec::try_from(self.keeper.patience()).ok();
            let _looked_at_above =
                poll(&mut [PollFd::new(&self.keeper.as_fd(), PollFlags::IN)], timeout.as_ref());
        }
    }
}
