//! What was looked at on this machine: one line each, with the next step where something is missing.

use crate::desk::NextStep;
use loop_base::text::sanitise;

/// One thing that was looked at.
pub(crate) struct DoctorFinding {
    pub what: String,
    pub good: bool,
    pub says: String,
    pub next: Option<NextStep>,
}

pub(crate) fn print_one(finding: &DoctorFinding) {
    let mark = if finding.good { "ok     " } else { "missing" };
    println!("{mark}  {:<10}  {}", finding.what, sanitise(finding.says.trim_end()));
    for line in finding.next.iter().flat_map(NextStep::lines) {
        println!("         {}", sanitise(&line));
    }
}

pub(crate) fn good(what: &str, says: String) -> DoctorFinding {
    DoctorFinding { what: what.to_owned(), good: true, says, next: None }
}

pub(crate) fn bad(what: &str, says: String, next: impl Into<NextStep>) -> DoctorFinding {
    DoctorFinding { what: what.to_owned(), good: false, says, next: Some(next.into()) }
}
