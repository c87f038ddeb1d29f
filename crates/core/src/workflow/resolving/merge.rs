//! The layers of a workflow, laid over each other: preset, user configuration, project file, flags.
//! Later wins, tables key by key, phases by name, lists as a whole. What the result means is not asked
//! here; only what cannot be merged is a problem.

use super::layers::{LayerSource, Layers};
use super::preset::{self, Preset};
use crate::agent_table::COMMAND;
use crate::workflow::grammar::problem::{Place, Sources, nearest, suggest};
use crate::workflow::model::{Overrides, WorkPlace};
use crate::workflow::syntax::file::{AgentFile, CheckFile, ConfigFile, LimitsFile, MirrorFile, NotifyFile};
use crate::workflow::syntax::file::{WindowFile, WorkflowFile, WorkspaceFile, read_file};
use crate::workflow::syntax::phase_file::PhaseFile;
use crate::workflow::syntax::typed::{At, Typed, merge_key};
use crate::workflow::syntax::value_types::{Length, Named};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The longest file read. The presets have about 10 KB; a larger file than this is not a workflow.
const FILE_LIMIT: usize = 1 << 20;

/// All layers as one.
#[derive(Debug)]
pub(crate) struct Merged {
    /// Without its phases.
    pub file: WorkflowFile,
    /// In the order they run.
    pub phases: Vec<At<PhaseFile>>,
    /// Phases that a file turned off, and where.
    pub off: BTreeMap<String, Place>,
    /// Where each source of [`Sources`] keeps its prompts.
    pub origins: Vec<Origin>,
}

#[derive(Debug)]
pub(crate) enum Origin {
    Preset(&'static Preset),
    File(Option<PathBuf>),
    Flags,
}

pub(crate) fn merge(layers: &Layers, sources: &mut Sources) -> Merged {
    let mut origins = Vec::new();
    let mut project: WorkflowFile = read_layer(layers.project.as_ref(), sources, &mut origins);
    let preset = base(layers, &project, sources);
    if layers.preset.is_some() {
        // How an agent reports belongs to the phases that were left behind, not to the agent.
        if let Some(agent) = &mut project.agent {
            agent.value.report = None;
            agent.value.signal = None;
        }
        project = WorkflowFile {
            agent: project.agent,
            checks: project.checks,
            limits: project.limits,
            notify: project.notify,
            ..WorkflowFile::default()
        };
    }
    let mut file = WorkflowFile::default();
    if let Some(preset) = preset {
        let source = sources.add(&format!("preset {}", preset.name), preset.text);
        origins.push(Origin::Preset(preset));
        file = read_file(preset.text, source, sources);
    }
    let config: ConfigFile = read_layer(layers.user.as_ref(), sources, &mut origins);
    let mut off = BTreeMap::new();
    let base_phases = file.phase.take().map(|it| it.value).unwrap_or_default();
    let own_phases = project.phase.take().map(|it| it.value).unwrap_or_default();
    let phases = merge_phases(base_phases, own_phases, preset, &mut off, sources);
    merge_key(&mut file.agent, config.agent);
    merge_key(&mut file.limits, config.limits);
    merge_key(&mut file.notify, config.notify);
    file.merge(project);
    let flags = sources.add("command line", "");
    origins.push(Origin::Flags);
    file.merge(typed_flags(&layers.overrides, flags, sources));
    Merged { file, phases, off, origins }
}

fn read_layer<T: Typed + Default>(
    layer: Option<&LayerSource>,
    sources: &mut Sources,
    origins: &mut Vec<Origin>,
) -> T {
    let Some(layer) = layer else { return T::default() };
    origins.push(Origin::File(layer.dir.clone()));
    if layer.text.len() > FILE_LIMIT {
        let source = sources.add(&layer.name, "");
        let says = format!("the file has more than {} KB and is no workflow", FILE_LIMIT >> 10);
        sources.refuse(&Place { source, span: 0..0 }, says);
        return T::default();
    }
    let source = sources.add(&layer.name, &layer.text);
    read_file(&layer.text, source, sources)
}

/// Returns the preset below the project's file: the flag's, else what the file extends.
fn base(layers: &Layers, project: &WorkflowFile, sources: &mut Sources) -> Option<&'static Preset> {
    let (name, place) = match (&layers.preset, &project.extends) {
        (Some(name), _) => (name, None),
        (None, Some(extends)) => (&extends.value, Some(&extends.place)),
        (None, None) => return None,
    };
    let found = preset::find(name);
    if found.is_none() {
        sources.report(place, format!("there is no preset \"{name}\""), suggest(name, preset::names()));
    }
    found
}

fn merge_phases(
    base: Vec<At<PhaseFile>>,
    own: Vec<At<PhaseFile>>,
    preset: Option<&Preset>,
    off: &mut BTreeMap<String, Place>,
    sources: &mut Sources,
) -> Vec<At<PhaseFile>> {
    let mut phases: Vec<At<PhaseFile>> = base;
    let mut seen: Vec<String> = Vec::new();
    // Phases after the same one keep the order in which they were written.
    let mut last_after: BTreeMap<String, String> = BTreeMap::new();
    for mut phase in own {
        let Some(At { value: name, place }) = phase.value.name.clone() else {
            sources.lacks(&phase.place, &["name"], "this phase has no name", "write name = \"NAME\"");
            continue;
        };
        if seen.contains(&name) {
            sources.refuse(&place, format!("there are two phases \"{name}\" in this file"));
            continue;
        }
        seen.push(name.clone());
        if let Some(is_off) = phase.value.off.as_ref().filter(|it| it.value) {
            off.insert(name.clone(), is_off.place.clone());
        }
        let after = phase.value.after.take();
        if let Some(existing) = phases.iter().position(|it| named(it, &name)) {
            let mut merged = phases.remove(existing);
            merged.value.merge(phase.value);
            merged.place = phase.place;
            let position = place_after(&after, &name, &phases, &mut last_after, sources);
            phases.insert(position.unwrap_or(existing).min(phases.len()), merged);
            continue;
        }
        match (&after, preset) {
            (None, Some(preset)) => {
                let known = phases.iter().filter_map(|it| it.value.name.as_ref()).map(|it| it.value.as_str());
                let next = match nearest(&name, known) {
                    Some(near) => {
                        format!("did you mean \"{near}\"? a phase of your own says after = \"PHASE\"")
                    }
                    None => "a phase of your own says after = \"PHASE\"".to_owned(),
                };
                let says = format!("preset {} has no phase \"{name}\"", preset.name);
                sources.refuse_with(&place, says, next);
            }
            (Some(_), _) | (None, None) => {
                let position = place_after(&after, &name, &phases, &mut last_after, sources);
                phases.insert(position.unwrap_or(phases.len()), phase);
            }
        }
    }
    phases.retain(|it| !it.value.name.as_ref().is_some_and(|it| off.contains_key(&it.value)));
    phases
}

fn named(phase: &At<PhaseFile>, name: &str) -> bool {
    phase.value.name.as_ref().is_some_and(|it| it.value == name)
}

fn place_after(
    after: &Option<At<String>>,
    name: &str,
    phases: &[At<PhaseFile>],
    last_after: &mut BTreeMap<String, String>,
    sources: &mut Sources,
) -> Option<usize> {
    let after = after.as_ref()?;
    let anchor = last_after.get(&after.value).unwrap_or(&after.value);
    let found = phases.iter().position(|it| named(it, anchor));
    if found.is_none() {
        let known = phases.iter().filter_map(|it| it.value.name.as_ref()).map(|it| it.value.as_str());
        let says = format!("phase \"{}\" does not exist", after.value);
        sources.report(Some(&after.place), says, suggest(&after.value, known));
    }
    last_after.insert(after.value.clone(), name.to_owned());
    found.map(|it| it + 1)
}

/// Turns flags and environment into a layer of the same shape as a file.
fn typed_flags(flags: &Overrides, source: usize, sources: &mut Sources) -> WorkflowFile {
    let place = Place { source, span: 0..0 };
    refuse_zero(flags, &place, sources);
    fn at<T>(value: T, place: &Place) -> Option<At<T>> {
        Some(At { value, place: place.clone() })
    }
    let texts = |words: &[String]| -> Vec<At<String>> {
        words.iter().map(|it| At { value: it.clone(), place: place.clone() }).collect()
    };
    let agent_word = match (&flags.agent, &flags.agent_args) {
        (Some(agent), _) => Some(agent.as_str()),
        (None, Some(_)) => Some(COMMAND.name),
        (None, None) => None,
    };
    let cli =
        agent_word.and_then(|it| crate::workflow::syntax::file_words::AgentName::find(it, &place, sources));
    let agent = AgentFile {
        cli: cli.and_then(|it| at(it, &place)),
        model: flags.model.clone().and_then(|it| at(it, &place)),
        args: flags.agent_args.as_deref().and_then(|it| at(texts(it), &place)),
        ..AgentFile::default()
    };
    let window = flags.calls_per_hour.and_then(|calls| {
        let every = at(Length(3_600_000), &place);
        at(WindowFile { calls: at(calls, &place), every, then: None }, &place)
    });
    let limits = LimitsFile {
        iterations: flags.max.and_then(|it| at(it, &place)),
        usd: flags.usd.and_then(|it| at(it, &place)),
        tokens: flags.tokens.and_then(|it| at(it, &place)),
        time: flags.time.and_then(|it| at(Length(it), &place)),
        window,
        ..LimitsFile::default()
    };
    let checks = flags.checks.iter().map(|(name, command)| {
        let check = CheckFile { run: at(command.clone(), &place), ..CheckFile::default() };
        (name.clone(), At { value: check, place: place.clone() })
    });
    let workspace = WorkspaceFile { at: at(WorkPlace::Worktree, &place), ..WorkspaceFile::default() };
    let mirror = |dir: String| MirrorFile { dir: at(dir, &place), ..MirrorFile::default() };
    WorkflowFile {
        mode: flags.mode.clone().and_then(|it| at(it, &place)),
        agent: at(agent, &place),
        limits: at(limits, &place),
        checks: at(Named(checks.collect()), &place),
        workspace: flags.worktree.then_some(workspace).and_then(|it| at(it, &place)),
        notify: flags.notify.clone().and_then(|it| at(NotifyFile { run: at(it, &place) }, &place)),
        mirror: flags.mirror.clone().and_then(|it| at(mirror(it), &place)),
        ..WorkflowFile::default()
    }
}

/// A file refuses what is zero where it is written; flags come as numbers.
fn refuse_zero(flags: &Overrides, place: &Place, sources: &mut Sources) {
    let zeros = [
        ("iterations", flags.max == Some(0)),
        ("budget", flags.usd.is_some_and(|it| !it.is_finite() || it <= 0.0)),
        ("tokens", flags.tokens == Some(0)),
        ("time", flags.time == Some(0)),
        ("calls per hour", flags.calls_per_hour == Some(0)),
    ];
    for (what, _) in zeros.into_iter().filter(|it| it.1) {
        sources.refuse_with(
            place,
            format!("the limit of {what} is not above 0"),
            "give more, or leave it out",
        );
    }
}
