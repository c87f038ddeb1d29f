//! Reads TAP, as bats, tape and many others write it, and node's test runner in both its reporters.
//! Of nested reports the innermost points are the tests. A document counts when it has its plan
//! (`1..N`): planned tests without a result are failing. A point whose number lies ahead of its
//! turn was printed by a test; one without a number is not read, though TAP allows it, because
//! anything that begins with "ok" would be one. `# SKIP` and `# TODO` count as skipped.

use super::node::{Spec, Totals};
use super::tree::SuitePath;
use crate::measure::counts::tally::{FailedNames, LogFinding, LogTally, Sum};
use loop_core::proof::TestOutcome;
use loop_core::proof::runner_lines::tap::{TapPoint, plan, point, subtest};

#[derive(Debug, Default)]
pub(in crate::measure::counts) struct Tap {
    sum: Sum,
    document: TapDocument,
    spec: Spec,
}

#[derive(Debug, Default)]
struct TapDocument {
    lines: Option<(u64, u64)>,
    plan: Option<u32>,
    points: u32,
    last_number: u32,
    tree: SuitePath,
    tally: LogTally,
    totals: Totals,
    stated: Option<LogTally>,
    /// The column of the `---` that opened a block of details.
    details: Option<usize>,
}

impl Tap {
    pub(in crate::measure::counts) fn line(&mut self, at: u64, text: &str) {
        self.spec.line(at, text);
        let trimmed = text.trim_start_matches(' ');
        let column = text.len() - trimmed.len();
        if self.document.skips_details(column, trimmed) || !column.is_multiple_of(4) {
            return;
        }
        let depth = column / 4;
        if depth == 0 && (text.starts_with("TAP version ") || self.document.is_over(text)) {
            self.close();
        }
        self.document.line(at, depth, trimmed);
    }

    pub(in crate::measure::counts) fn finish(mut self) -> Option<LogFinding> {
        self.close();
        let (points, spec) = (self.sum.finish(), self.spec.finish());
        // Both at once are two runs in one log.
        let mut both = Sum::default();
        for found in [points, spec].into_iter().flatten() {
            both.add(&found.tally, found.first, found.last);
        }
        both.finish()
    }

    fn close(&mut self) {
        let document = std::mem::take(&mut self.document);
        let Some((first, last)) = document.lines else { return };
        let TapDocument { plan, points, mut tally, stated, .. } = document;
        if let Some(stated) = stated {
            let failed = if stated.failing > 0 { tally.failed } else { FailedNames::default() };
            self.sum.add(&LogTally { failed, ..stated }, first, last);
        } else if let Some(plan) = plan {
            tally.add(&LogTally { failing: plan.saturating_sub(points), ..LogTally::default() });
            self.sum.add(&tally, first, last);
        }
    }
}

impl TapDocument {
    /// Returns whether a line at the outermost level begins the next document.
    fn is_over(&self, text: &str) -> bool {
        let Some(planned) = self.plan else { return false };
        plan(text).is_some() || self.points >= planned && point(text).is_some_and(|it| it.number == 1)
    }

    fn skips_details(&mut self, column: usize, trimmed: &str) -> bool {
        match self.details {
            Some(open) if column >= open => {
                if trimmed == "..." {
                    self.details = None;
                }
                true
            }
            Some(_) | None => {
                self.details = (trimmed == "---" && column > 0).then_some(column);
                self.details.is_some()
            }
        }
    }

    fn line(&mut self, at: u64, depth: usize, text: &str) {
        if let Some(planned) = plan(text) {
            if depth == 0 {
                self.plan = Some(planned);
                self.note(at);
            }
        } else if let Some(point) = point(text) {
            self.take(at, depth, &point);
        } else if let Some(name) = subtest(text) {
            self.tree.open(depth, &plain(name));
        } else if text == "}" {
            self.tree.close(depth);
        } else if let (0, Some(comment)) = (depth, text.strip_prefix("# ")) {
            if let Some(stated) = self.totals.read(comment) {
                self.stated = Some(stated);
                self.note(at);
            }
        } else if depth == 0 && text.starts_with("Bail out!") {
            self.tally.add(&LogTally { failing: 1, ..LogTally::default() });
            self.tally.failed.insert(text);
            self.note(at);
        }
    }

    fn take(&mut self, at: u64, depth: usize, point: &TapPoint<'_>) {
        if depth == 0 {
            let is_late = self.plan.is_some_and(|plan| self.points >= plan);
            let is_early = point.number > self.last_number.saturating_add(1);
            if is_late || is_early {
                return;
            }
            self.points = self.points.saturating_add(1);
            self.last_number = point.number;
        }
        self.note(at);
        let name = plain(point.title);
        if point.opens {
            self.tree.open(depth, &name);
            self.tree.close(depth);
            return;
        }
        let fails = point.outcome == TestOutcome::Failed;
        let Some(full_name) = self.tree.point(depth, &name, fails) else { return };
        let mut one = LogTally::default();
        match point.outcome {
            TestOutcome::Skipped => one.skipped = 1,
            TestOutcome::Passed => one.passing = 1,
            TestOutcome::Failed => {
                one.failing = 1;
                one.failed.insert(&full_name);
            }
        }
        self.tally.add(&one);
    }

    fn note(&mut self, at: u64) {
        self.lines = Some((self.lines.map_or(at, |(first, _)| first), at));
    }
}

fn plain(name: &str) -> String {
    name.replace("\\#", "#").replace("\\\\", "\\")
}
