//! Words of the file that stand for one of a few things: an agent, an expectation, a class of errors.

use super::typed::{Typed, words};
use crate::agent_table::{AgentRow, AgentTable};
use crate::proof::Level;
use crate::workflow::grammar::problem::{Place, Sources};
use crate::workflow::model::{
    Back, CleanWhen, ErrorClass, InputKind, LostCall, MergeBy, MergeThrough, MirrorFormat, Permissions,
    PhaseProof, RejectThen, Ship, ShownKind, WindowThen, WorkPlace,
};
use serde_json::{Value, json};
use toml::de::DeValue;

/// An agent of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentName(pub &'static AgentRow);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Passing,
    Failing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakerThen {
    Halt,
    Pivot,
}

words!(InputKind: "file" => InputKind::File, "job" => InputKind::Job, "phase" => InputKind::Phase,
    "design" => InputKind::Design, "text" => InputKind::Text, "none" => InputKind::None);
words!(WorkPlace: "here" => WorkPlace::Here, "worktree" => WorkPlace::Worktree);
words!(LostCall: "judge" => LostCall::Judge, "undo" => LostCall::Undo);
words!(Permissions: "all" => Permissions::All, "edit" => Permissions::Edit, "agent" => Permissions::Agent);
words!(WindowThen: "ask" => WindowThen::Ask, "wait" => WindowThen::Wait, "pause" => WindowThen::Pause,
    "abort" => WindowThen::Abort);
words!(Expect: "passing" => Expect::Passing, "failing" => Expect::Failing);
words!(PhaseProof: "tree" => PhaseProof::Tree, "clean" => PhaseProof::Clean);
words!(CleanWhen: "completion" => CleanWhen::Completion, "never" => CleanWhen::Never);
words!(Level: "red-to-green" => Level::RedToGreen, "new-test" => Level::NewTest,
    "approved" => Level::Approved, "unchanged-green" => Level::UnchangedGreen, "none" => Level::None);
words!(BreakerThen: "halt" => BreakerThen::Halt, "pivot" => BreakerThen::Pivot);
words!(RejectThen: "ask" => RejectThen::Ask, "halt" => RejectThen::Halt);
words!(Back: "direct" => Back::Direct, "full" => Back::Full);
words!(Ship: "off" => Ship::Off, "offer" => Ship::Offer, "auto" => Ship::Auto);
words!(MergeThrough: "auto" => MergeThrough::Auto, "gh" => MergeThrough::Gh,
    "push" => MergeThrough::Push, "local" => MergeThrough::Local);
words!(MergeBy: "loop" => MergeBy::Loop, "people" => MergeBy::People);
words!(MirrorFormat: "prp-session" => MirrorFormat::PrpSession,
    "domain-memory" => MirrorFormat::DomainMemory, "planning" => MirrorFormat::Planning,
    "task-state" => MirrorFormat::TaskState);
words!(ShownKind: "tests" => ShownKind::Tests, "checks" => ShownKind::Checks,
    "security" => ShownKind::Security, "performance" => ShownKind::Performance,
    "review" => ShownKind::Review);
words!(ErrorClass: "build" => ErrorClass::Build, "test" => ErrorClass::Test, "lint" => ErrorClass::Lint,
    "type" => ErrorClass::Type, "security" => ErrorClass::Security,
    "performance" => ErrorClass::Performance, "external" => ErrorClass::External,
    "ambiguous" => ErrorClass::Ambiguous, "other" => ErrorClass::Other);

impl AgentName {
    /// Reads the word of a flag.
    pub(crate) fn find(word: &str, place: &Place, sources: &mut Sources) -> Option<AgentName> {
        let found = sources.agents.named(word).map(AgentName);
        if found.is_none() {
            let next = crate::workflow::grammar::problem::suggest(word, sources.agents.names());
            sources.report(Some(place), format!("there is no agent \"{word}\""), next);
        }
        found
    }
}

impl Typed for AgentName {
    const SHAPE: &'static str = "the name of an agent";

    fn schema() -> Value {
        json!({ "enum": AgentTable::default().names().collect::<Vec<_>>() })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<AgentName> {
        let word = String::read(value, place, sources)?;
        let found = sources.agents.named(&word).map(AgentName);
        if found.is_none() {
            let next = crate::workflow::grammar::problem::suggest(&word, sources.agents.names());
            sources.report(Some(place), format!("\"{word}\" is not known here"), next);
        }
        found
    }
}
