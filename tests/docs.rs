//! Commands that documents show exist, with the flags they show; links lead somewhere; and what stands
//! in a `console` block is carried out, in a repository of its own for each document: `$` begins a
//! command, `>` goes on with it, `# exit N` behind it says how it ends, and every line below must be
//! somewhere in what it prints, with another duration where one is told; it goes on where
//! the line ends in ` …`.

use loop_harness::{Sandbox, program, steady};
use std::path::{Path, PathBuf};
use std::process::Command;

fn documents() -> Vec<(PathBuf, String)> {
    let mut found =
        vec![PathBuf::from("README.md"), PathBuf::from("ARCHITECTURE.md"), PathBuf::from("CHANGELOG.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|it| it == "md") => found.push(path),
                _ => (),
            }
        }
    }
    found.into_iter().map(|it| (it.clone(), std::fs::read_to_string(it).expect("text"))).collect()
}

fn help(words: &[&str]) -> Option<String> {
    let done = Command::new(program()).args(words).arg("--help").output().expect("loop");
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The lines of fenced blocks, and what stands between backticks, that begin with our name.
fn commands(text: &str) -> Vec<String> {
    let fenced = text.lines().map(str::trim).filter(|it| it.starts_with("loop "));
    let inline = text.split('`').skip(1).step_by(2).filter(|it| it.starts_with("loop "));
    fenced.chain(inline).map(|it| it.split(" #").next().unwrap_or(it).replace('\n', " ")).collect()
}

#[test]
fn every_command_that_is_shown_exists() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, text) in documents() {
        for command in commands(&text) {
            let mut words = command.split_whitespace().skip(1).filter(|it| !it.starts_with('-'));
            let Some(name) = words.next().filter(|it| it.chars().all(|it| it.is_ascii_lowercase())) else {
                continue;
            };
            seen += 1;
            let nested = words.next().filter(|_| matches!(name, "hook" | "presets"));
            let called: Vec<&str> = std::iter::once(name).chain(nested).collect();
            let Some(help) = help(&called).or_else(|| help(&called[..1])) else {
                wrong.push(format!("{}: {command}", path.display()));
                continue;
            };
            let flags = command.split_whitespace().filter(|it| it.starts_with("--"));
            for flag in flags.map(|it| it.split('=').next().unwrap_or(it)).filter(|it| it.len() > 2) {
                let flag = flag.trim_end_matches([',', ';', ')', '.']);
                if !help.contains(flag) {
                    wrong.push(format!("{}: {command} has no {flag}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(40 < seen, "only {seen} commands were found");
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut wrong = Vec::new();
    for (path, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|it| it.split(')').next()) {
            let file = link.split('#').next().unwrap_or(link);
            if file.is_empty() || file.contains("://") {
                continue;
            }
            if !path.parent().unwrap_or(Path::new(".")).join(file).exists() {
                wrong.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A command of a `console` block.
#[derive(Debug)]
struct Typed {
    command: String,
    exit: i32,
    prints: Vec<String>,
}

fn typed(text: &str) -> Vec<Typed> {
    let blocks = text.split("\n```console\n").skip(1).filter_map(|it| it.split("\n```").next());
    let mut all: Vec<Typed> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        if let Some(command) = line.strip_prefix("$ ") {
            let (command, exit) = command.split_once("    # exit ").unwrap_or((command, "0"));
            let exit = exit.parse().unwrap_or_else(|_| panic!("no exit code: {line}"));
            all.push(Typed { command: command.to_owned(), exit, prints: Vec::new() });
            continue;
        }
        let last = all.last_mut().expect("a block begins with a command");
        match line.strip_prefix('>') {
            Some(more) => last.command += &format!("\n{}", more.strip_prefix(' ').unwrap_or(more)),
            None => last.prints.push(line.to_owned()),
        }
    }
    all
}

#[test]
fn what_the_guides_type_works() {
    let mut followed = 0;
    for (path, text) in documents().iter().filter(|(_, text)| text.contains("\n```console\n")) {
        let mut sandbox = Sandbox::empty();
        std::os::unix::fs::symlink(program(), sandbox.path("out/loop")).expect("a link");
        sandbox.path_first.push(sandbox.path("out"));
        sandbox.variables.push(("USER", "reader".into()));
        let shell = |command: &str| sandbox.furnished("sh", &["-c", command]).output().expect("a shell");
        let begun = shell(
            "git config --global user.name reader && git config --global user.email reader@localhost && \
            git init -q -b main && echo hello > README.md && git add -A && git commit -qm begin",
        );
        assert!(begun.status.success(), "{begun:?}");
        for step in typed(text) {
            let done = shell(&step.command);
            let printed =
                format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
            let code = done.status.code().unwrap_or_else(|| {
                use std::os::unix::process::ExitStatusExt;
                128 + done.status.signal().unwrap_or(0)
            });
            assert_eq!(code, step.exit, "{}: {}\n{printed}", path.display(), step.command);
            for line in &step.prints {
                let is_timed = line.contains("finished in ") || line.starts_with("took: ");
                let is_printed = match is_timed {
                    true => steady(&printed).contains(&steady(line)),
                    false => printed.contains(line.trim().trim_end_matches(" …")),
                };
                assert!(is_printed, "{}: {}\nno {line:?} in\n{printed}", path.display(), step.command);
            }
            followed += 1;
        }
    }
    assert!(20 < followed, "only {followed} commands were followed");
}
