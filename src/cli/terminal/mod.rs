//! Everything that is drawn on a terminal or asked there: what a run says while it works, the lines
//! at the bottom that show it live, its last lines, questions and the keys that answer them.

mod ask;
mod bar;
mod fit;
mod frame;
mod iterations;
mod pool_screen;
mod run_output;
mod screen;
mod setup_questions;
mod time_taken;
mod typing;
mod verdict;
mod view;

pub(crate) use ask::{AskResult, WaitEnd, confirm, desk_question};
pub(crate) use frame::frame;
pub(crate) use pool_screen::PoolScreen;
pub(crate) use run_output::{OutputFlags, RunOutput};
pub(crate) use screen::{columns, rows, say};
pub(crate) use setup_questions::{ask as ask_about_setup, installed};
pub(crate) use time_taken::time_taken;
pub(crate) use verdict::RestingRun;
