//! The shape of the program, as far as neither the crates nor clippy can hold it: nothing destroys
//! work, the loop fits on one screen, the files of a room form no cycle, a type name exists once, and what
//! a crate exports is used by another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

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
    const TESTS: [&str; 6] = ["tests", "tests.rs", "whole", "published.rs", "properties.rs", "forged"];
    if path.components().any(|it| TESTS.iter().any(|name| it.as_os_str() == *name)) {
        return String::new();
    }
    // A module of tests at the end of the file; one with a file of its own is only declared.
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|it| !it.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_destroys_work() {
    let mut wrong = Vec::new();
    for (path, text) in sources(Path::new("src")).into_iter().chain(sources(Path::new("crates"))) {
        let code = code(&path, &text);
        for word in ["\"reset\", \"--hard\"", "\"clean\", \"-", "\"stash\"", "\"checkout\", \"-f"] {
            if code.contains(word) {
                wrong.push(format!("{} destroys work: {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What two programs share is a crate.
#[test]
fn no_file_is_compiled_twice() {
    let folders = ["src", "crates", "tests", "benches"].map(Path::new);
    let all = folders.iter().flat_map(|it| sources(it));
    let twice = all.filter(|(_, text)| text.lines().any(|it| it.trim_start().starts_with("#[path")));
    assert_eq!(twice.map(|it| it.0).collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

#[test]
fn the_loop_fits_on_one_screen() {
    let text = std::fs::read_to_string("src/drive.rs").expect("drive.rs");
    let start = text.find("pub(crate) fn drive(").expect("the loop");
    let lines = text[start..].lines().take_while(|it| *it != "}").count();
    assert!(lines <= 40, "the loop has {lines} lines");
    assert!(text.lines().count() <= 100, "drive.rs has {} lines", text.lines().count());
}

/// Whoever wants a fact recorded goes through the loop, which shows the mirrors what became durable;
/// simulations play it alone.
#[test]
fn only_the_loop_appends_events() {
    let mut wrong = Vec::new();
    for (path, text) in sources(Path::new("src")) {
        let is_loop = path.ends_with("drive.rs") && path.parent() == Some(Path::new("src"));
        let plays = path.starts_with("src/sim")
            || path.ends_with("workflows/simulate.rs")
            || path.ends_with("fuzz.rs");
        let code = code(&path, &text);
        for word in ["run.record(", "run.commit(", "run.take_news("] {
            if !is_loop && !plays && code.contains(word) {
                wrong.push(format!("{} appends events: {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The desk takes what it needs to know from its requests, and says nothing itself.
#[test]
fn the_desk_never_prints_or_asks_or_reads_the_environment() {
    let mut wrong = Vec::new();
    for (path, text) in sources(Path::new("src/desk")) {
        let code = code(&path, &text);
        for word in [
            "print!",
            "println!",
            "dbg!",
            "env::",
            "stdin",
            "stdout",
            "stderr",
            "stdio",
            "termios",
            "is_terminal",
        ]
        .into_iter()
        .chain(["crate::cli", "config_folder", "diagnostics"])
        {
            if code.contains(word) {
                wrong.push(format!("{}: {word}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The name of every function, method, constant and trait that a crate makes public, with its file.
fn exported(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for (path, text) in sources(folder) {
        for line in code(&path, &text).lines() {
            let Some(rest) = line.trim_start().strip_prefix("pub ") else { continue };
            // A type may leave its crate in a signature without being named outside of it.
            let kinds = ["const fn ", "fn ", "const ", "static ", "trait "];
            let Some(rest) = kinds.iter().find_map(|it| rest.strip_prefix(it)) else { continue };
            let name: String =
                rest.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
            found.push((name, path.clone()));
        }
    }
    found
}

/// The words of all code outside of one crate.
fn words_outside(own: &Path) -> BTreeSet<String> {
    let folders = ["src", "crates", "tests", "benches"].map(Path::new);
    let texts = folders.iter().flat_map(|it| sources(it)).filter(|(path, _)| !path.starts_with(own));
    let mut words = BTreeSet::new();
    for (_, text) in texts {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        words.extend(text.split(|it| !is_word(it)).map(str::to_owned));
    }
    words
}

#[test]
fn what_a_crate_exports_is_used_by_another() {
    let mut wrong = Vec::new();
    for name in ["base", "core", "supervise", "store", "model", "harness"] {
        let own = Path::new("crates").join(name);
        let words = words_outside(&own);
        for (item, path) in exported(&own.join("src")) {
            if !words.contains(&item) {
                wrong.push(format!("{}: {item} is used by no other crate", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The type that a line of code declares. A type that belongs to a trait is not one of its own.
fn declared_type(line: &str) -> Option<&str> {
    let rest = match line.trim_start().strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };
    let (kind, rest) = rest.trim_start().split_once(' ')?;
    let is_own = kind != "type" || !line.starts_with(' ');
    let is_type = is_own && ["struct", "enum", "trait", "type"].contains(&kind);
    rest.split(|it: char| !it.is_ascii_alphanumeric()).next().filter(|it| is_type && !it.is_empty())
}

/// Whoever searches for a type finds one.
#[test]
fn every_type_name_exists_once() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources(Path::new("src")).into_iter().chain(sources(Path::new("crates"))) {
        for name in code(&path, &text).lines().filter_map(declared_type) {
            places.entry(name.to_owned()).or_default().push(path.display().to_string());
        }
    }
    assert!(500 < places.len(), "only {} types were found", places.len());
    places.retain(|_, it| 1 < it.len());
    assert_eq!(places, BTreeMap::new());
}

/// A room uses only those that stand before it.
#[test]
fn rooms_use_each_other_in_one_direction() {
    let rooms = ["tree", "measure", "deliver", "world", "hook", "desk", "pool", "cli"];
    let mut wrong = Vec::new();
    for (index, room) in rooms.iter().enumerate() {
        for (path, text) in sources(&Path::new("src").join(room)) {
            let code = code(&path, &text);
            for later in &rooms[index + 1..] {
                if code.contains(&format!("crate::{later}::")) {
                    wrong.push(format!("{} uses the room {later}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names that stand behind a path's head, alone or in braces: `head::a`, `head::{a, b::c}`.
fn named_behind(code: &str, head: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect()
    };
    let mut found = Vec::new();
    for used in code.split(head).skip(1) {
        let Some(list) = used.strip_prefix('{') else {
            found.push(name(used));
            continue;
        };
        let (mut depth, mut from) = (0, 0);
        for (at, it) in list.char_indices() {
            match it {
                '{' => depth += 1,
                ',' | '}' if depth == 0 => {
                    found.push(name(&list[from..at]));
                    from = at + 1;
                }
                '}' => depth -= 1,
                _ => (),
            }
            if it == '}' && depth == 0 && from == at + 1 {
                break;
            }
        }
    }
    found
}

/// What the door of a room hands on from its files, by name: `pub use context::Context` is used as
/// `crate::cli::Context`, and is a use of `context` all the same.
fn handed_on(door: &str, files: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in files {
        for name in named_behind(door, &format!("use {file}::")) {
            found.insert(name, file.clone());
        }
    }
    found
}

/// A folder and every folder with code below it: each is a room of its own.
fn folders(top: &Path) -> Vec<String> {
    let mut found = vec![top.display().to_string()];
    for entry in std::fs::read_dir(top).expect("a folder").flatten() {
        if entry.path().is_dir() && entry.file_name() != "tests" {
            found.extend(folders(&entry.path()));
        }
    }
    found
}

/// How the code names a room: `src/desk` is `crate::desk::`.
fn module_path(room: &str) -> String {
    let inside = room.split('/').skip_while(|it| *it != "src").skip(1);
    std::iter::once("crate").chain(inside).map(|it| format!("{it}::")).collect()
}

/// The files of a room, and the rooms in it, use each other in one direction only.
#[test]
fn the_files_of_a_room_form_no_cycle() {
    let mut wrong = Vec::new();
    let tops = ["src/tree", "src/measure", "src/deliver", "src/world", "src/hook", "src/desk", "src/cli"];
    let others = [
        "crates/base/src",
        "crates/core/src",
        "crates/supervise/src",
        "crates/store/src",
        "crates/model/src",
        "crates/harness/src",
        "src/sim",
        "src/pool",
    ];
    let tops = tops.into_iter().chain(others);
    let rooms: Vec<String> = tops.flat_map(|it| folders(Path::new(it))).collect();
    for room in &rooms {
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let files = sources(Path::new(room));
        let file = |path: &Path| {
            let inside = path.strip_prefix(room).expect("below the room");
            let first =
                inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
            first.trim_end_matches(".rs").to_owned()
        };
        let names: BTreeSet<String> = files.iter().map(|(path, _)| file(path)).collect();
        let is_door = |path: &Path| ["mod.rs", "lib.rs"].iter().any(|it| path == Path::new(room).join(it));
        let door = files.iter().find(|(path, _)| is_door(path)).map(|(path, text)| code(path, text));
        let handed_on = handed_on(&door.unwrap_or_default(), &names);
        let head = module_path(room);
        for (path, text) in &files {
            let own = file(path);
            if matches!(own.as_str(), "mod" | "lib") {
                continue;
            }
            let code = code(path, text);
            let depth = path.strip_prefix(room).expect("below the room").components().count();
            for head in [head.clone(), "super::".repeat(depth)] {
                for name in named_behind(&code, &head) {
                    let name = handed_on.get(&name).cloned().unwrap_or(name);
                    if names.contains(&name) && name != own {
                        uses.entry(own.clone()).or_default().insert(name);
                    }
                }
            }
        }
        for start in &names {
            let mut seen = BTreeSet::new();
            let mut open: Vec<&String> = uses.get(start).into_iter().flatten().collect();
            while let Some(next) = open.pop() {
                if next == start {
                    wrong.push(format!("{room}: {start} uses itself through others"));
                    break;
                }
                if seen.insert(next) {
                    open.extend(uses.get(next).into_iter().flatten());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
