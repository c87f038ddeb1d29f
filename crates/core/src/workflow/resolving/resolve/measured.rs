//! What a workflow measures and repeats over: its checks, facts, items and skills.

use crate::facts::{FactName, Supplier};
use crate::proof::CountFormat;
use crate::workflow::grammar::pattern;
use crate::workflow::grammar::problem::{Place, suggest};
use crate::workflow::model::{Check, Fact, Items, Phase, Skill};
use crate::workflow::resolving::context::{FOUND_CHECKS, Resolver};
use crate::workflow::resolving::layers::Layers;
use crate::workflow::resolving::names;
use crate::workflow::resolving::preset;
use crate::workflow::resolving::sections::{self, entries, list, strings, text};
use crate::workflow::syntax::file::{CheckFile, FactFile, SkillFile};
use crate::workflow::syntax::typed::At;
use crate::workflow::syntax::value_types::Named;
use std::collections::BTreeMap;

impl Resolver<'_> {
    pub(super) fn checks(&mut self, layers: &Layers) -> BTreeMap<String, Check> {
        let merged = self.merged;
        let mut checks = BTreeMap::new();
        for (name, file) in entries(&merged.file.checks) {
            self.plain_name("check", name, &file.place);
            for (metric, glob) in entries(&file.value.files) {
                self.plain_name("metric", metric, &glob.place);
                pattern::glob(&glob.value, &glob.place, self.sources);
            }
            if let Some(counts) =
                file.value.counts.as_ref().filter(|it| CountFormat::named(&it.value).is_none())
            {
                let says = format!("\"{}\" is not a format of test summaries", counts.value);
                self.sources.report(
                    Some(&counts.place),
                    says,
                    suggest(&counts.value, CountFormat::ALL.map(CountFormat::word)),
                );
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
    pub(super) fn plain_name(&mut self, what: &str, name: &str, place: &Place) {
        if !names::is_plain(name) {
            let says = format!("\"{name}\" cannot name a {what}, because conditions use it");
            self.sources.refuse_with(place, says, "write letters, digits and _, as unit_tests");
        }
    }

    pub(super) fn facts(&mut self, files: &Option<At<Named<FactFile>>>) -> BTreeMap<String, Fact> {
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
    pub(super) fn standard_facts(&mut self, phases: &[Phase], facts: &mut BTreeMap<String, Fact>) {
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

    pub(super) fn fact(&mut self, name: &str, file: &At<FactFile>) -> Option<Fact> {
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

    pub(super) fn items(&mut self) -> Option<Items> {
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

    pub(super) fn skills(&mut self) -> BTreeMap<String, Skill> {
        let merged = self.merged;
        let mut skills = BTreeMap::new();
        for (name, file) in entries(&merged.file.skills) {
            let SkillFile { about, prompt, prompt_file, deliverables, reports, needs, target } = &file.value;
            let prompt = self.prompt(prompt, prompt_file);
            self.globs(deliverables);
            let skill = Skill {
                about: text(about).unwrap_or_default(),
                prompt,
                deliverables: list(deliverables),
                reports: list(reports),
                needs: text(needs),
                target: text(target),
                ..Skill::default()
            };
            skills.insert(name.clone(), skill);
        }
        skills
    }
}
