//! Proposes a command for the check `tests` of a project whose root configures none: those of the
//! packages below the root, else the usual one of the stack whose files are there, else a script
//! `test.sh`. A proposal is only ever shown to a person.

use super::{DetectedCheck, Root, detect_with, is_installed};
use loop_core::workflow::model::TESTS_CHECK;
use std::path::Path;

/// A longer command would be a script, which a person writes better.
const PACKAGES_MOST: usize = 6;

/// More entries of a folder are not looked at.
const FOLDERS_MOST: usize = 200;

/// Folders that hold the packages of others.
const FOREIGN: [&str; 5] = ["node_modules", "target", "vendor", "venv", "dist"];

/// What is proposed where nothing says which stack a project has, and the script is there.
const NEUTRAL: &str = "./test.sh";

/// The usual command of each stack, by a file in its root or by how one ends.
const USUAL: [(&str, &str); 16] = [
    ("package.json", "node --test"),
    ("deno.json", "deno test"),
    ("pyproject.toml", "python3 -m unittest -v"),
    ("setup.py", "python3 -m unittest -v"),
    (".py", "python3 -m unittest -v"),
    ("pom.xml", "mvn -q test"),
    ("gradlew", "./gradlew test"),
    ("build.gradle", "gradle test"),
    ("build.gradle.kts", "gradle test"),
    ("CMakeLists.txt", "cmake -B build && cmake --build build && ctest --test-dir build"),
    ("Gemfile", "bundle exec rake test"),
    ("mix.exs", "mix test"),
    ("composer.json", "vendor/bin/phpunit"),
    (".sln", "dotnet test"),
    (".csproj", "dotnet test"),
    ("Package.swift", "swift test"),
];

/// Returns the flag that gives a project a check, as it is pasted; nothing where no command is known.
pub(crate) fn proposed_flag(dir: &Path) -> Option<String> {
    let tests = proposed_tests(&Root { dir: dir.to_owned() })?;
    Some(format!("--check tests=\"{tests}\""))
}

/// Returns the answer that gives a run its check `tests`, as it is pasted; nothing where no command is known.
pub(crate) fn proposed_answer(dir: &Path) -> Option<String> {
    let root = Root { dir: dir.to_owned() };
    let found = detect_with(&root, is_installed).into_iter().find(|it| it.name == TESTS_CHECK);
    let command = found.map(|it| it.run).or_else(|| proposed_tests(&root))?;
    Some(format!("loop answer \"{command}\""))
}

/// What a person is told where no command is known.
pub(crate) const CHECK_HELP: &str =
    "add --check tests=\"COMMAND\" with a command that passes when the work is done";

fn proposed_tests(root: &Root) -> Option<String> {
    let script = || root.dir.join(NEUTRAL).is_file().then(|| NEUTRAL.to_owned());
    of_packages(root).or_else(|| usual(root)).or_else(script)
}

/// The tests of every package below the root, at most two folders deep.
fn of_packages(root: &Root) -> Option<String> {
    let mut commands = Vec::new();
    for folder in folders(root, ".") {
        match tests_of(root, &folder) {
            Some(command) => commands.push(command),
            None => commands.extend(folders(root, &folder).iter().filter_map(|it| tests_of(root, it))),
        }
    }
    let fits = (1..=PACKAGES_MOST).contains(&commands.len());
    fits.then(|| commands.join(" && "))
}

fn tests_of(root: &Root, folder: &str) -> Option<String> {
    let found = detect_with(&Root { dir: root.dir.join(folder) }, is_installed);
    let DetectedCheck { run, .. } = found.into_iter().find(|it| it.name == TESTS_CHECK)?;
    Some(format!("(cd {folder} && {run})"))
}

/// The folders in a folder that may hold packages of the project; a name that a shell would read
/// differently is left out.
fn folders(root: &Root, folder: &str) -> Vec<String> {
    let is_plain = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it));
    let names = root.names(folder, FOLDERS_MOST).into_iter();
    let names =
        names.filter(|it| !it.starts_with(['.', '-']) && is_plain(it) && !FOREIGN.contains(&it.as_str()));
    let paths = names.map(|it| if folder == "." { it } else { format!("{folder}/{it}") });
    paths.filter(|it| root.dir.join(it).is_dir()).collect()
}

fn usual(root: &Root) -> Option<String> {
    let names = root.names(".", FOLDERS_MOST);
    let is_there = |(file, _): &&(&str, &str)| {
        names.iter().any(|it| it == file || (file.starts_with('.') && it.ends_with(file)))
    };
    USUAL.iter().find(is_there).map(|(_, command)| (*command).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Root, proposed_tests};

    #[test]
    fn the_command_of_the_stack_that_is_there_is_proposed() {
        let rows: [(&[&str], &str); 9] = [
            (&[], ""),
            (&["README.md"], ""),
            (&["test.sh", "README.md"], "./test.sh"),
            (&["package.json"], "node --test"),
            (&["calc.py"], "python3 -m unittest -v"),
            (&["CMakeLists.txt"], "cmake -B build && cmake --build build && ctest --test-dir build"),
            (&["app.csproj"], "dotnet test"),
            (&["api/go.mod", "web/index.html"], "(cd api && go test -v ./...)"),
            (
                &["crates/one/Cargo.toml", "services/two/go.mod", "node_modules/x/Cargo.toml"],
                "(cd crates/one && cargo test --no-fail-fast) && (cd services/two && go test -v ./...)",
            ),
        ];
        for (files, wanted) in rows {
            let dir = tempfile::tempdir().expect("a folder");
            for file in files {
                let path = dir.path().join(file);
                std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
                let text = if file.ends_with("go.mod") { "module it\n" } else { "" };
                std::fs::write(path, text).expect("a file");
            }
            let proposed = proposed_tests(&Root { dir: dir.path().to_owned() }).unwrap_or_default();
            assert_eq!(proposed, wanted, "{files:?}");
        }
    }
}
