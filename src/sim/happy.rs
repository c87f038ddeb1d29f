//! The happy path of any workflow: for each call, a play that leaves its phase. What a phase wants
//! stands in its conditions, and the engine judges them; so plays are tried, plain success first,
//! until one is judged good enough.

use super::{Dice, Play};
use loop_base::value::Value;
use loop_core::engine::{PhaseStatus, State, Status};
use loop_core::facts::{FactName, Simulated};
use loop_core::report::Report;
use loop_core::workflow::model::{Signal, SignalWord, Workflow};

/// A workflow that has not ended by then has a path too long to read.
const CALLS_MOST: usize = 200;

/// Plays that are tried for one call: a condition over six booleans is met by one of 64.
const TRIES: u64 = 200;

/// Calls in a row that leave nothing behind. A phase that still has not ended has an exit that no play meets,
/// and each further one costs as many tries as all before it.
const IN_VAIN_MOST: usize = 12;

/// Finds the plays; `after` says where the run stands when these were played.
pub(crate) fn happy_plays(
    workflow: &Workflow,
    after: impl Fn(&[Play]) -> anyhow::Result<State>,
) -> anyhow::Result<Vec<Play>> {
    let mut plays: Vec<Play> = Vec::new();
    let mut state = after(&plays)?;
    let mut in_vain = 0;
    while plays.len() < CALLS_MOST
        && in_vain < IN_VAIN_MOST
        && matches!(Status::of(&state), Status::Ready | Status::Running)
    {
        let mut best: Option<(Came, Play, State)> = None;
        for attempt in 0..TRIES {
            let tried = play(workflow, &state, attempt);
            plays.push(tried.clone());
            let reached = after(&plays)?;
            plays.pop();
            let came = Came::between(&state, &reached);
            if best.as_ref().is_none_or(|(it, ..)| *it < came) {
                best = Some((came, tried, reached));
            }
            if came == Came::Further {
                break;
            }
        }
        let Some((came, chosen, reached)) = best else { break };
        in_vain = if came == Came::Further { 0 } else { in_vain + 1 };
        plays.push(chosen);
        state = reached;
    }
    Ok(plays)
}

/// How a play turned out, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Stuck,
    /// Another iteration of the same phase.
    Nowhere,
    Further,
}

impl Came {
    fn between(before: &State, after: &State) -> Came {
        let left = |it: &State| it.phases.iter().filter(|it| it.status == PhaseStatus::Completed).count();
        match Status::of(after) {
            Status::Completed => Came::Further,
            _ if left(before) < left(after) || before.items_done < after.items_done => Came::Further,
            _ if before.visit.skills_done.len() < after.visit.skills_done.len() => Came::Further,
            Status::Ready | Status::Running => Came::Nowhere,
            Status::Waiting
            | Status::Paused
            | Status::Halted
            | Status::Stopped
            | Status::Capped
            | Status::Cancelled => Came::Stuck,
        }
    }
}

/// The agent reports success, every check passes, and everything else is as a try has it: the first
/// one says yes to everything, the others are dice.
fn play(workflow: &Workflow, state: &State, attempt: u64) -> Play {
    let phase = &workflow.phases[state.phase];
    let mut dice = Dice::new(attempt);
    let word = match &phase.signal {
        Signal::Words(words) => words.first().cloned(),
        Signal::Own | Signal::None => Some(SignalWord::Done),
    };
    let is_plain = attempt == 0;
    // Where only claims decide, dice about everything else would hardly ever agree with them.
    let is_usual = attempt.is_multiple_of(2);
    let total = 4;
    let mut play = Play {
        report: Report { found: true, signal: word, ..Report::default() },
        tests: Some((if is_usual { total } else { dice.below(total + 1) }, total)),
        ..Play::default()
    };
    for row in FactName::ALL.iter().map(|it| it.row()) {
        let value: Value = match row.simulated {
            Simulated::Not => continue,
            Simulated::Count { usual, most } if is_usual => usual.max(most).into(),
            Simulated::Count { most, .. } => dice.below(most + 1).into(),
            Simulated::Is(usual) if is_usual => usual.into(),
            Simulated::Is(_) => dice.chance(50).into(),
        };
        play.facts.insert(row.name.to_owned(), value);
    }
    let verdicts = ["APPROVE", "passed", "approve"];
    let verdict = verdicts[dice.below(verdicts.len() as u32) as usize];
    play.report.metrics.insert(FactName::Verdict.name().to_owned(), Value::from(verdict));
    for name in phase.claims.iter().filter(|it| *it != FactName::Verdict.name()) {
        let value = match dice.below(4) {
            _ if is_plain => true.into(),
            0 => true.into(),
            1 => false.into(),
            2 => 0_u32.into(),
            _ => 100_u32.into(),
        };
        play.report.metrics.insert(name.clone(), value);
    }
    play
}
