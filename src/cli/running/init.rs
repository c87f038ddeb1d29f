//! `loop init`: opens a run without driving it. With `--hook` the agent's own session works on it:
//! the prompt is printed, and from then on the session's stop hook says what comes next.

use super::drive;
use super::flags::RunFlags;
use super::run::{TellOnce, answered, open, tell_next, tell_why};
use crate::cli::context::Context;
use crate::cli::hint;
use crate::cli::setting_up::setup;
use crate::cli::terminal::RestingRun;
use crate::desk::{self, CarriedOutBy, Looked, NextStep, OpenReply, OpenRun, Refusal, load};
use clap::Args;
use loop_base::text::counted;
use loop_core::engine::Status;
use loop_store::{Home, Row, mirror};

#[derive(Args)]
pub(crate) struct InitFlags {
    #[command(flatten)]
    run: RunFlags,
    /// Open the next ready system of the queue
    #[arg(long)]
    next: bool,
    /// Let your own agent session work on it; its stop hook asks loop what comes next
    #[arg(long)]
    hook: bool,
    /// The session that works on it (default: the first one that stops in this project)
    #[arg(long, value_name = "ID", requires = "hook")]
    session: Option<String>,
}

pub(crate) fn run(context: &Context, flags: &InitFlags) -> anyhow::Result<u8> {
    if flags.run.detach {
        return Err(Refusal::usage(
            "loop init only opens a run and takes no --detach",
            NextStep::by_hand("leave --detach out, or use loop run --detach"),
        ));
    }
    if flags.run.input.is_none() && !flags.hook && !flags.next {
        return setup::run(
            context,
            &setup::SetupFlags::of(flags.run.preset.clone(), flags.run.agent.clone()),
        );
    }
    if flags.hook && !flags.run.fresh {
        refuse_second(context)?;
    }
    if flags.hook && flags.run.worktree {
        return Err(Refusal::usage(
            "a session works where it was started, not in a worktree",
            NextStep::by_hand("start the session in a worktree of your own, or use loop run --worktree"),
        ));
    }
    let mut request = flags.run.request(if flags.hook { CarriedOutBy::Session } else { CarriedOutBy::Us });
    if flags.run.jobs.is_some() {
        let next = NextStep::by_hand("leave --jobs out, or use loop run --jobs");
        return Err(Refusal::usage("loop init opens one run and takes no --jobs", next));
    }
    let mut told = TellOnce::default();
    request.next_job = flags.next;
    if flags.next {
        refuse_left_behind(context, &flags.run, &mut told)?;
    }
    loop {
        return match open(context, &request, &mut told)? {
            OpenReply::Question(question) => match answered(context, *question, request)? {
                Some(with_answer) => {
                    request = with_answer;
                    continue;
                }
                None => Ok(5),
            },
            OpenReply::Next(text) => Ok(tell_next(context, &text)),
            OpenReply::Before(found) => match desk::look_again(&context.caller, &found, &request)? {
                Some(Looked::Done(text)) => drive::done_before(context, &found, &text),
                Some(Looked::Anew(why)) => {
                    tell_why(context, &found.row.id, &why);
                    request.fresh = true;
                    request.input.get_or_insert_with(|| found.row.input.clone());
                    continue;
                }
                None => Err(active(&found.home, &found.row)),
            },
            OpenReply::Adopted(found) if !flags.hook => taken_over(context, &found.home, &found.row),
            OpenReply::Adopted(found) => opened(context, flags, desk::retake(&context.caller, found)?),
            OpenReply::Opened(it) => opened(context, flags, *it),
        };
    }
}

fn opened(context: &Context, flags: &InitFlags, opened: OpenRun) -> anyhow::Result<u8> {
    if flags.hook {
        return begin(context, opened, flags.session.as_deref());
    }
    let home = std::rc::Rc::clone(&opened.home);
    let run = desk::make_place(opened)?;
    if context.json {
        println!("{}", serde_json::json!({ "run": run.id, "status": Status::of(&run.state).word() }));
    } else {
        println!("run {} is opened: {}", &run.id[..8], run.state.opening.input);
        println!("{}", hint::next(&desk::naming_run(&home, &run.id, "loop run".to_owned())?));
    }
    Ok(0)
}

/// A session of another controller became a run: its files are ours from here on.
fn taken_over(context: &Context, home: &Home, row: &Row) -> anyhow::Result<u8> {
    let (workflow, state) = load(home, row)?;
    mirror::restore(home, &row.id, &workflow, &state, std::path::Path::new(&row.place));
    let word = Status::of(&state).word();
    if context.json {
        println!("{}", serde_json::json!({ "run": row.id, "status": word, "imported": true }));
        return Ok(0);
    }
    println!(
        "run {} was imported: {}, {word} in {}, {}; unverified until its first measurement here",
        &row.id[..8],
        row.input,
        workflow.phases[state.phase].name,
        counted(state.iterations_shown(&workflow), "iteration")
    );
    println!("next: {}", hint::next_step(home, &row.id, &workflow, &state)?);
    Ok(0)
}

/// A system whose controller died is continued before another one is begun.
fn refuse_left_behind(context: &Context, flags: &RunFlags, told: &mut TellOnce) -> anyhow::Result<()> {
    if flags.input.is_some() {
        return Err(Refusal::usage("--next takes no input", ["loop init --next"]));
    }
    let caller = &context.caller;
    let project = caller.project()?;
    let domain = flags.domain.as_deref();
    let left = told.with(context, |notes| desk::left_behind(caller, &project, domain, notes))?;
    match left {
        None => Ok(()),
        Some(id) => Err(Refusal {
            text: format!("the run of {id} lost its controller; continue it before you begin another system"),
            next: Some(format!("loop run {id}").into()),
            exit: 7,
        }
        .into()),
    }
}

/// One session's loop is enough for a project: a second would answer the same stops.
fn refuse_second(context: &Context) -> anyhow::Result<()> {
    let Some(home) = context.caller.existing_home()? else { return Ok(()) };
    match desk::sessions_of_project(&context.caller, &home)?.first() {
        Some((row, _)) => Err(active(&home, row)),
        None => Ok(()),
    }
}

fn active(home: &Home, row: &Row) -> anyhow::Error {
    let most = load(home, row)
        .ok()
        .and_then(|(workflow, state)| state.iterations_limit(&workflow))
        .map(|it| format!("/{it}"))
        .unwrap_or_default();
    let text = format!(
        "run {} is {}: {}, iteration {}{most}",
        &row.id[..8],
        row.status,
        row.input,
        row.iterations_total
    );
    Refusal { text, next: Some(["loop status", "loop cancel"].into()), exit: 7 }.into()
}

fn begin(context: &Context, mut opened: OpenRun, session: Option<&str>) -> anyhow::Result<u8> {
    let prompt = desk::first_prompt(&mut opened, session)?;
    let run = &opened.run;
    let Some(prompt) = prompt else {
        let exit = Status::of(&run.state).exit();
        let (workflow, state) = (&run.workflow, &run.state);
        let folder = run.folder();
        let next = hint::pasteable(&desk::next_step_of(workflow, state));
        let ended = RestingRun {
            workflow,
            state,
            place: &opened.place,
            folder: &folder,
            asked: None,
            next: &next,
            other: None,
            tells_next: true,
            more: &[],
        };
        context.run_output().rest(&ended, exit);
        return Ok(exit);
    };
    if context.json {
        println!("{}", serde_json::json!({ "run": run.id, "prompt": prompt }));
        return Ok(0);
    }
    if !context.quiet {
        eprintln!(
            "run {} is open; the next session with the stop hook works on it (loop hook install, or the plugin)",
            &run.id[..8]
        );
    }
    print!("{prompt}");
    Ok(0)
}
