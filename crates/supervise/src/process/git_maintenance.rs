//! Recognises the processes that git starts in the background by itself: after a commit it may collect
//! garbage, and with fsmonitor it watches the files. They are ended with everything else that a call
//! started, and are not reported: nobody who wrote an agent started them.

use std::fs;

/// What git does in the background, by the first word after `git` and its options.
const COMMANDS: [&str; 11] = [
    "gc",
    "maintenance",
    "fsmonitor--daemon",
    "repack",
    "pack-objects",
    "pack-refs",
    "prune",
    "prune-packed",
    "reflog",
    "commit-graph",
    "multi-pack-index",
];

/// Whether this process keeps a repository in order, as far as its command line says.
pub(crate) fn is_git_maintenance(pid: i32) -> bool {
    is_maintenance(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default())
}

fn is_maintenance(command_line: &[u8]) -> bool {
    let mut words = command_line.split(|it| *it == 0).map(String::from_utf8_lossy);
    let program = words.next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    let mut words = words.filter(|it| !it.is_empty());
    let command = match name.strip_prefix("git-") {
        Some(command) => Some(command.to_owned()),
        // `-C DIR` and `-c NAME=VALUE` take a word of their own.
        None if name == "git" => loop {
            match words.next().as_deref() {
                Some("-C" | "-c") => drop(words.next()),
                Some(option) if option.starts_with('-') => (),
                command => break command.map(str::to_owned),
            }
        },
        None => None,
    };
    command.is_some_and(|it| COMMANDS.contains(&it.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_maintenance;

    #[test]
    fn git_in_the_background_is_known_by_its_command() {
        let known = |line: &str| is_maintenance(line.replace(' ', "\0").as_bytes());
        for line in [
            "git gc --auto",
            "/usr/bin/git maintenance run --auto --quiet --detach",
            "git -C /x -c gc.auto=1 pack-objects --local",
            "/usr/lib/git-core/git fsmonitor--daemon run",
        ] {
            assert!(known(line), "{line}");
        }
        for line in ["git push origin main", "git commit -m gc", "sleep 60", "/bin/gc", "", "git"] {
            assert!(!known(line), "{line}");
        }
    }
}
