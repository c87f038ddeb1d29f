//! Which files the baseline protects: tests, control files, and mixed files of which only a part
//! is protected.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    Test,
    /// Decides what runs and how: Makefile, conftest, configuration of a runner, CI.
    Control,
    /// Protected in part.
    Mixed(Mixed),
    Ordinary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mixed {
    PackageJson,
    Pyproject,
    CargoToml,
    SetupCfg,
    /// A Rust source file, which may carry `#[cfg(test)]` modules.
    RustSource,
}

/// What is protected in one run.
#[derive(Clone, Debug)]
pub struct Rules {}

impl Rules {
    /// `protect` are the globs of `[proof] protect`; `commands` the commands of the checks, whose
    /// scripts are control files; `files` all paths of the baseline and the final tree.
    pub fn new(protect: &[String], commands: &[String], files: &[String]) -> Result<Rules, String> {
        todo!()
    }

    pub fn classify(&self, path: &str) -> Class {
        todo!()
    }
}
