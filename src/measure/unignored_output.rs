//! Output of tools that git does not ignore. A run cannot finish over it: it is no work to commit, and the
//! agent does not see that. Here it is told from work, and the command is made that ignores it.

use super::uncommitted::uncommitted_before;
use crate::tree::git::{Git, GitError};
use crate::tree::git_status::{GitStatus, read_status};
use loop_base::files;
use loop_base::text::shell_word;
use loop_core::build_output::ignore_line;
use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What a person would write by hand; a run that left more needs a look, not a command.
const LINES_MOST: usize = 5;

/// Returns the command that makes git ignore what keeps a run from finishing, where all of that is output
/// of tools. `view` is the folder of the run's own view of the tree.
pub(crate) fn ignore_command(place: &Path, view: &Path) -> Option<String> {
    let lines = lines(place, view).ok().filter(|it| !it.is_empty() && it.len() <= LINES_MOST)?;
    let file = place.join(".gitignore");
    let begin = if ends_inside_line(&file) { "\\n" } else { "" };
    let text: Vec<String> = lines.iter().map(|it| format!("{it}\\n")).collect();
    let git = format!("git -C {}", shell_word(&place.to_string_lossy()));
    let file = shell_word(&file.to_string_lossy());
    let commit = "commit -m \"ignore build output\" -- .gitignore";
    Some(format!("printf '{begin}{}' >> {file} && {git} add .gitignore && {git} {commit}", text.concat()))
}

/// Returns the lines for `.gitignore`; none where something else is uncommitted too.
fn lines(place: &Path, view: &Path) -> Result<BTreeSet<String>, GitError> {
    let asked = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=normal"];
    let GitStatus { changed, differing, untracked, .. } = read_status(&Git::reopen(place)?.run(asked)?);
    let (before, by_checks) = uncommitted_before(view);
    // A folder that git knows nothing of is listed as one path.
    let holds = |list: &BTreeSet<PathBuf>, path: &Path| list.iter().any(|it| it.starts_with(path));
    if changed.iter().chain(&differing).any(|it| !before.contains(it)) {
        return Ok(BTreeSet::new());
    }
    let line = |path: &PathBuf| {
        let path_text = path.to_str()?;
        let own = holds(&by_checks, path).then(|| format!("/{path_text}"));
        // Letters that mean something to git or to a shell are left to a person.
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-/".contains(it);
        ignore_line(path_text).map(str::to_owned).or(own).filter(|it| it.chars().all(is_plain))
    };
    let fresh = untracked.iter().filter(|it| !holds(&before, it));
    Ok(fresh.map(line).collect::<Option<BTreeSet<String>>>().unwrap_or_default())
}

/// Whether a file has a last line that nothing ends.
fn ends_inside_line(file: &Path) -> bool {
    let last = || -> std::io::Result<u8> {
        let mut file = files::open(file)?;
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        Ok(last[0])
    };
    last().is_ok_and(|it| it != b'\n')
}
