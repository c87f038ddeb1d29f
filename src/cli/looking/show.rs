//! `loop show`: an iteration with its prompt, output, checks and changes, or the whole run.

use super::log::nothing;
use super::readable_diff::{readable_diff, with_successors};
use super::views::{cost, plan_view, report};
use crate::cli::context::show;
use crate::cli::{Context, values};
use crate::desk::{Refusal, load};
use crate::measure::checks::run_checks::command_hash;
use crate::tree::git::Git;
use crate::world::agent_output::live_output::{CallProgress, LiveCall};
use crate::world::agent_output::trim_logs;
use clap::Args;
use loop_base::secret::redact;
use loop_base::text::{bytes, counted, sanitise, shell_word};
use loop_core::agents::{self, Detail};
use loop_core::engine::{Call, CheckOutcome, CheckResult, Effect, Ending, Event, Evidence, State};
use loop_core::event_line::line;
use loop_core::workflow::model::Workflow;
use loop_store::{Home, Row};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

#[derive(Args)]
pub(crate) struct ShowFlags {
    /// The call, by its number in `loop log` (default: the whole run as a report)
    #[arg(value_name = "N", value_parser = values::count)]
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
    /// What the call changed in the working tree
    #[arg(long)]
    diff: bool,
    /// Requirements and success criteria, each with its evidence
    #[arg(long)]
    requirements: bool,
}

impl ShowFlags {
    /// Returns the first part of a call that is asked for, where only some are.
    fn named_part(&self) -> Option<&'static str> {
        let parts = [
            (self.prompt, "--prompt"),
            (self.output, "--output"),
            (self.checks, "--checks"),
            (self.diff, "--diff"),
        ];
        parts.into_iter().find(|it| it.0).map(|it| it.1)
    }
}

pub(crate) fn run(context: &Context, flags: &ShowFlags) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    let (workflow, state) = load(&home, &row)?;
    if flags.requirements {
        show_requirements(context, &row, &state);
        return Ok(0);
    }
    let Some(number) = flags.call else {
        if flags.diff
            && let Some(text) = question_diff(Path::new(&row.place), &state)?
        {
            section(false, "diff", &text);
            return Ok(0);
        }
        if let Some(part) = flags.named_part() {
            let next = format!("loop show {} {part}", state.calls_total.max(1));
            return Err(Refusal::usage("which call?", next));
        }
        let text = report::whole(&home, &row.id, Path::new(&row.place), &workflow, &state)?;
        if context.json {
            println!("{}", crate::cli::json::pretty(&json!({ "run": row.id, "report": text })));
        } else {
            print!("{}", sanitise(&text));
        }
        return Ok(0);
    };
    let Some(call) = find(&home, &row, number)? else {
        let text = format!("run {} has no call {number}", &row.id[..8]);
        return Err(match state.calls_total {
            0 => Refusal::usage(format!("{text}; no call has been made yet"), "loop status"),
            most => {
                Refusal::usage(format!("{text}; calls are numbered 1 to {most}"), format!("loop show {most}"))
            }
        });
    };
    let folder = home.folder(&row.id);
    if context.json {
        let object = call_json(&row, &workflow, &folder, &call);
        println!("{}", crate::cli::json::pretty(&object));
        return Ok(0);
    }
    if flags.named_part().is_some() {
        show_parts(flags, &folder, &call, &|name| command_of(&workflow, &state, name));
    } else {
        narrate(&row, &workflow, &folder, &call);
    }
    if flags.diff {
        section(false, "diff", &diff(Path::new(&row.place), &call)?);
    }
    Ok(0)
}

/// Tells a call from its beginning to its judgement, with what the agent did between them.
fn narrate(row: &Row, workflow: &Workflow, folder: &Path, call: &CallRecord) {
    for event in &call.events {
        if let Event::Ended(ended) = event {
            let told = narrative(row, workflow, folder, &call.call);
            told.lines.iter().for_each(|it| show(it));
            cost::call_lines(ended).iter().for_each(|it| show(&format!("  {it}")));
            let complaints = text(&folder.join(format!("{}.err", call.call.stem())));
            if ended.ending != Ending::Done && !complaints.trim().is_empty() {
                let lines: Vec<&str> = complaints.lines().filter(|it| !it.trim().is_empty()).collect();
                let last = lines.len().saturating_sub(COMPLAINTS_SHOWN);
                println!("  standard error:");
                lines[last..].iter().for_each(|it| show(&format!("    {}", sanitise(&redact(it)))));
            }
        }
        if let Some(text) = line(workflow, event) {
            show(&sanitise(&text));
        }
        if let Event::Ended(ended) = event {
            if let Some(model) = &ended.model {
                show(&format!("  model: {}", sanitise(model)));
            }
            if let Some(command) = reopen_command(row, workflow, ended.session.as_deref()) {
                show(&format!("  open this session: {}", sanitise(&command)));
            }
        }
    }
    if !call.events.iter().any(|it| matches!(it, Event::Ended(_))) {
        narrative(row, workflow, folder, &call.call).lines.iter().for_each(|it| show(it));
    }
    show_gone(folder, &call.call.stem());
    let number = call.call.number;
    println!("more: loop show {number} --prompt | --output | --checks | --diff");
}

/// What a program says about its failure stands in its last lines.
const COMPLAINTS_SHOWN: usize = 5;

/// Reads the whole output of a call and tells it.
fn narrative(row: &Row, workflow: &Workflow, folder: &Path, call: &Call) -> CallProgress {
    let Some(agent) = workflow.agent.cli.row() else { return CallProgress::default() };
    let output = folder.join(format!("{}.out", call.stem()));
    let mut live = LiveCall::at(&output, agent, Path::new(&row.place), Detail::Results);
    let mut whole = CallProgress::default();
    loop {
        let more = live.look();
        if more.events.is_empty() {
            break;
        }
        whole.lines.extend(more.lines);
        whole.events.extend(more.events);
        whole.usage = more.usage;
    }
    whole.lines.extend(live.finish().lines);
    whole
}

/// Returns the command that opens the agent's own session of a call again.
fn reopen_command(row: &Row, workflow: &Workflow, session: Option<&str>) -> Option<String> {
    let agent = workflow.agent.cli.row()?;
    let command = agents::reopen(agent, session?)?;
    Some(format!("cd {} && {command}", shell_word(&row.place)))
}

fn show_requirements(context: &Context, row: &Row, state: &State) {
    if context.json {
        let object = json!({ "run": row.id, "requirements": plan_view::requirements_json(state) });
        println!("{}", crate::cli::json::pretty(&object));
        return;
    }
    match plan_view::requirements_table(state) {
        Some(table) => print!("{}", sanitise(&table)),
        None => println!("run {} has no table of requirements", &row.id[..8]),
    }
}

fn call_json(row: &Row, workflow: &Workflow, folder: &Path, call: &CallRecord) -> serde_json::Value {
    let read = |name: &str| text(&folder.join(name));
    let stem = call.call.stem();
    let log = |name: &str| if name.is_empty() { String::new() } else { read(name) };
    let ended = call.events.iter().find_map(|it| match it {
        Event::Ended(ended) => Some(ended),
        _ => None,
    });
    let session = ended.and_then(|it| it.session.as_deref());
    let checks: Vec<_> = call.results().map(|it| json!({ "result": it, "log": log(&it.log) })).collect();
    json!({
        "run": row.id, "call": call.call.number, "phase": workflow.phases[call.call.phase].name,
        "iteration": call.call.iteration, "events": call.events, "prompt": prompt(folder, &stem),
        "narrative": narrative(row, workflow, folder, &call.call).events,
        "session": session, "open_session": reopen_command(row, workflow, session), "model": ended.and_then(|it| it.model.as_deref()),
        "output": read(&format!("{stem}.out")), "stderr": read(&format!("{stem}.err")), "checks": checks,
        "tree_before": call.before, "tree_after": call.evidence.as_ref().map(|it| &it.facts.tree),
    })
}

/// Prints what the files of the run's folder hold of a call.
fn show_parts(flags: &ShowFlags, folder: &Path, call: &CallRecord, command: &dyn Fn(&str) -> String) {
    let read = |name: &str| text(&folder.join(name));
    let stem = call.call.stem();
    show_gone(folder, &stem);
    if flags.prompt {
        section(false, "prompt", &prompt(folder, &stem));
    }
    if flags.output {
        section(false, "output", &read(&format!("{stem}.out")));
        let complaints = read(&format!("{stem}.err"));
        if !complaints.is_empty() {
            section(true, "standard error", &complaints);
        }
    }
    if flags.checks {
        for result in call.results().filter(|it| !it.log.is_empty()) {
            section(
                true,
                &format!("check {}", result.name),
                &check_text(result, &command(&result.name), &read(&result.log)),
            );
        }
        if call.results().next().is_none() {
            eprintln!("no check was run for call {}", call.call.number);
        }
    }
}

/// Returns the command of a check: the workflow's, or the one that was found in the project.
fn command_of(workflow: &Workflow, state: &State, check: &str) -> String {
    let configured = workflow.checks.get(check).and_then(|it| it.run.as_ref());
    configured.or(state.commands.get(check)).cloned().unwrap_or_default()
}

/// A check as a person would have run it: the command if it is still the same, what it printed, and how it
/// ended.
fn check_text(result: &CheckResult, command: &str, log: &str) -> String {
    let log = if log.trim().is_empty() { "(it printed nothing)" } else { log.trim_end() };
    let exit = match (result.exit, &result.outcome) {
        (Some(code), _) => format!("exit code {code}"),
        (None, CheckOutcome::Failed(why)) => why.clone(),
        (None, CheckOutcome::Passed | CheckOutcome::Skipped) => "no exit code".to_owned(),
    };
    let is_same = result.command == command_hash(command);
    let command = if is_same { format!("$ {command}\n") } else { String::new() };
    format!("{command}{log}\n{exit}")
}

fn show_gone(folder: &Path, stem: &str) {
    let gone = trim_logs::gone(folder).filter(|_| !folder.join(format!("{stem}.out")).exists());
    if let Some(gone) = gone {
        println!(
            "the files of this call were removed to limit the size of the run's folder, as were those of {} in \
             all ({}); the journal still has its result",
            counted(gone.calls, "call"),
            bytes(gone.bytes)
        );
    }
}

/// Returns what changed since the opening in the files that the findings of the proof name, with what took the
/// place of those that are gone; in all files where a finding names none.
fn question_diff(place: &Path, state: &State) -> anyhow::Result<Option<String>> {
    let Some(proof) = state.proof().filter(|it| !it.findings.is_empty()) else { return Ok(None) };
    let Some(baseline) = &state.baseline else { return Ok(None) };
    let (from, to) = (baseline.facts.tree.as_str(), proof.tree.as_str());
    let git = Git::open(place)?.without_drivers()?;
    let files: Option<BTreeSet<String>> = proof.findings.iter().map(|it| it.file.clone()).collect();
    let files = match files {
        Some(named) => with_successors(&git, from, to, named)?,
        None => BTreeSet::new(),
    };
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    Ok(Some(readable_diff(&git, from, to, &files)?))
}

/// Returns what changed from the tree before the call to the one that was measured after it. Both are
/// asked for by the hashes that were recorded; nothing is compared with how the files are now.
fn diff(place: &Path, told: &CallRecord) -> anyhow::Result<String> {
    let number = told.call.number;
    let after = told.evidence.as_ref().map(|it| it.facts.tree.as_str()).unwrap_or_default();
    let git = Git::open(place)?.without_drivers()?;
    for (tree, when) in [(told.before.as_str(), "before"), (after, "after")] {
        if tree.is_empty() {
            return Err(Refusal::usage(
                format!("no tree was recorded {when} call {number}; it was not measured"),
                format!("loop show {number}"),
            ));
        }
        if git.run(["cat-file", "-e", &format!("{tree}^{{tree}}")]).is_err() {
            return Err(Refusal::usage(
                format!(
                    "the tree {when} call {number} ({tree}) is not in the repository any more: git deletes objects that no ref points to; \
                     loop restore lists the snapshots"
                ),
                "loop restore",
            ));
        }
    }
    let text = readable_diff(&git, &told.before, after, &[])?;
    Ok(if text.is_empty() { format!("call {number} changed no file") } else { text })
}

/// What the journal has of one call.
struct CallRecord {
    call: Call,
    /// The tree that was there before it; empty where none was recorded.
    before: String,
    events: Vec<Event>,
    evidence: Option<Box<Evidence>>,
}

impl CallRecord {
    fn results(&self) -> impl Iterator<Item = &CheckResult> {
        self.evidence.iter().flat_map(|it| &it.results)
    }
}

/// Returns what happened from the beginning of a call to its judgement.
fn find(home: &Home, row: &Row, number: u32) -> anyhow::Result<Option<CallRecord>> {
    let mut told: Option<CallRecord> = None;
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
                    told =
                        Some(CallRecord { call: call.clone(), before, events: Vec::new(), evidence: None });
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
