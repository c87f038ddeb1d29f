//! G4 and G8: a home that cannot be used is refused by name, and no damage is ever taken for truth.

use super::*;
use std::os::unix::fs::FileExt;

const EVENTS: i64 = 40;

/// The files of a home with one run, its log still beside the database.
struct Image {
    database: Vec<u8>,
    log: Vec<u8>,
    head: Vec<u8>,
    events: Vec<Recorded>,
}

fn image(checkpointed: bool) -> Image {
    let place = place();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut journal, EVENTS);
    let events = place.home.events(RUN, 1, usize::MAX).unwrap();
    if checkpointed {
        tamper(&place.path(), "pragma wal_checkpoint(truncate)");
    }
    let read = |name: &str| std::fs::read(place.path().join(name)).unwrap();
    let head = std::fs::read(place.home.folder(RUN).join("head")).unwrap();
    Image { database: read("loop.db"), log: read("loop.db-wal"), head, events }
}

impl Image {
    fn write(&self, home: &Path) {
        let _ = std::fs::remove_dir_all(home);
        let folder = home.join("runs").join(RUN);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(home.join("loop.db"), &self.database).unwrap();
        std::fs::write(home.join("loop.db-wal"), &self.log).unwrap();
        std::fs::write(folder.join("head"), &self.head).unwrap();
    }

    /// Uses a home in every way there is. Whatever does not end in an error must be the truth.
    fn examine(&self, home: &Path, case: &str) -> Result<(), StoreError> {
        let home = Home::open(home)?;
        home.runs(&Filter::default())?;
        if let Some(fault) = home.faults()?.into_iter().next() {
            return Err(StoreError::damaged(fault));
        }
        let opened = Journal::open(&home, RUN)?;
        assert_eq!(opened.state.as_deref(), Some(&*format!("{{\"seq\":{EVENTS}}}")), "{case}");
        match home.verify(RUN)? {
            JournalVerdict::Whole { .. } => {
                assert_eq!(home.events(RUN, 1, usize::MAX)?, self.events, "{case}")
            }
            JournalVerdict::Broken { seq, .. } => assert!(seq <= EVENTS, "{case}"),
        }
        Ok(())
    }
}

#[test]
fn g04_a_flipped_bit_anywhere_in_the_database_is_harmless_or_found() {
    let image = image(true);
    let folder = fast_folder();
    let home = folder.path().join("home");
    let (mut found, mut tried) = (0, 0);
    // The header and the pages in use byte by byte would take minutes; a prime stride visits every
    // page at changing offsets.
    for offset in (0..100).step_by(3).chain((100..image.database.len()).step_by(509)) {
        for bit in [0x01, 0x80] {
            image.write(&home);
            let file = std::fs::File::options().write(true).open(home.join("loop.db")).unwrap();
            file.write_all_at(&[image.database[offset] ^ bit], offset as u64).unwrap();
            let outcome = image.examine(&home, &format!("offset {offset} bit {bit:#x}"));
            found += usize::from(outcome.is_err());
            tried += 1;
            if let Err(error) = outcome {
                // Byte 18 is the format for writing; SQLite calls one that it does not know read-only.
                let expected = if offset == 18 { 1 } else { 8 };
                assert_eq!(error.exit_code(), expected, "offset {offset}: {error}");
            }
        }
    }
    assert!(found > 0 && tried > 300, "{found} of {tried}");
}

#[test]
fn g04_a_cut_database_is_found() {
    let image = image(true);
    let folder = fast_folder();
    let home = folder.path().join("home");
    for length in (0..image.database.len()).step_by(1_777) {
        image.write(&home);
        std::fs::File::options()
            .write(true)
            .open(home.join("loop.db"))
            .unwrap()
            .set_len(length as u64)
            .unwrap();
        let case = format!("length {length} of {}", image.database.len());
        match image.examine(&home, &case) {
            Err(error) => assert_eq!(error.exit_code(), 8, "{case}: {error}"),
            // The last page may be missing in part and hold nothing there.
            Ok(()) => assert!(length > image.database.len() - 4_096, "{case}"),
        }
    }
}

#[test]
fn g04_a_damaged_log_never_takes_the_run_back_silently() {
    let image = image(false);
    assert!(image.log.len() > 4_096 * 20);
    let folder = fast_folder();
    let home = folder.path().join("home");
    for offset in (0..32).chain((32..image.log.len()).step_by(2_003)) {
        image.write(&home);
        let file = std::fs::File::options().write(true).open(home.join("loop.db-wal")).unwrap();
        file.write_all_at(&[image.log[offset] ^ 0x10], offset as u64).unwrap();
        let _ = image.examine(&home, &format!("log offset {offset}"));
    }
    for length in (0..image.log.len()).step_by(5_003) {
        image.write(&home);
        std::fs::File::options()
            .write(true)
            .open(home.join("loop.db-wal"))
            .unwrap()
            .set_len(length as u64)
            .unwrap();
        let _ = image.examine(&home, &format!("log length {length}"));
    }
}

#[test]
fn g04_the_log_of_another_database_is_not_taken_for_ours() {
    let ours = image(true);
    let folder = fast_folder();
    let home = folder.path().join("home");
    let stranger = folder.path().join("stranger.db");
    let other = rusqlite::Connection::open(&stranger).unwrap();
    other.execute_batch("pragma journal_mode = wal; create table t(x); insert into t values(1);").unwrap();
    let log = std::fs::read(folder.path().join("stranger.db-wal")).unwrap();
    ours.write(&home);
    std::fs::write(home.join("loop.db-wal"), log).unwrap();
    assert_eq!(ours.examine(&home, "a stranger's log").unwrap_err().exit_code(), 8);
}

#[test]
fn g08_later_foreign_and_lost_databases_are_refused_by_name() {
    let refused = |prepare: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let before = std::fs::read(folder.path().join("loop.db")).ok();
        let error = Home::open(folder.path()).unwrap_err();
        assert_eq!(Home::open_existing(folder.path()).unwrap_err().to_string(), error.to_string());
        assert_eq!(std::fs::read(folder.path().join("loop.db")).ok(), before, "nothing was changed");
        assert_eq!(error.exit_code(), 8);
        let known = format!("knows {}", schema::VERSION);
        let later = format!("schema {}", schema::VERSION + 1);
        let text = error.to_string().replace(folder.path().to_str().unwrap(), "HOME");
        text.replace(&known, "knows VERSION").replace(&later, "schema LATER")
    };
    insta::assert_snapshot!(refused(&|home| {
        drop(Home::open(home).unwrap());
        tamper(home, &format!("pragma user_version = {}", schema::VERSION + 1));
    }), @"HOME/loop.db was written by a later version of loop (schema LATER, this one knows VERSION); install that version, or use another --home");
    insta::assert_snapshot!(refused(&|home| tamper(home, "create table t(x)")), @"HOME/loop.db is not a database of loop (its application id is 0x0); move it away, or use another --home");
    insta::assert_snapshot!(refused(&|home| std::fs::write(home.join("loop.db"), "a shopping list\n".repeat(99)).unwrap()), @"HOME/loop.db is not a database of loop (not SQLite, or its header is damaged); move it away, or use another --home");
    insta::assert_snapshot!(refused(&|home| {
        std::fs::write(home.join("loop.db"), "").unwrap();
        std::fs::create_dir_all(home.join("runs").join(RUN)).unwrap();
    }), @"HOME/loop.db is damaged: it is missing or empty although HOME/runs has runs; see loop verify, restore a backup, or move it away");
}

#[test]
fn an_empty_file_without_runs_becomes_a_home() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("loop.db"), "").unwrap();
    assert!(Home::open_existing(folder.path()).unwrap().is_none());
    create(&Home::open(folder.path()).unwrap(), RUN);
}

#[test]
fn a_home_that_may_not_be_written_says_so() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("home"), "").unwrap();
    assert_eq!(Home::open(&folder.path().join("home")).unwrap_err().exit_code(), 2);
    let error = Home::open(Path::new("/proc/loop")).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().starts_with("/proc/loop"), "{error}");
}
