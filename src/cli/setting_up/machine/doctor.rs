//! `loop doctor`: what is installed, what is allowed, and what would stop a run.
//! Nothing is started but git and `--version` of the agents that are there. With `--fix` it repairs what
//! needs no decision of a person: nothing is lost by it, and nothing of a run changes.

use super::agents;
use super::findings::{DoctorFinding, Fix, bad, fixable, good, print_one};
use crate::cli::context::Context;
use crate::cli::hint;
use crate::cli::setting_up::hook;
use crate::cli::terminal::confirm;
use crate::desk::{
    Caller, GuardedCommand, NO_INPUT_STEP, NextStep, Refusal, choose_agent, is_unfinished, named,
    read_workflow, refuse_agents, uncommitted, user_config, usual_key,
};
use crate::measure::detect::{detect, proposed_flag};
use crate::tree::git::{Git, GitError};
use crate::world::agent_output::trim_logs;
use crate::world::price_list::{self, PriceTrouble};
use crate::world::wait::now;
use anyhow::Context as _;
use clap::Args;
use loop_base::text::{bytes, counted, sanitise, shell_word};
use loop_base::time::Timestamp;
use loop_core::workflow::model::{Agent, Given, Permissions, Workflow};
use loop_core::workflow::preset::BuiltIn;
use loop_store::{Row, fold};
use serde_json::json;
use std::path::Path;

#[derive(Args)]
pub(crate) struct DoctorFlags {
    /// Repair the permissions of loop's own files and a stop hook whose program is gone; offer to create a repository
    #[arg(long)]
    fix: bool,
}

pub(crate) fn run(context: &Context, flags: &DoctorFlags) -> anyhow::Result<u8> {
    let project = context.caller.project()?;
    if flags.fix {
        refuse_agents(&context.caller, None, GuardedCommand::Fix)?;
    }
    let mut found = look(context, &project)?;
    if flags.fix {
        for fix in found.iter().filter_map(|it| it.fix) {
            if !is_wanted(context, &project, fix)? {
                continue;
            }
            let did = repair(context, &project, fix)?;
            eprintln!("fixed: {}", sanitise(&did));
        }
        found = look(context, &project)?;
    }
    print(context, &found);
    if !context.json && !context.quiet {
        let stops: Vec<&str> = found.iter().filter(|it| !it.good).map(|it| it.what.as_str()).collect();
        match stops.as_slice() {
            [] => println!("{}", hint::next("loop run \"what to build\"")),
            stops => println!("a run cannot start until this is repaired: {}", stops.join(", ")),
        }
    }
    Ok(0)
}

fn look(context: &Context, project: &Path) -> anyhow::Result<Vec<DoctorFinding>> {
    let mut found = vec![home(context), git(project)];
    found.extend(agents::findings(&context.caller.environment.agents).into_iter().filter(|it| it.good));
    let (settings, workflow) = configuration(&context.caller, project);
    found.extend(settings);
    found.extend(prices());
    found.extend(workflow.as_ref().and_then(|it| changes(context, project, it)));
    found.push(checks(project, workflow.as_ref()));
    found.extend(stop_hook(project));
    found.extend(holds(context)?);
    found.extend(unfinished(context)?);
    found.push(key(context));
    found.push(isolation());
    Ok(found)
}

/// Whether a repair may be made. A repository turns a folder into something else, so a person decides; where
/// nobody can be asked, it is only proposed.
fn is_wanted(context: &Context, project: &Path, fix: Fix) -> anyhow::Result<bool> {
    match fix {
        Fix::MakeRepository if context.is_interactive() => {
            confirm(&format!("make a git repository in {}?", project.display()))
        }
        Fix::MakeRepository => Ok(false),
        Fix::OwnFiles | Fix::NameThisProgram => Ok(true),
    }
}

/// Does it, and says what was done.
fn repair(context: &Context, project: &Path, fix: Fix) -> anyhow::Result<String> {
    match fix {
        Fix::MakeRepository => {
            Git::init(project)?;
            Ok(format!("git init {}", project.display()))
        }
        Fix::OwnFiles => {
            let home = &context.caller.home;
            let count = loop_store::set_right_modes(home).with_context(|| home.display().to_string())?;
            Ok(format!("only you may read and write {} in {}", counted(count, "file"), home.display()))
        }
        Fix::NameThisProgram => {
            hook::reinstall(project)?;
            Ok("the stop hook in .claude/settings.json calls this program".to_owned())
        }
    }
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
    if let [first, others @ ..] = loop_store::wrong_modes(&context.caller.home).as_slice() {
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        let says = format!("{}{more}: others may read it, or you may not write it", first.display());
        return fixable("home", says, Fix::OwnFiles);
    }
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
        Err(error @ GitError::NotARepository { .. }) if !project.join(".git").exists() => {
            let init = format!("git init {}", shell_word(&project.to_string_lossy()));
            DoctorFinding { fix: Some(Fix::MakeRepository), ..bad("git", error.to_string(), init) }
        }
        Err(error) => {
            bad("git", error.to_string(), NextStep::by_hand("git status says what is wrong with it"))
        }
    }
}

/// Changes that nobody committed: a run asks about them, and is refused where nobody can be asked.
fn changes(context: &Context, project: &Path, workflow: &Workflow) -> Option<DoctorFinding> {
    let dirt = uncommitted(&context.caller, Git::around(project).ok()?, workflow)?;
    let next = vec![format!("{NO_INPUT_STEP} --allow-dirty"), dirt.remedy(true).to_owned()];
    Some(bad("tree", dirt.words(), NextStep::Paste(next)))
}

/// The user's own prices of models, where they cannot be read.
fn prices() -> Option<DoctorFinding> {
    let why = match price_list::read() {
        Ok(_) => return None,
        Err(PriceTrouble::Wrong(why)) => why,
        Err(PriceTrouble::Unread(error)) => error.to_string(),
    };
    let help = "write it as [models] \"NAME\" = { input = 1.25, output = 10 }, or remove the file";
    Some(bad("prices", why, NextStep::by_hand(help)))
}

/// A session whose hook calls a program that is gone stops whenever it likes.
fn stop_hook(project: &Path) -> Option<DoctorFinding> {
    let program = hook::missing_program(project)?;
    let says = format!("the stop hook in .claude/settings.json calls {program}, which is not there");
    Some(fixable("hook", says, Fix::NameThisProgram))
}

/// What flags need not say: the person's own configuration and the project's workflow, and which agent
/// they choose with which permissions.
fn configuration(caller: &Caller, project: &Path) -> (Vec<DoctorFinding>, Option<Workflow>) {
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
                    bad("agent", error.to_string(), next.map_or("loop agents".into(), with_an_input))
                }
            });
            (found, Some(workflow))
        }
        Err(error) => {
            let next = if file.exists() { "loop check" } else { "loop check --preset ralph" };
            found.push(bad("workflow", error.to_string(), next));
            (found, None)
        }
    }
}

/// Nothing was typed here that a flag could be added to, so the step names an input of its own.
fn with_an_input(step: NextStep) -> NextStep {
    match step {
        NextStep::Paste(commands) => {
            let named = |it: &String| match it.strip_prefix("loop run --") {
                Some(flags) => format!("{NO_INPUT_STEP} --{flags}"),
                None => it.clone(),
            };
            NextStep::Paste(commands.iter().map(named).collect())
        }
        other => other,
    }
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
    let lines = runs.iter().filter_map(|it| match (fold::row_fault(&home, it), home.holder(&it.id)) {
        (Ok(Some(what)), _) => Some(damaged(it, &what)),
        (Err(error), _) => Some(damaged(it, &error.to_string())),
        (Ok(None), _) if !is_unfinished(it) => None,
        (Ok(None), Some(holder)) => {
            Some(bad("run", format!("{} (driven by {holder})", named(it)), ["loop attach", "loop stop"]))
        }
        (Ok(None), None) => Some(good("run", named(it))),
    });
    Ok(lines.collect())
}

fn damaged(row: &Row, what: &str) -> DoctorFinding {
    let short = &row.id[..8];
    bad("run", format!("{short} is damaged: {what}"), format!("loop verify --run {short}"))
}

/// What a run would measure with: the checks of the workflow, and for those that it leaves open, and where
/// there is no workflow, what the project's own files name.
fn checks(project: &Path, workflow: Option<&Workflow>) -> DoctorFinding {
    let defined = workflow.into_iter().flat_map(|it| &it.checks);
    let defined: Vec<(&str, &str)> =
        defined.filter_map(|(name, check)| Some((name.as_str(), check.run.as_deref()?))).collect();
    let is_defined = |name: &str| defined.iter().any(|it| it.0 == name);
    let mut list: Vec<String> =
        defined.iter().map(|(name, run)| format!("{name}: {} (workflow)", run.replace('\n', "; "))).collect();
    let detected = detect(project).into_iter().filter(|it| !is_defined(it.name));
    list.extend(detected.map(|it| format!("{}: {} ({})", it.name, it.run, it.why)));
    if !list.is_empty() {
        return good("checks", list.join(", "));
    }
    let says = "none found in this project".to_owned();
    let next = proposed_flag(project).map(|it| format!("loop checks {it}").into());
    let help = || NextStep::by_hand("loop checks --check tests=\"COMMAND\" tries a command of yours");
    bad("checks", says, next.unwrap_or_else(help))
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
        Some((key, Ok(kind))) => {
            let barred = if kind.is_shown() { "" } else { "; a gate with presence = true does not take it" };
            good("key", format!("{} is {}{barred}", key.display(), kind.words()))
        }
        Some((_, Err(why))) => {
            bad("key", why, NextStep::by_hand("name another one: loop approve GATE --sign KEY"))
        }
        None => good("key", "none in ~/.ssh; only signed gates need one".to_owned()),
    }
}
