//! What was looked at on this machine: one line each, with the next step where something is missing.

use loop_base::text::sanitise;

/// One thing that was looked at.
pub(crate) struct Finding {
    pub what: String,
    pub good: bool,
    pub says: String,
    pub next: Option<String>,
}

pub(crate) fn print_one(finding: &Finding) {
    let mark = if finding.good { "ok     " } else { "missing" };
    println!("{mark}  {:<10}  {}", finding.what, sanitise(finding.says.trim_end()));
    if let Some(next) = &finding.next {
        println!("         next: {}", sanitise(next));
    }
}

pub(crate) fn good(what: &str, says: String) -> Finding {
    Finding { what: what.to_owned(), good: true, says, next: None }
}

pub(crate) fn bad(what: &str, says: String, next: &str) -> Finding {
    Finding { what: what.to_owned(), good: false, says, next: Some(next.to_owned()) }
}
