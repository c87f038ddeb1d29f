//! Short commands that answer at once: git, a version, the command line of a
//! code host. One thread waits for them, within a limit of time and output. Agents and the checks of a
//! run are held by a `shim` instead.

pub mod check_keeper;
pub mod exchange;
pub mod foreground;
pub mod git_variables;
pub mod interruption;
pub mod pid_namespace;
pub mod program_version;
pub mod ssh_keygen;
pub mod which;
