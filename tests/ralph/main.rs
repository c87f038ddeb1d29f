//! `ralph` from the outside: designs, locks and prompts, and the hook with which an agent's own
//! session does the work. The real binary, real git, real checks; sessions are played by the tests,
//! and by the real Claude Code where `LOOP_TEST_AGENTS` is set.

mod claude;
mod design;
mod doubt;
mod glimpse;
mod hook;
mod import;
mod install;
mod killed;
mod lock;
mod proofs;
mod rules;
mod session;
