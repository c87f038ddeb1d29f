//! A workflow as it is meant: the merged layers with every default filled in and every name looked
//! up. All problems are collected; a [`Workflow`] comes out only when there are none. The phases are
//! resolved in `phases.rs`; reading files is left to the caller.

mod measured;

use super::file::{AgentFile, GateFile, ModelsFile, ProofFile, RetriesFile};
use super::file_words::ErrorClass;
use super::merge::{Merged, Origin, merge};
use super::model::{
    Agent, Gate, InputKind, Millis, Models, Phase, PhaseId, ProofRules, Protocol, Retries, Skill, Workflow,
};
use super::problem::{Place, Problem, Sources, nearest, suggest};
use super::sections::{self, entries, list, plain, section, text, texts};
use super::shape::ModelFile;
use super::typed::{At, Length};
use super::{pattern, phases, template};
use crate::proof::Level;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A text that a layer is read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as shown.
    pub name: String,
    pub text: String,
    /// Where `prompt_file` is looked for.
    pub dir: Option<PathBuf>,
}

/// Everything that a workflow is made of, the earlier below the later.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// `--preset`, or what the input decided. Replaces what the project's file extends, and its phases.
    pub preset: Option<String>,
    /// `config.toml` of the user: `[agent] [limits] [notify]` only.
    pub user: Option<Source>,
    /// `.loop/workflow.toml`, or `--workflow`.
    pub project: Option<Source>,
    pub overrides: Overrides,
}

/// Flags and environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overrides {
    pub agent: Option<String>,
    /// The words of `--agent-cmd`; alone they choose the `command` agent.
    pub agent_args: Option<Vec<String>>,
    pub model: Option<String>,
    pub mode: Option<String>,
    pub max: Option<u32>,
    /// Name and command. One that no phase names is run in every phase that runs checks.
    pub checks: Vec<(String, String)>,
    pub usd: Option<f64>,
    pub tokens: Option<u64>,
    pub time: Option<Millis>,
    pub calls_per_hour: Option<u32>,
    pub notify: Option<String>,
    pub mirror: Option<String>,
    pub worktree: bool,
    /// The least that must be proven.
    pub require: Option<Level>,
    /// Globs of protected files whose changes are accepted.
    pub allow: Vec<String>,
}

/// A question that expires sooner would only be asked again and again.
const EXPIRES_LEAST: Millis = 1000;

impl Overrides {
    /// Puts what was given about the proof on top of a workflow's rules.
    pub fn bring_proof(&self, workflow: &mut Workflow) {
        if let Some(level) = self.require {
            workflow.proof.require = level;
        }
        for glob in self.allow.iter().filter(|it| !workflow.proof.allow.contains(it)).collect::<Vec<_>>() {
            workflow.proof.allow.push(glob.clone());
        }
    }
}

/// Returns the workflow that the layers describe, or everything that is wrong with them.
/// `read_prompt` reads a file named by `prompt_file`.
pub fn resolve(
    layers: &Layers,
    read_prompt: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Workflow, Vec<Problem>> {
    let mut sources = Sources::default();
    let merged = merge(layers, &mut sources);
    if layers.preset.is_none() && layers.project.is_none() {
        sources.report(
            None,
            "there is no workflow".to_owned(),
            Some("loop setup, or --preset NAME".to_owned()),
        );
    }
    let workflow = Context { merged: &merged, sources: &mut sources, read_prompt }.workflow(layers);
    if sources.has_problems() { Err(sources.into_problems()) } else { Ok(workflow) }
}

/// Reads a length of time as it is written in files: `90s`, `45m`, `2h`.
pub fn parse_length(text: &str) -> Result<Millis, String> {
    Length::parse(text).map(|it| it.0)
}

/// Checks that are found in the project, its plan or its design where nobody gives their command.
pub(super) const FOUND_CHECKS: [&str; 5] = ["build", "tests", "lint", "types", "validation"];

/// What resolving needs at hand.
pub(super) struct Context<'a> {
    pub merged: &'a Merged,
    pub sources: &'a mut Sources,
    pub read_prompt: &'a dyn Fn(&Path) -> Result<String, String>,
}

impl Context<'_> {
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
        let defaults = phases::Defaults {
            iterations: limits.phase_iterations,
            takes_input: input.kind != InputKind::None,
            report: agent_file.report.map_or(Protocol::Json, |it| it.value),
            signal: agent_file.signal.map(|it| it.value),
            retries: retries.is_some(),
            given_checks: layers.overrides.checks.iter().map(|it| it.0.clone()).collect(),
        };
        let known = phases::Known {
            checks: &mut checks,
            skills: &mut skills,
            gates: &gates,
            facts: &facts,
            items: items.as_ref(),
        };
        let phases = phases::resolve(self, &defaults, known);
        self.standard_facts(&phases, &mut facts);
        let proof = self.proof(&section(&file.proof), &phases);
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

    fn mode(&mut self, modes: &BTreeMap<String, Vec<String>>) -> Option<String> {
        let mode = self.merged.file.mode.as_ref()?;
        if !modes.contains_key(&mode.value) {
            let next = suggest(&mode.value, modes.keys().map(String::as_str))
                .or(Some("write a section [modes.NAME]".to_owned()));
            self.sources.report(Some(&mode.place), format!("there is no mode \"{}\"", mode.value), next);
        }
        Some(mode.value.clone())
    }

    fn modes(&mut self) -> BTreeMap<String, Vec<String>> {
        let merged = self.merged;
        let mut modes = BTreeMap::new();
        for (name, mode) in entries(&merged.file.modes) {
            for gate in mode.value.gates.iter().flat_map(|it| &it.value) {
                if self.known_gate(gate) && !self.stands_somewhere(&gate.value) {
                    let says =
                        format!("gate \"{}\" stands at no phase, so no mode can require it", gate.value);
                    let next = format!("write at = \"PHASE\" in [gates.{}]", gate.value);
                    self.sources.refuse_with(&gate.place, says, next);
                }
            }
            modes.insert(name.clone(), list(&mode.value.gates));
        }
        modes
    }

    /// Reports a gate that is not defined.
    pub(super) fn known_gate(&mut self, gate: &At<String>) -> bool {
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
    fn later<T>(&mut self, one: (Place, T), two: (Place, T), says: &str) -> (Place, T) {
        if one.0.source == two.0.source {
            self.sources.refuse(&two.0, says);
        }
        match self.merged.origins[one.0.source] {
            Origin::Preset(_) => two,
            Origin::File(_) | Origin::Flags => one,
        }
    }

    /// Reports those of a list of globs that cannot be read.
    pub(super) fn globs(&mut self, list: &Option<At<Vec<At<String>>>>) {
        for it in list.iter().flat_map(|it| &it.value) {
            pattern::glob(&it.value, &it.place, self.sources);
        }
    }

    /// Takes over a skill that is only named. That is allowed, unless it looks like one that is defined.
    pub(super) fn use_skill(&mut self, skill: &At<String>, skills: &mut BTreeMap<String, Skill>) {
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
    pub(super) fn prompt(
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
            };
            if let Some(expires) = expires.as_ref().filter(|it| it.value.0 < EXPIRES_LEAST) {
                let says = "nobody could approve anything in so short a time";
                self.sources.refuse_with(&expires.place, says.to_owned(), "write expires = \"1h\"");
            }
            if gate.sign && gate.approvers.is_none() {
                let says = format!("gate \"{name}\" asks for a signature, and nobody is named who may sign");
                self.sources.refuse_with(&file.place, says, "write approvers = \"FILE\"");
            }
            if !gate.sign && (gate.presence || gate.approvers.is_some()) {
                let says = format!("gate \"{name}\" has presence or approvers, and asks for no signature");
                self.sources.refuse_with(&file.place, says, "write sign = true");
            }
            if let Some(when) = file.value.when.as_ref().filter(|_| !self.stands_somewhere(name)) {
                let says = format!("gate \"{name}\" stands at no phase, so its condition is never looked at");
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

    /// Looks up a phase by its name.
    pub(super) fn phase(&mut self, name: &At<String>) -> Option<PhaseId> {
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

    fn retries(&mut self, file: &RetriesFile, skills: &mut BTreeMap<String, Skill>) -> Retries {
        if let Some(with) = &file.with {
            self.use_skill(with, skills);
        }
        let mut backoff = BTreeMap::new();
        for (class, waits) in entries(&file.backoff) {
            if !ErrorClass::ALL.contains(&class.as_str()) {
                let says = format!("\"{class}\" is not a class of errors");
                self.sources.report(Some(&waits.place), says, suggest(class, ErrorClass::ALL));
            }
            backoff.insert(class.clone(), sections::waits(&waits.value));
        }
        Retries {
            at_most: plain(&file.at_most).unwrap_or(3),
            same_error: plain(&file.same_error).unwrap_or(3),
            total: plain(&file.total).unwrap_or(10),
            with: text(&file.with),
            reset_on_different: plain(&file.reset_on_different).unwrap_or(true),
            never: file.never.iter().flat_map(|it| &it.value).map(|it| it.value.0.to_owned()).collect(),
            backoff,
        }
    }
}
