//! Every column of every table, changed by hand: whoever reads the run afterwards either says what it said
//! before, or names the damage, exits with 8 and says what to do. Nobody shows the words of a parser, and
//! nothing falls over.

use crate::scene::{BUILD, Scene, users};
use rusqlite::Connection;
use std::path::Path;

/// Tables for people, for other runs or for the machine, which no decision about a run follows from. What
/// waits in `command` is a request, and who is in `unsealed` is asked only where a chain names no opening.
const CACHES: [&str; 10] =
    ["call", "spend", "hold", "plan", "reservation", "slot", "job", "job_edge", "queue", "command"];

/// The same of single columns. An epoch may be ahead of the journal, never behind; a snapshot of another
/// version is folded again from the events.
const CACHED: [&str; 7] = [
    "run.reason",
    "run.next_step",
    "run.owner",
    "run.epoch",
    "snapshot.version",
    "question.asked_at",
    "unsealed.run",
];

/// Fills the tables that this run leaves empty.
const FILL: &str = "insert into hold values('someone', 1, 'a reason', 1);
     insert into plan values('someone', 'a warning', 1, 1);
     insert into reservation values('11111111-1111-4111-8111-111111111111', 1, 1, '2026-01-01', 1, 1);
     insert into slot(account, run, call, holder, at) values('someone', 'a run', 1, 'a process', 1);
     insert into unsealed values(77);
     insert into job_edge values(1, 1);";

fn database(scene: &Scene) -> Connection {
    Connection::open(scene.home.join("loop.db")).expect("a database")
}

/// Every column of every table, with its type. A table without rows would not be tried.
fn columns(database: &Connection) -> Vec<(String, String, String)> {
    let tables = "select m.name, c.name, c.type from sqlite_master m, pragma_table_info(m.name) c
                  where m.type = 'table' and m.name not like 'sqlite%'";
    let mut query = database.prepare(tables).expect("a query");
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("columns");
    let all: Vec<(String, String, String)> = rows.map(|it| it.expect("a column")).collect();
    for (table, _, _) in &all {
        let count = format!("select count(*) from {table}");
        let rows: i64 = database.query_row(&count, [], |row| row.get(0)).expect("a number");
        assert!(0 < rows, "{table} has no rows");
    }
    all
}

/// A run that was reloaded once and waits at its gate, beside a queue and a word that nobody has taken.
fn waiting(scene: &Scene) -> String {
    scene.waits(BUILD);
    scene.workflow(&BUILD.replace("no_progress = 9", "no_progress = 8"));
    scene.act(&["run", "--reload"]).exits(3);
    scene.act(&["queue", "add", "A system", "--domain", "core"]).exits(0);
    scene.act(&["queue", "list"]).exits(0);
    scene.act(&["guide", "be quick"]).exits(0);
    database(scene).execute_batch(FILL).expect("rows");
    scene.act(&["verify"]).exits(0);
    let backup = scene.path("backup.db").display().to_string();
    scene.act(&["verify", "--backup", &backup]).exits(0);
    backup
}

fn put_back(scene: &Scene, backup: &str) {
    for extension in ["", "-wal", "-shm"] {
        let _may_not_exist = std::fs::remove_file(scene.home.join(format!("loop.db{extension}")));
    }
    std::fs::copy(Path::new(backup), scene.home.join("loop.db")).expect("put back");
    scene.give();
}

#[test]
fn g27_every_column_is_compared_or_listed_as_a_cache() {
    for user in users("g27_every_column") {
        let scene = Scene::new(user);
        let backup = waiting(&scene);
        let columns = columns(&database(&scene));
        assert!(90 < columns.len(), "{}", columns.len());
        let readers: &[&[&str]] = match user {
            crate::scene::User::Self_ => &[&["verify"], &["status"], &["log"], &["runs"], &["answer"]],
            // It is the same program; a column that only another user misses would be found by these.
            crate::scene::User::Ordinary => &[&["verify"], &["status"]],
        };
        let mut unseen = Vec::new();
        for (table, column, kind) in &columns {
            put_back(&scene, &backup);
            let value = match kind.as_str() {
                "TEXT" => "'x'",
                "INTEGER" => "77",
                _ => "x'00'",
            };
            // A column that may not hold this is as good as compared.
            if database(&scene).execute(&format!("update {table} set {column} = {value}"), []).is_err() {
                continue;
            }
            let name = format!("{table}.{column}");
            let mut is_found = false;
            for words in readers {
                let done = scene.act(words);
                let said = format!("{}{}", done.out, done.err);
                assert!(matches!(done.code, 0 | 2 | 8), "{user:?}, {name}, {words:?}: {} {said}", done.code);
                for raw in ["panicked", "line 1 column", "Conversion error", "invalid type"] {
                    assert!(!said.contains(raw), "{user:?}, {name}, {words:?}: {said}");
                }
                is_found |= done.code != 0;
            }
            if !is_found && !CACHES.contains(&table.as_str()) && !CACHED.contains(&name.as_str()) {
                unseen.push(name);
            }
        }
        assert_eq!(unseen, Vec::<String>::new(), "{user:?}: changed, and nobody noticed");
    }
}
