//! `loop presets`: the workflows that are built in, and their text.

use super::check::{Which, path};
use crate::cli::Context;
use crate::desk::preset_named;
use clap::{Args, Subcommand};
use loop_core::workflow::preset;
use serde_json::json;

#[derive(Args)]
pub(crate) struct PresetsFlags {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// Print the file of a preset
    Show {
        /// Its name
        name: String,
        /// Print its prompts too
        #[arg(long)]
        prompts: bool,
    },
}

pub(crate) fn run(context: &Context, flags: &PresetsFlags) -> anyhow::Result<u8> {
    match &flags.what {
        None => list(context),
        Some(What::Show { name, prompts }) => show(context, name, *prompts),
    }
}

fn list(context: &Context) -> anyhow::Result<u8> {
    let mut shown = Vec::new();
    for preset in &preset::ALL {
        let workflow = Which { file: None, preset: Some(preset.name) }.built_in()?;
        let phases: Vec<&str> = workflow.phases.iter().map(|it| it.name.as_str()).collect();
        if context.json {
            shown.push(json!({
                "name": preset.name, "about": workflow.about, "phases": phases, "runs": true,
            }));
        } else {
            println!("{:<12} {}", preset.name, workflow.about);
            println!("{:<12} {}", "", path(&workflow));
        }
    }
    if context.json {
        println!("{}", serde_json::to_string_pretty(&shown)?);
    } else if !context.quiet {
        eprintln!("help: loop setup NAME writes the files of one of them");
    }
    Ok(0)
}

fn show(context: &Context, name: &str, prompts: bool) -> anyhow::Result<u8> {
    let preset = preset_named(name)?;
    if context.json {
        let prompts: std::collections::BTreeMap<&str, &str> = preset.prompts.iter().copied().collect();
        let shown = json!({ "name": preset.name, "workflow": preset.text, "prompts": prompts });
        println!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(0);
    }
    print!("{}", preset.text);
    for (path, text) in preset.prompts.iter().filter(|_| prompts) {
        print!("\n# ---- {path}\n\n{text}");
    }
    Ok(0)
}
