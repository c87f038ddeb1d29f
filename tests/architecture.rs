//! The shape of the program: who may use whom, what stays pure, what only `host` may do, and that
//! the loop fits on one screen.

use std::path::{Path, PathBuf};

/// Modules that do no IO, read no clock and no environment, and use no randomness.
const PURE: [&str; 14] = [
    "secret", "text", "time", "value", "workflow", "report", "engine", "prove", "input", "design", "line",
    "prompt", "ship", "agent",
];

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = std::fs::read_to_string(&path).expect("text");
            found.push((path, text));
        }
    }
    found
}

/// The code of a file without comments and without its tests.
fn code(path: &Path, text: &str) -> String {
    let name = path.file_name().expect("a name").to_string_lossy();
    let in_tests = path.components().any(|it| matches!(it.as_os_str().to_str(), Some("tests" | "forged")));
    if in_tests
        || ["tests.rs", "properties.rs", "published.rs", "seeds.rs", "sample.rs"].contains(&name.as_ref())
    {
        return String::new();
    }
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().filter(|it| !it.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn module(path: &Path) -> String {
    let inside = path.strip_prefix("src").expect("below src");
    let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

fn order() -> Vec<String> {
    let lib = std::fs::read_to_string("src/lib.rs").expect("lib.rs");
    lib.lines().filter_map(|it| it.strip_prefix("mod ")?.strip_suffix(';')).map(str::to_owned).collect()
}

#[test]
fn a_module_uses_only_what_stands_above_it() {
    let order = order();
    let place = |name: &str| order.iter().position(|it| it == name);
    let mut wrong = Vec::new();
    for (path, text) in sources(Path::new("src")) {
        let Some(own) = place(&module(&path)) else { continue };
        for used in code(&path, &text).split("crate::").skip(1) {
            let name: String =
                used.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
            if place(&name).is_some_and(|it| own < it) {
                wrong.push(format!("{} uses {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_modules_touch_nothing() {
    let forbidden = [
        "std::fs",
        "std::process",
        "std::env",
        "std::net",
        "SystemTime",
        "Instant::now",
        "Timestamp::now",
        "rustix",
        "rand::",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources(Path::new("src")) {
        if !PURE.contains(&module(&path).as_str()) {
            continue;
        }
        let code = code(&path, &text);
        for word in forbidden.iter().filter(|it| code.contains(**it)) {
            wrong.push(format!("{} has {word}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_host_starts_processes() {
    let mut wrong = Vec::new();
    for (path, text) in sources(Path::new("src")) {
        let code = code(&path, &text);
        if module(&path) != "host" && (code.contains("process::Command") || code.contains("Command::new(")) {
            wrong.push(format!("{} starts a process", path.display()));
        }
        for word in ["\"reset\", \"--hard\"", "\"clean\", \"-", "\"stash\"", "\"checkout\", \"-f"] {
            if code.contains(word) {
                wrong.push(format!("{} destroys work: {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_loop_fits_on_one_screen() {
    let text = std::fs::read_to_string("src/drive.rs").expect("drive.rs");
    let start = text.find("pub(crate) fn drive(").expect("the loop");
    let lines = text[start..].lines().take_while(|it| *it != "}").count();
    assert!(lines <= 40, "the loop has {lines} lines");
    assert!(text.lines().count() <= 90, "drive.rs has {} lines", text.lines().count());
}
