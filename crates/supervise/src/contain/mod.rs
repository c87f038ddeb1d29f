//! Where a call's processes are kept, and how all of them are ended: by descent, by control group, by
//! identity and by mark; its folder for temporary files and its view of the file system. When a call
//! has to end is decided in `shim`, not here.

pub mod cgroup;
pub mod find_by_mark;
pub mod identity;
pub(crate) mod kill_ladder;
pub mod mount;
pub mod sweep;
pub mod temp_dir;

pub use sweep::{Load, Reaped, Swept, become_subreaper, load, sweep};
