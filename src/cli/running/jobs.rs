//! `loop run --jobs N`: several systems of the queue at once. A line for each thing that matters, with the
//! system that it is about, and at the end how every system stands.

use super::flags::{OnQuestion, RunFlags};
use crate::cli::context::Context;
use crate::cli::terminal::{columns, rows};
use crate::cli::{hint, json};
use crate::desk::{self, CarriedOutBy, NextStep, Reach, Refusal};
use crate::pool::{self, PoolEnd, PoolNews, PoolRequest, SystemEnd};
use loop_base::text::{counted, sanitise};
use loop_core::engine::Status;
use serde_json::{Value, json};
use std::io::IsTerminal;

pub(crate) fn run(context: &Context, flags: &RunFlags, jobs: u32, reach: Reach) -> anyhow::Result<u8> {
    refuse_others(flags, reach)?;
    if flags.dry_run {
        return preview(context, flags, jobs);
    }
    let request = PoolRequest {
        run: flags.request(CarriedOutBy::Us),
        jobs: jobs as usize,
        waits_for_people: flags.on_question == Some(OnQuestion::Wait),
    };
    let end = pool::run(&context.caller, &request, &mut |news| tell(context, &news))?;
    show(context, &end);
    Ok(end.exit)
}

/// Flags that are about one run.
fn refuse_others(flags: &RunFlags, reach: Reach) -> anyhow::Result<()> {
    let refused = |text: &str, words: &str| Err(Refusal::usage(text, NextStep::by_hand(words)));
    if reach == Reach::OneCall {
        return refused("loop next makes one call and takes no --jobs", "use loop run --jobs");
    }
    if let Some(input) = &flags.input {
        let text = format!("--jobs builds every system of the queue, not only {input}");
        return Err(Refusal::usage(text, NextStep::by_hand("leave --jobs out to build one system")));
    }
    if flags.detach {
        let words = "the runs have no terminal already; start it with nohup, or in tmux";
        return refused("--jobs stays in front and takes no --detach", words);
    }
    if flags.fresh || flags.reset || flags.reload {
        let words = "do it for one system: loop run ID --fresh, --reset or --reload";
        return refused("--jobs takes no --fresh, --reset or --reload", words);
    }
    Ok(())
}

/// Says what would be begun first.
fn preview(context: &Context, flags: &RunFlags, jobs: u32) -> anyhow::Result<u8> {
    let ready = desk::startable(&context.caller, flags.domain.as_deref())?;
    let names: Vec<&str> = ready.iter().take(jobs as usize).map(|it| it.id.as_str()).collect();
    let text =
        if names.is_empty() { "begin nothing".to_owned() } else { format!("begin {}", names.join(", ")) };
    println!("next decision: {text}");
    Ok(0)
}

fn tell(context: &Context, news: &PoolNews) {
    let (system, line) = match news {
        PoolNews::Pool(line) => (None, line),
        PoolNews::System { is_detail: true, .. } if !context.verbose => return,
        PoolNews::System { id, line, .. } => (Some(id), line),
    };
    if context.json {
        println!("{}", json::line(&json!({ "system": system, "line": line })));
    } else if !context.quiet {
        let text = system.map_or(line.clone(), |it| format!("{it}: {line}"));
        // The rest of a question or a reason is in `loop status`.
        say(text.lines().next().unwrap_or_default());
    }
}

fn say(text: &str) {
    let text = sanitise(text);
    match columns().filter(|_| std::io::stderr().is_terminal()) {
        Some(width) => rows(&text, width).iter().for_each(|it| eprintln!("{it}")),
        None => eprintln!("{text}"),
    }
}

fn show(context: &Context, end: &PoolEnd) {
    let (verdict, reason) = verdict(end);
    let open = end.systems.iter().find(|it| it.next.is_some());
    let next = match (open, end.signal, &end.capped) {
        (_, Some(_), _) | (_, _, Some(_)) => hint::again(),
        (Some(it), ..) => hint::pasteable(it.next.as_deref().unwrap_or_default()),
        (None, None, None) => hint::pasteable("loop queue list"),
    };
    if context.json {
        let systems: Vec<Value> = end.systems.iter().map(object).collect();
        let object = json!({
            "status": verdict, "reason": reason, "next_step": next, "exit": end.exit, "systems": systems,
        });
        println!("{}", json::line(&object));
        return;
    }
    for it in end.systems.iter().filter(|it| !context.quiet || it.next.is_some()) {
        let was_built_here = it.is_done && it.run.is_some();
        let unverified = if was_built_here && !it.verified { ", unverified" } else { "" };
        let reason = it.reason.lines().next().unwrap_or_default();
        let reason =
            if reason.is_empty() || reason == it.status { String::new() } else { format!(": {reason}") };
        say(&format!("{}  {}{unverified}{reason}", it.id, it.status));
    }
    say(&format!("{verdict}: {reason}"));
    say(&format!("next: {next}"));
}

/// The outcome in a word, and why.
fn verdict(end: &PoolEnd) -> (&'static str, String) {
    let done = end.systems.iter().filter(|it| it.is_done).count();
    let reason = format!("{done} of {} complete", counted(end.systems.len(), "system"));
    let reason = match &end.capped {
        Some(which) => format!("{reason}; cap reached: {which}"),
        None => reason,
    };
    let statuses = [Status::Halted, Status::Waiting, Status::Capped, Status::Completed];
    let status = match end.signal {
        Some(_) => Status::Paused,
        None => statuses.into_iter().find(|it| it.exit() == end.exit).unwrap_or(Status::Stopped),
    };
    (status.word(), reason)
}

fn object(it: &SystemEnd) -> Value {
    json!({
        "id": it.id, "run": it.run, "status": it.status, "verified": it.verified, "reason": it.reason,
        "next_step": it.next.as_deref().map(hint::pasteable),
    })
}
