//! Caps that nobody could keep are refused before the first call: a budget that counts nothing is worse than
//! none. What can be kept only between calls is said.

use crate::desk::refusal::{NextStep, Refusal};
use crate::world::price_list::{self, PriceTrouble};
use loop_base::text::counted;
use loop_base::time::length;
use loop_core::agent_table::UsageTold;
use loop_core::engine::dollars;
use loop_core::workflow::model::Workflow;

/// Refuses a cap on money or tokens that the agent gives no figures for. `by_us` says that we start it, and `begun`
/// names the run that has begun, which keeps its own copy of the workflow file.
pub(crate) fn refuse_unkept(workflow: &Workflow, by_us: bool, begun: Option<&str>) -> anyhow::Result<()> {
    let limits = &workflow.limits;
    let prices = price_list::read().map_err(|why| match why {
        PriceTrouble::Wrong(why) => {
            let help = "write it as [models] \"NAME\" = { input = 1.25, output = 10 }, or remove the file";
            let text = format!("the prices of models cannot be read: {why}");
            Refusal::usage(text, NextStep::by_hand(help))
        }
        PriceTrouble::Unread(error) => error.into(),
    })?;
    let row = workflow.agent.cli.row().filter(|_| by_us);
    let told = row.map_or(UsageTold::Never, |it| it.usage.told);
    let who = if by_us { workflow.agent.cli.name() } else { "a session with our hook" };
    let cap = [("usd", limits.usd), ("phase_usd", limits.phase_usd), ("day_usd", limits.day_usd)]
        .into_iter()
        .find_map(|(name, most)| Some((name, most?)));
    if let Some((name, most)) = cap.filter(|_| limits.call_usd.is_none()) {
        let why = match (told, row.is_some_and(|it| it.usage.reports_cost), &workflow.agent.model) {
            (UsageTold::Never, ..) => Some(format!("{who} does not report what a call costs")),
            (_, false, Some(model)) if prices.of(model).is_none() => {
                Some(format!("{who} reports tokens only, and the price of {model} is unknown"))
            }
            _ => None,
        };
        if let Some(why) = why {
            let text = format!("the budget of {} ({name}) cannot be kept: {why}", dollars(most));
            let help = format!(
                "set what a call may cost: call_usd = {} in [limits] of .loop/workflow.toml, or leave the budget out",
                if most < 1.0 { "0.10" } else { "0.50" }
            );
            let help = match begun {
                Some(run) => format!("{help}; then loop resume --reload --run {}", &run[..8]),
                None => help,
            };
            return Err(Refusal::usage(text, NextStep::by_hand(&help)));
        }
    }
    if let Some(most) = limits.tokens.filter(|_| told == UsageTold::Never) {
        let text = format!("the budget of {most} tokens cannot be kept: {who} does not report what it uses");
        return Err(Refusal::usage(text, NextStep::by_hand("limit the run with --time or --max instead")));
    }
    Ok(())
}

/// Returns a sentence where caps are kept between calls only.
pub(crate) fn kept_between_calls(workflow: &Workflow) -> Option<String> {
    let limits = &workflow.limits;
    let row = workflow.agent.cli.row()?;
    let is_capped = limits.usd.or(limits.phase_usd).or(limits.day_usd).or(limits.call_usd).is_some()
        || limits.tokens.is_some();
    let is_late = match row.usage.told {
        UsageTold::AtTheEnd | UsageTold::Never => true,
        UsageTold::WhileWorking | UsageTold::InItsRecord => false,
    };
    let turns = match (limits.call_turns, row.usage.told) {
        (Some(most), UsageTold::AtTheEnd) => format!(" and {}", counted(most, "turn")),
        _ => String::new(),
    };
    (is_capped && is_late).then(|| {
        format!(
            "{} does not report what a call uses while it runs: budgets are checked between calls, and a \
             single call is limited by its timeout of {}{turns}",
            row.name,
            length(workflow.agent.timeout)
        )
    })
}
