//! The rows of the completion list, with their phases looked up. The rows of a preset survive a project that
//! turns off one of their phases or takes a skill out of it: such a row does not apply.

use super::context::Resolver;
use super::merge::Origin;
use super::preset;
use super::sections::{plain, text};
use crate::workflow::grammar::problem::{Sources, suggest};
use crate::workflow::model::{CompletionRow, Phase, ShownKind, Workflow};
use crate::workflow::syntax::file::{CompleteFile, WorkflowFile, read_file};
use crate::workflow::syntax::typed::At;
use std::borrow::Cow;

/// Returns the completion list of a workflow. One that was stored by a program whose workflows had no rows gets
/// those of the presets, which that program applied to every workflow by the names of its phases.
pub fn rows(workflow: &Workflow) -> Cow<'_, [CompletionRow]> {
    match &workflow.complete {
        Some(rows) => Cow::Borrowed(rows),
        None => Cow::Owned(rows_of_presets(&workflow.phases)),
    }
}

fn rows_of_presets(phases: &[Phase]) -> Vec<CompletionRow> {
    let files = preset::ALL.iter().map(|it| read_file::<WorkflowFile>(it.text, 0, &mut Sources::default()));
    let rows = files.filter_map(|it| it.complete).flat_map(|it| it.value);
    rows.filter_map(|it| row(&it.value, phases)).collect()
}

fn row(file: &CompleteFile, phases: &[Phase]) -> Option<CompletionRow> {
    let stage = text(&file.phase)?;
    Some(CompletionRow {
        name: text(&file.name)?,
        phase: phases.iter().position(|it| it.name == stage),
        stage,
        skill: text(&file.skill),
        shows: plain(&file.shows).unwrap_or(ShownKind::Checks),
    })
}

impl Resolver<'_> {
    pub(super) fn completion(&mut self, phases: &[Phase]) -> Vec<CompletionRow> {
        let merged = self.merged;
        let files = merged.file.complete.iter().flat_map(|it| &it.value);
        files.filter_map(|it| self.completion_row(it, phases)).collect()
    }

    fn completion_row(&mut self, file: &At<CompleteFile>, phases: &[Phase]) -> Option<CompletionRow> {
        let Some(row) = row(&file.value, phases) else {
            let says = "a row of the completion list needs a name and a phase";
            let next = "write name = \"WHAT\" and phase = \"PHASE\"";
            self.sources.lacks(&file.place, &["name", "phase"], says, next);
            return None;
        };
        let is_preset = matches!(self.merged.origins.get(file.place.source), Some(Origin::Preset(_)));
        let Some(phase) = row.phase.map(|it| &phases[it]) else {
            if !self.merged.off.contains_key(&row.stage) {
                let next = suggest(&row.stage, phases.iter().map(|it| it.name.as_str()));
                let place = file.value.phase.as_ref().map(|it| &it.place);
                self.sources.report(place, format!("phase \"{}\" does not exist", row.stage), next);
            }
            return Some(row);
        };
        let skill = file.value.skill.as_ref().filter(|it| !phase.skills.contains(&it.value));
        if let Some(skill) = skill.filter(|_| !is_preset) {
            let next = suggest(&skill.value, phase.skills.iter().map(String::as_str));
            let says = format!("phase \"{}\" has no skill \"{}\"", phase.name, skill.value);
            self.sources.report(Some(&skill.place), says, next);
        }
        Some(row)
    }
}
