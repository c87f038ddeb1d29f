//! The shim that this process talks to: starting it, having it run something that may be repeated,
//! and what falls to us when it dies.

use crate::measure::checks::run_checks::Cut;
use crate::world::wait::{Listener, WaitResult};
use loop_supervise::contain;
use loop_supervise::keeper::Keeper;
use loop_supervise::protocol::{EndReason, Force, Order, OrderEnd as Exit};
use loop_supervise::shim::resources as shim_resources;
use rustix::fd::AsFd;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) struct Shim {
    /// The run's folder.
    folder: PathBuf,
    pub(crate) keeper: Option<Keeper>,
    /// The call that our own shim has.
    pub(crate) under_way: Option<String>,
    pub(crate) listener: Listener,
    /// No check may run beyond this moment; one that would is cut short.
    pub(crate) until: Option<Instant>,
}

impl Shim {
    pub(crate) fn new(folder: &Path, listener: Listener) -> Shim {
        Shim { folder: folder.to_owned(), keeper: None, under_way: None, listener, until: None }
    }

    pub(crate) fn keeper(&mut self, epoch: u64) -> io::Result<&mut Keeper> {
        if self.keeper.is_none() {
            // Processes that survive this are listed in the event of the call that left them.
            let _named_there = shim_resources::clear_before(&self.folder, epoch);
            self.keeper = Some(Keeper::start(Path::new("/proc/self/exe"), &self.folder, epoch)?);
        }
        Ok(self.keeper.as_mut().expect("it was just started"))
    }

    /// Has our shim run something that may be repeated, and waits for its end.
    pub(crate) fn carry_out(&mut self, epoch: u64, order: Order) -> anyhow::Result<Result<Exit, Cut>> {
        self.keeper(epoch)?.send(order)?;
        let mut cut = false;
        loop {
            let keeper = self.keeper.as_mut().expect("it has the order");
            match keeper.answer() {
                Ok(Some(_)) if cut => return Ok(Err(Cut)),
                Ok(Some(exit)) => return Ok(Ok(exit)),
                Ok(None) => (),
                Err(error) => {
                    self.bury();
                    return Ok(Ok(Exit::without_exit(EndReason::Lost(error.to_string()))));
                }
            }
            let left = self.until.map_or(Duration::MAX, |it| it.saturating_duration_since(Instant::now()));
            if left.is_zero() && !cut {
                cut = true;
                keeper.interrupt(Force::Hard)?;
            }
            let patience = if cut { keeper.patience() } else { keeper.patience().min(left) };
            let heard = self.listener.listen(Some(keeper.as_fd()), patience);
            if heard.is_err() {
                keeper.interrupt(Force::Hard)?;
            }
            match heard? {
                WaitResult::Now { .. } => {
                    cut = true;
                    keeper.interrupt(Force::Hard)?;
                }
                WaitResult::Nothing => keeper.end_if_overdue()?,
                WaitResult::Answer | WaitResult::Command => (),
            }
        }
    }

    /// The shim died: what it held fell to us.
    pub(crate) fn bury(&mut self) -> contain::Swept {
        let epoch = self.keeper.take().map(|it| it.epoch());
        self.under_way = None;
        let mut swept = contain::sweep();
        swept.left.extend(epoch.map_or(Vec::new(), |it| shim_resources::clear(&self.folder, it)));
        swept
    }
}
