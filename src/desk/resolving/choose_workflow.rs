//! Which workflow is meant: the request, files, and where neither says it, the input.

use crate::desk::caller::{Caller, CallerEnvironment};
use crate::desk::note::Note;
use crate::desk::refusal::{NO_INPUT_STEP, NextStep, Refusal, meant, why_unreadable};
use crate::desk::request::RunRequest;
use crate::desk::resolving::{design_file, domain, planning, split_words};
use loop_base::text::counted;
use loop_base::text::sanitise;
use loop_core::documents::input;
use loop_core::workflow::model::{Given, Workflow};
use loop_core::workflow::preset::{self, BuiltIn, Preset};
use loop_core::workflow::resolve::{LayerSource, Layers, Overrides, resolve};
use std::path::{Path, PathBuf};

/// Returns the workflow that the request, files and the input decide.
pub(crate) fn workflow(
    caller: &Caller,
    request: &RunRequest,
    project: &Path,
    notes: &mut Vec<Note>,
) -> anyhow::Result<Workflow> {
    let file = request.workflow.as_ref().map(|it| caller.dir.join(it));
    let written = file.is_some() || project.join(FILE).exists();
    let preset = match &request.preset {
        Some(name) => Some(preset_named(name)?.name.to_owned()),
        None if written => None,
        None => Some(by_input(caller, request, project, notes)?.name().to_owned()),
    };
    let file = file.map(|it| it.to_string_lossy().into_owned());
    let given = Given { preset, file, overrides: overrides(caller, request)? };
    let mut workflow = read(&caller.environment, project, &given)?;
    workflow.given = Some(Box::new(given));
    Ok(workflow)
}

/// The workflow file of a project.
pub(crate) const FILE: &str = ".loop/workflow.toml";

/// Reads the files as they are at this moment, and puts on top what was given beside them.
pub(crate) fn read(
    environment: &CallerEnvironment,
    project: &Path,
    given: &Given,
) -> anyhow::Result<Workflow> {
    let file = match &given.file {
        Some(path) => Some(read_source(Path::new(path))?),
        None => Some(project.join(FILE)).filter(|it| it.exists()).map(|it| read_source(&it)).transpose()?,
    };
    let overrides = given.overrides.clone();
    let layers = Layers {
        preset: given.preset.clone(),
        user: user_config(environment)?,
        project: file,
        overrides,
        agents: environment.agents.clone(),
    };
    let resolved = resolve(&layers, &|path| loop_base::files::text(path).map_err(|error| error.to_string()));
    let mut workflow = resolved.map_err(|problems| -> anyhow::Error {
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let count = counted(texts.len(), "mistake");
        let text = format!("the workflow has {count}\n\n{}\n", texts.join("\n\n"));
        let agent = given.overrides.agent.as_deref().filter(|it| environment.agents.named(it).is_none());
        Refusal { text, next: agent.map(|_| "loop agents".into()), exit: 2 }.into()
    })?;
    given.overrides.bring_proof(&mut workflow);
    Ok(workflow)
}

/// What the request and the environment put on top of the files.
pub(crate) fn overrides(caller: &Caller, request: &RunRequest) -> anyhow::Result<Overrides> {
    let agent_args = request.agent_cmd.as_deref().map(split_words::split).transpose();
    let mut agent_args = agent_args.map_err(|why| {
        Refusal::usage(
            format!("--agent-cmd: {why}"),
            NextStep::by_hand("write it in quotes, as --agent-cmd \"./agent.sh --fast\""),
        )
    })?;
    refuse_tilde(caller, agent_args.as_deref().unwrap_or_default())?;
    // Agents run at the top of the tree; the user means the program that lies where they are.
    if let Some(program) = agent_args.as_mut().and_then(|it| it.first_mut())
        && program.contains('/')
    {
        *program =
            caller.dir.join(&*program).components().collect::<PathBuf>().to_string_lossy().into_owned();
    }
    Ok(Overrides {
        agent: request.agent.clone(),
        agent_args,
        model: request.model.clone(),
        max: request.max,
        checks: request.checks.clone(),
        usd: request.budget,
        tokens: request.tokens,
        time: request.time,
        notify: request.notify.clone(),
        worktree: request.worktree,
        require: request.require_proof,
        allow: request.allow_test_change.clone(),
        calls_per_hour: hourly_limit(&caller.environment)?,
        ..Overrides::default()
    })
}

/// A shell leaves a tilde between quotes as it is, and so do we: a folder may have that name.
fn refuse_tilde(caller: &Caller, words: &[String]) -> anyhow::Result<()> {
    let Some(inside) = words.first().and_then(|it| it.strip_prefix("~/")) else { return Ok(()) };
    if caller.dir.join("~").exists() {
        return Ok(());
    }
    let home = caller.environment.user_home.clone().unwrap_or_default();
    let meant = home.join(inside);
    let help = format!("write --agent-cmd \"{}\"", sanitise(&meant.to_string_lossy()));
    Err(Refusal::usage("--agent-cmd: ~ is not expanded between quotes", NextStep::by_hand(help)))
}

pub(crate) fn read_source(path: &Path) -> anyhow::Result<LayerSource> {
    let text = loop_base::files::text(path).map_err(|error| {
        Refusal::usage(
            format!("{} {}", path.display(), why_unreadable(&error)),
            NextStep::by_hand("name another file"),
        )
    })?;
    Ok(LayerSource { name: path.display().to_string(), text, dir: path.parent().map(Path::to_owned) })
}

pub(crate) fn user_config(environment: &CallerEnvironment) -> anyhow::Result<Option<LayerSource>> {
    environment.config.as_ref().filter(|it| it.exists()).map(|it| read_source(it)).transpose()
}

/// Returns the preset of this name, or says which there are.
pub(crate) fn preset_named(name: &str) -> anyhow::Result<&'static Preset> {
    preset::find(name)
        .ok_or_else(|| Refusal::usage(format!("unknown preset \"{name}\""), meant(name, preset::names())))
}

fn hourly_limit(environment: &CallerEnvironment) -> anyhow::Result<Option<u32>> {
    let Some(text) = &environment.hourly_limit else { return Ok(None) };
    match text.parse() {
        Ok(limit @ 1..) => Ok(Some(limit)),
        _ => Err(Refusal::usage(
            format!("BP_RATE_LIMIT_HOURLY is \"{text}\", which is not a number of calls"),
            NextStep::by_hand("set it to a whole number above 0, or unset it"),
        )),
    }
}

/// With neither a file nor a flag, the input decides.
fn by_input(
    caller: &Caller,
    request: &RunRequest,
    project: &Path,
    notes: &mut Vec<Note>,
) -> anyhow::Result<BuiltIn> {
    let Some(input) = request.input.as_deref() else {
        return if request.next_job {
            Ok(BuiltIn::Engineering)
        } else if design_file::newest(project).is_some() {
            Ok(BuiltIn::Ralph)
        } else if project.join(".planning/ROADMAP.md").is_file() {
            Ok(BuiltIn::Plan)
        } else if domain::has_queue(project) {
            Ok(BuiltIn::Engineering)
        } else {
            Err(Refusal::usage(
                "nothing to work on: name a file, or say what to build",
                [NO_INPUT_STEP, "loop demo"],
            ))
        };
    };
    let number = input.chars().all(|it| it.is_ascii_digit() || it == '.')
        && input.starts_with(|it: char| it.is_ascii_digit());
    let is_phase = project.join(".planning/ROADMAP.md").is_file() && planning::named(input).is_some();
    let preset = if input.strip_prefix("sys-").is_some_and(|it| it.chars().all(|it| it.is_ascii_digit())) {
        BuiltIn::Engineering
    } else if number || is_phase {
        BuiltIn::Plan
    } else {
        let path = caller.dir.join(input);
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        match loop_base::files::text(&path) {
            Ok(_) if name.starts_with("DESIGN-") => BuiltIn::Ralph,
            Ok(text) if input::criteria(&text).total != 0 => BuiltIn::Tdd,
            Ok(_) | Err(_) => BuiltIn::Ralph,
        }
    };
    notes.push(Note::usual(format!(
        "workflow: {}, because of the input; --preset chooses another",
        preset.name()
    )));
    Ok(preset)
}
