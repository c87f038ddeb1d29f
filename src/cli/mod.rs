//! The command line: one file for each command. It finds the project, the home and the run, asks
//! the rest of the program to work, and turns what came of it into words and an exit code.

/// Prints a line. Whoever read us may be gone, which is no reason to stop working. No secret that
/// this process knows is ever printed.
macro_rules! println {
    () => { $crate::cli::output::print(&mut std::io::stdout(), "\n") };
    ($($words:tt)*) => { $crate::cli::output::print(&mut std::io::stdout(), &(format!($($words)*) + "\n")) };
}
/// The same, without an end of line.
macro_rules! print {
    ($($words:tt)*) => { $crate::cli::output::print(&mut std::io::stdout(), &format!($($words)*)) };
}
/// The same, for people.
macro_rules! eprintln {
    () => { $crate::cli::output::print(&mut std::io::stderr(), "\n") };
    ($($words:tt)*) => { $crate::cli::output::print(&mut std::io::stderr(), &(format!($($words)*) + "\n")) };
}
/// The same, for people, without an end of line.
macro_rules! eprint {
    ($($words:tt)*) => { $crate::cli::output::print(&mut std::io::stderr(), &format!($($words)*)) };
}

mod answering;
mod context;
mod delivering;
mod error_output;
mod examples;
mod help;
mod hint;
mod json;
mod looking;
mod output;
#[cfg(test)]
mod published;
mod running;
mod setting_up;
mod temporary;
mod terminal;
mod values;

use crate::desk::Reach;
use answering::{answer, stop};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use context::Common;
pub(crate) use context::Context;
use delivering::{restore, ship};
use looking::{attach, evidence, log, runs, show, status, verify, wait, why};
use running::flags::RunFlags;
use running::{checks, demo, demo_agent, detach, init, not_yet, queue, resume, run};
use setting_up::{agents, check, completions, design, doctor, hook, limits, man, presets, setup, simulate};
use std::process::ExitCode;

/// Runs a coding agent in a loop until the work is proven done.
///
/// It starts an agent with a fresh context for every iteration, runs the checks itself, trusts
/// only what it measured, and survives being killed at any moment.
#[derive(Parser)]
#[command(name = "loop", version, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

const EXAMPLES: &str = "\
Examples:
  loop demo                        watch a whole run in a temporary repository
  loop doctor                      what is installed here, and what would stop a run
  loop run \"fix the date parser\"   work until it is proven done
  loop status                      where the run stands
  loop why                         why the last iteration was judged as it was

loop help COMMAND has examples of each. Exit codes: 0 completed, 1 could not work, 2 usage,
3 waits for a person, 4 halted, 5 stopped or paused, 6 cap reached, 7 in use, 8 damaged.";

#[derive(Subcommand)]
enum CliCommand {
    /// Watch a whole run in a temporary repository; needs no key and leaves nothing behind
    #[command(after_help = examples::DEMO)]
    Demo(demo::DemoFlags),
    /// Write a short workflow file for this project
    #[command(after_help = examples::SETUP)]
    Setup(setup::SetupFlags),
    /// Report every mistake in a workflow, or its phases and the most calls it can make
    #[command(after_help = examples::CHECK)]
    Check(check::CheckFlags),
    /// List the built-in workflows
    #[command(after_help = examples::PRESETS)]
    Presets(presets::PresetsFlags),
    /// Simulate a workflow without starting anything
    #[command(after_help = examples::SIMULATE)]
    Simulate(simulate::SimulateFlags),
    /// Start or continue a run until it finishes or needs you
    #[command(after_help = examples::RUN)]
    Run(Box<RunFlags>),
    /// Open a run without starting an agent; with --hook your own agent session works on it
    #[command(after_help = examples::INIT)]
    Init(Box<init::InitFlags>),
    /// Continue a run without asking
    #[command(after_help = examples::RESUME)]
    Resume(resume::ResumeFlags),
    /// Make at most one agent call, then stop
    #[command(after_help = examples::NEXT)]
    #[command(mut_arg("detach", |it| it.hide(true)), mut_arg("jobs", |it| it.hide(true)))]
    Next(Box<RunFlags>),
    /// Watch a run in another process, and answer its questions
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
    /// Explain a decision, with the values behind it
    #[command(after_help = examples::WHY)]
    Why(why::WhyFlags),
    /// Answer a question; without arguments, list the open ones
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
    /// Add guidance to the next prompt
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
    Checks(checks::ChecksFlags),
    /// Stop after this iteration; with --now, end the call at once
    #[command(after_help = examples::STOP)]
    Stop(stop::StopFlags),
    /// End the call at once; the run can be resumed
    #[command(after_help = examples::PAUSE)]
    Pause,
    /// End a run for good
    #[command(after_help = examples::CANCEL)]
    Cancel(stop::CancelFlags),
    /// Write a design file from a sentence, to review before the work begins
    #[command(after_help = examples::DESIGN)]
    Design(design::DesignFlags),
    /// Change the criteria or requirements of a design that is not locked
    #[command(after_help = examples::REFINE)]
    Refine(design::RefineFlags),
    /// Commands that an agent's hooks call
    #[command(subcommand)]
    Hook(hook::HookCommand),
    /// List the snapshots of a run's working tree, or bring one back
    #[command(after_help = examples::RESTORE)]
    Restore(restore::RestoreFlags),
    /// Branch, commit, push and pull request for a completed run
    #[command(after_help = examples::SHIP)]
    Ship(ship::ShipFlags),
    /// Check that a run's journal is complete and unchanged
    #[command(after_help = examples::VERIFY)]
    Verify(verify::VerifyFlags),
    /// Show the evidence for a completed run, and its record
    #[command(after_help = examples::EVIDENCE)]
    Evidence,
    /// Check what is installed and what would stop a run; --fix repairs what it can
    #[command(after_help = examples::DOCTOR)]
    Doctor(doctor::DoctorFlags),
    /// List supported agents, or test whether one works
    #[command(after_help = examples::AGENTS)]
    Agents(agents::AgentsFlags),
    /// Show or clear provider limits that make runs wait
    #[command(after_help = examples::LIMITS)]
    Limits(limits::LimitsFlags),
    /// Print the completion script of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::CompletionsFlags),
    /// Write the manual pages into a directory
    #[command(after_help = examples::MAN)]
    Man(man::ManFlags),
    /// List and change the systems that are to be built
    #[command(after_help = examples::QUEUE)]
    Queue(queue::QueueFlags),
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
    /// Arm the agent's own session with a sentence (comes with a later version)
    #[command(hide = true)]
    Goal(not_yet::Words),
    /// A scoreboard of agents (comes with a later version)
    #[command(hide = true)]
    Trial(not_yet::Words),
    #[command(name = "__controller", hide = true)]
    Controller(detach::DetachFlags),
    #[command(name = "__agent", hide = true)]
    Player(demo_agent::DemoAgentFlags),
}

/// Returns the names of the command and of the one below it, such as `queue set`. Commands of our own that
/// nobody types have none.
fn typed_command(matches: &ArgMatches) -> String {
    let below = std::iter::successors(matches.subcommand(), |it| it.1.subcommand());
    let names: Vec<&str> = below.map(|it| it.0).filter(|it| !it.starts_with("__")).collect();
    names.join(" ")
}

pub(crate) fn main() -> ExitCode {
    if let Some(code) = hook::answer_plain_stop() {
        return code;
    }
    let parsed = help::grouped(Cli::command()).try_get_matches();
    let parsed = parsed.and_then(|it| Ok((Cli::from_arg_matches(&it)?, typed_command(&it))));
    let (cli, command) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return hook::misread().unwrap_or_else(|| error_output::tell_misuse(&error)),
    };
    let context = Context::new(cli.common, command);
    let done = match cli.command {
        None => status::bare(&context),
        Some(CliCommand::Demo(flags)) => demo::run(&context, &flags),
        Some(CliCommand::Setup(flags)) => setup::run(&context, &flags),
        Some(CliCommand::Check(flags)) => check::run(&context, &flags),
        Some(CliCommand::Presets(flags)) => presets::run(&context, &flags),
        Some(CliCommand::Simulate(flags)) => simulate::run(&context, &flags),
        Some(CliCommand::Run(flags)) => run::run(&context, &flags, Reach::Far),
        Some(CliCommand::Next(flags)) => run::run(&context, &flags, Reach::OneCall),
        Some(CliCommand::Init(flags)) => init::run(&context, &flags),
        Some(CliCommand::Design(flags)) => design::run(&context, &flags),
        Some(CliCommand::Refine(flags)) => design::refine(&context, &flags),
        Some(CliCommand::Hook(command)) => hook::run(&context, &command),
        Some(CliCommand::Resume(flags)) => resume::run(&context, &flags),
        Some(CliCommand::Attach) => attach::run(&context),
        Some(CliCommand::Wait) => wait::run(&context),
        Some(CliCommand::Status) => status::run(&context),
        Some(CliCommand::Runs(flags)) => runs::run(&context, &flags),
        Some(CliCommand::Log(flags)) => log::run(&context, &flags),
        Some(CliCommand::Show(flags)) => show::run(&context, &flags),
        Some(CliCommand::Why(flags)) => why::run(&context, &flags),
        Some(CliCommand::Answer(flags)) => answer::run(&context, &flags),
        Some(CliCommand::Approve(flags)) => answer::approve(&context, &flags),
        Some(CliCommand::Changes(flags)) => answer::changes(&context, &flags),
        Some(CliCommand::Reject(flags)) => answer::reject(&context, &flags),
        Some(CliCommand::Guide(flags)) => answer::guide(&context, &flags),
        Some(CliCommand::Skip(flags)) => answer::skip(&context, &flags),
        Some(CliCommand::Waive(flags)) => answer::waive(&context, &flags),
        Some(CliCommand::Checks(flags)) => checks::run(&context, &flags),
        Some(CliCommand::Stop(flags)) => stop::stop(&context, &flags),
        Some(CliCommand::Pause) => stop::pause(&context),
        Some(CliCommand::Cancel(flags)) => stop::cancel(&context, &flags),
        Some(CliCommand::Restore(flags)) => restore::run(&context, &flags),
        Some(CliCommand::Ship(flags)) => ship::run(&context, &flags),
        Some(CliCommand::Verify(flags)) => verify::run(&context, &flags),
        Some(CliCommand::Doctor(flags)) => doctor::run(&context, &flags),
        Some(CliCommand::Agents(flags)) => agents::run(&context, &flags),
        Some(CliCommand::Limits(flags)) => limits::run(&context, &flags),
        Some(CliCommand::Completions(flags)) => completions::run(Cli::command(), &flags),
        Some(CliCommand::Man(flags)) => man::run(&context, Cli::command(), &flags),
        Some(CliCommand::Queue(flags)) => queue::run(&context, &flags),
        Some(CliCommand::Evidence) => evidence::run(&context),
        Some(CliCommand::Watch(_)) => not_yet::command("watch", "loop log -f"),
        Some(CliCommand::Serve(_)) => not_yet::command("serve", "loop status --json"),
        Some(CliCommand::Mcp(_)) => not_yet::command("mcp", "loop hook install"),
        Some(CliCommand::Worker(_)) => not_yet::command("worker", "loop run \"what to build\" --worktree"),
        Some(CliCommand::Goal(_)) => not_yet::command("goal", "loop init --hook \"what to build\""),
        Some(CliCommand::Trial(_)) => not_yet::command("trial", "loop agents"),
        Some(CliCommand::Controller(flags)) => detach::control(&context, &flags),
        Some(CliCommand::Player(flags)) => demo_agent::run(&flags),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => error_output::tell(error, context.json),
    }
}
