//! What was looked at on this machine: one line each, with the next step where something is missing.

use crate::cli::context::show;
use crate::cli::hint::pasteable_step;
use crate::desk::NextStep;
use loop_base::text::sanitise;

/// One thing that was looked at.
pub(crate) struct DoctorFinding {
    pub what: String,
    pub good: bool,
    pub says: String,
    pub next: Option<NextStep>,
    /// What `loop doctor --fix` does about it.
    pub fix: Option<Fix>,
}

/// What can be put right without asking anybody, because nothing is lost by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fix {
    /// `git init` in the project.
    MakeRepository,
    /// Files of the home may be read and written by their owner, and by nobody else.
    OwnFiles,
    /// The stop hook calls this program.
    NameThisProgram,
}

pub(crate) fn print_one(finding: &DoctorFinding) {
    let mark = if finding.good { "ok     " } else { "problem" };
    show(&format!("{mark}  {:<10}  {}", finding.what, sanitise(finding.says.trim_end())));
    for line in finding.next.iter().flat_map(NextStep::lines) {
        let line = format!("         {}", sanitise(&line));
        // A command is pasted as one line; words are broken like all others.
        if finding.next.as_ref().and_then(NextStep::words).is_some_and(|it| line.ends_with(it)) {
            show(&line);
        } else {
            println!("{line}");
        }
    }
}

pub(crate) fn good(what: &str, says: String) -> DoctorFinding {
    DoctorFinding { what: what.to_owned(), good: true, says, next: None, fix: None }
}

pub(crate) fn bad(what: &str, says: String, next: impl Into<NextStep>) -> DoctorFinding {
    DoctorFinding {
        what: what.to_owned(),
        good: false,
        says,
        next: Some(pasteable_step(next.into())),
        fix: None,
    }
}

/// Something that `loop doctor --fix` puts right.
pub(crate) fn fixable(what: &str, says: String, fix: Fix) -> DoctorFinding {
    DoctorFinding { fix: Some(fix), ..bad(what, says, "loop doctor --fix") }
}
