//! Handing in what a completed run made. What stands in the way is found, all of it at once, before
//! anything is changed; where the work went is noted in the run's journal.

use crate::deliver::ship::{CompletedWork, Preflight, ShipOptions, Shipped, changed_since};
use crate::desk::caller::{Caller, load};
use crate::desk::commands::answer::{VIEW, working_tree};
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::refusal::{NextStep, Refusal};
use crate::drive;
use crate::world::wait::now;
use loop_core::delivery_names::CommitKind;
use loop_core::engine::Event;
use loop_store::run::Run;
use loop_store::{Home, Row};
use std::path::Path;
use std::rc::Rc;

/// What would be handed in.
pub(crate) struct Shipment {
    home: Rc<Home>,
    run: String,
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
            let help = NextStep::by_hand("loop run docs/PRPs/NAME.md begins one; ship comes after it");
            return Err(Refusal::usage("no run in this project", help));
        };
        let (workflow, _) = load(&home, &row)?;
        if !workflow.finish.ship.is_allowed() {
            let text = format!("the workflow {} ships nothing", workflow.name);
            let help = "ship = \"offer\" in [finish] of .loop/workflow.toml allows it";
            return Err(Refusal::usage(text, NextStep::by_hand(help)));
        }
        Shipment::of(&home, &row, ShipOptions { kind: wish.kind, request: wish.request })
    };
    find().map_err(Refusal::from)
}

impl Shipment {
    /// What a run that has just been completed would hand in.
    pub(crate) fn offered(home: &Rc<Home>, row: &Row) -> Result<Shipment, Refusal> {
        Shipment::of(home, row, ShipOptions { kind: None, request: true }).map_err(Refusal::from)
    }

    fn of(home: &Rc<Home>, row: &Row, wanted: ShipOptions) -> anyhow::Result<Shipment> {
        let (workflow, state) = load(home, row)?;
        let (place, books) = (Path::new(&row.place), home.folder(&row.id).join(VIEW));
        let changed = match working_tree(place, &books, &workflow, &state)? {
            Some(mut tree) => changed_since(&mut tree, &state.seen.tree)?,
            None => Vec::new(),
        };
        let work = CompletedWork::look(row.clone(), workflow, state, wanted, changed)?;
        Ok(Shipment { home: Rc::clone(home), run: row.id.clone(), work })
    }

    /// Hands it in. What did not work is said in the result.
    pub(crate) fn hand_in(&self, preflight: &Preflight) -> Result<Shipped, Refusal> {
        let shipped = self.work.hand_in(preflight);
        if shipped.is_done {
            self.note(&shipped).map_err(Refusal::from)?;
        }
        Ok(shipped)
    }

    fn note(&self, shipped: &Shipped) -> anyhow::Result<()> {
        let mut run = Run::open(Rc::clone(&self.home), &self.run, now())?;
        let event = Event::Finished {
            trouble: None,
            shipped: shipped.words(),
            commit: shipped.commit.clone(),
            next: None,
        };
        drive::note(&mut run, [(now(), event)]);
        run.commit()?;
        Ok(())
    }
}
