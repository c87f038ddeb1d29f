//! The pure core: what a run is, and what it does next. It reads no clock and no file, starts
//! nothing and waits for nothing; the driver does that and tells it what came of it.

mod answer;
mod answered;
mod apply;
mod breaker;
mod call;
mod decide;
mod event;
mod evidence;
mod failure;
mod feedback;
mod gate;
mod history;
mod items;
mod judge;
mod limits;
mod metrics;
mod question;
mod retry;
mod route;
mod signature;
mod state;
mod status;
mod turn;
mod visit;

pub(crate) use answer::{Answer, Command, acceptable, choices};
pub(crate) use breaker::BreakerState;
pub(crate) use call::alike;
pub(crate) use decide::decide;
pub(crate) use event::{
    Call, Decision, Effect, Ended, Ending, Event, Failure, Hold, HoldKind, How, Item, Judgement, Left,
    Opening, Outcome, Rest, Session, Step, Usage, Verdict, Worktree,
};
pub(crate) use evidence::{Baseline, CheckOutcome, CheckResult, Evidence, Facts, Tests};
pub(crate) use feedback::Feedback;
pub(crate) use limits::Wait;
pub(crate) use metrics::{Metric, Source, known_red};
pub(crate) use question::{Question, QuestionKind};
pub(crate) use signature::signature;
pub(crate) use state::{State, Station, Wish};
pub(crate) use status::Status;
pub(crate) use turn::IMPORTED_EPOCH;
pub(crate) use visit::PhaseStatus;
