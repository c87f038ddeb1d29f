//! The real [`World`]: it starts agents through the shim, runs checks, looks at the tree, and waits
//! without polling. It decides nothing; whatever goes wrong with an agent, a check or git becomes
//! an event.

use crate::drive::{Performed, World};
use crate::measure::checks::run_checks::Cut;
use crate::measure::detect::detect;
use crate::measure::differences;
use crate::measure::evidence::{self, MeasuredRun};
use crate::tree::changes::Change;
use crate::tree::git::GitError;
use crate::tree::path_patterns::Ours;
use crate::tree::pinned::Pinned;
use crate::tree::tree_status::TreeStatus;
use crate::tree::working_tree::WorkingTree;
use crate::tree::{git_lock, snapshot, worktree};
use crate::world::agent_output::final_message::Hearing;
pub(crate) use crate::world::agent_output::live_output::Onlooker;
use crate::world::agent_output::trim_logs::Growth;
use crate::world::baseline_prover::BaselineProver;
use crate::world::before_call;
use crate::world::deliverables::deliverables;
use crate::world::money::Money;
use crate::world::shim::Shim;
use crate::world::wait::{Listener, WaitResult, now};
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event, Evidence, Hold, HoldKind, LeftProcess, News, Station, Wait};
use loop_core::workflow::model::InputKind;
use loop_store::run::Run;
use loop_store::{LandingLock, StoreError};
use loop_supervise::protocol::Survivor;
use loop_supervise::{contain, disk_space, find_by_mark};
use rustix::fd::AsRawFd;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What snapshots do not hold is named up to here.
const LEFT_OUT_NAMED: usize = 10;

/// Where the view of the run's tree is kept.
pub(crate) const VIEW: &str = "git";

/// The same, while the worktree of the run is not made.
pub(crate) const VIEW_BEFORE: &str = "git-before";

/// What this process may do of what is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallAllowance {
    /// Until the run stops.
    Free,
    /// So many calls, and no waiting.
    Calls(u32),
}

/// Is shown what became durable, and says what it noticed.
pub(crate) type Watcher<'a> = Box<dyn FnMut(&Run, &[(Timestamp, Event)]) -> Vec<News> + 'a>;

pub(crate) struct Host<'a> {
    pub(crate) run_id: String,
    pub(crate) folder: PathBuf,
    /// The run's folder itself, wherever it is.
    held: File,
    /// The working tree that agents and checks run in.
    pub(crate) place: PathBuf,
    pub(crate) input: Option<PathBuf>,
    pub(crate) shim: Shim,
    /// What was read of a long output while its call went on.
    pub(crate) hearing: Option<Hearing>,
    pub(crate) tree: WorkingTree,
    pub(crate) ours: Ours,
    /// The tree as it was last seen, while nothing that could change it has been started since.
    pub(crate) status: Option<TreeStatus>,
    /// What the journal was told that snapshots do not hold.
    pub(crate) left_out_told: Vec<String>,
    /// What was found out about git's locks and not told yet.
    pub(crate) lock_notes: Vec<String>,
    /// What was found out while something was done, and not told yet.
    pub(super) notes: Vec<News>,
    /// What came from outside before this world was made, until it is recorded.
    pub(crate) news: Vec<(Timestamp, News)>,
    /// The tree that the last snapshot holds, which was taken before the last call.
    kept: Option<String>,
    pub(crate) growth: Growth,
    /// The tree whose tests are protected, once it is kept under a ref.
    pub(crate) kept_line: Option<String>,
    /// The proof's first step, which is taken beside the first call. It ends with this controller.
    pub(crate) baseline_prover: Option<BaselineProver>,
    pub(crate) allowance: CallAllowance,
    pub(crate) money: Money,
    /// Processes of the call that is being collected may still be alive.
    pub(crate) uncontained: bool,
    /// Held while this run lands.
    pub(crate) landing: Option<LandingLock>,
    pub(crate) version: std::cell::OnceCell<Option<String>>,
    /// The words that give a call a PID namespace, once somebody has tried.
    pub(crate) namespace: std::cell::OnceCell<Option<Vec<OsString>>>,
    watcher: Watcher<'a>,
    /// Is told what an agent is doing, while it does it.
    pub(crate) onlooker: Option<Onlooker<'a>>,
}

impl<'a> Host<'a> {
    /// Prepares to work in `place`, the top of a git working tree, or of one that is yet to be made.
    pub(crate) fn new(
        listener: Listener,
        run: &Run,
        place: &Path,
        input: Option<PathBuf>,
        ours: &[String],
        allowance: CallAllowance,
        watcher: Watcher<'a>,
    ) -> anyhow::Result<Host<'a>> {
        contain::become_subreaper()?;
        let folder = run.folder();
        let ours = Ours::read(ours)?;
        // Until its worktree is made, the run looks at the tree that it is made from.
        let plan = run.state.opening.worktree.as_ref().filter(|_| run.state.place.is_none());
        let (at, view) = plan.map_or((place, VIEW), |it| (Path::new(&it.root), VIEW_BEFORE));
        let mut tree = WorkingTree::open(
            Pinned::at(at, &folder.join(view), run.state.opening.git_programs())?,
            ours.clone(),
        )?;
        tree.ask_for(&deliverables(&run.workflow));
        Ok(Host {
            run_id: run.id.clone(),
            shim: Shim::new(&folder, listener),
            place: place.to_owned(),
            input,
            held: File::open(&folder)?,
            folder,
            hearing: None,
            tree,
            ours,
            status: None,
            left_out_told: Vec::new(),
            lock_notes: Vec::new(),
            notes: Vec::new(),
            news: Vec::new(),
            kept: None,
            growth: Growth::unknown(),
            baseline_prover: None,
            kept_line: None,
            allowance,
            money: Money::default(),
            uncontained: false,
            landing: None,
            version: std::cell::OnceCell::new(),
            namespace: std::cell::OnceCell::new(),
            watcher,
            onlooker: None,
        })
    }

    /// If the run's folder was moved or removed, missing output would look like empty output, so this
    /// controller stops. The next one collects the call where the folder is, or records it as lost.
    pub(crate) fn stay(&self) -> anyhow::Result<()> {
        let held = self.held.metadata()?;
        let is_there = |it: &Metadata| (it.dev(), it.ino()) == (held.dev(), held.ino());
        match std::fs::metadata(&self.folder) {
            Ok(it) if is_there(&it) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                let (path, why) = (self.folder.clone(), error.to_string());
                return Err(StoreError::NotWritable { path, why }.into());
            }
            Ok(_) | Err(_) => (),
        }
        let moved_to = (0 < held.nlink()).then(|| place_of(&self.held)).flatten();
        if moved_to.is_none() {
            // The whole home may be gone: then the database is written again from what is open.
            self.shim.listener.shared_home().refuse_lost_file()?;
        }
        Err(StoreError::FolderGone { path: self.folder.clone(), moved_to }.into())
    }

    /// Lets the next status be asked for, because something may have changed the tree.
    pub(crate) fn forget_status(&mut self) {
        self.status = None;
    }

    /// Keeps the working tree as it is under a ref of the run, unless that holds it already.
    pub(crate) fn keep(&mut self) -> Result<(), GitError> {
        let status = match self.status.take() {
            Some(status) => status,
            None => self.tree.status()?,
        };
        if self.kept.as_ref() != Some(&status.tree) {
            snapshot::take(&self.tree.pinned, &status, &self.run_id)?;
            self.kept = Some(status.tree);
        }
        Ok(())
    }

    /// The tree as it was before the call that is being collected: what the last snapshot holds, which
    /// was taken right before the call began.
    pub(crate) fn before_call(&mut self) -> Result<Option<String>, GitError> {
        if self.kept.is_none() {
            let kept = snapshot::list(&self.tree.pinned, &self.run_id)?;
            self.kept = kept.last().map(|it| it.tree.clone());
        }
        Ok(self.kept.clone())
    }

    /// Everything that the call changed which has just ended.
    pub(crate) fn changed_by_call(&mut self) -> Result<Vec<Change>, GitError> {
        let before = self.before_call()?.unwrap_or_default();
        let status = self.tree.status()?;
        differences::since(&self.tree, &before, &status)
    }

    /// The commit that was checked out when the measured call began; empty where there was none.
    fn commit_before(&self, run: &Run) -> Option<String> {
        match &run.state.station {
            Station::Reported(turn) => before_call::of(&self.folder, &turn.call).map(|it| it.commit),
            Station::Ready
            | Station::Working(_)
            | Station::Measured(..)
            | Station::Judged(_)
            | Station::Between
            | Station::Leaving { .. }
            | Station::Waiting { .. }
            | Station::Finishing
            | Station::Finished
            | Station::Closed(_) => None,
        }
    }

    fn baseline(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let before = self.commit_before(run);
        let subject = MeasuredRun {
            run,
            place: &self.place,
            input: self.input.as_deref(),
            before_call: self.kept.as_deref(),
            before_commit: before.as_deref(),
        };
        let shim = &mut self.shim;
        let mut execute = |order| shim.carry_out(run.state.epoch, order);
        Ok(match evidence::baseline(subject, &mut self.tree, &mut execute)? {
            Ok((status, mut baseline)) => {
                self.status = Some(status);
                baseline.opening = self.open_proof(run, &baseline)?;
                Performed::Done(Event::Baselined(baseline))
            }
            Err(Cut) => Performed::Begun,
        })
    }

    fn measure(
        &mut self,
        run: &Run,
        checks: &[String],
        deliverables: &[String],
    ) -> anyhow::Result<Performed> {
        let before = self.commit_before(run);
        let subject = MeasuredRun {
            run,
            place: &self.place,
            input: self.input.as_deref(),
            before_call: self.kept.as_deref(),
            before_commit: before.as_deref(),
        };
        let shim = &mut self.shim;
        let mut execute = |order| shim.carry_out(run.state.epoch, order);
        Ok(match evidence::measure(subject, &mut self.tree, &mut execute, checks, deliverables)? {
            Ok((status, evidence)) => Performed::Done(self.measured(run, status, evidence)),
            Err(Cut) => Performed::Begun,
        })
    }

    /// Removes locks of a git that was killed, which would let every later commit fail; the agent and whoever
    /// follows the run are told.
    pub(crate) fn clear_stale_locks(&mut self) {
        for note in git_lock::clear_stale(&self.tree.pinned.repository) {
            if !self.lock_notes.contains(&note) {
                self.notes.push(News::Noted(note.clone()));
                self.lock_notes.push(note);
            }
        }
    }

    fn measured(&mut self, run: &Run, status: TreeStatus, mut evidence: Evidence) -> Event {
        evidence.facts.target_moved = self.foreign_move(run).map(Box::new);
        evidence.notes.append(&mut self.lock_notes);
        evidence.notes.extend(self.note_left_out(&status));
        self.status = Some(status);
        Event::Measured(Box::new(evidence))
    }

    /// Says once what no snapshot holds, so that nobody relies on it.
    fn note_left_out(&mut self, status: &TreeStatus) -> Option<String> {
        if status.left_out == self.left_out_told {
            return None;
        }
        self.left_out_told.clone_from(&status.left_out);
        let named = status.left_out.iter().take(LEFT_OUT_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = status.left_out.len().saturating_sub(LEFT_OUT_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        (!named.is_empty()).then(|| format!("not kept in snapshots: {named}{more}"))
    }

    /// Says why no agent may be started here, if so.
    pub(crate) fn unfit(&self, run: &Run) -> Option<String> {
        let seat = match &run.state.opening.worktree {
            Some(plan) => worktree::verify(plan),
            None => worktree::verify_here(&self.place, self.tree.pinned.repository.git_dir()),
        };
        seat.err().map(|error| format!("{error}; {}", error.next))
    }

    /// A disk that has no room for a call, or takes none, pauses the run where it is; it continues when there is.
    pub(crate) fn without_room(&self) -> Option<Event> {
        let full = disk_space::full(&self.folder, &self.place).map(|it| {
            format!("{it}; free some disk space (loop runs --prune deletes finished runs), then loop run")
        });
        let read_only = || disk_space::read_only(&self.place);
        let reason =
            full.or_else(|| read_only().map(|it| format!("{it}; mount it for writing, then loop run")))?;
        Some(Event::Held(Hold { kind: HoldKind::Paused, reason }))
    }

    /// Looks for commands of checks that had none when the run was opened: its project is made by the run.
    fn detected(&self, run: &Run) -> Vec<News> {
        if run.workflow.input.kind != InputKind::Job {
            return Vec::new();
        }
        let lacks = |name: &str| {
            let check = run.workflow.checks.get(name);
            check.is_some_and(|it| it.run.is_none()) && !run.state.commands.contains_key(name)
        };
        let mut missing = run.workflow.checks.keys().filter(|it| lacks(it)).peekable();
        if missing.peek().is_none() {
            return Vec::new();
        }
        let found = detect(&self.place).into_iter().filter(|it| lacks(it.name));
        found.map(|it| News::Detected { check: it.name.to_owned(), command: it.run }).collect()
    }

    fn sleep(&mut self, until: Timestamp) -> anyhow::Result<Performed> {
        self.status = None;
        loop {
            let left = until.since(now());
            if left == 0 {
                return Ok(Performed::Done(Event::Woke));
            }
            match self.shim.listener.listen(None, CLOCK_LOOK.min(Duration::from_millis(left)))? {
                WaitResult::Now { .. } | WaitResult::Command => return Ok(Performed::Begun),
                WaitResult::Answer | WaitResult::Nothing => (),
            }
        }
    }
}

/// A wait ends by the clock, and neither a clock that was set nor a machine that slept wakes who waits. Once a
/// minute costs nothing, and nobody minds to wait a minute longer.
const CLOCK_LOOK: Duration = Duration::from_secs(60);

/// A process that could not be ended, as the journal names it.
pub(crate) fn left_process(found: Survivor) -> LeftProcess {
    let Survivor { pid, name, start, boot } = found;
    LeftProcess {
        pid,
        name,
        start: Some(start).filter(|it| *it != 0),
        boot: Some(boot).filter(|it| !it.is_empty()),
    }
}

impl World for Host<'_> {
    fn now(&self) -> Timestamp {
        now()
    }

    fn news(&mut self) -> Vec<(Timestamp, News)> {
        std::mem::take(&mut self.news)
    }

    fn takes(&self, effect: &Effect) -> bool {
        match (self.allowance, effect) {
            (CallAllowance::Free, _) => true,
            (CallAllowance::Calls(left), Effect::Work(_)) => 0 < left,
            (CallAllowance::Calls(_), Effect::Sleep { .. }) => false,
            (CallAllowance::Calls(_), _) => true,
        }
    }

    /// With no check to run, a tree that stands still has been measured already. A call for which nothing is
    /// left of a cap that runs share does not begin.
    fn knows(&mut self, effect: &Effect, run: &Run) -> Option<Event> {
        if let Effect::Work(call) = effect {
            return self.set_aside(run, call);
        }
        let Effect::Measure { checks, deliverables } = effect else { return None };
        let status = checks.is_empty().then(|| self.tree.unchanged()).flatten()?;
        self.clear_stale_locks();
        let before = self.commit_before(run);
        let subject = MeasuredRun {
            run,
            place: &self.place,
            input: self.input.as_deref(),
            before_call: self.kept.as_deref(),
            before_commit: before.as_deref(),
        };
        let evidence =
            evidence::complete(subject, &self.tree, &status, Evidence::default(), deliverables).ok()?;
        Some(self.measured(run, status, evidence))
    }

    fn intent(&mut self, effect: &Effect) -> Effect {
        match effect {
            Effect::Work(call) => Effect::Work(self.provably_unstarted(call)),
            other => other.clone(),
        }
    }

    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed> {
        self.stay()?;
        tracing::info!(run = %self.run_id, ?effect, "performs");
        match effect {
            Effect::Workspace => self.workspace(run),
            Effect::Baseline => self.baseline(run),
            Effect::List => self.list(run),
            Effect::Work(call) => {
                self.begin_proof(run);
                self.keep_line(run)?;
                self.work(run, call)
            }
            Effect::Collect(call) => self.collect(run, call),
            Effect::Contain => {
                let swept = contain::sweep();
                let mut left = find_by_mark::end_marked(&self.run_id);
                left.extend(swept.left);
                let left = left.into_iter().map(left_process).collect();
                Ok(Performed::Done(Event::Contained { left }))
            }
            Effect::Measure { checks, deliverables } => {
                self.clear_stale_locks();
                self.measure(run, checks, deliverables)
            }
            Effect::Prove(step) => self.prove(run, *step),
            Effect::Conclude => self.conclude(run),
            Effect::Confirm => self.confirm(run),
            Effect::Land => self.land(run),
            Effect::ProveMerge => self.prove_merge(run),
            Effect::Move(merge) => self.move_target(run, merge),
            Effect::Look => self.look(run),
            Effect::Sleep { .. } if run.state.wait.as_ref().is_some_and(|it| it.wait == Wait::Slot) => {
                self.await_slot(run)
            }
            Effect::Sleep { until, .. } => self.sleep(*until),
            Effect::Ask(_) | Effect::Tell => self.tell(run),
            Effect::Finish => self.finish(run),
        }
    }

    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<News> {
        let mut noticed = (self.watcher)(run, facts);
        if facts.iter().any(|(_, it)| matches!(it, Event::Ended(_))) {
            noticed.extend(self.detected(run));
            self.wake_line(run);
        }
        self.take_labels_off(run, facts);
        noticed.append(&mut self.notes);
        noticed
    }
}

/// Returns where an open folder is by now, as the kernel knows it.
fn place_of(folder: &File) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).ok()
}
