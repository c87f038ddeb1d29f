//! `loop design` and `loop refine`: the files that `ralph` works on. A design is never overwritten;
//! one that a run has locked is no longer refined.

use crate::cli::Context;
use crate::cli::hint;
use crate::desk::{
    GuardedCommand, NextStep, Refusal, newest_design, refuse_agents, refuse_placeholder, why_unreadable,
    write_design,
};
use crate::measure::detect::detect;
use crate::world::wait::now;
use clap::{Args, ValueEnum};
use loop_base::files::replace_for_good;
use loop_base::text::{sanitise, shell_word};
use loop_core::documents::design::{self, DesignSection, Draft, Edit};
use loop_core::documents::input;
use loop_core::documents::task_kind::{KINDS, kind_named, kind_of};

#[derive(Args)]
pub(crate) struct DesignFlags {
    /// What to build, in a sentence or more
    text: String,
    /// The type of the task, such as feature or bug-fix (default: guessed from the text)
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

#[derive(Args)]
pub(crate) struct RefineFlags {
    /// The design (default: the newest)
    file: Option<String>,
    /// An item to add
    #[arg(long, value_name = "TEXT")]
    add: Vec<String>,
    /// Where it is added
    #[arg(long, value_enum, value_name = "SECTION", default_value = "criteria")]
    to: To,
    /// An item to remove, by its text or a unique part of it
    #[arg(long, value_name = "TEXT")]
    remove: Vec<String>,
    /// An item to reword
    #[arg(long, value_name = "OLD=NEW")]
    change: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum To {
    Criteria,
    Requirements,
}

pub(crate) fn run(context: &Context, flags: &DesignFlags) -> anyhow::Result<u8> {
    refuse_agents(&context.caller, None, GuardedCommand::Design)?;
    if flags.text.trim().is_empty() {
        return Err(Refusal::usage("the text is empty", "loop design \"what to build\""));
    }
    refuse_placeholder(&flags.text)?;
    let kind = match &flags.kind {
        Some(name) => {
            let known: Vec<&str> = KINDS.iter().map(|it| it.id).collect();
            let text = format!("unknown type \"{name}\"");
            let help = NextStep::ByHand(format!("one of: {}", known.join(", ")));
            Some(kind_named(name).ok_or_else(|| Refusal::usage(text, help))?)
        }
        None => kind_of(&flags.text),
    };
    let project = context.caller.project()?;
    let checks: Vec<String> = detect(&project).into_iter().map(|it| it.run).collect();
    let at = now();
    let draft = Draft { sentence: &flags.text, kind, checks: &checks, reviewed: true, at };
    let text = design::compose(&draft);
    let path = write_design(&project, at, &text)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if context.json {
        let kind = kind.map(|it| it.id);
        println!("{}", serde_json::json!({ "design": path, "type": kind, "checks": checks }));
        return Ok(0);
    }
    println!("{name}");
    if !context.quiet {
        let word = input::promise(&text);
        eprintln!("task type: {}", kind.map_or("General", |it| it.name));
        eprintln!("when it is done, the agent must say <promise>{word}</promise>");
        if checks.is_empty() {
            eprintln!(
                "no check was found; list the commands that prove the work under \"Validation Checks\""
            );
        }
        eprintln!("read it first; loop refine --add \"a criterion\" edits it");
        eprintln!("{}", hint::next(&format!("loop run {name}")));
    }
    Ok(0)
}

pub(crate) fn refine(context: &Context, flags: &RefineFlags) -> anyhow::Result<u8> {
    refuse_agents(&context.caller, None, GuardedCommand::Design)?;
    let project = context.caller.project()?;
    let path = match &flags.file {
        Some(name) => context.caller.dir.join(name),
        None => newest_design(&project).ok_or_else(|| {
            Refusal::usage(format!("no design in {}", project.display()), "loop design \"what to build\"")
        })?,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = loop_base::files::text(&path).map_err(|error| {
        Refusal::usage(
            format!("{} {}", path.display(), why_unreadable(&error)),
            NextStep::by_hand("name another file"),
        )
    })?;
    if design::is_locked(&text) {
        return Err(Refusal::usage(
            format!("{name} is locked: a run works on it"),
            NextStep::by_hand(
                "loop cancel, then set its status line back to \"Design Phase\", or loop design another",
            ),
        ));
    }
    let to = match flags.to {
        To::Criteria => DesignSection::Criteria,
        To::Requirements => DesignSection::Requirements,
    };
    let removed = flags.remove.iter().map(|it| Edit::Remove(it.clone()));
    let changed = flags.change.iter().map(|it| Edit::Change(it.clone()));
    let added = flags.add.iter().map(|it| Edit::Add { to, text: it.clone() });
    let edits: Vec<Edit> = removed.chain(changed).chain(added).collect();
    if edits.is_empty() {
        let next = [
            "loop refine --add \"a criterion\"",
            "loop refine --remove \"a criterion\"",
            "loop refine --change \"old words=new words\"",
        ];
        return Err(Refusal::usage("say what to add, remove or change", next));
    }
    let refined = design::refine(&text, &edits).map_err(|why| {
        Refusal::usage(format!("{why}; {name} was not changed"), format!("cat {}", shell_word(&name)))
    })?;
    replace_for_good(&path, &refined)?;
    let count = loop_core::documents::input::criteria(&refined).total;
    if context.json {
        println!("{}", serde_json::json!({ "design": path, "criteria": count }));
    } else {
        if !context.quiet {
            // An item may have been named by a part of it, so it is said which one it was.
            told(&text, &refined).for_each(|it| eprintln!("{}", sanitise(&it)));
        }
        println!("{name}: {count} acceptance criteria");
    }
    Ok(0)
}

/// Returns the lines that are gone and those that came, marked as such.
fn told(before: &str, after: &str) -> impl Iterator<Item = String> {
    let only = |one: &str, other: &str, mark: char| {
        let others: Vec<&str> = other.lines().collect();
        let lines = one.lines().filter(|it| !it.trim().is_empty() && !others.contains(it));
        lines.map(|it| format!("{mark} {it}")).collect::<Vec<_>>()
    };
    only(before, after, '-').into_iter().chain(only(after, before, '+'))
}
