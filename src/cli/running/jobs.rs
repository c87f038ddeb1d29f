//! `loop run --jobs N`: several systems of the queue at once. A line for each thing that matters, with the
//! system that it is about, and at the end how every system stands.

use super::flags::{OnQuestion, RunFlags};
use crate::cli::context::Context;
use crate::cli::terminal::PoolScreen;
use crate::cli::{hint, json};
use crate::desk::{self, CarriedOutBy, NextStep, Reach, Refusal};
use crate::pool::{Pool, PoolEnd, PoolNews, PoolRequest, SystemEnd};
use loop_base::text::{counted, sanitise};
use loop_core::engine::Status;
use loop_store::DETACHED_POOL;
use loop_supervise::detached::{self, Started};
use serde_json::{Value, json};
use std::ffi::OsString;

pub(crate) fn run(context: &Context, flags: &RunFlags, jobs: u32, reach: Reach) -> anyhow::Result<u8> {
    refuse_others(flags, reach)?;
    if flags.dry_run {
        return preview(context, flags, jobs);
    }
    if flags.detach {
        return detach(context, flags, jobs);
    }
    // Nobody sits in front of a pool without a terminal, so it waits for answers as a run does.
    let waits_for_people = match flags.on_question {
        Some(OnQuestion::Wait) => true,
        Some(OnQuestion::Ask | OnQuestion::Exit) => false,
        None => flags.pool_without_terminal,
    };
    if flags.pool_without_terminal {
        detached::leave_session();
    }
    let request = PoolRequest { run: flags.request(CarriedOutBy::Us), jobs: jobs as usize, waits_for_people };
    let pool = Pool::take(&context.caller, &request)?;
    if flags.pool_without_terminal {
        let _of_an_earlier_one = std::fs::remove_file(pool.log());
        detached::let_go(&pool.log())?;
    }
    let screen = PoolScreen::new(!context.json && !context.quiet);
    let end = pool.run(&mut |news| tell(context, &screen, news));
    screen.close();
    let end = end?;
    show(context, &end);
    Ok(end.exit)
}

/// Starts the same command without this terminal, and says how to find it.
fn detach(context: &Context, flags: &RunFlags, jobs: u32) -> anyhow::Result<u8> {
    let words = std::env::args_os().skip(1).filter(|it| it != "--detach");
    let words: Vec<OsString> = words.chain([DETACHED_POOL.into()]).collect();
    match detached::start(&words)? {
        Started::Owns(pid) if context.json => {
            let object = json!({ "pid": pid, "jobs": jobs, "next_step": hint::pasteable("loop status") });
            println!("{}", json::line(&object));
            Ok(0)
        }
        Started::Owns(pid) => {
            println!("building the queue in the background, {jobs} at once, pid {pid}");
            println!("to pause it: kill -INT {pid}");
            let log = desk::pool_log(&context.caller, flags.domain.as_deref())?;
            println!("messages: {}", sanitise(&log.display().to_string()));
            println!("{}", hint::next("loop status"));
            Ok(0)
        }
        Started::Failed { out, err, exit } => {
            print!("{out}");
            eprint!("{err}");
            Ok(exit)
        }
    }
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
        if names.is_empty() { "start nothing".to_owned() } else { format!("begin {}", names.join(", ")) };
    println!("next decision: {text}");
    Ok(0)
}

fn tell(context: &Context, screen: &PoolScreen, news: PoolNews) {
    let (system, line) = match news {
        PoolNews::Now { systems, total } => return screen.show(systems, total),
        PoolNews::Pool(line) => (None, line),
        PoolNews::System { is_detail: true, .. } if !context.verbose => return,
        PoolNews::System { id, line, .. } => (Some(id), line),
    };
    if context.json {
        println!("{}", json::line(&json!({ "system": system, "line": line })));
    } else if !context.quiet {
        let text = system.map_or(line.clone(), |it| format!("{it}: {line}"));
        // The rest of a question or a reason is in `loop status`.
        screen.line(&in_a_line(&text));
    }
}

/// The first line of a text, with the second where the first only announces it.
fn in_a_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(second) if first.ends_with(':') => format!("{first} {}", second.trim()),
        Some(_) | None => first.to_owned(),
    }
}

fn show(context: &Context, end: &PoolEnd) {
    let say = |text: &str| PoolScreen::Plain.line(text);
    let (verdict, reason) = verdict(end);
    let open = end.systems.iter().find(|it| it.next.is_some());
    // A pool continues all that stopped; a command for one run does not.
    let are_stopped =
        end.exit == Status::Stopped.exit() && 1 < end.systems.iter().filter(|it| it.next.is_some()).count();
    let next = match (open.and_then(|it| it.next.clone()), end.signal, &end.capped) {
        _ if end.exit == 0 => NextStep::from(hint::pasteable("loop queue list")),
        (_, Some(_), _) | (_, _, Some(_)) => hint::again().into(),
        _ if are_stopped => hint::again().into(),
        (Some(step), ..) => hint::pasteable_step(step),
        (None, None, None) => hint::pasteable("loop queue list").into(),
    };
    if context.json {
        let systems: Vec<Value> = end.systems.iter().map(object).collect();
        let object = json!({
            "status": verdict, "reason": reason, "next_step": next.command(), "help": next.words(),
            "exit": end.exit, "systems": systems,
        });
        println!("{}", json::line(&object));
        return;
    }
    for it in end.systems.iter().filter(|it| !context.quiet || it.next.is_some()) {
        let was_built_here = it.is_done && it.run.is_some();
        let unverified = if was_built_here && !it.verified { ", unverified" } else { "" };
        let reason = in_a_line(&it.reason);
        let reason =
            if reason.is_empty() || reason == it.status { String::new() } else { format!(": {reason}") };
        say(&format!("{}  {}{unverified}{reason}", it.id, it.status));
    }
    say(&format!("{verdict}: {reason}"));
    next.lines().iter().for_each(|it| say(it));
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
        "next_step": it.next.as_ref().and_then(NextStep::command).map(hint::pasteable),
        "help": it.next.as_ref().and_then(NextStep::words),
    })
}
