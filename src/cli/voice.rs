//! What a run says while it goes on: one plain line for each fact, JSON lines, or on a terminal a
//! line that also shows what is happening at the moment. Facts are said only after they are durable.

use super::Context;
use crate::engine::{Effect, Event, Status, Step};
use crate::host::world::Onlooker;
use crate::line::line;
use crate::store::run::Run;
use crate::text::sanitise;
use crate::time::Timestamp;
use crate::workflow::model::Permissions;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

pub(super) struct Voice {
    manner: Manner,
}

/// What stands between where a run is and what its agent is doing.
const DOING: &str = " | now: ";

/// Often enough to show that it is alive, seldom enough to cost nothing.
const TICK: Duration = Duration::from_millis(200);

enum Manner {
    Json,
    Quiet,
    Plain,
    /// A terminal: the last line shows what is going on.
    Live(ProgressBar),
}

impl Voice {
    pub(super) fn new(context: &Context) -> Voice {
        let manner = match () {
            () if context.json => Manner::Json,
            () if context.quiet => Manner::Quiet,
            () if std::io::stderr().is_terminal() => Manner::Live(live_line()),
            () => Manner::Plain,
        };
        Voice { manner }
    }

    /// The first line of every run: who works, with what, and what proves it.
    pub(super) fn greet(&self, run: &Run) {
        let agent = &run.workflow.agent;
        let name = if agent.cli == "command" { agent.args.join(" ") } else { agent.cli.clone() };
        let model = agent.model.as_deref().unwrap_or("its own model");
        let permissions = match agent.permissions {
            Permissions::All => "all permissions",
            Permissions::Edit => "may edit",
            Permissions::Agent => "its own permissions",
        };
        let checks: Vec<String> = run
            .workflow
            .checks
            .iter()
            .filter_map(|(name, check)| {
                check.run.as_ref().map(|it| format!("{name} ({})", it.replace('\n', "; ")))
            })
            .collect();
        let checks = if checks.is_empty() { "none, unverified".to_owned() } else { checks.join(", ") };
        let id = &run.id[..8];
        self.line(&format!(
            "run {id} · {} · agent {name}, {model}, {permissions} · checks: {checks}",
            run.workflow.name
        ));
    }

    pub(super) fn say(&self, run: &Run, facts: &[(Timestamp, Event)]) {
        for (at, event) in facts {
            match &self.manner {
                Manner::Json => println!("{}", json_line(*at, event)),
                Manner::Quiet => (),
                Manner::Plain | Manner::Live(_) => {
                    if let Some(text) = line(&run.workflow, event) {
                        self.line(&text);
                    }
                }
            }
        }
        if let Manner::Live(bar) = &self.manner {
            bar.set_message(sanitise(&doing(run)));
            // Nothing may move on the screen while a person is asked.
            match run.state.question() {
                Some(_) if bar.is_hidden() => (),
                Some(_) => {
                    bar.disable_steady_tick();
                    bar.set_draw_target(ProgressDrawTarget::hidden());
                }
                None if !bar.is_hidden() => (),
                None => {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            }
        }
    }

    /// Returns who shows what an agent is doing, where somebody looks on.
    pub(super) fn onlooker(&self) -> Option<Onlooker<'static>> {
        let Manner::Live(bar) = &self.manner else { return None };
        let bar = bar.clone();
        Some(Box::new(move |doing| {
            let before = bar.message();
            let standing = before.split(DOING).next().unwrap_or_default().to_owned();
            bar.set_message(format!("{standing}{DOING}{}", sanitise(doing)));
        }))
    }

    /// The last words: why it rests, and what a person can do.
    pub(super) fn rest(&self, run: &Run, status: Status, exit: u8) {
        let (reason, next_step) = (run.state.reason(&run.workflow), run.state.next_step(&run.workflow));
        if let Manner::Live(bar) = &self.manner {
            bar.finish_and_clear();
        }
        if let Manner::Json = self.manner {
            let object = serde_json::json!({
                "status": status.word(), "reason": reason, "next_step": next_step, "exit": exit,
            });
            println!("{}", super::json::line(&object));
            return;
        }
        eprintln!("{}: {}", status.word(), sanitise(&reason));
        eprintln!("next: {}", sanitise(&next_step));
    }

    fn line(&self, text: &str) {
        let text = sanitise(text);
        match &self.manner {
            Manner::Live(bar) if bar.is_hidden() => eprintln!("{text}"),
            Manner::Live(bar) => bar.println(text),
            Manner::Plain => eprintln!("{text}"),
            Manner::Json | Manner::Quiet => (),
        }
    }
}

fn live_line() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}").expect("the template is ours");
    bar.set_style(style);
    bar.enable_steady_tick(TICK);
    bar
}

fn doing(run: &Run) -> String {
    let state = &run.state;
    let phase = &run.workflow.phases[state.phase];
    let percent = state.progress_percent(&run.workflow);
    let most = state.iterations_limit(&run.workflow).map(|it| format!("/{it}")).unwrap_or_default();
    let tests = match (state.visit.metrics.get("tests_passing"), state.visit.metrics.get("tests_total")) {
        (Some(passing), Some(total)) => format!(" | {}/{} tests passing", passing.value, total.value),
        _ => String::new(),
    };
    let iteration = state.visit.iteration + 1;
    format!(
        "[{}] iteration {iteration}{most}{tests} | {percent} % | {}",
        phase.name,
        state.reason(&run.workflow)
    )
}

fn json_line(at: Timestamp, event: &Event) -> String {
    let mut object = serde_json::json!({ "at": at.to_string(), "kind": event.kind() });
    object["event"] = serde_json::to_value(event).unwrap_or_default();
    if let Event::Began(Effect::Work(call)) = event {
        object["call"] = call.number.into();
        if let Step::Skill(skill) | Step::Fix(skill) = &call.step {
            object["skill"] = skill.clone().into();
        }
    }
    super::json::line(&object)
}
