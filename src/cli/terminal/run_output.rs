//! What a run says while it works: one plain line for each fact, JSON lines, or on a terminal
//! lines at the bottom that also show what is happening at the moment. Facts are said only after
//! they are durable.

use super::super::{hint, json};
use super::ask::{self, AnswerCheck, AskResult, Listen};
use super::fit::{Ink, PaintedLine};
use super::iterations::Iterations;
use super::screen::{self, Screen};
use super::verdict::{QUOTED, RestingRun};
use super::view::RunView;
use crate::world::agent_output::live_output::Observed;
use crate::world::question_text;
use crate::world::real::Onlooker;
use crate::world::wait::now;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use loop_core::agent_table::AgentRow;
use loop_core::engine::{Command, Effect, Event, Question, State, Status, Step, offers};
use loop_core::event_line::running_line;
use loop_core::workflow::model::{Permissions, Workflow};
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

pub(crate) struct RunOutput {
    manner: Manner,
    /// The question that was said last.
    told: Cell<u32>,
    /// That the run is resumed, until something follows.
    resumed: RefCell<Option<String>>,
    iterations: RefCell<Iterations>,
    /// Whether every step of an agent is said.
    is_verbose: bool,
}

enum Manner {
    Json,
    Quiet,
    Plain,
    /// A terminal: the last lines show what is going on.
    Live(Screen),
}

/// What was asked for by the flags of every command.
#[derive(Clone, Copy)]
pub(crate) struct OutputFlags {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
}

impl RunOutput {
    pub(crate) fn new(flags: OutputFlags) -> RunOutput {
        let is_terminal = std::io::stderr().is_terminal();
        let manner = match screen::abilities() {
            _ if flags.json => Manner::Json,
            _ if flags.quiet => Manner::Quiet,
            Some(in_colour) if is_terminal => Manner::Live(Screen::new(RunView::default(), in_colour)),
            Some(_) | None => Manner::Plain,
        };
        RunOutput {
            manner,
            told: Cell::new(0),
            resumed: RefCell::default(),
            iterations: RefCell::default(),
            is_verbose: flags.verbose,
        }
    }

    /// The first line of every run: who works, with what, and what proves it.
    pub(crate) fn greet(&self, id: &str, workflow: &Workflow) {
        let agent = &workflow.agent;
        let is_any_program = agent.cli.row().is_some_and(AgentRow::is_any_program);
        let name = match agent.args.split_first() {
            Some((program, words)) if is_any_program => {
                std::iter::once(typed(program)).chain(words.iter().cloned()).collect::<Vec<_>>().join(" ")
            }
            Some(_) | None => agent.cli.to_string(),
        };
        let model = agent.model.as_deref().unwrap_or("default model");
        let permissions = match agent.permissions {
            Permissions::All => "all permissions",
            Permissions::Edit => "may edit",
            Permissions::Agent => "its own permissions",
        };
        let checks: Vec<String> = workflow
            .checks
            .iter()
            .filter_map(|(name, check)| {
                check.run.as_ref().map(|it| format!("{name} ({})", it.replace('\n', "; ")))
            })
            .collect();
        let checks = if checks.is_empty() { "none, unverified".to_owned() } else { checks.join(", ") };
        self.line(&format!(
            "run {} · {} · agent {name}, {model}, {permissions} · checks: {checks}",
            &id[..8],
            workflow.name
        ));
    }

    /// Says what has happened, and shows what it led to.
    pub(crate) fn say(&self, workflow: &Workflow, state: &State, facts: &[(Timestamp, Event)]) {
        for (at, event) in facts {
            match &self.manner {
                Manner::Json => println!("{}", json_line(*at, event)),
                Manner::Quiet => (),
                Manner::Plain | Manner::Live(_) => {
                    if let Some(text) = running_line(workflow, event) {
                        self.say_resumed();
                        let text = with_pasteable_step(text, event);
                        match event {
                            Event::Commanded(Command::Resume { .. }) => {
                                drop(self.resumed.replace(Some(text)))
                            }
                            _ => self.line(&text),
                        }
                    }
                    if let Some(text) = self.iterations.borrow_mut().follow(workflow, state, event) {
                        self.line(&text);
                    }
                }
            }
        }
        self.show(workflow, state, facts);
    }

    /// A run is called resumed once it does something: one that still waits for an answer is not.
    fn say_resumed(&self) {
        if let Some(text) = self.resumed.take() {
            self.line(&text);
        }
    }

    /// Shows where a run stands, without a word about how it came there.
    pub(crate) fn show(&self, workflow: &Workflow, state: &State, facts: &[(Timestamp, Event)]) {
        if let Manner::Live(screen) = &self.manner {
            screen.show(|view| {
                view.begin(now());
                view.follow(workflow, state, facts);
            });
        }
    }

    /// Returns who shows what an agent is doing, where somebody looks on.
    pub(crate) fn onlooker(&self) -> Option<Onlooker<'static>> {
        let is_verbose = self.is_verbose;
        match &self.manner {
            Manner::Live(screen) => {
                let screen = screen.clone();
                Some(Box::new(move |seen| {
                    if let (Observed::Call(progress), true) = (seen, is_verbose) {
                        progress.lines.iter().for_each(|it| screen.line(it));
                    }
                    screen.show(|view| view.act(seen));
                }))
            }
            Manner::Plain if is_verbose => Some(Box::new(|seen| {
                if let Observed::Call(progress) = seen {
                    progress.lines.iter().for_each(|it| eprintln!("{it}"));
                }
            })),
            Manner::Plain | Manner::Json | Manner::Quiet => None,
        }
    }

    /// Says what is asked, what there is to know, and what each answer does; once for each question.
    pub(crate) fn tell(&self, workflow: &Workflow, state: &State, question: &Question) {
        if self.told.replace(question.id) == question.id {
            return;
        }
        let text = question_text::whole(workflow, state, question);
        match &self.manner {
            // What a program printed is cut, so that the question stays on the screen.
            Manner::Live(screen) => {
                let width = screen::columns().unwrap_or(usize::MAX);
                let lines: Vec<String> = text.lines().map(|it| cut_if_quoted(it, width)).collect();
                screen.line(&lines.join("\n"));
            }
            Manner::Plain => self.line(&text),
            Manner::Json | Manner::Quiet => eprintln!("{}", sanitise(&text)),
        }
    }

    /// Returns the question that was said here last, 0 where none was.
    pub(crate) fn asked(&self) -> u32 {
        self.told.get()
    }

    /// Asks a question until it is answered, here or elsewhere.
    pub(crate) fn ask(
        &self,
        workflow: &Workflow,
        state: &State,
        question: &Question,
        check: &AnswerCheck<'_>,
        listen: &mut Listen<'_>,
    ) -> anyhow::Result<AskResult> {
        self.tell(workflow, state, question);
        let offers = offers(workflow, state, question);
        match &self.manner {
            Manner::Live(screen) => ask::on_screen(screen, question, &offers, check, listen),
            Manner::Json | Manner::Quiet | Manner::Plain => ask::in_lines(question, &offers, check, listen),
        }
    }

    /// The last lines: how the run ended, and what a person can do.
    pub(crate) fn rest(&self, ended: &RestingRun<'_>, exit: u8) {
        self.close();
        let RestingRun { workflow, state, .. } = ended;
        let (status, next) = (Status::of(state), ended.next);
        match self.manner {
            Manner::Json => {
                let mut object = serde_json::json!({
                    "status": status.word(), "reason": state.reason(workflow), "next_step": next, "exit": exit,
                });
                if let Some(question) = state.question() {
                    object["question"] = json::question(workflow, state, question);
                }
                println!("{}", json::line(&object));
            }
            Manner::Quiet => self.end(status.word(), &state.reason(workflow), next, exit),
            Manner::Plain | Manner::Live(_) => {
                let width = screen::columns().unwrap_or(usize::MAX);
                let lines = ended.lines();
                for line in &lines {
                    // Only what a program printed is cut; our own words are never lost.
                    if line.starts_with(QUOTED) {
                        eprintln!("{}", cut_if_quoted(line, width));
                    } else {
                        self.rows(line, width).iter().for_each(|it| eprintln!("{it}"));
                    }
                }
                if ended.tells_next {
                    hint::before_next(state, &lines.join("\n")).iter().for_each(|it| eprintln!("{it}"));
                    eprintln!("next: {}", sanitise(next));
                    ended.other.iter().for_each(|it| eprintln!("  or: {}", sanitise(it)));
                }
            }
        }
    }

    /// The next step, after it was offered and declined; told before where only the end is printed.
    pub(crate) fn declined(&self, next: &str) {
        match self.manner {
            Manner::Json | Manner::Quiet => (),
            Manner::Plain | Manner::Live(_) => eprintln!("next: {}", sanitise(next)),
        }
    }

    /// Says something beside the facts of the run, to people only.
    pub(crate) fn note(&self, text: &str) {
        self.line(text);
    }

    /// Last words of any kind.
    pub(crate) fn end(&self, status: &str, reason: &str, next_step: &str, exit: u8) {
        self.close();
        if let Manner::Json = self.manner {
            let object = serde_json::json!({
                "status": status, "reason": reason, "next_step": next_step, "exit": exit,
            });
            println!("{}", json::line(&object));
            return;
        }
        eprintln!("{status}: {}", sanitise(reason));
        eprintln!("next: {}", sanitise(next_step));
    }

    /// A line as it is printed below the others: broken at its words on a terminal.
    fn rows(&self, line: &str, width: usize) -> Vec<String> {
        match self.manner {
            Manner::Live(_) => screen::rows(line, width),
            Manner::Json | Manner::Quiet | Manner::Plain => vec![line.to_owned()],
        }
    }

    fn close(&self) {
        if let Manner::Live(screen) = &self.manner {
            screen.close();
        }
    }

    fn line(&self, text: &str) {
        match &self.manner {
            Manner::Live(screen) => screen.line(text),
            Manner::Plain => eprintln!("{}", sanitise(text)),
            Manner::Json | Manner::Quiet => (),
        }
    }
}

impl Drop for RunOutput {
    fn drop(&mut self) {
        self.close();
    }
}

/// A line that a program printed, cut where it would not fit; our own words are returned as they are.
fn cut_if_quoted(line: &str, width: usize) -> String {
    if !line.starts_with(QUOTED) {
        return line.to_owned();
    }
    let mut quoted = PaintedLine::default();
    quoted.push(Ink::Plain, line);
    quoted.cut(width.max(20)).painted(false)
}

/// The program of an agent as a person would type it here.
fn typed(program: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path: PathBuf = Path::new(program).components().collect();
    match path.strip_prefix(&here) {
        Ok(inside) if path.is_absolute() => format!("./{}", inside.display()),
        Ok(_) | Err(_) => path.display().to_string(),
    }
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
    json::line(&object)
}

/// What is left to do at the end of a run names a command, which is written as it can be pasted here.
fn with_pasteable_step(text: String, event: &Event) -> String {
    match (event, text.rsplit_once("; next: ")) {
        (Event::Finished { .. }, Some((why, step))) => format!("{why}; next: {}", hint::pasteable(step)),
        (_, _) => text,
    }
}
