//! The documents of a run that nobody has committed: Markdown below docs/ or at the top, and whatever
//! lies in `.planning/`. They become one commit at the end where `[finish] commit_docs` says so. What
//! git ignores is not listed and so not committed, and neither is what was uncommitted before the run.

use super::Work;
use crate::tree::changes::is_document;
use loop_core::delivery_names::{Kind, Message};
use std::path::{Path, PathBuf};

impl Work {
    /// Commits the documents, where there are any, and returns how many.
    pub(crate) fn commit_documents(&self) -> anyhow::Result<usize> {
        if says_otherwise(Path::new(&self.row.place)) {
            return Ok(0);
        }
        let mut found = super::Preflight::default();
        self.changes(&mut found)?;
        let is_ours = |it: &&PathBuf| it.starts_with(".planning") || is_document(it);
        let files: Vec<PathBuf> = found.files.iter().filter(is_ours).cloned().collect();
        if files.is_empty() {
            return Ok(0);
        }
        let message = Message {
            subject: format!("{}: {}", Kind::Docs.word(), self.names.feature.replace('-', " ")),
            body: String::new(),
            footer: self.message.footer.clone(),
        };
        self.commit(&files, &message)?;
        Ok(files.len())
    }
}

/// A planning folder has its own word on this.
fn says_otherwise(place: &Path) -> bool {
    let text = loop_base::files::text(&place.join(".planning/config.json")).unwrap_or_default();
    let config: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    config["planning"]["commit_docs"] == false
}
