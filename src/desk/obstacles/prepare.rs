//! What a run needs beside its workflow and its input: an agent that is there, commands for its
//! checks, and something that could prove the work done. What is missing is said before the first
//! call.

use super::caps;
use super::missing_program::refuse_unstartable;
use crate::desk::caller::{Caller, load};
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::request::{CarriedOutBy, RunRequest};
use crate::desk::resolving::input::RunInput;
use crate::desk::resolving::job::workflow_of_queue;
use crate::desk::resolving::queue_rules;
use crate::desk::resolving::wanted_run::WantedRun;
use crate::measure::detect::{CHECK_HELP, detect, proposed_flag};
use crate::world::effects::approval::pin_signers;
use loop_base::secret::is_printable_whole;
use loop_base::text::shell_word;
use loop_core::agent_table::{AgentRow, AgentTable};
use loop_core::agents;
use loop_core::bounds::explore;
use loop_core::documents::input;
use loop_core::facts::FactName;
use loop_core::workflow::model::{Agent, InputKind, Workflow};
use loop_store::Home;
use loop_supervise::which::executable;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// Gives a run that nobody has opened what it needs beside its input, and refuses one that would be pointless: without an
/// agent, without commands that can start, or in a queue that is held back. Nothing is written.
pub(crate) fn refuse_or_prepare(
    caller: &Caller,
    home: Option<&Rc<Home>>,
    request: &RunRequest,
    wanted: &mut WantedRun,
) -> anyhow::Result<()> {
    let known = &caller.environment.agents;
    if let Some(home) = home {
        if request.by == CarriedOutBy::Us {
            let before = || Some(load(home, caller.runs_of_project(home).ok()?.first()?).ok()?.0);
            refuse_without_agent(known, &wanted.workflow, before)?;
        }
        let job = wanted.input.job.as_ref();
        if let Some(held_back) = job.and_then(|it| queue_rules::held_back(home, &it.queue)) {
            return Err(held_back.into());
        }
    }
    prepare(known, &mut wanted.workflow, request, &wanted.project, &wanted.input)?;
    refuse_unstartable(&wanted.workflow, &BTreeMap::new(), &wanted.project)
}

/// Gives a workflow everything that a run needs beside its input, or says what is missing.
pub(crate) fn prepare(
    known: &AgentTable,
    workflow: &mut Workflow,
    request: &RunRequest,
    project: &Path,
    input: &RunInput,
) -> anyhow::Result<()> {
    refuse_endless(workflow)?;
    refuse_without_criteria(workflow, request, input)?;
    if request.by == CarriedOutBy::Us {
        choose_agent(known, workflow)?;
    }
    fill_checks(workflow, project, &input.text);
    pin_approvers(workflow, project)?;
    caps::refuse_unkept(workflow, request.by == CarriedOutBy::Us, None)?;
    refuse_unverifiable(workflow, request, project)
}

/// Who may sign at a gate is read once: what is written into that file later changes nothing.
pub(crate) fn pin_approvers(workflow: &mut Workflow, project: &Path) -> anyhow::Result<()> {
    pin_signers(workflow, project).map_err(|why| {
        let help = "write a line for each person: NAME ssh-ed25519 KEY, see ssh-keygen(1)";
        Refusal::usage(why, NextStep::by_hand(help))
    })
}

/// A workflow whose ways back could follow each other forever is refused before its first call.
pub(crate) fn refuse_endless(workflow: &Workflow) -> anyhow::Result<()> {
    let bounds = explore(workflow);
    if bounds.ends {
        return Ok(());
    }
    let text = format!("{} may never end: {}", workflow.name, bounds.why.join("; "));
    Err(Refusal::usage(
        text,
        NextStep::by_hand("limit it with iterations = N in [limits]; loop check explains"),
    ))
}

/// Refuses several systems at once where nothing could build them. A run that exists has its agent; where
/// there is no run, the first system would be refused, and a pool without a terminal could say so only in
/// its log.
pub(crate) fn refuse_pool(caller: &Caller, request: &RunRequest) -> Result<(), Refusal> {
    let (mut workflow, has_runs) = workflow_of_queue(caller, request)?;
    if !has_runs {
        choose_agent(&caller.environment.agents, &mut workflow)?;
    }
    Ok(())
}

pub(crate) fn choose_agent(known: &AgentTable, workflow: &mut Workflow) -> anyhow::Result<()> {
    if workflow.agent.cli.is_left_open() {
        let installed: Vec<&'static AgentRow> =
            known.detected().filter(|it| executable(it.program, None).is_some()).collect();
        match installed.as_slice() {
            [only] => workflow.agent.cli = (*only).into(),
            [] => {
                return Err(Refusal::usage(
                    no_agent(known),
                    NextStep::PasteOrByHand(
                        "loop agents".to_owned(),
                        "install one of them, or add --agent-cmd \"PROGRAM ARGS\" to use any program"
                            .to_owned(),
                    ),
                ));
            }
            several => {
                let names: Vec<&str> = several.iter().map(|it| it.name).collect();
                let text = format!("several agents are installed: {}", names.join(", "));
                return Err(Refusal::usage(text, format!("loop run --agent {}", names[0])));
            }
        }
    }
    find_agent(&workflow.agent)
}

fn no_agent(known: &AgentTable) -> String {
    let names: Vec<&str> = known.detected().map(|it| it.name).collect();
    format!("no supported agent found ({})", names.join(", "))
}

/// Refuses a run for which nobody named an agent and none is installed, where an earlier run of the project had a
/// program: the step names it.
fn refuse_without_agent(
    known: &AgentTable,
    wanted: &Workflow,
    before: impl FnOnce() -> Option<Workflow>,
) -> anyhow::Result<()> {
    let is_installed = |it: &'static AgentRow| executable(it.program, None).is_some();
    if !wanted.agent.cli.is_left_open() || known.detected().any(is_installed) {
        return Ok(());
    }
    let Some(agent) = before().map(|it| it.agent) else { return Ok(()) };
    let words: Vec<String> = agent.args.iter().map(|it| shell_word(it)).collect();
    let is_program = agent.cli.row().is_some_and(AgentRow::is_any_program) && !words.is_empty();
    if !is_program || find_agent(&agent).is_err() {
        return Ok(());
    }
    let step = format!("loop run --agent-cmd {}", shell_word(&words.join(" ")));
    if !is_printable_whole(&step) {
        return Ok(());
    }
    Err(Refusal::usage(format!("{}; the last run here used one of your own", no_agent(known)), step))
}

/// Refuses an agent that a file described which is gone: nobody could read what its call wrote.
pub(crate) fn refuse_undescribed(agent: &Agent) -> anyhow::Result<()> {
    if agent.cli.row().is_some() {
        return Ok(());
    }
    let help = format!("put agents/{}.toml back next to your config.toml", agent.cli);
    let next = NextStep::PasteOrByHand("loop agents".to_owned(), help);
    Err(Refusal::usage(format!("the file that describes the agent \"{}\" is missing", agent.cli), next))
}

/// Refuses an agent whose program is not there.
pub(crate) fn find_agent(agent: &Agent) -> anyhow::Result<()> {
    let caller = agents::InvocationContext {
        model: agent.model.as_deref(),
        usd: None,
        turns: None,
        root: rustix::process::geteuid().is_root(),
        find: &|name| executable(name, agent.env.get("PATH")),
        version: &|_| None,
    };
    let invocation = agents::invocation(agent, &caller).map_err(|why| Refusal::usage(why, "loop agents"))?;
    let program = invocation.argv.first().cloned().unwrap_or_default();
    if executable(&program, agent.env.get("PATH")).is_none() {
        if Path::new(&program).is_file() {
            let text = format!("the agent's program \"{program}\" is not executable");
            return Err(Refusal::usage(text, format!("chmod +x {}", shell_word(&program))));
        }
        let text = format!("the agent's program \"{program}\" was not found");
        let is_own = agent.cli.row().is_some_and(AgentRow::is_any_program);
        let help = "install it, or name another program with --agent-cmd \"PROGRAM ARGS\"";
        return Err(Refusal::usage(
            text,
            if is_own { NextStep::by_hand(help) } else { "loop agents".into() },
        ));
    }
    Ok(())
}

/// Gives every check that has no command the one that was found in the project or in the design.
pub(crate) fn fill_checks(workflow: &mut Workflow, project: &Path, text: &str) {
    let found = detect(project);
    for (name, check) in &mut workflow.checks {
        if check.run.is_some() {
            continue;
        }
        if let Some(found) = found.iter().find(|it| it.name == name) {
            check.run = Some(found.run.clone());
            if check.counts.is_none() {
                check.counts = found.counts;
            }
        }
    }
    // What a check runs by name need not run again as a line of the design.
    let named: Vec<String> = workflow.checks.values().filter_map(|it| it.run.clone()).collect();
    let mut commands = input::validation(text);
    commands.retain(|it| !named.contains(it));
    if let Some(check) = workflow.checks.get_mut("validation").filter(|it| it.run.is_none())
        && !commands.is_empty()
    {
        check.run = Some(format!("set -e\n{}", commands.join("\n")));
    }
}

/// A rule that counts criteria holds for nothing where there are none.
fn refuse_without_criteria(
    workflow: &Workflow,
    request: &RunRequest,
    input: &RunInput,
) -> anyhow::Result<()> {
    let conditions = workflow.phases.iter().filter_map(|it| it.exit.as_ref());
    let counts = conditions.flat_map(|it| it.names()).any(|(name, _)| name == FactName::CriteriaCount.name());
    if !counts || request.criteria.is_some() || input::criteria(&input.text).total != 0 {
        return Ok(());
    }
    Err(Refusal::usage(
        format!("{} lists no success criteria: nothing says when its tests are complete", input.name),
        NextStep::by_hand(
            "add \"- [ ]\" items below a heading \"Success Criteria\", or say how many with --criteria N",
        ),
    ))
}

/// What a person is told where the phase of a roadmap has no command.
const VALIDATION_HELP: &str = "write a command into loop.validation_commands of .planning/config.json, or add --check validation=\"COMMAND\"";

fn refuse_unverifiable(workflow: &Workflow, request: &RunRequest, project: &Path) -> anyhow::Result<()> {
    let used: Vec<&String> = workflow.phases.iter().flat_map(|it| &it.checks).collect();
    let runs = |name: &&&String| workflow.checks.get(**name).is_some_and(|it| it.run.is_some());
    let counts = |name: &&&String| workflow.checks.get(**name).is_some_and(|it| it.must_count);
    let nothing = !used.is_empty() && !used.iter().any(|it| runs(&it));
    let uncounted = used.iter().any(|it| counts(&it)) && !used.iter().any(|it| counts(&it) && runs(&it));
    // The project of a system may not exist yet; the first stage that needs a check asks for it.
    let is_made_later = workflow.input.kind == InputKind::Job;
    if request.unverified || is_made_later || !(nothing || uncounted) {
        return Ok(());
    }
    Err(Refusal::usage(
        format!(
            "no check found in {}: nothing could prove that the work is done; --unverified takes the agent's word",
            project.display()
        ),
        match proposed_flag(project) {
            Some(flag) => [format!("loop run {flag}"), "loop run --unverified".to_owned()].into(),
            None => {
                let help = if workflow.input.kind == InputKind::Phase { VALIDATION_HELP } else { CHECK_HELP };
                NextStep::PasteOrByHand("loop run --unverified".to_owned(), help.to_owned())
            }
        },
    ))
}
