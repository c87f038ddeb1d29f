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
    /// Any program as the agent: its words, never a shell
    #[arg(help_heading = WORK, long, value_name = "\"PROGRAM ARGS\"", value_parser = values::name)]
    pub agent_cmd: Option<String>,
    /// The model to ask for
    #[arg(help_heading = WORK, long, value_name = "NAME", value_parser = values::name)]
    pub model: Option<String>,
    /// Read the workflow file again for a run that has begun; it keeps its own copy otherwise
    #[arg(help_heading = WORK, long)]
    pub reload: bool,
    /// A check that we run ourselves; repeatable, wins over detection
    #[arg(help_heading = PROOF, long = "check", value_name = "NAME=COMMAND", value_parser = named_command)]
    pub checks: Vec<(String, String)>,
    /// Take the agent's word where nothing can be measured
    #[arg(help_heading = PROOF, long)]
    pub unverified: bool,
    /// The least that must be proven: red-to-green, new-test or approved (the default); less is a question
    #[arg(help_heading = PROOF, long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "approved", value_parser = level)]
    pub require_proof: Option<Level>,
    /// Protected files that this run may change, as tests/old_*.py; repeatable
    #[arg(help_heading = PROOF, long, value_name = "GLOB", value_parser = values::glob)]
    pub allow_test_change: Vec<String>,
    /// How many success criteria the input has
    #[arg(help_heading = PROOF, long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    pub criteria: Option<u32>,
    /// The promise that the agent must make
    #[arg(help_heading = PROOF, long, value_name = "TEXT", value_parser = values::name)]
    pub promise: Option<String>,
    /// Iterations of this run, over all restarts
    #[arg(help_heading = LIMITS, short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = values::count)]
    pub max: Option<u32>,
    /// Money that the run may spend, in dollars
    #[arg(help_heading = LIMITS, long, value_name = "USD", allow_negative_numbers = true, value_parser = values::dollars)]
    pub budget: Option<f64>,
    /// Tokens that the run may spend
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true, value_parser = values::large_count)]
    pub tokens: Option<u64>,
    /// Time that the run may work, as 90s, 45m or 1h30m
    #[arg(help_heading = LIMITS, long, value_name = "LENGTH", value_parser = values::length)]
    pub time: Option<u64>,
    /// Continue without this terminal; loop attach watches it and answers its questions
    #[arg(help_heading = PLACE, long)]
    pub detach: bool,
    /// Work in a worktree of its own, below .worktrees/, on a branch of its own
    #[arg(help_heading = PLACE, long)]
    pub worktree: bool,
    /// Work although the tree has uncommitted changes
    #[arg(help_heading = PLACE, long)]
    pub allow_dirty: bool,
    /// Where the state files for other tools are written
    #[arg(help_heading = PLACE, long, value_name = "DIR")]
    pub mirror: Option<PathBuf>,
    /// Allow a run inside an agent call of another run
    #[arg(help_heading = PLACE, long)]
    pub nested: bool,
    /// Start over; an unfinished run of the same input is cancelled
    #[arg(help_heading = START, long)]
    pub fresh: bool,
    /// Set the counters to 0
    #[arg(help_heading = START, long)]
    pub reset: bool,
    /// What to do at a question
    #[arg(help_heading = START, long, value_enum, value_name = "WHAT")]
    pub on_question: Option<OnQuestion>,
    /// A command that is run at a question, a halt, a hold and the end
    #[arg(help_heading = START, long, value_name = "COMMAND", value_parser = values::name)]
    pub notify: Option<String>,
    /// Print the next decision; start and write nothing
    #[arg(help_heading = START, long)]
    pub dry_run: bool,
    /// Jobs of the queue at once (comes with a later version)
    #[arg(long, value_name = "N", hide = true)]
    pub jobs: Option<String>,
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

fn named_command(text: &str) -> Result<(String, String), String> {
    let (name, command) = text.split_once('=').ok_or("write NAME=COMMAND, as tests=\"cargo test\"")?;
    let plain =
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-');
    if !plain {
        return Err(format!(
            "\"{name}\" is no name for a check; write letters, digits, - and _, as tests=\"cargo test\""
        ));
    }
    if command.trim().is_empty() {
        return Err(format!("the check has no command; write {name}=\"cargo test\""));
    }
    Ok((name.to_owned(), command.to_owned()))
}

fn level(text: &str) -> Result<Level, String> {
    Level::from_word(text).ok_or_else(|| {
        let words = Level::ALL.map(Level::word).join(", ");
        format!(
            "\"{text}\" is no level of proof; one of {words}. Before an input write --require-proof=LEVEL"
        )
    })
}
