//! Driving a run from the command line: until it finishes or needs a person, who is asked here or told
//! how to answer.

use crate::cli::context::Context;
use crate::cli::delivering::ship;
use crate::cli::looking::views::{cost, plan_view, signing, system_view};
use crate::cli::terminal::{AskResult, RestingRun, RunOutput, WaitEnd};
use crate::cli::{hint, json};
use crate::desk::{self, Driver, FoundRun, Going, OpenRun, Reach, Took};
use crate::world::wait::{WaitResult, now};
use loop_base::text::sanitise;
use loop_core::engine::{Rest, State, Status, acceptable, run_again};
use loop_core::workflow::model::Ship;
use loop_store::run::Run;

/// What happens at a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// It is asked on the terminal.
    Here,
    /// Answers come from elsewhere.
    Wait,
    Exit,
}

/// Takes a run that exists and drives it.
pub(crate) fn resume(
    context: &Context,
    found: FoundRun,
    going: &Going,
    asking: &Ask,
    reach: Reach,
) -> anyhow::Result<u8> {
    match take(context, found, going)? {
        Ok(opened) => drive(context, opened, going, asking, reach),
        Err(exit) => Ok(exit),
    }
}

/// Takes a run that exists. Where a session of the agent works on it, that is said, and what to exit
/// with comes back.
pub(crate) fn take(context: &Context, found: FoundRun, going: &Going) -> anyhow::Result<Result<OpenRun, u8>> {
    Ok(match desk::take(&context.caller, found, going)? {
        Took::Run(it) => Ok(*it),
        Took::Session(run) => Err(tell_how_it_continues(context, &run)),
    })
}

/// Drives a run that was just opened.
pub(crate) fn run(context: &Context, opened: OpenRun, asking: &Ask, reach: Reach) -> anyhow::Result<u8> {
    drive(context, opened, &Going::default(), asking, reach)
}

/// Drives until nothing is left to do without a person, who is asked where that is wanted.
fn until_rest(driver: &mut Driver<'_>, output: &RunOutput, asking: Ask) -> anyhow::Result<()> {
    loop {
        let rest = driver.until_rest()?;
        match (&rest, asking) {
            (Rest::Waiting(question), Ask::Here) => {
                let Driver { run, host, .. } = &mut *driver;
                let check = |command| acceptable(&run.workflow, &run.state, command);
                let answer = output.ask(&run.workflow, &run.state, question, &check, &mut |nap| {
                    Ok(match host.shim.listener.listen(Some(rustix::stdio::stdin()), nap)? {
                        WaitResult::Answer => WaitEnd::Typed,
                        WaitResult::Command | WaitResult::Now { .. } => WaitEnd::Elsewhere,
                        WaitResult::Nothing => WaitEnd::Nothing,
                    })
                })?;
                match answer {
                    AskResult::Answer(command) => driver.answer(&command)?,
                    AskResult::Elsewhere => (),
                    AskResult::Nothing => return Ok(()),
                }
            }
            (Rest::Waiting(question), Ask::Wait) => {
                output.tell(&driver.run.workflow, &driver.run.state, question);
                driver.wait(question)?;
            }
            _ => return Ok(()),
        }
    }
}

/// Says until when a run that is continued makes no call: no fact follows that would.
fn provider_wait(state: &State) -> Option<String> {
    let (until, why) = state.no_call_before(now()).filter(|_| state.waits_for_provider())?;
    Some(format!("waiting until {until}: {why}; loop resume --now asks again"))
}

/// Drives a run until it finishes or needs a person, and says how it ended.
fn drive(
    context: &Context,
    opened: OpenRun,
    going: &Going,
    asking: &Ask,
    reach: Reach,
) -> anyhow::Result<u8> {
    let output = context.run_output();
    output.greet(&opened.run.id, &opened.run.workflow);
    let OpenRun { home, run: of, place, .. } = &opened;
    let begins = plan_view::at_start(home, of, place, going);
    begins.iter().for_each(|it| output.note(it));
    if let Some(expected) = cost::expected(&opened.home, &opened.run) {
        output.note(&expected);
    }
    if let Some(wait) = provider_wait(&of.state).filter(|_| !going.now) {
        output.note(&wait);
    }
    output.show(&opened.run.workflow, &opened.run.state, &[]);
    let say = |run: &Run, facts: &[_]| output.say(&run.workflow, &run.state, facts);
    let mut driver = Driver::new(opened, reach, say, output.onlooker())?;
    until_rest(&mut driver, &output, *asking)?;
    let rested = driver.end();
    let run = &rested.run;
    let exit = match rested.signal {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(0),
        None => Status::of(&run.state).exit(),
    };
    let more = plan_view::at_end(&rested.home, &run.id, &run.workflow, &run.state, &rested.place);
    let domain = system_view::at_end(&rested.home, &run.workflow, &run.state);
    domain.iter().for_each(|it| output.note(it));
    if let Some(trouble) = &rested.record_trouble {
        output.note(&format!("{trouble}; loop evidence tries again"));
    }
    signing::lines(context, &run.id, &run.workflow, &run.state).iter().for_each(|it| output.note(it));
    let (workflow, state, folder) = (&run.workflow, &run.state, run.folder());
    let asked = Some(output.asked());
    let next = hint::next_step(&rested.home, &run.id, workflow, state)?;
    // Whoever makes one call at a time wants the next one.
    let makes_one_call = Status::of(state) == Status::Running;
    let next = match makes_one_call {
        // The next call is made when the provider serves again, or when a person says so.
        true if state.waits_for_provider() => hint::pasteable("loop limits --clear"),
        true => next.replacen("loop run", "loop next", 1),
        false => next,
    };
    let is_offered =
        *asking == Ask::Here && workflow.finish.ship == Ship::Offer && state.is_to_ship(workflow);
    output.rest(
        &RestingRun {
            workflow,
            state,
            place: &rested.place,
            folder: &folder,
            asked,
            next: &next,
            other: hint::other_step(&rested.home, &run.id, state)?,
            tells_next: !is_offered && !context.is_temporary,
            more: &more,
        },
        exit,
    );
    if is_offered {
        let (home, id, tree) = rested.let_go();
        if let Some(row) = home.run(&id)?
            && !ship::offer(context, &home, &row, tree)?
        {
            output.declined(&next);
        }
    }
    Ok(exit)
}

/// Says what `loop run` and `loop resume` came to for a run that they cannot drive, and returns what
/// they exit with.
fn tell_how_it_continues(context: &Context, run: &Run) -> u8 {
    let (status, reason) = (Status::of(&run.state), run.state.reason(&run.workflow));
    let next_step = hint::pasteable(&desk::next_step_of(&run.workflow, &run.state));
    let (exit, what) = match status {
        Status::Ready | Status::Running => (0, "a session of the agent works on it".to_owned()),
        Status::Waiting
        | Status::Paused
        | Status::Halted
        | Status::Stopped
        | Status::Capped
        | Status::Completed
        | Status::Cancelled => (status.exit(), reason.clone()),
    };
    let word = status.word();
    if context.json {
        let object =
            serde_json::json!({ "status": word, "reason": reason, "next_step": next_step, "exit": exit });
        println!("{object}");
    } else {
        println!("run {} is {word}: {}", &run.id[..8], sanitise(&what));
        println!("next: {}", sanitise(&next_step));
    }
    exit
}

/// Says that there is nothing to do in a run that ended before, and how to start over. What was asked
/// for is so, whatever the run came to, and the exit code says that.
pub(crate) fn done_before(context: &Context, found: &FoundRun, text: &str) -> anyhow::Result<u8> {
    let row = &found.row;
    let (workflow, state) = desk::load(&found.home, row)?;
    let exit = Status::Completed.exit();
    let next = hint::next_step(&found.home, &row.id, &workflow, &state)?;
    // Work that is merged, or waits to be, is not begun again.
    let is_merged = matches!(state.landing, Some(loop_core::engine::Landing::Merged { .. }));
    let can_start_over = !state.has_nothing_to_do() && !is_merged && desk::unmerged(&state).is_none();
    if context.json {
        let object = serde_json::json!({
            "status": row.status, "reason": text, "next_step": next, "exit": exit,
        });
        println!("{}", json::line(&object));
        return Ok(exit);
    }
    println!("{}", sanitise(text));
    println!("next: {}", sanitise(&next));
    if can_start_over {
        println!("{}", hint::or(&format!("{} --fresh", run_again(&workflow, &row.input))));
    }
    Ok(exit)
}
