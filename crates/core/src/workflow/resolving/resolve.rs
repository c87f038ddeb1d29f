//! A workflow as it is meant: the merged layers with every default filled in and every name looked
//! up. All problems are collected; a [`Workflow`] comes out only when there are none. The phases are
//! resolved in `phases.rs`; reading files is left to the caller.

mod measured;

use super::context::{Defaults, Resolver};
pub use super::layers::{LayerSource, Layers};
use super::merge::{Origin, merge};
use super::phases;
use super::sections::{self, entries, list, plain, section, text, texts};
use crate::workflow::grammar::problem::{Place, Problem, Sources, suggest};
pub use crate::workflow::model::Overrides;
use crate::workflow::model::{
    Agent, ErrorClass, Gate, InputKind, Millis, ModeName, Models, Phase, ProofRules, Protocol, Retries,
    Skill, Workflow,
};
use crate::workflow::syntax::file::{AgentFile, GateFile, ModelsFile, ProofFile, RetriesFile};
use crate::workflow::syntax::shape::ModelFile;
use crate::workflow::syntax::typed::At;
use crate::workflow::syntax::value_types::Length;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A question that expires sooner would only be asked again and again.
const EXPIRES_LEAST: Millis = 1000;

/// Returns the workflow that the layers describe, or everything that is wrong with them.
/// `read_prompt` reads a file named by `prompt_file`.
pub fn resolve(
    layers: &Layers,
    read_prompt: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Workflow, Vec<Problem>> {
    let mut sources = Sources::knowing(layers.agents.clone());
    let merged = merge(layers, &mut sources);
    if layers.preset.is_none() && layers.project.is_none() {
        sources.report(
            None,
            "there is no workflow".to_owned(),
            Some("loop setup, or --preset NAME".to_owned()),
        );
    }
    let workflow = Resolver { merged: &merged, sources: &mut sources, read_prompt }.workflow(layers);
    if sources.has_problems() { Err(sources.into_problems()) } else { Ok(workflow) }
}

/// Reads a length of time as it is written in files: `90s`, `45m`, `2h`.
pub fn parse_length(text: &str) -> Result<Millis, String> {
    Length::parse(text).map(|it| it.0)
}

impl Resolver<'_> {
    fn workflow(&mut self, layers: &Layers) -> Workflow {
        let merged = self.merged;
        let file = &merged.file;
        if let Some(name) = file.name.as_ref().filter(|it| it.value.trim().is_empty()) {
            self.sources.refuse(&name.place, "the name of the workflow is empty");
        }
        let agent_file = section(&file.agent);
        let agent = self.agent(&agent_file);
        let items = self.items();
        let mut facts = self.facts(&file.facts);
        let mut checks = self.checks(layers);
        let mut skills = self.skills();
        let retries = file.retries.as_ref().map(|it| self.retries(&it.value, &mut skills));
        let gates = self.gates();
        let limits = sections::limits(&section(&file.limits));
        let input = sections::input(&section(&file.input));
        let defaults = Defaults {
            iterations: limits.phase_iterations,
            takes_input: input.kind != InputKind::None,
            report: agent_file.report.map_or(Protocol::Json, |it| it.value),
            signal: agent_file.signal.map(|it| it.value),
            retries: retries.is_some(),
            given_checks: layers.overrides.checks.iter().map(|it| it.0.clone()).collect(),
        };
        let known = phases::KnownNames {
            checks: &mut checks,
            skills: &mut skills,
            gates: &gates,
            facts: &facts,
            items: items.as_ref(),
        };
        let phases = phases::resolve(self, &defaults, known);
        self.standard_facts(&phases, &mut facts);
        let proof = self.proof(&section(&file.proof), &phases);
        let complete = Some(self.completion(&phases));
        let modes = self.modes();
        Workflow {
            name: text(&file.name).unwrap_or_else(|| "workflow".to_owned()),
            about: text(&file.about).unwrap_or_default(),
            input,
            workspace: sections::workspace(&section(&file.workspace)),
            agent,
            models: self.models(&section(&file.models)),
            mode: self.mode(&modes),
            modes,
            limits,
            checks,
            facts,
            items,
            skills,
            phases,
            gates: gates.into_iter().map(|(name, it)| (name, it.value)).collect(),
            retries,
            finish: sections::finish(&section(&file.finish)),
            merge: sections::merge(&section(&file.merge)),
            complete,
            proof,
            mirror: sections::mirror(&section(&file.mirror)),
            notify: file.notify.as_ref().and_then(|it| text(&it.value.run)),
            given: None,
        }
    }

    fn proof(&mut self, file: &ProofFile, phases: &[Phase]) -> ProofRules {
        self.globs(&file.protect);
        let mut named = |name: &Option<At<String>>| {
            let name = name.as_ref()?;
            let found = phases.iter().position(|it| it.name.eq_ignore_ascii_case(&name.value));
            if found.is_none() {
                let next = suggest(&name.value, phases.iter().map(|it| it.name.as_str()));
                let says = format!("there is no phase \"{}\"", name.value);
                self.sources.report(Some(&name.place), says, next);
            }
            found
        };
        let at = named(&file.at);
        let go = named(&file.go).unwrap_or(0);
        ProofRules { at, go, ..sections::proof(file) }
    }

    fn agent(&mut self, file: &AgentFile) -> Agent {
        if let Some(cli) = file.cli.as_ref().filter(|it| it.value.0.is_any_program())
            && list(&file.args).is_empty()
        {
            let next = "write args = [\"PROGRAM\", \"ARGUMENT\"]";
            self.sources.refuse_with(&cli.place, "the command agent has no command", next);
        }
        sections::agent(file)
    }

    fn models(&mut self, file: &ModelsFile) -> Models {
        let profiles: BTreeMap<String, BTreeMap<String, String>> =
            entries(&file.profiles).map(|(name, roles)| (name.clone(), texts(Some(&roles.value)))).collect();
        if let Some(profile) = &file.profile
            && !profiles.contains_key(&profile.value)
        {
            let next = suggest(&profile.value, profiles.keys().map(String::as_str));
            self.sources.report(
                Some(&profile.place),
                format!("there is no profile \"{}\"", profile.value),
                next,
            );
        }
        Models {
            profile: text(&file.profile),
            profiles,
            roles: texts(file.roles.as_ref().map(|it| &it.value)),
            presets: self.preset_models(file),
        }
    }

    /// Models that a preset names and nobody else.
    fn preset_models(&self, file: &ModelsFile) -> BTreeSet<String> {
        let mut named: Vec<(&Place, &String)> = Vec::new();
        for (_, roles) in entries(&file.profiles) {
            named.extend(roles.value.0.values().map(|it| (&it.place, &it.value)));
        }
        named.extend(entries(&file.roles).map(|(_, it)| (&it.place, &it.value)));
        named.extend(
            self.merged
                .file
                .agent
                .iter()
                .filter_map(|it| it.value.model.as_ref())
                .map(|it| (&it.place, &it.value)),
        );
        for model in self.merged.phases.iter().filter_map(|it| it.value.model.as_ref()) {
            match &model.value {
                ModelFile::Named(name) => named.push((&model.place, name)),
                ModelFile::Differing(it) => {
                    named.extend(it.of.iter().flat_map(|it| &it.value).map(|it| (&it.place, &it.value)));
                    named.extend(it.unknown.iter().map(|it| (&it.place, &it.value)));
                }
            }
        }
        let is_preset =
            |place: &Place| matches!(self.merged.origins.get(place.source), Some(Origin::Preset(_)));
        let own: BTreeSet<&String> = named.iter().filter(|it| !is_preset(it.0)).map(|it| it.1).collect();
        let all = named.iter().map(|it| it.1);
        all.filter(|it| !own.contains(it)).cloned().collect()
    }

    fn mode(&mut self, modes: &BTreeMap<ModeName, Vec<String>>) -> Option<ModeName> {
        let mode = self.merged.file.mode.as_ref()?;
        let name = ModeName::from(mode.value.as_str());
        if !modes.contains_key(&name) {
            let next = suggest(&mode.value, modes.keys().map(ModeName::word))
                .or(Some("write a section [modes.NAME]".to_owned()));
            self.sources.report(Some(&mode.place), format!("there is no mode \"{}\"", mode.value), next);
        }
        Some(name)
    }

    fn modes(&mut self) -> BTreeMap<ModeName, Vec<String>> {
        let merged = self.merged;
        let mut modes = BTreeMap::new();
        for (name, mode) in entries(&merged.file.modes) {
            for gate in mode.value.gates.iter().flat_map(|it| &it.value) {
                if self.known_gate(gate) && !self.stands_somewhere(&gate.value) {
                    let says =
                        format!("gate \"{}\" belongs to no phase, so no mode can require it", gate.value);
                    let next = format!("write at = \"PHASE\" in [gates.{}]", gate.value);
                    self.sources.refuse_with(&gate.place, says, next);
                }
            }
            modes.insert(ModeName::from(name.as_str()), list(&mode.value.gates));
        }
        modes
    }

    fn gates(&mut self) -> BTreeMap<String, At<Gate>> {
        let merged = self.merged;
        let mut gates = BTreeMap::new();
        for (name, file) in entries(&merged.file.gates) {
            let GateFile {
                ask,
                by,
                at,
                when: _,
                required,
                timeout,
                changes_to,
                sign,
                presence,
                approvers,
                expires,
                logins,
                reviewers,
            } = &file.value;
            at.iter().for_each(|it| _ = self.phase(it));
            let gate = Gate {
                ask: text(ask).unwrap_or_else(|| format!("approve {name}?")),
                by: text(by).unwrap_or_else(|| "a person".to_owned()),
                required: plain(required).unwrap_or(false),
                timeout: timeout.as_ref().map(|it| it.value.0),
                changes_to: changes_to.as_ref().and_then(|it| self.phase(it)),
                sign: plain(sign).unwrap_or(false),
                presence: plain(presence).unwrap_or(false),
                approvers: text(approvers),
                signers: None,
                expires: expires.as_ref().map(|it| it.value.0),
                logins: list(logins),
                reviewers: list(reviewers),
            };
            if let Some(expires) = expires.as_ref().filter(|it| it.value.0 < EXPIRES_LEAST) {
                let says = "that is too short for anybody to approve";
                self.sources.refuse_with(&expires.place, says.to_owned(), "write expires = \"1h\"");
            }
            if gate.sign && gate.approvers.is_none() {
                let says = format!("gate \"{name}\" asks for a signature, but names nobody who may sign");
                self.sources.refuse_with(&file.place, says, "write approvers = \"FILE\"");
            }
            if !gate.sign && (gate.presence || gate.approvers.is_some()) {
                let says = format!("gate \"{name}\" has presence or approvers, and asks for no signature");
                self.sources.refuse_with(&file.place, says, "write sign = true");
            }
            if gate.sign && !gate.logins.is_empty() {
                let says = format!("gate \"{name}\" asks for a signature, and a pull request carries none");
                self.sources.refuse_with(&file.place, says, "take logins out");
            }
            if let Some(when) = file.value.when.as_ref().filter(|_| !self.stands_somewhere(name)) {
                let says =
                    format!("gate \"{name}\" belongs to no phase, so its condition is never evaluated");
                self.sources.refuse_with(
                    &when.place,
                    says,
                    "write at = \"PHASE\", or name it in gates of a phase",
                );
            }
            gates.insert(name.clone(), At { value: gate, place: file.place.clone() });
        }
        gates
    }

    /// Whether a gate belongs to a phase. An agent may ask for one that belongs to none.
    fn stands_somewhere(&self, gate: &str) -> bool {
        let mut own =
            entries(&self.merged.file.gates).filter(|(name, it)| *name == gate && it.value.at.is_some());
        let uses = self.merged.phases.iter().flat_map(|it| &it.value.gates).flat_map(|it| &it.value);
        let mut names = uses.filter_map(|it| it.value.0.name.as_ref());
        own.next().is_some() || names.any(|it| it.value == gate)
    }

    fn retries(&mut self, file: &RetriesFile, skills: &mut BTreeMap<String, Skill>) -> Retries {
        if let Some(with) = &file.with {
            self.use_skill(with, skills);
        }
        let mut backoff = BTreeMap::new();
        for (class, waits) in entries(&file.backoff) {
            let Some(known) = ErrorClass::reported(class) else {
                let says = format!("\"{class}\" is not a class of errors");
                self.sources.report(Some(&waits.place), says, suggest(class, ErrorClass::reported_words()));
                continue;
            };
            backoff.insert(known, sections::waits(&waits.value));
        }
        Retries {
            at_most: plain(&file.at_most).unwrap_or(3),
            same_error: plain(&file.same_error).unwrap_or(3),
            total: plain(&file.total).unwrap_or(10),
            with: text(&file.with),
            reset_on_different: plain(&file.reset_on_different).unwrap_or(true),
            never: file.never.iter().flat_map(|it| &it.value).map(|it| it.value.clone()).collect(),
            backoff,
        }
    }
}
