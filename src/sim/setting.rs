//! The words of a story that say how things are before the run begins.

use super::PlayedProof;
use super::teller::Teller;
use super::words::{fraction, millis, number, phase_id};
use loop_core::engine::Landing;
use loop_core::proof::Level;
use loop_core::workflow::model::{Limits, ModeName, Next, Window, WindowThen, Workflow};

/// Takes a line that says how things are before the run begins. Returns whether it was one.
pub(super) fn set(teller: &mut Teller, word: &str, rest: &[&str]) -> Result<bool, String> {
    let workflow = &mut teller.workflow;
    match (word, rest) {
        ("proof", ["finds", line]) => played(teller, PlayedProof::Finds((*line).to_owned())),
        ("proof", [level]) => {
            let all =
                [Level::None, Level::UnchangedGreen, Level::Approved, Level::NewTest, Level::RedToGreen];
            let level = all.into_iter().find(|it| it.word() == *level);
            played(teller, PlayedProof::Proves(level.ok_or("no level of proof is called that")?));
        }
        ("landing", ["collides", why]) => {
            teller.sim.landings.push_back(Landing::Collides { why: vec![(*why).to_owned()] });
        }
        ("landing", ["waits", why]) => {
            teller.sim.landings.push_back(Landing::Waits { why: (*why).to_owned() });
        }
        ("criteria", [count]) => teller.opening.criteria = Some(number(count)?),
        ("unverified", []) => teller.opening.unverified = true,
        ("baseline", ["tests", tests]) => teller.sim.baseline = Some(fraction(tests)?),
        ("check", [name, "absent"]) => drop(teller.sim.absent.insert((*name).to_owned())),
        ("from", [phase]) => teller.from = Some((*phase).to_owned()),
        ("before", ["iterations", count]) => teller.opening.beginning.iterations = number(count)?,
        ("before", ["failures", count]) => teller.opening.beginning.failed_in_a_row = number(count)?,
        ("before", ["done", items @ ..]) => {
            teller.opening.beginning.done.extend(items.iter().map(|it| (*it).to_owned()));
        }
        ("off", [phase, why]) => {
            let off = phase_id(workflow, phase)?;
            let led = workflow.phases.iter_mut().filter(|it| it.next == Next::Phase(off));
            led.for_each(|it| it.next = Next::Done);
            let name = workflow.phases[off].name.clone();
            teller.opening.beginning.off.push((name, (*why).to_owned()));
        }
        ("mode", [mode, gates @ ..]) => {
            let mode = ModeName::from(*mode);
            workflow.mode = Some(mode.clone());
            if !gates.is_empty() {
                let named = gates.iter().filter(|it| **it != "none").map(|it| (*it).to_owned());
                workflow.modes.insert(mode, named.collect());
            }
        }
        ("required", [gate]) => {
            workflow.gates.get_mut(*gate).ok_or(format!("no gate \"{gate}\""))?.required = true;
        }
        ("model", [model]) => workflow.agent.model = Some((*model).to_owned()),
        ("profile", [name]) => workflow.models.profile = Some((*name).to_owned()),
        ("halts-on-edit", []) => workflow.input.halt_on_edit = true,
        ("pivots", []) => workflow.phases.iter_mut().for_each(|it| it.breaker.pivot = true),
        ("limit", limit) => set_limit(&mut workflow.limits, limit)?,
        ("deliverable", [skill, file]) => {
            let skill = workflow.skills.entry((*skill).to_owned()).or_default();
            skill.deliverables.push((*file).to_owned());
        }
        ("needs", [skill]) => {
            let skill = workflow.skills.get_mut(*skill).ok_or(format!("no skill \"{skill}\""))?;
            skill.target = None;
        }
        ("retries", [pair]) => {
            let rules = workflow.retries.as_mut().ok_or("the workflow has no [retries]")?;
            match pair.split_once('=') {
                Some(("reset_on_different", value)) => rules.reset_on_different = value == "true",
                Some(("at_most", value)) => rules.at_most = number(value)?,
                Some(("same_error", value)) => rules.same_error = number(value)?,
                Some(("total", value)) => rules.total = number(value)?,
                Some(_) | None => return Err(format!("[retries] has no \"{pair}\"")),
            }
        }
        ("threshold", [which, count]) => set_threshold(workflow, which, number(count)?)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn set_threshold(workflow: &mut Workflow, which: &str, count: u32) -> Result<(), String> {
    for breaker in workflow.phases.iter_mut().map(|it| &mut it.breaker) {
        let threshold = match which {
            "failures" => &mut breaker.failures,
            "no_progress" => &mut breaker.no_progress,
            "same_error" => &mut breaker.same_error,
            other => return Err(format!("a breaker has no threshold \"{other}\"")),
        };
        *threshold = threshold.map(|_| count);
    }
    Ok(())
}

/// A proof needs checks that have a command.
fn played(teller: &mut Teller, proof: PlayedProof) {
    let checks = teller.workflow.checks.values_mut().filter(|it| it.run.is_none());
    checks.for_each(|it| it.run = Some("true".to_owned()));
    teller.sim.proofs.push_back(proof);
}

fn set_limit(limits: &mut Limits, limit: &[&str]) -> Result<(), String> {
    match limit {
        ["iterations", count] => limits.iterations = Some(number(count)?),
        ["phase", count] => limits.phase_iterations = number(count)?,
        ["usd", usd] => limits.usd = Some(dollars(usd)?),
        ["call_usd", usd] => limits.call_usd = Some(dollars(usd)?),
        ["phase_usd", usd] => limits.phase_usd = Some(dollars(usd)?),
        ["tokens", count] => limits.tokens = Some(number(count)?),
        ["time", time] => limits.time = Some(millis(time)?),
        ["window", calls, then] => {
            let then = match *then {
                "ask" => WindowThen::Ask,
                "wait" => WindowThen::Wait,
                "pause" => WindowThen::Pause,
                "abort" => WindowThen::Abort,
                other => return Err(format!("a window cannot {other}; one of: ask, wait, pause, abort")),
            };
            limits.window = Some(Window { calls: number(calls)?, every: 3_600_000, then });
        }
        other => return Err(format!("no limit is called: {}", other.join(" "))),
    }
    Ok(())
}

fn dollars(usd: &str) -> Result<f64, String> {
    usd.parse().map_err(|_| format!("\"{usd}\" is no amount"))
}
