//! The desk between everybody who wants something and the engine: open, continue, answer, stop,
//! cancel, reload, adopt, ship. A typed request comes in; what was opened goes out, or a question as
//! a value, or a refusal with its next step. The desk never prints, asks, or reads the environment or
//! a terminal: what it needs to know of them is in the request. Only `drive` appends events.

mod caller;
mod cause;
mod commands;
mod driving;
mod idle_world;
mod inside_call;
mod kept_head;
mod note;
mod obstacles;
mod own_paths;
mod pools;
mod question;
mod queue;
mod record;
mod refusal;
mod request;
mod resolving;
mod step;

#[cfg(test)]
mod tests;

pub(crate) use caller::{
    Caller, CallerEnvironment, is_unfinished, load, named, naming_run, next_step, next_step_of, untaken,
};
pub(crate) use commands::answer::{AnswerRequest, Answered, Saying, answer, open_questions};
pub(crate) use commands::command::{Commanded, CommandedRun, cancel, leave, pause, stop};
pub(crate) use commands::ship::{ShipRequest, Shipment, shipment};
pub(crate) use commands::sign_gate::{SignatureSource, ToSign, to_sign, usual_key};
pub(crate) use driving::detached::{DetachedWays, start_controller};
pub(crate) use driving::driver::{Driver, Reach, make_place};
pub(crate) use driving::open::{FoundRun, OpenReply, OpenRun, open, retake};
pub(crate) use driving::recheck::{Looked, checks, look_again, unmerged};
pub(crate) use driving::resume::{Continued, Going, Took, ask_again, find_to_resume, ready, take};
pub(crate) use driving::session::{
    Stopped, first_prompt, join, of_project as sessions_of_project, stopped, stops_again,
};
pub(crate) use driving::verify_record::{RecordRequest, verify_record};
pub(crate) use inside_call::{GuardedCommand, refuse as refuse_agents, refuse_own};
pub(crate) use kept_head::{KeptHead, deleted_head, match_kept_head, refuse_hidden_runs, refuse_misplaced};
pub(crate) use note::{Note, Weight};
pub(crate) use obstacles::dirty_tree::uncommitted;
pub(crate) use obstacles::place::{lost_worktree, refuse_lost_repository};
pub(crate) use obstacles::prepare::{choose_agent, refuse_pool};
pub(crate) use pools::{LivePool, PoolSystem, live_pool, pool_log};
pub(crate) use question::{About, PersonReply, RequestQuestion};
pub(crate) use queue::{Queue, SystemWords, next_system};
pub(crate) use record::write_record;
pub(crate) use refusal::{NO_INPUT_STEP, NextStep, Refusal, WORKTREE_STEP, meant, why_unreadable};
pub(crate) use request::{CarriedOutBy, RunRequest};
pub(crate) use resolving::agent_files::read as read_agent_files;
pub(crate) use resolving::choose_workflow::{preset_named, read as read_workflow, read_source, user_config};
pub(crate) use resolving::design_file::{newest as newest_design, write as write_design};
pub(crate) use resolving::domain::has_queue;
pub(crate) use resolving::input::refuse_placeholder;
pub(crate) use resolving::job::{left_behind, startable};
pub(crate) use resolving::queue_rules::QueueRules;
