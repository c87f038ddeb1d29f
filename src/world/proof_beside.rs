//! A step of the proof that goes on beside the agent.

use crate::measure::proof::Pending;

/// A step that is taken while the agent works. Nothing of it stays behind when its controller goes.
pub(crate) struct Beside(Option<Pending>);

impl Beside {
    pub(crate) fn of(pending: Pending) -> Beside {
        Beside(Some(pending))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            let _the_next_one_clears_up = pending.end();
        }
    }
}
