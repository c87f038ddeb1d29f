//! `loop doctor`: what is installed, what is allowed, and what would stop a run.
//! Nothing is started but git and `--version` of the agents that are there.

use super::Context;
use crate::host::detect::detect;
use crate::host::git::Git;
use crate::text::sanitise;
use serde_json::json;

/// One thing that was looked at.
pub(super) struct Finding {
    pub what: String,
    pub good: bool,
    pub says: String,
    pub next: Option<String>,
}

pub(super) fn run(context: &Context) -> anyhow::Result<u8> {
    let mut found = vec![home(context), git(context)];
    let agents = super::agents::findings();
    let any = agents.iter().any(|it| it.good);
    found.extend(agents.into_iter().filter(|it| it.good || !any));
    found.push(checks(context)?);
    found.push(isolation());
    print(context, &found);
    Ok(0)
}

fn print(context: &Context, found: &[Finding]) {
    if context.json {
        let list: Vec<_> = found
            .iter()
            .map(|it| json!({ "what": it.what, "ok": it.good, "says": it.says, "next_step": it.next }))
            .collect();
        println!("{}", serde_json::Value::from(list));
        return;
    }
    found.iter().for_each(print_one);
}

pub(super) fn print_one(finding: &Finding) {
    let mark = if finding.good { "ok     " } else { "missing" };
    println!("{mark}  {:<10}  {}", finding.what, sanitise(&finding.says));
    if let Some(next) = &finding.next {
        println!("         next: {}", sanitise(next));
    }
}

fn home(context: &Context) -> Finding {
    let path = context.home_path().display().to_string();
    match context.existing_home() {
        Ok(Some(home)) => match home.faults() {
            Ok(faults) if faults.is_empty() => good("home", path),
            Ok(faults) => bad(
                "home",
                format!("{path}: {}", faults.join("; ")),
                "restore a backup, or use another --home",
            ),
            Err(error) => bad("home", error.to_string(), "use another --home"),
        },
        Ok(None) => good("home", format!("{path} (made by the first run)")),
        Err(error) => bad("home", error.to_string(), "use another --home"),
    }
}

fn git(context: &Context) -> Finding {
    let here = context.project().and_then(|it| Ok(Git::around(&it)?));
    match here {
        Ok(git) => good("git", format!("working tree {}", git.work_tree().display())),
        Err(error) => bad("git", error.to_string(), "git init, or name a repository with -C DIR"),
    }
}

fn checks(context: &Context) -> anyhow::Result<Finding> {
    let found = detect(&context.project()?);
    if found.is_empty() {
        return Ok(bad(
            "checks",
            "none found in this project".to_owned(),
            "loop run --check tests=\"COMMAND\"",
        ));
    }
    let list: Vec<String> = found.iter().map(|it| format!("{}: {} ({})", it.name, it.run, it.why)).collect();
    Ok(good("checks", list.join(", ")))
}

/// Agents run as the same user without a sandbox of ours: what they change in our books is found
/// out, not prevented.
fn isolation() -> Finding {
    let root = if rustix::process::geteuid().is_root() { "; agents run as root" } else { "" };
    good("isolation", format!("T0, none: tampering is detected, not prevented{root}"))
}

pub(super) fn good(what: &str, says: String) -> Finding {
    Finding { what: what.to_owned(), good: true, says, next: None }
}

pub(super) fn bad(what: &str, says: String, next: &str) -> Finding {
    Finding { what: what.to_owned(), good: false, says, next: Some(next.to_owned()) }
}
