//! What stands in the database beside the journal: whoever edits it by hand is found, and no decision
//! is taken by it.

use loop_harness::{COMMIT, PROMISE, Sandbox};
use rusqlite::Connection;

/// A run whose check failed once, and that could go on.
fn capped() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=false", "-n", "1"]).exits(6);
    sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
    (sandbox, agent)
}

fn edit(sandbox: &Sandbox, sql: &str) {
    let database = Connection::open(sandbox.home.join("loop.db")).expect("a database");
    database.execute_batch(sql).expect("an edit");
}

#[test]
fn g27_an_edited_workflow_or_opening_is_damage_wherever_it_is_read() {
    for sql in [
        "update definition set body = replace(body, 'false', 'true ')",
        "update run set input = 'build something else'",
        "update run set workflow = 'tdd'",
        "update run set opened_at = opened_at - 1",
        "insert into earlier_definition select run, 1, body, version from definition",
        "update snapshot set state = replace(state, 'capped', 'closed') || ' '",
        "delete from snapshot; update definition set body = replace(body, 'false', 'true ')",
    ] {
        let (sandbox, agent) = capped();
        edit(&sandbox, sql);
        sandbox.run(&["verify"]).exits(8).says("event");
        let run = sandbox.run(&["runs", "--json"]).exits(8).says("is damaged").out;
        let run = serde_json::from_str::<serde_json::Value>(&run).expect("a list")[0]["run"].clone();
        let run = run.as_str().expect("an id");
        for words in [&["status", "--run", run][..], &["show", "--run", run], &["resume", "--run", run]] {
            let done = sandbox.run(words).exits(8);
            assert!(done.err.contains("damaged") && done.err.contains("loop verify"), "{sql}: {}", done.err);
        }
        assert_eq!(sandbox.calls(), [1], "{sql}: {agent}");
    }
}

#[test]
fn g27_the_list_decides_nothing_and_is_compared() {
    for (sql, says, is_followed) in [
        ("update run set status = 'completed', verified = 1", "status", true),
        ("update run set verified = 1", "verified", true),
        ("update run set place = '/tmp'", "place", true),
        ("update run set calls_total = 99", "calls", false),
    ] {
        let (sandbox, _) = capped();
        let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
        edit(&sandbox, sql);
        sandbox.run(&["verify", "--run", &run]).exits(8).says("the list says").says(says);
        // Where somebody could follow the column, it is damage to whoever reads the run.
        if is_followed {
            sandbox.run(&["status", "--run", &run]).exits(8).says("the list says");
            sandbox.run(&["resume", "--run", &run]).exits(8).says("the list says");
        } else {
            assert_eq!(sandbox.status()["status"], "capped");
            sandbox.run(&["resume", "--run", &run]).exits(6);
        }
    }
}

/// Whoever takes the seal away, or puts back an older home, is found by what is kept elsewhere.
#[test]
fn g27_a_missing_seal_and_an_older_copy_of_the_home_are_damage() {
    let (sandbox, _) = capped();
    edit(&sandbox, "update snapshot set seal = null");
    sandbox.run(&["verify"]).exits(8).says("was changed after it was recorded");

    let (sandbox, agent) = capped();
    let older = sandbox.root().join("older.db").display().to_string();
    sandbox.run(&["verify", "--backup", &older]).exits(0);
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "-n", "2"]).exits(6);
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    for extension in ["", "-wal", "-shm"] {
        let _may_not_exist = std::fs::remove_file(sandbox.home.join(format!("loop.db{extension}")));
    }
    std::fs::copy(&older, sandbox.home.join("loop.db")).expect("put back");
    // The anchor in the home is put back as well; the repository remembers.
    std::fs::remove_file(sandbox.home.join("runs").join(&run).join("head")).expect("the anchor");
    sandbox.run(&["verify"]).exits(8).says("refs/loop/journal");
    sandbox.run(&["run", "build it", "-n", "3"]).exits(8).says("refs/loop/journal");
}
