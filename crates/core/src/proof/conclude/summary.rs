//! What all checks together prove: findings that are open or waived, the level, and the record.

use super::judge::Judge;
use crate::proof::record::finding::Finding;
use crate::proof::record::proof_record::{CheckRecord, CheckState, Level, Proof, WaivedFinding};
use crate::proof::record::steps::{CanaryOutcome, NotRun, Settled, StepOutcome};
use crate::proof::results::ids::{Exit, Results, TestOutcome};
use std::collections::BTreeMap;

impl Judge<'_> {
    pub(super) fn proof(mut self) -> Proof {
        let (findings, waived, weakened) = self.sort_findings();
        let level = self.level(&findings);
        let checks = self.check_names().iter().map(|it| self.record(it)).collect();
        let mut not_reproducible = self.not_reproducible;
        not_reproducible.sort_by(|left, right| left.id.cmp(&right.id));
        Proof {
            level,
            tree: self.evidence.tree.clone(),
            commit: self.evidence.commit.clone(),
            red_to_green: self.red_to_green,
            new_tests: self.new_tests,
            still_green: self.still_green,
            not_judged: self.evidence.not_judged.clone(),
            not_reproducible,
            checks,
            waived,
            findings,
            cost_s: self.evidence.cost_s,
            weakened,
            flaky: self.flaky.into_iter().collect(),
            notes: self.notes,
            nothing_changed: self.evidence.nothing_changed,
            more: BTreeMap::new(),
        }
    }

    /// Divides findings into open and waived ones, and tells whether a waiver weakens the proof.
    fn sort_findings(&mut self) -> (Vec<Finding>, Vec<WaivedFinding>, bool) {
        let changed: Vec<&str> = self.evidence.changed_protected.iter().map(|it| it.path.as_str()).collect();
        let (mut open, mut waived, mut weakened) = (Vec::new(), Vec::new(), false);
        for finding in std::mem::take(&mut self.findings) {
            let waiver = self.evidence.waivers.iter().find(|it| finding.is_named_by(&it.what));
            let allowed = finding.is_allowed(&self.evidence.allowed, &changed);
            let reason = match waiver {
                Some(waiver) => waiver.reason.clone(),
                None if allowed => "allowed before the run by --allow-test-change".to_owned(),
                None => {
                    open.push(finding);
                    continue;
                }
            };
            weakened |= finding.kind.weakens();
            waived.push(WaivedFinding { finding, reason, by: waiver.and_then(|it| it.by.clone()) });
        }
        (open, waived, weakened)
    }

    fn level(&self, findings: &[Finding]) -> Level {
        let ran = |step: &Option<Settled>| step.as_ref().is_some_and(|it| !it.results.is_empty());
        let all_green = !self.red && findings.is_empty() && self.still_green > 0;
        let skips_clean = self.evidence.clean == StepOutcome::NotRun(NotRun::Skipped);
        match () {
            () if !self.red_to_green.is_empty() => Level::RedToGreen,
            () if !self.new_tests.is_empty() => Level::NewTest,
            () if self.evidence.approved && !self.red => Level::Approved,
            () if skips_clean || !ran(&self.baseline) || !ran(&self.clean) => Level::None,
            () if all_green && !self.was_red() => Level::UnchangedGreen,
            () => Level::None,
        }
    }

    /// Whether something failed before the run that does not fail now, and is not proven: its test was changed,
    /// and a person accepted that.
    fn was_red(&self) -> bool {
        let step = |step: &Option<Settled>| step.as_ref().map(|it| it.results.clone()).unwrap_or_default();
        let clean = step(&self.clean);
        step(&self.baseline).iter().any(|before| {
            let Some(now) = clean.iter().find(|it| it.check == before.check) else { return false };
            let healed = |name: &&str| {
                now.outcome(name) != Some(TestOutcome::Failed) && !self.passed_at_opening(&before.check, name)
            };
            let opening = self.evidence.opening.iter().find(|it| it.check == before.check);
            let is_silent = before.names(TestOutcome::Failed).next().is_none();
            let by_exit = is_silent && before.exit == Exit::Red && now.exit == Exit::Green;
            before.names(TestOutcome::Failed).any(|it| healed(&it))
                || by_exit && opening.is_none_or(|it| it.exit != Exit::Green)
        })
    }

    fn record(&self, name: &str) -> CheckRecord {
        let of = |step: &Option<Settled>| CheckState::of(step.as_ref().and_then(|it| it.check(name)));
        let clean = self.clean.as_ref().and_then(|it| it.check(name));
        CheckRecord {
            name: name.to_owned(),
            baseline: of(&self.baseline),
            clean: of(&self.clean),
            overlay: if self.overlay_is_clean { CheckState::NotRun } else { of(&self.overlay) },
            old_code: of(&self.old_code),
            canary: self.evidence.canary.get(name).copied().unwrap_or(CanaryOutcome::None),
            tests: clean.and_then(Results::executed),
        }
    }
}
