//! `loop limits`: the holds of this machine. A provider that says no holds every run that uses the
//! same account until its time is over, or until a person clears it. Also what agents say about plans
//! that are nearly used up, and what was spent today.

use crate::cli::Context;
use crate::desk::{Deed, is_unfinished, leave, load, refuse_agents};
use crate::world::wait::now;
use clap::Args;
use loop_base::text::{counted, sanitise};
use loop_base::time::{Timestamp, length};
use loop_core::engine::Command;
use loop_store::{Filter, Home, PlanUse};
use serde_json::json;

#[derive(Args)]
pub(crate) struct LimitsFlags {
    /// Clear the limit of this account, or of every account of this agent
    #[arg(long, value_name = "ACCOUNT")]
    clear: Option<String>,
}

/// What is said where no provider refuses calls.
const NO_LIMITS: &str = "no provider limits";

pub(crate) fn run(context: &Context, flags: &LimitsFlags) -> anyhow::Result<u8> {
    if flags.clear.is_some() {
        refuse_agents(&context.caller, None, Deed::ClearLimits)?;
    }
    let Some(home) = context.caller.existing_home()? else {
        println!("{}", if context.json { "[]" } else { NO_LIMITS });
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
            (false, _) => "no such limit".to_owned(),
            (true, 0) => "cleared".to_owned(),
            (true, count) => format!("cleared; notified: {}", counted(count, "unfinished run")),
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
    let today = home.spent_on(&now().to_string()[..10])?;
    println!(
        "today: {} with a known cost, {}, ${:.2}",
        counted(today.calls, "call"),
        counted(today.tokens, "token"),
        today.micro_usd as f64 / 1e6
    );
    for plan in &plans {
        println!("{}  {}", sanitise(&plan.account), sanitise(&plan.warning));
    }
    if holds.is_empty() {
        println!("{NO_LIMITS}");
    }
    for hold in holds {
        let until = Timestamp(hold.until);
        let left = length(until.since(now()));
        println!("{}  until {until} ({left} to go): {}", sanitise(&hold.account), sanitise(&hold.reason));
    }
    Ok(0)
}

const DAY_MS: i64 = 86_400_000;

/// The agent that an account belongs to.
fn agent_of(account: &str) -> &str {
    account.split('-').next().unwrap_or(account)
}

/// Every unfinished run that calls this agent may be waiting; each is told. One whose own account is
/// still held continues waiting.
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
