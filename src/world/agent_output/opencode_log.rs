//! opencode says in its log, and nowhere else, which model it asks and that it waits out a provider's
//! answer. All its processes write to one file; each has a name of its own there.

use loop_supervise::tail::tail;
use std::path::{Path, PathBuf};

/// A process writes some ten lines a request.
const LOG_MOST: u64 = 256 << 10;

/// Returns the lines of the process that worked in this place last. `folder` looks up a variable that names
/// a folder.
pub(crate) fn read(folder: impl Fn(&str) -> Option<PathBuf>, place: &Path) -> String {
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|it| it.join(".local/share")));
    let Some(file) = data.and_then(|it| newest(&it.join("opencode/log"))) else { return String::new() };
    of_place(&tail(&file, LOG_MOST).unwrap_or_default(), place)
}

fn newest(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let logs = entries.filter(|it| it.path().extension().is_some_and(|it| it == "log"));
    logs.max_by_key(|it| it.metadata().and_then(|it| it.modified()).ok()).map(|it| it.path())
}

fn of_place(log: &str, place: &Path) -> String {
    let directory = format!(" directory={} ", place.display());
    let about = |line: &&str| format!("{line} ").contains(&directory);
    let Some(process) = log.lines().rev().find(about).and_then(process) else { return String::new() };
    log.lines().filter(|it| self::process(it) == Some(process)).collect::<Vec<_>>().join("\n")
}

fn process(line: &str) -> Option<&str> {
    line.split(' ').find_map(|it| it.strip_prefix("run="))
}

#[cfg(test)]
mod tests {
    use super::of_place;
    use std::path::Path;

    #[test]
    fn the_lines_of_the_process_that_worked_here_last_are_found() {
        let log = "level=INFO run=a message=x directory=/p path=\nlevel=ERROR run=a message=old\n\
                   level=INFO run=b message=x directory=/p/q\nlevel=INFO run=c message=x directory=/p path=\n\
                   level=INFO run=b message=y\nlevel=ERROR run=c message=new";
        assert_eq!(
            of_place(log, Path::new("/p")),
            "level=INFO run=c message=x directory=/p path=\nlevel=ERROR run=c message=new"
        );
        assert_eq!(of_place(log, Path::new("/other")), "");
    }
}
