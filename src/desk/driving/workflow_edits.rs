//! Whether the files that a workflow was read from were changed while an agent call ran. The run keeps its
//! own copy, so nothing in it changes; but the next run would follow the files, and the edit is in no tree
//! that is judged. So it becomes a warning of the run, which its gates, its end and its record show.

use super::reload::{differences, listed, written};
use crate::desk::caller::CallerEnvironment;
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event, News};
use loop_store::Home;
use loop_store::run::Run;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(super) struct WorkflowEdits {
    environment: CallerEnvironment,
    home: Rc<Home>,
    /// Where the run works until it has a worktree.
    place: PathBuf,
    /// How the files differed from the run's copy when the call began.
    before: Option<Found>,
}

/// How the files differ from the copy of the run.
#[derive(PartialEq, Eq)]
enum Found {
    Keys(Vec<String>),
    Unusable(String),
}

impl WorkflowEdits {
    pub(super) fn watch(environment: CallerEnvironment, home: &Rc<Home>, place: &Path) -> WorkflowEdits {
        WorkflowEdits { environment, home: Rc::clone(home), place: place.to_owned(), before: None }
    }

    /// Looks when a call begins and when it has ended, and says what was changed in between. A call that
    /// somebody else began is compared with the run's own copy; a worktree may never have had the files.
    pub(super) fn follow(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Option<News> {
        let has = |is_meant: fn(&Event) -> bool| facts.iter().any(|(_, it)| is_meant(it));
        let (mut noticed, mut seen) = (None, None);
        if has(|it| matches!(it, Event::Ended(_))) {
            let (before, now) = (self.before.take(), self.look(run));
            let is_known = before.is_some() || run.state.opening.worktree.is_none();
            let text = now.edited_since(&before.unwrap_or(Found::Keys(Vec::new())));
            let text = text.filter(|_| is_known);
            seen = Some(now);
            noticed = text.filter(|it| !run.state.warnings.contains(it)).map(News::Noted);
        }
        if has(|it| matches!(it, Event::Began(Effect::Work(_)))) {
            // The end of a call and the intent of the next are mostly one commit.
            self.before = Some(seen.unwrap_or_else(|| self.look(run)));
        }
        noticed
    }

    fn look(&self, run: &Run) -> Found {
        let place = run.state.place.as_deref().map_or(self.place.as_path(), Path::new);
        let files = written(&self.environment, &self.home, &run.workflow, &run.state, place);
        match files.and_then(|it| differences(&run.workflow, &it)) {
            Ok(keys) => Found::Keys(keys),
            Err(error) => Found::Unusable(format!("{error:#}")),
        }
    }
}

impl Found {
    /// Says what is different now, if something is.
    fn edited_since(&self, before: &Found) -> Option<String> {
        let keys = match (self, before) {
            _ if self == before => return None,
            (Found::Unusable(why), _) => return Some(format!("{EDITED} and cannot be used: {why}")),
            (Found::Keys(keys), Found::Keys(before)) => {
                keys.iter().filter(|it| !before.contains(it)).cloned().collect()
            }
            (Found::Keys(keys), Found::Unusable(_)) => keys.clone(),
        };
        let named = if keys.is_empty() { String::new() } else { format!(": {}", listed(&keys)) };
        Some(format!("{EDITED}{named}; this run keeps its own copy, the next run would use the file"))
    }
}

const EDITED: &str = "the workflow file was changed while an agent worked";
