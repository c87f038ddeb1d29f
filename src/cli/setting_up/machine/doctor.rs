//! `loop doctor`: what is installed, what is allowed, and what would stop a run.
//! Nothing is started but git and `--version` of the agents that are there.

use super::agents;
use super::findings::{DoctorFinding, bad, good, print_one};
use crate::cli::context::Context;
use crate::cli::hint;
use crate::desk::{
    Caller, NextStep, Refusal, choose_agent, is_unfinished, named, read_workflow, user_config, usual_key,
};
use crate::measure::detect::{detect, proposed_flag};
use crate::tree::git::Git;
use crate::world::agent_output::trim_logs;
use crate::world::wait::now;
use loop_base::text::bytes;
use loop_base::time::Timestamp;
use loop_core::workflow::model::{Agent, Given, Permissions};
use loop_core::workflow::preset::BuiltIn;
use serde_json::json;
use std::path::Path;

pub(crate) fn run(context: &Context) -> anyhow::Result<u8> {
    let project = context.caller.project()?;
    let mut found = vec![home(context), git(&project)];
    found.extend(agents::findings(&context.caller.environment.agents).into_iter().filter(|it| it.good));
    found.extend(configuration(&context.caller, &project));
    found.push(checks(&project));
    found.extend(holds(context)?);
    found.extend(unfinished(context)?);
    found.push(key(context));
    found.push(isolation());
    print(context, &found);
    if !context.json && !context.quiet {
        let stops: Vec<&str> = found.iter().filter(|it| !it.good).map(|it| it.what.as_str()).collect();
        match stops.as_slice() {
            [] => println!("next: loop run \"what to build\""),
            stops => println!("would stop a run: {}", stops.join(", ")),
        }
    }
    Ok(0)
}

fn print(context: &Context, found: &[DoctorFinding]) {
    if context.json {
        let list: Vec<_> = found
            .iter()
            .map(|it| json!({ "what": it.what, "ok": it.good, "says": it.says, "next_step": it.next.as_ref().map(NextStep::first) }))
            .collect();
        println!("{}", serde_json::Value::from(list));
        return;
    }
    found.iter().for_each(print_one);
}

fn home(context: &Context) -> DoctorFinding {
    let path = context.caller.home.display().to_string();
    match context.caller.existing_home() {
        Ok(Some(home)) => match home.faults() {
            Ok(faults) if faults.is_empty() => {
                good("home", format!("{path} ({})", bytes(trim_logs::size(home.path()))))
            }
            Ok(faults) => bad(
                "home",
                format!("{path}: {}", faults.join("; ")),
                NextStep::by_hand("restore a backup, or use another --home"),
            ),
            Err(error) => bad("home", error.to_string(), NextStep::by_hand("use another --home")),
        },
        Ok(None) => good("home", format!("{path} (made by the first run)")),
        Err(error) => bad("home", error.to_string(), NextStep::by_hand("use another --home")),
    }
}

fn git(project: &Path) -> DoctorFinding {
    match Git::around(project) {
        Ok(git) => good("git", format!("working tree {}", git.work_tree().display())),
        Err(error) => bad("git", error.to_string(), "git init"),
    }
}

/// What flags need not say: the person's own configuration and the project's workflow, and which agent
/// they choose with which permissions.
fn configuration(caller: &Caller, project: &Path) -> Vec<DoctorFinding> {
    let environment = &caller.environment;
    let config = environment.config.as_ref().map(|it| it.display().to_string()).unwrap_or_default();
    let mut found = match user_config(environment) {
        Ok(Some(_)) => vec![good("config", config)],
        Ok(None) => vec![good("config", format!("no {config}; the defaults are used"))],
        Err(error) => {
            vec![bad("config", error.to_string(), NextStep::by_hand("make it readable, or move it away"))]
        }
    };
    let file = project.join(".loop/workflow.toml");
    let given =
        Given { preset: (!file.exists()).then(|| BuiltIn::Ralph.name().to_owned()), ..Given::default() };
    match read_workflow(environment, project, &given) {
        Ok(mut workflow) => {
            let says = match file.exists() {
                true => format!("{} ({})", file.display(), workflow.name),
                false => "none; the input decides which preset".to_owned(),
            };
            found.push(good("workflow", says));
            found.push(match choose_agent(&environment.agents, &mut workflow) {
                Ok(()) => good("agent", allowed(&workflow.agent)),
                Err(error) => {
                    let next = error.downcast_ref::<Refusal>().and_then(|it| it.next.clone());
                    bad("agent", error.to_string(), next.unwrap_or("loop agents".into()))
                }
            });
        }
        Err(error) => found.push(bad(
            "workflow",
            error.to_string(),
            if file.exists() { "loop check" } else { "loop check --preset ralph" },
        )),
    }
    found
}

fn allowed(agent: &Agent) -> String {
    let permissions = match agent.permissions {
        Permissions::All => "may do everything you may do",
        Permissions::Edit => "may edit files in the working tree",
        Permissions::Agent => "what its own settings allow",
    };
    format!("a run calls {}, which {permissions}", agent.cli)
}

fn holds(context: &Context) -> anyhow::Result<Vec<DoctorFinding>> {
    let Ok(Some(home)) = context.caller.existing_home() else { return Ok(Vec::new()) };
    let held = home.holds()?.into_iter().filter(|it| now().0 < it.until);
    let found = held.map(|it| {
        let says = format!("{} refuses calls until {}: {}", it.account, Timestamp(it.until), it.reason);
        bad("hold", says, format!("loop limits --clear {}", it.account))
    });
    Ok(found.collect())
}

fn unfinished(context: &Context) -> anyhow::Result<Vec<DoctorFinding>> {
    let Ok(Some(home)) = context.caller.existing_home() else { return Ok(Vec::new()) };
    let runs = context.caller.runs_of_project(&home)?;
    let open = runs.iter().filter(|it| is_unfinished(it));
    let lines = open.map(|it| match home.holder(&it.id) {
        Some(holder) => {
            bad("run", format!("{} (driven by {holder})", named(it)), ["loop attach", "loop stop"])
        }
        None => good("run", named(it)),
    });
    Ok(lines.collect())
}

fn checks(project: &Path) -> DoctorFinding {
    let found = detect(project);
    if found.is_empty() {
        let says = "none found in this project".to_owned();
        let next = proposed_flag(project).map(|it| hint::pasteable(&format!("loop checks {it}")).into());
        let help = || NextStep::by_hand("loop checks --check tests=\"COMMAND\" tries a command of yours");
        return bad("checks", says, next.unwrap_or_else(help));
    }
    let list: Vec<String> = found.iter().map(|it| format!("{}: {} ({})", it.name, it.run, it.why)).collect();
    good("checks", list.join(", "))
}

/// Agents run as the same user without a sandbox of ours: what they change in our books is found
/// out, not prevented.
fn isolation() -> DoctorFinding {
    let root = if rustix::process::geteuid().is_root() { "; agents run as root" } else { "" };
    good("isolation", format!("none: tampering is detected, not prevented{root}"))
}

/// Says which key would sign an approval, and what it asks for.
fn key(context: &Context) -> DoctorFinding {
    match context.caller.environment.user_home.as_deref().and_then(usual_key) {
        Some((key, Ok(kind))) => good("key", format!("{} is {}", key.display(), kind.words())),
        Some((_, Err(why))) => {
            bad("key", why, NextStep::by_hand("name another one: loop approve GATE --sign KEY"))
        }
        None => good("key", "none in ~/.ssh; only signed gates need one".to_owned()),
    }
}
