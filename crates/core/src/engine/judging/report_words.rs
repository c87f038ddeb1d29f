//! What an agent was asked to write at the end of its message, and what is missing there. Each protocol
//! has its own words, so nobody is told to give a promise where a status block is read.

use crate::workflow::model::Protocol;

/// Says that a report was asked for, and that the agent wrote none.
pub(super) fn no_report_words(report: &Protocol) -> String {
    match report {
        Protocol::PrpStatus => "the agent's final message has no readable PRP_PHASE_STATUS block".to_owned(),
        Protocol::ExitSignal => "the agent's final message has no readable EXIT_SIGNAL block".to_owned(),
        Protocol::Json => "the agent's final message has no readable JSON report".to_owned(),
        Protocol::Frontmatter(path) => format!("the agent wrote no readable report to {path}"),
        Protocol::Promise | Protocol::None => "the agent wrote no report".to_owned(),
    }
}

/// Returns how an agent says that it is done, in the protocol of its phase.
pub(super) fn done_words(report: &Protocol, promise: Option<&str>) -> Option<String> {
    match report {
        Protocol::Promise => promise.map(|promise| {
            format!("its final message must end with <promise>{promise}</promise> on a line of its own")
        }),
        Protocol::PrpStatus => Some("its status block does not say EXIT_SIGNAL: true".to_owned()),
        Protocol::Json => Some("the status of its report is not \"done\"".to_owned()),
        Protocol::ExitSignal | Protocol::Frontmatter(_) | Protocol::None => None,
    }
}
