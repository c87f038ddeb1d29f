//! Which of the variables that git reads may reach a child. Who commits and how a remote is reached
//! is the user's business and has to arrive, or nobody could commit in a pipeline. What names a
//! repository, an index or settings would make the child work on something else than its folder.

/// What `git rev-parse --local-env-vars` lists, and what else changes where git looks.
const ASTRAY: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Who commits, and how a remote is reached. A date is left out: everything that is committed in a
/// run would get the same one.
const OURS: [&str; 7] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
];

/// Says whether a variable would lead the git of a child to another repository or to other settings.
pub fn leads_astray(name: &str) -> bool {
    ASTRAY.contains(&name) || name.starts_with("GIT_CONFIG")
}

/// Says whether a variable of ours may reach a git that we start ourselves.
pub fn reaches_our_git(name: &str) -> bool {
    OURS.contains(&name)
}
