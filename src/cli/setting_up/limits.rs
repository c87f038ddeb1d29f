//! `loop limits`: the holds of this machine. A provider that says no holds every run that uses the
//! same account until its time is over, or until a person clears it. Also what agents say about plans
//! that are nearly used up, and what was spent today.

use crate::cli::Context;
use crate::cli::looking::cost::spend_words;
use crate::desk::{Deed, is_unfinished, leave, load, refuse_agents};
use crate::world::wait::now;
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_base::time::{Timestamp, length};
use loop_core::engine::Command;
use loop_store::{Filter, Home, PlanUse, local_day};
use serde_json::json;

#[derive(Args)]
pub(crate) struct LimitsFlags {
    /// Clear the hold of this account, or of every account of this agent
    #[arg(long, value_name = "ACCOUNT")]
    clear: Option<String>,
}

pub(crate) fn run(context: &Context, flags: &LimitsFlags) -> anyhow::Result<u8> {
    if flags.clear.is_some() {
        refuse_agents(&context.caller, None, Deed::ClearLimits)?;
    }
    let Some(home) = context.caller.existing_home()? else {
        println!("{}", if context.json { "[]" } else { "no holds" });
        return Ok(0);
    };
    if let Some(account) = &flags.clear {
        let mut cleared = false;
        for hold in
            home.holds()?.iter().filter(|it| it.account == *account || agent_of(&it.account) == account)
        {
            cleared |= home.clear_hold(&hold.account)?;
        }
        let waiting = if cleared { tell_runs(&home, account)? } else { 0 };
        let text = match (cleared, waiting) {
            (false, _) => "there is no such hold".to_owned(),
            (true, 0) => "cleared".to_owned(),
            (true, count) => format!("cleared; told: {}", counted(count, "unfinished run")),
        };
        println!("{}: {text}", sanitise(account));
        return Ok(0);
    }
    let holds: Vec<_> = home.holds()?.into_iter().filter(|it| now().0 < it.until).collect();
    // What was said about a window that is over, or a day ago, is no news.
    let is_news = |it: &PlanUse| now().0 < it.until.unwrap_or(it.at + DAY_MS);
    let plans: Vec<PlanUse> = home.plans()?.into_iter().filter(is_news).collect();
    if context.json {
        let list: Vec<_> = holds
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
            .collect();
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
    if holds.is_empty() {
        println!("no holds");
    }
    for hold in holds {
        let until = Timestamp(hold.until);
        let left = length(until.since(now()));
        println!("{}  until {until} ({left} left): {}", sanitise(&hold.account), sanitise(&hold.reason));
    }
    Ok(0)
}

const DAY_MS: i64 = 86_400_000;

/// The agent that an account belongs to.
fn agent_of(account: &str) -> &str {
    account.split('-').next().unwrap_or(account)
}

/// Every unfinished run that calls this agent may be waiting; each is told. One whose own account is
/// still held goes on waiting.
fn tell_runs(home: &Home, account: &str) -> anyhow::Result<usize> {
    let mut told = 0;
    for row in home.runs(&Filter::default())?.iter().filter(|it| is_unfinished(it)) {
        let (workflow, _) = load(home, row)?;
        if workflow.agent.cli == agent_of(account) {
            leave(home, row, &Command::Unhold)?;
            told += 1;
        }
    }
    Ok(told)
}
