//! Stories: what agents, checks and people do, line by line, and what must come of it. They are the
//! specification of the engine, and what `loop simulate` plays. `#` begins a comment, `"…"` is one
//! word, and a mistake is reported with its line.
//!
//! ```text
//! workflow tdd                      # a preset, or a file beside the story; always the first line
//! criteria 4                        # what the input has
//! unverified                        # the agent's word is taken
//! item a                            # one of the list that a body repeats over; at any time
//! from GREEN                        # earlier phases taken as passed
//! before iterations 7               # what another controller had done; also: failures 2, done a b
//! off VERIFY "why"                  # a phase that the project's configuration turns off
//! noted "text"                      # at any time: something that people should know
//! baseline tests 3/5                # before the first call
//! proof new-test                    # what the proof comes to, in turn; also: proof finds "tests: x is gone"
//! check lint absent                 # a check that has no command
//! check tests fails "exit status 1" # at any time: it fails whatever is done; then: check tests passes
//! mode supervised                   # the autonomy mode; its gates may follow: mode autonomous deploy
//! required security                 # a gate that is asked whatever the mode says
//! model opus                        # the agent's model
//! profile quality
//! halts-on-edit                     # an edit of the locked input halts
//! pivots                            # an open breaker makes one fresh call first
//! limit iterations 3                # also: phase N, usd 1.5, call_usd 1.5, phase_usd 1.5, tokens N, time 10m, window 3 ask|wait|pause|abort
//! retries reset_on_different=false  # also: at_most, same_error, total
//! threshold failures 1              # of the breakers that have one; also: no_progress, same_error
//! deliverable document docs/api.md  # a file that a skill must leave behind
//! needs deploy                      # nobody has said what this skill needs
//! world pr_merged=false             # facts that are so until something else is said
//!
//! GREEN says done tests 10/10       # one call: what it reports, what we measure after it
//! QA    says REJECT                 # a word in capitals is a verdict, or a signal of the protocol
//! GREEN says nothing                # a report without a signal
//! GREEN is silent                   # no report
//! GREEN fails "exit status 1"       # the call itself; also: hangs, asks, is lost, is interrupted
//! GREEN is unreachable              # the provider could not be reached
//! GREEN is limited 20m              # refused by the provider, which names a time or does not
//! GREEN is unstartable 2            # the next tries come to nothing
//! EXECUTE is stuck "db: no schema"  # the agent says that it cannot continue
//! EXECUTE is at human-verify        # the agent stops at a checkpoint
//! VALIDATE security-audit says done # the skill that must be called
//! INIT  says done x6                # six such calls
//! QA    says done verdict=APPROVE blocking_issues=0 build fails "error: x" with tree_clean=false
//!   # further: error "text" class security · gate NAME · proposes NAME · failed · unreported (what its skill
//!   # must report) · broken (counts)
//!   # · loses ITEM (its work, which was done, is gone) · misses FILE · blocker "text" · commit HASH (the tree's) · summary "text" · takes 5m · costs 1.50 · tokens 900
//!
//! later 61m                         # the clock moves; also: earlier 3h, when it is set back
//! person answers fix "the text"     # also: guides "…", skips SKILL "why", stops, pauses, cancels,
//!                                   # resumes, resumes at PHASE, resets, raises 30
//!
//! expect waiting "rejected 3 times" # the status, and a part of its reason
//! expect GREEN iteration 2          # the phase, and the iterations judged in it
//! expect exit 3 · calls 4 · iterations 3 · percent 32 · breaker half-open · model opus
//! expect metric tests_failing=2 · source tests_failing measured · claimed tests_failing=0
//! expect prompt "…" · no prompt "…" · note "…" · warning "…" · why "…" · verified · unverified
//! expect phase RED completed iterations 2 · reason RED "skipped by user"
//! expect failures 3 · retries 1 · resolved 2 · errors 50 · items done 2 · item b
//! ```

use super::expect::expect;
use super::play::parse_play;
use super::setting::set;
use super::teller::Teller;
use super::words::{millis, number, phase_id};
use super::{Cast, Play, Sim};
use crate::drive::drive;
use loop_base::time::Timestamp;
use loop_base::value::Value;
use loop_core::engine::{
    Answer, Command, Decision, Effect, Event, How, Item, Opening, Rest, Status, Step, choices, decide,
};
use loop_core::event_line::line;
use loop_core::workflow::model::Workflow;
use loop_store::run::{Memory, Run};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// Plays a story and returns its journal, one line for each fact, or says which line went wrong.
/// `load` finds a workflow by the name that the story gives.
pub(crate) fn tell(text: &str, load: &dyn Fn(&str) -> Result<Workflow, String>) -> Result<String, String> {
    let mut teller: Option<Teller> = None;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, words(line)));
    for (number, words) in lines {
        let at = |problem: String| format!("line {number}: {problem}");
        let words = words.map_err(at)?;
        let Some(first) = words.first() else { continue };
        match &mut teller {
            None if first == "workflow" && words.len() == 2 => {
                teller = Some(Teller::new(load(&words[1]).map_err(at)?));
            }
            None => return Err(at("a story begins with the line: workflow NAME".to_owned())),
            Some(teller) => teller.line(&words).map_err(at)?,
        }
    }
    let mut teller = teller.ok_or("the story is empty; it begins with the line: workflow NAME")?;
    teller.play_on()?;
    Ok(teller.journal())
}

impl Teller {
    fn new(mut workflow: Workflow) -> Teller {
        // What skills need is known unless the story says otherwise.
        let needing = workflow.skills.values_mut().filter(|it| it.needs.is_some());
        needing.for_each(|it| it.target = Some("somewhere".to_owned()));
        let prompt = Rc::new(RefCell::new(String::new()));
        let mut sim = Sim::new(Cast::Script(Vec::new()));
        let seen = Rc::clone(&prompt);
        sim.watch = Some(Box::new(move |run, effect| {
            if let Effect::Work(call) = effect {
                *seen.borrow_mut() = loop_core::prompt::render(&run.workflow, &run.state, call, "");
            }
        }));
        let opening = Opening {
            input: "the input".to_owned(),
            promise: Some("DONE".to_owned()),
            criteria: Some(1),
            ..Opening::default()
        };
        Teller { opening, run: None, workflow, sim, prompt, from: None }
    }

    fn line(&mut self, words: &[String]) -> Result<(), String> {
        let rest: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        match (words[0].as_str(), rest.as_slice()) {
            ("person", act) => {
                self.play_on()?;
                let command = self.command(act)?;
                self.run()?.simulate_command(command);
                self.play_on()?;
            }
            ("expect", what) => {
                self.play_on()?;
                let prompt = self.prompt.borrow().clone();
                let state = self.run()?.state.clone();
                expect(&self.workflow, &state, &prompt, what)?;
            }
            ("world", pairs) => {
                for pair in pairs {
                    let (name, value) = pair.split_once('=').ok_or("a fact is written name=value")?;
                    self.sim.world.insert(name.to_owned(), Value::read(value));
                }
            }
            ("noted", [text]) => {
                self.play_on()?;
                let (now, text) = (self.sim.now, (*text).to_owned());
                self.run()?.record(now, Event::Noted { text });
            }
            ("item", [name]) => {
                self.sim.items.push(Item::new(*name, *name));
            }
            ("check", [name, "fails", why]) => {
                self.sim.failing.insert((*name).to_owned(), (*why).to_owned());
            }
            ("check", [name, "passes"]) => drop(self.sim.failing.remove(*name)),
            ("later", [length]) => {
                self.play_on()?;
                self.sim.now = self.sim.now.plus(millis(length)?);
            }
            ("earlier", [length]) => {
                self.play_on()?;
                self.sim.now = Timestamp(self.sim.now.0.saturating_sub_unsigned(millis(length)?));
            }
            (word, rest) if self.run.is_none() && set(self, word, rest)? => (),
            (_, ["is", "unstartable", times]) => {
                self.play_on()?;
                let next = self.run()?.state.calls_total + 1;
                self.sim.voids.insert(next, number(times)?);
                self.play_on()?;
            }
            (phase, act) => {
                let (act, times) = match act.split_last() {
                    Some((last, act)) if is_times(last) => (act, number(&last[1..])?),
                    Some(_) | None => (act, 1),
                };
                for _ in 0..times {
                    let play = self.play(phase, act)?;
                    let Cast::Script(plays) = &mut self.sim.cast else { unreachable!("a story is scripted") };
                    plays.push(play);
                    self.play_on()?;
                }
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<&mut Run, String> {
        if self.run.is_none() {
            let mut run = Run::simulated(self.workflow.clone(), Memory::default());
            run.record(self.sim.now, Event::Opened(self.opening.clone()));
            if let Some(name) = &self.from {
                let target = phase_id(&self.workflow, name)?;
                let list = match self.sim.items.is_empty() {
                    true => vec![self.opening.input.clone()],
                    false => self.sim.items.iter().map(|it| it.id.clone()).collect(),
                };
                for phase in 1..=target {
                    let each = |id: usize| self.workflow.phases[id].each.is_some();
                    if each(phase - 1) && !each(phase) {
                        list.iter().for_each(|id| {
                            run.record(self.sim.now, Event::ItemDone { id: id.clone(), also: Vec::new() })
                        });
                    }
                    run.record(self.sim.now, Event::Entered { phase, how: How::Passed });
                }
            }
            self.run = Some(run);
        }
        Ok(self.run.as_mut().expect("it was just opened"))
    }

    /// Drives until a play is missing, or the run stops; waits are slept through.
    fn play_on(&mut self) -> Result<(), String> {
        self.run()?;
        let run = self.run.as_mut().expect("it was just opened");
        drive(run, &mut self.sim).map(|_: Rest| ()).map_err(|error| error.to_string())
    }

    fn play(&mut self, phase: &str, act: &[&str]) -> Result<Play, String> {
        self.play_on()?;
        let workflow = self.workflow.clone();
        let named = phase_id(&workflow, phase)?;
        let now = self.sim.now;
        let state = &self.run()?.state;
        let status = Status::of(state);
        if state.phase != named {
            let here = &workflow.phases[state.phase].name;
            return Err(format!("it is {here}'s turn, not {phase}'s ({})", status.word()));
        }
        if !matches!(status, Status::Ready | Status::Running) {
            return Err(format!("no call is made: {} ({})", status.word(), state.reason(&workflow)));
        }
        if let Some(wait) = &state.wait {
            return Err(format!("no call is made before {}", wait.until));
        }
        let (skill, act) = match act {
            [skill, rest @ ..] if workflow.skills.contains_key(*skill) => (Some(*skill), rest),
            act => (None, act),
        };
        if let Decision::Perform(Effect::Work(call)) = decide(&workflow, state, now)
            && let Some(skill) = skill
        {
            let due = match &call.step {
                Step::Main => "none",
                Step::Skill(skill) | Step::Fix(skill) => skill,
            };
            if due != skill {
                return Err(format!("the skill {due} is due, not {skill}"));
            }
        }
        parse_play(&workflow, named, act)
    }

    fn command(&mut self, act: &[&str]) -> Result<Command, String> {
        let text = act.last().filter(|_| 2 < act.len()).copied().unwrap_or_default().to_owned();
        Ok(match act {
            ["answers", choice, ..] => {
                let question = self.run()?.state.question().cloned().ok_or("no question is open")?;
                if !choices(&question).contains(choice) {
                    return Err(format!(
                        "\"{choice}\" is not one of the answers: {}",
                        choices(&question).join(", ")
                    ));
                }
                let choice = (*choice).to_owned().into();
                let by = "person".to_owned();
                Command::Answer(Answer { question: question.id, choice, text, by, signature: None })
            }
            ["guides", text] => Command::Guide { text: (*text).to_owned() },
            ["skips", skill] => Command::Skip { skill: (*skill).to_owned(), reason: String::new() },
            ["skips", skill, reason] => {
                Command::Skip { skill: (*skill).to_owned(), reason: (*reason).to_owned() }
            }
            ["stops"] => Command::Stop,
            ["unholds"] => Command::Unhold,
            ["pauses"] => Command::Pause { reason: "User interrupt".to_owned() },
            ["cancels"] => Command::Cancel,
            ["resumes", "at", phase] => {
                let phase = Some(phase_id(&self.workflow, phase)?);
                Command::Resume { reset: false, phase, most: None, retries: None }
            }
            ["resumes"] => Command::Resume { reset: false, phase: None, most: None, retries: None },
            ["resets"] => Command::Resume { reset: true, phase: None, most: None, retries: None },
            ["raises", most] => {
                Command::Resume { reset: false, phase: None, most: Some(number(most)?), retries: None }
            }
            other => return Err(format!("a person cannot do this: {}", other.join(" "))),
        })
    }

    fn journal(&self) -> String {
        let mut out = String::new();
        let Some(run) = &self.run else { return out };
        let begin = Timestamp(super::BEGIN);
        for (at, event) in &run.memory().events {
            if let Some(text) = line(&run.workflow, event) {
                let _ = writeln!(out, "{:>8}  {text}", loop_base::time::length(at.since(begin)));
            }
        }
        let status = Status::of(&run.state);
        let _ = writeln!(out, "= {}: {}", status.word(), run.state.reason(&run.workflow));
        out
    }
}

/// `x6`
fn is_times(word: &str) -> bool {
    word.strip_prefix('x').is_some_and(|it| !it.is_empty() && it.chars().all(|it| it.is_ascii_digit()))
}

/// Splits a line into words; `"…"` is one word, `#` begins a comment.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or("a text has no end")?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(words)
}
