//! Whether the files that a workflow was read from were changed while an agent call ran. The run keeps its
//! own copy, so nothing in it changes; but the next run would follow the files, and the edit is in no tree
//! that is judged. So it becomes a warning of the run, which its gates, its end and its record show. A run in a
//! worktree is compared with the files of the project, which the next run reads, and with those on its branch. Which
//! gates the systems of a queue have is watched in the same way, and its other systems are held back.
//!
//! What there was when a call began is kept in the run's folder, because another controller may find its end.

use super::reload::{differences, listed, written};
use crate::desk::caller::CallerEnvironment;
use crate::desk::resolving::queue_rules::SystemGates;
use crate::world::wait::now;
use loop_base::files;
use loop_base::time::Timestamp;
use loop_core::engine::{Call, Effect, Event, News, Station};
use loop_store::Home;
use loop_store::mirror::domain_memory::queue_file;
use loop_store::run::Run;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// In the run's folder: what there was when the last call began.
const FILE: &str = "watched-files.json";

/// Keys of a workflow, and what a queue says about the gates of its systems.
const FILE_MOST: usize = 16 << 20;

pub(super) struct WorkflowEdits {
    environment: CallerEnvironment,
    home: Rc<Home>,
    /// Where the run works until it has a worktree.
    place: PathBuf,
    /// Of the call that this controller began.
    before: Option<WatchedCall>,
}

/// What there was when a call began.
#[derive(Serialize, Deserialize)]
struct WatchedCall {
    call: u32,
    /// When that was looked at.
    began: Timestamp,
    files: WatchedFiles,
}

/// What says how later runs work.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct WatchedFiles {
    /// The files of the project, then those of a worktree, where the run has one.
    places: Vec<Found>,
    gates: SystemGates,
}

/// How the files differ from the copy of the run.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
enum Found {
    Keys(Vec<String>),
    Unusable(String),
}

impl WorkflowEdits {
    pub(super) fn watch(environment: CallerEnvironment, home: &Rc<Home>, place: &Path) -> WorkflowEdits {
        WorkflowEdits { environment, home: Rc::clone(home), place: place.to_owned(), before: None }
    }

    /// Says what was changed during a call whose end is recorded, where the controller that recorded it was killed
    /// before it could look.
    pub(super) fn look_back(&self, run: &Run) -> Option<News> {
        let before = self.kept(run)?;
        let is_under_way = matches!(&run.state.station, Station::Working(call) if call.number == before.call);
        let edit = if is_under_way { None } else { self.edit(run, Some(&before), &self.look(run)) };
        if !is_under_way {
            self.forget(run);
        }
        edit
    }

    /// Looks when a call begins and when it has ended, and says what was changed in between.
    pub(super) fn follow(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Option<News> {
        let ended = facts.iter().find_map(|(_, it)| match it {
            Event::Ended(ended) => Some(ended.call),
            _ => None,
        });
        let begun = facts.iter().rev().find_map(|(_, it)| match it {
            Event::Began(Effect::Work(call)) => Some(call),
            _ => None,
        });
        let (mut noticed, mut seen) = (None, None);
        if let Some(call) = ended {
            let before = self.before.take().or_else(|| self.kept(run)).filter(|it| it.call == call);
            let now = self.look(run);
            noticed = self.edit(run, before.as_ref(), &now);
            seen = Some(now);
        }
        if let Some(call) = begun {
            // The end of a call and the intent of the next are mostly one commit.
            let files = seen.unwrap_or_else(|| self.look(run));
            self.keep(run, call, files);
        } else if ended.is_some() {
            self.forget(run);
        }
        noticed
    }

    /// Says what was changed since a call began, and holds back the queue. Where nobody knows what there was then, the
    /// files of the project are compared with the run's own copy.
    fn edit(&self, run: &Run, before: Option<&WatchedCall>, now: &WatchedFiles) -> Option<News> {
        let text = now.edited_since(before.map(|it| &it.files))?;
        self.hold_back(run, &text, before.map_or(run.state.opened_at, |it| it.began));
        (!run.state.warnings.contains(&text)).then_some(News::Noted(text))
    }

    fn keep(&mut self, run: &Run, call: &Call, files: WatchedFiles) {
        let before = WatchedCall { call: call.number, began: now(), files };
        let text = serde_json::to_string(&before).expect("keys and words are JSON");
        if let Err(error) = files::overwrite_ours(&self.home.folder(&run.id).join(FILE), &text) {
            // This controller knows it all the same.
            tracing::error!(%error, "what an agent may change could not be kept");
        }
        self.before = Some(before);
    }

    /// Returns what was kept, by whichever controller.
    fn kept(&self, run: &Run) -> Option<WatchedCall> {
        let text = files::read(&self.home.folder(&run.id).join(FILE), FILE_MOST).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn forget(&self, run: &Run) {
        // One that stays is looked at once more, and says the same.
        let _stays = files::remove_any(&self.home.folder(&run.id).join(FILE));
    }

    /// The other systems of the queue would follow the files, so none begins until a person has looked.
    fn hold_back(&self, run: &Run, why: &str, began: Timestamp) {
        let beginning = &run.state.opening.beginning;
        if let (Some(plan), Some(domain)) = (&run.state.opening.worktree, &beginning.domain)
            && let Err(error) = self.home.hold_back(&plan.root, domain, why, began)
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
        // The branch of a worktree may never have had the files, so nothing is said where that is not known.
        let earlier = |index: usize| match before {
            Some(before) => before.places.get(index),
            None => (index == 0).then_some(&nothing),
        };
        let places = self.places.iter().enumerate();
        let files = places.filter_map(|(index, it)| it.edited_since(earlier(index)?));
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
