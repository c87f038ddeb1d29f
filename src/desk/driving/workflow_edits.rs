//! Whether the files that a workflow was read from were changed while an agent call ran. The run keeps its
//! own copy, so nothing in it changes; but the next run would follow the files, and the edit is in no tree
//! that is judged. So it becomes a warning of the run, which its gates, its end and its record show. A run in a
//! worktree is compared with the files of the project, which the next run reads, and with those on its branch. Which
//! gates the systems of a queue have is watched in the same way, and its other systems are held back.

use super::reload::{differences, listed, written};
use crate::desk::caller::CallerEnvironment;
use crate::desk::resolving::queue_rules::SystemGates;
use crate::world::wait::now;
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event, News};
use loop_store::Home;
use loop_store::mirror::domain_memory::queue_file;
use loop_store::run::Run;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub(super) struct WorkflowEdits {
    environment: CallerEnvironment,
    home: Rc<Home>,
    /// Where the run works until it has a worktree.
    place: PathBuf,
    /// What there was when the call began.
    before: Option<WatchedFiles>,
    /// When that was looked at.
    began: Timestamp,
}

/// What says how later runs work.
#[derive(PartialEq, Eq)]
struct WatchedFiles {
    /// The files of the project, then those of a worktree, where the run has one.
    places: Vec<Found>,
    gates: SystemGates,
}

/// How the files differ from the copy of the run.
#[derive(PartialEq, Eq)]
enum Found {
    Keys(Vec<String>),
    Unusable(String),
}

impl WorkflowEdits {
    pub(super) fn watch(environment: CallerEnvironment, home: &Rc<Home>, place: &Path) -> WorkflowEdits {
        WorkflowEdits {
            environment,
            home: Rc::clone(home),
            place: place.to_owned(),
            before: None,
            began: Timestamp(0),
        }
    }

    /// Looks when a call begins and when it has ended, and says what was changed in between. A call that
    /// somebody else began is compared with the run's own copy; a worktree may never have had the files.
    pub(super) fn follow(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Option<News> {
        let has = |is_meant: fn(&Event) -> bool| facts.iter().any(|(_, it)| is_meant(it));
        let (mut noticed, mut seen) = (None, None);
        if has(|it| matches!(it, Event::Ended(_))) {
            let (before, now) = (self.before.take(), self.look(run));
            let is_known = before.is_some() || run.state.opening.worktree.is_none();
            let text = now.edited_since(before.as_ref());
            let text = text.filter(|_| is_known);
            text.iter().for_each(|it| self.hold_back(run, it));
            seen = Some(now);
            noticed = text.filter(|it| !run.state.warnings.contains(it)).map(News::Noted);
        }
        if has(|it| matches!(it, Event::Began(Effect::Work(_)))) {
            // The end of a call and the intent of the next are mostly one commit.
            self.before = Some(seen.unwrap_or_else(|| self.look(run)));
            self.began = now();
        }
        noticed
    }

    /// The other systems of the queue would follow the files, so none begins until a person has looked.
    fn hold_back(&self, run: &Run, why: &str) {
        let beginning = &run.state.opening.beginning;
        if let (Some(plan), Some(domain)) = (&run.state.opening.worktree, &beginning.domain)
            && let Err(error) = self.home.hold_back(&plan.root, domain, why, self.began)
        {
            tracing::error!(%error, "the queue could not be held back");
        }
    }

    fn look(&self, run: &Run) -> WatchedFiles {
        let place = run.state.place.as_deref().map_or(self.place.as_path(), Path::new);
        let root = run.state.opening.worktree.as_deref().map(|it| Path::new(&it.root));
        let branch = root.is_none_or(|it| it != place && place.exists()).then_some(place);
        let places = root.into_iter().chain(branch).map(|it| self.look_at(run, it)).collect();
        let domain = run.state.opening.beginning.domain.as_deref();
        let queue = root.zip(domain).map(|(root, domain)| queue_file(root, domain));
        WatchedFiles { places, gates: queue.map_or_else(SystemGates::none, |it| SystemGates::read(&it)) }
    }

    fn look_at(&self, run: &Run, place: &Path) -> Found {
        let files = written(&self.environment, &self.home, &run.workflow, &run.state, place);
        match files.and_then(|it| differences(&run.workflow, &it)) {
            Ok(keys) => Found::Keys(keys),
            Err(error) => Found::Unusable(format!("{error:#}")),
        }
    }
}

impl WatchedFiles {
    /// Says what is different now, if something is.
    fn edited_since(&self, before: Option<&WatchedFiles>) -> Option<String> {
        let nothing = Found::Keys(Vec::new());
        let earlier = |index: usize| before.and_then(|it| it.places.get(index)).unwrap_or(&nothing);
        let files = self.places.iter().enumerate().filter_map(|(index, it)| it.edited_since(earlier(index)));
        let mut said: Vec<String> = files.collect();
        said.extend(before.and_then(|it| self.gates_changed_since(it)));
        said.dedup();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn gates_changed_since(&self, before: &WatchedFiles) -> Option<String> {
        let changed = self.gates.changed_since(&before.gates)?;
        Some(format!("{changed} while an agent worked; their next runs would follow it"))
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
