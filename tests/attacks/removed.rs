//! What an agent removes while its call is under way, and what is removed from a history: folders, the home,
//! claims, events, refs, and lines of the list. No call is started twice, and every reader names the damage.

use crate::scene::{BUILD, BUILT, Scene, users};
use rusqlite::Connection;

/// What the first call removes, and what is said about it.
const REMOVED: [(&str, &str, &str); 3] = [
    ("the folders of the runs", "rm -rf \"$ROOT\"/home/runs/*", "was removed while it was in use"),
    ("all of runs/", "rm -rf \"$ROOT/home/runs\"", "was removed while it was in use"),
    ("the whole home", "rm -rf \"$ROOT/home\"", "was deleted while it was in use; it was written again"),
];

#[test]
fn g06_a_call_whose_files_were_removed_is_lost_and_never_started_again() {
    for user in users("g06_a_call_whose_files_were_removed") {
        for (name, deed, cause) in REMOVED {
            let scene = Scene::new(user);
            scene.workflow(BUILD);
            let agent = scene.plays(&format!("if [ \"$LOOP_CALL\" = 1 ]; then {deed}; fi\n{BUILT}"));
            let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(8);
            assert!(done.err.contains(cause), "{user:?}, {name}: {done:?}");
            assert_eq!(done.err.lines().last(), Some("next: loop run"), "{user:?}, {name}: {done:?}");
            let again = scene.act(&["run"]);
            assert_eq!(scene.calls(), [1, 2], "{user:?}, {name}");
            let log = scene.act(&["log"]).exits(0).out;
            assert!(log.contains("the run's folder was removed during the call"), "{user:?}, {name}: {log}");
            match again.code {
                3 => scene.gate_is_open(name),
                // What was kept of the beginning is gone with the home, so nothing can be proven against it.
                8 => {
                    assert!(
                        again.err.contains("so the start of this run is unknown"),
                        "{user:?}, {name}: {again:?}"
                    );
                    assert_eq!(
                        again.err.lines().last(),
                        Some("help: start over with loop run --fresh and what to build"),
                        "{user:?}, {name}"
                    );
                    let honest = scene.plays(BUILT);
                    scene
                        .act(&["run", "a bridge", "--fresh", "--agent-cmd", &honest])
                        .exits(4)
                        .says("nothing to do");
                }
                _ => panic!("{user:?}, {name}: {again:?}"),
            }
        }
    }
}

/// Without its claim, its records and its controller, a call is still not taken for one that never started.
#[test]
fn g10_a_call_without_its_claim_is_collected() {
    for (user, killed, removed) in users("g10_a_call_without_its_claim")
        .into_iter()
        .flat_map(|it| ["$controller", "$controller $shim"].map(|killed| (it, killed)))
        .flat_map(|(it, killed)| {
            ["rm call-1.out", "rm call-* calls.log shim-*", "rm call-*; : > calls.log"]
                .map(|removed| (it, killed, removed))
        })
    {
        let scene = Scene::new(user);
        scene.workflow(BUILD);
        let shim = "shim=$PPID; controller=$(awk '/^PPid/ { print $2 }' /proc/$shim/status)";
        let agent = scene.plays(&format!(
            "if [ \"$LOOP_CALL\" = 1 ]; then folder=$(echo \"$ROOT\"/home/runs/*); {shim}; kill -9 {killed}; (cd \"$folder\" && {removed}); fi\n{BUILT}"
        ));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]);
        scene.act(&["run"]);
        let calls = scene.calls();
        assert_eq!(calls.iter().filter(|it| **it == 1).count(), 1, "{user:?}: {calls:?}");
        let log = scene.act(&["log"]).exits(0).out;
        assert!(!log.contains("was never started"), "{user:?}: {log}");
    }
}

fn change(scene: &Scene, sql: &str) {
    let database = Connection::open(scene.home.join("loop.db")).expect("a database");
    database.execute_batch(sql).expect("a change");
    drop(database);
    scene.give();
}

/// A list shows nothing that the journal contradicts, and hides no run that waits.
#[test]
fn g27_no_list_is_believed_against_the_journal() {
    for user in users("g27_no_list_is_believed") {
        let scene = Scene::new(user);
        scene.waits(BUILD);
        let short = scene.stands()["run"].as_str().expect("an id")[..8].to_owned();
        for (sql, back) in [
            (
                "update run set status = 'completed', verified = 1",
                "update run set status = 'waiting', verified = 0",
            ),
            ("update run set calls_total = calls_total + 7", "update run set calls_total = calls_total - 7"),
        ] {
            change(&scene, sql);
            let runs = scene.act(&["runs"]).exits(8);
            assert!(runs.out.contains(&format!("{short}  gated        damaged")), "{sql}: {runs:?}");
            assert!(runs.err.contains(&format!("run {short} is damaged: the list says")), "{sql}: {runs:?}");
            assert!(runs.err.ends_with(&format!("next: loop verify --run {short}\n")), "{sql}: {runs:?}");
            let listed: serde_json::Value =
                serde_json::from_str(&scene.act(&["runs", "--json"]).exits(8).out).expect("a list");
            assert_eq!(
                (&listed[0]["status"], &listed[0]["verified"]),
                (&().into(), &false.into()),
                "{listed}"
            );
            let doctor = scene.act(&["doctor"]).exits(0);
            let line = format!("problem  run         {short} is damaged: the list says");
            assert!(doctor.out.contains(&line), "{sql}: {doctor:?}");
            scene.act(&["verify"]).exits(8);
            change(&scene, back);
        }
        change(&scene, "update run set status = 'completed', verified = 1");
        scene.act(&["answer"]).exits(8);
        scene.act(&["approve"]).exits(8);
        scene.act(&["run"]).exits(8);
        change(&scene, "update run set status = 'waiting', verified = 0");
        scene.act(&["runs"]).exits(0);
        scene.gate_is_open("when the list is as it was");
    }
}

#[test]
fn g27_a_deleted_event_and_a_deleted_ref_are_named() {
    for user in users("g27_a_deleted_event") {
        let scene = Scene::new(user);
        scene.waits(BUILD);
        let id = scene.stands()["run"].as_str().expect("an id").to_owned();
        let deleted = format!("refs/loop/journal/{id} was deleted");
        scene.script(&format!("git update-ref -d refs/loop/journal/{id}")).exits(0);
        let status = scene.act(&["status"]).exits(0);
        assert!(status.err.contains(&deleted), "{user:?}: {status:?}");
        let verify = scene.act(&["verify"]).exits(8);
        assert!(verify.err.contains(&deleted), "{user:?}: {verify:?}");
        // Whoever continues says so in the log, and keeps it again.
        scene.act(&["run"]).exits(3);
        assert!(scene.act(&["log"]).exits(0).out.contains(&deleted), "{user:?}");
        scene.act(&["verify"]).exits(0);
        // A history that was cut back together with the folder's note is told from the ref.
        let cut = "delete from event where seq = (select max(seq) from event)";
        change(&scene, cut);
        for words in [&["status"][..], &["runs"], &["verify"], &["run"]] {
            let done = scene.act(words);
            assert_eq!(done.code, 8, "{user:?}, {words:?}: {done:?}");
        }
    }
}

/// A run that somebody deleted from the list is not begun again as if it had never been, and a changed event
/// in the middle is named by whoever reads or continues the run.
#[test]
fn g27_a_deleted_row_and_a_changed_event_are_named_by_run_and_status() {
    for user in users("g27_a_deleted_row") {
        let scene = Scene::new(user);
        scene.waits(BUILD);
        let middle = "(select max(seq) / 2 from event)";
        change(&scene, &format!("update event set at = at + 1 where seq = {middle}"));
        for words in [&["status"][..], &["run"], &["verify"], &["approve"], &["answer"], &["guide", "x"]] {
            let done = scene.act(words).exits(8);
            assert!(done.err.contains(" event "), "{user:?}, {words:?}: {done:?}");
        }
        change(&scene, &format!("update event set at = at - 1 where seq = {middle}"));
        scene.act(&["status"]).exits(0);
        let agent = scene.plays(BUILT);
        change(&scene, "delete from run");
        for input in ["a bridge", "another bridge"] {
            let done = scene.act(&["run", input, "--agent-cmd", &agent]).exits(8);
            assert!(done.err.contains("is missing, but its folder"), "{user:?}, {input}: {done:?}");
        }
        assert_eq!(scene.calls(), [1], "{user:?}");
    }
}

/// The same where an older run of the same words is there and was completed: it is not called done again while
/// the gate of the newer one was never passed.
#[test]
fn g27_a_deleted_row_is_missed_although_an_older_run_was_completed() {
    for user in users("g27_a_deleted_row_is_missed") {
        let scene = Scene::new(user);
        scene.waits(BUILD);
        scene.act(&["approve"]).exits(0);
        scene.act(&["run"]).exits(0);
        let done = scene.script("git rm -q built && git commit -q -m gone");
        assert_eq!(done.code, 0, "{}", done.err);
        let agent = scene.plays(BUILT);
        let again = ["run", "a bridge", "--agent-cmd", &agent];
        scene.act(&again).exits(3);
        change(&scene, "delete from run where status = 'waiting'");
        for words in [&again[..], &["resume"], &["status"], &["runs"], &["wait"], &["verify"]] {
            let done = scene.act(words).exits(8);
            assert!(done.err.contains("is missing, but its folder exists"), "{user:?}, {words:?}: {done:?}");
        }
        // The command that it proposes gives the run up, and everything continues.
        let done = scene.act(&["status"]);
        let (_, proposed) = done.err.trim().split_once("give the run up: ").expect("a command");
        assert_eq!(scene.script(proposed).code, 0, "{proposed}");
        scene.act(&["status"]).exits(0);
        scene.act(&again).exits(0);
    }
}

/// The same where the row is there and a column of it is another: no list and no search finds it by that.
#[test]
fn g27_a_run_that_a_column_hides_is_missed() {
    for user in users("g27_a_run_that_a_column_hides") {
        let scene = Scene::new(user);
        scene.waits(BUILD);
        let agent = scene.plays(BUILT);
        let again = ["run", "a bridge", "--agent-cmd", &agent];
        let hide = |column: &str| format!("update run set {column} = '/x' where status = 'waiting'");
        let back = |column: &str, value: &str| {
            change(&scene, &format!("update run set {column} = '{value}' where status = 'waiting'"));
        };
        let project = scene.project.display().to_string();
        let damaged = |words: &[&str]| {
            let done = scene.act(words).exits(8);
            let why = "the workflow or the opening of the run was changed after it was recorded";
            assert!(done.err.contains(why), "{user:?}, {words:?}: {done:?}");
        };
        for (column, value) in [("project", &*project), ("workflow", "gated"), ("input", "a bridge")] {
            change(&scene, &hide(column));
            [&again[..], &["status"], &["wait"]].into_iter().for_each(damaged);
            back(column, value);
        }
        scene.act(&["approve"]).exits(0);
        scene.act(&["run"]).exits(0);
        scene.script("git rm -q built && git commit -q -m gone").exits(0);
        scene.act(&again).exits(3);
        for (column, value) in [("project", &*project), ("workflow", "gated"), ("input", "a bridge")] {
            change(&scene, &hide(column));
            [&again[..], &["status"], &["wait"]].into_iter().for_each(damaged);
            back(column, value);
        }
        scene.gate_is_open("when the list is as it was");
    }
}

/// A question shows the last attempts, and says how many there were.
#[test]
fn g28_a_question_tells_how_often_an_agent_tried() {
    for user in users("g28_a_question_tells") {
        let scene = Scene::new(user);
        scene.workflow(BUILD);
        let tries = "for it in approve 'queue add x' 'queue set x' 'reject no' pause 'runs --prune --yes' stop stop; do \
                     \"$LOOP\" $it; done > /dev/null 2>&1";
        let agent = scene.plays(&format!("{tries}\n{BUILT}"));
        let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
        let said = format!("{}{}", done.out, scene.act(&["status"]).exits(0).out);
        assert!(
            said.contains("8 commands refused inside agent calls; all of them: loop log"),
            "{user:?}: {said}"
        );
        let log = scene.act(&["log"]).exits(0).out;
        for tried in ["approve", "queue add", "queue set", "reject", "pause", "runs --prune", "stop"] {
            let line = format!("refused inside an agent call: loop {tried}\n");
            assert!(log.contains(&line), "{user:?}, {tried}: {log}");
        }
    }
}
