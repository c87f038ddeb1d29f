//! G27: what a run was opened with is part of its chain. Whoever edits it has to write every event anew,
//! and what they are compared with elsewhere.

use super::versions::{held, tdd};
use super::*;
use crate::chain::Hash;
use crate::journal::seal;
use crate::run::Run;
use loop_base::time::Timestamp;
use loop_core::engine::Event;
use std::rc::Rc;

const FORGED: &str = "update definition set body = replace(body, 'RED', 'ROT')";

/// Seals the run anew, as anybody can who has read how that is done.
fn seal_again(home: &Path) {
    let database = rusqlite::Connection::open(home.join("loop.db")).unwrap();
    let head: Hash = database.query_row("select hash from snapshot", [], |row| row.get(0)).unwrap();
    let opening = seal::opening(&database, RUN, 1).unwrap();
    database.execute("update snapshot set seal = ?1", [seal::seal(&head, &opening)]).unwrap();
}

#[track_caller]
fn is_found(home: &Home, what: &str) {
    let Ok(JournalVerdict::Broken { .. }) = home.verify(RUN) else { panic!("{what}: verified") };
    let read = home.snapshot(RUN).map(|_| ()).unwrap_err();
    assert_eq!(read.exit_code(), 8, "{what}: {read}");
    let opened = Journal::open(home, RUN).map(|_| ()).unwrap_err();
    assert_eq!(opened.exit_code(), 8, "{what}: {opened}");
}

#[test]
fn g27_a_forged_workflow_with_a_seal_of_its_own_is_found() {
    for (what, sql) in [
        ("a workflow", FORGED),
        ("an input", "update run set input = 'something else'"),
        (
            "a workflow that was never reloaded",
            "insert into earlier_definition select run, 3, body, version from definition;
             update definition set body = replace(body, 'RED', 'ROT')",
        ),
    ] {
        let (place, home, _) = held();
        tamper(&place.path(), sql);
        seal_again(&place.path());
        is_found(&home, what);
    }
}

#[test]
fn g27_a_run_that_was_always_sealed_cannot_be_called_one_from_before() {
    let (place, home, _) = held();
    tamper(
        &place.path(),
        &format!("{FORGED}; update snapshot set seal = null; insert into unsealed select key from run"),
    );
    is_found(&home, "a run on the list of those from before");
}

#[test]
fn g27_a_workflow_that_was_forged_after_a_reload_is_found() {
    let (place, home, _) = held();
    let mut run = Run::open(Rc::clone(&home), RUN, Timestamp(20)).unwrap();
    let mut workflow = tdd();
    workflow.limits.window = None;
    run.take_workflow(workflow);
    let definition = Some(run.definition_hash());
    run.record(Timestamp(21), Event::Reloaded { keys: vec!["limits.window".into()], definition });
    run.commit().unwrap();
    drop(run);
    assert_eq!(home.verify(RUN).unwrap(), JournalVerdict::Whole { events: 6 });
    tamper(&place.path(), FORGED);
    seal_again(&place.path());
    is_found(&home, "a workflow after a reload");
}

#[test]
fn g27_an_older_copy_is_found_by_readers_too() {
    let (place, home, _) = held();
    let copy = place.folder.path().join("copy.db");
    home.backup(&copy).unwrap();
    let mut run = Run::open(Rc::clone(&home), RUN, Timestamp(20)).unwrap();
    run.record(Timestamp(21), Event::Noted { text: "later".into() });
    run.commit().unwrap();
    drop(run);
    let path = place.path();
    drop((home, place.home));
    for extension in ["db-wal", "db-shm"] {
        let _may_not_exist = std::fs::remove_file(path.join("loop.db").with_extension(extension));
    }
    std::fs::copy(&copy, path.join("loop.db")).unwrap();
    is_found(&Home::open(&path).unwrap(), "an older copy");
}

#[test]
fn g28_what_would_act_by_itself_is_named_and_never_acts() {
    let (place, home, _) = held();
    let mut run = Run::open(Rc::clone(&home), RUN, Timestamp(20)).unwrap();
    let trigger = "create trigger helper after insert on event begin \
                   insert into command(run, at, body) values(new.run, 1, '{}'); end";
    tamper(&place.path(), trigger);
    run.record(Timestamp(21), Event::Noted { text: "more".into() });
    run.commit().unwrap();
    let sql = "select count(*) from command";
    let left: i64 = home.read(|it| Ok(it.query_row(sql, [], |row| row.get(0))?)).unwrap();
    assert_eq!(left, 0, "it acted");
    for (kind, name, undo) in
        [("trigger", "helper", "drop trigger helper; create view helper as select 1"), ("view", "helper", "")]
    {
        let error = Home::open(&place.path()).map(|_| ()).unwrap_err();
        assert_eq!(error.exit_code(), 8, "{error}");
        assert!(error.to_string().contains(&format!("{kind} \"{name}\"")), "{error}");
        tamper(&place.path(), undo);
    }
}

#[test]
fn g27_tables_that_are_not_as_we_make_them_are_named() {
    for sql in [
        "create table more(x)",
        "drop index run_by_status",
        "create unique index one on command(run)",
        "alter table plan rename column warning to warnung",
    ] {
        let place = place();
        assert_eq!(place.home.faults().unwrap(), [] as [String; 0]);
        tamper(&place.path(), sql);
        let faults = place.home.faults().unwrap();
        assert!(faults.iter().any(|it| it.contains("is not as loop makes it")), "{sql}: {faults:?}");
    }
}
