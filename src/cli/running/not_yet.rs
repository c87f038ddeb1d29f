//! Commands and flags that are part of the outside already and do nothing yet: they are known by name
//! and say so, which is better than a guess at what was meant.

use super::flags::RunFlags;
use crate::desk::{NextStep, Refusal};
use clap::Args;

#[derive(Args)]
pub(crate) struct Words {
    /// Whatever it will take
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<String>,
}

pub(crate) fn command(name: &str, instead: &str) -> anyhow::Result<u8> {
    Err(Refusal::usage(format!("loop {name} comes with a later version"), instead))
}

pub(crate) fn refuse_flags(flags: &RunFlags) -> anyhow::Result<()> {
    let given = [("--jobs", flags.jobs.is_some())];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Refusal::usage(
            format!("{flag} comes with a later version"),
            NextStep::by_hand("leave it out; one system is built at a time"),
        )),
    }
}
