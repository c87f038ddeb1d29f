//! Programs that git's configuration names, in the repository and in the person's own files. They are written down when a
//! run is opened: of the person's own, loop starts only those. One that is named later becomes a warning of the run,
//! because the person's own git would start it.

use crate::tree::git::{Git, GitError};
use crate::tree::programs::NamedProgram;
use loop_base::text::sanitise;
use loop_base::time::Timestamp;
use loop_core::engine::{Event, News};
use loop_store::run::Run;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// A listing takes milliseconds, unless a pipe stands in the place of a file.
const LISTING_MOST: Duration = Duration::from_secs(10);
const OUTPUT_MOST: usize = 4 << 20;

/// Settings that a warning names.
const NAMED_MOST: usize = 5;

/// Returns the hashes of the programs that are named now.
pub(super) fn named(project: &Path) -> Result<Vec<String>, GitError> {
    let digests: BTreeSet<String> =
        Git::around(project)?.programs()?.into_iter().map(|it| it.digest).collect();
    Ok(digests.into_iter().collect())
}

/// Looks when a call has ended, and says which programs were not named when the run was opened.
pub(super) fn follow(run: &Run, place: &Path, facts: &[(Timestamp, Event)]) -> Option<News> {
    let known = run.state.opening.git_programs()?;
    if !facts.iter().any(|(_, it)| matches!(it, Event::Ended(_))) {
        return None;
    }
    let place = run.state.place.as_deref().map_or(place, Path::new);
    // Where git cannot be asked, it starts nothing for anybody.
    let programs = Git::reopen(place).and_then(|it| it.limited(LISTING_MOST, OUTPUT_MOST).programs()).ok()?;
    let text = words(programs.iter().filter(|it| !known.contains(&it.digest)))?;
    if run.state.warnings.contains(&text) { None } else { Some(News::Noted(text)) }
}

fn words<'a>(programs: impl Iterator<Item = &'a NamedProgram>) -> Option<String> {
    let shown = |it: &NamedProgram| {
        let text = format!("{} in {}", it.setting.to_string_lossy(), it.file.display());
        sanitise(&text)
    };
    let all: BTreeSet<String> = programs.map(shown).collect();
    let more = all.len().saturating_sub(NAMED_MOST);
    let mut named: Vec<String> = all.into_iter().take(NAMED_MOST).collect();
    if 0 < more {
        named.push(format!("{more} more"));
    }
    (!named.is_empty()).then(|| {
        format!(
            "git's configuration names programs that it did not name when the run began: {}; look at them before the \
             next run and before you use git here",
            named.join(", ")
        )
    })
}
