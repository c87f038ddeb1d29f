//! The documents that a prompt brings along as `{{ context }}`, within their budget. The item's own
//! document comes whole; the others share what is left, and what was cut is named in the text itself.

use crate::measure::planning;
use globset::GlobBuilder;
use loop_base::files;
use loop_core::engine::{Briefing, Call, State};
use loop_core::workflow::model::Workflow;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What is written down of a briefing beside its call.
const FILE_MOST: usize = 64 << 10;

/// The document of the item that the call is for.
const ITEM: &str = "item";

/// The table of what was asked for.
const REQUIREMENTS: &str = "requirements";

/// Below this a part of a document says nothing.
const PART_LEAST: usize = 200;

struct ContextDocument {
    name: String,
    text: String,
    /// It is what the call is about.
    whole: bool,
}

/// Gathers the briefing of a call; `None` where its phase names no documents.
pub(crate) fn gather(
    place: &Path,
    workflow: &Workflow,
    state: &State,
    call: &Call,
) -> Option<(String, Briefing)> {
    let phase = &workflow.phases[call.phase];
    if phase.context.is_empty() {
        return None;
    }
    let found: Vec<ContextDocument> =
        phase.context.iter().filter_map(|it| document(place, state, call, it)).collect();
    let budget = usize::try_from(workflow.limits.context_bytes).unwrap_or(usize::MAX);
    let whole: usize = found.iter().filter(|it| it.whole).map(|it| it.text.len()).sum();
    let mut left = budget.saturating_sub(whole);
    let mut waiting = found.iter().filter(|it| !it.whole).count();
    let (mut text, mut cut) = (String::new(), Vec::new());
    for it in &found {
        let room = if it.whole { usize::MAX } else { left / waiting.max(1) };
        let part = shortened(&it.text, room);
        if !it.whole {
            waiting -= 1;
            left = left.saturating_sub(part.as_ref().unwrap_or(&it.text).len());
        }
        if let Some(part) = &part {
            cut.push(format!(
                "{}: {} of {} bytes left out",
                it.name,
                it.text.len() - part.len().min(it.text.len()),
                it.text.len()
            ));
        }
        text.push_str(&format!("### {}\n\n{}\n\n", it.name, part.as_ref().unwrap_or(&it.text).trim_end()));
    }
    if !cut.is_empty() {
        text.push_str(&format!("Left out to save space: {}.\n", cut.join("; ")));
    }
    let hash: String = Sha256::digest(text.as_bytes()).iter().map(|it| format!("{it:02x}")).collect();
    let briefing = Briefing { hash, bytes: text.len() as u64, cut };
    Some((format!("## Context\n\n{}", text.trim_end()), briefing))
}

/// Writes down which briefing a call had, for whoever collects it.
pub(crate) fn note(folder: &Path, call: &Call, briefing: &Briefing) {
    let text = serde_json::to_string(briefing).unwrap_or_default();
    let _only_its_hash_is_lost = files::replace_ours(&file(folder, call), &text);
}

pub(crate) fn noted(folder: &Path, call: &Call) -> Option<Briefing> {
    serde_json::from_slice(&files::read(&file(folder, call), FILE_MOST).ok()?).ok()
}

fn file(folder: &Path, call: &Call) -> PathBuf {
    folder.join(format!("{}.context.json", call.stem()))
}

fn document(place: &Path, state: &State, call: &Call, entry: &str) -> Option<ContextDocument> {
    // What nobody has committed is not in a worktree; the tree that it was made from has it.
    let root = state.opening.worktree.as_ref().map(|it| Path::new(&it.root));
    let read = |name: &str| {
        planning::document(place, name).or_else(|| root.and_then(|it| planning::document(it, name)))
    };
    let part = |name: String, text: String| Some(ContextDocument { name, text, whole: false });
    match entry {
        ITEM => {
            let name = call.item.as_ref()?.body.clone()?;
            Some(ContextDocument { text: read(&name)?, name, whole: true })
        }
        REQUIREMENTS => part("What was asked for".to_owned(), requirements(state)?),
        entry => match entry.split_once('#') {
            Some((file, heading)) => part(entry.to_owned(), section(&read(file)?, heading)?),
            None if entry.contains(['*', '?', '[']) => {
                let name = newest(place, entry).or_else(|| newest(root?, entry))?;
                part(name.clone(), read(&name)?)
            }
            None => part(entry.to_owned(), read(entry)?),
        },
    }
}

/// The goal and the rows of the run, as they were when it was opened.
fn requirements(state: &State) -> Option<String> {
    let goal = state.opening.beginning.goal.as_ref().map(|it| format!("Goal: {it}\n"));
    if state.requirements.is_empty() {
        return goal;
    }
    let rows = state.requirements.iter().map(|it| {
        format!(
            "| {} | {} | {} | {} |",
            it.id,
            it.text,
            it.task.as_deref().unwrap_or("-"),
            it.evidence.as_deref().unwrap_or("-")
        )
    });
    let rows: Vec<String> = rows.collect();
    let table =
        format!("| Id | Requirement | Task | Evidence so far |\n|---|---|---|---|\n{}\n", rows.join("\n"));
    Some(goal.map_or_else(|| table.clone(), |it| format!("{it}\n{table}")))
}

/// The part of a document below a heading that begins like this, up to the next of its level.
fn section(text: &str, wanted: &str) -> Option<String> {
    let level = |line: &str| line.bytes().take_while(|it| *it == b'#').count();
    let lines: Vec<&str> = text.lines().collect();
    let is_it = |line: &&str| 0 < level(line) && line.trim_start_matches('#').trim().starts_with(wanted);
    let start = lines.iter().position(is_it)?;
    let own = level(lines[start]);
    let below = lines[start + 1..].iter().take_while(|it| !(1..=own).contains(&level(it)));
    Some(std::iter::once(&lines[start]).chain(below).copied().collect::<Vec<_>>().join("\n"))
}

/// The file of a pattern that says itself that it is the latest, else the one that was saved last.
fn newest(place: &Path, pattern: &str) -> Option<String> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?.compile_matcher();
    let (folder, _) = pattern.rsplit_once('/')?;
    let entries = std::fs::read_dir(place.join(folder)).ok()?.flatten();
    let names = entries.filter_map(|it| Some(format!("{folder}/{}", it.file_name().to_str()?)));
    let dated = names.filter(|it| glob.is_match(it)).map(|name| {
        let text = planning::document(place, &name).unwrap_or_default();
        let verified =
            text.lines().find_map(|it| it.strip_prefix("verified:").map(|it| it.trim().to_owned()));
        let saved = std::fs::metadata(place.join(&name)).and_then(|it| it.modified()).ok();
        (verified, saved, name)
    });
    dated.max().map(|it| it.2)
}

/// Head and tail of a text that is too long; `None` where it fits.
fn shortened(text: &str, room: usize) -> Option<String> {
    if text.len() <= room {
        return None;
    }
    let half = if room < PART_LEAST { 0 } else { room / 2 };
    let head = &text[..floor(text, half)];
    let tail = &text[floor(text, text.len() - half)..];
    Some(format!("{head}\n\n(… {} bytes left out …)\n\n{tail}", text.len() - head.len() - tail.len()))
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{section, shortened};

    #[test]
    fn a_document_that_is_too_long_keeps_its_ends() {
        assert_eq!(shortened("abc", 3), None);
        let text = "ä".repeat(500);
        let cut = shortened(&text, 400).expect("it is too long");
        assert!(
            cut.starts_with("ää") && cut.ends_with('ä') && cut.contains("(… 600 bytes left out …)"),
            "{cut}"
        );
    }

    #[test]
    fn a_section_is_found_by_its_heading() {
        let text = "# A\n## Phase 1: X\none\n### deep\n## Phase 10: Y\nten\n";
        assert_eq!(section(text, "Phase 1: X").as_deref(), Some("## Phase 1: X\none\n### deep"));
        assert_eq!(section(text, "Phase 2"), None);
    }
}
