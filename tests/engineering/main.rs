//! `engineering` from the outside: a queue of systems, each built in a worktree of its own through ten stages,
//! by agents that do their work and agents that lie about it. The real binary, real git, real files.

mod continuing;
mod domain;
mod github;
mod held_back;
mod hints;
mod landing;
mod liars;
mod memory;
mod moving_in;
mod opening;
mod people;
mod pool;
mod pool_ends;
mod project;
mod pushing;
mod queue;
mod repairing;
mod revert;
mod rules;
mod scene;
mod train;
mod train_kills;
mod whole;
