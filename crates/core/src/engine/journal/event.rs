//! What a journal consists of: facts in the past tense. They are read again by every later program, so the list only
//! grows, and a field that is added has a default.

use super::calls::ending::{Ended, How, LeftProcess};
use super::closing::landing::{Landing, LandingStep};
use super::closing::proof_steps::StepTaken;
use super::effect::Effect;
use super::hold::{Hold, Outcome, Wait};
use super::measured::evidence::{Baseline, Evidence};
use super::measured::judgement::Judgement;
use super::people::approval::{Signer, Subject, Void};
use super::people::command::{Answer, Command};
use super::task::item::Listing;
use super::task::opening::{Opening, Session};
use crate::proof::{Proof, Waiver};
use crate::workflow::model::PhaseId;
use loop_base::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A fact. The state of a run is the fold of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    Opened(Opening),
    /// A controller took the run.
    Owned {
        epoch: u64,
        /// The hash of what the run was opened with, by which the chain covers it too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opening: Option<String>,
    },
    /// The work is done by a session of the agent that calls us whenever it stops.
    Joined(Session),
    /// Something that happens once is about to be done.
    Began(Effect),
    /// The working tree is ready.
    Placed {
        place: String,
        branch: Option<String>,
    },
    Baselined(Baseline),
    /// The list of items was read. It is journaled as what changed since the last time.
    Listed(Listing),
    Ended(Box<Ended>),
    Contained {
        left: Vec<LeftProcess>,
    },
    Measured(Box<Evidence>),
    Judged(Box<Judgement>),
    /// A step of the proof was taken.
    StepTaken(Box<StepTaken>),
    /// What was proven.
    Proved(Box<Proof>),
    /// A person accepts findings of the proof.
    Waived(Waiver),
    /// A person takes this tree as it is, though less is proven than asked for.
    Accepted {
        tree: String,
        reason: String,
        by: String,
    },
    /// A person gave the command that prepares a clean checkout, or goes without a proof.
    Prepared {
        command: Option<String>,
    },
    /// The iteration is over and its phase continues.
    Repeated,
    /// A phase was left and another entered.
    Entered {
        phase: PhaseId,
        how: How,
    },
    /// A person let the phase go although its exit rule does not hold.
    Skipped {
        why: String,
    },
    /// A checkpoint that an agent stopped at is settled, by a person or by the autonomous mode.
    Settled {
        text: String,
        automatic: bool,
        /// The item itself was the checkpoint, so it is done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        done: bool,
    },
    /// A person gave the command of a check that had none.
    Supplied {
        check: String,
        command: String,
    },
    ItemDone {
        id: String,
        /// Items of the same group that the agent called complete with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<String>,
    },
    /// What only a person can judge stays open; the run continues without them.
    LeftToPerson {
        items: Vec<String>,
    },
    /// A wait begins.
    Waits {
        until: Timestamp,
        why: String,
        wait: Wait,
    },
    Woke,
    /// The person was told, or could not be.
    Told {
        trouble: Option<String>,
    },
    /// A question's time ran out.
    Expired {
        question: u32,
    },
    /// The breaker was closed by a person, or by one fresh call with a summary of what was tried.
    Reset {
        guidance: Option<String>,
    },
    Pivoted,
    Approved {
        gate: String,
        by: String,
        /// What was approved; journals from before do not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Box<Subject>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signer: Option<Box<Signer>>,
    },
    /// An approval does not hold.
    Voided {
        gate: String,
        why: String,
        void: Void,
    },
    /// Other runs of the project have made calls in the same window.
    Counted {
        start: Timestamp,
        made: u32,
    },
    /// Calls beyond the window's limit are allowed until then.
    Granted {
        until: Timestamp,
    },
    /// A failure will be tried again.
    Retried,
    /// A person has the agent called again, with another model if one is named.
    CalledAgain {
        model: Option<String>,
    },
    Held(Hold),
    Commanded(Command),
    /// A person had the workflow read again, or gave other values for these keys.
    Reloaded {
        keys: Vec<String>,
        /// The hash of the workflow as it is stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<String>,
    },
    Refused {
        command: Command,
        why: String,
    },
    /// A check that had no command has one now, which was found in the project.
    Detected {
        check: String,
        command: String,
    },
    /// A step of a landing was taken.
    LandingStep(LandingStep),
    /// The work was brought to where it is to go, or was not.
    Landed(Landing),
    /// How the work that was handed over stands outside.
    Looked(Landing),
    /// What was found where a gate is asked on a pull request.
    Heard {
        /// Where it is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Answer>,
        /// Why it could not be looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<String>,
    },
    /// A person said what a skill needs, or goes without it.
    Known {
        skill: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// The end of the workflow was seen to; a run that is closed already may be handed in later.
    Finished {
        trouble: Option<String>,
        /// Where the work went, if it left the house.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shipped: Option<String>,
        /// The commit that holds what was handed in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The command that continues after this run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
    /// Something that a person should know.
    Noted {
        text: String,
    },
    Closed(Outcome),
}

impl Event {
    /// Words of [`Event::kind`] by which readers of a long journal pass over what they do not need.
    pub const BEGAN: &str = "began";
    pub const ENDED: &str = "ended";
    pub const JUDGED: &str = "judged";

    /// Returns the word that lists show.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Opened(_) => "opened",
            Event::Owned { .. } => "owned",
            Event::Joined(_) => "joined",
            Event::Began(_) => Event::BEGAN,
            Event::Placed { .. } => "placed",
            Event::Baselined(_) => "baselined",
            Event::Listed(_) => "listed",
            Event::Ended(_) => Event::ENDED,
            Event::Contained { .. } => "contained",
            Event::Measured(_) => "measured",
            Event::Judged(_) => Event::JUDGED,
            Event::StepTaken(_) => "step-taken",
            Event::Proved(_) => "proved",
            Event::Waived(_) => "waived",
            Event::Accepted { .. } => "accepted",
            Event::Prepared { .. } => "prepared",
            Event::Repeated => "repeated",
            Event::Entered { .. } => "entered",
            Event::Skipped { .. } => "skipped",
            Event::Settled { .. } => "settled",
            Event::Supplied { .. } => "supplied",
            Event::ItemDone { .. } => "item-done",
            Event::LeftToPerson { .. } => "left-to-person",
            Event::Waits { .. } => "waits",
            Event::Woke => "woke",
            Event::Told { .. } => "told",
            Event::Expired { .. } => "expired",
            Event::Reset { .. } => "reset",
            Event::Pivoted => "pivoted",
            Event::Approved { .. } => "approved",
            Event::Voided { .. } => "voided",
            Event::Granted { .. } => "granted",
            Event::Counted { .. } => "counted",
            Event::Retried => "retried",
            Event::CalledAgain { .. } => "called-again",
            Event::Held(_) => "held",
            Event::Commanded(_) => "commanded",
            Event::Reloaded { .. } => "reloaded",
            Event::Refused { .. } => "refused",
            Event::Detected { .. } => "detected",
            Event::LandingStep(_) => "landing-step",
            Event::Landed(_) => "landed",
            Event::Looked(_) => "looked",
            Event::Heard { .. } => "heard",
            Event::Known { .. } => "known",
            Event::Finished { .. } => "finished",
            Event::Noted { .. } => "noted",
            Event::Closed(_) => "closed",
        }
    }
}
