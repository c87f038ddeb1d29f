//! The flags of `run` and their values.

use crate::desk::{By, RunRequest};
use clap::{Args, ValueEnum};
use loop_core::proof::Level;
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunFlags {
    /// What to work on: a file, a phase, a job or a sentence, as the workflow says
    pub input: Option<String>,
    /// One of the built-in workflows: tdd, engineering, plan, ralph
    #[arg(long, value_name = "NAME", conflicts_with = "workflow")]
    pub preset: Option<String>,
    /// A workflow file
    #[arg(long, value_name = "FILE")]
    pub workflow: Option<PathBuf>,
    /// The agent to call
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Any program as the agent: its words, never a shell
    #[arg(long, value_name = "\"PROGRAM ARGS\"")]
    pub agent_cmd: Option<String>,
    /// The model to ask for
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Iterations of this run, over all restarts
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max: Option<u32>,
    /// A check that we run ourselves; repeatable, wins over detection
    #[arg(long = "check", value_name = "NAME=COMMAND", value_parser = named_command)]
    pub checks: Vec<(String, String)>,
    /// Take the agent's word where nothing can be measured
    #[arg(long)]
    pub unverified: bool,
    /// Begin anew; an unfinished run of the same input is cancelled
    #[arg(long)]
    pub fresh: bool,
    /// Set the counters to 0
    #[arg(long)]
    pub reset: bool,
    /// Read the workflow file again for a run that has begun; it keeps its own copy otherwise
    #[arg(long)]
    pub reload: bool,
    /// What to do at a question
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_question: Option<OnQuestion>,
    /// Money that the run may spend, in dollars
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub budget: Option<f64>,
    /// Tokens that the run may spend
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub tokens: Option<u64>,
    /// Time that the run may work, as 90s, 45m or 2h
    #[arg(long, value_name = "LENGTH", value_parser = loop_core::workflow::resolve::parse_length)]
    pub time: Option<u64>,
    /// Go on without this terminal; loop attach watches it and answers its questions
    #[arg(long)]
    pub detach: bool,
    /// Work in a worktree of its own, below .worktrees/, on a branch of its own
    #[arg(long)]
    pub worktree: bool,
    /// Work although the tree has uncommitted changes
    #[arg(long)]
    pub allow_dirty: bool,
    /// The least that must be proven: red-to-green, new-test or approved (the default); less is a question
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "approved", value_parser = level)]
    pub require_proof: Option<Level>,
    /// Protected files that this run may change, as tests/old_*.py; repeatable
    #[arg(long, value_name = "GLOB")]
    pub allow_test_change: Vec<String>,
    /// How many success criteria the input has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub criteria: Option<u32>,
    /// The promise that the agent must make
    #[arg(long, value_name = "TEXT")]
    pub promise: Option<String>,
    /// Jobs of the queue at once (comes with a later version)
    #[arg(long, value_name = "N", hide = true)]
    pub jobs: Option<String>,
    /// The domain whose queue is meant (comes with a later version)
    #[arg(long, value_name = "NAME", hide = true)]
    pub domain: Option<String>,
    /// Where the state files for other tools are written
    #[arg(long, value_name = "DIR")]
    pub mirror: Option<PathBuf>,
    /// A command that is run at a question, a halt, a hold and the end
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// Print the next decision; start and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Allow a run inside an agent call of another run
    #[arg(long)]
    pub nested: bool,
}

impl RunFlags {
    /// What these flags ask of the desk.
    pub(crate) fn request(&self, by: By) -> RunRequest {
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
    let (name, command) =
        text.split_once('=').ok_or("a check is written NAME=COMMAND, as tests=\"cargo test\"")?;
    let plain =
        !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_' || it == '-');
    if !plain {
        return Err(format!("\"{name}\" is no name for a check; use letters, digits, - and _"));
    }
    if command.trim().is_empty() {
        return Err(format!("the check \"{name}\" has no command"));
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

pub(crate) fn amount(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_start_matches('$').parse().map_err(|_| format!("\"{text}\" is no amount of dollars"))?;
    if number.is_finite() && 0.0 < number { Ok(number) } else { Err("a budget is more than 0".to_owned()) }
}
