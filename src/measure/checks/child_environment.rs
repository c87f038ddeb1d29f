//! The complete environment of an agent, a check or a notification: what of our own is kept, and
//! what is set for it.

use loop_supervise::git_variables::leads_astray;
use std::ffi::OsString;

/// Returns what of our own environment is kept, with these variables set. What would lead git to
/// another repository, or a nested controller astray, is never passed on.
pub(crate) fn child_environment(
    set: &[(&str, &str)],
    keeps: &dyn Fn(&str) -> bool,
) -> Vec<(OsString, OsString)> {
    let kept = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        keeps(&name)
            && !name.starts_with("LOOP_")
            && !leads_astray(&name)
            && !set.iter().any(|(it, _)| *it == name)
    });
    kept.chain(set.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)))).collect()
}
