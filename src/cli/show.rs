//! `loop show`: an iteration with its prompt, output, checks and changes, or the whole run.

use super::log::none;
use super::{Context, Trouble, report, status};
use crate::engine::{Call, Effect, Event, Evidence};
use crate::line::line;
use crate::store::{Home, Row};
use crate::text::sanitise;
use clap::Args;

#[derive(Args)]
pub(super) struct Flags {
    /// The call's number (default: the whole run as a report)
    call: Option<u32>,
    /// What the agent was asked
    #[arg(long)]
    prompt: bool,
    /// What it printed
    #[arg(long)]
    output: bool,
    /// What the checks printed
    #[arg(long)]
    checks: bool,
}

pub(super) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    let Some(home) = context.existing_home()? else { return none() };
    let Some(row) = context.find(&home)? else { return none() };
    let (workflow, state) = status::load(&home, &row)?;
    let Some(number) = flags.call else {
        print!("{}", sanitise(&report::markdown(&row.id, &workflow, &state)));
        return Ok(0);
    };
    let Some(told) = find(&home, &row, number)? else {
        let text = format!("run {} has no call {number}", &row.id[..8]);
        return Err(Trouble::usage(text, format!("calls are numbered 1 to {}", state.calls_total)));
    };
    let folder = home.folder(&row.id);
    let all = !(flags.prompt || flags.output || flags.checks);
    if all {
        for event in &told.events {
            if let Some(text) = line(&workflow, event) {
                println!("{}", sanitise(&text));
            }
        }
    }
    if flags.prompt || all {
        section(all, "prompt", &prompt(&folder, &told.call.stem()));
    }
    if flags.output || all {
        let text = |ending: &str| {
            std::fs::read(folder.join(format!("{}.{ending}", told.call.stem()))).unwrap_or_default()
        };
        section(all, "output", &String::from_utf8_lossy(&text("out")));
        let complaints = text("err");
        if !complaints.is_empty() {
            section(true, "standard error", &String::from_utf8_lossy(&complaints));
        }
    }
    if flags.checks || all {
        for result in told.evidence.iter().flat_map(|it| &it.results).filter(|it| !it.log.is_empty()) {
            let text = std::fs::read(folder.join(&result.log)).unwrap_or_default();
            section(true, &format!("check {}", result.name), &String::from_utf8_lossy(&text));
        }
    }
    Ok(0)
}

struct Told {
    call: Call,
    events: Vec<Event>,
    evidence: Option<Box<Evidence>>,
}

/// Returns what happened from the beginning of a call to its judgement.
fn find(home: &Home, row: &Row, number: u32) -> anyhow::Result<Option<Told>> {
    let mut told: Option<Told> = None;
    let mut next = 1;
    loop {
        let page = home.events(&row.id, next, 1000)?;
        let Some(last) = page.last() else { return Ok(told) };
        next = last.seq + 1;
        for recorded in &page {
            let event: Event = serde_json::from_str(&recorded.body)?;
            if let Event::Began(Effect::Work(call)) = &event {
                if call.number == number {
                    told = Some(Told { call: call.clone(), events: Vec::new(), evidence: None });
                } else if told.is_some() {
                    return Ok(told);
                }
            }
            if let Some(told) = &mut told {
                if let Event::Measured(evidence) = &event {
                    told.evidence = Some(evidence.clone());
                }
                told.events.push(event);
            }
        }
    }
}

fn prompt(folder: &std::path::Path, stem: &str) -> String {
    let text = std::fs::read_to_string(folder.join("prompts.jsonl")).unwrap_or_default();
    let mut prompts = text.lines().filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    let found = prompts.rfind(|it| it["call"] == stem);
    found.and_then(|it| it["prompt"].as_str().map(str::to_owned)).unwrap_or_default()
}

fn section(titled: bool, title: &str, text: &str) {
    if titled {
        println!("\n--- {title} ---");
    }
    println!("{}", sanitise(text).trim_end());
}
