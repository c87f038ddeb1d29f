//! What a run needs before it begins and what stands in its way: an agent, commands, a place to work,
//! a tree without foreign changes, files that another controller left. Each is a refusal or a question
//! here; the run itself is opened in `driving`.

pub(super) mod caps;
pub(super) mod dirty_tree;
pub(super) mod held;
pub(super) mod left_files;
pub(super) mod missing_program;
pub(super) mod other_input;
pub(super) mod place;
pub(super) mod prepare;
pub(super) mod preview;
