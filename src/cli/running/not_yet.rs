//! Commands that are part of the outside already and do nothing yet: they are known by name
//! and say so, which is better than a guess at what was meant.

use crate::desk::Refusal;
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
