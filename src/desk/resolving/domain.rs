//! Which domain of a project is meant, and its queue as this home knows it.

use crate::desk::caller::Caller;
use crate::desk::note::Note;
use crate::desk::refusal::{NextStep, Refusal, meant};
use crate::world::wait::now;
use loop_store::mirror::domain_memory::{FOLDER, QUEUE, queue_file};
use loop_store::{Home, QueueKey, QueueRead};
use std::path::{Path, PathBuf};

/// The domain of a project that has none, when its first system is added.
pub(crate) const FIRST: &str = "main";

/// The queue of a domain.
pub(crate) struct DomainQueue {
    pub project: String,
    pub domain: String,
    pub file: PathBuf,
}

impl DomainQueue {
    /// Finds the domain that is named, else the only one that there is.
    pub(crate) fn find(project: &Path, named: Option<&str>) -> anyhow::Result<DomainQueue> {
        let known = domains(project);
        let domain = match (named, known.as_slice()) {
            (Some(name), _) if is_plain(name) => name.to_owned(),
            (Some(name), _) => {
                return Err(Refusal::usage(
                    format!("{name:?} cannot be the name of a domain"),
                    NextStep::by_hand("use letters, digits, - and _"),
                ));
            }
            (None, [only]) => only.clone(),
            (None, []) => {
                return Err(Refusal::usage(
                    format!("there is no queue: {} has no folder {FOLDER}/DOMAIN", project.display()),
                    ["loop queue add \"NAME OF A SYSTEM\""],
                ));
            }
            (None, several) => {
                return Err(Refusal::usage(
                    format!("{FOLDER} has several domains: {}", several.join(", ")),
                    format!("loop queue list --domain {}", several[0]),
                ));
            }
        };
        let file = queue_file(project, &domain);
        Ok(DomainQueue { project: project.to_string_lossy().into_owned(), domain, file })
    }

    /// Finds a domain that has a queue already: building needs one.
    pub(crate) fn find_existing(project: &Path, named: Option<&str>) -> anyhow::Result<DomainQueue> {
        let queue = DomainQueue::find(project, named)?;
        let known = domains(project);
        if known.contains(&queue.domain) {
            return Ok(queue);
        }
        let text = format!("there is no domain \"{}\"", queue.domain);
        let next = match known.as_slice() {
            [] => NextStep::from(format!("loop queue add \"NAME OF A SYSTEM\" --domain {}", queue.domain)),
            names => meant(&queue.domain, names.iter().map(String::as_str)),
        };
        Err(Refusal::usage(text, next))
    }

    pub(crate) fn key(&self) -> QueueKey<'_> {
        QueueKey { project: &self.project, domain: &self.domain, file: &self.file }
    }

    /// Takes over what somebody changed in the file. What of it could not be is noted.
    pub(crate) fn read(&self, home: &Home, notes: &mut Vec<Note>) -> anyhow::Result<()> {
        match home.read_queue(self.key(), now())? {
            QueueRead::Read { refused } => {
                notes.extend(refused.into_iter().map(Note::for_people));
                Ok(())
            }
            QueueRead::Invalid { mistakes } => Err(self.invalid(&mistakes)),
        }
    }

    pub(crate) fn invalid(&self, mistakes: &[String]) -> anyhow::Error {
        let name = format!("{FOLDER}/{}/{QUEUE}", self.domain);
        let lines: Vec<String> = mistakes.iter().map(|it| format!("{name}: {it}")).collect();
        Refusal {
            text: lines.join("\n"),
            next: Some(NextStep::by_hand(format!("repair {name}; nothing was changed"))),
            exit: 8,
        }
        .into()
    }

    /// Whether somebody has written a queue here, or has one in this home.
    pub(crate) fn is_there(&self) -> bool {
        self.file.exists()
    }
}

/// Whether a project has a queue of any domain.
pub(crate) fn has_queue(project: &Path) -> bool {
    domains(project).iter().any(|it| queue_file(project, it).exists())
}

/// Returns the domains of a project, by their folders.
pub(crate) fn domains(project: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(project.join(FOLDER)).into_iter().flatten().flatten();
    let folders = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
    let mut names: Vec<String> =
        folders.filter_map(|it| it.file_name().into_string().ok()).filter(|it| is_plain(it)).collect();
    names.sort();
    names
}

fn is_plain(name: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.len() <= 100 && name.chars().all(plain)
}

/// Finds the domain's queue, and reads what is in its file.
pub(crate) fn read_queue(
    caller: &Caller,
    project: &Path,
    named: Option<&str>,
    notes: &mut Vec<Note>,
) -> anyhow::Result<(std::rc::Rc<Home>, DomainQueue)> {
    let queue = DomainQueue::find(project, named)?;
    let home = caller.home()?;
    queue.read(&home, notes)?;
    Ok((home, queue))
}
