//! Which workflow is meant: flags, files, and where neither says it, the input.

use super::Trouble;
use super::context::Context;
use super::flags::{RunFlags, split_words};
use loop_base::text::counted;
use loop_core::documents::input;
use loop_core::workflow::model::{Given, Workflow};
use loop_core::workflow::resolve::{Layers, Overrides, Source, resolve};
use std::path::{Path, PathBuf};

/// Returns the workflow that flags, files and the input decide.
pub(super) fn workflow(context: &Context, flags: &RunFlags, project: &Path) -> anyhow::Result<Workflow> {
    let file = flags.workflow.as_ref().map(|it| context.dir().join(it));
    let written = file.is_some() || project.join(FILE).exists();
    let preset = match &flags.preset {
        Some(name) => Some(super::presets::find(name)?.name.to_owned()),
        None if written => None,
        None => Some(by_input(context, flags, project)?),
    };
    let file = file.map(|it| it.to_string_lossy().into_owned());
    let given = Given { preset, file, overrides: overrides(context, flags)? };
    let mut workflow = read(project, &given)?;
    workflow.given = Some(Box::new(given));
    Ok(workflow)
}

/// The workflow file of a project.
const FILE: &str = ".loop/workflow.toml";

/// Reads the files as they are at this moment, and puts on top what was given beside them.
pub(super) fn read(project: &Path, given: &Given) -> anyhow::Result<Workflow> {
    let file = match &given.file {
        Some(path) => Some(read_source(Path::new(path))?),
        None => Some(project.join(FILE)).filter(|it| it.exists()).map(|it| read_source(&it)).transpose()?,
    };
    let overrides = given.overrides.clone();
    let layers = Layers { preset: given.preset.clone(), user: user_config()?, project: file, overrides };
    resolve(&layers, &|path| loop_base::files::text(path).map_err(|error| error.to_string())).map_err(
        |problems| {
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let count = counted(texts.len(), "mistake");
            Trouble {
                text: format!("the workflow has {count}\n\n{}\n", texts.join("\n\n")),
                next: None,
                exit: 2,
            }
            .into()
        },
    )
}

/// What flags and the environment put on top of the files.
pub(super) fn overrides(context: &Context, flags: &RunFlags) -> anyhow::Result<Overrides> {
    let agent_args = flags.agent_cmd.as_deref().map(split_words).transpose();
    let mut agent_args = agent_args
        .map_err(|why| Trouble::usage(format!("--agent-cmd: {why}"), "quote it as one argument"))?;
    // Agents run at the top of the tree; the user means the program that lies where they are.
    if let Some(program) = agent_args.as_mut().and_then(|it| it.first_mut())
        && program.contains('/')
    {
        *program = context.dir().join(&*program).to_string_lossy().into_owned();
    }
    Ok(Overrides {
        agent: flags.agent.clone(),
        agent_args,
        model: flags.model.clone(),
        max: flags.max,
        checks: flags.checks.clone(),
        usd: flags.budget,
        tokens: flags.tokens,
        time: flags.time,
        notify: flags.notify.clone(),
        worktree: flags.worktree,
        calls_per_hour: hourly_limit()?,
        ..Overrides::default()
    })
}

pub(super) fn read_source(path: &Path) -> anyhow::Result<Source> {
    let text = loop_base::files::text(path).map_err(|error| {
        Trouble::usage(format!("{} cannot be read: {error}", path.display()), "name another file")
    })?;
    Ok(Source { name: path.display().to_string(), text, dir: path.parent().map(Path::to_owned) })
}

pub(super) fn user_config() -> anyhow::Result<Option<Source>> {
    config_path().filter(|it| it.exists()).map(|it| read_source(&it)).transpose()
}

/// Where a person's own configuration lies; an empty or relative variable counts as unset.
pub(super) fn config_path() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let base = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|it| it.join(".config")));
    base.map(|it| it.join("loop/config.toml"))
}

fn hourly_limit() -> anyhow::Result<Option<u32>> {
    let Ok(text) = std::env::var("BP_RATE_LIMIT_HOURLY") else { return Ok(None) };
    match text.parse() {
        Ok(limit @ 1..) => Ok(Some(limit)),
        _ => Err(Trouble::usage(
            format!("BP_RATE_LIMIT_HOURLY is \"{text}\", which is no number of calls"),
            "set it to a whole number above 0, or unset it",
        )),
    }
}

/// With neither a file nor a flag, the input decides.
fn by_input(context: &Context, flags: &RunFlags, project: &Path) -> anyhow::Result<String> {
    let Some(input) = flags.input.as_deref() else {
        return if super::design::newest(project).is_some() {
            Ok("ralph".to_owned())
        } else {
            Err(Trouble::usage(
                "there is no workflow and nothing to work on",
                "loop run \"what to build\", or loop demo",
            ))
        };
    };
    let number = input.chars().all(|it| it.is_ascii_digit() || it == '.')
        && input.starts_with(|it: char| it.is_ascii_digit());
    let preset = if input.strip_prefix("sys-").is_some_and(|it| it.chars().all(|it| it.is_ascii_digit())) {
        "engineering"
    } else if number && project.join(".planning").is_dir() {
        "plan"
    } else {
        let path = context.dir().join(input);
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        match loop_base::files::text(&path) {
            Ok(_) if name.starts_with("DESIGN-") => "ralph",
            Ok(text) if input::criteria(&text).total != 0 => "tdd",
            Ok(_) | Err(_) => "ralph",
        }
    };
    if !context.quiet {
        eprintln!("workflow: {preset}, because of the input; --preset chooses another");
    }
    Ok(preset.to_owned())
}
