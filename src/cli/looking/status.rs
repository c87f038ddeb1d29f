//! `loop status`: where a run stands, for people and for programs.

use super::views::{breaker_banner, cost, plan_view, pool_view, progress, signing, system_view};
use crate::cli::Context;
use crate::cli::hint;
use crate::cli::terminal::frame;
use crate::desk::{self, load};
use crate::world::agent_output::live_output::{CallProgress, LiveCall};
use crate::world::question_text::QuestionText;
use crate::world::wait::now;
use loop_base::text::{counted, sanitise};
use loop_base::time::Timestamp;
use loop_core::agents::{Detail, token_words};
use loop_core::documents::input;
use loop_core::engine::{Answer, BreakerState, QuestionKind, SIGNATURE_NAMESPACE, State, Station, Status};
use loop_core::facts::FactName;
use loop_core::workflow::model::{MirrorFormat, Phase, Workflow};
use loop_store::{Home, Row};
use serde_json::{Value, json};

/// `loop` alone: the status, or how to begin.
pub(crate) fn bare(context: &Context) -> anyhow::Result<u8> {
    if let Some(home) = context.caller.home_to_look_at()?
        && let Some(row) = context.caller.find(&home)?
    {
        return show(context, &home, &row);
    }
    println!("loop demo                 watch a whole run, without any key");
    println!("loop setup                write a workflow for this project");
    println!("loop run \"what to build\"  start a run");
    Ok(0)
}

pub(crate) fn run(context: &Context) -> anyhow::Result<u8> {
    if let Some(home) = context.caller.home_to_look_at()?
        && let Some(row) = context.caller.find(&home)?
    {
        return show(context, &home, &row);
    }
    let project = context.caller.project().ok();
    let pool = match (context.caller.home_to_look_at()?, &project) {
        (Some(home), Some(project)) => pool_view::before_any_run(&home, project),
        (Some(_) | None, _) => None,
    };
    if context.json {
        let object = pool.map_or(json!({ "run": null }), |it| json!({ "run": null, "pool": it.1 }));
        println!("{object}");
    } else if let Some((text, _)) = pool {
        print!("no run in this project yet\n{}", sanitise(&text));
        println!("{}", hint::next("loop queue"));
    } else {
        println!("no run in this project");
        // Who comes with a queue has said what to build.
        let has_queue = project.is_some_and(|it| desk::has_queue(&it));
        let next = if has_queue { "loop queue" } else { "loop run \"what to build\"" };
        println!("{}", hint::next(next));
        println!("{}", hint::or("loop demo"));
    }
    Ok(0)
}

fn show(context: &Context, home: &Home, row: &Row) -> anyhow::Result<u8> {
    let (workflow, state) = load(home, row)?;
    let mut is_deleted = false;
    if home.holder(&row.id).is_none() {
        let kept = desk::match_kept_head(home, &row.id, std::path::Path::new(&row.place))?;
        is_deleted = kept == desk::KeptHead::Deleted;
        if Status::of(&state).is_closed() {
            desk::refuse_hidden_runs(home, std::path::Path::new(&row.place))?;
        }
        loop_store::mirror::restore(home, &row.id, &workflow, &state, std::path::Path::new(&row.place));
    }
    if context.json {
        println!("{}", crate::cli::json::pretty(&object(home, row, &workflow, &state)));
    } else {
        let text = sanitise(&text(home, row, &workflow, &state));
        match columns() {
            Some(columns) => print!("{}", framed(&text, columns)),
            None => print!("{text}"),
        }
        let lines = signing::lines(context, &row.id, &workflow, &state);
        lines.iter().for_each(|it| println!("{}", sanitise(it)));
    }
    if is_deleted {
        eprintln!("warning: {}", desk::deleted_head(&row.id));
    }
    Ok(0)
}

/// Returns how wide the terminal is that we write to, if it is one.
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|it| *it != 0)
}

/// The first line is the title; what to do next stands below the frame, to be copied.
fn framed(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_below = |it: &str| ["next: ", "  or: ", "help: "].iter().any(|mark| it.starts_with(mark));
    let inside = lines.iter().rposition(|it| !is_below(it)).map_or(0, |it| it + 1);
    let next: String = lines.split_off(inside).iter().map(|it| format!("{it}\n")).collect();
    let title = if lines.is_empty() { String::new() } else { lines.remove(0) };
    let lines: Vec<String> = lines.iter().map(|it| it.strip_prefix("  ").unwrap_or(it).to_owned()).collect();
    format!("{}{next}", frame(&title, &lines, columns))
}

/// What a run waits for after `loop limits --clear`.
const WAIT_ENDED: &str = "the wait was cleared; the provider is asked again when the run continues";

/// What is said of a run that stands as running although nobody drives it.
pub(super) const NO_CONTROLLER: &str = "no controller is alive";

/// Whether a run stands as running although nobody drives it: one whose controller was killed cannot say so itself.
pub(super) fn is_left_alone(home: &Home, row: &Row, state: &State) -> bool {
    Status::of(state) == Status::Running && state.session.is_none() && home.holder(&row.id).is_none()
}

fn text(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let status = Status::of(state);
    let verified = if state.is_called_unverified() { ", unverified" } else { "" };
    let is_left = is_left_alone(home, row, state);
    let left = if is_left { format!(", but {NO_CONTROLLER}") } else { String::new() };
    let _ = writeln!(out, "run {}  {}  {}{left}{verified}", &row.id[..8], workflow.name, status.word());
    let _ = writeln!(out, "  {}", progress::line(workflow, state));
    out.push_str(&system_view::status(home, &row.id, workflow, state));
    let _ = writeln!(out, "  input       {}", row.input.lines().next().unwrap_or(""));
    let untaken = desk::untaken(home, &row.id).ok();
    let ends_wait = state.wait.is_some() && untaken.as_ref().is_some_and(|it| it.ends_wait());
    let reason = if ends_wait { WAIT_ENDED.to_owned() } else { state.reason(workflow) };
    if !system_view::tells_reason(workflow, state) {
        let _ = writeln!(out, "  reason      {}", reason.replace('\n', "\n    "));
    }
    if let Some((until, why)) = state.no_call_before(now())
        && !ends_wait
        && !reason.contains(why)
    {
        let _ = writeln!(out, "  wait        no call before {until}: {why}");
    }
    // An open finding of the proof is the reason; nothing is said twice.
    if let Some(proof) = state.closing(workflow).filter(|it| *it != reason && !asks_about_proof(state)) {
        let _ = writeln!(out, "  proof       {proof}");
    }
    let phase = &workflow.phases[state.phase];
    let _ = writeln!(out, "  phase       {}", iterations(workflow, state));
    out.push_str(&work(workflow, state));
    let _ = writeln!(out, "  progress    {} %", state.progress_percent(workflow));
    out.push_str(&progress::phases(home, row, workflow, state));
    for (name, line) in cost::status_lines(home, workflow, state) {
        let _ = writeln!(out, "  {name:<11} {line}");
    }
    out.push_str(&checks(workflow, state));
    out.push_str(&plan_view::status(home, &row.id, workflow, state, std::path::Path::new(&row.place)));
    if status != Status::Completed {
        out.push_str(&breaker(phase, state));
    }
    out.push_str(&question_lines(workflow, state, untaken.as_ref().and_then(|it| it.answer_to(state))));
    for warning in state.warnings.iter().chain(&state.plan_warning) {
        let _ = writeln!(out, "  warning     {warning}");
    }
    for line in live_lines(home, row, workflow, state) {
        let _ = writeln!(out, "  {line}");
    }
    out.push_str(&pool_view::status(home, row));
    match home.holder(&row.id) {
        Some(holder) => {
            if untaken.is_some_and(|it| it.asks_to_stop()) {
                let _ = writeln!(out, "  asked       to stop after this iteration");
            }
            let _ = writeln!(out, "  driven by   {holder}");
        }
        None => {
            if is_left {
                let _ = writeln!(out, "  driven by   no controller is running");
            }
            out.extend(hint::before_next(state, &out).map(|it| format!("{it}\n")));
            let _ = writeln!(out, "next: {}", next_step(home, row, workflow, state));
            let other = hint::other_step(home, &row.id, state).ok().flatten();
            out.extend(other.map(|it| format!("  or: {it}\n")));
        }
    }
    out
}

/// The item, the criteria and the models that answered, as far as a run has them.
fn work(workflow: &Workflow, state: &State) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    if let Some(item) = &state.item {
        let _ = writeln!(
            out,
            "  item        {}/{}: {}",
            state.items_done + 1,
            state.items_done + state.items_left,
            item.name
        );
    }
    let asks_for_ticks = workflow.phases.iter().any(|it| it.asks_for(FactName::CriteriaOpen.name()));
    if let Some(criteria) = criteria(state).filter(|_| asks_for_ticks) {
        let _ = writeln!(out, "  criteria    {}/{} ticked", criteria.total - criteria.open, criteria.total);
    }
    if !state.models.is_empty() {
        let models = state.models.iter();
        let models: Vec<String> =
            models.map(|(phase, model)| format!("{} {model}", workflow.phases[*phase].name)).collect();
        let _ = writeln!(out, "  models      {}", models.join(", "));
    }
    out
}

/// The open question with its evidence and the answers that there are, or the answer that was given.
fn question_lines(workflow: &Workflow, state: &State, given: Option<&Answer>) -> String {
    let Some(question) = state.question() else { return String::new() };
    if let Some(given) = given {
        return format!("  question {}  answered: {}; loop run applies it\n", question.id, given.choice);
    }
    let text = QuestionText::of(workflow, state, question);
    let has_banner = workflow.mirror.format == Some(MirrorFormat::PrpSession);
    if has_banner && question.kind == QuestionKind::Breaker {
        return breaker_banner::lines(workflow, state, &text);
    }
    let evidence = text.evidence.iter().map(|it| format!("    {it}\n"));
    let heading = format!("  question {}  answer with one of:\n", question.id);
    let choices = text.choices().into_iter().map(|it| format!("  {it}\n"));
    evidence.chain([heading]).chain(choices).collect()
}

/// How many iterations there were, here and in the whole run.
fn iterations(workflow: &Workflow, state: &State) -> String {
    let counted_of = |limit: u32| format!("{}/{limit} in the run", state.iterations_counted);
    let in_run = format!("{} in the run", state.iterations_total);
    let mut run = vec![state.iterations_limit(workflow).map_or(in_run, counted_of)];
    if state.iterations_counted != state.iterations_total {
        run.push(format!("{} in all", state.iterations_total));
    }
    let phase = &workflow.phases[state.phase];
    let calls = counted(state.calls_total, "call");
    if phase.is_numbered_by_run() {
        let most = state.iterations_limit(workflow).map(|it| format!("/{}", it + state.iterations_forgiven));
        let used = state.iterations_numbered();
        return format!("{}, {used}{} iterations, {calls}", phase.name, most.unwrap_or_default());
    }
    let (phase, here) = (&phase.name, counted(state.visit.iteration, "iteration"));
    format!("{phase}, {here} ({}), {calls}", run.join(", "))
}

fn asks_about_proof(state: &State) -> bool {
    state.question().is_some_and(|it| it.kind == QuestionKind::Proof)
}

/// The model that answered in each phase.
fn named_models(workflow: &Workflow, state: &State) -> serde_json::Map<String, Value> {
    let named =
        state.models.iter().map(|(phase, model)| (workflow.phases[*phase].name.clone(), json!(model)));
    named.collect()
}

/// The call that is under way: what it has used, and the last lines of what its agent did.
fn live_lines(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> Vec<String> {
    let Some((number, progress)) = under_way(home, row, workflow, state) else { return Vec::new() };
    let used = progress.usage.and_then(|it| token_words(it.tokens)).map(|it| format!("{it} so far"));
    let is_told = |it: &str| progress.lines.last().is_some_and(|line| line.trim() == it);
    let doing = progress.doing.clone().filter(|it| !is_told(it));
    let now: Vec<String> = used.into_iter().chain(doing).collect();
    let mut lines = vec![format!("call {number:<7}{}", now.join(": ")).trim_end().to_owned()];
    let last = progress.lines.len().saturating_sub(LINES_SHOWN);
    lines.extend(progress.lines[last..].iter().map(|it| format!("  {it}")));
    lines
}

/// What fits under a status without pushing it off a screen.
const LINES_SHOWN: usize = 4;

fn under_way(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> Option<(u32, CallProgress)> {
    let Station::Working(call) = &state.station else { return None };
    let agent = workflow.agent.cli.row()?;
    let output = home.folder(&row.id).join(format!("{}.out", call.stem()));
    let place = std::path::Path::new(&row.place);
    let live = output.exists().then(|| LiveCall::at(&output, agent, place, Detail::Steps).finish());
    Some((call.number, live?))
}

/// One line for each check that has a command.
fn checks(workflow: &Workflow, state: &State) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for (check, run) in workflow.checks.iter().filter_map(|(name, it)| Some((name, it.run.as_ref()?))) {
        let ok = state.visit.metrics.get(&format!("{check}_ok")).map(|it| &it.value);
        let word = match ok {
            Some(loop_base::value::Value::Bool(true)) => "passed",
            Some(_) => "failed",
            // What it came to before is part of what the run says at its end.
            None if matches!(state.station, Station::Closed(_)) => continue,
            None => "has not run in this phase",
        };
        let _ = writeln!(out, "  check       {check} {word} ({})", run.replace('\n', "; "));
    }
    out
}

/// What the breaker of the phase has counted, where it has counted anything.
fn breaker(phase: &Phase, state: &State) -> String {
    let breaker = &state.visit.breaker;
    let (no_progress, same_error) = (breaker.no_progress, breaker.same_error);
    if (no_progress, same_error) == (0, 0) {
        return String::new();
    }
    let word = match breaker.state(&phase.breaker) {
        BreakerState::Closed => "closed",
        BreakerState::HalfOpen => "half open",
        BreakerState::Open => "open",
    };
    let without =
        (0 < no_progress).then(|| format!("{} without progress", counted(no_progress, "iteration")));
    let same = (0 < same_error).then(|| format!("same error {}", counted(same_error, "time")));
    let counts: Vec<String> = without.into_iter().chain(same).collect();
    format!("  breaker     {word}: {}\n", counts.join(", "))
}

/// What the run's document says at this moment; a tick is a claim.
fn next_step(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> String {
    hint::next_step(home, &row.id, workflow, state).unwrap_or_else(|_| desk::next_step_of(workflow, state))
}

fn criteria(state: &State) -> Option<input::Criteria> {
    let text = loop_base::files::text(std::path::Path::new(state.opening.path.as_ref()?)).ok()?;
    Some(input::criteria(&text)).filter(|it| it.total != 0)
}

/// Returns the contract's object.
fn object(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> Value {
    let phase = &workflow.phases[state.phase];
    let breaker = &state.visit.breaker;
    let window = workflow.limits.window.as_ref();
    let item = state.item.as_ref().map(|it| {
        let done = state.items_done;
        json!({ "index": done + 1, "total": done + state.items_left, "name": it.name })
    });
    json!({
        "run": row.id,
        "workflow": workflow.name,
        "input": row.input,
        "project": row.project,
        "place": row.place,
        "branch": row.branch,
        "status": Status::of(state).word(),
        "controller": home.holder(&row.id).map(|it| it.pid),
        "reason": state.reason(workflow),
        "next_step": next_step(home, row, workflow, state),
        "phase": phase.name,
        "iteration": state.visit.iteration,
        "iterations_total": state.iterations_total,
        "calls_total": state.calls_total,
        "item": item,
        "progress_percent": state.progress_percent(workflow),
        "verified": state.verified(),
        "proof": state.shown_proof(workflow),
        "delivered": state.delivered.as_ref().map(|it| json!({ "commit": it })),
        "requirements": plan_view::requirements_json(state),
        "pool": pool_view::json(home, row),
        "warnings": state.warnings,
        "question": question_json(home, row, workflow, state),
        "breaker": {
            "state": breaker.state(&phase.breaker), "no_progress": breaker.no_progress, "same_error": breaker.same_error,
        },
        "limits": {
            "calls": state.calls.made,
            "calls_limit": window.map(|it| it.calls),
            "window_resets_at": window.map(|it| state.calls.start.plus(it.every).to_string()),
            "waiting_until": state.wait.as_ref().filter(|it| it.wait.has_end()).map(|it| it.until.to_string()),
            "waiting_for": state.wait.as_ref().map(|it| &it.why),
            "warning": state.plan_warning,
        },
        "budget": cost::budget_json(home, workflow, state),
        "models": named_models(workflow, state),
        "call": under_way(home, row, workflow, state).map(|(number, it)| {
            let last = it.lines.len().saturating_sub(LINES_SHOWN);
            json!({ "number": number, "doing": it.doing, "lines": it.lines[last..], "usage": it.usage })
        }),
        "metrics": state.visit.metrics,
        "phases": phases_json(workflow, state),
        "updated_at": state.updated_at.to_string(),
    })
}

fn phases_json(workflow: &Workflow, state: &State) -> Vec<Value> {
    let time = |at: Option<Timestamp>| at.map(|it| it.to_string());
    let phases = workflow.phases.iter().zip(&state.phases).enumerate().map(|(id, (phase, log))| {
        json!({
            "name": phase.name, "status": log.status, "iterations": state.iterations_of(workflow, id),
            "started_at": time(log.started_at), "completed_at": time(log.completed_at),
            "tokens": log.spent.tokens, "usd": cost::usd_json(&log.spent),
        })
    });
    phases.collect()
}

/// The open question, with what was answered already and what a signature has to be made of.
fn question_json(home: &Home, row: &Row, workflow: &Workflow, state: &State) -> Option<Value> {
    let open = state.question()?;
    let mut question = crate::cli::json::question(workflow, state, open);
    if let Some(about) = &open.about {
        question["about"] = json!(about);
    }
    if let Some(given) = desk::untaken(home, &row.id).ok().as_ref().and_then(|it| it.answer_to(state)) {
        question["answered"] = json!(given.choice.to_string());
    }
    if let Some(to_sign) = desk::to_sign(&row.id, workflow, state) {
        question["sign"] = json!({ "namespace": SIGNATURE_NAMESPACE, "statement": to_sign.statement });
    }
    Some(question)
}

/// Returns how long ago something was, as people say it.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    match now.since(at) {
        0..60_000 => "just now".to_owned(),
        millis @ 60_000..3_600_000 => format!("{}m ago", millis / 60_000),
        millis @ 3_600_000..86_400_000 => format!("{}h ago", millis / 3_600_000),
        millis => format!("{}d ago", millis / 86_400_000),
    }
}
