//! Environment variables that make test runners name their tests, without touching the user's
//! command. Tried with the real runners:
//!
//! - pytest takes options from `PYTEST_ADDOPTS`, before those of the command, and writes a JUnit file
//!   beside its usual output; `junit_family=xunit1` puts each test's file into it.
//! - go takes flags from `GOFLAGS`. `-v` names every test and is harmless for the other commands of
//!   go; `-json` is not: `go vet -json` exits 0 whatever it finds, and `go list -json` breaks
//!   `go test $(go list ./...)`.
//! - node's runner names every test by default. `--test-reporter` in `NODE_OPTIONS` makes node refuse
//!   a command with a reporter of its own, and the processes of the test files overwrite the file.
//! - `cargo test`, unittest, jest, vitest and mocha have no such variable.

/// A file that a runner was asked to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdFile {
    pub name: String,
    pub text: String,
}

pub(crate) const PYTEST_FILE: &str = "pytest.xml";

/// Returns the variables to set for a check. `folder` is an empty folder outside the tree, one for
/// each run of each check; `inherited` gives the value that a variable has already. A folder whose
/// path would need quoting gets no pytest file.
pub fn id_environment(folder: &str, inherited: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let with = |name: &str, more: &str| {
        let value = match inherited(name).filter(|it| !it.trim().is_empty()) {
            Some(before) => format!("{before} {more}"),
            None => more.to_owned(),
        };
        (name.to_owned(), value)
    };
    let mut variables = vec![with("GOFLAGS", "-v")];
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-+@,:=".contains(it);
    if folder.chars().all(plain) {
        let options = format!("-o junit_family=xunit1 --junitxml={folder}/{PYTEST_FILE}");
        variables.push(with("PYTEST_ADDOPTS", &options));
    }
    variables
}

/// Returns the names of the files in that folder that are worth reading.
pub fn id_files() -> &'static [&'static str] {
    &[PYTEST_FILE]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_the_user_set() {
        let inherited = |it: &str| (it == "GOFLAGS").then(|| "-mod=vendor".to_owned());
        let variables = id_environment("/tmp/ids", &inherited);
        let options = "-o junit_family=xunit1 --junitxml=/tmp/ids/pytest.xml";
        let expected = [("GOFLAGS", "-mod=vendor -v"), ("PYTEST_ADDOPTS", options)];
        let expected: Vec<_> = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(variables, expected);
        assert_eq!(id_environment("/tmp/my ids", &|_| None).len(), 1);
    }
}
