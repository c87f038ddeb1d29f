//! Commands by which a person says something to a run: answers, guidance, and the wish that it stops,
//! pauses or ends. They are written down for whoever drives it; questions that are put on a terminal
//! are in `terminal`.

pub(super) mod answer;
pub(super) mod stop;
