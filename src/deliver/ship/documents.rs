//! The documents of a run that nobody has committed: Markdown below docs/ or at the top, and whatever
//! lies in `.planning/`. They become one commit at the end where `[finish] commit_docs` says so. What
//! git ignores is not listed and so not committed, and neither is what was uncommitted before the run.

use super::CompletedWork;
use crate::tree::changes::is_document;
use loop_base::value::Value;
use loop_core::delivery_names::{CommitKind, Message};
use loop_core::facts::FactName;
use loop_core::workflow::model::MirrorFormat;
use loop_store::mirror::planning;
use std::path::{Path, PathBuf};

impl CompletedWork {
    /// Commits the documents, where there are any, and returns how many.
    pub(crate) fn commit_documents(&self) -> anyhow::Result<usize> {
        let mut found = super::Preflight::default();
        self.changes(&mut found)?;
        let is_ours = |it: &&PathBuf| it.starts_with(".planning") || is_document(it);
        let files: Vec<PathBuf> = found.files.iter().filter(is_ours).cloned().collect();
        if files.is_empty() {
            return Ok(0);
        }
        let message = self.documents_message();
        if self.workflow.mirror.writes(MirrorFormat::Planning) {
            // We keep it from being staged by accident; here it is meant.
            let path = Path::new(&self.row.place).join(planning::NAME);
            if path.is_file() {
                self.git.run(["add", "-f", "--", planning::NAME])?;
            }
        }
        self.commit(&files, &message)?;
        Ok(files.len())
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
