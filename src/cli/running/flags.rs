//! The flags of `run` and their values.

use crate::cli::values;
use crate::desk::{CarriedOutBy, RunRequest};
use clap::{Args, ValueEnum};
use loop_core::proof::Level;
use std::path::PathBuf;

/// The groups that the flags are shown in.
const WORK: &str = "Workflow and agent";
const PROOF: &str = "Checks and proof";
const LIMITS: &str = "Limits";
const PLACE: &str = "Where it works";
const START: &str = "Start, continue, ask";

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunFlags {
    /// What to work on: a file, a phase, a job or a sentence, as the workflow says
    pub input: Option<String>,
    /// One of the built-in workflows: tdd, engineering, plan, ralph
    #[arg(help_heading = WORK, long, value_name = "NAME", conflicts_with = "workflow")]
    pub preset: Option<String>,
    /// A workflow file
    #[arg(help_heading = WORK, long, value_name = "FILE")]
    pub workflow: Option<PathBuf>,
    /// The agent to call
    #[arg(help_heading = WORK, long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Use any program as the agent; split into words, never run by a shell
    #[arg(help_heading = WORK, long, value_name = "\"PROGRAM ARGS\"", value_parser = values::command)]
    pub agent_cmd: Option<String>,
    /// The model to ask for
    #[arg(help_heading = WORK, long, value_name = "NAME", value_parser = values::name)]
    pub model: Option<String>,
    /// Apply the current workflow file; otherwise a run keeps the copy it began with
    #[arg(help_heading = WORK, long)]
    pub reload: bool,
    /// A check to run after every call; repeatable, overrides detected checks
    #[arg(help_heading = PROOF, long = "check", value_name = "NAME=COMMAND", value_parser = named_command)]
    pub checks: Vec<(String, String)>,
    /// Trust the agent where nothing can be measured
    #[arg(help_heading = PROOF, long)]
    pub unverified: bool,
    /// Lowest acceptable proof: red-to-green, new-test or approved (the default); anything less asks you
    #[arg(help_heading = PROOF, long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "approved", value_parser = level)]
    pub require_proof: Option<Level>,
    /// Test files that this run may change, such as tests/old_*.py; repeatable
    #[arg(help_heading = PROOF, long, value_name = "GLOB", value_parser = values::glob)]
    pub allow_test_change: Vec<String>,
    /// How many success criteria the input has
    #[arg(help_heading = PROOF, long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    pub criteria: Option<u32>,
    /// The text that the agent must promise when it is done
    #[arg(help_heading = PROOF, long, value_name = "TEXT", value_parser = values::name)]
    pub promise: Option<String>,
    /// Maximum number of iterations, counted over all restarts
    #[arg(help_heading = LIMITS, short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    pub max: Option<u32>,
    /// Budget of the run, in US dollars
    #[arg(help_heading = LIMITS, long, value_name = "USD", allow_negative_numbers = true, value_parser = values::dollars)]
    pub budget: Option<f64>,
    /// Token budget of the run
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true, value_parser = values::large_count)]
    pub tokens: Option<u64>,
    /// Time limit for calls and checks, such as 90s, 45m or 1h30m
    #[arg(help_heading = LIMITS, long, value_name = "LENGTH", value_parser = values::length)]
    pub time: Option<u64>,
    /// Continue in the background; loop attach shows it and answers its questions
    #[arg(help_heading = PLACE, long)]
    pub detach: bool,
    /// Work in a separate worktree below .worktrees/, on its own branch
    #[arg(help_heading = PLACE, long)]
    pub worktree: bool,
    /// Run even if the working tree has uncommitted changes
    #[arg(help_heading = PLACE, long)]
    pub allow_dirty: bool,
    /// Where the state files for other tools are written
    #[arg(help_heading = PLACE, long, value_name = "DIR")]
    pub mirror: Option<PathBuf>,
    /// Allow a run inside another run's agent call
    #[arg(help_heading = PLACE, long)]
    pub nested: bool,
    /// Start over; an unfinished run of the same input is cancelled
    #[arg(help_heading = START, long)]
    pub fresh: bool,
    /// Reset the counters (iterations, breaker) to 0
    #[arg(help_heading = START, long)]
    pub reset: bool,
    /// What to do at a question
    #[arg(help_heading = START, long, value_enum, value_name = "WHAT")]
    pub on_question: Option<OnQuestion>,
    /// Command to run at a question, a halt, a provider limit and the end
    #[arg(help_heading = START, long, value_name = "COMMAND", value_parser = values::name)]
    pub notify: Option<String>,
    /// Print the next decision; start nothing, write nothing
    #[arg(help_heading = START, long)]
    pub dry_run: bool,
    /// Build the queue, N systems at once, each in its own worktree
    #[arg(help_heading = PLACE, long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    pub jobs: Option<u32>,
    /// This process is the pool that `--detach` started.
    #[arg(long, hide = true)]
    pub pool_without_terminal: bool,
    /// The domain whose queue is meant (default: the only folder below domain-memory/)
    #[arg(long, value_name = "NAME")]
    pub domain: Option<String>,
}

impl RunFlags {
    /// What these flags ask of the desk.
    pub(crate) fn request(&self, by: CarriedOutBy) -> RunRequest {
        let it = self.clone();
        RunRequest {
            by,
            input: it.input,
            preset: it.preset,
            workflow: it.workflow,
            agent: it.agent,
            agent_cmd: it.agent_cmd,
            model: it.model,
            max: it.max,
            checks: it.checks,
            unverified: it.unverified,
            fresh: it.fresh,
            reset: it.reset,
            reload: it.reload,
            budget: it.budget,
            tokens: it.tokens,
            time: it.time,
            worktree: it.worktree,
            criteria: it.criteria,
            promise: it.promise,
            mirror: it.mirror,
            notify: it.notify,
            dry_run: it.dry_run,
            nested: it.nested,
            allow_dirty: it.allow_dirty,
            require_proof: it.require_proof,
            allow_test_change: it.allow_test_change,
            domain: it.domain,
            ..RunRequest::default()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnQuestion {
    /// Ask on the terminal
    Ask,
    /// Wait until it is answered elsewhere
    Wait,
    /// Exit; the question stays open
    Exit,
}

pub(super) fn named_command(text: &str) -> Result<(String, String), String> {
    let (name, command) = text.split_once('=').ok_or("write NAME=COMMAND, as tests=\"cargo test\"")?;
    let plain =
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-');
    if !plain {
        return Err(format!(
            "\"{name}\" is not a valid check name; use letters, digits, - and _, such as tests=\"cargo test\""
        ));
    }
    if command.trim().is_empty() {
        return Err(format!("the check has no command; write {name}=\"cargo test\""));
    }
    Ok((name.to_owned(), values::command(command)?))
}

fn level(text: &str) -> Result<Level, String> {
    Level::from_word(text).ok_or_else(|| {
        let words = Level::ALL.map(Level::word).join(", ");
        format!(
            "\"{text}\" is not a level of proof; one of {words}. Before an input write --require-proof=LEVEL"
        )
    })
}
