//! What changes in a run that has begun. A run keeps a copy of the workflow it was opened with, and
//! that copy counts: when the files differ from it, going on says so, and `--reload` takes them as a
//! recorded act of a person. Flags that name a value (`--budget 5`) are such an act too.
//!
//! A reloaded workflow has the same phases, because everything that was recorded names them.

use crate::desk::caller::{Caller, CallerEnvironment, load};
use crate::desk::idle_world::IdleWorld;
use crate::desk::inside_call::{self, GuardedCommand};
use crate::desk::note::Note;
use crate::desk::obstacles::{caps, prepare};
use crate::desk::refusal::{Refusal, meant};
use crate::desk::request::RunRequest;
use crate::desk::resolving::choose_workflow;
use crate::desk::resolving::{job, planning};
use crate::drive;
use crate::world::wait::now;
use loop_base::text::shell_word;
use loop_core::agent_table::COMMAND;
use loop_core::engine::{News, QuestionKind, State, run_again};
use loop_core::workflow::model::{InputKind, Workflow};
use loop_store::run::Run;
use loop_store::{Home, Row};
use serde_json::Value;
use std::path::Path;
use std::rc::Rc;

/// Keys that are named when files have changed; the rest is counted.
const NAMED_MOST: usize = 12;

/// Takes what a person wants changed before a run continues, and says what they may want to know.
pub(crate) fn before_going_on(
    caller: &Caller,
    home: &Rc<Home>,
    row: &Row,
    request: &RunRequest,
    notes: &mut Vec<Note>,
) -> anyhow::Result<()> {
    let mut say = |text: String| notes.push(Note::for_people(text));
    if home.holder(&row.id).is_some() {
        return Ok(());
    }
    if request.reload {
        inside_call::refuse(caller, Some((home, row)), GuardedCommand::Reload)?;
    }
    let (kept, state) = load(home, row)?;
    let mut workflow = kept.clone();
    let mut keys = Vec::new();
    match written(&caller.environment, home, &kept, &state, Path::new(&row.project)) {
        Err(error) if request.reload => return Err(error),
        Err(error) => say(format!("the workflow file cannot be used: {error:#}")),
        Ok(files) => {
            let changed = differences(&kept, &files)?;
            if changed.is_empty() && request.reload {
                say("the workflow file already matches the run".to_owned());
            } else if request.reload {
                refuse_another_shape(&kept, &files, &state, row)?;
                (workflow, keys) = (files, changed);
            } else if !changed.is_empty() {
                say(format!("the workflow file has changed: {}", listed(&changed)));
                say("this run keeps its own copy; --reload applies the file".to_owned());
            }
        }
    }
    keys.extend(given(caller, request, &mut workflow)?);
    refuse_what_is_settled(request, &state, &kept)?;
    if keys.is_empty() {
        return Ok(());
    }
    inside_call::refuse(caller, Some((home, row)), GuardedCommand::Reload)?;
    prepare::refuse_endless(&workflow)?;
    if state.session.is_none() {
        prepare::choose_agent(&caller.environment.agents, &mut workflow)?;
    }
    caps::refuse_unkept(&workflow, state.session.is_none(), Some(&row.id))?;
    let mut run = Run::open(Rc::clone(home), &row.id, now())?;
    say(format!("changed: {}", listed(&keys)));
    run.take_workflow(workflow);
    let definition = Some(run.definition_hash());
    let mut world = IdleWorld::new(home, Path::new(&row.place)).with(News::Reloaded { keys, definition });
    drive::commit(&mut run, &mut world)?;
    Ok(())
}

/// Returns the workflow as the files say it now. What was found in the project or on the machine
/// when the run was opened stays as it was found.
pub(super) fn written(
    environment: &CallerEnvironment,
    home: &Home,
    kept: &Workflow,
    state: &State,
    project: &Path,
) -> anyhow::Result<Workflow> {
    let Some(given) = &kept.given else { return Ok(kept.clone()) };
    let mut files = choose_workflow::read(environment, project, given)?;
    for (name, check) in &mut files.checks {
        if let Some(before) = kept.checks.get(name).filter(|_| check.run.is_none()) {
            check.run.clone_from(&before.run);
            check.counts = check.counts.or(before.counts);
        }
    }
    if files.agent.cli.is_left_open() {
        files.agent.cli.clone_from(&kept.agent.cli);
    }
    files.mirror.dir = files.mirror.dir.take().or_else(|| kept.mirror.dir.clone());
    files.given.clone_from(&kept.given);
    if kept.input.kind == InputKind::Phase {
        planning::keep_settled(kept, &mut files);
    }
    if kept.input.kind == InputKind::Job {
        job::settle_again(home, project, &state.opening, &mut files)?;
    }
    prepare::pin_approvers(&mut files, project)?;
    for (name, gate) in &mut files.gates {
        if let Some(signers) = kept.gates.get(name).and_then(|it| it.signers.clone()) {
            gate.signers = Some(signers);
        }
    }
    Ok(files)
}

/// Takes the request that give a run another value.
fn given(caller: &Caller, request: &RunRequest, workflow: &mut Workflow) -> anyhow::Result<Vec<String>> {
    let before = workflow.clone();
    let over = choose_workflow::overrides(caller, request)?;
    workflow.limits.usd = over.usd.or(workflow.limits.usd);
    workflow.limits.tokens = over.tokens.or(workflow.limits.tokens);
    workflow.limits.time = over.time.or(workflow.limits.time);
    workflow.notify = over.notify.clone().or(workflow.notify.take());
    if over.model.is_some() && workflow.input.kind == InputKind::Phase {
        planning::one_model(workflow);
    }
    workflow.agent.model = over.model.clone().or(workflow.agent.model.take());
    if let Some(words) = &over.agent_args {
        workflow.agent.cli = (&COMMAND).into();
        workflow.agent.args.clone_from(words);
    }
    if let Some(agent) = over.agent.as_ref().filter(|it| *it != workflow.agent.cli.name()) {
        let known = &caller.environment.agents;
        let Some(row) = known.named(agent) else {
            let next = meant(agent, known.names());
            return Err(Refusal::usage(format!("unknown agent \"{agent}\""), next));
        };
        workflow.agent.cli = row.into();
        if over.agent_args.is_none() {
            workflow.agent.args.clear();
        }
    }
    over.bring_proof(workflow);
    for (name, command) in &over.checks {
        let Some(check) = workflow.checks.get_mut(name) else {
            let known = before.checks.keys().map(String::as_str);
            let next = meant(name, known);
            return Err(Refusal::usage(format!("this run has no check \"{name}\""), next));
        };
        check.run = Some(command.clone());
    }
    if let Some(kept) = &mut workflow.given {
        let kept = &mut kept.overrides;
        kept.usd = over.usd.or(kept.usd);
        kept.tokens = over.tokens.or(kept.tokens);
        kept.time = over.time.or(kept.time);
        kept.notify = over.notify.or(kept.notify.take());
        kept.model = over.model.or(kept.model.take());
        kept.agent_args = over.agent_args.or(kept.agent_args.take());
        kept.agent = over.agent.or(kept.agent.take());
        kept.checks.retain(|(name, _)| !over.checks.iter().any(|(it, _)| it == name));
        kept.checks.extend(over.checks);
        kept.require = over.require.or(kept.require);
        kept.allow.extend(over.allow);
    }
    differences(&before, workflow)
}

fn refuse_another_shape(kept: &Workflow, files: &Workflow, state: &State, row: &Row) -> anyhow::Result<()> {
    let names = |it: &Workflow| it.phases.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let why = match state.question().map(|it| &it.kind) {
        _ if kept.name != files.name => Some(format!("the file describes another workflow, {}", files.name)),
        _ if names(kept) != names(files) => Some("the file has other phases".to_owned()),
        _ if loosens_signed_gates(kept, files) => {
            Some("a gate of this run asks for a signature, and the file has other gates or modes".to_owned())
        }
        Some(QuestionKind::Gate(gate)) if !files.gates.contains_key(gate) => {
            Some(format!("the run waits at the gate {gate}, which the file does not have"))
        }
        Some(QuestionKind::Check(check)) if !files.checks.contains_key(check) => {
            Some(format!("the run asks for the check {check}, which the file does not have"))
        }
        _ => None,
    };
    let Some(why) = why else { return Ok(()) };
    Err(Refusal::usage(
        format!("{why}; a run that has begun cannot change that; --fresh starts a new one"),
        // Without the id, the file would say which workflow is meant, and it names another one.
        format!("loop resume --run {}", &row.id[..8]),
    ))
}

/// Where a signature guards a run, nobody takes the guard away while it continues.
fn loosens_signed_gates(kept: &Workflow, files: &Workflow) -> bool {
    let uses = |it: &Workflow| it.phases.iter().map(|it| it.gates.clone()).collect::<Vec<_>>();
    let differs = kept.gates != files.gates
        || uses(kept) != uses(files)
        || (&kept.modes, &kept.mode) != (&files.modes, &files.mode);
    differs && kept.gates.values().any(|it| it.sign)
}

/// What is fixed once a run is opened, because it was proven against it.
fn refuse_what_is_settled(request: &RunRequest, state: &State, kept: &Workflow) -> anyhow::Result<()> {
    let opening = &state.opening;
    let promise = request.promise.as_deref().map(shell_word).unwrap_or_default();
    let criteria = request.criteria.map(|it| it.to_string()).unwrap_or_default();
    let given = [
        ("--unverified", String::new(), request.unverified && !opening.unverified),
        ("--promise", promise, request.promise.is_some() && request.promise != opening.promise),
        ("--criteria", criteria, request.criteria.is_some() && request.criteria != opening.criteria),
    ];
    match given.into_iter().find(|(_, _, differs)| *differs) {
        None => Ok(()),
        Some((flag, value, _)) => Err(Refusal::usage(
            format!("{flag} is fixed when a run is opened, and this one has begun; --fresh starts a new one"),
            format!("{} {} --fresh", run_again(kept, &opening.input), format!("{flag} {value}").trim_end()),
        )),
    }
}

/// Returns the keys that differ, as they are written in a file: `limits.usd`, `phase.GREEN.exit`.
pub(super) fn differences(before: &Workflow, after: &Workflow) -> anyhow::Result<Vec<String>> {
    let mut keys = Vec::new();
    if before == after {
        return Ok(keys);
    }
    compare("", &serde_json::to_value(before)?, &serde_json::to_value(after)?, &mut keys);
    keys.retain(|it| !it.starts_with("given"));
    Ok(keys)
}

fn compare(at: &str, before: &Value, after: &Value, keys: &mut Vec<String>) {
    let key = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (before, after) {
        _ if before == after => (),
        (Value::Object(old), Value::Object(new)) => {
            let added = new.keys().filter(|it| !old.contains_key(*it));
            for name in old.keys().chain(added) {
                let side = |it: &serde_json::Map<String, Value>| it.get(name).cloned().unwrap_or_default();
                compare(&key(name), &side(old), &side(new), keys);
            }
        }
        (Value::Array(old), Value::Array(new)) if at == "phases" && old.len() == new.len() => {
            for (old, new) in old.iter().zip(new) {
                let name = old["name"].as_str().unwrap_or_default();
                compare(&format!("phase.{name}"), old, new, keys);
            }
        }
        _ => keys.push(at.to_owned()),
    }
}

pub(super) fn listed(keys: &[String]) -> String {
    let named = keys.iter().take(NAMED_MOST).cloned().collect::<Vec<_>>().join(", ");
    match keys.len().saturating_sub(NAMED_MOST) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
