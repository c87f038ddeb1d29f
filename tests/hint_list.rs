//! Every command that the program proposes is printed by some test and pasted there. The commands stand
//! in the sources as texts, with `{}` where something is filled in; `tests/fixtures/hints.tsv` lists them.
//! A new one has to be listed, and once `./test` has run everything else, one that no test printed fails
//! it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

const LIST: &str = "tests/fixtures/hints.tsv";

/// What a text is that begins with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// Proposed to be pasted, and pasted by the harness.
    Paste,
    /// Proposed to be pasted; it takes a key of the person's own, so it is printed only.
    Print,
    /// Proposed to be pasted; that a test does so has not been shown.
    Untried,
    /// A sentence, an example, or a part of another text.
    Words,
}

/// Programs whose commands are proposed.
const PROGRAMS: [&str; 8] = ["loop", "git", "chmod", "ulimit", "mv", "mkdir", "printf", "ssh-keygen"];

/// Files that hold texts of commands and propose none: examples of the help, simulations, tests.
const ASIDE: [&str; 8] =
    ["tests", "tests.rs", "whole", "published.rs", "properties.rs", "forged", "examples.rs", "sim"];

fn listed() -> BTreeSet<(String, Use)> {
    let text = std::fs::read_to_string(LIST).expect("the list");
    let lines = text.lines().filter(|it| !it.starts_with('#') && !it.is_empty());
    let read = |line: &str| {
        let (how, template) = line.split_once('\t').unwrap_or_else(|| panic!("{LIST}: {line}"));
        let how = match how {
            "paste" => Use::Paste,
            "print" => Use::Print,
            "untried" => Use::Untried,
            "words" => Use::Words,
            other => panic!("{LIST}: {other} is no use"),
        };
        (template.to_owned(), how)
    };
    lines.map(read).collect()
}

#[test]
fn every_proposed_command_is_listed() {
    let listed: BTreeSet<String> = listed().into_iter().map(|it| it.0).collect();
    let found: BTreeSet<String> = folders().into_iter().flat_map(|it| of_folder(Path::new(it))).collect();
    let unlisted: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        unlisted.is_empty() && gone.is_empty(),
        "texts that begin with a command and are not in {LIST}: {unlisted:#?}\nlisted, and nowhere in the sources: {gone:#?}"
    );
}

/// One function makes a command name the folder and the home that were typed; a line that is written
/// without it would lead elsewhere.
#[test]
fn every_hint_is_made_by_the_function_that_repeats_where() {
    let mut found = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("src/cli")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|it| it.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).expect("text");
            let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let written = string_literals(code).into_iter().filter(|text| {
                ["next: ", "  or: "]
                    .iter()
                    .filter_map(|it| text.strip_prefix(it))
                    .any(|it| PROGRAMS.iter().any(|program| it.starts_with(program)))
            });
            found.extend(written.map(|text| format!("{}: {text}", path.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
#[ignore = "reads what all other test programs have printed; ./test runs it last"]
fn every_proposed_command_was_printed_and_pasted() {
    let log = std::env::var("LOOP_HINT_LOG").expect("LOOP_HINT_LOG names the log");
    let log = std::fs::read_to_string(log).expect("the log");
    let rows: Vec<(bool, String)> = log
        .lines()
        .filter_map(|line| {
            let mut parts = line.split('\t');
            Some((parts.next()? != "printed", parts.next()?.to_owned()))
        })
        .collect();
    let is_covered = |template: &str, how: Use| {
        rows.iter().any(|(pasted, hint)| (*pasted || how == Use::Print) && was_made_from(template, hint))
    };
    let missing: Vec<String> = listed()
        .into_iter()
        .filter(|(_, how)| matches!(how, Use::Paste | Use::Print))
        .filter(|(template, how)| !is_covered(template, *how))
        .map(|(template, how)| format!("{how:?}: {template}"))
        .collect();
    assert!(missing.is_empty(), "no test made the program print and followed these:\n{}", missing.join("\n"));
}

#[test]
fn a_hint_is_recognised_by_its_template() {
    let rows = [
        ("loop run", "loop run", true),
        ("loop run", "loop -C x --home /h run --run 1f3c5a7b", true),
        ("loop run", "loop run --fresh", false),
        ("loop run --unverified", "loop run \"fix it\" -n 3 --unverified", true),
        ("loop run --unverified", "loop run \"fix it\" -n 3", false),
        ("loop show {}", "loop show 3", true),
        ("loop show {}", "loop show", false),
        ("loop run \"what to build\"", "loop run \"what to build\" --agent-cmd ./x", true),
        ("git -C {} merge {}", "git -C /p merge loop/x", true),
        ("loop run --run {}", "loop run --run 1f3c5a7b", true),
        ("loop status --run {run}", "loop -C x status --run 1f3c5a7b", true),
    ];
    for (template, hint, expected) in rows {
        assert_eq!(was_made_from(template, hint), expected, "{template}: {hint}");
    }
}

fn folders() -> [&'static str; 5] {
    ["src", "crates/base/src", "crates/core/src", "crates/store/src", "crates/supervise/src"]
}

fn of_folder(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if ASIDE.iter().any(|it| entry.file_name() == *it) || entry.file_name() == "fuzz.rs" {
            continue;
        }
        if path.is_dir() {
            found.extend(of_folder(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.extend(of_source(&std::fs::read_to_string(&path).expect("text")));
        }
    }
    found
}

/// Returns the texts of a source file that begin with a command, or have one behind a marker of hints.
fn of_source(source: &str) -> BTreeSet<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().filter(|it| !it.trim_start().starts_with("//")).collect();
    let mut found = BTreeSet::new();
    for text in string_literals(&code.join("\n")) {
        let behind = ["next: ", "continue with: "].iter().flat_map(|it| text.split(it).skip(1));
        for part in std::iter::once(text.as_str()).chain(behind) {
            let line = part.lines().next().unwrap_or_default();
            if is_command(line) {
                found.insert(line.to_owned());
            }
        }
    }
    found
}

/// Returns the texts between quotation marks, as the compiler reads them.
fn string_literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = code.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        if letter != '"' || before == '\'' {
            before = letter;
            continue;
        }
        let mut text = String::new();
        while let Some(letter) = letters.next() {
            match (letter, letters.peek()) {
                ('"', _) => break,
                ('\\', Some('\n')) => while letters.next_if(|it| it.is_whitespace()).is_some() {},
                ('\\', Some(_)) => match letters.next() {
                    Some('n') => text.push('\n'),
                    Some(other) => text.push(other),
                    None => (),
                },
                (other, _) => text.push(other),
            }
        }
        found.push(text);
        before = '"';
    }
    found
}

fn is_command(line: &str) -> bool {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let verb = words.next().unwrap_or_default();
    let is_verb = |it: &str| it.chars().any(|it| it.is_ascii_lowercase()) || it.starts_with('-');
    PROGRAMS.contains(&program)
        && (is_verb(verb.trim_matches(',')) || program == "chmod")
        && !verb.starts_with('{')
        && is_known(program, verb)
}

/// Returns the names of the program's commands, which the reference has as headings.
fn commands() -> &'static BTreeSet<String> {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let reference = std::fs::read_to_string("docs/reference/commands.md").expect("the reference");
        let names = reference.lines().filter_map(|it| it.strip_prefix("## `loop ")?.strip_suffix('`'));
        names.chain(["completions", "man", "help"]).map(str::to_owned).collect()
    })
}

/// Sentences may begin with the name of the program too.
fn is_known(program: &str, verb: &str) -> bool {
    const GIT: [&str; 15] = [
        "init", "stash", "config", "fsck", "-C", "add", "branch", "checkout", "commit", "fetch", "merge",
        "push", "revert", "switch", "worktree",
    ];
    let verb: String =
        verb.chars().take_while(|it| it.is_ascii_lowercase() || *it == '-' || *it == 'C').collect();
    match program {
        "loop" => commands().contains(&verb),
        "git" => GIT.contains(&verb.as_str()),
        _ => true,
    }
}

/// Whether a hint was made from this text, which may have been given a place and a run.
fn was_made_from(template: &str, hint: &str) -> bool {
    let placed = without_place(hint);
    fits(template, &placed) || fits(template, without_run(&placed))
}

/// The hint without the place that was named where it was printed.
fn without_place(hint: &str) -> String {
    let mut words: Vec<&str> = hint.split(' ').collect();
    if words.first() == Some(&"loop") {
        for flag in ["-C", "--home"] {
            if let Some(at) = words.iter().take(4).position(|it| *it == flag)
                && at + 1 < words.len()
            {
                words.drain(at..at + 2);
            }
        }
    }
    words.join(" ")
}

/// The hint without the run that it names.
fn without_run(hint: &str) -> &str {
    hint.rsplit_once(" --run ").filter(|(_, id)| id.len() == 8).map_or(hint, |(before, _)| before)
}

/// Whether a hint has the words of this text. What only adds flags to `loop run` stands behind the words that
/// were typed.
fn fits(template: &str, hint: &str) -> bool {
    if let Some(flags) = template.strip_prefix("loop run --") {
        let opens = ["loop run", "loop init"].iter().any(|it| hint.starts_with(it));
        let flags = flags.split('{').next().unwrap_or_default().trim_end();
        return opens && hint.contains(&format!(" --{flags}"));
    }
    if template.contains("\"what to build\"") && hint.starts_with(template) {
        return true;
    }
    let mut rest = hint;
    let mut parts = template.split('{').enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.split_once('}').map_or(part, |it| it.1),
    });
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let others: Vec<&str> = parts.collect();
    let Some((last, middle)) = others.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last) && (!last.is_empty() || !rest.is_empty() || template.ends_with("n{}"))
}
