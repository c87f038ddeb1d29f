//! The first step of a proof, which is taken in a process of its own beside the first call. It is what
//! the steps at the end are compared with, so nobody has to wait for it then.

use crate::measure::proof::Pending;

/// A step that is taken while the agent works. Nothing of it stays behind when its controller goes.
pub(crate) struct BaselineProver(Option<Pending>);

impl BaselineProver {
    pub(crate) fn new(pending: Pending) -> BaselineProver {
        BaselineProver(Some(pending))
    }
}

impl Drop for BaselineProver {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            let _the_next_one_clears_up = pending.end();
        }
    }
}
