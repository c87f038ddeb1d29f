//! `loop log`: the events of a run, oldest first.

use super::{Context, Trouble, status};
use clap::Args;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use loop_core::engine::Event;
use loop_core::event_line::line;
use loop_core::workflow::model::Workflow;
use loop_store::Recorded;
use std::time::Duration;

#[derive(Args)]
pub(super) struct Flags {
    /// Go on as events come, until the run rests
    #[arg(short, long)]
    follow: bool,
}

/// Events read at once: the log of a long run does not fit in memory comfortably.
const PAGE: usize = 1000;

/// How often a follower looks; it only reads, and nothing waits for it.
const LOOK_EVERY: Duration = Duration::from_millis(300);

pub(super) fn run(context: &Context, flags: &Flags) -> anyhow::Result<u8> {
    let Some(home) = context.existing_home()? else { return nothing(context) };
    let Some(row) = context.find(&home)? else { return nothing(context) };
    let (workflow, _) = status::load(&home, &row)?;
    let mut next = 1;
    loop {
        let page = home.events(&row.id, next, PAGE)?;
        for recorded in &page {
            next = recorded.seq + 1;
            print(context, &workflow, recorded);
        }
        if page.len() == PAGE {
            continue;
        }
        if !flags.follow || home.holder(&row.id).is_none() {
            return Ok(0);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn print(context: &Context, workflow: &Workflow, recorded: &Recorded) {
    let at = Timestamp(recorded.at);
    if context.json {
        let event: serde_json::Value = serde_json::from_str(&recorded.body).unwrap_or_default();
        let object = serde_json::json!({
            "seq": recorded.seq, "at": at.to_string(), "epoch": recorded.epoch, "kind": recorded.kind, "event": event,
        });
        println!("{}", super::json::line(&object));
        return;
    }
    let text = match serde_json::from_str::<Event>(&recorded.body) {
        Ok(event) => line(workflow, &event),
        Err(_) => Some(recorded.kind.clone()),
    };
    match text {
        Some(text) => println!("{:>5}  {at}  {}", recorded.seq, sanitise(&text)),
        None if context.verbose => println!("{:>5}  {at}  {}", recorded.seq, recorded.kind),
        None => (),
    }
}

/// What a command that only reads says where there is nothing to read.
pub(super) fn nothing(context: &Context) -> anyhow::Result<u8> {
    if context.json {
        println!("{}", serde_json::json!({ "run": null }));
    } else {
        eprintln!("no run in this project");
        eprintln!("next: loop run \"what to build\"");
    }
    Ok(0)
}

/// What a command that changes something says where there is nothing to change.
pub(super) fn none() -> anyhow::Result<u8> {
    Err(Trouble {
        text: "no run in this project".to_owned(),
        next: Some("loop run \"what to build\"".to_owned()),
        exit: 2,
    }
    .into())
}
