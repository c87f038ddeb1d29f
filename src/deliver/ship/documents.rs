//! The documents of a run that nobody has committed: Markdown below docs/ or at the top, and whatever
//! lies in `.planning/`. They become one commit at the end where `[finish] commit_docs` says so. What
//! git ignores is not listed and so not committed, and neither is what was uncommitted before the run.

use super::CompletedWork;
use crate::tree::changes::is_document;
use loop_base::text::counted;
use loop_base::value::Value;
use loop_core::delivery_names::{CommitKind, Message};
use loop_core::facts::FactName;
use loop_core::workflow::model::MirrorFormat;
use loop_store::mirror::planning;
use std::path::{Path, PathBuf};

/// What came of committing the documents.
pub(crate) struct CommittedDocuments {
    pub(crate) is_any: bool,
    /// Files that are gone and were not committed as gone.
    removed: Vec<PathBuf>,
}

/// Removed files that are named; git lists all of them.
const REMOVED_NAMED: usize = 5;

impl CommittedDocuments {
    /// Says which files are gone, where some are.
    pub(crate) fn removed_words(&self) -> Option<String> {
        let named = self.removed.iter().take(REMOVED_NAMED).map(|it| it.display().to_string());
        let named = named.collect::<Vec<_>>().join(", ");
        let more = self.removed.len().saturating_sub(REMOVED_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        (!self.removed.is_empty()).then(|| {
            format!(
                "{} below .planning/ removed in this run and not committed as removed: {named}{more}; \
                 git checkout HEAD -- FILE brings one back",
                counted(self.removed.len(), "file")
            )
        })
    }
}

impl CompletedWork {
    /// Commits the documents, where there are any. What was removed below `.planning/` stays in the history: nobody
    /// has decided that, and the commit of a controller is not where a person looks for it.
    pub(crate) fn commit_documents(&self) -> anyhow::Result<CommittedDocuments> {
        let mut found = super::Preflight::default();
        self.changes(&mut found)?;
        let is_ours = |it: &&PathBuf| it.starts_with(".planning") || is_document(it);
        let is_removed = |it: &PathBuf| {
            it.starts_with(".planning") && self.git.work_tree().join(it).symlink_metadata().is_err()
        };
        let files = found.files.iter().filter(is_ours).cloned();
        let (removed, files): (Vec<PathBuf>, Vec<PathBuf>) = files.partition(is_removed);
        if files.is_empty() {
            return Ok(CommittedDocuments { is_any: false, removed });
        }
        self.unstage(&removed)?;
        let message = self.documents_message();
        if self.workflow.mirror.writes(MirrorFormat::Planning) {
            // We keep it from being staged by accident; here it is meant.
            let path = Path::new(&self.row.place).join(planning::NAME);
            if path.is_file() {
                self.git.run(["add", "-f", "--", planning::NAME])?;
            }
        }
        self.commit(&files, &message)?;
        Ok(CommittedDocuments { is_any: true, removed })
    }

    fn documents_message(&self) -> Message {
        let trailer = self.workflow.finish.commit_trailer.clone();
        if !self.workflow.mirror.writes(MirrorFormat::Planning) {
            let subject = format!("{}: {}", CommitKind::Docs.word(), self.names.feature.replace('-', " "));
            return Message {
                subject,
                body: String::new(),
                footer: trailer.unwrap_or_else(|| self.message.footer.clone()),
            };
        }
        let verdict = self.state.visit.metrics.get(FactName::Verdict.name()).map(|it| &it.value);
        let verified = match (verdict, self.state.is_proven()) {
            (Some(Value::Text(verdict)), true) => verdict.clone(),
            (Some(Value::Text(verdict)), false) => format!("{verdict}, not proven"),
            (Some(_) | None, _) => "unverified".to_owned(),
        };
        Message {
            subject: format!("docs({}): complete phase via loop", self.state.opening.input),
            body: format!("Loop iterations: {}\nVerification: {verified}", self.state.iterations_numbered()),
            footer: trailer.unwrap_or_default(),
        }
    }
}
