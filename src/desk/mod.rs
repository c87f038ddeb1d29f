//! The desk between everybody who wants something and the engine: open, continue, answer, stop,
//! cancel, reload, adopt, ship. A typed request comes in; what was opened goes out, or a question as
//! a value, or a refusal with its next step. The desk never prints, asks, or reads the environment or
//! a terminal: what it needs to know of them is in the request. Only `drive` appends events.

mod adopt;
mod answer;
mod bystander;
mod caller;
mod choose_workflow;
mod command;
mod design_file;
mod dirty_tree;
mod driver;
mod input;
mod inside_call;
mod left_files;
mod look;
mod note;
mod open;
mod other_input;
mod own_paths;
mod place;
mod planning;
mod prepare;
mod preview;
mod question;
mod refusal;
mod reload;
mod request;
mod resume;
mod session;
mod ship;
mod wanted;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use answer::{AnswerRequest, Answered, Saying, answer, open_questions};
pub(crate) use caller::{Caller, Environment, is_unfinished, load, named};
pub(crate) use choose_workflow::{preset_named, read as read_workflow, read_source, user_config};
pub(crate) use command::{Commanded, cancel, leave, pause, stop};
pub(crate) use design_file::{newest as newest_design, write as write_design};
pub(crate) use driver::{Driver, Reach, make_place};
pub(crate) use inside_call::{Deed, refuse as refuse_agents};
pub(crate) use look::checks;
pub(crate) use note::{Note, Weight};
pub(crate) use open::{FoundRun, OpenReply, OpenRun, open, retake};
pub(crate) use prepare::{choose_agent, comes_later};
pub(crate) use question::{About, Reply, RequestQuestion};
pub(crate) use refusal::{Refusal, meant};
pub(crate) use request::{By, RunRequest};
pub(crate) use resume::{Continued, Going, Took, find_to_resume, ready, take};
pub(crate) use session::{Stopped, first_prompt, join, of_project as sessions_of_project, stopped};
pub(crate) use ship::{Shipment, Wish as ShipWish, shipment};
