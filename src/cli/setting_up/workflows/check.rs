//! `loop check`: everything that is wrong with a workflow at once, or how it goes and after how many
//! agent calls it ends at most. Nothing is started and nothing is written.

use crate::cli::Context;
use crate::desk::{NextStep, Refusal, preset_named, read_source, user_config};
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_core::bounds::{WorkflowBounds, explore};
use loop_core::workflow::model::{Next, Workflow};
use loop_core::workflow::problem::Problem;
use loop_core::workflow::resolve::{Layers, resolve};
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CheckFlags {
    /// The workflow file (default: .loop/workflow.toml of the project)
    file: Option<PathBuf>,
    /// A built-in workflow, instead of the file's phases and what it extends
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Print the JSON Schema of workflow files, for editors
    #[arg(long, conflicts_with_all = ["file", "preset"])]
    schema: bool,
}

pub(crate) fn run(context: &Context, flags: &CheckFlags) -> anyhow::Result<u8> {
    if flags.schema {
        print!("{}", loop_core::workflow::file::schema_text());
        return Ok(0);
    }
    let which = Which { file: flags.file.as_deref(), preset: flags.preset.as_deref() };
    let workflow = match which.resolve(context)? {
        Ok(workflow) => workflow,
        Err(problems) => return Ok(mistakes(context, &problems)),
    };
    let bounds = explore(&workflow);
    if context.json {
        let phases: Vec<&str> = workflow.phases.iter().map(|it| it.name.as_str()).collect();
        let good = json!({
            "ok": bounds.ends, "workflow": workflow.name, "phases": phases, "ends": bounds.ends,
            "calls": bounds.calls, "why": bounds.why, "problems": [],
        });
        println!("{}", serde_json::to_string_pretty(&good)?);
    } else if bounds.ends {
        println!("{}", sanitise(&good_news(&workflow, &bounds, context.quiet)));
    }
    if !bounds.ends {
        let text = format!(
            "{} may never end: routes back can follow each other forever\n\n  {}\n",
            workflow.name,
            bounds.why.join("\n  ")
        );
        return Err(Refusal::usage(
            text,
            NextStep::by_hand("limit it with iterations = N in [limits], or route one of them elsewhere"),
        ));
    }
    Ok(0)
}

/// Which workflow is meant.
pub(crate) struct Which<'a> {
    pub file: Option<&'a std::path::Path>,
    pub preset: Option<&'a str>,
}

impl Which<'_> {
    /// Returns the workflow, or everything that is wrong with it.
    pub(crate) fn resolve(&self, context: &Context) -> anyhow::Result<Result<Workflow, Vec<Problem>>> {
        if let Some(preset) = self.preset {
            preset_named(preset)?;
        }
        let own = context.caller.project()?.join(".loop/workflow.toml");
        let file = match self.file {
            Some(file) => {
                let mut source = read_source(&context.caller.dir.join(file))?;
                source.name = file.display().to_string();
                Some(source)
            }
            None if own.exists() => {
                let mut source = read_source(&own)?;
                source.name = own.strip_prefix(&context.caller.dir).unwrap_or(&own).display().to_string();
                Some(source)
            }
            None => None,
        };
        if file.is_none() && self.preset.is_none() {
            let text = format!("there is no {}", own.display());
            return Err(Refusal::usage(text, "loop setup"));
        }
        let preset = self.preset.map(str::to_owned);
        let layers = Layers {
            preset,
            user: user_config(&context.caller.environment)?,
            project: file,
            agents: context.caller.environment.agents.clone(),
            ..Layers::default()
        };
        let read = |path: &std::path::Path| loop_base::files::text(path).map_err(|error| error.to_string());
        Ok(resolve(&layers, &read))
    }

    /// Returns a preset as it is, without the files of any project or user.
    pub(crate) fn built_in(&self) -> anyhow::Result<Workflow> {
        let layers = Layers { preset: self.preset.map(str::to_owned), ..Layers::default() };
        resolve(&layers, &|_| Err("no such file".to_owned()))
            .map_err(|problems| anyhow::anyhow!("a preset has {}", counted(problems.len(), "mistake")))
    }

    /// Returns the workflow, where a mistake in it is nothing that the command could continue with.
    pub(crate) fn need(&self, context: &Context) -> anyhow::Result<Workflow> {
        self.resolve(context)?.map_err(|problems| {
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let text =
                format!("the workflow has {}\n\n{}\n", counted(texts.len(), "mistake"), texts.join("\n\n"));
            Refusal::usage(text, NextStep::by_hand("fix them; loop check lists what is still wrong"))
        })
    }
}

fn mistakes(context: &Context, problems: &[Problem]) -> u8 {
    if context.json {
        println!("{:#}", json!({ "ok": false, "problems": problems }));
        return 2;
    }
    for problem in problems {
        eprintln!("{problem}\n");
    }
    eprintln!("loop: the workflow has {}", counted(problems.len(), "mistake"));
    2
}

fn good_news(workflow: &Workflow, bounds: &WorkflowBounds, short: bool) -> String {
    let about = if workflow.about.is_empty() { String::new() } else { format!(": {}", workflow.about) };
    let mut out = format!("{} has no mistakes{about}\n", workflow.name);
    out += &format!("{}\n", path(workflow));
    out += &format!("it ends or asks a person after {}", bounds.calls);
    if !short {
        for why in &bounds.why {
            out += &format!("\n  {why}");
        }
    }
    out
}

/// Returns the phases in the order they follow each other, with the ways back.
pub(crate) fn path(workflow: &Workflow) -> String {
    let mut shown = String::new();
    for (id, phase) in workflow.phases.iter().enumerate() {
        let each = phase.each.as_ref().map(|it| format!(" (each {it})")).unwrap_or_default();
        let back = phase.reject.as_ref().map(|it| format!(" [back to {}]", workflow.phases[it.go].name));
        shown += &format!("{}{each}{}", phase.name, back.unwrap_or_default());
        match phase.next {
            Next::Phase(next) if next == id + 1 => shown += " -> ",
            Next::Phase(next) => shown += &format!(" -> {}; ", workflow.phases[next].name),
            Next::Done if id + 1 < workflow.phases.len() => shown += " -> done; ",
            Next::Done => shown += " -> done",
        }
    }
    shown.trim_end_matches([' ', ';']).to_owned()
}
