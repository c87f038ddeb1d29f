//! Seeded simulation: thousands of runs against agents that behave at random, each killed wherever
//! a real controller could die. What must hold whatever happens:
//!
//! - a run that was killed and went on comes to the same end as one that was not;
//! - limits are never exceeded: of the run, of a phase, of the window, of money, tokens and time, of
//!   retries and of rejections;
//! - no phase is left without both parts of its exit rule, past a failing check, or past a gate that
//!   nobody has passed;
//! - an open breaker lets no call out without a person, apart from its one fresh call;
//! - no call is started twice;
//! - what the state carries along is bounded;
//! - it always ends or stops.
//!
//! A failure prints its seed.

use super::invariants::{hold_the_invariants, same};
use super::{Cast, Dice, Sim};
use crate::drive::{Performed, World, drive};
use loop_base::time::Timestamp;
use loop_core::engine::{
    Answer, Command, Effect, Event, Hold, Item, News, Opening, Rest, State, Status, Step, choices,
};
use loop_core::workflow::model::{ModeName, Skill, Window, WindowThen, Workflow};
use loop_core::workflow::preset;
use loop_core::workflow::resolve::{Layers, resolve};
use loop_store::run::{Memory, Run};

/// Seeds of the ordinary test run; the campaign multiplies them.
const SEEDS: u64 = 2_000;

/// No path of a bounded workflow is longer; a run that gets here does not end.
const MOST_STEPS: usize = 20_000;

/// Questions that a simulated person answers before going home.
const MOST_ANSWERS: u32 = 12;

fn seeds() -> u64 {
    let times = std::env::var("LOOP_TEST_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    SEEDS * times
}

pub(crate) fn preset(name: &str) -> Workflow {
    let layers = Layers { preset: Some(name.to_owned()), ..Layers::default() };
    resolve(&layers, &|path| Err(format!("{}", path.display()))).expect("a preset has no problems")
}

/// A preset with limits that are reached in short runs.
fn workflow(seed: u64, presets: &[Workflow]) -> Workflow {
    let mut dice = Dice::new(seed ^ 0x5eed);
    let mut workflow = presets[dice.below(presets.len() as u32) as usize].clone();
    workflow.limits.iterations = Some(1 + dice.below(40));
    if dice.chance(30) {
        workflow.limits.phase_iterations = 1 + dice.below(8);
    }
    if dice.chance(30) {
        let then = [WindowThen::Ask, WindowThen::Wait, WindowThen::Pause][dice.below(3) as usize];
        workflow.limits.window = Some(Window { calls: 1 + dice.below(10), every: 3_600_000, then });
    }
    if dice.chance(20) {
        workflow.limits.usd = Some(f64::from(dice.below(500)) / 100.0);
    }
    if dice.chance(10) {
        workflow.limits.tokens = Some(u64::from(dice.below(60_000)) + 1);
    }
    if let Some(mode) = ["autonomous", "supervised", "hybrid"].map(ModeName::from).get(dice.below(4) as usize)
        && workflow.modes.contains_key(mode)
    {
        workflow.mode = Some(mode.clone());
    }
    if dice.chance(20) {
        workflow.limits.time = Some(u64::from(dice.below(7_200_000)) + 1);
    }
    for phase in &mut workflow.phases {
        phase.breaker.pivot = dice.chance(20);
        // Nobody reads them here, and every life copies them.
        phase.prompt.clear();
    }
    for skill in workflow.skills.values_mut() {
        *skill = Skill::default();
    }
    workflow
}

fn sim(seed: u64) -> Sim {
    let mut sim = Sim::new(Cast::Dice(Dice::new(seed)));
    let items = Dice::new(seed ^ 7).below(4);
    let mut dice = Dice::new(seed ^ 11);
    if dice.chance(20) {
        sim.baseline = Some((dice.below(3), 3));
    }
    if dice.chance(10) {
        sim.absent.insert("tests".to_owned());
    }
    sim.items = (0..items).map(|it| Item::new(format!("item-{it}"), format!("item {it}"))).collect();
    sim
}

/// A world that can die: before it does what was decided, or after.
struct Mortal<'a> {
    sim: &'a mut Sim,
    /// Performed effects until death; `None` lives forever.
    life: Option<u32>,
    after: bool,
    steps: usize,
}

#[derive(Debug)]
struct Died;

impl std::fmt::Display for Died {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("killed")
    }
}

impl std::error::Error for Died {}

impl World for Mortal<'_> {
    fn now(&self) -> Timestamp {
        self.sim.now()
    }

    fn takes(&self, _effect: &Effect) -> bool {
        true
    }

    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed> {
        self.steps += 1;
        assert!(self.steps < MOST_STEPS, "the run does not end: {:?}", run.state.station);
        let dies = self.life == Some(0);
        if let Some(life) = &mut self.life {
            *life = life.saturating_sub(1);
        }
        if dies && !self.after {
            return Err(Died.into());
        }
        let performed = self.sim.perform(effect, run)?;
        if dies {
            return Err(Died.into());
        }
        Ok(performed)
    }

    fn committed(&mut self, _run: &Run, _facts: &[(Timestamp, Event)]) -> Vec<News> {
        Vec::new()
    }
}

/// When a controller dies.
#[derive(Clone, Copy, Debug)]
enum ControllerDeaths {
    Never,
    /// Each controller lives for a few effects and dies before or after its last one is done.
    Often(u64),
}

/// Plays a whole run, with a person who answers some questions, and returns how it stops.
fn play(seed: u64, workflow: &Workflow, deaths: ControllerDeaths) -> (State, Vec<(Timestamp, Event)>, Rest) {
    let mut sim = sim(seed);
    let mut memory = Memory::default();
    let mut answers = 0;
    let mut lives = 0;
    let mut opened = false;
    loop {
        lives += 1;
        assert!(lives < MOST_STEPS, "seed {seed}: dies for ever");
        let mut run = Run::simulated(workflow.clone(), std::mem::take(&mut memory));
        if !opened {
            let opening =
                Opening { criteria: Some(1), promise: Some("DONE".to_owned()), ..Opening::default() };
            run.record(sim.now, Event::Opened(opening));
            run.commit().expect("memory is never full");
        }
        opened = true;
        let (life, after) = match deaths {
            ControllerDeaths::Never => (None, false),
            ControllerDeaths::Often(way) => {
                let mut dice = Dice::new(seed ^ way << 48 ^ lives as u64);
                (Some(dice.below(8)), dice.chance(50))
            }
        };
        let mut world = Mortal { sim: &mut sim, life, after, steps: 0 };
        match drive(&mut run, &mut world) {
            Ok(rest) => {
                let command = person(seed, answers, workflow, &run.state, &rest);
                answers += 1;
                let Some(command) = command else {
                    return (run.state.clone(), run.into_memory().events, rest);
                };
                run.simulate_command(command);
                memory = run.into_memory();
            }
            Err(error) => {
                assert!(error.is::<Died>(), "seed {seed}: {error}");
                memory = run.into_memory();
            }
        }
    }
}

fn person(seed: u64, turn: u32, workflow: &Workflow, state: &State, rest: &Rest) -> Option<Command> {
    let mut dice = Dice::new(seed ^ u64::from(turn) << 32 ^ 0xbeef);
    if MOST_ANSWERS <= turn || dice.chance(20) {
        return None;
    }
    let skills: Vec<&String> = workflow.phases[state.phase].skills.iter().collect();
    if dice.chance(5) && !skills.is_empty() {
        let skill = skills[dice.below(skills.len() as u32) as usize].clone();
        return Some(Command::Skip { skill, reason: "not needed".to_owned() });
    }
    match rest {
        Rest::Waiting(_) if dice.chance(10) => {
            let phase = dice.chance(50).then(|| dice.below(state.phase as u32 + 1) as usize);
            Some(Command::Resume { reset: dice.chance(50), phase, most: None, retries: None })
        }
        Rest::Waiting(question) => {
            let words = choices(question);
            let choice = words[dice.below(words.len() as u32) as usize].to_owned().into();
            let answer = Answer {
                question: question.id,
                choice,
                text: "try it".to_owned(),
                by: String::new(),
                signature: None,
            };
            Some(Command::Answer(answer))
        }
        Rest::Held(Hold { .. }) => {
            let most = dice.chance(50).then_some(state.iterations_total + 3);
            Some(Command::Resume { reset: dice.chance(20), phase: None, most, retries: None })
        }
        Rest::Closed(_) | Rest::Elsewhere => None,
    }
}

/// What a crash may change: when things happened, how often a start was tried, and under whom.
fn essence(mut state: State) -> State {
    state.updated_at = Timestamp(0);
    state.void_attempts = 0;
    state.voids = 0;
    state
}

/// Plays one seed without a death and with many, and returns how it ends.
fn survive(seed: u64, presets: &[Workflow]) -> Status {
    let workflow = workflow(seed, presets);
    let (whole, events, rest) = play(seed, &workflow, ControllerDeaths::Never);
    hold_the_invariants(seed, &workflow, &events, &whole);
    for way in 1..=2 {
        let deaths = ControllerDeaths::Often(way);
        let (state, events, other) = play(seed, &workflow, deaths);
        hold_the_invariants(seed, &workflow, &events, &state);
        same(&essence(state), &essence(whole.clone()), &format!("seed {seed}, {deaths:?}"));
        assert_eq!(other, rest, "seed {seed}, {deaths:?}");
    }
    Status::of(&whole)
}

#[test]
fn en01_killed_anywhere_a_run_comes_to_the_same_end() {
    const THREADS: u64 = 2;
    let presets = preset::names().map(preset).collect::<Vec<_>>();
    let share = |first: u64| (first..seeds()).step_by(THREADS as usize).map(|seed| survive(seed, &presets));
    let ends: Vec<Status> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..THREADS).map(|first| scope.spawn(move || share(first).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|it| it.join().expect("a seed fails, see above")).collect()
    });
    // Dice that never get anywhere would prove nothing.
    for status in [Status::Completed, Status::Halted, Status::Capped, Status::Waiting, Status::Stopped] {
        assert!(ends.contains(&status), "no seed ends {}", status.word());
    }
}

#[test]
fn the_same_seed_plays_the_same_run() {
    let presets = preset::names().map(preset).collect::<Vec<_>>();
    for seed in 0..seeds() / 10 {
        let workflow = workflow(seed, &presets);
        let one = play(seed, &workflow, ControllerDeaths::Never);
        let two = play(seed, &workflow, ControllerDeaths::Never);
        assert_eq!(one, two, "seed {seed}");
    }
}

#[test]
fn a_call_has_one_step_of_its_phase() {
    let engineering = preset("engineering");
    for seed in 0..200 {
        let (_, events, _) = play(seed, &engineering, ControllerDeaths::Never);
        for (_, event) in &events {
            let Event::Began(Effect::Work(call)) = event else { continue };
            let phase = &engineering.phases[call.phase];
            match &call.step {
                Step::Skill(skill) => assert!(phase.skills.contains(skill), "seed {seed}: {skill}"),
                Step::Fix(skill) => assert_eq!(skill, "debug-assist"),
                Step::Main => assert!(phase.skills.is_empty(), "seed {seed}: {} has skills", phase.name),
            }
        }
    }
}
