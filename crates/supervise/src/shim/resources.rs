//! What a shim has beside its call: a folder for temporary files and a control group. Both are named
//! in its identity before its first call, so that whoever comes after a shim that was killed can end
//! what is in the one and remove the other.

use crate::contain::cgroup;
use crate::contain::identity::{self, Identity};
use crate::contain::temp_dir::Scratch;
use crate::records::protocol::Survivor;
use std::path::Path;

/// The name of the control group of a run's shim. The folder of a run is called like the run, also
/// after it was moved.
pub(crate) fn group_name(run_dir: &Path, epoch: u64) -> String {
    let run = run_dir.file_name().unwrap_or_default().to_string_lossy();
    format!("loop-{run}-{epoch}")
}

/// Whether the shim of this epoch kept its calls in a control group: only then does whoever comes after
/// it know that nobody is left.
pub fn is_contained(run_dir: &Path, epoch: u64) -> bool {
    matches!(Identity::read(run_dir, epoch), Ok(Some(shim)) if shim.belongings.cgroup.is_some())
}

/// Ends and removes what the shim of this epoch left, if it is dead; returns who could not be ended.
pub fn clear(run_dir: &Path, epoch: u64) -> Vec<Survivor> {
    match Identity::read(run_dir, epoch) {
        Ok(Some(shim)) => clear_after(run_dir, epoch, &shim),
        // A damaged file names nothing that could be touched.
        Ok(None) | Err(_) => Vec::new(),
    }
}

/// The same for the last shim before this epoch: each one clears up after the one before it.
pub fn clear_before(run_dir: &Path, epoch: u64) -> Vec<Survivor> {
    let mut earlier: Vec<u64> = identity::epochs(run_dir).into_iter().filter(|it| *it < epoch).collect();
    earlier.sort_unstable();
    let last = earlier.into_iter().rev().find_map(|it| Some((it, Identity::read(run_dir, it).ok()??)));
    last.map_or(Vec::new(), |(epoch, shim)| clear_after(run_dir, epoch, &shim))
}

fn clear_after(run_dir: &Path, epoch: u64, shim: &Identity) -> Vec<Survivor> {
    // One that lives clears up itself.
    if !matches!(shim.open_shim(), Ok(None)) {
        return Vec::new();
    }
    let name = group_name(run_dir, epoch);
    let left = shim.belongings.cgroup.as_ref().map_or(Vec::new(), |it| cgroup::clear(it, &name));
    // Temporary files that stay cost room and nothing else.
    let _whatever_stays = shim.belongings.scratch.as_ref().map(Scratch::remove);
    left
}
