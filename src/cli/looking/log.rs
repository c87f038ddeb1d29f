//! `loop log`: the events of a run, oldest first.

use crate::cli::{Context, json};
use crate::desk::load;
use crate::world::wait::Signals;
use clap::Args;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use loop_core::engine::Event;
use loop_core::event_line::line;
use loop_core::workflow::model::Workflow;
use loop_store::{Home, Recorded};
use loop_supervise::follow::Watch;
use std::rc::Rc;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct LogFlags {
    /// Go on as events come, until the run rests
    #[arg(short, long)]
    follow: bool,
}

/// Events read at once: the log of a long run does not fit in memory comfortably.
const PAGE: usize = 1000;

pub(crate) fn run(context: &Context, flags: &LogFlags) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    let (workflow, _) = load(&home, &row)?;
    let mut log = EventLog { context, home, run: row.id, workflow, next: 1 };
    if flags.follow {
        return log.follow();
    }
    log.print()?;
    Ok(0)
}

struct EventLog<'a> {
    context: &'a Context,
    home: Rc<Home>,
    run: String,
    workflow: Workflow,
    /// The next event to read.
    next: i64,
}

impl EventLog<'_> {
    /// Prints what was written since the last time.
    fn print(&mut self) -> anyhow::Result<()> {
        loop {
            let page = self.home.events(&self.run, self.next, PAGE)?;
            for recorded in &page {
                self.next = recorded.seq + 1;
                print(self.context, &self.workflow, recorded);
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// Prints events as they come, until nobody drives the run or a signal ends us.
    fn follow(&mut self) -> anyhow::Result<u8> {
        let mut signals = Signals::listen()?;
        while let Some(holder) = self.home.holder(&self.run) {
            let Some(watch) = Watch::of(self.home.path(), holder.pid)? else { continue };
            // What was written before the watch began woke nobody.
            self.print()?;
            while self.home.holder(&self.run).is_some() {
                let woken = watch.wait(&mut signals, None, Duration::MAX)?;
                self.print()?;
                if let Some(signal) = woken.signal {
                    return Ok(128 + u8::try_from(signal).unwrap_or(0));
                }
            }
        }
        self.print()?;
        Ok(0)
    }
}

fn print(context: &Context, workflow: &Workflow, recorded: &Recorded) {
    let at = Timestamp(recorded.at);
    if context.json {
        let event: serde_json::Value = serde_json::from_str(&recorded.body).unwrap_or_default();
        let object = serde_json::json!({
            "seq": recorded.seq, "at": at.to_string(), "epoch": recorded.epoch, "kind": recorded.kind, "event": event,
        });
        println!("{}", json::line(&object));
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
pub(crate) fn nothing(context: &Context) -> anyhow::Result<u8> {
    if context.json {
        println!("{}", serde_json::json!({ "run": null }));
    } else {
        eprintln!("no run in this project");
        eprintln!("next: loop run \"what to build\"");
    }
    Ok(0)
}
