//! `loop limits`: the holds of this machine. A provider that says no holds every run that uses the
//! same account until its time is over, or until a person clears it. Also what agents say about plans
//! that are nearly used up, and what was spent today.

use crate::cli::Context;
use crate::cli::context::show;
use crate::cli::hint;
use crate::cli::looking::views::cost::spend_words;
use crate::desk::{GuardedCommand, Refusal, is_unfinished, leave, load, refuse_agents, untaken};
use crate::world::wait::now;
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_base::time::{Timestamp, length};
use loop_core::agent_table::{AgentRow, COMMAND};
use loop_core::engine::{Command, Wait};
use loop_store::run::account_of;
use loop_store::{AccountHold, Filter, Home, PlanUse, SlotUse, local_day};
use serde_json::json;
use std::collections::BTreeSet;

#[derive(Args)]
pub(crate) struct LimitsFlags {
    /// End the waits of this account, of every account of this agent, or of all, and try again now
    #[arg(long, value_name = "ACCOUNT", num_args = 0..=1, default_missing_value = EVERY)]
    clear: Option<String>,
}

/// What is said where no provider refuses calls.
const NO_LIMITS: &str = "no provider limits";

pub(crate) fn run(context: &Context, flags: &LimitsFlags) -> anyhow::Result<u8> {
    if flags.clear.is_some() {
        refuse_agents(&context.caller, None, GuardedCommand::ClearLimits)?;
    }
    let Some(home) = context.caller.existing_home()? else {
        println!("{}", if context.json { "[]" } else { NO_LIMITS });
        return Ok(0);
    };
    if let Some(account) = &flags.clear {
        return clear(context, &home, account);
    }
    let holds: Vec<_> = home.holds()?.into_iter().filter(|it| now().0 < it.until).collect();
    // What was said about a window that is over, or a day ago, is no news.
    let is_news = |it: &PlanUse| now().0 < it.until.unwrap_or(it.at + DAY_MS);
    let plans: Vec<PlanUse> = home.plans()?.into_iter().filter(is_news).collect();
    let waits = waits(&home)?;
    let slots = home.slots()?;
    if context.json {
        let list = objects(&holds, &plans, &waits, &slots);
        println!("{}", serde_json::Value::from(list));
        return Ok(0);
    }
    let day = local_day(now());
    println!("today: {}", spend_words(&home.spent_on(&day, None)?));
    let project = context.caller.project()?;
    let here = home.spent_on(&day, Some(&project.to_string_lossy()))?;
    println!("  this project: {}", spend_words(&here));
    for plan in &plans {
        println!("{}  {}", sanitise(&plan.account), sanitise(&plan.warning));
    }
    if holds.is_empty() && waits.is_empty() {
        println!("{NO_LIMITS}");
    }
    print_slots(&slots);
    holds.iter().for_each(print_hold);
    waits.iter().for_each(print_wait);
    if !waits.is_empty() {
        println!("{}", hint::next("loop limits --clear"));
    }
    Ok(0)
}

/// One object for each hold, warning, wait and slot.
fn objects(
    holds: &[AccountHold],
    plans: &[PlanUse],
    waits: &[RunWait],
    slots: &[SlotUse],
) -> Vec<serde_json::Value> {
    holds
        .iter()
        .map(|it| {
            let until = Timestamp(it.until);
            let seconds_left = until.since(now()) / 1000;
            json!({
                "agent": it.account, "until": until.to_string(), "seconds_left": seconds_left,
                "reason": it.reason, "warning": null,
            })
        })
        .chain(plans.iter().map(|it| {
            let until = it.until.map(|it| Timestamp(it).to_string());
            json!({ "agent": it.account, "until": until, "reason": null, "warning": it.warning })
        }))
        .chain(waits.iter().map(|it| {
            json!({
                "run": it.run, "project": it.project, "until": it.until.to_string(),
                "seconds_left": it.until.since(now()) / 1000, "reason": it.why, "warning": null,
            })
        }))
        .chain(slots.iter().map(|it| {
            let since = Timestamp(it.since).to_string();
            json!({ "agent": it.account, "run": it.run, "slot": slot_word(it), "call": it.call, "since": since })
        }))
        .collect()
}

fn print_hold(hold: &AccountHold) {
    let until = Timestamp(hold.until);
    let left = length(until.since(now()));
    let (account, reason) = (sanitise(&hold.account), sanitise(&hold.reason));
    show(&format!("{account}  until {until} ({left} left): {reason}"));
}

fn print_wait(wait: &RunWait) {
    let left = length(wait.until.since(now()));
    let (project, why) = (sanitise(&wait.project), sanitise(&wait.why));
    show(&format!("run {}  {project}  waiting until {} ({left} left): {why}", &wait.run[..8], wait.until));
}

/// Who has slots of an account, and who stands in line for one.
fn print_slots(slots: &[SlotUse]) {
    for slot in slots {
        let run = slot.run.get(..8).unwrap_or(&slot.run);
        let what = match slot.call {
            Some(call) => format!("call {call} of run {run} is under way"),
            None => format!("run {run} waits for a call to end"),
        };
        println!("{}  {what}, since {}", sanitise(&slot.account), Timestamp(slot.since));
    }
}

fn slot_word(slot: &SlotUse) -> &'static str {
    if slot.call.is_some() { "used" } else { "waits" }
}

const DAY_MS: i64 = 86_400_000;

/// What `--clear` alone stands for; no account is called so.
const EVERY: &str = "*";

/// What a run waits for.
struct RunWait {
    run: String,
    project: String,
    until: Timestamp,
    why: String,
}

/// Returns what every unfinished run of this home waits for.
fn waits(home: &Home) -> anyhow::Result<Vec<RunWait>> {
    let mut waits = Vec::new();
    for row in home.runs(&Filter::default())?.iter().filter(|it| is_unfinished(it)) {
        let (_, state) = load(home, row)?;
        // One that was told to ask again does so as soon as it continues.
        if untaken(home, &row.id)?.ends_wait() {
            continue;
        }
        if let Some(wait) = state.wait.filter(|it| now() < it.until && it.wait.has_end()) {
            let (run, project) = (row.id.clone(), row.project.clone());
            waits.push(RunWait { run, project, until: wait.until, why: wait.why });
        }
    }
    Ok(waits)
}

fn clear(context: &Context, home: &Home, account: &str) -> anyhow::Result<u8> {
    if account != EVERY {
        refuse_unknown(context, home, account)?;
    }
    let mut cleared = 0_usize;
    for hold in home.holds()?.iter().filter(|it| is_meant(account, &it.account)) {
        cleared += usize::from(home.clear_hold(&hold.account)?);
    }
    let told = tell_runs(home, account)?;
    let what = if account == EVERY { "all accounts".to_owned() } else { sanitise(account) };
    let text = match (cleared, told) {
        (0, 0) => "no limit in force, and no run waits".to_owned(),
        (_, 0) => "cleared".to_owned(),
        (_, count) => format!("cleared; {} will ask again", counted(count, "unfinished run")),
    };
    println!("{what}: {text}");
    Ok(0)
}

/// Whether this account is the one that was named, or one of the agent that was named.
fn is_meant(named: &str, account: &str) -> bool {
    named == EVERY || account == named || agent_of(account) == named
}

/// The agent that an account belongs to. What tells its accounts apart stands behind its name.
fn agent_of(account: &str) -> &str {
    let is_of_a_program = account.split_once('-').is_some_and(|it| it.0 == COMMAND.name);
    match account.rsplit_once('-') {
        _ if is_of_a_program => COMMAND.name,
        Some((agent, digits)) if digits.len() == 6 && digits.bytes().all(|it| it.is_ascii_hexdigit()) => {
            agent
        }
        Some(_) | None => account,
    }
}

/// A name with a mistake in it must not look as if something had been cleared.
fn refuse_unknown(context: &Context, home: &Home, account: &str) -> anyhow::Result<()> {
    let mut known: BTreeSet<String> = home.holds()?.into_iter().map(|it| it.account).collect();
    known.extend(home.plans()?.into_iter().map(|it| it.account));
    known.extend(home.slots()?.into_iter().map(|it| it.account));
    for row in home.runs(&Filter::default())?.iter().filter(|it| is_unfinished(it)) {
        known.insert(account_of(&load(home, row)?.0, &row.project));
    }
    if context.caller.environment.agents.names().any(|it| it == account)
        || known.iter().any(|it| is_meant(account, it))
    {
        return Ok(());
    }
    let list = match known.is_empty() {
        true => "no account is in use".to_owned(),
        false => format!("in use: {}", known.iter().map(|it| sanitise(it)).collect::<Vec<_>>().join(", ")),
    };
    Err(Refusal::usage(format!("no account is called \"{}\"; {list}", sanitise(account)), "loop limits"))
}

/// Every unfinished run that calls this account may be waiting; each is told. One whose own account is
/// still held continues waiting.
fn tell_runs(home: &Home, account: &str) -> anyhow::Result<usize> {
    let mut told = 0;
    for row in home.runs(&Filter::default())?.iter().filter(|it| is_unfinished(it)) {
        let (workflow, state) = load(home, row)?;
        let is_program = workflow.agent.cli.row().is_some_and(AgentRow::is_any_program);
        // The key that a run was given may be set elsewhere only; a program's account depends on none.
        let is_asked = match is_program {
            true => is_meant(account, &account_of(&workflow, &row.project)),
            false => account == EVERY || workflow.agent.cli.name() == agent_of(account),
        };
        // One that waits for calls of its own window is not waiting for a provider.
        if is_asked && state.wait.is_some_and(|it| !matches!(it.wait, Wait::Window | Wait::Slot)) {
            leave(home, row, &Command::Unhold)?;
            told += 1;
        }
    }
    Ok(told)
}
