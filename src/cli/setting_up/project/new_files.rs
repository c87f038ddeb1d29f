//! Files that `loop setup` writes. What is there already is never touched.

use crate::desk::Refusal;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Nothing is written where something is there already.
pub(crate) fn refuse_overwriting<'a>(
    project: &Path,
    paths: impl Iterator<Item = &'a Path>,
) -> anyhow::Result<()> {
    let mut paths = paths;
    let Some(there) = paths.find(|it| project.join(it).exists()) else { return Ok(()) };
    let text = format!("{} already exists; nothing was written", there.display());
    Err(Refusal::usage(text, "loop check"))
}

/// A file to write, relative to the project.
pub(crate) struct NewFile {
    pub path: PathBuf,
    pub text: String,
    /// It is a file of the project that keeps everything that was in it.
    pub replaces: bool,
}

pub(crate) fn write(path: &Path, file: &NewFile) -> anyhow::Result<()> {
    let failed = |error: std::io::Error| anyhow::anyhow!("{} cannot be written: {error}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    if file.replaces {
        let beside = path.with_extension("loop-tmp");
        std::fs::write(&beside, &file.text).map_err(failed)?;
        return std::fs::rename(&beside, path).map_err(failed);
    }
    let mut opened = std::fs::File::create_new(path).map_err(failed)?;
    opened.write_all(file.text.as_bytes()).map_err(failed)
}
