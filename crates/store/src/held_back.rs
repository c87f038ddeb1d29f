//! Why nothing of a queue begins, until a person says that it may: something that only people should change was
//! changed while an agent worked. It is kept beside the locks of pools, because no run is there to have it as an event.

use super::error::StoreError;
use super::home::Home;
use super::lock::pool_file;
use loop_base::files;
use loop_base::files::private_folder;
use loop_base::time::Timestamp;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Reasons that are kept; every agent call may add one.
const REASONS_MOST: usize = 50;

impl Home {
    /// Returns why nothing of this queue begins.
    pub fn held_back(&self, project: &str, domain: &str) -> Result<Vec<String>, StoreError> {
        let path = self.held_back_file(project, domain);
        match files::text(&path) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(StoreError::Other { path, why: error.to_string() }),
        }
    }

    /// From here on nothing of this queue begins, for this reason too. Where several agents work, each call that ends
    /// finds the same change: what a person accepted after the call began is no reason.
    pub fn hold_back(
        &self,
        project: &str,
        domain: &str,
        why: &str,
        began: Timestamp,
    ) -> Result<(), StoreError> {
        let mut reasons = self.held_back(project, domain)?;
        let why = why.replace(['\n', '\r'], " ");
        let accepted = self.held_back_file(project, domain).with_extension("accepted");
        let is_later = fs::metadata(&accepted).is_ok_and(|it| began.0 <= it.mtime() * 1000 + 999);
        let is_accepted = is_later && files::text(&accepted).is_ok_and(|it| it.lines().any(|it| it == why));
        if is_accepted || reasons.contains(&why) || REASONS_MOST <= reasons.len() {
            return Ok(());
        }
        reasons.push(why);
        let path = self.held_back_file(project, domain);
        private_folder(path.parent().expect("a file lies in a folder"))
            .map_err(|error| StoreError::file(&path, &error))?;
        files::replace_ours(&path, &reasons.join("\n")).map_err(|error| StoreError::file(&path, &error))
    }

    /// A person has looked at it: systems may begin. Returns what was accepted.
    pub fn accept_held_back(&self, project: &str, domain: &str) -> Result<Vec<String>, StoreError> {
        let reasons = self.held_back(project, domain)?;
        let path = self.held_back_file(project, domain);
        if reasons.is_empty() {
            return Ok(reasons);
        }
        let accepted = path.with_extension("accepted");
        files::replace_ours(&accepted, &reasons.join("\n"))
            .map_err(|error| StoreError::file(&accepted, &error))?;
        fs::remove_file(&path).map_err(|error| StoreError::file(&path, &error))?;
        Ok(reasons)
    }

    fn held_back_file(&self, project: &str, domain: &str) -> PathBuf {
        pool_file(self.path(), project, domain).with_extension("held")
    }
}
