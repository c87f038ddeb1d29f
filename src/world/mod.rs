//! The real `World`: joins the supervisor, the working tree, measuring and delivery. It decides
//! nothing; whatever goes wrong with an agent, a check or git becomes an event.
//!
//! `real` is the `World` itself, `effects/` carries out what it is asked for, `agent_output/` reads what
//! agents left behind.

pub(crate) mod agent_output;
mod baseline_prover;
mod before_call;
pub(crate) mod deliverables;
pub(crate) mod effects;
mod money;
pub(crate) mod price_list;
pub(crate) mod question_text;
pub(crate) mod real;
pub(crate) mod shim;
pub(crate) mod wait;
