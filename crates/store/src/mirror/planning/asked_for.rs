//! Requirements that somebody takes out of the roadmap or the plans of a phase while its run works on it, or adds
//! there, and the configuration that somebody changes. The rows and the settings of a run are those of its beginning,
//! so this changes nothing for it; a warning tells people.

use loop_base::files;
use loop_core::digest::sha256;
use loop_core::documents::planning::number::PhaseNumber;
use loop_core::documents::planning::{plan, roadmap};
use loop_core::engine::{Requirement, State};
use loop_core::workflow::model::{ItemSource, Workflow};
use std::path::Path;

/// Settings of the runs of a planning folder.
const CONFIG: &str = ".planning/config.json";

/// Plans of one phase that are looked at; a phase has a handful.
const PLANS_MOST: usize = 1000;

/// Returns what people should know about rows that the files do not ask for any more, and about what only the
/// files ask for.
pub(super) fn differences(place: &Path, workflow: &Workflow, state: &State) -> Vec<String> {
    let rows = &state.opening.beginning.requirements;
    let Some(ItemSource::Plans(folder)) = workflow.items.as_ref().map(|it| &it.from) else {
        return Vec::new();
    };
    let text = files::text(&place.join(".planning/ROADMAP.md")).unwrap_or_default();
    let number = PhaseNumber::read(&state.opening.input);
    let phase = roadmap::phases(&text).into_iter().find(|it| Some(&it.number) == number.as_ref());
    let (ids, criteria, goal) = phase.map(|it| (it.requirements, it.criteria, it.goal)).unwrap_or_default();
    let planned = planned(&place.join(folder));
    let is_same = |one: &String, other: &str| one.eq_ignore_ascii_case(other);
    let asks = |row: &&Requirement| {
        criteria.contains(&row.text) || ids.iter().chain(&planned).any(|it| is_same(it, &row.id))
    };
    let gone: Vec<String> =
        rows.iter().filter(|it| !asks(it)).map(|it| format!("{} ({})", it.id, it.text)).collect();
    let knows_id = |id: &&String| rows.iter().any(|it| is_same(id, &it.id));
    let knows_text = |text: &&String| rows.iter().any(|it| it.text == **text);
    let added: Vec<&String> =
        ids.iter().filter(|it| !knows_id(it)).chain(criteria.iter().filter(|it| !knows_text(it))).collect();
    let mut told = Vec::new();
    if !gone.is_empty() {
        told.push(format!(
            "removed from the roadmap or its plans since the run began: {}; their rows stay and must be shown or waived",
            gone.join(", ")
        ));
    }
    if let Some(begun) = state.opening.beginning.goal.as_ref().filter(|it| **it != goal) {
        told.push(format!(
            "the goal of the phase was changed in the roadmap since the run began; it is verified against: {begun}"
        ));
    }
    let config = files::text(&place.join(CONFIG)).ok().map(|it| sha256(&it));
    let begun = state.opening.beginning.config.as_ref();
    if config.as_ref().zip(begun).is_some_and(|(now, begun)| now != begun) {
        told.push(format!(
            "{CONFIG} was changed since the run began; this run goes by what it said then, the next one by what it says now"
        ));
    }
    if !added.is_empty() {
        let added: Vec<&str> = added.into_iter().map(String::as_str).collect();
        told.push(format!(
            "added to the roadmap since the run began and not part of this run: {}; loop run {} --fresh includes it",
            added.join(", "),
            state.opening.input
        ));
    }
    told
}

/// Ids of requirements that the plans in this folder name.
fn planned(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(PLANS_MOST);
    let plans = entries.map(|it| it.path()).filter(|it| it.to_string_lossy().ends_with("-PLAN.md"));
    let texts = plans.filter_map(|it| files::text(&it).ok());
    texts.filter_map(|it| plan::read(&it).ok()).flat_map(|it| it.requirements).collect()
}
