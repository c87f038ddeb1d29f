//! Handing in what a completed run made. What stands in the way is found, all of it at once, before
//! anything is changed. Whoever hands it in owns the run and its working tree meanwhile, the intent is in the
//! journal before anything happens, and so is afterwards where the work went. Each step looks whether it was
//! done already, so after a kill the next `loop ship` continues.

use crate::deliver::ship::{CompletedWork, Preflight, ShipOptions, Shipped, changed_since};
use crate::desk::caller::{Caller, load, next_step};
use crate::desk::commands::answer::{VIEW, working_tree};
use crate::desk::idle_world::keep_mirrors;
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::refusal::{NextStep, Refusal};
use crate::drive::{self, Performed, World};
use crate::world::wait::now;
use loop_base::time::Timestamp;
use loop_core::delivery_names::CommitKind;
use loop_core::engine::{Effect, Event, News};
use loop_store::run::Run;
use loop_store::{Home, Row, StoreError, TreeLock};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What would be handed in.
pub(crate) struct Shipment {
    home: Rc<Home>,
    place: PathBuf,
    /// The run and its tree; only looking needs neither.
    held: Option<(Run, TreeLock)>,
    pub work: CompletedWork,
}

/// How it is to be handed in.
pub(crate) struct ShipRequest {
    pub kind: Option<CommitKind>,
    /// A pull request is wanted.
    pub request: bool,
    /// Only what would be done is asked for.
    pub dry_run: bool,
}

/// Finds what there is to hand in.
pub(crate) fn shipment(caller: &Caller, wish: ShipRequest) -> Result<Shipment, Refusal> {
    let find = || -> anyhow::Result<Shipment> {
        if !wish.dry_run {
            inside_call::refuse(caller, None, GuardedCommand::Ship)?;
        }
        let home = caller.existing_home()?;
        let row = match &home {
            Some(home) => caller.find(home)?,
            None => None,
        };
        let (Some(home), Some(row)) = (home, row) else {
            let help =
                NextStep::by_hand("loop run docs/PRPs/NAME.md starts one; ship it when it is completed");
            return Err(Refusal::usage("no run in this project", help));
        };
        let (workflow, _) = load(&home, &row)?;
        if !workflow.finish.ship.is_allowed() {
            let text = format!("{} does not ship its runs", workflow.name);
            let help = "ship = \"offer\" in [finish] of .loop/workflow.toml allows it";
            return Err(Refusal::usage(text, NextStep::by_hand(help)));
        }
        let tree = match wish.dry_run {
            true => None,
            false => Some(TreeLock::take(home.path(), Path::new(&row.place))?),
        };
        Shipment::of(&home, &row, tree, ShipOptions { kind: wish.kind, request: wish.request })
    };
    find().map_err(Refusal::from)
}

impl Shipment {
    /// What a run that has just been completed would hand in.
    pub(crate) fn offered(home: &Rc<Home>, row: &Row, tree: TreeLock) -> Result<Shipment, Refusal> {
        Shipment::of(home, row, Some(tree), ShipOptions { kind: None, request: true }).map_err(Refusal::from)
    }

    fn of(
        home: &Rc<Home>,
        row: &Row,
        tree: Option<TreeLock>,
        wanted: ShipOptions,
    ) -> anyhow::Result<Shipment> {
        let place = PathBuf::from(&row.place);
        let held = match tree {
            Some(tree) => Some((Run::open(Rc::clone(home), &row.id, now())?, tree)),
            None => None,
        };
        let (workflow, state) = match &held {
            Some((run, _)) => (run.workflow.clone(), run.state.clone()),
            None => load(home, row)?,
        };
        let view = home.folder(&row.id).join(VIEW);
        let changed = match working_tree(&place, &view, &workflow, &state)? {
            Some(mut tree) => changed_since(&mut tree, &state.seen.tree)?,
            None => Vec::new(),
        };
        let work = CompletedWork::look(row.clone(), workflow, state, wanted, changed)?;
        Ok(Shipment { home: Rc::clone(home), place, held, work })
    }

    /// Returns the command that comes next where something stands in the way.
    pub(crate) fn next_step(&self) -> Result<String, StoreError> {
        match &self.held {
            Some((run, _)) if !self.work.is_at_its_end() => {
                next_step(&self.home, &run.id, &run.workflow, &run.state)
            }
            Some(_) | None => Ok("loop ship".to_owned()),
        }
    }

    /// Hands it in, unless something stands in the way. What did not work is said in the result.
    pub(crate) fn hand_in(&mut self, preflight: &Preflight) -> Result<Shipped, Refusal> {
        let Shipment { home, place, held, work } = self;
        let (run, _tree) = held.as_mut().expect("who hands in holds the run");
        if !preflight.errors.is_empty() {
            return Ok(work.hand_in(preflight));
        }
        let mut world = ShipWorld { home, place, work, preflight, shipped: None };
        let performed = drive::carry_out(run, &mut world, &Effect::Finish)
            .and_then(|_| Ok(drive::commit(run, &mut world)?));
        performed.map_err(Refusal::from)?;
        Ok(world.shipped.expect("it was just handed in"))
    }
}

/// A world that hands in, and begins nothing else.
struct ShipWorld<'a> {
    home: &'a Home,
    place: &'a Path,
    work: &'a CompletedWork,
    preflight: &'a Preflight,
    shipped: Option<Shipped>,
}

impl World for ShipWorld<'_> {
    fn now(&self) -> Timestamp {
        now()
    }

    fn takes(&self, effect: &Effect) -> bool {
        *effect == Effect::Finish
    }

    fn perform(&mut self, _effect: &Effect, _run: &Run) -> anyhow::Result<Performed> {
        let shipped = self.work.hand_in(self.preflight);
        let trouble = (!shipped.is_done).then(|| format!("not shipped: {}", shipped.errors.join("; ")));
        let event = Event::Finished {
            trouble,
            shipped: shipped.is_done.then(|| shipped.words()).flatten(),
            commit: shipped.commit.clone().filter(|_| shipped.is_done),
            next: None,
        };
        self.shipped = Some(shipped);
        Ok(Performed::Done(event))
    }

    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<News> {
        keep_mirrors(self.home, self.place, run, facts)
    }
}
