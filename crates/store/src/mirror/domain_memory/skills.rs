//! The parts of the state file that tell of skills and of what was reached, from the run's history.

use super::told_work;
use loop_base::time::Timestamp;
use loop_core::engine::{Milestone, SkillCall, SkillEnd, SkillHistory, ToldWork};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns how often each skill was completed, by another controller and here.
pub(super) fn usage<'a>(told: Option<&'a ToldWork>, skills: &'a SkillHistory) -> BTreeMap<&'a str, u32> {
    let before = told.into_iter().flat_map(|it| &it.used);
    let mut usage: BTreeMap<&str, u32> = before.map(|(skill, count)| (skill.as_str(), *count)).collect();
    for (call, _) in completed(skills) {
        *usage.entry(&call.skill).or_default() += 1;
    }
    usage
}

pub(super) fn log(told: Option<&ToldWork>, skills: &SkillHistory) -> Vec<Value> {
    let entry = |it: &SkillCall| {
        let mut value = json!({
            "skill": it.skill,
            "reason": it.reason,
            "startedAt": it.started_at.to_string(),
            "deliverables": it.deliverables,
            "referencesRead": it.references,
            "children": it.nested,
        });
        if let Some((at, end)) = it.ended {
            value["completedAt"] = at.to_string().into();
            value["durationMs"] = at.since(it.started_at).into();
            value["status"] = word(end).into();
        }
        value
    };
    let before = told.into_iter().flat_map(|it| &it.skills).map(told_work::skill_entry);
    before.chain(skills.calls.iter().map(entry)).collect()
}

/// Returns what velocity is read from: every skill that was completed.
pub(super) fn velocity(told: Option<&ToldWork>, skills: &SkillHistory) -> Vec<Value> {
    let entry = |(call, at): (&SkillCall, Timestamp)| {
        let ms = at.since(call.started_at);
        json!({ "skill": call.skill, "timestamp": at.to_string(), "durationMs": ms })
    };
    let before = told.into_iter().flat_map(|it| &it.timed).map(told_work::use_entry);
    before.chain(completed(skills).map(entry)).collect()
}

/// Returns what was approved, entered and committed, in order.
pub(super) fn checkpoints(told: Option<&ToldWork>, skills: &SkillHistory) -> Vec<Value> {
    let entry = |(at, what): &(Timestamp, Milestone)| {
        let (kind, message) = match what {
            Milestone::Approved { gate, by } => ("approval", format!("{gate} approved by {by}")),
            Milestone::Entered { phase } => ("milestone", format!("entered {phase}")),
            Milestone::Committed { said, .. } => ("commit", said.clone()),
        };
        let mut entry = json!({ "type": kind, "message": message, "at": at.to_string() });
        if let Milestone::Committed { commit, .. } = what {
            entry["hash"] = commit.as_str().into();
        }
        entry
    };
    let before = told.into_iter().flat_map(|it| &it.checkpoints).map(told_work::checkpoint_entry);
    before.chain(skills.milestones.iter().map(entry)).collect()
}

fn completed(skills: &SkillHistory) -> impl Iterator<Item = (&SkillCall, Timestamp)> {
    skills.calls.iter().filter_map(|it| match it.ended {
        Some((at, SkillEnd::Complete)) => Some((it, at)),
        Some((_, SkillEnd::Failed | SkillEnd::Skipped)) | None => None,
    })
}

fn word(end: SkillEnd) -> &'static str {
    match end {
        SkillEnd::Complete => "complete",
        SkillEnd::Failed => "failed",
        SkillEnd::Skipped => "skipped",
    }
}
