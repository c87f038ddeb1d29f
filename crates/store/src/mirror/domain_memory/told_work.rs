//! What another controller logged in a `loop-state.json` about the skills that it called and what was reached: read when
//! the system is taken over, and written at the beginning of our own file. No decision depends on it, so an entry
//! that does not fit the schema is left out and keeps nobody from moving in; the kept copy has it.

use crate::mirror::prp_session::import::Invalid;
use crate::mirror::prp_session::import::fields::Fields;
use loop_base::time::Timestamp;
use loop_core::engine::{ToldCheckpoint, ToldCheckpointKind, ToldEnd, ToldSkill, ToldUse, ToldWork};
use serde_json::{Value, json};

/// Entries of each list that are taken over, the last ones; they are in the first event of the run.
const ENTRIES_MOST: usize = 500;

/// A skill that is called by a skill that is called by a skill is rare.
const DEEP_MOST: usize = 4;

/// A reason is a sentence.
const TEXT_MOST: usize = 500;

/// No skill is called so often.
const USES_MOST: u64 = 1_000_000;

/// Reads it, and says how many entries were left out.
pub(super) fn read(file: &Fields, now: Timestamp) -> (ToldWork, usize) {
    let mut left_out = 0;
    let skills = entries(file, "skillsLog", &mut left_out, |it| skill(it, now, DEEP_MOST));
    let checkpoints = entries(file, "checkpoints", &mut left_out, |it| checkpoint(it, now));
    let metrics = file.section("metrics").ok().flatten();
    let timed = metrics.map(|it| entries(&it, "skillHistory", &mut left_out, |it| timed(it, now)));
    let usage = file.section("skillsUsage").ok().flatten();
    let count = |usage: &Fields, name: &str| usage.count(name, USES_MOST).ok().flatten();
    let used = usage.iter().flat_map(|it| it.names().map(|name| (name.to_owned(), count(it, name))));
    let used =
        used.filter_map(|(name, count)| Some((name, u32::try_from(count?).ok().filter(|it| 0 < *it)?)));
    (ToldWork { skills, used: used.collect(), timed: timed.unwrap_or_default(), checkpoints }, left_out)
}

fn entries<T>(
    file: &Fields,
    name: &str,
    left_out: &mut usize,
    read: impl Fn(&Fields) -> Result<T, Invalid>,
) -> Vec<T> {
    let Ok(all) = file.entries(name) else {
        *left_out += 1;
        return Vec::new();
    };
    let (total, first) = (all.len(), all.len().saturating_sub(ENTRIES_MOST));
    let read: Vec<T> = all.iter().skip(first).filter_map(|it| read(it).ok()).collect();
    *left_out += total - read.len();
    read
}

fn skill(entry: &Fields, now: Timestamp, deep: usize) -> Result<ToldSkill, Invalid> {
    let status = entry.optional_text("status")?;
    let end = status.map(|said| {
        let known = ToldEnd::ALL.into_iter().find(|it| it.word() == said);
        known.ok_or_else(|| entry.wrong("status", "is not one of complete, failed, skipped"))
    });
    let (end, at) = (end.transpose()?, entry.optional_moment("completedAt", now)?);
    let children = if deep == 0 { Vec::new() } else { entry.entries("children")? };
    let children = children.iter().map(|it| skill(it, now, deep - 1)).collect::<Result<_, Invalid>>()?;
    Ok(ToldSkill {
        skill: short(entry.text("skill")?),
        reason: short(entry.optional_text("reason")?.unwrap_or_default()),
        started_at: entry.moment("startedAt", now)?,
        ended: at.zip(end),
        deliverables: entry.texts("deliverables")?,
        references: entry.texts("referencesRead")?,
        children,
    })
}

fn checkpoint(entry: &Fields, now: Timestamp) -> Result<ToldCheckpoint, Invalid> {
    let said = entry.text("type")?;
    let kind = ToldCheckpointKind::ALL.into_iter().find(|it| it.word() == said);
    Ok(ToldCheckpoint {
        kind: kind.ok_or_else(|| entry.wrong("type", "is no kind of checkpoint"))?,
        hash: entry.optional_text("hash")?.map(short),
        message: entry.optional_text("message")?.map(short),
        at: entry.moment("at", now)?,
    })
}

fn timed(entry: &Fields, now: Timestamp) -> Result<ToldUse, Invalid> {
    let ms = entry.count("durationMs", u64::MAX)?;
    Ok(ToldUse { skill: short(entry.text("skill")?), at: entry.moment("timestamp", now)?, ms })
}

fn short(text: String) -> String {
    text.chars().take(TEXT_MOST).collect()
}

pub(super) fn skill_entry(told: &ToldSkill) -> Value {
    let mut value = json!({
        "skill": told.skill,
        "reason": told.reason,
        "startedAt": told.started_at.to_string(),
        "deliverables": told.deliverables,
        "referencesRead": told.references,
        "children": told.children.iter().map(skill_entry).collect::<Vec<_>>(),
    });
    if let Some((at, end)) = told.ended {
        value["completedAt"] = at.to_string().into();
        value["durationMs"] = at.since(told.started_at).into();
        value["status"] = end.word().into();
    }
    value
}

pub(super) fn checkpoint_entry(told: &ToldCheckpoint) -> Value {
    let mut value = json!({ "type": told.kind.word(), "at": told.at.to_string() });
    let texts = [("hash", &told.hash), ("message", &told.message)];
    for (name, text) in texts {
        if let Some(text) = text {
            value[name] = text.as_str().into();
        }
    }
    value
}

pub(super) fn use_entry(told: &ToldUse) -> Value {
    let mut value = json!({ "skill": told.skill, "timestamp": told.at.to_string() });
    if let Some(ms) = told.ms {
        value["durationMs"] = ms.into();
    }
    value
}
