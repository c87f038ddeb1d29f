//! Attacks on the database by an agent call, as rows: what it writes there, and what must come of it. The
//! gate is passed by none of them, and none of them stays unseen.

use crate::scene::{BUILD, BUILT, Scene, users};
use rusqlite::Connection;

/// What happens to the run that was attacked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comes {
    /// Whoever reads the run names the damage.
    Named,
    /// The same, or the gate asks as if nothing had been: whoever drives the run has its own copy.
    NamedOrAsked,
}

struct Attack {
    name: &'static str,
    sql: &'static str,
    comes: Comes,
}

const fn attack(name: &'static str, sql: &'static str, comes: Comes) -> Attack {
    Attack { name, sql, comes }
}

/// An approval, as the inbox would hold it.
macro_rules! approval {
    () => {
        "'{\"answer\":{\"question\":1,\"choice\":\"approve\",\"by\":\"boss\"}}'"
    };
}

const ATTACKS: [Attack; 12] = [
    attack(
        "a trigger that approves when the question is written down",
        concat!(
            "create trigger helper after insert on question begin insert into command(run, at, body) values(new.run, 1, ",
            approval!(),
            "); end"
        ),
        Comes::Named,
    ),
    attack(
        "a trigger on every event",
        concat!(
            "create trigger helper after insert on event begin insert into command(run, at, body) values(new.run, 1, ",
            approval!(),
            "); end"
        ),
        Comes::Named,
    ),
    attack(
        "a view in place of the inbox",
        concat!(
            "alter table command rename to kept; create view command as select 1 id, 1 run, 1 at, ",
            approval!(),
            " body, null taken_seq"
        ),
        Comes::Named,
    ),
    attack(
        "an approval before the question",
        concat!("insert into command(run, at, body) select key, 1, ", approval!(), " from run"),
        Comes::NamedOrAsked,
    ),
    attack(
        "a workflow without the gate, and no seal",
        "update definition set body = replace(body, '{\"gate\":\"review\",\"when\":null}', ''); \
         update snapshot set seal = null; insert or ignore into unsealed select key from run",
        Comes::Named,
    ),
    attack(
        "a check that is always green",
        "update definition set body = replace(body, 'test -f built', 'true')",
        Comes::Named,
    ),
    attack(
        "completed in the list",
        "update run set status = 'completed', verified = 1, exit = 0",
        Comes::NamedOrAsked,
    ),
    attack("a table of its own", "create table more(x)", Comes::NamedOrAsked),
    attack("an index that refuses words", "create unique index one on command(run)", Comes::NamedOrAsked),
    attack(
        "a column that was renamed",
        "alter table plan rename column warning to warnung",
        Comes::NamedOrAsked,
    ),
    attack("the events of the opening", "update event set body = '{}' where seq < 3", Comes::Named),
    attack("no snapshot", "delete from snapshot", Comes::NamedOrAsked),
];

#[test]
fn g28_what_an_agent_writes_into_the_database_passes_no_gate_and_is_found() {
    for user in users("g28_what_an_agent_writes_into_the_database") {
        for Attack { name, sql, comes } in &ATTACKS {
            let scene = Scene::new(user);
            scene.workflow(BUILD);
            scene.file("sql", sql);
            let agent = scene.plays(&format!(
                "python3 -c 'import sqlite3, sys; it = sqlite3.connect(sys.argv[1], timeout=20); \
                 it.executescript(open(sys.argv[2]).read()); it.commit()' \"$ROOT/home/loop.db\" \"$ROOT/sql\" || exit 9\n{BUILT}"
            ));
            let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]);
            assert!(matches!(done.code, 3 | 8), "{user:?}, {name}: {done:?}");
            let status = scene.act(&["status", "--json"]);
            match comes {
                Comes::Named => assert_eq!(status.code, 8, "{user:?}, {name}: {status:?}"),
                Comes::NamedOrAsked if status.code == 8 => (),
                Comes::NamedOrAsked => scene.gate_is_open(name),
            }
            let approved = approvals(&scene);
            assert_eq!(approved, 0, "{user:?}, {name}: {done:?}");
        }
    }
}

/// How often the gate was passed, as the journal has it.
fn approvals(scene: &Scene) -> i64 {
    let database = Connection::open(scene.home.join("loop.db")).expect("a database");
    database
        .query_row("select count(*) from event where kind = 'approved'", [], |row| row.get(0))
        .expect("a number")
}

/// The same while the run waits and nobody drives it: each is named by `loop verify` and by `loop run`.
const AT_REST: [(&str, &str); 6] = [
    (
        "a workflow without the gate, and no seal",
        "update definition set body = replace(body, '{\"gate\":\"review\",\"when\":null}', ''); \
         update snapshot set seal = null; insert or ignore into unsealed select key from run",
    ),
    (
        "a check that is always green, and no seal",
        "update definition set body = replace(body, 'test -f built', 'true'); update snapshot set seal = null; \
         insert or ignore into unsealed select key from run",
    ),
    ("a trigger", "create trigger helper after update on run begin delete from question; end"),
    ("a view", "create view more as select 1"),
    (
        "another workflow from before",
        "insert into earlier_definition select run, 3, body, version from definition; \
         update definition set body = replace(body, 'test -f built', 'true')",
    ),
    ("the state", "update snapshot set state = replace(state, 'waiting', 'leaving')"),
];

#[test]
fn g27_what_was_changed_while_a_run_waited_is_named() {
    for user in users("g27_what_was_changed_while_a_run_waited") {
        let scene = Scene::new(user);
        scene.waits(BUILD);
        let whole = scene.path("whole.db").display().to_string();
        scene.act(&["verify", "--backup", &whole]).exits(0);
        for (name, sql) in AT_REST {
            for extension in ["", "-wal", "-shm"] {
                let _may_not_exist = std::fs::remove_file(scene.home.join(format!("loop.db{extension}")));
            }
            std::fs::copy(&whole, scene.home.join("loop.db")).expect("put back");
            let database = Connection::open(scene.home.join("loop.db")).expect("a database");
            database.execute_batch(sql).expect("a change");
            drop(database);
            scene.give();
            for words in [&["verify"][..], &["status"], &["run"], &["approve"], &["answer"]] {
                let done = scene.act(words);
                assert_eq!(done.code, 8, "{user:?}, {name}, {words:?}: {done:?}");
            }
        }
    }
}

/// Who puts an older copy back goes back behind what a person decided: every reader sees that.
#[test]
fn g27_an_older_copy_of_the_home_is_named_by_readers() {
    for user in users("g27_an_older_copy_of_the_home") {
        let scene = Scene::new(user);
        scene.waits(BUILD);
        let older = scene.path("older.db").display().to_string();
        scene.act(&["verify", "--backup", &older]).exits(0);
        scene.act(&["reject", "no"]).exits(0);
        scene.act(&["run"]).exits(4);
        for extension in ["", "-wal", "-shm"] {
            let _may_not_exist = std::fs::remove_file(scene.home.join(format!("loop.db{extension}")));
        }
        std::fs::copy(&older, scene.home.join("loop.db")).expect("put back");
        scene.give();
        for words in [&["status"][..], &["verify"], &["run"], &["approve"], &["show"], &["answer"]] {
            let done = scene.act(words);
            assert_eq!(done.code, 8, "{user:?}, {words:?}: {done:?}");
        }
    }
}
