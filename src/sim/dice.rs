//! Agents that behave at random, the same way every time for the same seed.

use super::Play;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{Call, Cost, Ending, TokenClasses, Usage};
use loop_core::facts::{FactName, Simulated};
use loop_core::report::{Report, Trouble};
use loop_core::workflow::model::{ErrorClass, Protocol, Signal, SignalWord, Workflow};
use std::collections::BTreeMap;

/// A small generator (SplitMix64): good enough to vary behaviour, and the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (self.roll() % u64::from(limit.max(1))) as u32
    }

    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// Returns what this call does; it depends on the seed and the call's number alone.
    pub(super) fn play(&self, workflow: &Workflow, call: &Call) -> Play {
        let mut dice = Dice(self.0 ^ u64::from(call.number).wrapping_mul(0xd1b5_4a32_d192_ed03));
        let phase = &workflow.phases[call.phase];
        let total = 1 + dice.below(6);
        let passing = if dice.chance(60) { total } else { dice.below(total + 1) };
        let mut play = Play {
            tests: dice.chance(90).then_some((passing, total)),
            ms: u64::from(dice.below(600_000)),
            usage: Usage {
                tokens: TokenClasses { input: u64::from(dice.below(10_000)), ..TokenClasses::default() },
                cost: Cost::Reported(f64::from(dice.below(100)) / 100.0),
            },
            ..Play::default()
        };
        match dice.below(100) {
            0..4 => play.ending = Ending::Failed { why: format!("exit status {}", dice.below(3) + 1) },
            4..6 => play.ending = Ending::TimedOut { why: "no output for 10m 00s".to_owned() },
            6..8 => play.ending = Ending::Lost { why: "the shim is gone".to_owned() },
            8..11 => {
                let until =
                    dice.chance(50).then(|| Timestamp(1_767_600_000_000 + i64::from(dice.below(90_000_000))));
                play.ending = Ending::Limited { why: "plan limit".to_owned(), until };
            }
            11 => play.ending = Ending::Refused { why: "not logged in".to_owned() },
            12 => play.ending = Ending::Unreachable { why: "connection refused".to_owned() },
            _ => (),
        }
        play.report = dice.report(phase.signal.clone());
        for name in &phase.checks {
            if dice.chance(20) {
                play.failing.insert(name.clone(), format!("exit status {}", dice.below(2) + 1));
            }
        }
        play.facts = dice.facts();
        if dice.chance(5) {
            let gates: Vec<&String> = workflow.gates.keys().collect();
            play.report.gates.extend(gates.get(dice.below(8) as usize).map(|it| (*it).clone()));
        }
        if dice.chance(3) && phase.report == Protocol::ExitSignal {
            let kinds = ["human-verify", "decision", "human-action"];
            let kind = Value::from(kinds[dice.below(3) as usize]);
            play.report.metrics.insert("checkpoint".to_owned(), kind);
        }
        if dice.chance(3) {
            play.report.items = (0..dice.below(4)).map(|it| format!("proposed {it}")).collect();
        }
        play.report.metrics.extend(dice.claims(&phase.claims));
        play
    }

    fn report(&mut self, wanted: Signal) -> Report {
        if self.chance(10) {
            return Report::default();
        }
        let words = match wanted {
            Signal::Words(words) => words,
            Signal::Own | Signal::None => vec![SignalWord::Done],
        };
        let mut report = Report { found: true, ..Report::default() };
        if self.chance(60) {
            let word = self.below(words.len() as u32) as usize;
            report.signal = words.get(word).cloned();
        }
        if self.chance(3) {
            report.stuck = Some("no way forward".to_owned());
        }
        if self.chance(15) {
            let classes = [
                ErrorClass::Build,
                ErrorClass::Test,
                ErrorClass::Security,
                ErrorClass::External,
                ErrorClass::Other,
            ];
            let class = classes[self.below(5) as usize].clone();
            report.error = Some(Trouble { class, text: format!("error {}", self.below(3)) });
        }
        report.failed = self.chance(5);
        report
    }

    fn facts(&mut self) -> BTreeMap<String, Value> {
        let mut facts = BTreeMap::new();
        for row in FactName::ALL.iter().map(|it| it.row()) {
            let value = match row.simulated {
                Simulated::Not => continue,
                Simulated::Count { most, .. } => self.below(most + 1).into(),
                Simulated::Is(_) => self.chance(50).into(),
            };
            facts.insert(row.name.to_owned(), value);
        }
        facts
    }

    fn claims(&mut self, names: &[String]) -> BTreeMap<String, Value> {
        let verdicts = ["APPROVE", "REJECT", "passed", "gaps_found", "human_needed", "approve", "changes"];
        let mut claims = BTreeMap::new();
        claims.insert(FactName::Verdict.name().to_owned(), Value::from(verdicts[self.below(7) as usize]));
        for name in names.iter().filter(|it| *it != FactName::Verdict.name()) {
            let value = if self.chance(50) { self.below(3).into() } else { self.chance(50).into() };
            claims.insert(name.clone(), value);
        }
        claims
    }
}
