//! `plan` from the outside: a planning folder with three plans and seven tasks, agents that do their work
//! and agents that lie about it, a verifier, gaps, people, crashes. The real binary, real git, real files.

mod briefing;
mod changed_plans;
mod checkpoints;
mod closing;
mod crash;
mod iterations;
mod lost_work;
mod moving_in;
mod opening;
mod project;
mod rules;
mod session;
mod state_file;
mod summaries;
mod unreadable;
