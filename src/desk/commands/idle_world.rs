//! A world that does nothing: what follows from what is known is recorded, and nothing is begun.

use crate::drive::{Performed, World};
use crate::world::wait::now;
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event};
use loop_store::run::Run;

pub(crate) struct IdleWorld;

impl World for IdleWorld {
    fn now(&self) -> Timestamp {
        now()
    }

    fn takes(&self, _effect: &Effect) -> bool {
        false
    }

    fn perform(&mut self, _effect: &Effect, _run: &Run) -> anyhow::Result<Performed> {
        Ok(Performed::Elsewhere)
    }

    fn committed(&mut self, _run: &Run, _facts: &[(Timestamp, Event)]) -> Vec<Event> {
        Vec::new()
    }
}
