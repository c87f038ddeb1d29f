//! Finding homes and runs.

use super::*;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_home_is_found_in_the_documented_order() {
    let locate = |flag: Option<&str>, variables: &[(&str, &str)]| {
        let variables: HashMap<&str, OsString> =
            variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect();
        Home::locate(flag.map(Path::new), |name| variables.get(name).cloned())
    };
    let all = [("LOOP_HOME", "/l"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
    assert_eq!(locate(Some("/f"), &all), Path::new("/f"));
    assert_eq!(locate(None, &all), Path::new("/l"));
    assert_eq!(locate(None, &[("LOOP_HOME", ""), all[1], all[2]]), Path::new("/x/loop"));
    assert_eq!(locate(None, &[("XDG_STATE_HOME", "x"), all[2]]), Path::new("/h/.local/state/loop"));
    assert_eq!(locate(Some("here"), &[]), std::env::current_dir().unwrap().join("here"));
}

#[test]
fn a_home_is_private_and_looking_for_one_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/home");
    assert!(Home::open_existing(&path).unwrap().is_none());
    assert!(!folder.path().join("a").exists());
    let home = Home::open(&path).unwrap();
    create(&home, RUN);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&home.folder(RUN))), (0o700, 0o700));
    drop(home);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Home::open(&path).unwrap();
    // Whoever opened it to others knows why; what is inside stays private.
    assert_eq!((mode(&path), mode(&path.join("loop.db"))), (0o755, 0o600));
    assert_eq!(Home::open_existing(&path).unwrap().unwrap().runs(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn lists_are_filtered_and_newest_first() {
    let place = place();
    let run = |id: &'static str, project: &'static str, input: &'static str, at: i64| {
        let run = NewRun {
            id,
            project,
            input,
            at,
            workflow: "plan",
            status: Status::Ready,
            place: "/p",
            definition: "{}",
        };
        place.home.create_run(&run).unwrap();
    };
    run(OTHER, "/srv/shop", "3", 20);
    run("33333333-3333-4333-8333-333333333333", "/srv/api", "3", 30);
    let ids = |filter: Filter<'_>| -> String {
        let rows = place.home.runs(&filter).unwrap();
        rows.iter().map(|row| &row.id[..1]).collect()
    };
    assert_eq!(ids(Filter::default()), "321");
    assert_eq!(ids(Filter { limit: Some(2), ..Filter::default() }), "32");
    assert_eq!(ids(Filter { project: Some("/srv/shop"), ..Filter::default() }), "21");
    assert_eq!(
        ids(Filter {
            project: Some("/srv/shop"),
            workflow: Some("plan"),
            input: Some("3"),
            ..Filter::default()
        }),
        "2"
    );
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    let completed =
        RowUpdate { exit: Some(0), verified: true, progress: Some(100), ..row(Status::Completed) };
    journal.commit(&place.home, &Commit { row: completed, ..commit("{}") }).unwrap();
    assert_eq!(ids(Filter { statuses: &[Status::Ready, Status::Running], ..Filter::default() }), "32");
    assert_eq!(
        ids(Filter { statuses: &[Status::Completed], project: Some("/srv/shop"), ..Filter::default() }),
        "1"
    );

    let found = place.home.run(RUN).unwrap().unwrap();
    assert_eq!(found.owner(), Some(Holder::this_process()));
    let expected = Row {
        id: RUN.into(),
        project: "/srv/shop".into(),
        workflow: "tdd".into(),
        input: "docs/orders.md".into(),
        status: Status::Completed,
        reason: None,
        next_step: None,
        phase: None,
        iteration: 0,
        iterations_total: 0,
        calls_total: 0,
        progress: Some(100),
        verified: true,
        place: "/srv/shop".into(),
        branch: None,
        opened_at: 1_000,
        updated_at: 2_000,
        epoch: 1,
        owner: found.owner.clone(),
        exit: Some(0),
        tokens: 0,
        micro_usd: None,
        computed: false,
        unknown_calls: 0,
    };
    assert_eq!(found, expected);
}

#[test]
fn a_run_is_found_by_any_unique_beginning() {
    let place = place();
    create(&place.home, OTHER);
    create(&place.home, "1111abcd-1111-4111-8111-111111111111");
    let by = |prefix: &str| place.home.by_prefix(prefix).unwrap();
    let one = |id: &str| ByPrefix::One(Box::new(place.home.run(id).unwrap().unwrap()));
    assert_eq!(by("2"), one(OTHER));
    assert_eq!(by("1111ABCD"), one("1111abcd-1111-4111-8111-111111111111"));
    assert_eq!(by(RUN), one(RUN));
    assert_eq!(
        by("1111"),
        ByPrefix::Several(vec![RUN.into(), "1111abcd-1111-4111-8111-111111111111".into()])
    );
    assert_eq!(
        (by("3"), by(""), by("%"), by("1' or 1")),
        (ByPrefix::None, ByPrefix::None, ByPrefix::None, ByPrefix::None)
    );
}

#[test]
fn a_pruned_run_is_gone_and_the_others_are_not() {
    let place = place();
    create(&place.home, OTHER);
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut journal, 3);
    assert!(matches!(place.home.prune(RUN), Err(StoreError::Held { .. })));
    drop(journal);
    place.home.prune(RUN).unwrap();
    assert!(!place.home.folder(RUN).exists());
    assert!(matches!(place.home.events(RUN, 1, 1), Err(StoreError::NoRun { .. })));
    assert!(matches!(place.home.prune(RUN), Err(StoreError::NoRun { .. })));
    assert!(Journal::open(&place.home, OTHER).is_ok());
    let left: i64 = rusqlite::Connection::open(place.path().join("loop.db"))
        .unwrap()
        .query_row("select (select count(*) from event) + (select count(*) from snapshot)", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(left, 0);
}

#[test]
fn a_backup_opens_as_a_home() {
    let place = place();
    let mut journal = Journal::open(&place.home, RUN).unwrap().journal;
    fill(&place.home, &mut journal, 3);
    let restored = place.folder.path().join("restored");
    std::fs::create_dir(&restored).unwrap();
    place.home.backup(&restored.join("loop.db")).unwrap();
    assert!(place.home.backup(&restored.join("loop.db")).is_err(), "a backup never overwrites");
    let home = Home::open(&restored).unwrap();
    assert_eq!(home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 3 });
    fill(&home, &mut Journal::open(&home, RUN).unwrap().journal, 1);
    assert!(restored.join("loop.db-wal").exists());
}
