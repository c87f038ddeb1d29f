//! Homes that older programs wrote, at every station where a run can rest or be killed. Each lies in
//! `recorded/` with its project and the scripts of its agents; `record` made them. This program has to
//! open every one, show it, find its journal whole, and bring the run to its end.
//!
//! The campaign does the same with a live program: an older one is killed at a random moment, and this
//! one goes on. It runs where `LOOP_OLD_BINARY` names the older program.
//!
//! Not among the stations are questions that are never stored: `resume`, `other-input` and `dirty` are
//! asked before a run is opened or taken, and end the command. A call that cannot be contained
//! (`blocked`) needs a process that survives SIGKILL. Most programs that recorded refused the presets `plan` and
//! `engineering`; the questions that only they ask were recorded with workflows of a user's own, where such a
//! workflow can ask them at all (`check`, `checkpoint`, retries). The stations of a proof, of an agent that cannot
//! work and of `plan` were recorded later. Nothing was recorded yet of the queue, of a merge (`landing`) and of
//! `prerequisite` and `prepare`.

mod campaign;
mod place;
mod stations;
