//! Tests of the store on real files, real locks and real processes.

mod crash;
mod damage;
mod lists;
mod locks;
mod measure;
mod opening;
mod queue;
mod tamper;
mod versions;
mod write;

use super::holder::Holder;
use super::*;
use crate::accounts::ledger::WindowCalls;
use loop_core::engine::STATE_VERSION;
pub(super) use loop_core::engine::Status;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) const RUN: &str = "11111111-1111-4111-8111-111111111111";
pub(super) const OTHER: &str = "22222222-2222-4222-8222-222222222222";

/// A home in a folder of its own, removed at the end.
pub(super) struct StorePlace {
    pub folder: tempfile::TempDir,
    pub home: Home,
}

pub(super) fn place() -> StorePlace {
    place_in(fast_folder())
}

/// A folder in memory where there is one: a kill and a lock are the same there, and a sync is free.
pub(super) fn fast_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub(super) fn place_in(folder: tempfile::TempDir) -> StorePlace {
    let home = Home::open(&folder.path().join("home")).unwrap();
    create(&home, RUN);
    StorePlace { folder, home }
}

impl StorePlace {
    pub(super) fn path(&self) -> PathBuf {
        self.home.path().to_path_buf()
    }
}

pub(super) fn create(home: &Home, id: &str) {
    home.create_run(&NewRun {
        id,
        project: "/srv/shop",
        workflow: "tdd",
        input: "docs/orders.md",
        status: Status::Ready,
        place: "/srv/shop",
        definition: "{\"name\":\"tdd\"}",
        at: 1_000,
    })
    .unwrap();
}

pub(super) fn row(status: Status) -> RowUpdate {
    RowUpdate { status, place: "/srv/shop".into(), ..RowUpdate::default() }
}

pub(super) fn commit(state: &str) -> Commit<'_> {
    Commit {
        at: 2_000,
        state,
        row: row(Status::Running),
        taken: &[],
        questions: &[],
        call_at: None,
        spend: None,
        settles: None,
        definition: None,
        reloaded_at: None,
    }
}

/// Commits `count` events one by one; the state names the last of them.
pub(super) fn fill(home: &Home, journal: &mut Journal, count: i64) {
    for _ in 0..count {
        let seq = journal.append(2_000, "judged", &format!("{{\"n\":{}}}", journal.seq() + 1));
        journal.commit(home, &commit(&format!("{{\"seq\":{seq}}}"))).unwrap();
    }
}

/// This test binary again, running one test as a process of its own.
pub(super) fn child(test: &str, home: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "--nocapture", "--test-threads=1", &format!("tests::{test}")])
        .env("STORE_TEST_HOME", home)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// The home that a child process was given; `None` when the test was not started as one.
pub(super) fn given_home() -> Option<PathBuf> {
    std::env::var_os("STORE_TEST_HOME").map(PathBuf::from)
}

/// The statement of somebody who edits the database by hand.
pub(super) fn tamper(home: &Path, sql: &str) {
    rusqlite::Connection::open(home.join("loop.db")).unwrap().execute_batch(sql).unwrap();
}
