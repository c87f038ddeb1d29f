//! `loop setup`: writes a short workflow file for this project, or with `--full` a copy of the whole
//! preset with its prompts. What is there already is never touched: everything is looked at first, and
//! nothing is written unless all of it can be. On a terminal three things are asked first.

use super::new_files::{NewFile, refuse_overwriting, write};
use super::planning_files;
use crate::cli::Context;
use crate::cli::hint;
use crate::cli::setting_up::hook;
use crate::cli::terminal::{ask_about_setup, installed};
use crate::desk::{GuardedCommand, NextStep, Refusal, has_queue, preset_named, refuse_agents};
use crate::measure::detect::{DetectedCheck, detect};
use clap::Args;
use loop_base::text::shell_word;
use loop_core::agent_table::AgentTable;
use loop_core::workflow::model::Workflow;
use loop_core::workflow::preset::{BuiltIn, Preset};
use loop_core::workflow::resolve::{LayerSource, Layers, resolve};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct SetupFlags {
    /// The workflow to start from: tdd, engineering, plan or ralph (default: guessed from the project)
    preset: Option<String>,
    /// Copy the whole preset with its prompts, so that all of it can be changed
    #[arg(long)]
    full: bool,
    /// The agent to call
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Install the stop hook in .claude/settings.json; without a preset, do nothing else
    #[arg(long)]
    hook: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl SetupFlags {
    /// What `loop init` without an input means.
    pub(crate) fn of(preset: Option<String>, agent: Option<String>) -> SetupFlags {
        SetupFlags { preset, full: false, agent, yes: false, hook: false }
    }
}

pub(crate) fn run(context: &Context, flags: &SetupFlags) -> anyhow::Result<u8> {
    refuse_agents(&context.caller, None, GuardedCommand::SetUp)?;
    if !flags.hook {
        return set_up(context, flags);
    }
    if flags.preset.is_some() {
        match set_up(context, flags)? {
            0 => (),
            declined => return Ok(declined),
        }
    }
    hook::install(context)
}

fn set_up(context: &Context, flags: &SetupFlags) -> anyhow::Result<u8> {
    let project = context.caller.project()?;
    let known = &context.caller.environment.agents;
    let mut preset = match &flags.preset {
        Some(name) => preset_named(name)?,
        None => guess(context, &project)?,
    };
    let mut found = detect(&project);
    let mut agent = flags.agent.clone();
    let asks = context.is_interactive() && !flags.yes;
    if asks {
        refuse_overwriting(&project, std::iter::once(Path::new(FILE)))?;
        match ask_about_setup(known, flags.preset.is_some(), preset, agent, found)? {
            Some(wanted) => (preset, agent, found) = (wanted.preset, wanted.agent, wanted.checks),
            None => return nothing(),
        }
    }
    let mut files = if flags.full { full(preset) } else { short(known, preset, agent.as_deref(), &found)? };
    if preset.built_in == BuiltIn::Plan {
        let missing = planning_files::files(&project, &found)?;
        // The workflow is set up already, and only what belongs into the planning folder is missing.
        if !flags.full && !missing.is_empty() && planning_files::is_set_up(&project) {
            files.clear();
        }
        files.extend(missing);
    }
    refuse_overwriting(&project, files.iter().filter(|it| !it.replaces).map(|it| it.path.as_path()))?;
    if asks && !agreed(&files)? {
        return nothing();
    }
    for file in &files {
        write(&project.join(&file.path), file)?;
    }
    let paths: Vec<String> = files.iter().map(|it| it.path.display().to_string()).collect();
    if context.json {
        println!("{}", json!({ "preset": preset.name, "written": paths }));
    } else {
        paths.iter().for_each(|it| println!("{it}"));
        if !context.quiet {
            found.iter().for_each(|it| eprintln!("found: {} ({})", it.name, it.run));
            let is_ready = found_all(known, agent.as_deref(), &found);
            eprintln!("{}", first_run(preset, &project, is_ready));
        }
    }
    Ok(0)
}

const FILE: &str = ".loop/workflow.toml";

fn nothing() -> anyhow::Result<u8> {
    eprintln!("nothing was written");
    Ok(5)
}

/// Whether a run would have an agent and a check; the doctor says what to do about what is missing.
fn found_all(known: &AgentTable, agent: Option<&str>, checks: &[DetectedCheck]) -> bool {
    let has_agent = agent.is_some() || installed(known).len() == 1;
    has_agent && !checks.is_empty()
}

/// Says how the first run begins: a command, or in words where it needs something of the person's own.
fn first_run(preset: &Preset, project: &Path, is_ready: bool) -> String {
    match preset.built_in {
        BuiltIn::Ralph if !is_ready => hint::next("loop doctor"),
        BuiltIn::Ralph => hint::next("loop run \"what to build\""),
        BuiltIn::Tdd => match first_document(&project.join("docs/PRPs")) {
            Some(name) => hint::next(&format!("loop run {}", shell_word(&format!("docs/PRPs/{name}")))),
            None => "help: write docs/PRPs/NAME.md, then loop run docs/PRPs/NAME.md".to_owned(),
        },
        BuiltIn::Plan => planning_files::first_run(project),
        BuiltIn::Engineering => "help: loop run INPUT starts a run".to_owned(),
    }
}

fn first_document(folder: &Path) -> Option<String> {
    let names = std::fs::read_dir(folder).ok()?.flatten().map(|it| it.file_name());
    names.filter_map(|it| it.into_string().ok()).filter(|it| it.ends_with(".md")).min()
}

fn guess(context: &Context, project: &Path) -> anyhow::Result<&'static Preset> {
    let design = std::fs::read_dir(project).is_ok_and(|entries| {
        entries.flatten().any(|it| it.file_name().to_string_lossy().starts_with("DESIGN-"))
    });
    let (built_in, why) = match () {
        () if project.join(".planning").is_dir() => (BuiltIn::Plan, ".planning/ is there"),
        () if has_queue(project) => (BuiltIn::Engineering, "domain-memory/ has a queue"),
        () if project.join("docs/PRPs").is_dir() => (BuiltIn::Tdd, "docs/PRPs/ is there"),
        () if design => (BuiltIn::Ralph, "there is a design file"),
        () => (BuiltIn::Ralph, "it needs the least setup"),
    };
    if !context.quiet {
        eprintln!("preset: {}, because {why}; loop setup NAME chooses another", built_in.name());
    }
    Ok(built_in.preset())
}

fn full(preset: &Preset) -> Vec<NewFile> {
    let folder = PathBuf::from(".loop");
    let mut files =
        vec![NewFile { path: folder.join("workflow.toml"), text: preset.text.to_owned(), replaces: false }];
    for (path, text) in preset.prompts {
        files.push(NewFile { path: folder.join(path), text: (*text).to_owned(), replaces: false });
    }
    files
}

fn short(
    known: &AgentTable,
    preset: &Preset,
    agent: Option<&str>,
    found: &[DetectedCheck],
) -> anyhow::Result<Vec<NewFile>> {
    let plain = resolved(known, &format!("extends = \"{}\"\n", preset.name))?;
    let mut text = format!(
        "# What this project changes of the preset. All of it: loop presets show {0}\nextends = \"{0}\"\n\n[agent]\n",
        preset.name
    );
    text += &agent_line(known, agent);
    for check in found.iter().filter(|it| plain.checks.contains_key(it.name)) {
        text +=
            &format!("\n[checks.{}]\nrun = {}  # found in {}\n", check.name, quoted(&check.run), check.why);
    }
    let nothing = !found.iter().any(|it| plain.checks.contains_key(it.name));
    if nothing && plain.checks.contains_key("tests") {
        text += "\n# No check was found. Which command passes when the work is done?\n# [checks.tests]\n# run = \"make test\"\n";
    }
    resolved(known, &text)?;
    Ok(vec![NewFile { path: PathBuf::from(".loop/workflow.toml"), text, replaces: false }])
}

fn agent_line(known: &AgentTable, chosen: Option<&str>) -> String {
    match (chosen, installed(known).as_slice()) {
        (Some(name), _) => format!("cli = {}\n", quoted(name)),
        (None, [only]) => format!("cli = \"{only}\"  # the only one installed\n"),
        (None, []) => {
            "# cli = \"claude\"  # or codex, gemini, opencode, command; none was found here\n".to_owned()
        }
        (None, several) => format!("# cli = \"{}\"  # installed: {}\n", several[0], several.join(", ")),
    }
}

/// Returns a TOML text, whatever is in it.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn resolved(known: &AgentTable, text: &str) -> anyhow::Result<Workflow> {
    let source = LayerSource { name: ".loop/workflow.toml".to_owned(), text: text.to_owned(), dir: None };
    let layers = Layers { project: Some(source), agents: known.clone(), ..Layers::default() };
    resolve(&layers, &|_| Err("no such file".to_owned())).map_err(|problems| {
        let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Refusal::usage(
            format!("this would not be a valid workflow\n\n{}\n", texts.join("\n\n")),
            NextStep::by_hand("choose otherwise"),
        )
    })
}

fn agreed(files: &[NewFile]) -> anyhow::Result<bool> {
    for file in files {
        eprintln!();
        eprintln!("{}: {} lines", file.path.display(), file.text.lines().count());
        for line in file.text.lines().take(SHOWN_LINES).filter(|_| !file.replaces) {
            eprintln!("  {}", loop_base::text::sanitise(line));
        }
    }
    eprint!("write them? [Y/n] ");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "" | "y" | "Y" | "yes") && !line.is_empty())
}

/// A short file is shown whole; of a copied preset the beginning will do.
const SHOWN_LINES: usize = 24;
