//! The classes of files, and which files are mixed by their name.

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
    /// A Rust source file, which may carry `#[cfg(test)]` items.
    RustSource,
    CargoLock,
    /// package-lock.json, yarn.lock, pnpm-lock.yaml.
    NodeLock,
    GoMod,
    GoSum,
    /// requirements.txt and its relatives.
    Requirements,
    TsConfig,
    CMake,
    Meson,
    Gradle,
    Pom,
}

/// The kind of a mixed file, by its name alone.
pub(crate) fn mixed_path(path: &str) -> Option<Mixed> {
    mixed(&path.rsplit('/').next().unwrap_or(path).to_lowercase())
}

pub(super) fn mixed(name: &str) -> Option<Mixed> {
    match name {
        "package.json" => Some(Mixed::PackageJson),
        "pyproject.toml" => Some(Mixed::Pyproject),
        "cargo.toml" => Some(Mixed::CargoToml),
        "setup.cfg" => Some(Mixed::SetupCfg),
        "cargo.lock" => Some(Mixed::CargoLock),
        "package-lock.json" | "npm-shrinkwrap.json" | "yarn.lock" | "pnpm-lock.yaml" => Some(Mixed::NodeLock),
        "go.mod" => Some(Mixed::GoMod),
        "go.sum" => Some(Mixed::GoSum),
        "cmakelists.txt" => Some(Mixed::CMake),
        "meson.build" => Some(Mixed::Meson),
        "build.gradle" | "build.gradle.kts" => Some(Mixed::Gradle),
        "pom.xml" => Some(Mixed::Pom),
        _ if name.ends_with(".txt") && (name.contains("requirements") || name.contains("constraints")) => {
            Some(Mixed::Requirements)
        }
        _ if name.starts_with("tsconfig") && name.ends_with(".json") => Some(Mixed::TsConfig),
        _ if name.ends_with(".rs") => Some(Mixed::RustSource),
        _ => None,
    }
}
