//! The real [`World`]: it starts agents through the shim, runs checks, looks at the tree, and waits
//! without polling. It decides nothing; whatever goes wrong with an agent, a check or git becomes
//! an event.

use crate::drive::{Performed, World};
use crate::measure::{item_list, run_checks};
use crate::tree::git::{Git, GitError};
use crate::tree::pinned::Pinned;
use crate::tree::working_tree::{Look, Ours, Tree};
use crate::tree::{snapshot, worktree};
use crate::world::final_message::Hearing;
use crate::world::trim_logs::Growth;
use crate::world::wait::{Ears, Heard, now};
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event, Evidence, Left, Listing};
use loop_core::workflow::model::ItemSource;
use loop_store::run::Run;
use loop_supervise::keeper::Keeper;
use loop_supervise::protocol::{Bounds, Ending as Exit, Force, How, Kind, Order};
use loop_supervise::{contain, disk_space, find_by_mark, shim_resources};
use rustix::fd::AsFd;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An effect was ended early because a person wants something.
pub(crate) struct Cut;

/// Where the looks at the run's tree keep their books.
const BOOKS: &str = "git";

/// The same, while the worktree of the run is not made.
const BOOKS_BEFORE: &str = "git-before";

/// What the log of a list's command is called.
const LIST: &str = "list";

/// A list that takes longer to print is work of its own.
const LIST_MS: u64 = 300_000;

/// What this process may do of what is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leash {
    /// Until the run rests.
    Free,
    /// So many calls, and no waiting.
    Calls(u32),
}

/// Is shown what became durable, and says what it noticed.
pub(crate) type Watcher<'a> = Box<dyn FnMut(&Run, &[(Timestamp, Event)]) -> Vec<Event> + 'a>;

/// Who is told what an agent is doing.
pub(crate) type Onlooker<'a> = Box<dyn FnMut(&str) + 'a>;

pub(crate) struct Host<'a> {
    pub(crate) run_id: String,
    pub(crate) folder: PathBuf,
    /// The run's folder itself, wherever it is.
    held: File,
    /// The working tree that agents and checks run in.
    pub(crate) place: PathBuf,
    pub(crate) input: Option<PathBuf>,
    pub(crate) keeper: Option<Keeper>,
    /// The call that our own shim has.
    pub(crate) under_way: Option<String>,
    /// What was read of a long output while its call went on.
    pub(crate) hearing: Option<Hearing>,
    pub(crate) ears: Ears,
    pub(crate) tree: Tree,
    ours: Ours,
    /// The tree as it was last seen, while nothing that could change it has been started since.
    pub(crate) look: Option<Look>,
    /// What the journal was told that snapshots do not hold.
    pub(crate) left_out_told: Vec<String>,
    /// The tree that the last snapshot of this process holds.
    kept: Option<String>,
    pub(crate) growth: Growth,
    pub(crate) leash: Leash,
    /// No check may run beyond this moment; one that would is cut short.
    pub(crate) until: Option<Instant>,
    watcher: Watcher<'a>,
    /// Is told what an agent is doing, while it does it.
    pub(crate) onlooker: Option<Onlooker<'a>>,
}

impl<'a> Host<'a> {
    /// Prepares to work in `place`, the top of a git working tree, or of one that is yet to be made.
    pub(crate) fn new(
        ears: Ears,
        run: &Run,
        place: &Path,
        input: Option<PathBuf>,
        ours: &[String],
        leash: Leash,
        watcher: Watcher<'a>,
    ) -> anyhow::Result<Host<'a>> {
        contain::become_subreaper()?;
        let folder = run.folder();
        let ours = Ours::read(ours)?;
        // Until its worktree is made, the run looks at the tree that it is made from.
        let plan = run.state.opening.worktree.as_ref().filter(|_| run.state.place.is_none());
        let (at, books) = plan.map_or((place, BOOKS), |it| (Path::new(&it.root), BOOKS_BEFORE));
        let tree = Tree::open(Pinned::at(at, &folder.join(books))?, ours.clone())?;
        Ok(Host {
            run_id: run.id.clone(),
            ears,
            place: place.to_owned(),
            input,
            held: File::open(&folder)?,
            folder,
            keeper: None,
            under_way: None,
            hearing: None,
            tree,
            ours,
            look: None,
            left_out_told: Vec::new(),
            kept: None,
            growth: Growth::unknown(),
            leash,
            until: None,
            watcher,
            onlooker: None,
        })
    }

    /// Whoever moves a home takes the output of a call with it. What is not at its place is not read
    /// as nothing: this controller ends, and the next one collects the call where the home is.
    pub(crate) fn stay(&self) -> anyhow::Result<()> {
        let held = self.held.metadata()?;
        let is_there = |it: Metadata| (it.dev(), it.ino()) == (held.dev(), held.ino());
        anyhow::ensure!(
            std::fs::metadata(&self.folder).is_ok_and(is_there),
            "the folder of the run, {}, was moved or removed while it was in use; run loop again with \
             --home and the place where it is, and the run goes on",
            self.folder.display()
        );
        Ok(())
    }

    /// Lets the next look be a fresh one, because something may have changed the tree.
    pub(crate) fn forget_look(&mut self) {
        self.look = None;
    }

    /// Keeps the working tree as it is under a ref of the run, unless that holds it already.
    pub(crate) fn keep(&mut self) -> Result<(), GitError> {
        let look = match self.look.take() {
            Some(look) => look,
            None => self.tree.look()?,
        };
        if self.kept.as_ref() != Some(&look.tree) {
            snapshot::take(&self.tree.pinned, &look, &self.run_id)?;
            self.kept = Some(look.tree);
        }
        Ok(())
    }

    /// Returns what of our own environment is kept, with these variables set: the complete one of a
    /// child. What would lead git or a nested controller astray is never passed on.
    pub(crate) fn environment(
        &self,
        set: &[(&str, &str)],
        keeps: &dyn Fn(&str) -> bool,
    ) -> Vec<(OsString, OsString)> {
        let kept = std::env::vars_os().filter(|(name, _)| {
            let name = name.to_string_lossy();
            keeps(&name)
                && !name.starts_with("LOOP_")
                && !name.starts_with("GIT_")
                && !set.iter().any(|(it, _)| *it == name)
        });
        kept.chain(set.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)))).collect()
    }

    pub(crate) fn keeper(&mut self, epoch: u64) -> io::Result<&mut Keeper> {
        if self.keeper.is_none() {
            // What could not be ended is named by the call that left it.
            let _named_there = shim_resources::clear_before(&self.folder, epoch);
            self.keeper = Some(Keeper::start(Path::new("/proc/self/exe"), &self.folder, epoch)?);
        }
        Ok(self.keeper.as_mut().expect("it was just started"))
    }

    /// Has our shim run something that may be repeated, and waits for its end.
    pub(crate) fn carry_out(&mut self, run: &Run, order: Order) -> anyhow::Result<Result<Exit, Cut>> {
        self.keeper(run.state.epoch)?.send(order)?;
        let mut cut = false;
        loop {
            let keeper = self.keeper.as_mut().expect("it has the order");
            match keeper.answer() {
                Ok(Some(_)) if cut => return Ok(Err(Cut)),
                Ok(Some(exit)) => return Ok(Ok(exit)),
                Ok(None) => (),
                Err(error) => {
                    self.bury_shim();
                    return Ok(Ok(Exit::without_exit(How::Lost(error.to_string()))));
                }
            }
            let left = self.until.map_or(Duration::MAX, |it| it.saturating_duration_since(Instant::now()));
            if left.is_zero() && !cut {
                cut = true;
                keeper.interrupt(Force::Hard)?;
            }
            let patience = if cut { keeper.patience() } else { keeper.patience().min(left) };
            match self.ears.listen(Some(keeper.as_fd()), patience)? {
                Heard::Now { .. } => {
                    cut = true;
                    keeper.interrupt(Force::Hard)?;
                }
                Heard::Nothing => keeper.end_if_overdue()?,
                Heard::Answer | Heard::Command => (),
            }
        }
    }

    /// The shim died: what it held fell to us.
    pub(crate) fn bury_shim(&mut self) -> contain::Swept {
        let epoch = self.keeper.take().map(|it| it.epoch());
        self.under_way = None;
        let mut swept = contain::sweep();
        swept.left.extend(epoch.map_or(Vec::new(), |it| shim_resources::clear(&self.folder, it)));
        swept
    }

    /// Makes the worktree that was planned when the run was opened, or what is missing of it.
    fn workspace(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let Some(plan) = run.state.opening.worktree.clone() else {
            anyhow::bail!("run {} was opened without a plan for its worktree; loop run --fresh", self.run_id)
        };
        let books = self.folder.join(BOOKS);
        worktree::ensure(&plan, &self.run_id, &books)?;
        worktree::bring(&plan, self.input.as_deref())?;
        let repository = Git::open(&self.place)?;
        self.tree = Tree::open(Pinned::open(&repository, &books)?, self.ours.clone())?;
        let _only_a_cache = std::fs::remove_dir_all(self.folder.join(BOOKS_BEFORE));
        Ok(Performed::Done(Event::Placed { place: plan.place, branch: Some(plan.branch) }))
    }

    /// Says why no agent may be started here, if so.
    pub(crate) fn unfit(&self, run: &Run) -> Option<String> {
        let seat = match &run.state.opening.worktree {
            Some(plan) => worktree::verify(plan),
            None => worktree::verify_here(&self.place, self.tree.pinned.repository.git_dir()),
        };
        if let Err(error) = seat {
            return Some(format!("{error}; {}", error.next));
        }
        let full = disk_space::full(&self.folder, &self.place)?;
        Some(format!("{full}; make room (loop runs --prune deletes finished runs), then loop resume"))
    }

    /// An empty list would pass a body over as if everything in it were done, so one that cannot be
    /// read is an error.
    fn list(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let items = run.workflow.items.as_ref().expect("a body has items");
        let unread = |why: String| anyhow::anyhow!("the list of {}s: {why}", items.name);
        let mut printed = String::new();
        if let ItemSource::Command(command) = &items.from {
            // What it complains about is no item.
            let quiet = format!("{{ {command}\n}} 2>/dev/null");
            let order = run_checks::order(self, LIST, &quiet, LIST_MS, &self.place);
            let exit = match self.carry_out(run, order)? {
                Ok(exit) => exit,
                Err(Cut) => return Ok(Performed::Begun),
            };
            if exit.code != Some(0) {
                return Err(unread(format!("`{command}`: {}", exit_words(exit.code, exit.signal))));
            }
            printed = loop_base::files::text(&self.folder.join(format!("{LIST}.log"))).unwrap_or_default();
        }
        item_list::list(&self.place, items, &printed)
            .map_err(unread)
            .map(|it| Performed::Done(Event::Listed(Listing::Whole(it))))
    }

    fn sleep(&mut self, until: Timestamp) -> anyhow::Result<Performed> {
        self.look = None;
        loop {
            let left = until.since(now());
            if left == 0 {
                return Ok(Performed::Done(Event::Woke));
            }
            match self.ears.listen(None, Duration::from_millis(left))? {
                Heard::Now { .. } | Heard::Command => return Ok(Performed::Begun),
                Heard::Answer | Heard::Nothing => (),
            }
        }
    }

    fn tell(&mut self, run: &Run) -> anyhow::Result<Performed> {
        self.look = None;
        let Some(command) = &run.workflow.notify else {
            return Ok(Performed::Done(Event::Told { trouble: None }));
        };
        let trouble = self.notify(run, command)?;
        Ok(Performed::Done(Event::Told { trouble }))
    }

    /// Runs the person's own command; that it fails is a fact, not an error.
    fn notify(&mut self, run: &Run, command: &str) -> anyhow::Result<Option<String>> {
        let status = loop_core::engine::Status::of(&run.state).word();
        let (reason, next_step) = (run.state.reason(&run.workflow), run.state.next_step(&run.workflow));
        let set = [
            ("LOOP_RUN", self.run_id.as_str()),
            ("LOOP_STATUS", status),
            ("LOOP_REASON", &reason),
            ("LOOP_NEXT_STEP", &next_step),
        ];
        let order = Order {
            stem: "notify".to_owned(),
            kind: Kind::Check,
            argv: ["sh", "-c", command].map(OsString::from).to_vec(),
            cwd: self.place.clone(),
            env: self.environment(&set, &|_| true),
            stdin: String::new(),
            bounds: Bounds {
                first_ms: u64::MAX,
                idle_ms: u64::MAX,
                // A notification that takes longer is stuck, and the run should not be.
                total_ms: 30_000,
                pipe_ms: 500,
                grace_ms: 500,
                out_bytes: 1 << 20,
                memory_bytes: u64::MAX,
                processes: u64::MAX,
            },
        };
        Ok(match self.carry_out(run, order)? {
            Ok(exit) if exit.code == Some(0) => None,
            Ok(exit) => Some(format!("the notify command: {}", exit_words(exit.code, exit.signal))),
            Err(Cut) => None,
        })
    }
}

impl World for Host<'_> {
    fn now(&self) -> Timestamp {
        now()
    }

    fn takes(&self, effect: &Effect) -> bool {
        match (self.leash, effect) {
            (Leash::Free, _) => true,
            (Leash::Calls(left), Effect::Work(_)) => 0 < left,
            (Leash::Calls(_), Effect::Sleep { .. }) => false,
            (Leash::Calls(_), _) => true,
        }
    }

    /// With no check to run, a tree that stands still has been measured already.
    fn knows(&mut self, effect: &Effect, run: &Run) -> Option<Event> {
        let Effect::Measure { checks, deliverables } = effect else { return None };
        let look = checks.is_empty().then(|| self.tree.unchanged()).flatten()?;
        self.measured(run, look, Evidence::default(), deliverables).ok()
    }

    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed> {
        self.stay()?;
        match effect {
            Effect::Workspace => self.workspace(run),
            Effect::Baseline => self.baseline(run),
            Effect::List => self.list(run),
            Effect::Work(call) => self.work(run, call),
            Effect::Collect(call) => self.collect(run, call),
            Effect::Contain => {
                let swept = contain::sweep();
                let mut left = find_by_mark::hunt(&self.run_id);
                left.extend(swept.left);
                let left = left.into_iter().map(|it| Left { pid: it.pid, name: it.name }).collect();
                Ok(Performed::Done(Event::Contained { left }))
            }
            Effect::Measure { checks, deliverables } => self.measure(run, checks, deliverables),
            Effect::Sleep { until, .. } => self.sleep(*until),
            Effect::Ask(_) | Effect::Tell => self.tell(run),
            Effect::Finish => self.finish(run),
        }
    }

    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<Event> {
        (self.watcher)(run, facts)
    }
}

pub(crate) fn exit_words(code: Option<i32>, signal: Option<i32>) -> String {
    match (code, signal) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "no exit status".to_owned(),
    }
}
