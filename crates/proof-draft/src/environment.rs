//! Environment variables that make test runners name their tests, without touching the command.

/// A file that a runner was asked to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdFile {
    pub name: String,
    pub text: String,
}

/// Returns the variables to set for a check. `folder` is an empty folder outside the tree, one for
/// each run of each check; `inherited` gives the value that the variable has already.
pub fn id_environment(folder: &str, inherited: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    todo!()
}

/// Returns the names of the files in that folder that are worth reading.
pub fn id_files() -> &'static [&'static str] {
    &["pytest.xml"]
}
