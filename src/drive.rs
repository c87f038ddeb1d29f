//! The loop: decide, act, record, repeat. Nothing here knows what an agent is. The engine says what comes next, the
//! world does it, the journal keeps what came of it; because intent is written before the act, continuing after a
//! crash is the same code as starting.

use loop_base::time::Timestamp;
use loop_core::engine::{Decision, Effect, Event, News, Rest, decide};
use loop_store::run::{Run, StoreError};

/// Everything that the engine cannot do for itself.
pub(crate) trait World {
    fn now(&self) -> Timestamp;

    /// Returns what came from outside since it was asked last: how a run was opened, who joined it.
    fn news(&mut self) -> Vec<(Timestamp, News)> {
        Vec::new()
    }

    /// Whether this process may do it. What it may not is left to another, undone and unrecorded.
    fn takes(&self, effect: &Effect) -> bool;

    /// Says what would come of an effect, where that is known without doing anything.
    fn knows(&mut self, _effect: &Effect, _run: &Run) -> Option<Event> {
        None
    }

    /// Returns the effect with what only the world can add before its intent is written down.
    fn intent(&mut self, effect: &Effect) -> Effect {
        effect.clone()
    }

    /// Carries out one effect. A failing agent or check is a result; `Err`: the controller cannot work.
    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed>;

    /// Is told what has become durable, to show and mirror it. Returns what it noticed meanwhile.
    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<News>;
}

/// What came of an effect.
#[expect(clippy::large_enum_variant, reason = "one value lives at a time, between an effect and its record")]
pub(crate) enum Performed {
    Done(Event),
    /// It is under way, or was cut short by a command; deciding again finds out.
    Begun,
    /// Somebody else has the work; another process collects it.
    Elsewhere,
}

/// Drives one run until it closes, or until there is nothing to do without a person.
pub(crate) fn drive(run: &mut Run, world: &mut impl World) -> anyhow::Result<Rest> {
    loop {
        run.take_news(world.news());
        run.take_commands(world.now())?;
        match decide(&run.workflow, &run.state, world.now()) {
            Decision::Record(event) => run.record(world.now(), event),
            Decision::Perform(effect) if !world.takes(&effect) => {
                commit(run, world)?;
                return Ok(Rest::Elsewhere);
            }
            Decision::Perform(effect) => match world.knows(&effect, run) {
                // Nothing happens then, so nothing has to be on disk before it.
                Some(event) => run.record(world.now(), event),
                None if carry_out(run, world, &effect)? => return Ok(Rest::Elsewhere),
                None => (),
            },
            Decision::Rest(rest) => {
                commit(run, world)?;
                return Ok(rest);
            }
        }
    }
}

/// Does one thing and records what came of it. Says whether somebody else has the work.
pub(crate) fn carry_out(run: &mut Run, world: &mut impl World, effect: &Effect) -> anyhow::Result<bool> {
    // What may happen only once is on disk before it happens, so a crash leaves a trace of it.
    let effect = &world.intent(effect);
    if effect.happens_once() {
        run.record(world.now(), Event::Began(effect.clone()));
    }
    commit(run, world)?;
    match world.perform(effect, run)? {
        Performed::Done(event) => run.record(world.now(), event),
        Performed::Begun => (),
        Performed::Elsewhere => return Ok(true),
    }
    Ok(false)
}

/// Makes everything since the last commit durable, and only then lets it be seen.
pub(crate) fn commit(run: &mut Run, world: &mut impl World) -> Result<(), StoreError> {
    run.take_news(world.news());
    loop {
        let facts = run.commit()?;
        let noticed = world.committed(run, &facts);
        if noticed.is_empty() {
            return Ok(());
        }
        run.take_news(noticed.into_iter().map(|it| (world.now(), it)).collect());
    }
}
