//! A workflow as it is meant: the merged layers with every default filled in and every name looked
//! up. All problems are collected; a [`Workflow`] comes out only when there are none. The phases are
//! resolved in `phases.rs`; reading files is left to the caller.

use super::file::{
    AgentFile, CheckFile, ErrorClass, FactFile, GateFile, ModelsFile, ProofFile, RetriesFile, SkillFile,
};
use super::merge::{Merged, Origin, merge};
use super::model::{
    Agent, Check, Fact, Gate, InputKind, Items, Millis, Models, Phase, PhaseId, ProofRules, Protocol,
    Retries, Skill, Workflow,
};
use super::names::{self, COUNT_FORMATS};
use super::problem::{Place, Problem, Sources, nearest, suggest};
use super::sections::{self, entries, list, plain, section, strings, text, texts};
use super::shape::ModelFile;
use super::typed::{At, Length, Named};
use super::{pattern, phases, preset, template};
use crate::facts::{FactName, Supplier};
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

    fn checks(&mut self, layers: &Layers) -> BTreeMap<String, Check> {
        let merged = self.merged;
        let mut checks = BTreeMap::new();
        for (name, file) in entries(&merged.file.checks) {
            self.plain_name("check", name, &file.place);
            for (metric, glob) in entries(&file.value.files) {
                self.plain_name("metric", metric, &glob.place);
                pattern::glob(&glob.value, &glob.place, self.sources);
            }
            if let Some(counts) =
                file.value.counts.as_ref().filter(|it| !COUNT_FORMATS.contains(&it.value.as_str()))
            {
                let says = format!("\"{}\" is not a format of test summaries", counts.value);
                self.sources.report(Some(&counts.place), says, suggest(&counts.value, COUNT_FORMATS));
            }
            if file.value.run.is_none() && !FOUND_CHECKS.contains(&name.as_str()) {
                let says = format!("check \"{name}\" has no command");
                self.sources.lacks(&file.place, &["run"], says, "write run = \"COMMAND\"");
            }
            if let Some(run) = file.value.run.as_ref().filter(|it| it.value.trim().is_empty()) {
                self.sources.refuse(&run.place, format!("the command of check \"{name}\" is empty"));
            }
            checks.insert(name.clone(), sections::check(name, &file.value));
        }
        // A check that only a flag names may still be one that nobody declared.
        for (name, _) in &layers.overrides.checks {
            checks.entry(name.clone()).or_insert_with(|| sections::check(name, &CheckFile::default()));
        }
        checks
    }

    /// Reports a name that conditions could not use.
    fn plain_name(&mut self, what: &str, name: &str, place: &Place) {
        if !names::is_plain(name) {
            let says = format!("\"{name}\" cannot name a {what}, because conditions use it");
            self.sources.refuse_with(place, says, "write letters, digits and _, as unit_tests");
        }
    }

    fn facts(&mut self, files: &Option<At<Named<FactFile>>>) -> BTreeMap<String, Fact> {
        let mut facts = BTreeMap::new();
        for (name, file) in entries(files) {
            self.plain_name("fact", name, &file.place);
            if names::is_taken(name) {
                self.sources.refuse(&file.place, format!("\"{name}\" is supplied by the engine"));
            }
            facts.extend(self.fact(name, file).map(|it| (name.clone(), it)));
        }
        facts
    }

    /// Takes over the standard facts that conditions use and nobody defines.
    fn standard_facts(&mut self, phases: &[Phase], facts: &mut BTreeMap<String, Fact>) {
        let conditions = phases.iter().flat_map(|phase| {
            let rejects = phase.reject.iter().map(|it| &it.when);
            let gates = phase.gates.iter().filter_map(|it| it.when.as_ref());
            phase.exit.iter().chain(rejects).chain(gates)
        });
        let used: Vec<&str> = conditions.flat_map(|it| it.names()).map(|(name, _)| name).collect();
        for name in FactName::supplied_by(Supplier::Patterns).map(FactName::name) {
            if used.contains(&name) && !facts.contains_key(name) {
                facts.extend(preset::standard_fact(name).map(|it| (name.to_owned(), it)));
            }
        }
    }

    fn fact(&mut self, name: &str, file: &At<FactFile>) -> Option<Fact> {
        let path = file.value.path.as_ref().map(|it| (it.place.clone(), Fact::Path(strings(&it.value.0))));
        let diff = file.value.diff.as_ref().map(|it| (it.place.clone(), Fact::Diff(it.value.clone())));
        let (place, fact) = match (path, diff) {
            (None, None) => {
                let says = format!("fact \"{name}\" looks at nothing");
                self.sources.refuse_with(&file.place, says, "write path = \"GLOB\" or diff = \"REGEX\"");
                return None;
            }
            (Some(it), None) | (None, Some(it)) => it,
            (Some(path), Some(diff)) => self.later(path, diff, "a fact has either path or diff"),
        };
        match &fact {
            Fact::Path(globs) if globs.is_empty() => self.sources.refuse(&place, "no path at all"),
            Fact::Path(_) => {
                let globs = file.value.path.iter().flat_map(|it| &it.value.0);
                globs.for_each(|it| pattern::glob(&it.value, &it.place, self.sources));
            }
            Fact::Diff(it) => pattern::regex(it, &place, self.sources),
        }
        Some(fact)
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

    fn items(&mut self) -> Option<Items> {
        let items = self.merged.file.items.as_ref()?;
        let (Some(name), Some(from)) = (&items.value.name, &items.value.from) else {
            let next = "write name = \"NAME\" and from = \"queue:FIELD\"";
            self.sources.lacks(&items.place, &["name", "from"], "[items] needs a name and a source", next);
            return None;
        };
        self.globs(&items.value.bookkeeping);
        let bookkeeping = list(&items.value.bookkeeping);
        Some(Items { name: name.value.clone(), from: from.value.clone(), bookkeeping })
    }

    fn skills(&mut self) -> BTreeMap<String, Skill> {
        let merged = self.merged;
        let mut skills = BTreeMap::new();
        for (name, file) in entries(&merged.file.skills) {
            let SkillFile { about, prompt, prompt_file, deliverables } = &file.value;
            let prompt = self.prompt(prompt, prompt_file);
            self.globs(deliverables);
            let skill =
                Skill { about: text(about).unwrap_or_default(), prompt, deliverables: list(deliverables) };
            skills.insert(name.clone(), skill);
        }
        skills
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
            let GateFile { ask, by, at, when: _, required, timeout, changes_to } = &file.value;
            at.iter().for_each(|it| _ = self.phase(it));
            let gate = Gate {
                ask: text(ask).unwrap_or_else(|| format!("approve {name}?")),
                by: text(by).unwrap_or_else(|| "a person".to_owned()),
                required: plain(required).unwrap_or(false),
                timeout: timeout.as_ref().map(|it| it.value.0),
                changes_to: changes_to.as_ref().and_then(|it| self.phase(it)),
            };
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
