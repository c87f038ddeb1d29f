//! The command line: one file for each command. It finds the project, the home and the run, asks
//! the rest of the program to work, and turns what came of it into words and an exit code.

/// Prints a line. Whoever read us may be gone, which is no reason to stop working. No secret that
/// this process knows is ever printed.
macro_rules! println {
    () => { $crate::cli::print(&mut std::io::stdout(), "\n") };
    ($($words:tt)*) => { $crate::cli::print(&mut std::io::stdout(), &(format!($($words)*) + "\n")) };
}
/// The same, without an end of line.
macro_rules! print {
    ($($words:tt)*) => { $crate::cli::print(&mut std::io::stdout(), &format!($($words)*)) };
}
/// The same, for people.
macro_rules! eprintln {
    () => { $crate::cli::print(&mut std::io::stderr(), "\n") };
    ($($words:tt)*) => { $crate::cli::print(&mut std::io::stderr(), &(format!($($words)*) + "\n")) };
}
/// The same, for people, without an end of line.
macro_rules! eprint {
    ($($words:tt)*) => { $crate::cli::print(&mut std::io::stderr(), &format!($($words)*)) };
}

mod answering;
mod context;
mod delivering;
mod error_output;
mod examples;
mod json;
mod looking;
#[cfg(test)]
mod published;
mod running;
mod setting_up;
mod terminal;

use crate::desk::Reach;
use answering::{answer, stop};
use clap::{Args, Parser, Subcommand};
pub(crate) use context::Context;
use delivering::{restore, ship};
use looking::{attach, evidence, log, runs, show, status, verify, wait, why};
use loop_base::secret::redact;
use running::flags::RunFlags;
use running::{checks, demo, demo_agent, detach, init, not_yet, resume, run};
use setting_up::{agents, check, completions, design, doctor, hook, limits, man, presets, setup, simulate};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a coding agent in a loop until the work is proven done.
///
/// It starts an agent with a fresh context for every iteration, runs the checks itself, believes
/// only what it measured, and survives being killed at any moment.
#[derive(Parser)]
#[command(name = "loop", version, disable_help_subcommand = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  loop demo                        watch a whole run in a temporary repository
  loop doctor                      what is installed here, and what would stop a run
  loop run \"fix the date parser\"   work until it is proven done
  loop status                      where the run stands
  loop why                         why the last iteration was judged as it was

loop COMMAND --help has examples of each. Exit codes: 0 completed, 1 could not work, 2 usage,
3 waits for a person, 4 halted, 5 stopped or paused, 6 cap reached, 7 held by another, 8 damaged.";

/// What every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What every command takes")]
pub(crate) struct Common {
    /// Work as if started in this directory
    #[arg(short = 'C', long = "dir", value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    /// Where runs are kept (default: $LOOP_HOME, $XDG_STATE_HOME/loop, ~/.local/state/loop)
    #[arg(long, value_name = "DIR", global = true)]
    home: Option<PathBuf>,
    /// The run that is meant, by its id or the beginning of it
    #[arg(long = "run", value_name = "ID", global = true)]
    run_id: Option<String>,
    /// Print machine-readable JSON
    #[arg(long, global = true)]
    json: bool,
    /// Say less
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Watch a whole run in a temporary repository; needs no key and leaves nothing behind
    #[command(after_help = examples::DEMO)]
    Demo(demo::DemoFlags),
    /// Write a short workflow file for this project
    #[command(after_help = examples::SETUP)]
    Setup(setup::SetupFlags),
    /// Say everything that is wrong with a workflow, or how it goes and when it ends
    #[command(after_help = examples::CHECK)]
    Check(check::CheckFlags),
    /// List the built-in workflows
    #[command(after_help = examples::PRESETS)]
    Presets(presets::PresetsFlags),
    /// Play a workflow without starting anything
    #[command(after_help = examples::SIMULATE)]
    Simulate(simulate::SimulateFlags),
    /// Continue a run or open one, and drive it until it rests
    #[command(after_help = examples::RUN)]
    Run(Box<RunFlags>),
    /// Open a run without driving it; with --hook the agent's own session works on it
    #[command(after_help = examples::INIT)]
    Init(Box<init::InitFlags>),
    /// Go on with a run without asking
    #[command(after_help = examples::RESUME)]
    Resume(resume::ResumeFlags),
    /// At most one agent call: until one iteration has been judged, or the run rests
    #[command(after_help = examples::NEXT)]
    Next(Box<RunFlags>),
    /// Watch a run that another process drives, and answer its questions
    #[command(after_help = examples::ATTACH)]
    Attach,
    /// Wait until a run finishes or needs you
    #[command(after_help = examples::WAIT)]
    Wait,
    /// Show where a run stands
    #[command(after_help = examples::STATUS)]
    Status,
    /// List all runs
    #[command(after_help = examples::RUNS)]
    Runs(runs::RunsFlags),
    /// Show the events of a run
    #[command(after_help = examples::LOG)]
    Log(log::LogFlags),
    /// Show an iteration, or the whole run as a Markdown report
    #[command(after_help = examples::SHOW)]
    Show(show::ShowFlags),
    /// Say why a decision was taken, with the values that decided it
    #[command(after_help = examples::WHY)]
    Why(why::WhyFlags),
    /// Answer a question of a run; alone it lists what is open
    #[command(after_help = examples::ANSWER)]
    Answer(answer::AnswerFlags),
    /// Approve at a gate
    #[command(after_help = examples::APPROVE)]
    Approve(answer::GateFlags),
    /// Ask for changes at a gate
    #[command(after_help = examples::CHANGES)]
    Changes(answer::ChangesFlags),
    /// Reject at a gate
    #[command(after_help = examples::REJECT)]
    Reject(answer::RejectFlags),
    /// Give guidance for the next prompt
    #[command(after_help = examples::GUIDE)]
    Guide(answer::GuideFlags),
    /// Skip a mandatory skill, with a reason
    #[command(after_help = examples::SKIP)]
    Skip(answer::SkipFlags),
    /// Accept a finding of the proof, with a reason
    #[command(after_help = examples::WAIVE)]
    Waive(answer::WaiveFlags),
    /// Run the checks once, without an agent
    #[command(after_help = examples::CHECKS)]
    Checks(Box<RunFlags>),
    /// Stop after this iteration; with --now, end the call at once
    #[command(after_help = examples::STOP)]
    Stop(stop::StopFlags),
    /// End the call at once; the run can go on later
    #[command(after_help = examples::PAUSE)]
    Pause,
    /// End a run for good
    #[command(after_help = examples::CANCEL)]
    Cancel(stop::CancelFlags),
    /// Write a design file from a sentence, to be read and refined before the work begins
    #[command(after_help = examples::DESIGN)]
    Design(design::DesignFlags),
    /// Change the criteria or requirements of a design that is not locked
    #[command(after_help = examples::REFINE)]
    Refine(design::RefineFlags),
    /// What the hooks of an agent call
    #[command(subcommand)]
    Hook(hook::Command),
    /// List the snapshots of a run's working tree, or bring one back
    #[command(after_help = examples::RESTORE)]
    Restore(restore::RestoreFlags),
    /// Branch, commit, push and pull request for a completed run
    #[command(after_help = examples::SHIP)]
    Ship(ship::ShipFlags),
    /// Check that nothing of a run's journal is missing or changed
    #[command(after_help = examples::VERIFY)]
    Verify(verify::VerifyFlags),
    /// Show what the completion of a run stands on, and its record
    #[command(after_help = examples::EVIDENCE)]
    Evidence,
    /// Say what is installed, what is allowed, and what would stop a run
    #[command(after_help = examples::DOCTOR)]
    Doctor,
    /// List the agents that this program knows, and which are installed
    #[command(after_help = examples::AGENTS)]
    Agents,
    /// Show or clear the holds that providers put on agents
    #[command(after_help = examples::LIMITS)]
    Limits(limits::LimitsFlags),
    /// Print the completion script of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::CompletionsFlags),
    /// Write the manual pages into a directory
    #[command(after_help = examples::MAN)]
    Man(man::ManFlags),
    /// The jobs of a domain (comes with a later version)
    #[command(hide = true)]
    Queue(not_yet::Words),
    /// A terminal interface (comes with a later version)
    #[command(hide = true)]
    Watch(not_yet::Words),
    /// A page in the browser (comes with a later version)
    #[command(hide = true)]
    Serve(not_yet::Words),
    /// A server for other agents (comes with a later version)
    #[command(hide = true)]
    Mcp(not_yet::Words),
    /// One of a fleet (comes with a later version)
    #[command(hide = true)]
    Worker(not_yet::Words),
    #[command(name = "__controller", hide = true)]
    Controller(detach::DetachFlags),
    #[command(name = "__agent", hide = true)]
    Player(demo_agent::DemoAgentFlags),
}

/// What the macros of this module print with.
fn print(to: &mut dyn Write, text: &str) {
    let _nobody_reads = to.write_all(redact(text).as_bytes());
}

pub(crate) fn main() -> ExitCode {
    if let Some(code) = hook::answer_plain_stop() {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return hook::misread().unwrap_or_else(|| error.exit()),
    };
    let context = Context::new(cli.common);
    let done = match cli.command {
        None => status::bare(&context),
        Some(Command::Demo(flags)) => demo::run(&context, &flags),
        Some(Command::Setup(flags)) => setup::run(&context, &flags),
        Some(Command::Check(flags)) => check::run(&context, &flags),
        Some(Command::Presets(flags)) => presets::run(&context, &flags),
        Some(Command::Simulate(flags)) => simulate::run(&context, &flags),
        Some(Command::Run(flags)) => run::run(&context, &flags, Reach::Far),
        Some(Command::Next(flags)) => run::run(&context, &flags, Reach::OneCall),
        Some(Command::Init(flags)) => init::run(&context, &flags),
        Some(Command::Design(flags)) => design::run(&context, &flags),
        Some(Command::Refine(flags)) => design::refine(&context, &flags),
        Some(Command::Hook(command)) => hook::run(&context, &command),
        Some(Command::Resume(flags)) => resume::run(&context, &flags),
        Some(Command::Attach) => attach::run(&context),
        Some(Command::Wait) => wait::run(&context),
        Some(Command::Status) => status::run(&context),
        Some(Command::Runs(flags)) => runs::run(&context, &flags),
        Some(Command::Log(flags)) => log::run(&context, &flags),
        Some(Command::Show(flags)) => show::run(&context, &flags),
        Some(Command::Why(flags)) => why::run(&context, &flags),
        Some(Command::Answer(flags)) => answer::run(&context, &flags),
        Some(Command::Approve(flags)) => answer::approve(&context, &flags),
        Some(Command::Changes(flags)) => answer::changes(&context, &flags),
        Some(Command::Reject(flags)) => answer::reject(&context, &flags),
        Some(Command::Guide(flags)) => answer::guide(&context, &flags),
        Some(Command::Skip(flags)) => answer::skip(&context, &flags),
        Some(Command::Waive(flags)) => answer::waive(&context, &flags),
        Some(Command::Checks(flags)) => checks::run(&context, &flags),
        Some(Command::Stop(flags)) => stop::stop(&context, &flags),
        Some(Command::Pause) => stop::pause(&context),
        Some(Command::Cancel(flags)) => stop::cancel(&context, &flags),
        Some(Command::Restore(flags)) => restore::run(&context, &flags),
        Some(Command::Ship(flags)) => ship::run(&context, &flags),
        Some(Command::Verify(flags)) => verify::run(&context, &flags),
        Some(Command::Doctor) => doctor::run(&context),
        Some(Command::Agents) => agents::list(&context),
        Some(Command::Limits(flags)) => limits::run(&context, &flags),
        Some(Command::Completions(flags)) => completions::run(&flags),
        Some(Command::Man(flags)) => man::run(&context, &flags),
        Some(Command::Queue(_)) => not_yet::command("queue", "loop run INPUT works on one thing at a time"),
        Some(Command::Evidence) => evidence::run(&context),
        Some(Command::Watch(_)) => not_yet::command("watch", "loop log -f, or loop run on a terminal"),
        Some(Command::Serve(_)) => not_yet::command("serve", "loop status --json for programs"),
        Some(Command::Mcp(_)) => {
            not_yet::command("mcp", "loop hook stop lets a session of an agent be the loop")
        }
        Some(Command::Worker(_)) => not_yet::command("worker", "loop run in each working tree"),
        Some(Command::Controller(flags)) => detach::control(&context, &flags),
        Some(Command::Player(flags)) => demo_agent::run(&flags),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => error_output::tell(error, context.json),
    }
}
