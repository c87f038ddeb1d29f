//! G27: what somebody changed in the database by hand is found and named.

use super::*;

/// Ten events in each of two runs.
fn two_runs() -> StorePlace {
    let place = place();
    create(&place.home, OTHER);
    for run in [RUN, OTHER] {
        let mut journal = Journal::open(&place.home, run).unwrap().journal;
        fill(&place.home, &mut journal, 10);
    }
    place
}

fn broken_at(place: &StorePlace) -> i64 {
    match place.home.verify(RUN).unwrap() {
        JournalVerdict::Broken { seq, .. } => seq,
        JournalVerdict::Whole { events } => panic!("found whole with {events} events"),
    }
}

#[test]
fn g27_each_way_of_tampering_is_found_at_its_first_event() {
    let cases = [
        ("edit", "update event set body = '{\"n\":44}' where run = 1 and seq = 4", 4),
        ("kind", "update event set kind = 'forged' where run = 1 and seq = 4", 4),
        ("time", "update event set at = at + 1 where run = 1 and seq = 4", 4),
        ("epoch", "update event set epoch = 9 where run = 1 and seq = 4", 4),
        ("drop", "delete from event where run = 1 and seq = 4", 4),
        ("drop the first", "delete from event where run = 1 and seq = 1", 1),
        (
            "reorder",
            "update event set seq = 104 where run = 1 and seq = 4; update event set seq = 4 where run = 1 and seq = 5;
             update event set seq = 5 where run = 1 and seq = 104",
            4,
        ),
        (
            "swap between runs",
            "update event set run = 9 where run = 1; update event set run = 1 where run = 2",
            1,
        ),
        (
            "drop and renumber",
            "delete from event where run = 1 and seq = 4; update event set seq = seq - 1 where run = 1 and seq > 4",
            4,
        ),
        ("cut the end", "delete from event where run = 1 and seq > 7", 8),
        ("edit the snapshot", "update snapshot set state = '{\"seq\":11}' where run = 1", 10),
        ("drop the snapshot", "delete from snapshot where run = 1", 10),
        ("edit the workflow", "update definition set body = '{}' where run = 1", 10),
        ("its version", "update definition set version = 0 where run = 1", 10),
        ("drop the workflow", "delete from definition where run = 1", 10),
        ("add an earlier workflow", "insert into earlier_definition values(1, 3, '{}', 1)", 10),
        ("edit the input", "update run set input = 'something else' where key = 1", 10),
        ("edit the project", "update run set project = '/elsewhere' where key = 1", 10),
        ("edit the opening", "update run set opened_at = 1 where key = 1", 10),
    ];
    for (name, sql, seq) in cases {
        let place = two_runs();
        tamper(&place.path(), sql);
        assert_eq!(broken_at(&place), seq, "{name}");
    }
}

#[test]
fn g04_opening_finds_a_changed_end_and_leaves_other_runs_usable() {
    for sql in [
        "update event set body = '{}' where run = 1 and seq = 10",
        "delete from event where run = 1 and seq = 10",
        "update snapshot set state = '{}' where run = 1",
        "update snapshot set seq = 9 where run = 1",
    ] {
        let place = two_runs();
        tamper(&place.path(), sql);
        let error = Journal::open(&place.home, RUN).unwrap_err();
        assert_eq!(error.exit_code(), 8, "{sql}: {error}");
        assert!(error.to_string().contains(RUN), "{error}");
        assert!(Journal::open(&place.home, OTHER).is_ok(), "{sql}");
    }
}

#[test]
fn g27_an_older_copy_of_the_database_is_found() {
    let place = place();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut journal, 3);
    let copy = place.folder.path().join("copy.db");
    place.home.backup(&copy).unwrap();
    fill(&place.home, &mut journal, 2);
    drop(journal);
    let path = place.path();
    drop(place.home);
    std::fs::copy(&copy, path.join("loop.db")).unwrap();

    let home = Home::open(&path).unwrap();
    assert_eq!(Journal::open(&home, RUN).unwrap_err().exit_code(), 8);
    assert!(matches!(home.verify(RUN).unwrap(), JournalVerdict::Broken { seq: 5, .. }));
    // The way out that the message names.
    std::fs::remove_file(home.folder(RUN).join("head")).unwrap();
    assert_eq!(Journal::open(&home, RUN).unwrap().journal.seq(), 3);
}

#[test]
fn events_after_the_snapshot_are_handed_over() {
    let place = place();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut journal, 2);
    let old: (Vec<u8>, Vec<u8>, Vec<u8>) = rusqlite::Connection::open(place.path().join("loop.db"))
        .unwrap()
        .query_row("select hash, state_hash, seal from snapshot", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    fill(&place.home, &mut journal, 2);
    drop(journal);
    rusqlite::Connection::open(place.path().join("loop.db"))
        .unwrap()
        .execute(
            "update snapshot set seq = 2, hash = ?1, state_hash = ?2, seal = ?3, state = '{\"seq\":2}'",
            old,
        )
        .unwrap();
    let opened = Journal::open(&place.home, RUN).unwrap();
    assert_eq!(opened.tail, place.home.events(RUN, 3, 10).unwrap());
    assert_eq!((opened.tail.len(), opened.journal.seq()), (2, 4));
}

#[test]
fn no_two_rows_share_their_hashed_bytes() {
    use crate::chain::{Link, ORIGIN};
    let link = |kind: &str, body: &str| Link { run: RUN, seq: 1, epoch: 1, at: 1, kind, body }.hash(&ORIGIN);
    assert_ne!(link("ab", "c"), link("a", "bc"));
    assert_ne!(link("", "abc"), link("abc", ""));
}
