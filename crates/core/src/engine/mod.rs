//! The pure core: what a run is, and what it does next. It reads no clock and no file, starts
//! nothing and waits for nothing; the driver does that and tells it what came of it.

mod answer;
mod answered;
mod apply;
mod breaker;
mod call;
mod closing;
mod decide;
mod event;
mod evidence;
mod failure;
mod feedback;
mod gate;
mod history;
mod item_list;
mod items;
mod judge;
mod limits;
mod metrics;
mod proving;
mod question;
mod requirements;
mod retry;
mod route;
mod signature;
mod state;
mod status;
mod troubles;
mod turn;
mod visit;

pub use answer::{Answer, Choice, Command, acceptable, choices};
pub use breaker::BreakerState;
pub use call::alike;
pub use decide::decide;
pub use event::{
    Briefing, Call, Decision, Effect, Ended, Ending, Event, Failure, Hold, HoldKind, How, Judgement, Left,
    Opening, Outcome, Rest, Session, SessionProcess, Step, Usage, Verdict, Worktree,
};
pub use evidence::{Baseline, CheckOutcome, CheckResult, Evidence, Facts, Tests};
pub use feedback::Feedback;
pub use history::{
    Activity, BreakerChange, History, JudgedTurn, Limit, breaker, limit, open_reason, review_attempt,
};
pub use item_list::{Item, ItemList, ListChange, Listing};
pub use limits::Wait;
pub use metrics::{Metric, Source, known_red};
pub use proving::{NOTHING_TO_DO, Proving, StepTaken, Unprepared, checks as proof_checks};
pub use question::{CheckpointKind, Question, QuestionKind};
pub use requirements::{By, Requirement};
pub use signature::signature;
pub use state::{STATE_VERSION, State, Station, Wish};
pub use status::Status;
pub use turn::IMPORTED_EPOCH;
pub use visit::PhaseStatus;
