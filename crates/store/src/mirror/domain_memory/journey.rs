//! `journey-log.jsonl` of a domain: one line for each phase, skill, verification, skip and gate of its
//! systems. Several runs write to it, so each line has an id that begins with its run, and a line that is
//! there already is not written again.

use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::engine::{
    CheckOutcome, CheckResult, Command, Effect, Event, How, JudgedTurn, QuestionKind, State, Step, Verdict,
};
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

    pub(super) fn follow(
        &mut self,
        workflow: &Workflow,
        state: &State,
        at: Timestamp,
        event: &Event,
        turn: Option<&JudgedTurn>,
    ) {
        let system = &state.opening.input;
        let mut put = |category: &str, action: &str, subject: &str, outcome: &str, more: Value| {
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
        };
        let name = |phase: usize| workflow.phases[phase].name.as_str();
        match event {
            Event::Opened(_) => put("system", "claimed", system, "success", json!({})),
            Event::Entered { phase, how } => {
                let outcome = if matches!(how, How::Skipped) { "skipped" } else { "success" };
                put("phase", "entered", name(*phase), outcome, json!({}));
            }
            Event::Measured(evidence) if !evidence.results.is_empty() => {
                let (outcome, more) = verified(&evidence.results);
                put("phase", "verified", name(state.phase), outcome, more);
            }
            Event::Commanded(Command::Skip { skill, reason }) => {
                put("skill", "skipped", skill, "skipped", json!({ "status": "skipped", "reason": reason }));
            }
            Event::Known { skill, target: None } => {
                let more = json!({ "status": "skipped", "reason": state.skipped.get(skill) });
                put("skill", "skipped", skill, "skipped", more);
            }
            Event::Began(Effect::Ask(question)) => {
                if let QuestionKind::Gate(gate) = &question.kind {
                    put("gate", "requested", gate, "success", json!({}));
                }
            }
            Event::Approved { gate, by, .. } => put("gate", "approved", gate, "success", json!({ "by": by })),
            Event::ItemDone { id, .. } => put("decision", "capability-complete", id, "success", json!({})),
            Event::Landed(landing) => {
                let outcome = if matches!(
                    landing,
                    loop_core::engine::Landing::Not { .. } | loop_core::engine::Landing::Red { .. }
                ) {
                    "failure"
                } else {
                    "success"
                };
                put("system", "landed", system, outcome, json!({}));
            }
            Event::Closed(_) => put("system", "closed", system, "success", json!({})),
            _ => (),
        }
        if let Some(turn) = turn
            && let Step::Skill(skill) | Step::Fix(skill) = &turn.call.step
        {
            let outcome = match &turn.judgement.verdict {
                Verdict::Leave | Verdict::Step | Verdict::Reject | Verdict::Checkpoint(_) => "success",
                Verdict::Again | Verdict::Fail | Verdict::Stuck(_) => "failure",
            };
            let more = json!({ "phase": name(turn.call.phase), "why": turn.judgement.why });
            put("skill", "completed", skill, outcome, more);
        }
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
