//! Which commit a name stands for: a branch, a tag, `HEAD`, or the parent of another one.

use super::git::{Git, GitError};
use super::git_text::single_line;

/// Returns the commit that a name stands for, where there is one.
pub(crate) fn commit_of(git: &Git, name: &str) -> Result<Option<String>, GitError> {
    let asked = format!("{name}^{{commit}}");
    match git.run(["rev-parse", "--quiet", "--verify", "--end-of-options", &asked]) {
        Ok(output) => Ok(Some(single_line(&output)).filter(|it| !it.is_empty())),
        Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
