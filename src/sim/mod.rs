//! A world that starts nothing: agents and checks answer from a script or from dice, the clock
//! jumps instead of waiting. `loop simulate` plays workflows in it, and the tests kill it wherever
//! a real controller could die.
//!
//! What a call answers depends only on its number, so a run that was killed and continues meets the
//! same world as one that was not.

mod dice;
mod expect;
mod happy;
mod play;
mod setting;
pub(crate) mod story;
mod teller;
mod words;

#[cfg(test)]
mod invariants;
#[cfg(test)]
mod long_list;
#[cfg(test)]
mod seeds;

use crate::drive::{Performed, World};
pub(crate) use dice::Dice;
pub(crate) use happy::happy_plays;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{
    Baseline, Call, CheckOutcome, CheckResult, Effect, Ended, Ending, Event, Evidence, Facts, Item, Landing,
    LandingStep, Listing, Merge, News, Question, QuestionKind, Station, Step, StepTaken, Tests, Usage,
};
use loop_core::facts::FactName;
use loop_core::proof::{Finding, FindingKind, Level, NewTest, Proof, ProvenTest, TestId};
use loop_core::report::Report;
use loop_core::workflow::model::{TESTS_CHECK, Workflow};
use loop_store::run::Run;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// When simulated time begins: an arbitrary Monday morning.
const BEGIN: i64 = 1_767_600_000_000;

/// What one call does and what the checks say after it.
#[derive(Clone, Debug)]
pub(crate) struct Play {
    pub ending: Ending,
    pub report: Report,
    pub tests: Option<(u32, u32)>,
    /// Checks that fail, by name.
    pub failing: BTreeMap<String, String>,
    pub facts: BTreeMap<String, Value>,
    /// The commit that the tree is at.
    pub commit: String,
    pub missing: Vec<String>,
    /// Finished items whose work it takes away.
    pub lost: Vec<String>,
    /// What its skill must report is left out.
    pub unreported: bool,
    pub usage: Usage,
    pub ms: u64,
}

impl Default for Play {
    fn default() -> Play {
        Play {
            ending: Ending::Done,
            report: Report::default(),
            tests: None,
            failing: BTreeMap::new(),
            facts: BTreeMap::new(),
            commit: String::new(),
            missing: Vec::new(),
            lost: Vec::new(),
            unreported: false,
            usage: Usage::default(),
            ms: 60_000,
        }
    }
}

/// What a proof comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlayedProof {
    Proves(Level),
    /// One finding, in these words.
    Finds(String),
}

type EffectWatch = Box<dyn FnMut(&Run, &Effect)>;

/// Who plays the agents.
pub(crate) enum Cast {
    /// One play for each call; with none left, the work is somebody else's.
    Script(Vec<Play>),
    Dice(Dice),
}

pub(crate) struct Sim {
    pub now: Timestamp,
    pub cast: Cast,
    pub items: Vec<Item>,
    pub baseline: Option<(u32, u32)>,
    /// What is so until something else is said.
    pub world: BTreeMap<String, Value>,
    /// Checks that fail whatever is done, and why.
    pub failing: BTreeMap<String, String>,
    /// Checks that have no command.
    pub absent: BTreeSet<String>,
    /// Finished items whose work is gone until the list is read.
    pub lost: BTreeSet<String>,
    /// What each proof comes to, the first one first; with none left a new test proves the work.
    pub proofs: VecDeque<PlayedProof>,
    /// What each try to merge the work comes to, the first one first; with none left it is merged.
    pub landings: VecDeque<Landing>,
    /// How often the start of a call comes to nothing, by number.
    pub voids: BTreeMap<u32, u32>,
    /// When each call that was started ends, by number and attempt; `None` for one that may not be
    /// started any more. The world remembers, whoever dies.
    pub started: BTreeMap<(u32, u32), Option<Timestamp>>,
    /// Sees every effect before it is done.
    pub watch: Option<EffectWatch>,
}

impl Sim {
    pub(crate) fn new(cast: Cast) -> Sim {
        Sim {
            now: Timestamp(BEGIN),
            cast,
            items: Vec::new(),
            baseline: None,
            world: usual_facts(),
            failing: BTreeMap::new(),
            absent: BTreeSet::new(),
            lost: BTreeSet::new(),
            proofs: VecDeque::new(),
            landings: VecDeque::new(),
            voids: BTreeMap::new(),
            started: BTreeMap::new(),
            watch: None,
        }
    }

    fn is_void(&self, call: &Call) -> bool {
        self.voids.get(&call.number).is_some_and(|it| call.attempt <= *it)
    }

    fn play(&self, workflow: &Workflow, call: &Call) -> Play {
        if self.is_void(call) {
            return Play { ending: Ending::NotStarted, ms: 0, ..Play::default() };
        }
        match &self.cast {
            Cast::Script(plays) => plays[call.number as usize - 1].clone(),
            Cast::Dice(dice) => dice.play(workflow, call),
        }
    }
}

impl World for Sim {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn takes(&self, effect: &Effect) -> bool {
        match (&self.cast, effect) {
            (Cast::Script(plays), Effect::Work(call)) => {
                (call.number as usize) <= plays.len() || self.is_void(call)
            }
            (Cast::Script(_), Effect::Sleep { .. }) => false,
            (Cast::Script(_) | Cast::Dice(_), _) => true,
        }
    }

    fn perform(&mut self, effect: &Effect, run: &Run) -> anyhow::Result<Performed> {
        if let Some(watch) = &mut self.watch {
            watch(run, effect);
        }
        Ok(Performed::Done(match effect {
            Effect::Workspace => Event::Placed { place: "worktree".to_owned(), branch: None },
            Effect::Baseline => {
                let names = run.workflow.phases.iter().flat_map(|it| &it.checks).collect::<BTreeSet<_>>();
                let play = Play { tests: self.baseline, ..Play::default() };
                let results = names.into_iter().map(|name| self.check(run, name, &play));
                Event::Baselined(Baseline {
                    results: results.collect(),
                    facts: Facts::default(),
                    ms: 0,
                    opening: None,
                })
            }
            Effect::List => {
                let lost = std::mem::take(&mut self.lost);
                let found = self.items.iter().map(|it| Item { undone: lost.contains(&it.id), ..it.clone() });
                Event::Listed(Listing::Whole(found.collect()))
            }
            Effect::Work(call) => {
                let ends = self.now.plus(self.play(&run.workflow, call).ms);
                let before = self.started.insert((call.number, call.attempt), Some(ends));
                assert_eq!(before, None, "call {} is started twice", call.number);
                return Ok(Performed::Begun);
            }
            Effect::Collect(call) => Event::Ended(Box::new(self.collect(run, call))),
            Effect::Contain => Event::Contained { left: Vec::new() },
            Effect::Measure { checks, deliverables: _ } => {
                let play = current(run).map(|it| self.play(&run.workflow, it)).unwrap_or_default();
                self.lost.extend(play.lost.iter().cloned());
                Event::Measured(Box::new(self.evidence(run, &play, checks)))
            }
            Effect::Prove(step) => Event::StepTaken(Box::new(StepTaken {
                not_needed: false,
                step: *step,
                tree: run.state.seen.tree.clone(),
                seconds: 0.0,
                expected_s: None,
                found: String::new(),
                digest: None,
                unprepared: None,
            })),
            Effect::Conclude => Event::Proved(Box::new(self.conclude(run))),
            Effect::Confirm => confirmed(run),
            Effect::Land => self.merge(),
            Effect::ProveMerge => Event::LandingStep(LandingStep::Proven { by: "every check".to_owned() }),
            Effect::Move(merge) => {
                Event::Landed(Landing::Merged { into: merge.into.clone(), commit: merge.commit.clone() })
            }
            Effect::Look if matches!(run.state.landing, Some(Landing::Waits { .. })) => {
                Event::Looked(self.landings.pop_front().unwrap_or(Landing::Clear))
            }
            Effect::Look => Event::Looked(self.landing()),
            Effect::Sleep { until, .. } => {
                self.now = self.now.max(*until);
                Event::Woke
            }
            Effect::Ask(_) | Effect::Tell => Event::Told { trouble: None },
            Effect::Finish => Event::Finished { trouble: None, shipped: None, commit: None, next: None },
        }))
    }

    fn committed(&mut self, _run: &Run, _facts: &[(Timestamp, Event)]) -> Vec<News> {
        Vec::new()
    }
}

/// In a simulated world nothing changes while a gate waits, and nobody needs a signature.
fn confirmed(run: &Run) -> Event {
    match &run.state.station {
        Station::Waiting {
            question: Question { kind: QuestionKind::Gate(gate), about, .. },
            answer: Some(answer),
        } => {
            Event::Approved { gate: gate.clone(), by: answer.by.clone(), about: about.clone(), signer: None }
        }
        other => panic!("an approval is looked at where a gate was answered, not at {other:?}"),
    }
}

impl Sim {
    /// A waiver takes the findings; the same proof is concluded again.
    fn conclude(&mut self, run: &Run) -> Proof {
        let waived = run.state.waivers.iter().any(|it| it.what == "*");
        let played = match self.proofs.front().cloned() {
            Some(PlayedProof::Finds(_)) if waived => PlayedProof::Proves(Level::UnchangedGreen),
            Some(played @ PlayedProof::Finds(_)) if 0 < run.state.proof_returns => played,
            Some(_) => self.proofs.pop_front().expect("there is one"),
            None => PlayedProof::Proves(Level::NewTest),
        };
        let nothing = Proof::of_nothing(run.state.seen.tree.clone());
        match played {
            PlayedProof::Proves(level) => {
                let id = TestId { check: TESTS_CHECK.to_owned(), name: "a_test".to_owned() };
                let mut proof = Proof { level, ..nothing };
                match level {
                    Level::RedToGreen => proof.red_to_green.push(ProvenTest { id, is_gone: false }),
                    Level::NewTest => proof.new_tests.push(NewTest { id, only_build_failed: false }),
                    Level::Approved | Level::UnchangedGreen | Level::None => (),
                }
                proof
            }
            PlayedProof::Finds(line) => {
                let finding = Finding {
                    kind: FindingKind::ChangedTest,
                    check: None,
                    test: None,
                    file: None,
                    step: None,
                    line,
                };
                Proof { findings: vec![finding], ..nothing }
            }
        }
    }

    fn collect(&mut self, run: &Run, call: &Call) -> Ended {
        let play = match self.started.entry((call.number, call.attempt)).or_insert(None) {
            Some(ends) => {
                self.now = self.now.max(*ends);
                self.play(&run.workflow, call)
            }
            // The controller died between intent and start.
            None => Play { ending: Ending::NotStarted, ms: 0, ..Play::default() },
        };
        let tail = if play.report.found { "" } else { "I did what I could." };
        let play = with_reports(&run.workflow, call, play);
        let ended = Ended::plain(call.number, play.ending, play.report);
        Ended { usage: play.usage, ms: play.ms, tail: tail.to_owned(), ..ended }
    }
}

/// An agent that says it is done has reported what its skill is asked for, unless the story says otherwise.
fn with_reports(workflow: &Workflow, call: &Call, mut play: Play) -> Play {
    let skill = match &call.step {
        Step::Skill(skill) => workflow.skills.get(skill),
        Step::Main | Step::Fix(_) => None,
    };
    let asked = skill.filter(|_| play.report.signal.is_some() && !play.unreported);
    for name in asked.into_iter().flat_map(|it| &it.reports) {
        let usual = match FactName::named(name) {
            Some(FactName::Verdict) => Value::from("APPROVE"),
            Some(_) | None => Value::Int(0),
        };
        play.report.metrics.entry(name.clone()).or_insert(usual);
    }
    play
}

/// The call that is measured, if one was made.
fn current(run: &Run) -> Option<&Call> {
    match &run.state.station {
        loop_core::engine::Station::Reported(turn) => Some(&turn.call),
        loop_core::engine::Station::Ready => None,
        other => panic!("only a call that ended is measured: {other:?}"),
    }
}

impl Sim {
    /// What comes of merging the work: what the story says, else what the world does.
    fn merge(&mut self) -> Event {
        match self.landings.pop_front().unwrap_or_else(|| self.landing()) {
            Landing::Merged { into, commit } => {
                let (from, tree) = ("before".to_owned(), "tree".to_owned());
                Event::LandingStep(LandingStep::Merged(Merge { into, from, commit, tree }))
            }
            landing => Event::Landed(landing),
        }
    }

    /// The work is merged where the world says so; nobody knows better here.
    fn landing(&self) -> Landing {
        match self.world.get(FactName::PrMerged.name()) {
            Some(Value::Bool(true)) => {
                Landing::Merged { into: "main".to_owned(), commit: "merged".to_owned() }
            }
            Some(_) | None => Landing::Requested { at: "pull request 1".to_owned() },
        }
    }

    fn evidence(&self, run: &Run, play: &Play, checks: &[String]) -> Evidence {
        let results = checks.iter().map(|name| self.check(run, name, play));
        let mut values = self.world.clone();
        values.extend(play.facts.clone());
        let is_done = |it: &&String| run.state.item_list().is_some_and(|list| list.is_listed_done(it));
        Evidence {
            lost_work: self.lost.iter().filter(is_done).cloned().collect(),
            results: results.collect(),
            facts: Facts { values, commit: play.commit.clone(), ..Facts::default() },
            missing: play.missing.clone(),
            ..Evidence::default()
        }
    }

    fn is_absent(&self, run: &Run, name: &str) -> bool {
        self.absent.contains(name) && !run.state.commands.contains_key(name)
    }

    /// The check named `tests` brings the counts, and a failing test fails it. The first that fail
    /// are those that failed before the run began.
    fn check(&self, run: &Run, name: &str, play: &Play) -> CheckResult {
        let before = self.baseline.map_or(0, |(passing, total)| total - passing);
        let counts = play.tests.filter(|_| name == TESTS_CHECK).map(|(passing, total)| {
            let failing = total - passing;
            let named = |it| if it <= before { format!("old {it}") } else { format!("young {it}") };
            Tests { total, passing, failing, skipped: 0, failed: (1..=failing).map(named).collect() }
        });
        let red = counts.as_ref().filter(|it| 0 < it.failing);
        let failing = play.failing.get(name).or(self.failing.get(name)).cloned();
        let begun = run.state.baseline.is_some() && failing.is_none();
        let only_old = begun && red.is_some_and(|it| it.failing <= before);
        let outcome = match failing.or(red.map(|it| format!("{} tests fail", it.failing))) {
            _ if self.is_absent(run, name) => CheckOutcome::Skipped,
            Some(why) => CheckOutcome::Failed(why),
            None => CheckOutcome::Passed,
        };
        let repeat = run.workflow.checks.get(name).map_or(1, |it| it.repeat.max(1));
        CheckResult {
            passes: if outcome == CheckOutcome::Passed || only_old { repeat } else { 0 },
            exit: Some(i32::from(outcome != CheckOutcome::Passed)),
            counts: counts.filter(|_| !self.is_absent(run, name)),
            ..CheckResult::plain(name, outcome)
        }
    }
}

/// An iteration that changed something and left the tree tidy.
fn usual_facts() -> BTreeMap<String, Value> {
    let facts = FactName::ALL.iter().map(|it| it.row());
    facts.filter_map(|row| Some((row.name.to_owned(), row.simulated.usual()?))).collect()
}

#[cfg(test)]
mod stories {
    use super::seeds::preset;
    use super::story::tell;
    use loop_core::facts::FactName;
    use loop_core::workflow::model::Workflow;
    use loop_core::workflow::resolve::{LayerSource, Layers, resolve};

    /// A workflow beside the stories, else a preset.
    fn load(name: &str) -> Result<Workflow, String> {
        let Ok(text) = std::fs::read_to_string(format!("tests/stories/{name}.toml")) else {
            return Ok(preset(name));
        };
        let project = Some(LayerSource { name: format!("{name}.toml"), text, dir: None });
        let layers = Layers { project, ..Layers::default() };
        resolve(&layers, &|path| Err(format!("{} is not there", path.display())))
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    /// Nothing that a person reads names a fact as conditions do. Names of one word are English too.
    fn assert_no_variables(story: &str, journal: &str) {
        let named = FactName::ALL.iter().map(|it| it.name()).filter(|it| it.contains('_'));
        for name in named {
            let line = journal.lines().find(|it| it.contains(name));
            assert!(line.is_none(), "{story} names {name}: {line:?}");
        }
        for sign in ["==", "&&", "||", ">="] {
            let line = journal.lines().find(|it| it.contains(sign));
            assert!(line.is_none(), "{story} shows a condition: {line:?}");
        }
    }

    /// Every story in `tests/stories` is played; its journal is kept beside it.
    #[test]
    fn stories_end_as_they_should() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../tests/stories/journals");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let mut told = 0;
        let mut wrong = Vec::new();
        let entries = std::fs::read_dir("tests/stories").expect("stories are there");
        let mut paths: Vec<_> = entries.flatten().map(|it| it.path()).collect();
        paths.sort();
        for path in paths {
            if path.extension().is_none_or(|it| it != "story") {
                continue;
            }
            told += 1;
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("a story is text");
            match tell(&text, &load) {
                Ok(journal) => {
                    assert_no_variables(&name, &journal);
                    settings.bind(|| insta::assert_snapshot!(name, journal));
                }
                Err(problem) => wrong.push(format!("{name}: {problem}")),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let journals = std::fs::read_dir("tests/stories/journals").expect("journals are there");
        let kept = journals.flatten().filter(|it| it.path().extension().is_some_and(|it| it == "snap"));
        assert_eq!(kept.count(), told, "every journal has its story");
    }
}
