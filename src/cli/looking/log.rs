//! `loop log`: the events of a run, oldest first.

use crate::cli::context::show;
use crate::cli::{Context, hint, json, values};
use crate::desk::load;
use crate::world::agent_output::live_output::{CallProgress, LiveCall};
use crate::world::wait::{Signals, now};
use clap::Args;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use loop_core::agents::Detail;
use loop_core::engine::{Effect, Event};
use loop_core::event_line::line;
use loop_core::workflow::model::Workflow;
use loop_store::{Home, Recorded};
use loop_supervise::follow::Watch;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

#[derive(Args)]
pub(crate) struct LogFlags {
    /// Follow the run and what its agent does as it happens, until it finishes or needs you (with -v also
    /// what its tools answer)
    #[arg(short, long)]
    follow: bool,
    /// Only the last N lines
    #[arg(short = 'n', long, value_name = "N", value_parser = values::count)]
    lines: Option<u32>,
    /// Only events since then: a time such as 2026-11-18T09:30:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Timestamp>,
}

/// Reads a moment: a time as `loop log` prints it, or how long ago it was.
fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp(time.as_millisecond()));
    }
    let wrong =
        |_| "write a time such as 2026-11-18T09:30:00Z, or how long ago, such as 10m or 2h".to_owned();
    values::length(text).map(|it| Timestamp(now().0.saturating_sub_unsigned(it))).map_err(wrong)
}

/// Events read at once: the log of a long run does not fit in memory comfortably.
const PAGE: usize = 1000;

pub(crate) fn run(context: &Context, flags: &LogFlags) -> anyhow::Result<u8> {
    let Some(home) = context.caller.existing_home()? else { return nothing(context) };
    let Some(row) = context.caller.find(&home)? else { return nothing(context) };
    let (workflow, _) = load(&home, &row)?;
    let place = PathBuf::from(&row.place);
    let mut log = EventLog {
        context,
        home,
        run: row.id,
        place,
        workflow,
        next: 1,
        since: flags.since,
        last: flags.lines.map(|it| (it as usize, VecDeque::new())),
        is_live: false,
        call: None,
        live: None,
    };
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
    place: PathBuf,
    workflow: Workflow,
    /// The next event to read.
    next: i64,
    /// What happened before is not printed.
    since: Option<Timestamp>,
    /// How many of the lines that are there already are printed, and those; nothing once that was done.
    last: Option<(usize, VecDeque<String>)>,
    /// Whether what is read from now on happens now.
    is_live: bool,
    /// The call that is under way, with the name of its files.
    call: Option<(u32, String)>,
    live: Option<LiveCall>,
}

impl EventLog<'_> {
    /// Prints what was written since the last time.
    fn print(&mut self) -> anyhow::Result<()> {
        loop {
            let page = self.home.events(&self.run, self.next, PAGE)?;
            for recorded in &page {
                self.next = recorded.seq + 1;
                self.follow_call(recorded);
                if self.since.is_some_and(|it| recorded.at < it.0) {
                    continue;
                }
                let Some(line) = event_line(self.context, &self.workflow, recorded) else { continue };
                match &mut self.last {
                    Some((most, lines)) => {
                        lines.push_back(line);
                        if *most < lines.len() {
                            lines.pop_front();
                        }
                    }
                    None => show(&line),
                }
            }
            if page.len() < PAGE {
                let kept = self.last.take().map(|it| it.1).unwrap_or_default();
                kept.iter().for_each(|it| show(it));
                return Ok(());
            }
        }
    }

    /// Notes which call is under way; what one that ends wrote last is told before its end.
    fn follow_call(&mut self, recorded: &Recorded) {
        match serde_json::from_str::<Event>(&recorded.body) {
            Ok(Event::Began(Effect::Work(call))) => {
                self.call = Some((call.number, call.stem()));
                self.live = None;
            }
            Ok(Event::Ended(_)) => {
                if self.is_live {
                    self.open_call();
                    if let (Some(live), Some((number, _))) = (&mut self.live, &self.call) {
                        tell(self.context, *number, &live.finish());
                    }
                }
                (self.call, self.live) = (None, None);
            }
            Ok(_) | Err(_) => (),
        }
    }

    /// Tells what the agent has done since the last look.
    fn look(&mut self) {
        self.open_call();
        if let (Some(live), Some((number, _))) = (&mut self.live, &self.call) {
            tell(self.context, *number, &live.look());
        }
    }

    fn open_call(&mut self) {
        let (Some((_, stem)), None) = (&self.call, &self.live) else { return };
        let Some(agent) = self.workflow.agent.cli.row() else { return };
        let output = self.home.folder(&self.run).join(format!("{stem}.out"));
        let detail = if self.context.verbose { Detail::Results } else { Detail::Steps };
        self.live = output.exists().then(|| LiveCall::at(&output, agent, &self.place, detail));
    }

    /// Prints events as they come, until nobody drives the run or a signal ends us.
    fn follow(&mut self) -> anyhow::Result<u8> {
        let mut signals = Signals::listen()?;
        while let Some(holder) = self.home.holder(&self.run) {
            let Some(watch) = Watch::of(self.home.path(), holder.pid)? else { continue };
            let watch = watch.with_outputs(&self.home.folder(&self.run))?;
            // What was written before the watch began woke nobody.
            self.print()?;
            self.is_live = true;
            while self.home.holder(&self.run).is_some() {
                self.look();
                let woken = watch.wait(&mut signals, None, Duration::MAX)?;
                // What a call prints is no event; whatever else ended the wait may have left one.
                if woken.written || !woken.output {
                    self.print()?;
                }
                if let Some(signal) = woken.signal {
                    return Ok(128 + u8::try_from(signal).unwrap_or(0));
                }
            }
        }
        self.print()?;
        Ok(0)
    }
}

/// Prints what an agent did.
fn tell(context: &Context, call: u32, progress: &CallProgress) {
    if context.json {
        for event in &progress.events {
            let object = serde_json::json!({ "kind": "agent", "call": call, "event": event });
            println!("{}", loop_base::secret::redact(&json::line(&object)));
        }
        return;
    }
    progress.lines.iter().for_each(|it| show(&format!("       {it}")));
}

fn event_line(context: &Context, workflow: &Workflow, recorded: &Recorded) -> Option<String> {
    let at = Timestamp(recorded.at);
    if context.json {
        let event: serde_json::Value = serde_json::from_str(&recorded.body).unwrap_or_default();
        let object = serde_json::json!({
            "seq": recorded.seq, "at": at.to_string(), "epoch": recorded.epoch, "kind": recorded.kind, "event": event,
        });
        return Some(json::line(&object));
    }
    let text = match serde_json::from_str::<Event>(&recorded.body) {
        Ok(event) => line(workflow, &event),
        Err(_) => Some(recorded.kind.clone()),
    };
    match text {
        Some(text) => Some(format!("{:>5}  {at}  {}", recorded.seq, sanitise(&text))),
        None if context.verbose => Some(format!("{:>5}  {at}  {}", recorded.seq, recorded.kind)),
        None => None,
    }
}

/// What a command that only reads says where there is nothing to read.
pub(crate) fn nothing(context: &Context) -> anyhow::Result<u8> {
    if context.json {
        println!("{}", serde_json::json!({ "run": null }));
    } else {
        eprintln!("no run in this project");
        eprintln!("{}", hint::next("loop run \"what to build\""));
    }
    Ok(0)
}
