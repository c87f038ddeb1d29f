//! What every part of resolving needs at hand: the merged layers, the problems so far, and looking up
//! what the rest of the workflow defines. What a section or a phase means is decided elsewhere.

use super::merge::{Merged, Origin};
use super::sections::entries;
use crate::workflow::grammar::problem::{Place, Sources, nearest, suggest};
use crate::workflow::grammar::{pattern, template};
use crate::workflow::model::{PhaseId, Protocol, Signal, Skill};
use crate::workflow::syntax::typed::At;
use std::collections::BTreeMap;
use std::path::Path;

/// Checks that may lack a command: those that are found in the project, its plan or its design, and those
/// that only replace what a report says.
pub(crate) const FOUND_CHECKS: [&str; 8] =
    ["build", "tests", "lint", "types", "validation", "integration", "security", "perf"];

/// What phases take over where they say nothing themselves.
pub(crate) struct Defaults {
    pub report: Protocol,
    pub signal: Option<Signal>,
    /// There is a section `[retries]`.
    pub retries: bool,
    /// Iterations of one visit, where a phase has no cap of its own.
    pub iterations: u32,
    /// The run works on something that may have criteria.
    pub takes_input: bool,
    /// Checks that were given by flags.
    pub given_checks: Vec<String>,
}

/// What resolving needs at hand.
pub(crate) struct Resolver<'a> {
    pub merged: &'a Merged,
    pub sources: &'a mut Sources,
    pub read_prompt: &'a dyn Fn(&Path) -> Result<String, String>,
}

impl Resolver<'_> {
    /// Reports a gate that is not defined.
    pub(crate) fn known_gate(&mut self, gate: &At<String>) -> bool {
        let gates: Vec<&str> = entries(&self.merged.file.gates).map(|(name, _)| name.as_str()).collect();
        let known = gates.contains(&gate.value.as_str());
        if !known {
            let next = suggest(&gate.value, gates)
                .or_else(|| Some(format!("write a section [gates.{}]", gate.value)));
            self.sources.report(Some(&gate.place), format!("there is no gate \"{}\"", gate.value), next);
        }
        known
    }

    /// Of two keys that exclude each other, a file's own wins over the preset's; two in one file are a
    /// problem.
    pub(crate) fn later<T>(&mut self, one: (Place, T), two: (Place, T), says: &str) -> (Place, T) {
        if one.0.source == two.0.source {
            self.sources.refuse(&two.0, says);
        }
        match self.merged.origins[one.0.source] {
            Origin::Preset(_) => two,
            Origin::File(_) | Origin::Flags => one,
        }
    }

    /// Reports those of a list of globs that cannot be read.
    pub(crate) fn globs(&mut self, list: &Option<At<Vec<At<String>>>>) {
        for it in list.iter().flat_map(|it| &it.value) {
            pattern::glob(&it.value, &it.place, self.sources);
        }
    }

    /// Takes over a skill that is only named. That is allowed, unless it looks like one that is defined.
    pub(crate) fn use_skill(&mut self, skill: &At<String>, skills: &mut BTreeMap<String, Skill>) {
        if skills.contains_key(&skill.value) {
            return;
        }
        let defined = entries(&self.merged.file.skills).map(|(name, _)| name.as_str());
        match nearest(&skill.value, defined) {
            Some(near) => {
                let says = format!("there is no skill \"{}\"", skill.value);
                self.sources.refuse_with(&skill.place, says, format!("did you mean \"{near}\"?"));
            }
            None => {
                skills.insert(skill.value.clone(), Skill::default());
            }
        }
    }

    /// Returns the text of a prompt, wherever it stands.
    pub(crate) fn prompt(
        &mut self,
        inline: &Option<At<String>>,
        file: &Option<At<String>>,
    ) -> Option<String> {
        let inline = inline.as_ref().map(|it| (it.place.clone(), Ok(it.value.clone())));
        let file = file.as_ref().map(|it| (it.place.clone(), self.prompt_text(it)));
        let (place, text) = match (inline, file) {
            (None, None) => return None,
            (Some(it), None) | (None, Some(it)) => it,
            (Some(inline), Some(file)) => self.later(inline, file, "there is a prompt and a prompt_file"),
        };
        match text {
            Err(says) => {
                self.sources.refuse(&place, says);
                // Told once is enough: the phase does have a prompt.
                Some(String::new())
            }
            Ok(text) => {
                // Those of presets are built in and tested; parsing them at every start is waste.
                match self.merged.origins[place.source] {
                    Origin::Preset(_) => {}
                    Origin::File(_) | Origin::Flags => template::check(&text, &place, self.sources),
                }
                Some(text)
            }
        }
    }

    fn prompt_text(&self, file: &At<String>) -> Result<String, String> {
        match &self.merged.origins[file.place.source] {
            Origin::Preset(preset) => preset
                .prompts
                .iter()
                .find(|(path, _)| *path == file.value)
                .map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| format!("preset {} has no prompt \"{}\"", preset.name, file.value)),
            Origin::File(dir) => {
                let path = dir.as_deref().unwrap_or(Path::new("")).join(&file.value);
                (self.read_prompt)(&path).map_err(|it| format!("cannot read \"{}\": {it}", file.value))
            }
            Origin::Flags => unreachable!("no flag names a prompt file"),
        }
    }

    /// Looks up a phase by its name.
    pub(crate) fn phase(&mut self, name: &At<String>) -> Option<PhaseId> {
        let known: Vec<&str> = self.phase_names();
        if let Some(found) = known.iter().position(|it| *it == name.value) {
            return Some(found);
        }
        if let Some(off) = self.merged.off.get(&name.value) {
            let says = format!("phase \"{}\" is turned off, but another part still leads there", name.value);
            let next = "change the next, reject, model or gate that names it too";
            self.sources.refuse_with(off, says, next);
            return None;
        }
        let next = suggest(&name.value, known);
        self.sources.report(Some(&name.place), format!("phase \"{}\" does not exist", name.value), next);
        None
    }

    fn phase_names(&self) -> Vec<&str> {
        self.merged
            .phases
            .iter()
            .map(|it| it.value.name.as_ref().map_or("", |it| it.value.as_str()))
            .collect()
    }
}
