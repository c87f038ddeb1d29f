//! `loop show`: an iteration with its prompt, output, checks and changes, or the whole run.

use super::log::nothing;
use super::{plan_view, report};
use crate::cli::Context;
use crate::desk::{Refusal, load};
use crate::tree::git::Git;
use crate::world::trim_logs;
use clap::Args;
use loop_base::text::{bytes, counted, sanitise};
use loop_core::engine::{Call, Effect, Event, Evidence, State};
use loop_core::event_line::line;
use loop_store::{Home, Row};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

#[derive(Args)]
pub(crate) struct ShowFlags {
    /// The iteration, by the number of its call as `loop log` has it (default: the whole run as a report)
    #[arg(value_name = "N")]
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
    /// What changed in the working tree from before the call to after it
    #[arg(long)]
    diff: bool,
    /// What the run was asked for, row by row, and what shows that it is there
    #[arg(long)]
    requirements: bool,
}

pub(crate) fn run(context: &Context, flags: &ShowFlags) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    let (workflow, state) = load(&home, &row)?;
    if flags.requirements {
        if context.json {
            println!(
                "{}",
                crate::cli::json::pretty(
                    &json!({ "run": row.id, "requirements": plan_view::requirements_json(&state) })
                )
            );
        } else {
            match plan_view::requirements_table(&state) {
                Some(table) => print!("{}", sanitise(&table)),
                None => println!("run {} has no table of requirements", &row.id[..8]),
            }
        }
        return Ok(0);
    }
    let Some(number) = flags.call else {
        if flags.diff
            && let Some(text) = question_diff(Path::new(&row.place), &state)?
        {
            section(false, "diff", &text);
            return Ok(0);
        }
        if flags.prompt || flags.output || flags.checks || flags.diff {
            return Err(Refusal::usage(
                "which call?",
                format!("loop show {} --prompt", state.calls_total.max(1)),
            ));
        }
        let text = report::whole(&home, &row.id, Path::new(&row.place), &workflow, &state);
        if context.json {
            println!("{}", crate::cli::json::pretty(&json!({ "run": row.id, "report": text })));
        } else {
            print!("{}", sanitise(&text));
        }
        return Ok(0);
    };
    let Some(told) = find(&home, &row, number)? else {
        let text = format!("run {} has no call {number}", &row.id[..8]);
        let next = match state.calls_total {
            0 => "no call has been made yet".to_owned(),
            most => format!("calls are numbered 1 to {most}"),
        };
        return Err(Refusal::usage(text, next));
    };
    let folder = home.folder(&row.id);
    let read = |name: &str| text(&folder.join(name));
    let stem = told.call.stem();
    let results = || told.evidence.iter().flat_map(|it| &it.results);
    if context.json {
        let checks: Vec<_> = results()
            .map(|it| json!({ "result": it, "log": if it.log.is_empty() { String::new() } else { read(&it.log) } }))
            .collect();
        let object = json!({
            "run": row.id, "call": number, "phase": workflow.phases[told.call.phase].name,
            "iteration": told.call.iteration, "events": told.events, "prompt": prompt(&folder, &stem),
            "output": read(&format!("{stem}.out")), "stderr": read(&format!("{stem}.err")), "checks": checks,
            "tree_before": told.before, "tree_after": told.evidence.as_ref().map(|it| &it.facts.tree),
        });
        println!("{}", crate::cli::json::pretty(&object));
        return Ok(0);
    }
    let all = !(flags.prompt || flags.output || flags.checks || flags.diff);
    if all {
        for event in &told.events {
            if let Some(text) = line(&workflow, event) {
                println!("{}", sanitise(&text));
            }
        }
    }
    let gone =
        trim_logs::gone(&folder).filter(|_| !folder.join(format!("{}.out", told.call.stem())).exists());
    if let Some(gone) = gone {
        println!(
            "the files of this call were removed to bound the run's folder, with those of {} in all ({}); the \
             journal keeps what it came to",
            counted(gone.calls, "call"),
            bytes(gone.bytes)
        );
    }
    if flags.prompt || all {
        section(all, "prompt", &prompt(&folder, &stem));
    }
    if flags.output || all {
        section(all, "output", &read(&format!("{stem}.out")));
        let complaints = read(&format!("{stem}.err"));
        if !complaints.is_empty() {
            section(true, "standard error", &complaints);
        }
    }
    if flags.checks || all {
        for result in results().filter(|it| !it.log.is_empty()) {
            section(true, &format!("check {}", result.name), &read(&result.log));
        }
        if flags.checks && results().next().is_none() {
            eprintln!("no check was run for call {number}");
        }
    }
    if flags.diff {
        section(false, "diff", &diff(Path::new(&row.place), &told)?);
    }
    Ok(0)
}

/// Returns what changed since the opening in the files that the findings of the proof name; in all
/// files where none names any.
fn question_diff(place: &Path, state: &State) -> anyhow::Result<Option<String>> {
    let Some(proof) = state.proof().filter(|it| !it.findings.is_empty()) else { return Ok(None) };
    let Some(baseline) = &state.baseline else { return Ok(None) };
    let files: BTreeSet<&str> = proof.findings.iter().filter_map(|it| it.file.as_deref()).collect();
    let git = Git::open(place)?.without_repository_drivers()?;
    let mut words = vec!["--literal-pathspecs", "diff", "--no-ext-diff", "--no-textconv", "--no-color"];
    words.extend([baseline.facts.tree.as_str(), proof.tree.as_str(), "--"]);
    words.extend(files);
    Ok(Some(String::from_utf8_lossy(&git.run(words)?).into_owned()))
}

/// Returns what changed from the tree before the call to the one that was measured after it. Both are
/// asked for by the hashes that were recorded; nothing is compared with how the files are now.
fn diff(place: &Path, told: &Told) -> anyhow::Result<String> {
    let number = told.call.number;
    let after = told.evidence.as_ref().map(|it| it.facts.tree.as_str()).unwrap_or_default();
    let git = Git::open(place)?.without_repository_drivers()?;
    for (tree, when) in [(told.before.as_str(), "before"), (after, "after")] {
        if tree.is_empty() {
            return Err(Refusal::usage(
                format!("no tree was recorded {when} call {number}; it was not measured"),
                format!("loop show {number} shows how far it came"),
            ));
        }
        if git.run(["cat-file", "-e", &format!("{tree}^{{tree}}")]).is_err() {
            return Err(Refusal::usage(
                format!("the tree {when} call {number} ({tree}) is not in the repository any more"),
                "git deletes what no ref holds after a while; loop restore lists the snapshots that are kept",
            ));
        }
    }
    let words = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", &told.before, after, "--"];
    let text = String::from_utf8_lossy(&git.run(words)?).into_owned();
    Ok(if text.is_empty() { format!("call {number} changed no file") } else { text })
}

struct Told {
    call: Call,
    /// The tree that was there before it; empty where none was recorded.
    before: String,
    events: Vec<Event>,
    evidence: Option<Box<Evidence>>,
}

/// Returns what happened from the beginning of a call to its judgement.
fn find(home: &Home, row: &Row, number: u32) -> anyhow::Result<Option<Told>> {
    let mut told: Option<Told> = None;
    let mut tree = String::new();
    let mut next = 1;
    loop {
        let page = home.events(&row.id, next, 1000)?;
        let Some(last) = page.last() else { return Ok(told) };
        next = last.seq + 1;
        for recorded in &page {
            let event: Event = serde_json::from_str(&recorded.body)?;
            if let Event::Began(Effect::Work(call)) = &event {
                if call.number == number {
                    let before = tree.clone();
                    told = Some(Told { call: call.clone(), before, events: Vec::new(), evidence: None });
                } else if told.is_some() {
                    return Ok(told);
                }
            }
            match &event {
                Event::Baselined(it) => tree.clone_from(&it.facts.tree),
                Event::Measured(it) => tree.clone_from(&it.facts.tree),
                _ => (),
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

fn prompt(folder: &Path, stem: &str) -> String {
    let text = text(&folder.join("prompts.jsonl"));
    let mut prompts = text.lines().filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    let found = prompts.rfind(|it| it["call"] == stem);
    found.and_then(|it| it["prompt"].as_str().map(str::to_owned)).unwrap_or_default()
}

/// What a file of the run holds; an agent may have put something in its place that has no end.
fn text(path: &Path) -> String {
    let mut bytes = Vec::new();
    let _as_far_as_it_goes = loop_base::files::open(path).and_then(|mut it| it.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn section(titled: bool, title: &str, text: &str) {
    if titled {
        println!("\n--- {title} ---");
    }
    println!("{}", sanitise(text).trim_end());
}
