//! Files that checks start: the scripts that their commands name, directly, through a Makefile or a
//! package script, or from inside another such script. They say what runs, so they are protected; the
//! source under test never is. Whether a file is the one or the other is told by how it is started and
//! by what it is called: a script whose output is compared is what the line tests.

use crate::proof::protecting::class::{Mixed, mixed_path};
use crate::proof::trees::{Contents, Side};
use loop_base::programs::{INTERPRETERS, SHELLS};
use std::collections::{BTreeSet, VecDeque};

/// Files whose commands are searched for scripts; a monorepo has one of each in every package.
const COMMAND_FILES_LIMIT: usize = 200;

/// Scripts that are followed; a longer chain is no check that a person keeps.
const SCRIPTS_LIMIT: usize = 300;

/// A script is a text that a person wrote.
const SCRIPT_LENGTH_LIMIT: usize = 256 << 10;

/// Options whose value is a file that decides what runs or is loaded before it, and what a Makefile reads.
const OPTIONS: &[&str] = &[
    "--import",
    "--require",
    "--loader",
    "--experimental-loader",
    "--config",
    "--setup",
    "--setupFiles",
    "--globalSetup",
    "--env-file",
    "--preload",
    "--opts",
    "--makefile",
    "include",
    "-include",
    "sinclude",
];

/// Short options mean that only to some programs: `[ -f FILE ]` says nothing about what runs.
const SHORT_OPTIONS: &[(&str, &[&str])] = &[
    ("-r", &["node", "mocha", "ava", "tape", "tap"]),
    ("-c", &["pytest", "jest", "mocha", "vitest", "playwright", "tox", "nose2"]),
    ("-f", &["make", "gmake", "just", "rake", "gradle", "mvn", "ant"]),
];

/// Folders and words by which a file says that it runs something.
const SCRIPT_FOLDERS: &[&str] = &["scripts", "script", "bin", "ci", "tools", "hack", "dev"];
const SCRIPT_WORDS: &[&str] =
    &["test", "selftest", "check", "lint", "verify", "ci", "run", "build", "suite", "spec", "all"];

/// Words that say it only of a file that is started, because a product may be called so too.
const STARTED_WORDS: &[&str] =
    &["step", "check", "case", "task", "qa", "validate", "smoke", "accept", "acceptance", "gate"];

/// How tests are started. A script in whose text this stands judges, also where its output is compared.
const TEST_COMMANDS: &[&str] = &[
    "unittest",
    "pytest",
    "npm test",
    "npm run test",
    "node --test",
    "jest",
    "vitest",
    "mocha",
    "cargo test",
    "cargo nextest",
    "go test",
    "ctest",
    "make test",
    "make check",
    "mvn test",
    "gradle test",
    "rspec",
    "phpunit",
    "bats ",
];

/// What a function says that compares for a test.
const ASSERTION_WORDS: &[&str] = &["FAIL", "not ok", "assert", "expected"];

/// Folders of the product, whatever the files in them are called.
const SOURCE_FOLDERS: &[&str] = &["src", "lib", "app", "source", "cmd", "pkg", "internal"];

/// Returns the files that the commands start, and what those start in turn.
pub(crate) fn named(commands: &[String], base_files: &[String], contents: &Contents<'_>) -> BTreeSet<String> {
    let search = Search { files: base_files.iter().map(String::as_str).collect(), contents };
    let mut found: BTreeSet<String> = BTreeSet::new();
    for command in commands {
        found.extend(search.scripts_in(command, ""));
    }
    let has_commands = |it: &&String| {
        let name = it.rsplit('/').next().unwrap_or(it).to_lowercase();
        matches!(name.as_str(), "package.json" | "makefile" | "gnumakefile" | "justfile" | "taskfile.yml")
    };
    for path in base_files.iter().filter(has_commands).take(COMMAND_FILES_LIMIT) {
        found.extend(search.scripts_of(path));
    }
    let mut open: VecDeque<String> = found.iter().cloned().collect();
    while let Some(path) = open.pop_front().filter(|_| found.len() < SCRIPTS_LIMIT) {
        for next in search.scripts_of(&path) {
            if found.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    found
}

struct Search<'a> {
    files: BTreeSet<&'a str>,
    contents: &'a Contents<'a>,
}

impl Search<'_> {
    fn text(&self, path: &str) -> Option<String> {
        let text = (self.contents)(Side::Base, path).filter(|it| it.len() <= SCRIPT_LENGTH_LIMIT)?;
        String::from_utf8(text).ok()
    }

    fn scripts_of(&self, path: &str) -> Vec<String> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let text = self.text(path).unwrap_or_default();
        let scripts = text.lines().flat_map(|line| self.scripts_in(line, folder));
        scripts.filter(|it| it != path).collect()
    }

    /// Returns the files that a command line names and that look like scripts rather than like the
    /// source under test: shell scripts, and files whose name or folder says what they are for.
    fn scripts_in(&self, command: &str, folder: &str) -> Vec<String> {
        let separators = |it: char| it.is_whitespace() || "\"'`;|&()<>=,@[]{}".contains(it);
        let words = || command.split(separators).filter(|it| !it.is_empty());
        let before = std::iter::once("").chain(words());
        let mut found = Vec::new();
        for (before, word) in before.zip(words()) {
            let at = word.as_ptr() as usize - command.as_ptr() as usize;
            let interpreter = before.rsplit('/').next().unwrap_or(before);
            let by_shell = word.starts_with("./") || SHELLS.contains(&interpreter);
            let by_name = self.programs_by_name(before, word, &|it| words().any(|word| word == it));
            let start = ScriptStart {
                by_shell,
                by_interpreter: INTERPRETERS.contains(&interpreter) || !by_name.is_empty(),
                is_read: matches!(before, "." | "source"),
                by_option: OPTIONS.contains(&before)
                    || SHORT_OPTIONS.iter().any(|(option, programs)| {
                        *option == before && words().any(|it| programs.contains(&it))
                    }),
                is_compared: is_substituted(&command[..at]) || is_taken(&command[at + word.len()..]),
            };
            let places = [joined("", word), joined(folder, word)].into_iter().flatten();
            let places: BTreeSet<String> =
                places.flat_map(|it| with_extensions(&it)).chain(by_name).collect();
            let is_script =
                |it: &String| self.files.contains(it.as_str()) && self.looks_like_script(it, &start);
            found.extend(places.into_iter().filter(is_script));
        }
        found
    }

    /// The sources of a program that is started by its name: `python3 -m quality.verify`, `go run ./verify`,
    /// `cargo run --bin verify`.
    fn programs_by_name(&self, before: &str, word: &str, has_word: &dyn Fn(&str) -> bool) -> Vec<String> {
        let there = |it: &String| self.files.contains(it.as_str());
        match before {
            "-m" if has_word("python") || has_word("python3") => {
                let path = word.replace('.', "/");
                [format!("{path}.py"), format!("{path}/__main__.py")].into_iter().filter(there).collect()
            }
            "run" if has_word("go") => {
                let folder = joined("", word).map(|it| format!("{it}/")).unwrap_or_default();
                let is_of_it = |it: &&&str| {
                    it.strip_prefix(folder.as_str())
                        .is_some_and(|it| it.ends_with(".go") && !it.contains('/'))
                };
                self.files
                    .iter()
                    .filter(|_| !folder.is_empty())
                    .filter(is_of_it)
                    .map(|it| (*it).to_owned())
                    .collect()
            }
            // The folder of the sources says nothing here: it is that of all programs.
            "--bin" | "--example" if has_word("cargo") && says_that_it_checks(word) => {
                let places = [
                    format!("src/bin/{word}.rs"),
                    format!("src/bin/{word}/main.rs"),
                    format!("examples/{word}.rs"),
                ];
                let is_place = |it: &&&str| {
                    places.iter().any(|place| {
                        it.strip_suffix(place.as_str()).is_some_and(|it| it.is_empty() || it.ends_with('/'))
                    })
                };
                self.files.iter().filter(is_place).map(|it| (*it).to_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Without an extension a name says nothing: such a file is data, unless it is started. A shell
    /// script whose output is compared is what the line tests, unless its name says that it tests
    /// something. A program that an interpreter starts is a script if it judges something itself.
    fn looks_like_script(&self, path: &str, start: &ScriptStart) -> bool {
        let lower = path.to_lowercase();
        let (folder, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
        if mixed_path(path).is_some_and(|it| it != Mixed::RustSource) {
            return false;
        }
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_source = folder.split('/').any(|it| SOURCE_FOLDERS.contains(&it));
        let is_one_of =
            |words: &[&str], it: &str| words.iter().any(|word| it == *word || it == format!("{word}s"));
        // A library of shell functions is what is tested, also where the check reads it into its shell.
        let is_library = start.is_read && self.defines_functions(path);
        let is_started = || start.by_shell || start.is_read && !is_library || self.begins_as_script(path);
        let parts = || folder.split('/').chain(stem.split(['_', '-', '.']));
        start.by_option
            || (!is_source
                && !is_library
                && !start.is_compared
                && matches!(extension, "sh" | "bash" | "zsh" | "mk"))
            || folder.split('/').any(|it| SCRIPT_FOLDERS.contains(&it))
            || (!extension.is_empty() && stem.split(['_', '-', '.']).any(|it| is_one_of(SCRIPT_WORDS, it)))
            || (!is_source
                && !start.is_compared
                && (start.by_shell || start.by_interpreter)
                && !extension.is_empty()
                && parts().any(|it| is_one_of(STARTED_WORDS, it)))
            || (extension.is_empty() && !start.is_compared && is_started())
            || (start.by_interpreter && !is_source && !start.is_compared && self.judges(path))
            || ((start.by_shell || start.by_interpreter) && self.says(path, TEST_COMMANDS))
            || (is_library && self.says(path, ASSERTION_WORDS))
    }

    /// Whether a file names the program that reads it.
    fn begins_as_script(&self, path: &str) -> bool {
        (self.contents)(Side::Base, path).is_some_and(|it| it.starts_with(b"#!"))
    }

    fn defines_functions(&self, path: &str) -> bool {
        let defines = |line: &str| {
            let line = line.trim_start().trim_start_matches("function ");
            line.split_once("()").is_some_and(|(name, _)| {
                !name.is_empty()
                    && name.trim_end().chars().all(|it| it.is_alphanumeric() || "_-".contains(it))
            })
        };
        self.text(path).is_some_and(|it| it.lines().any(defines))
    }

    /// Whether a program compares something and says by its exit code what came of it.
    fn judges(&self, path: &str) -> bool {
        const WORDS: &[&str] = &[
            "assert",
            "AssertionError",
            "unittest",
            "node:test",
            "expect(",
            "exit(1",
            "SystemExit",
            "os.Exit(1",
            "log.Fatal",
            "panic(",
            "not ok",
        ];
        self.says(path, WORDS)
    }

    fn says(&self, path: &str, words: &[&str]) -> bool {
        self.text(path).is_some_and(|it| words.iter().any(|word| it.contains(word)))
    }
}

fn says_that_it_checks(program: &str) -> bool {
    let program = program.to_lowercase();
    let mut parts = program.split(['_', '-']);
    parts.any(|it| SCRIPT_WORDS.contains(&it) || STARTED_WORDS.contains(&it))
}

/// How a command line uses a file.
struct ScriptStart {
    /// By a shell or by itself.
    by_shell: bool,
    by_interpreter: bool,
    /// As the value of an option that says what runs.
    by_option: bool,
    /// Into the shell of the check.
    is_read: bool,
    /// Its output goes somewhere that judges it.
    is_compared: bool,
}

/// A path as a script in `folder` names it, below the top of the tree.
pub(super) fn joined(folder: &str, word: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in word.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    (!parts.is_empty() && !word.starts_with('/')).then(|| parts.join("/"))
}

/// A module may be named without its extension.
fn with_extensions(path: &str) -> Vec<String> {
    let more = ["js", "cjs", "mjs", "ts", "py", "sh", "rb"].map(|it| format!("{path}.{it}"));
    let is_bare = !path.rsplit('/').next().unwrap_or(path).contains('.');
    std::iter::once(path.to_owned())
        .chain(more.into_iter().filter(|_| is_bare && path.contains('/')))
        .collect()
}

/// Whether what follows is a command whose output is taken, as in `[ "$(./add.sh 2 3)" = 5 ]`.
fn is_substituted(before: &str) -> bool {
    before.matches('`').count() % 2 == 1 || before.matches("$(").count() > before.matches(')').count()
}

/// Whether the output of a command is piped, as in `./add.sh 2 3 | grep -q 5`. A test script whose output
/// is only kept (`| tee log`, `> log`) is none; a program that is given something to compute is one.
fn is_taken(after: &str) -> bool {
    let command = after.split(['\n', ';']).next().unwrap_or(after);
    let command = command.split("&&").next().unwrap_or(command);
    let command = command.split("||").next().unwrap_or(command);
    if let Some((_, next)) = command.split_once('|') {
        let next = next.split_whitespace().next().unwrap_or_default();
        return !matches!(next, "tee" | "cat" | "");
    }
    let arguments = |it: &str| it.trim().trim_end_matches(['1', '2']).split_whitespace().next().is_some();
    command.split_once('>').is_some_and(|(before, _)| arguments(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(commands: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let commands: Vec<String> = commands.iter().map(|it| (*it).to_owned()).collect();
        let paths: Vec<String> = files.iter().map(|(it, _)| (*it).to_owned()).collect();
        let contents = |_: Side, path: &str| {
            files.iter().find(|(it, _)| *it == path).map(|(_, it)| it.as_bytes().to_vec())
        };
        named(&commands, &paths, &contents).into_iter().collect()
    }

    #[test]
    fn a_file_without_an_extension_is_data_unless_it_is_started() {
        let files = [("steps", ""), ("gate", ""), ("prove", ""), ("accept", "#!/bin/sh\n")];
        let command = "sh gate && ./prove && accept && [ $(wc -l < steps) -ge 2 ]";
        assert_eq!(found(&[command], &files), ["accept", "gate", "prove"]);
    }

    #[test]
    fn a_script_that_runs_tests_judges_whatever_is_made_of_its_output() {
        let runs = "python3 -m unittest discover >/dev/null 2>&1 && echo ok || echo bad\n";
        let files =
            [("judge.sh", runs), ("add.sh", "echo $(($1 + $2))\n"), ("selftest.py", "print('PASS')\n")];
        let commands = [
            "sh judge.sh | grep -qx ok",
            "sh add.sh 2 3 | grep -qx 5",
            "python3 selftest.py | grep -qx PASS",
        ];
        assert_eq!(found(&commands, &files), ["judge.sh", "selftest.py"]);
    }

    #[test]
    fn functions_that_compare_for_a_test_are_no_library_of_the_product() {
        let files = [
            ("run.sh", ". ./lib/calc.sh; . ./lib/util.sh; same \"$(add 1 1)\" 2\n"),
            ("lib/calc.sh", "add() { echo $(($1 + $2)); }\n"),
            ("lib/util.sh", "same() { [ \"$1\" = \"$2\" ] || { echo \"FAIL $1 $2\"; exit 1; }; }\n"),
        ];
        assert_eq!(found(&["sh run.sh"], &files), ["lib/util.sh", "run.sh"]);
    }

    #[test]
    fn a_script_whose_output_is_compared_is_what_is_tested() {
        let files = [("add.sh", ""), ("sum", ""), ("run_tests.sh", ""), ("suite.sh", ""), ("door.sh", "")];
        let command = "[ \"$(sh add.sh 2 3)\" = 5 ] && [ `./sum 2 3` = 5 ] && sh door.sh";
        assert_eq!(found(&[command], &files), ["door.sh"]);
        assert!(
            found(&["sh add.sh 2 3 | grep -q 5", "./add.sh 2 3 > out && diff out five"], &files).is_empty()
        );
        assert_eq!(found(&["sh door.sh 2>&1 | tee log", "sh add.sh > log"], &files), ["add.sh", "door.sh"]);
        let command = "[ $(./run_tests.sh) = ok ] && [ $(./suite.sh) = ok ]";
        assert_eq!(found(&[command], &files), ["run_tests.sh", "suite.sh"]);
    }

    #[test]
    fn a_program_that_is_started_by_its_name_is_found() {
        let files = [
            ("quality/verify.py", ""),
            ("quality/__main__.py", "assert 1\n"),
            ("shop/__main__.py", "print(1)\n"),
            ("verify/main.go", "func main() { panic(1) }\n"),
            ("verify/more/other.go", ""),
            ("a/src/bin/verify.rs", ""),
            ("a/src/bin/shop.rs", "assert!(true)"),
        ];
        let commands = [
            "python3 -m quality.verify && python3 -m quality && python3 -m shop && python3 -m pytest",
            "cd x && go run ./verify && go run .",
            "cargo run -q --bin verify && cargo run --bin shop",
        ];
        let expected = ["a/src/bin/verify.rs", "quality/__main__.py", "quality/verify.py", "verify/main.go"];
        assert_eq!(found(&commands, &files), expected);
    }

    #[test]
    fn what_an_option_names_says_what_runs() {
        let files = [
            ("config/mocha.json", ""),
            ("src/register.js", ""),
            ("vars.inc", ""),
            ("Makefile", "include vars.inc\ntest:\n\ttrue\n"),
            ("src/shop.js", ""),
        ];
        let command = "mocha --config config/mocha.json -r ./src/register.js src/shop.js";
        assert_eq!(found(&[command], &files), ["config/mocha.json", "src/register.js", "vars.inc"]);
    }

    #[test]
    fn follows_a_script_behind_a_script() {
        let files = [
            ("check.sh", "set -e\npython3 second.py\npython3 shop.py total 1 2 | grep -q 3\n"),
            (
                "second.py",
                "import shop\nassert shop.total([1]) == 1\nimport subprocess\nsubprocess.run(['sh', 'more/third.sh'])\n",
            ),
            ("more/third.sh", ". ../prices.sh\n. ./settings.sh\nsh fourth.sh\n"),
            ("more/settings.sh", "LEVEL=1\n"),
            ("more/fourth.sh", "true\n"),
            ("prices.sh", "total() { echo 3; }\n"),
            ("shop.py", "import sys\nassert sys.argv\n"),
        ];
        assert_eq!(
            found(&["sh check.sh"], &files),
            ["check.sh", "more/fourth.sh", "more/settings.sh", "more/third.sh", "second.py"]
        );
        let node = [
            ("package.json", "{\"scripts\":{\"test\":\"node run.js\"}}"),
            ("run.js", "for (const it of ['./cases/total', './src/prices']) require(it);\n"),
            ("cases/total.js", "require('../src/prices.js');\n"),
            ("src/prices.js", ""),
        ];
        assert_eq!(found(&["npm test"], &node), ["cases/total.js", "run.js"]);
    }
}
