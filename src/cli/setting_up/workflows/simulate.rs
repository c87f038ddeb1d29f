//! `loop simulate`: plays a workflow without starting anything, to see the way that it takes. Without
//! further words everything goes well; agents and checks may also answer from a story, or from dice
//! with a seed. The clock jumps instead of waiting.

use super::check::Which;
use crate::cli::Context;
use crate::cli::values;
use crate::desk::{self, NextStep, Refusal};
use crate::drive::drive;
use crate::sim::story::tell;
use crate::sim::{Cast, Dice, Play, Sim, happy_plays};
use clap::Args;
use loop_base::text::{sanitise, shell_word};
use loop_base::time::length;
use loop_core::bounds::explore;
use loop_core::engine::{Answer, Choice, Command, Event, Item, Opening, QuestionKind, Status};
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
    /// Random events, trouble included; the same number gives the same sequence
    #[arg(long, value_name = "N", value_parser = values::seed)]
    seed: Option<u64>,
    /// Number of items, where the workflow repeats over a list
    #[arg(long, value_name = "N", default_value = "2", allow_negative_numbers = true, value_parser = values::count)]
    items: u32,
}

pub(crate) fn run(context: &Context, flags: &SimulateFlags) -> anyhow::Result<u8> {
    let which = Which { file: flags.file.as_deref(), preset: flags.preset.as_deref() };
    match &flags.story {
        Some(story) => play_story(context, &which, story),
        None => play_alone(context, &which.need(context)?, flags),
    }
}

fn play_story(context: &Context, which: &Which<'_>, story: &Path) -> anyhow::Result<u8> {
    let path = context.caller.dir.join(story);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Refusal::usage(
            format!("{} {}", story.display(), desk::why_unreadable(&error)),
            NextStep::by_hand("name a story that can be read"),
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
            Err(Refusal::usage(text, NextStep::by_hand("change the line, or the workflow it describes")))
        }
    }
}

/// Without a seed everything goes well, so that the path through the workflow can be read.
fn play_alone(context: &Context, workflow: &Workflow, flags: &SimulateFlags) -> anyhow::Result<u8> {
    if !explore(workflow).ends {
        let text = format!("{} may never end, so it is not simulated", workflow.name);
        return Err(Refusal::usage(text, "loop check"));
    }
    let cast = match flags.seed {
        Some(seed) => Cast::Dice(Dice::new(seed)),
        None => {
            let after =
                |plays: &[Play]| Ok(played(workflow, Cast::Script(plays.to_vec()), flags.items)?.state);
            Cast::Script(happy_plays(workflow, after)?)
        }
    };
    let run = played(workflow, cast, flags.items)?;
    let (state, status) = (run.state.clone(), Status::of(&run.state));
    let reason = state.reason(workflow);
    let events = &run.memory().events;
    let begin = events.first().map(|(at, _)| *at).unwrap_or_default();
    let mut lines = Vec::new();
    for (at, event) in events {
        lines.extend(line(workflow, event).map(|text| {
            // Further lines of a question stand below its first one.
            format!("{:>8}  {}", length(at.since(begin)), text.replace('\n', &format!("\n{:10}  ", "")))
        }));
    }
    if context.json {
        let shown = json!({
            "seed": flags.seed, "status": status.word(), "reason": reason, "calls_total": state.calls_total,
            "journal": lines,
        });
        println!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(0);
    }
    lines.iter().flat_map(|it| it.lines()).for_each(|it| println!("{}", sanitise(it)));
    println!("= {}: {}", status.word(), sanitise(&reason));
    if !context.quiet {
        let seed = flags.seed.map_or(1, |it| it.wrapping_add(1));
        let how = match flags.seed {
            Some(_) => "at random; other events",
            None => "no trouble; to simulate trouble",
        };
        eprintln!("{how}: loop simulate{} --seed {seed}", named(flags));
    }
    Ok(0)
}

/// The workflow as it was named, for a command that plays it again.
fn named(flags: &SimulateFlags) -> String {
    let file = flags.file.as_ref().map(|it| format!(" {}", shell_word(&it.to_string_lossy())));
    let preset = flags.preset.as_ref().map(|it| format!(" --preset {}", shell_word(it)));
    format!("{}{}", file.unwrap_or_default(), preset.unwrap_or_default())
}

/// Plays a workflow to its end, or to where nobody is left who could act. Gates are approved where
/// agents follow a script.
fn played(workflow: &Workflow, cast: Cast, items: u32) -> anyhow::Result<Run> {
    let approves = matches!(cast, Cast::Script(_));
    let mut sim = Sim::new(cast);
    let count = if workflow.items.is_some() { items } else { 0 };
    sim.items = (1..=count).map(|it| Item::new(format!("item-{it}"), format!("item {it}"))).collect();
    let opening = Opening {
        input: "the input".to_owned(),
        promise: Some("DONE".to_owned()),
        criteria: Some(1),
        ..Opening::default()
    };
    let mut run = Run::simulated(workflow.clone(), Memory::default());
    run.record(sim.now, Event::Opened(opening));
    loop {
        drive(&mut run, &mut sim)?;
        let gate = run.state.question().filter(|it| matches!(it.kind, QuestionKind::Gate(_)));
        let Some(question) = gate.filter(|_| approves).map(|it| it.id) else { return Ok(run) };
        let by = "person".to_owned();
        let answer = Answer { question, choice: Choice::Approve, text: String::new(), by, signature: None };
        run.record(sim.now, Event::Commanded(Command::Answer(answer)));
    }
}

/// Text of several lines, each without anything that a terminal would obey.
fn sanitised(text: &str) -> String {
    text.lines().map(|it| sanitise(it) + "\n").collect()
}
