//! `journey-log.jsonl` of a domain: one line for each phase, skill, verification, skip and gate of its
//! systems. Several runs write to it, so each line has an id that begins with its run, and a line that is
//! there already is not written again.

use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::engine::{CheckOutcome, CheckResult, Landing, Moment};
use loop_core::workflow::model::Workflow;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

pub(super) struct Journey {
    run: String,
    lines: Vec<String>,
    /// How many of them are in the file.
    written: Option<usize>,
}

impl Journey {
    pub(super) fn new(run: &str) -> Journey {
        Journey { run: run.get(..8).unwrap_or(run).to_owned(), lines: Vec::new(), written: None }
    }

    /// Adds the line of what happened to a system.
    pub(super) fn add(&mut self, workflow: &Workflow, system: &str, at: Timestamp, moment: &Moment<'_>) {
        let name = |phase: usize| workflow.phases[phase].name.as_str();
        let outcome = |is_success: bool| if is_success { "success" } else { "failure" };
        let (category, action, subject, outcome, more) = match moment {
            Moment::Opened => ("system", "claimed", system, "success", json!({})),
            Moment::Entered { phase, is_skip } => {
                ("phase", "entered", name(*phase), if *is_skip { "skipped" } else { "success" }, json!({}))
            }
            Moment::Verified { phase, results } => {
                let (outcome, more) = verified(results);
                ("phase", "verified", name(*phase), outcome, more)
            }
            Moment::SkillEnded { skill, phase, is_done, why } => {
                let more = json!({ "phase": name(*phase), "why": why });
                ("skill", "completed", *skill, outcome(*is_done), more)
            }
            Moment::SkillSkipped { skill, reason } => {
                let more = json!({ "status": "skipped", "reason": reason });
                ("skill", "skipped", *skill, "skipped", more)
            }
            Moment::GateRequested { gate } => ("gate", "requested", *gate, "success", json!({})),
            Moment::GateApproved { gate, by } => ("gate", "approved", *gate, "success", json!({ "by": by })),
            Moment::GateRefused { gate, refusal } => {
                let (action, note) = refusal.words();
                ("gate", action, *gate, "failure", json!({ "note": note }))
            }
            Moment::ItemDone { id } => ("decision", "capability-complete", *id, "success", json!({})),
            Moment::Landed(landing) => {
                let (action, outcome) = landed(landing);
                ("system", action, system, outcome, json!({}))
            }
            Moment::Closed => ("system", "closed", system, "success", json!({})),
        };
        let mut line = json!({
            "id": format!("{}-{}", self.run, self.lines.len() + 1),
            "timestamp": at.to_string(),
            "category": category,
            "action": action,
            "subject": subject,
            "context": { "system": system },
            "outcome": outcome,
        });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        self.lines.push(line.to_string());
    }

    /// Appends the lines that are not in the file.
    pub(super) fn write(&mut self, path: &Path) -> std::io::Result<()> {
        let written = match self.written {
            Some(written) if path.exists() => written,
            // Somebody may have cut it: what is missing of this run is written again.
            _ => {
                let ours = format!("\"id\":\"{}-", self.run);
                files::text(path).unwrap_or_default().lines().filter(|it| it.contains(&ours)).count()
            }
        };
        if written < self.lines.len() {
            let mut text = self.lines[written..].join("\n");
            text.push('\n');
            let mut file = OpenOptions::new().create(true).append(true).open(path)?;
            file.write_all(loop_base::secret::redact(&text).as_bytes())?;
        }
        self.written = Some(self.lines.len().max(written));
        Ok(())
    }
}

/// What came of bringing a system to its target, and how it came out.
fn landed(landing: &Landing) -> (&'static str, &'static str) {
    match landing {
        Landing::Merged { .. } => ("landed", "success"),
        Landing::Not { .. } | Landing::Red { .. } => ("landed", "failure"),
        Landing::Requested { .. } => ("merge-requested", "success"),
        Landing::Collides { .. } => ("sent-back", "failure"),
        Landing::Waits { .. } => ("merge-waits", "skipped"),
        Landing::Foreign { .. } => ("target-moved", "failure"),
        Landing::Clear => ("merge-continues", "success"),
        Landing::Reverted { .. } => ("reverted", "success"),
    }
}

/// How a measurement came out, and by which checks.
fn verified(results: &[CheckResult]) -> (&'static str, Value) {
    let word = |it: &CheckOutcome| match it {
        CheckOutcome::Passed => "pass",
        CheckOutcome::Failed(_) => "fail",
        CheckOutcome::Skipped => "skipped",
    };
    let checks: serde_json::Map<String, Value> =
        results.iter().map(|it| (it.name.clone(), word(&it.outcome).into())).collect();
    let is_failing = results.iter().any(|it| matches!(it.outcome, CheckOutcome::Failed(_)));
    let (outcome, verification) = if is_failing { ("failure", "fail") } else { ("success", "pass") };
    (outcome, json!({ "verification": verification, "checks": checks }))
}
