//! What stands in the database beside the journal: whoever edits it by hand is found, and no decision
//! is taken by it.

use loop_harness::{COMMIT, PROMISE, Sandbox};
use rusqlite::Connection;

/// A run whose check failed once, and that could go on.
fn capped() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo x > work; {COMMIT}; {PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=false", "-n", "1"]).exits(6);
    sandbox.run(&["verify"]).exits(0).says("is whole");
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
    ] {
        let (sandbox, agent) = capped();
        edit(&sandbox, sql);
        sandbox.run(&["verify"]).exits(8).says("event");
        let run = sandbox.run(&["runs", "--json"]).exits(0).out;
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
    for (sql, says) in [
        ("update run set status = 'completed', verified = 1", "status"),
        ("update run set verified = 1", "verified"),
        ("update run set calls_total = 99", "calls"),
    ] {
        let (sandbox, _) = capped();
        edit(&sandbox, sql);
        sandbox.run(&["verify"]).exits(8).says("the list says").says(says);
        let status = sandbox.status();
        assert_eq!((status["status"].as_str(), status["verified"].as_bool()), (Some("capped"), Some(false)));
        let run = status["run"].as_str().expect("an id");
        sandbox.run(&["resume", "--run", run]).exits(6);
    }
}
