//! `loop ship`: hands in what a completed run made. Everything that could stop it is looked at first;
//! only then come a branch, a commit, a push and a pull request, each of which is asked for before it
//! is made, so that a second call goes on where the first one ended. Nothing is ever forced, nothing
//! empty is committed, and what was uncommitted before the run began stays where it is.
//!
//! Hooks of the repository do not run: an agent could have written them. What a pre-commit hook would
//! look at, the checks look at here.

mod work;

use super::context::Context;
use super::{Trouble, status};
use crate::ship::Kind;
use crate::text::sanitise;
use clap::Args;
use serde_json::json;
use work::{Preflight, Shipped, Work};

#[derive(Args)]
pub(super) struct Flags {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Push the branch, and open no pull request
    #[arg(long)]
    no_pr: bool,
    /// The kind of change: feat, fix, refactor, docs, test, chore
    #[arg(long = "type", value_name = "T", value_parser = kind)]
    kind: Option<Kind>,
}

fn kind(text: &str) -> Result<Kind, String> {
    Kind::read(text).ok_or_else(|| "one of feat, fix, refactor, docs, test, chore".to_owned())
}

pub(super) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    let home = context.existing_home()?;
    let row = match &home {
        Some(home) => context.find(home)?,
        None => None,
    };
    let (Some(home), Some(row)) = (home, row) else {
        return Err(Trouble::usage("no run in this project", "loop run FILE --preset tdd"));
    };
    let (workflow, state) = status::load(&home, &row)?;
    if !matches!(workflow.finish.ship.as_str(), "offer" | "auto") {
        let text = format!("the workflow {} ships nothing", workflow.name);
        return Err(Trouble::usage(text, "[finish] ship = \"offer\" in .loop/workflow.toml allows it"));
    }
    let work = Work::look(&home, row, workflow, state, flags)?;
    let preflight = work.preflight()?;
    let name = preflight.branch.clone().unwrap_or_default();
    if flags.dry_run {
        tell_plan(&work, context, &preflight);
        return Ok(if preflight.errors.is_empty() { 0 } else { 4 });
    }
    work.mirror("preflight-result.json", &preflight.object());
    work.mirror("ship-config.json", &work.config());
    work.mirror_text("current-prp.txt", &format!("{}\n", work.state.opening.input));
    let mut shipped = Shipped { errors: preflight.errors.clone(), ..Shipped::default() };
    let mut exit = 4;
    if shipped.errors.is_empty() {
        exit = match work.ship(&preflight, flags, &mut shipped) {
            Ok(()) => 0,
            Err(error) => {
                shipped.errors.push(format!("{error:#}"));
                1
            }
        };
    }
    work.mirror("ship-result.json", &shipped.object(exit == 0));
    tell(context, &shipped, exit, &name);
    Ok(exit)
}

fn tell_plan(work: &Work, context: &Context, preflight: &Preflight) {
    if context.json {
        let plan = json!({
            "dry_run": true, "config": work.config(), "preflight": preflight.object(),
            "message": work.message.whole(), "errors": preflight.errors,
        });
        println!("{plan:#}");
        return;
    }
    println!("branch   {}", work.names.branch);
    println!("commits  {} since the run began", preflight.commits);
    for path in &preflight.files {
        println!("commit   {}", sanitise(&path.to_string_lossy()));
    }
    for path in &preflight.unrelated {
        println!("leave    {}", sanitise(&path.to_string_lossy()));
    }
    for line in work.message.whole().lines() {
        println!("  | {}", sanitise(line));
    }
    for error in &preflight.errors {
        println!("not met  {}", sanitise(error));
    }
    println!("nothing was changed");
}

fn tell(context: &Context, shipped: &Shipped, exit: u8, before: &str) {
    if context.json {
        println!("{:#}", shipped.object(exit == 0));
        return;
    }
    for warning in &shipped.warnings {
        eprintln!("warning: {}", sanitise(warning));
    }
    for error in &shipped.errors {
        eprintln!("loop: {}", sanitise(error));
    }
    if exit == 4 {
        eprintln!("nothing was changed");
        eprintln!("next: mend what is named, then loop ship");
    }
    if let (Some(branch), Some(commit)) = (&shipped.branch, &shipped.commit) {
        println!("{branch} at {}", commit.get(..7).unwrap_or(commit));
        if before != branch {
            println!("next: git switch {} goes back", sanitise(before));
        }
    }
    if let Some(url) = &shipped.url {
        println!("{}", sanitise(url));
    }
}
