//! What one owner writes: commits, commands, questions, calls, fencing.

use super::*;
use loop_core::engine::TokenClasses;

#[test]
fn a_commit_is_read_back_by_the_next_owner() {
    let place = place();
    let mut opened = Journal::open(&place.home, RUN).unwrap();
    assert_eq!((opened.state, opened.tail, opened.journal.epoch()), (None, vec![], 1));
    opened.journal.append(5, "opened", "{}");
    opened.journal.append(6, "began", "{\"call\":1}");
    let commit = Commit { call_at: Some(6), definition: Some("{\"name\":\"other\"}"), ..commit("{\"s\":1}") };
    opened.journal.commit(&place.home, &commit).unwrap();
    drop(opened.journal);

    let again = Journal::open(&place.home, RUN).unwrap();
    assert_eq!((again.state.as_deref(), again.tail, again.journal.seq()), (Some("{\"s\":1}"), vec![], 2));
    assert_eq!(again.journal.epoch(), 2);
    assert_eq!(
        place.home.events(RUN, 2, 10).unwrap(),
        [Recorded { seq: 2, epoch: 1, at: 6, kind: "began".into(), body: "{\"call\":1}".into() }]
    );
    let found = place.home.snapshot(RUN).unwrap().unwrap();
    assert_eq!((found.seq, found.state(), found.is_sealed), (2, Some("{\"s\":1}"), true));
    assert_eq!(place.home.definition(RUN).unwrap().body, "{\"name\":\"other\"}");
    assert_eq!(
        place.home.calls_between("/srv/shop", 6, 9).unwrap(),
        WindowCalls { count: 1, oldest_at: Some(6) }
    );
    assert_eq!(
        place.home.calls_between("/srv/shop", 7, 9).unwrap(),
        WindowCalls { count: 0, oldest_at: None }
    );
    assert_eq!(place.home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 2 });
}

#[test]
fn nothing_is_visible_before_its_commit() {
    let place = place();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    journal.append(5, "opened", "{}");
    assert_eq!(place.home.events(RUN, 1, 10).unwrap(), []);
}

#[test]
fn an_unchanged_commit_writes_nothing() {
    let place = place();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut journal, 1);
    drop(journal);
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    let wal = || std::fs::metadata(place.path().join("loop.db-wal")).unwrap().len();
    let before = wal();
    journal.commit(&place.home, &Commit { at: 9_000, ..commit("{\"seq\":1}") }).unwrap();
    assert_eq!(wal(), before);
    journal.commit(&place.home, &commit("{\"seq\":\"other\"}")).unwrap();
    assert!(wal() > before);
}

#[test]
fn a_grown_log_has_its_size_and_changes_nothing() {
    let place = place();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut journal, 2);
    place.home.grow_log().unwrap();
    let wal = || std::fs::metadata(place.path().join("loop.db-wal")).unwrap().len();
    let grown = wal();
    assert!(grown >= 4_200_000, "{grown}");
    fill(&place.home, &mut journal, 50);
    place.home.grow_log().unwrap();
    assert_eq!(wal(), grown);
    assert_eq!(place.home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 52 });
    assert_eq!(place.home.faults().unwrap(), [] as [String; 0]);
}

#[test]
fn a_command_is_taken_once_and_with_its_event() {
    let place = place();
    let id = place.home.command(RUN, 7, "{\"stop\":true}").unwrap();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    assert_eq!(journal.pending_commands(&place.home).unwrap(), [(id, "{\"stop\":true}".to_owned())]);
    journal.append(8, "commanded", "{}");
    journal.commit(&place.home, &Commit { taken: &[id], ..commit("{}") }).unwrap();
    assert_eq!(journal.pending_commands(&place.home).unwrap(), []);

    journal.append(9, "commanded", "{}");
    let twice = journal.commit(&place.home, &Commit { taken: &[id], ..commit("{}") }).unwrap_err();
    assert_eq!(twice.exit_code(), 8);
    assert_eq!(place.home.events(RUN, 1, 10).unwrap().len(), 1);
}

#[test]
fn questions_open_and_close_with_commits() {
    let place = place();
    let question = QuestionRow {
        id: "q1".into(),
        kind: "gate".into(),
        text: "ship it?".into(),
        choices: "[\"approve\",\"reject\"]".into(),
        asked_at: 3,
    };
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    let asked = [QuestionChange::Asked(question.clone())];
    journal.commit(&place.home, &Commit { questions: &asked, ..commit("{}") }).unwrap();
    assert_eq!(place.home.open_questions(RUN).unwrap(), [question]);
    let answered = [QuestionChange::Answered { id: "q1".into(), at: 4 }];
    journal.commit(&place.home, &Commit { questions: &answered, ..commit("{}") }).unwrap();
    assert_eq!(place.home.open_questions(RUN).unwrap(), []);
}

#[test]
fn g16_a_replaced_owner_writes_nothing() {
    let place = place();
    let other = Home::open(&place.path()).unwrap();
    let mut old = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut old, 1);
    // Taking over by force: the lock file is removed, so the old owner's lock is on a lost file.
    std::fs::remove_file(place.home.folder(RUN).join("lock")).unwrap();
    let mut young = Journal::open(&other, RUN).unwrap().journal;

    old.append(3, "judged", "{\"from\":\"the dead\"}");
    assert!(matches!(old.commit(&place.home, &commit("{\"old\":1}")), Err(StoreError::Fenced { .. })));
    assert!(matches!(old.commit(&place.home, &commit("{\"old\":2}")), Err(StoreError::Fenced { .. })));
    fill(&other, &mut young, 1);
    let epochs: Vec<i64> = other.events(RUN, 1, 10).unwrap().iter().map(|event| event.epoch).collect();
    assert_eq!(epochs, [1, 2]);
    assert_eq!(other.snapshot(RUN).unwrap().unwrap().text, "{\"seq\":2}");
    assert_eq!(other.verify(RUN).unwrap(), JournalVerdict::Whole { events: 2 });
}

#[test]
fn g16_a_visitor_and_an_owner_that_was_replaced_cannot_both_write() {
    for visitor_is_first in [true, false] {
        let place = place();
        let other = Home::open(&place.path()).unwrap();
        let mut old = Journal::open(&place.home, RUN).unwrap().journal;
        fill(&place.home, &mut old, 1);
        std::fs::remove_file(place.home.folder(RUN).join("lock")).unwrap();
        let mut visitor = Journal::visit(&other, RUN).unwrap().journal;
        assert_eq!(visitor.epoch(), 2);
        visitor.append(3, "joined", "{}");
        old.append(3, "judged", "{}");
        let (first, second) = match visitor_is_first {
            true => (&mut visitor, &mut old),
            false => (&mut old, &mut visitor),
        };
        first.commit(&other, &commit("{\"first\":1}")).unwrap();
        assert!(matches!(second.commit(&other, &commit("{}")), Err(StoreError::Fenced { .. })));
        assert_eq!(other.snapshot(RUN).unwrap().unwrap().text, "{\"first\":1}");
        assert_eq!(other.verify(RUN).unwrap(), JournalVerdict::Whole { events: 2 });
    }
}

#[test]
fn a_visit_begins_its_epoch_with_its_first_commit() {
    let place = place();
    for epoch in [1, 2] {
        drop(Journal::visit(&place.home, RUN).unwrap());
        let mut journal = Journal::visit(&place.home, RUN).unwrap().journal;
        for number in 1..3 {
            journal.append(number, "joined", "{}");
            journal.commit(&place.home, &commit("{}")).unwrap();
        }
        assert_eq!(place.home.run(RUN).unwrap().unwrap().epoch, epoch);
        assert!(place.home.run(RUN).unwrap().unwrap().owner.is_some());
    }
    assert_eq!(place.home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 4 });
}

#[test]
fn a_log_that_is_left_does_not_grow_for_ever() {
    let place = place();
    let path = place.path();
    let log = path.join("loop.db-wal");
    let StorePlace { folder: _folder, home } = place;
    drop(home);
    let mut sizes = Vec::new();
    for _ in 0..100 {
        let home = Home::open(&path).unwrap();
        home.leave_log().unwrap();
        let mut journal = Journal::visit(&home, RUN).unwrap().journal;
        fill(&home, &mut journal, 1);
        drop((journal, home));
        sizes.push(std::fs::metadata(&log).map_or(0, |it| it.len()));
    }
    assert!(sizes.iter().filter(|it| **it == 0).count() < 20, "{sizes:?}");
    assert!(sizes.iter().all(|it| *it < 800_000) && sizes.contains(&0), "{sizes:?}");
}

#[test]
fn holds_and_spend_are_kept_by_account_and_day() {
    let place = place();
    let hold = AccountHold { account: "claude".into(), until: 90, reason: "limit".into(), at: 10 };
    place.home.put_hold(&hold).unwrap();
    place.home.put_hold(&AccountHold { until: 95, ..hold.clone() }).unwrap();
    assert_eq!(place.home.hold("claude").unwrap(), Some(AccountHold { until: 95, ..hold.clone() }));
    assert_eq!(place.home.holds().unwrap().len(), 1);
    assert!(place.home.clear_hold("claude").unwrap());
    assert!(!place.home.clear_hold("claude").unwrap());

    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    let of = |input| TokenClasses { input, cache_read: 7, ..TokenClasses::default() };
    let spend = Spend {
        day: "2026-01-31".into(),
        calls: 1,
        unknown_calls: 0,
        tokens: of(500),
        micro_usd: 20,
        assumed_micro_usd: 0,
    };
    for input in [500, u64::MAX] {
        let spend = Some(Spend { tokens: of(input), ..spend.clone() });
        journal.commit(&place.home, &Commit { spend, ..commit("{}") }).unwrap();
    }
    let found = place.home.spent_on("2026-01-31", None).unwrap();
    assert_eq!((found.calls, found.micro_usd, found.tokens.cache_read), (2, 40, 14));
    assert!(i64::MAX as u64 <= found.tokens.input, "{found:?}");
    assert_eq!(place.home.spent_on("2026-02-01", None).unwrap().calls, 0);
    assert_eq!(place.home.spent_on("2026-01-31", Some("/elsewhere")).unwrap().calls, 0);
}

#[test]
fn g07_a_full_disk_keeps_events_pending_and_goes_on_when_space_returns() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path(), "600k") else {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    };
    let home = Home::open(&disk.0.join("home")).unwrap();
    create(&home, RUN);
    let mut journal = Journal::open(&home, RUN).unwrap().journal;
    let body = format!("\"{}\"", "x".repeat(10_000));
    let failure = loop {
        let seq = journal.append(1, "reported", &body);
        if let Err(error) = journal.commit(&home, &commit(&format!("{{\"seq\":{seq}}}"))) {
            break error;
        }
        assert!(seq < 1_000, "the disk never filled");
    };
    assert!(matches!(failure, StoreError::Full { .. }), "{failure:?}");
    assert_eq!(failure.exit_code(), 1);
    let pending = journal.seq();
    assert_eq!(home.verify(RUN).unwrap(), JournalVerdict::Whole { events: pending - 1 });

    disk.resize("8m");
    journal.commit(&home, &commit("{}")).unwrap();
    assert_eq!(home.verify(RUN).unwrap(), JournalVerdict::Whole { events: pending });
    assert_eq!(home.faults().unwrap(), [] as [String; 0]);
}

#[test]
fn a_home_that_cannot_be_written_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path(), "8m") else {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    };
    let place = disk.0.join("home");
    let home = Home::open(&place).unwrap();
    create(&home, RUN);
    let mut journal = Journal::open(&home, RUN).unwrap().journal;
    journal.append(1, "reported", "{}");
    journal.commit(&home, &commit("{}")).unwrap();
    drop((journal, home));
    disk.remount("ro");
    let home = Home::open_existing(&place).unwrap().expect("it is there");
    assert_eq!(home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 1 });
    assert!(matches!(home.command(RUN, 1, "{}"), Err(StoreError::NotWritable { .. })));
    assert!(matches!(Home::open(&place), Err(StoreError::NotWritable { .. })));
    drop(home);
    disk.remount("rw");
}

struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, size: &str) -> Option<SmallDisk> {
        let options = format!("size={size}");
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at).output().ok()?;
        mount.status.success().then(|| SmallDisk(at.to_path_buf()))
    }

    fn resize(&self, size: &str) {
        self.remount(&format!("size={size}"));
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
