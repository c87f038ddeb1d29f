//! Every column of every table that holds something, changed by hand: whoever reads the run afterwards
//! either says what it said before, or names the damage, exits with 8 and says what to do. Nobody shows
//! the words of a parser, and nothing falls over.

use loop_harness::Sandbox;
use rusqlite::Connection;

const WORKFLOW: &str = "name = \"gated\"\n[checks.unit]\nrun = \"test -f built\"\n[[phase]]\nname = \"BUILD\"\n\
     prompt = \"Build it.\"\nreport = \"json\"\nchecks = [\"unit\"]\ngates = [\"review\"]\n\
     [gates.review]\nask = \"is it good?\"\n";

const AGENT: &str = "touch built; git add -A; git commit -q -m built\n\
     echo '```json'; echo '{\"status\":\"done\"}'; echo '```'";

/// Columns for people or for other runs, which no decision about this run follows from. An epoch may be
/// ahead of the journal, never behind; a snapshot of another version is folded again from the events.
const CACHES: [&str; 21] = [
    "run.reason",
    "run.next_step",
    "run.owner",
    "run.epoch",
    "snapshot.version",
    "question.asked_at",
    "call.project",
    "call.at",
    "call.run",
    "call.seq",
    "spend.day",
    "spend.project",
    "spend.calls",
    "spend.tokens",
    "spend.micro_usd",
    "spend.input",
    "spend.cache_write",
    "spend.cache_read",
    "spend.output",
    "spend.unknown_calls",
    "spend.assumed_micro_usd",
];

fn open(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.home.join("loop.db")).expect("a database")
}

/// Every column of a table that has rows, with its type.
fn columns(database: &Connection) -> Vec<(String, String, String)> {
    let tables = "select m.name, c.name, c.type from sqlite_master m, pragma_table_info(m.name) c
                  where m.type = 'table' and m.name not like 'sqlite%'";
    let mut query = database.prepare(tables).expect("a query");
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("columns");
    let all: Vec<(String, String, String)> = rows.map(|it| it.expect("a column")).collect();
    let is_used = |table: &str| {
        let count = format!("select count(*) from {table}");
        database.query_row(&count, [], |row| row.get::<_, i64>(0)).is_ok_and(|it| 0 < it)
    };
    all.into_iter().filter(|it| is_used(&it.0)).collect()
}

#[test]
fn g27_every_column_is_compared_or_listed_as_a_cache() {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(AGENT);
    sandbox.run(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
    sandbox.run(&["verify"]).exits(0);
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    let backup = sandbox.root().join("backup.db").display().to_string();
    sandbox.run(&["verify", "--backup", &backup]).exits(0);
    let columns = columns(&open(&sandbox));
    assert!(40 < columns.len(), "{}", columns.len());
    let mut unseen = Vec::new();
    for (table, column, kind) in &columns {
        for extension in ["", "-wal", "-shm"] {
            let _may_not_exist = std::fs::remove_file(sandbox.home.join(format!("loop.db{extension}")));
        }
        std::fs::copy(&backup, sandbox.home.join("loop.db")).expect("put back");
        let value = match kind.as_str() {
            "TEXT" => "'x'",
            "INTEGER" => "77",
            _ => "x'00'",
        };
        // A column that may not hold this is as good as compared.
        if open(&sandbox).execute(&format!("update {table} set {column} = {value}"), []).is_err() {
            continue;
        }
        let name = format!("{table}.{column}");
        let mut found = false;
        for words in
            [&["verify", "--run", &run][..], &["status", "--run", &run], &["log", "--run", &run], &["runs"]]
        {
            let done = sandbox.run(words);
            let said = format!("{}{}", done.out, done.err);
            assert!(matches!(done.code, 0 | 2 | 8), "{name}, {words:?}: {} {said}", done.code);
            for raw in ["panicked", "line 1 column", "Conversion error", "invalid type"] {
                assert!(!said.contains(raw), "{name}, {words:?}: {said}");
            }
            found |= done.code != 0;
        }
        if !found {
            unseen.push(name);
        }
    }
    unseen.retain(|it| !CACHES.contains(&it.as_str()));
    assert_eq!(unseen, Vec::<String>::new(), "changed, and nobody noticed");
}
