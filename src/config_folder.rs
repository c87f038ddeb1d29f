//! Where a person's own settings lie.

use std::path::PathBuf;

/// Returns the folder; an empty or relative variable counts as unset.
pub(crate) fn config_folder() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let base = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|it| it.join(".config")));
    base.map(|it| it.join("loop"))
}
