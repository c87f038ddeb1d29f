//! Folders that tools fill and nobody commits. Only names that stand for nothing else: `build` or `dist`
//! may be a project's own.

/// Lines for `.gitignore`, as they are in everyone's.
const LINES: [&str; 13] = [
    "target/",
    "node_modules/",
    "__pycache__/",
    ".venv/",
    "venv/",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".tox/",
    ".nox/",
    ".gradle/",
    ".next/",
    ".turbo/",
];

/// Returns the line that makes git ignore the folder of tools that a path lies in.
pub fn ignore_line(path: &str) -> Option<&'static str> {
    let mut folders = path.split_inclusive('/').filter(|it| it.ends_with('/'));
    folders.find_map(|folder| LINES.into_iter().find(|it| *it == folder))
}

#[cfg(test)]
mod tests {
    use super::ignore_line;

    #[test]
    fn only_folders_of_tools_are_build_output() {
        let rows = [
            ("target/debug/a", Some("target/")),
            ("target/", Some("target/")),
            ("web/node_modules/x/y.js", Some("node_modules/")),
            ("target", None),
            ("src/target.rs", None),
            ("build/a", None),
        ];
        for (path, wanted) in rows {
            assert_eq!(ignore_line(path), wanted, "{path}");
        }
    }
}
