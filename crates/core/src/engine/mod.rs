//! The pure core: what a run is, and what it does next. It reads no clock and no file, starts
//! nothing and waits for nothing; the driver does that and tells it what came of it.
//!
//! Each room uses those before it: `journal` is what is written down, `state` where a run is by that,
//! `judging` what an iteration came to, `deciding` what comes next.

mod deciding;
mod journal;
mod judging;
mod state;

pub use deciding::allowance::{Allowance, allowance, day_full};
pub use deciding::answer::{acceptable, names_waivable, unknown_to_waive};
pub use deciding::decide::{decide, may_be_answered_outside};
pub(crate) use deciding::landing::LANDING_RETURNS_MOST;
pub use deciding::offer::{Offer, grounds_of, offers};
pub use deciding::proving::checks as proof_checks;
pub use journal::calls::ending::{Briefing, Ended, Ending, How, LeftProcess};
pub use journal::calls::usage::{Cost, TokenClasses, Usage};
pub use journal::closing::landing::{Landing, LandingStep, Merge, Train};
pub use journal::closing::proof_steps::{Proving, StepTaken, Unprepared};
pub use journal::decision::{Decision, Rest};
pub use journal::effect::{Call, Effect, IMPORTED_EPOCH, OtherModel, Step};
pub use journal::event::Event;
pub use journal::hold::{Hold, HoldKind, Outcome, Wait};
pub use journal::measured::evidence::{
    Baseline, CheckOutcome, CheckResult, Evidence, Facts, FileCounts, FilesChanged, NO_TESTS_RAN,
    RefusedPlan, TargetMove, Tests, Uncommitted,
};
pub use journal::measured::judgement::{Failure, Judgement, Verdict};
pub use journal::measured::metric::{Metric, Source};
pub use journal::news::News;
pub use journal::people::approval::{Presence, SIGNATURE_NAMESPACE, Signature, Signer, Subject, Void};
pub use journal::people::command::{Answer, Choice, Command, choices};
pub use journal::people::question::{CheckpointKind, Question, QuestionKind};
pub use journal::task::item::{Item, ListChange, Listing};
pub use journal::task::opening::{
    Beginning, CodeHost, Opening, Session, SessionProcess, ToldFailure, Worktree,
};
pub use journal::task::requirement::{MetBy, Requirement};
pub use journal::task::told_work::{
    ToldCheckpoint, ToldCheckpointKind, ToldEnd, ToldSkill, ToldUse, ToldWork,
};
pub use judging::metrics::known_red;
pub use judging::signature::signature;
pub use state::parts::breaker::BreakerState;
pub use state::parts::feedback::Feedback;
pub use state::parts::item_list::ItemList;
pub use state::parts::spent::{Spent, cost_words, dollars};
pub use state::parts::station::{Station, Wish};
pub use state::parts::troubles::FailureEntry;
pub use state::parts::visit::PhaseStatus;
pub use state::run_state::{STATE_VERSION, State};
pub use state::views::forecast::Forecast;
pub use state::views::history::{
    Activity, BreakerChange, History, HistoryLimit, breaker, limit, open_reason, review_attempt,
};
pub use state::views::judged_turn::JudgedTurn;
pub use state::views::moment::Moment;
pub use state::views::next_call::{alike, models, uncommittable};
pub(crate) use state::views::next_call::{more_skills_than, of_phase};
pub use state::views::run_command::run_again;
pub use state::views::skill_history::{GateRefusal, GateState, Milestone, SkillCall, SkillEnd, SkillHistory};
pub use state::views::status::Status;
