//! A folder that is gone with its value.

use std::path::{Path, PathBuf};

pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes one whose name begins so.
    pub(super) fn new(prefix: &str) -> anyhow::Result<TemporaryFolder> {
        let path = std::env::temp_dir().canonicalize()?.join(format!("{prefix}-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path)?;
        Ok(TemporaryFolder(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _nobody_needs_it = std::fs::remove_dir_all(&self.0);
    }
}
