//! A database that is damaged, newer, foreign or locked: refused by name, and never touched.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};
use rusqlite::Connection;

fn capped() -> Sandbox {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("date +%N > work; {COMMIT}; {PROMISE}"));
    sandbox
        .run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=cat work; exit 1", "-n", "1"])
        .exits(6);
    sandbox
}

fn database(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.home.join("loop.db")).expect("a database")
}

fn assert_refused(sandbox: &Sandbox, word: &str) {
    let before = std::fs::read(sandbox.home.join("loop.db")).expect("a file");
    for command in [
        &["status"][..],
        &["run"],
        &["run", "other", "--agent-cmd", "true", "--check", "tests=true"],
        &["resume"],
        &["cancel"],
        &["runs"],
    ] {
        let done = sandbox.run(command).exits(8);
        assert!(done.err.contains("loop.db") && done.err.contains(word), "{command:?}: {}", done.err);
    }
    assert!(before == std::fs::read(sandbox.home.join("loop.db")).expect("a file"), "it was touched");
    assert_eq!(sandbox.calls(), [1]);
}

#[test]
fn g08_a_newer_database_is_refused() {
    let sandbox = capped();
    database(&sandbox).pragma_update(None, "user_version", 4711).expect("a version");
    assert_refused(&sandbox, "later version");
}

/// What another version of loop left in a run is folded again or refused; the run goes on either way
/// that it can.
#[test]
fn g08_a_run_of_another_version_is_folded_again_or_refused() {
    let sandbox = capped();
    let before = sandbox.status();
    let set = |sql: &str| database(&sandbox).execute_batch(sql).expect("a statement");
    set("update snapshot set version = 1");
    assert_eq!(sandbox.status(), before);
    sandbox.run(&["resume", "-n", "2"]).exits(6);
    assert_eq!(sandbox.calls(), [1, 2]);
    sandbox.run(&["verify"]).exits(0);
    set("update definition set version = 4711");
    for command in ["status", "resume"] {
        sandbox.run(&[command]).exits(8).says("another version of loop (format 4711");
    }
    assert_eq!(sandbox.calls(), [1, 2]);
}

#[test]
fn g08_a_foreign_database_is_refused() {
    let sandbox = capped();
    database(&sandbox).pragma_update(None, "application_id", 12345).expect("an id");
    assert_refused(&sandbox, "not a database of loop");
}

#[test]
fn g04_a_file_that_is_no_database_is_refused() {
    let sandbox = capped();
    for name in ["loop.db-wal", "loop.db-shm"] {
        let _may_be_absent = std::fs::remove_file(sandbox.home.join(name));
    }
    std::fs::write(
        sandbox.home.join("loop.db"),
        "this is a shopping list, not a database at all\n".repeat(200),
    )
    .expect("a file");
    assert_refused(&sandbox, "not a database of loop");
}

/// Wherever a page is damaged, nothing panics, nothing is called, and what is said has a code.
#[test]
fn g04_a_damaged_page_is_found_and_nothing_begins() {
    let sandbox = capped();
    database(&sandbox).pragma_update(None, "wal_checkpoint", "TRUNCATE").expect("a checkpoint");
    let whole = std::fs::read(sandbox.home.join("loop.db")).expect("a file");
    assert!(8192 < whole.len());
    let mut refused = 0;
    for offset in (100..whole.len()).step_by(whole.len() / 24) {
        let mut damaged = whole.clone();
        let end = (offset + 64).min(damaged.len());
        damaged[offset..end].iter_mut().for_each(|it| *it ^= 0xa5);
        for name in ["loop.db-wal", "loop.db-shm"] {
            let _may_be_absent = std::fs::remove_file(sandbox.home.join(name));
        }
        std::fs::write(sandbox.home.join("loop.db"), &damaged).expect("a file");
        for command in [&["status"][..], &["run"], &["verify"], &["log"]] {
            let done = sandbox.run(command);
            // A page that a command does not read does not trouble it.
            assert!(matches!(done.code, 0 | 2 | 6 | 8), "{command:?} at {offset}: {done:?}");
            refused += u32::from(done.code == 8);
        }
    }
    assert!(0 < refused);
    assert_eq!(sandbox.calls(), [1]);
}

/// What is written into a file without a name is lost, so the controller looks before each write.
#[test]
fn g04_a_database_that_is_deleted_during_a_call_is_noticed_and_written_again() {
    for victims in ["loop.db", "loop.db*"] {
        let sandbox = Sandbox::new();
        let gone = sandbox.home.join(victims);
        let agent = sandbox.agent(&format!("[ $LOOP_CALL != 1 ] || rm {}; {WORK}", gone.display()));
        let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(8);
        assert!(
            done.err.contains("loop.db was deleted while it was in use; it was written again from what this process had open\nnext: loop run\n"),
            "{}",
            done.err
        );
        assert_eq!(sandbox.status()["status"], "running");
        sandbox.run(&["run"]).exits(0).says("completed");
        assert_eq!(sandbox.calls(), [1], "the call was not lost, and not made twice");
        sandbox.run(&["verify"]).exits(0);
    }
}

#[test]
fn g04_a_database_that_is_replaced_during_a_call_is_left_alone() {
    let sandbox = Sandbox::new();
    let database = sandbox.home.join("loop.db");
    let database = database.display();
    let agent =
        sandbox.agent(&format!("cp {database} {database}.kept-x; mv {database}.kept-x {database}; {WORK}"));
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(8);
    let said = format!(
        "{database} was replaced while it was in use; its contents are in {database}.kept\nnext: loop verify\n"
    );
    assert!(done.err.contains(&said), "{}", done.err);
    let kept = std::fs::metadata(sandbox.home.join("loop.db.kept")).expect("a copy");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&kept.permissions()) & 0o777, 0o600);
}

#[test]
fn g27_a_changed_event_is_found() {
    let sandbox = capped();
    let id = sandbox.status()["run"].as_str().expect("an id").to_owned();
    sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
    let changed = database(&sandbox)
        .execute("update event set body = replace(body, 'exit 1', 'exit 0') where body like '%exit 1%'", [])
        .expect("a change");
    assert!(0 < changed);
    let done = sandbox.run(&["verify"]).exits(8);
    assert!(done.err.contains(&id[..8]), "{}", done.err);
}

/// Another program has it and does not let go.
#[test]
fn g07_a_locked_database_is_waited_for_and_then_named() {
    let sandbox = capped();
    let other = database(&sandbox);
    other.execute_batch("begin exclusive").expect("a lock");
    let done = sandbox.run(&["guide", "hello"]).exits(1);
    assert!(done.err.contains("locked"), "{}", done.err);
    other.execute_batch("rollback").expect("free again");
    sandbox.run(&["guide", "hello"]).exits(0);
}

/// Numbers that no program of ours has written: a cache counts as far as it can, and a request is refused.
#[test]
fn g27_numbers_that_are_too_large_stop_nothing() {
    let sandbox = capped();
    let set = |sql: &str| database(&sandbox).execute_batch(sql).expect("a statement");
    let most = i64::MAX;
    set(&format!("update spend set calls = {most}, unknown_calls = {most}, micro_usd = 1"));
    sandbox.run(&["resume", "-n", "2"]).exits(6);
    set(&format!("update run set epoch = {}", most - 100));
    sandbox.run(&["resume", "-n", "3"]).exits(6);
    assert_eq!(sandbox.calls(), [1, 2, 3]);
    let body = r#"{"resume":{"reset":false,"phase":7,"most":9}}"#;
    set(&format!("insert into command(run, at, body) values(1, 0, '{body}')"));
    sandbox.run(&["resume", "-n", "4"]).exits(6);
    sandbox.run(&["log"]).says("there is no phase 8");
    assert_eq!(sandbox.calls(), [1, 2, 3, 4]);
    sandbox.run(&["verify"]).exits(0);
}
