//! The executor by itself, for trying it and for tests from outside: the words `__proof open HOME
//! PLACE [MAIN]` print the name of the opening's conditions, `__proof step HOME REQUEST STEP` takes a
//! step in a prover and prints its result as JSON, and `__proof prove HOME REQUEST` takes all of them
//! and prints what they add up to. Only builds for development have it.

use super::pure::{self, ProofStep};
use super::request::{ProofError, ProofRequest};
use crate::measure::proof::conditions::opening::OpeningConditions;
use crate::measure::proof::steps::prover::Prover;
use crate::measure::proof::storage::folders::{Keep, prune};
use crate::tree::git::Git;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

pub(crate) const WORD: &str = "__proof";

pub(crate) fn main(words: &[OsString]) -> ExitCode {
    match run(words) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("loop: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[OsString]) -> Result<String, ProofError> {
    let words: Vec<&Path> = words.iter().map(Path::new).collect();
    match words[..] {
        [verb, home, place, ref main @ ..] if verb == Path::new("open") => {
            let repository = Git::open(place)?;
            let borrow_from = main.first().map_or_else(|| Ok(repository.clone()), |it| Git::open(it))?;
            Ok(OpeningConditions::take(&repository, &borrow_from)?.keep(home)?)
        }
        [verb, home, request, step] if verb == Path::new("step") => {
            let request: ProofRequest =
                serde_json::from_slice(&fs::read(request)?).map_err(io::Error::from)?;
            let step: ProofStep =
                serde_json::from_value(step.to_string_lossy().into()).map_err(io::Error::from)?;
            let result = Prover::new(home, request)?.step_apart(step)?;
            Ok(serde_json::to_string_pretty(&result).map_err(io::Error::from)?)
        }
        [verb, home, request] if verb == Path::new("prove") => {
            let request: ProofRequest =
                serde_json::from_slice(&fs::read(request)?).map_err(io::Error::from)?;
            let prover = Prover::new(home, request)?;
            for step in ProofStep::ALL {
                prover.step_apart(step)?;
            }
            let proof = pure::conclude(&prover.evidence()?);
            Ok(serde_json::to_string_pretty(&proof).map_err(io::Error::from)?)
        }
        [verb, home] if verb == Path::new("prune") => Ok(prune(home, Keep::Findings)?.to_string()),
        _ => Err(io::Error::other(
            "open HOME PLACE [MAIN] | step HOME REQUEST STEP | prove HOME REQUEST | prune HOME",
        )
        .into()),
    }
}
