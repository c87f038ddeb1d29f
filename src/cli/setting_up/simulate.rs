//! `loop simulate`: plays a workflow without starting anything, to see the way that it takes. Agents
//! and checks answer from a story, or from dice with a seed; the clock jumps instead of waiting.

use super::check::Which;
use crate::cli::Context;
use crate::desk::Refusal;
use crate::drive::drive;
use crate::sim::story::tell;
use crate::sim::{Cast, Dice, Sim};
use clap::Args;
use loop_base::text::sanitise;
use loop_base::time::length;
use loop_core::bounds::prove;
use loop_core::engine::{Event, Item, Opening, Status};
use loop_core::event_line::line;
use loop_core::workflow::model::Workflow;
use loop_core::workflow::preset;
use loop_store::run::{Memory, Run};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct SimulateFlags {
    /// The workflow file (default: .loop/workflow.toml of the project)
    file: Option<PathBuf>,
    /// A built-in workflow
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// What agents, checks and people do, line by line
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    story: Option<PathBuf>,
    /// Let everything happen at random, the same way for the same number
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many items there are, where the workflow repeats over some
    #[arg(long, value_name = "N", default_value_t = 2)]
    items: u32,
}

pub(crate) fn run(context: &Context, flags: &SimulateFlags) -> anyhow::Result<u8> {
    let which = Which { file: flags.file.as_deref(), preset: flags.preset.as_deref() };
    match &flags.story {
        Some(story) => play_story(context, &which, story),
        None => play_dice(context, &which.need(context)?, flags.seed.unwrap_or(1), flags.items),
    }
}

fn play_story(context: &Context, which: &Which<'_>, story: &Path) -> anyhow::Result<u8> {
    let path = context.caller.dir.join(story);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Refusal::usage(
            format!("{} cannot be read: {error}", story.display()),
            "name a story that can be read",
        )
    })?;
    let load = |name: &str| -> Result<Workflow, String> {
        let beside = path.parent().unwrap_or(Path::new(".")).join(name);
        let which = match () {
            () if which.file.is_some() || which.preset.is_some() => Which { ..*which },
            () if preset::find(name).is_some() => Which { file: None, preset: Some(name) },
            () => Which { file: Some(&beside), preset: None },
        };
        let found = if which.file.is_none() { which.built_in() } else { which.need(context) };
        found.map_err(|error| error.to_string())
    };
    match tell(&text, &load) {
        Ok(journal) if context.json => {
            let lines: Vec<&str> = journal.lines().collect();
            println!("{}", json!({ "ok": true, "journal": lines }));
            Ok(0)
        }
        Ok(journal) => {
            print!("{}", sanitised(&journal));
            Ok(0)
        }
        Err(why) => {
            let text = format!("{}: {why}", story.display());
            Err(Refusal::usage(text, "change the line, or the workflow that it tells about"))
        }
    }
}

fn play_dice(context: &Context, workflow: &Workflow, seed: u64, items: u32) -> anyhow::Result<u8> {
    if !prove(workflow).ends {
        let text = format!("{} may never end, so it is not played at random", workflow.name);
        return Err(Refusal::usage(text, "loop check says why"));
    }
    let mut sim = Sim::new(Cast::Dice(Dice::new(seed)));
    let count = if workflow.items.is_some() { items } else { 0 };
    sim.items = (1..=count).map(|it| Item::new(format!("item-{it}"), format!("item {it}"))).collect();
    let begin = sim.now;
    let opening = Opening {
        input: "the input".to_owned(),
        promise: Some("DONE".to_owned()),
        criteria: Some(1),
        ..Opening::default()
    };
    let mut run = Run::simulated(workflow.clone(), Memory::default());
    run.record(sim.now, Event::Opened(opening));
    drive(&mut run, &mut sim)?;
    let (state, status) = (run.state.clone(), Status::of(&run.state));
    let reason = state.reason(workflow);
    let mut lines = Vec::new();
    for (at, event) in &run.memory().events {
        lines.extend(line(workflow, event).map(|text| format!("{:>8}  {text}", length(at.since(begin)))));
    }
    if context.json {
        let shown = json!({
            "seed": seed, "status": status.word(), "reason": reason, "calls_total": state.calls_total,
            "journal": lines,
        });
        println!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(0);
    }
    lines.iter().for_each(|it| println!("{}", sanitise(it)));
    println!("= {}: {}", status.word(), sanitise(&reason));
    if !context.quiet {
        eprintln!("seed {seed}; another way: loop simulate --seed {}", seed.wrapping_add(1));
    }
    Ok(0)
}

/// Text of several lines, each without anything that a terminal would obey.
fn sanitised(text: &str) -> String {
    text.lines().map(|it| sanitise(it) + "\n").collect()
}
