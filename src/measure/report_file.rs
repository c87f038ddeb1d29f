//! The file that a call reports by, where its protocol names one. Only files that this very call
//! wrote count: one that lay there before says nothing about what was done since, nor does one of which the call
//! changed the mode alone. Of several the
//! one counts that says itself that it is the latest, because the clock of the file system says only
//! which was saved last.

use super::differences::present;
use crate::tree::changes::Change;
use loop_base::files;
use loop_base::value::Value;
use loop_core::report::{self, Expected, Report};
use loop_core::workflow::model::Protocol;
use std::path::Path;
use std::time::SystemTime;

/// Keys of the front matter that may hold its date, in this order.
const DATES: [&str; 2] = ["verified", "date"];

/// Returns the report of a call by the files that it changed.
pub(crate) fn read(
    place: &Path,
    changes: &[Change],
    pattern: &str,
    protocol: &Protocol,
    expected: Expected<'_>,
) -> Report {
    let none = |note: String| Report { notes: vec![note], ..Report::default() };
    let Ok(glob) = globset::Glob::new(pattern) else {
        return none(format!("{pattern} is not a valid pattern"));
    };
    let glob = glob.compile_matcher();
    let written = present(changes).filter(|it| !it.submodule && !it.mode_only && glob.is_match(&it.path));
    let found = written.filter_map(|it| {
        let path = place.join(&it.path);
        let text = files::text(&path).ok()?;
        let saved = std::fs::metadata(&path).and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let report = report::read(protocol, expected, &text);
        Some((date(&report), saved, &it.path, report))
    });
    let latest = found.max_by(|one, other| (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2)));
    latest.map_or_else(|| none(format!("this call wrote no file that matches {pattern}")), |it| it.3)
}

/// The moment that a report gives as its own, in seconds since 1970.
fn date(report: &Report) -> Option<i64> {
    DATES.iter().find_map(|key| match report.metrics.get(*key)? {
        Value::Text(text) => seconds(text.trim()),
        Value::Bool(_) | Value::Int(_) | Value::Number(_) => None,
    })
}

/// Reads a moment, or a day or time of day that names no zone as one of UTC.
fn seconds(text: &str) -> Option<i64> {
    let civil = |text: &str| text.parse::<jiff::civil::DateTime>().ok();
    let in_utc = |it: jiff::civil::DateTime| Some(it.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp());
    let moment = text.parse::<jiff::Timestamp>().ok().or_else(|| civil(text).and_then(in_utc));
    moment.map(jiff::Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use super::{read, seconds};
    use crate::tree::changes::{Change, ChangeKind};
    use loop_core::report::Expected;
    use loop_core::workflow::model::Protocol;

    #[test]
    fn a_report_whose_text_this_call_did_not_write_says_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("V.md"), "---\nstatus: passed\n---\n").expect("a file");
        let change = |mode_only| Change {
            path: "V.md".into(),
            kind: ChangeKind::Modified,
            submodule: false,
            mode_only,
        };
        let protocol = Protocol::Frontmatter("*.md".to_owned());
        let reads = |mode_only| {
            read(folder.path(), &[change(mode_only)], "*.md", &protocol, Expected::default()).found
        };
        assert_eq!((reads(false), reads(true)), (true, false));
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        let order = ["2026-01-02", "2026-01-02 03:04", "2026-01-02T03:04:05Z", "2026-01-02T05:00:00+01:00"];
        let read: Vec<i64> = order.iter().map(|it| seconds(it).expect(it)).collect();
        assert!(read.is_sorted() && read[0] < read[3], "{read:?}");
        assert_eq!(seconds("yesterday"), None);
    }
}
