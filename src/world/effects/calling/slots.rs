//! Calls at once: a call that finds no slot of its account waits in line until one is given back, or until
//! whoever has one dies. Nothing is polled: the run that gives one back wakes the first in line, and the
//! kernel tells of the dead.

use crate::drive::Performed;
use crate::world::real::Host;
use crate::world::wait::{WaitResult, now};
use loop_base::text::counted;
use loop_core::engine::{Call, Event, Hold, HoldKind, Wait};
use loop_store::run::Run;
use loop_store::{COMMAND, Holder, Home, SlotAnswer, SlotUse, SlotWish, wake};
use loop_supervise::deaths::Deaths;
use rustix::fd::AsFd;
use std::time::Duration;

/// Whoever waits is woken; this is for the case that nobody could. An agent's call takes minutes.
const ASK_AGAIN_MS: u64 = 3_600_000;

impl Host<'_> {
    /// Takes a slot for a call, where the workflow says how many there are. Returns the wait where none is
    /// free.
    pub(crate) fn take_slot(&mut self, run: &Run, call: &Call) -> Option<Event> {
        let most = run.workflow.limits.slots?;
        let home = self.shim.listener.shared_home();
        // Where the shim cannot be started, the call says so; until then the slot is this process's.
        let shim = self.shim.keeper(run.state.epoch).ok().and_then(|it| Holder::with_pid(it.pid()));
        let shim = shim.unwrap_or_else(Holder::this_process);
        let account = &run.account;
        let wish = SlotWish { account, run: &run.id, call: call.number, most, shim: &shim, at: now() };
        let waits = |why: String| Event::Waits { until: now().plus(ASK_AGAIN_MS), why, wait: Wait::Slot };
        match home.take_slot(&wish) {
            Ok(SlotAnswer::Taken) => None,
            Ok(SlotAnswer::Full { used, ahead }) => {
                let first = match ahead {
                    0 => String::new(),
                    more => format!(", and {} in line before it", counted(more, "run")),
                };
                Some(waits(format!("{used} of {} of {account} under way{first}", counted(most, "call"))))
            }
            Err(error) => {
                let reason = format!("no slot could be taken for the next call: {error}");
                Some(Event::Held(Hold { kind: HoldKind::Paused, reason }))
            }
        }
    }

    /// Gives back the slot of a call that does not begin.
    pub(crate) fn leave_slot(&self, run: &Run) {
        if run.workflow.limits.slots.is_some() {
            // It is free as soon as the shim ends, at the latest.
            let _is_free = self.shim.listener.shared_home().leave_slot(&run.id);
            self.wake_line(run);
        }
    }

    /// Wakes those in line of this account whom a slot may be free for.
    pub(crate) fn wake_line(&self, run: &Run) {
        let Some(most) = run.workflow.limits.slots else { return };
        let home = self.shim.listener.shared_home();
        let in_line = home.slots().unwrap_or_default().into_iter();
        let in_line = in_line.filter(|it| it.call.is_none() && it.account == run.account);
        for waiting in in_line.take(most as usize) {
            // Whoever does not hear it asks again by itself.
            let _is_woken = wake(&home.folder(&waiting.run), COMMAND);
        }
    }

    /// Waits in line for a slot.
    pub(crate) fn await_slot(&mut self, run: &Run) -> anyhow::Result<Performed> {
        let home = self.shim.listener.shared_home();
        let others = home.slots()?.into_iter().filter(|it| it.account == run.account && it.run != run.id);
        // Whoever comes later wakes the line when it goes, or is missed at the next look.
        let deaths = Deaths::of(others.map(|it| it.holder.pid))?;
        loop {
            if is_free(&home, run)? {
                return Ok(Performed::Done(Event::Woke));
            }
            match self.shim.listener.listen(Some(deaths.as_fd()), Duration::MAX)? {
                // Whoever died held a slot or stood in line: who has what is read again.
                WaitResult::Answer => return Ok(Performed::Done(Event::Woke)),
                WaitResult::Command if is_free(&home, run)? => return Ok(Performed::Done(Event::Woke)),
                WaitResult::Command | WaitResult::Now { .. } => return Ok(Performed::Begun),
                WaitResult::Nothing => (),
            }
        }
    }
}

/// Whether the run could have a slot now.
fn is_free(home: &Home, run: &Run) -> anyhow::Result<bool> {
    let of_account = |it: &SlotUse| it.account == run.account;
    let all: Vec<SlotUse> = home.slots()?.into_iter().filter(of_account).collect();
    if !all.iter().any(|it| it.run == run.id) {
        return Ok(true);
    }
    let used = all.iter().filter(|it| it.call.is_some() && it.run != run.id).count();
    let ahead = all.iter().filter(|it| it.call.is_none()).take_while(|it| it.run != run.id).count();
    Ok(run.workflow.limits.slots.is_none_or(|most| used + ahead < most as usize))
}
