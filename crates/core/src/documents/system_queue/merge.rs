//! What a person's edit of the file changes. Three versions of a system are compared: as it was in the file
//! when it was last read or written, as the file has it now, and as we know it. What differs between the
//! first two is the edit; everything else is ours.

use super::entry::SystemEntry;
use super::status::JobStatus;

/// What came of an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedSystem {
    pub system: SystemEntry,
    /// What of the edit is not taken over, in words.
    pub refused: Option<String>,
}

/// Takes over what a person edited. `is_claimed` says that a run works on the system, whose progress is
/// then ours.
pub fn merge(filed: &SystemEntry, found: SystemEntry, ours: &SystemEntry, is_claimed: bool) -> MergedSystem {
    let mut system = ours.clone();
    macro_rules! take {
        ($($field:ident)*) => { $(if found.$field != filed.$field { system.$field = found.$field.clone(); })* };
    }
    take!(name description github_issue dependencies priority capabilities notes autonomy rest created_at);
    if found.status == filed.status || found.status == ours.status {
        return MergedSystem { system, refused: None };
    }
    let (id, from, to) = (&ours.id, ours.status, found.status);
    if is_claimed {
        let why = match from {
            JobStatus::Complete => format!("its run is over; loop queue revert {id} takes it back"),
            _ => "a run works on it; only that run changes its progress".to_owned(),
        };
        let refused = Some(format!("{id} stays {from}: {why}"));
        return MergedSystem { system, refused };
    }
    if !from.may_become(to) {
        let legal: Vec<&str> = from.edges().iter().map(|it| it.word()).collect();
        let only = if legal.is_empty() { String::new() } else { format!(", only {}", legal.join(", ")) };
        let refused = Some(format!("{id} stays {from}: it cannot become {to}{only}"));
        return MergedSystem { system, refused };
    }
    system.status = to;
    system.blocked_reason = found.blocked_reason;
    MergedSystem { system, refused: None }
}

#[cfg(test)]
mod tests {
    use super::{SystemEntry, merge};
    use crate::documents::system_queue::JobStatus;

    fn system(status: JobStatus) -> SystemEntry {
        SystemEntry { id: "sys-001".to_owned(), name: "Auth".to_owned(), status, ..SystemEntry::default() }
    }

    #[test]
    fn an_edit_is_taken_over_and_a_stale_file_is_none() {
        let filed = system(JobStatus::Ready);
        let ours = system(JobStatus::InProgress);
        let renamed = SystemEntry { name: "Login".to_owned(), ..filed.clone() };
        let merged = merge(&filed, renamed, &ours, true);
        assert_eq!((merged.system.name.as_str(), merged.system.status), ("Login", JobStatus::InProgress));
        assert_eq!(merged.refused, None, "the status in the file is the one that was written last");
    }

    #[test]
    fn or04_states_follow_legal_edges_only() {
        let filed = system(JobStatus::Discovered);
        let merged = merge(&filed, system(JobStatus::Complete), &filed, false);
        assert_eq!(merged.system.status, JobStatus::Discovered);
        assert_eq!(
            merged.refused.as_deref(),
            Some("sys-001 stays discovered: it cannot become complete, only specified, blocked")
        );
        let merged = merge(&filed, system(JobStatus::Specified), &filed, false);
        assert_eq!((merged.system.status, merged.refused), (JobStatus::Specified, None));
        let claimed = system(JobStatus::InProgress);
        let merged = merge(&claimed, system(JobStatus::Blocked), &claimed, true);
        assert_eq!(merged.system.status, JobStatus::InProgress);
        assert!(merged.refused.is_some_and(|it| it.contains("a run works on it")));
    }
}
