//! What says how the systems of a queue are built: the workflow's file, the domain's `config.json`, and `autonomy` in the
//! queue's file. A run has its own copy. Agents can write these files, so what was changed in them while an agent
//! worked holds back every system that has not begun, until a person accepts it.

use crate::desk::caller::Caller;
use crate::desk::refusal::{NextStep, Refusal};
use crate::desk::request::RunRequest;
use crate::desk::resolving::choose_workflow;
use crate::desk::resolving::domain::{DomainQueue, domains};
use loop_base::files;
use loop_store::Home;
use loop_store::mirror::domain_memory::FOLDER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What these files say.
#[derive(PartialEq, Eq)]
pub(crate) struct QueueRules {
    workflow: String,
    config: String,
    gates: SystemGates,
}

/// System → what the queue's file says about its gates.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SystemGates(BTreeMap<String, String>);

impl QueueRules {
    /// Reads them. What cannot be used is known by why.
    pub(crate) fn read(caller: &Caller, request: &RunRequest, queue: &DomainQueue) -> QueueRules {
        let project = Path::new(&queue.project);
        let workflow = choose_workflow::workflow(caller, request, project, &mut Vec::new());
        let workflow = workflow.and_then(|it| Ok(serde_json::to_string(&it)?));
        let config = project.join(FOLDER).join(&queue.domain).join("config.json");
        QueueRules {
            workflow: workflow.unwrap_or_else(|error| format!("{error:#}")),
            config: files::text(&config).unwrap_or_default(),
            gates: SystemGates::read(&queue.file),
        }
    }

    /// Says what is different now, if something is.
    pub(crate) fn changed_since(&self, before: &QueueRules) -> Option<String> {
        let mut said = Vec::new();
        said.extend((self.workflow != before.workflow).then(|| "the workflow file was changed".to_owned()));
        said.extend((self.config != before.config).then(|| "config.json was changed".to_owned()));
        said.extend(self.gates.changed_since(&before.gates));
        (!said.is_empty()).then(|| format!("{} while systems were built", said.join("; ")))
    }
}

impl SystemGates {
    /// A file that cannot be read says nothing.
    pub(crate) fn read(queue: &Path) -> SystemGates {
        let text = files::text(queue).unwrap_or_default();
        let file: Value = serde_json::from_str(&text).unwrap_or_default();
        let systems = file["systems"].as_array().map(Vec::as_slice).unwrap_or_default();
        let said = systems.iter().filter(|it| !it["autonomy"].is_null());
        let pair =
            |it: &Value| (it["id"].as_str().unwrap_or_default().to_owned(), it["autonomy"].to_string());
        SystemGates(said.map(pair).collect())
    }

    pub(crate) fn none() -> SystemGates {
        SystemGates(BTreeMap::new())
    }

    /// Says whose gates are different now.
    pub(crate) fn changed_since(&self, before: &SystemGates) -> Option<String> {
        let all = before.0.keys().chain(self.0.keys());
        let is_changed = |it: &&String| before.0.get(*it) != self.0.get(*it);
        let changed: BTreeSet<&str> = all.filter(is_changed).map(String::as_str).collect();
        let named = changed.into_iter().collect::<Vec<_>>().join(", ");
        (!named.is_empty()).then(|| format!("the gates of {named} were changed in system-queue.json"))
    }
}

/// Says why nothing of this queue begins, if so.
pub(crate) fn held_back(home: &Home, queue: &DomainQueue) -> Option<Refusal> {
    let reasons = match readable(home, queue) {
        Ok(reasons) => reasons,
        Err(unreadable) => return Some(unreadable),
    };
    let text = format!("nothing begins until a person has looked at it: {}", reasons.join("; "));
    let is_only = domains(Path::new(&queue.project)).len() < 2;
    let next = match is_only {
        true => "loop queue accept".to_owned(),
        false => format!("loop queue accept --domain {}", queue.domain),
    };
    (!reasons.is_empty()).then(|| Refusal { text, next: Some(next.into()), exit: 3 })
}

/// Returns what holds back this queue. Where that cannot be read, nothing begins: there may be something.
pub(crate) fn readable(home: &Home, queue: &DomainQueue) -> Result<Vec<String>, Refusal> {
    home.held_back(&queue.project, &queue.domain).map_err(|error| {
        let text = format!("what holds back the systems of {} cannot be read: {error}", queue.domain);
        Refusal { text, next: Some(NextStep::by_hand("make it readable, or move it away")), exit: 3 }
    })
}
