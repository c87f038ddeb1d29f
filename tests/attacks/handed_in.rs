//! What leaves the house is what was proven, or says that it is not: a workflow that an agent edited for the
//! next run, work that was changed after the run had judged it, and a `loop ship` after one that was killed.

use crate::scene::{BUILD, BUILT, Scene, users};
use loop_harness::{COMMIT, PROMISE, Sandbox, WORK};

#[test]
fn g29_an_agent_that_edits_the_workflow_is_named_at_the_gate_and_in_the_record() {
    for user in users("g29_an_agent_that_edits_the_workflow") {
        let scene = Scene::new(user);
        scene.workflow(BUILD);
        let agent = scene.plays(&format!(
            "sed -i '/^gates/d; s/test -f built/true/' .loop/workflow.toml; git add -f .loop; {BUILT}"
        ));
        let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
        let words = "the workflow file was changed while an agent worked: checks.unit.run, phase.BUILD.gates";
        let said = format!("{}{}", done.out, done.err);
        assert!(said.contains(&format!("warning: {words}")), "{user:?}: {said}");
        assert!(scene.act(&["answer"]).exits(0).out.contains(words), "{user:?}");
        assert!(scene.stands()["warnings"].to_string().contains(words), "{user:?}");
        scene.act(&["approve"]).exits(0);
        scene.act(&["run"]).exits(0);
        let record = scene.act(&["evidence", "--json"]).exits(0).out;
        assert!(record.contains(words), "{user:?}: {record}");
    }
}

/// Who edits it between two calls is a person, and is told so when the run continues.
#[test]
fn a_person_who_edits_the_workflow_between_calls_is_no_warning() {
    let scene = Scene::new(crate::scene::User::Self_);
    scene.workflow(BUILD);
    let agent = scene.plays(&format!("[ \"$LOOP_CALL\" = 1 ] && exit 0\n{BUILT}"));
    scene.act(&["run", "a bridge", "--agent-cmd", &agent, "-n", "1"]).exits(6);
    scene.workflow(&BUILD.replace("is it good?", "is it very good?"));
    scene.act(&["run", "-n", "3"]).exits(3);
    assert!(!scene.stands()["warnings"].to_string().contains("workflow file"), "{}", scene.stands());
}

/// A completed run that may be handed in, to a remote and a code host that keep what they are told.
fn completed() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.write(
        ".loop/workflow.toml",
        "extends = \"ralph\"\n[checks.tests]\nrun = \"test -f work\"\n[finish]\nship = \"offer\"\n",
    );
    sandbox.commit("a workflow");
    let remote = sandbox.path("remote.git").display().to_string();
    sandbox.git(&["init", "-q", "--bare", &remote]);
    sandbox.git(&["remote", "add", "origin", &remote]);
    sandbox.program(
        "bin/gh",
        "#!/bin/sh\ncase \"$2\" in list) cat \"$OUT/listed\" 2>/dev/null; true;; create) printf '%s\\n' \"$@\" >> \"$OUT/asked\"\n\
         if ln \"$OUT/address\" \"$OUT/open\" 2>/dev/null; then cat \"$OUT/address\"; else\n\
         echo 'a pull request for branch \"it\" already exists:' >&2; cat \"$OUT/address\" >&2; exit 1; fi;; esac\n",
    );
    std::fs::write(sandbox.note("address"), "https://example.org/a/b/pull/7\n").expect("a note");
    sandbox.path_first.push(sandbox.path("bin"));
    let agent = sandbox.agent(&format!("{WORK}{PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent]).exits(0);
    assert_eq!(sandbox.status()["verified"], true);
    sandbox
}

#[test]
fn g28_what_was_changed_after_the_proof_is_handed_in_as_unverified() {
    let sandbox = completed();
    sandbox.write("later", "by somebody");
    sandbox.commit("more");
    sandbox.write("uncommitted", "by somebody");
    let words = "changed after the work was proven: later, uncommitted";
    sandbox.run(&["ship", "--dry-run"]).exits(0).says(&format!("unverified: {words}"));
    let done = sandbox.run(&["ship"]).exits(0);
    assert!(done.err.contains(&format!("warning: {words}")), "{done:?}");
    let asked = sandbox.notes("asked").join("\n");
    assert!(asked.contains(&format!("unverified: {words}")), "{asked}");
    assert!(sandbox.git(&["log", "-1", "--format=%B"]).contains(words));
}

#[test]
fn what_was_not_changed_is_handed_in_as_it_was_proven() {
    let sandbox = completed();
    sandbox.run(&["ship"]).exits(0);
    assert!(!sandbox.notes("asked").join("\n").contains("unverified"), "{:?}", sandbox.notes("asked"));
}

/// What we hand in by ourselves is what was judged, and nothing that was added while nobody drove the run.
#[test]
fn g28_what_was_added_before_we_hand_in_is_not_handed_in_by_ourselves() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".loop/workflow.toml",
        "extends = \"ralph\"\n[checks.tests]\nrun = \"test -f work\"\n[finish]\nship = \"auto\"\n",
    );
    sandbox.commit("a workflow");
    let remote = sandbox.path("remote.git").display().to_string();
    sandbox.git(&["init", "-q", "--bare", &remote]);
    sandbox.git(&["remote", "add", "origin", &remote]);
    let (begun, go) = (sandbox.fifo("begun"), sandbox.fifo("go"));
    sandbox.program(
        "remote.git/hooks/pre-receive",
        "#!/bin/sh\necho x > \"$OUT/begun\"; read it < \"$OUT/go\"; exit 1\n",
    );
    let agent = sandbox.agent(&format!("{WORK}{PROMISE}"));
    let run = sandbox.spawn(&["run", "build it", "--agent-cmd", &agent]);
    begun.hear();
    run.kill();
    go.say();
    sandbox.write("late", "by somebody");
    let done = sandbox.run(&["run"]).exits(0);
    let said = format!("{}{}", done.out, done.err);
    assert!(said.contains("not shipped: changed after the work was proven: late"), "{said}");
    assert_eq!(sandbox.git(&["ls-remote", "--heads", "origin"]), "");
    assert!(sandbox.status()["delivered"].is_null());
    sandbox.assert_nothing_runs();
}

/// Who kills `loop ship` does not kill the git that it has started. The next one finds that its own push was
/// overtaken, and that what it wanted to push is there.
#[test]
fn en01_a_push_that_goes_on_after_its_ship_was_killed_is_no_obstacle() {
    let sandbox = completed();
    let (begun, go) = (sandbox.fifo("begun"), sandbox.fifo("go"));
    // The first push waits inside of the remote; the second one lets it pass first.
    sandbox.program(
        "remote.git/hooks/pre-receive",
        "#!/bin/sh\nif mkdir \"$OUT/first\" 2>/dev/null; then echo x > \"$OUT/begun\"; read it < \"$OUT/go\"; exit 0; fi\n\
         echo x > \"$OUT/go\"; while ! git for-each-ref refs/heads | grep -q .; do :; done\n",
    );
    let ship = sandbox.spawn(&["ship"]);
    begun.hear();
    ship.kill();
    let done = sandbox.run(&["ship"]).exits(0);
    assert!(done.out.contains("/pull/7"), "{done:?}");
    let there = sandbox.git(&["ls-remote", "--heads", "origin"]);
    assert!(there.starts_with(&sandbox.git(&["rev-parse", "HEAD"])), "{there}");
    drop((begun, go));
    sandbox.assert_nothing_runs();
}

/// What did not leave the house is no result, and whoever waits for a `loop ship` is told which process that is.
#[test]
fn en01_a_ship_that_failed_prints_no_result_and_one_beside_it_names_the_process() {
    let sandbox = completed();
    let (begun, go) = (sandbox.fifo("begun"), sandbox.fifo("go"));
    sandbox.program(
        "remote.git/hooks/pre-receive",
        "#!/bin/sh\necho x > \"$OUT/begun\"; read it < \"$OUT/go\"; exit 1\n",
    );
    let ship = sandbox.spawn(&["ship"]);
    begun.hear();
    let beside = sandbox.run(&["ship"]).exits(7);
    assert!(
        beside.err.contains(&format!("help: wait until process {} has ended", ship.pid().as_raw_nonzero())),
        "{beside:?}"
    );
    go.say();
    let failed = ship.wait().exits(1);
    assert_eq!(failed.out, "", "{failed:?}");
    assert!(failed.err.contains("committed on ") && failed.err.ends_with("next: loop ship\n"), "{failed:?}");
}

/// A code host may list late what it has; where it refuses a second request it names the first.
#[test]
fn en01_a_request_that_is_open_and_not_listed_yet_is_found() {
    let sandbox = completed();
    std::fs::hard_link(sandbox.note("address"), sandbox.note("open")).expect("a link");
    let done = sandbox.run(&["ship"]).exits(0);
    assert!(done.err.contains("a pull request is open already") && done.out.contains("/pull/7"), "{done:?}");
}

/// What a call says about a run that is not its own.
#[test]
fn g28_a_hidden_command_gives_no_call_a_hand_in_other_runs() {
    for user in users("g28_a_hidden_command") {
        let scene = Scene::new(user);
        scene.script("git init -q -b main \"$ROOT/stuck\" && cd \"$ROOT/stuck\" && git commit -q --allow-empty -m x").exits(0);
        let stuck = scene.path("stuck").display().to_string();
        let words = ["-C", &stuck, "run", "a bridge", "--agent-cmd", "true", "--check", "tests=false"];
        scene.act(&words).exits(4);
        let tries = [
            "__controller --reset --unblock",
            "__controller --nested --reset",
            "__controller --nested --phase 0",
            "__controller",
            "run --nested --fresh 'a bridge' --agent-cmd true --check tests=true",
        ];
        let script: Vec<String> = tries
            .iter()
            .map(|it| {
                format!("timeout 20 \"$LOOP\" --home \"$ROOT/home\" -C \"$ROOT/stuck\" {it} >> \"$OUT/said\" 2>&1; echo $? >> \"$OUT/codes\"\n")
            })
            .collect();
        let agent = scene.plays(&format!("{}echo x > work; {COMMIT}; {PROMISE}", script.concat()));
        scene.act(&["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"]).exits(0);
        assert_eq!(scene.notes("codes"), ["2"; 5], "{user:?}: {:?}", scene.notes("said"));
        let log = scene.act(&["log"]).exits(0).out;
        for called in ["run", "resume --reset"] {
            assert!(log.contains(&format!("refused inside an agent call: loop {called}")), "{called}: {log}");
        }
        let status = scene.act(&["-C", &stuck, "status", "--json"]).exits(0).out;
        assert!(status.contains("\"halted\""), "{user:?}: {status}");
    }
}
