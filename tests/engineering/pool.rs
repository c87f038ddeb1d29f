//! Several systems at once, by `loop run --jobs`: what is begun and when, who waits for whom, and what is left
//! when somebody is killed.

use crate::domain::{Domain, system};
use loop_harness::{Fifo, within};
use rustix::process::Signal;
use serde_json::Value;

fn three() -> Domain {
    Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 1, &[]), system("sys-003", 1, &[])])
}

/// Lets the systems go on, each once the one before it is complete.
fn one_after_the_other(domain: &Domain, go: &[Fifo]) {
    for (it, id) in go.iter().zip(["sys-001", "sys-002", "sys-003"]) {
        it.say();
        domain.until_complete(id);
    }
}

#[test]
fn as_many_as_asked_for_by_priority_once_their_dependencies_are_complete() {
    let domain = Domain::new(&[
        system("sys-001", 2, &[]),
        system("sys-002", 1, &[]),
        system("sys-003", 1, &["sys-001"]),
        system("sys-004", 3, &[]),
    ]);
    let go: Vec<_> = ["sys-001", "sys-002", "sys-003", "sys-004"].map(|it| domain.held(it)).into();
    let pool = domain.pool(2, "honest", &[]);
    let mut first = [domain.hear(), domain.hear()];
    first.sort();
    assert_eq!(first, ["sys-001", "sys-002"]);
    let runs = domain.runs();
    assert_eq!((runs.len(), domain.sandbox.status()["pool"]["jobs"].as_u64()), (2, Some(2)), "{runs:?}");
    let status = domain.sandbox.run(&["status"]).exits(0).says("pool        2 at once");
    assert!(!status.out.contains("iteration 0: BUILD"), "the phase is told once: {}", status.out);
    status.says("sys-003     specified, waits for sys-001").says("sys-001     running, BUILD");
    // The one that waits for nobody comes next, whatever its number.
    go[1].say();
    assert_eq!(domain.hear(), "sys-004");
    go[0].say();
    assert_eq!(domain.hear(), "sys-003");
    go[2].say();
    domain.until_complete("sys-003");
    go[3].say();
    let done = pool.wait().exits(0).says("4 of 4 systems complete").says("sys-004: begins");
    assert!(done.err.lines().last().is_some_and(|it| it.starts_with("next: ")), "{}", done.err);
    assert_eq!(domain.built()[2..], ["sys-004", "sys-003"]);
    assert_eq!(domain.built().len(), 4, "each was built once");
    for id in ["sys-001", "sys-002", "sys-003", "sys-004"] {
        assert_eq!(domain.system(id)["status"], "complete");
        assert_eq!(domain.sandbox.read(&format!("{id}.txt")).trim(), id, "it is merged");
    }
    domain.assert_nothing_left();
    assert!(domain.sandbox.status()["pool"].is_null(), "the pool is over");
}

#[test]
fn who_needs_a_person_holds_nobody_up() {
    let mut systems = [system("sys-001", 1, &[]), system("sys-002", 1, &[]), system("sys-003", 2, &[])];
    systems[1]["autonomy"] = serde_json::json!({ "mode": "supervised" });
    let domain = Domain::new(&systems);
    let go = domain.held("sys-003");
    let script =
        "if [ $id = sys-001 ] && [ ! -e \"$OUT/mended\" ]; then stuck 'the key is missing'; else honest; fi";
    // Two at once: the third begins because those before it take nobody's place.
    let pool = domain.pool(2, script, &[]);
    assert_eq!(domain.hear(), "sys-003");
    let blocked = domain.run_that_is("sys-001", "halted");
    let asks = domain.run_that_is("sys-002", "waiting");
    let status = domain.sandbox.run(&["status"]).exits(0);
    status.says("sys-001     halted, BUILD").says("the key is missing").says("sys-002     waiting");
    assert_eq!(domain.system("sys-001")["status"], "blocked");
    domain.sandbox.run(&["approve", "deploy", "--run", &asks, "--by", "ann"]).exits(0);
    domain.until_complete("sys-002");
    std::fs::write(domain.sandbox.note("mended"), "").expect("written");
    domain.sandbox.run(&["answer", "resume", "--run", &blocked]).exits(0);
    domain.until_complete("sys-001");
    // What is taken out again while the others are built is not complete any more.
    domain.sandbox.run(&["queue", "revert", "sys-002"]).exits(0);
    go.say();
    let done = pool.wait().exits(4).says("2 of 3 systems complete").says("sys-001: continues");
    done.says("sys-002  blocked: reverted").says("sys-001  completed").says("sys-003  completed");
    domain.assert_nothing_left();
}

#[test]
fn one_that_stays_blocked_is_told_with_its_reason() {
    let domain = Domain::new(&[
        system("sys-001", 1, &[]),
        system("sys-002", 1, &["sys-001"]),
        system("sys-003", 1, &[]),
    ]);
    let script = "if [ $id = sys-001 ]; then stuck 'the key is missing'; else honest; fi";
    let done = domain.pool(2, script, &[]).wait().exits(4);
    let done = done
        .says("sys-001  halted: ")
        .says("the key is missing")
        .says("sys-002  specified: waits for sys-001");
    done.says("sys-003  completed").says("halted: 1 of 3 systems complete");
    domain.sandbox.assert_nothing_runs();
}

#[test]
fn a_controller_that_is_killed_is_followed_by_another() {
    let domain = three();
    let go: Vec<_> = ["sys-001", "sys-002", "sys-003"].map(|it| domain.held(it)).into();
    let pool = domain.pool(2, "honest", &[]);
    let mut first = [domain.hear(), domain.hear()];
    first.sort();
    assert_eq!(first, ["sys-001", "sys-002"]);
    domain.kill_all_of("sys-001");
    assert_eq!(domain.hear(), "sys-001", "it is tried again");
    one_after_the_other(&domain, &go);
    pool.wait().exits(0).says("3 of 3 systems complete");
    assert_eq!(domain.built().iter().filter(|it| *it == "sys-001").count(), 2);
    domain.assert_nothing_left();
}

#[test]
fn a_pool_that_is_killed_stops_nobody_and_the_next_one_follows_them() {
    let domain = three();
    let go: Vec<_> = ["sys-001", "sys-002", "sys-003"].map(|it| domain.held(it)).into();
    let pool = domain.pool(2, "honest", &[]);
    domain.hear();
    domain.hear();
    pool.kill();
    assert!(domain.sandbox.status()["pool"].is_null());
    let controllers = || {
        let all = domain.sandbox.processes();
        all.into_iter().filter(|it| it.1.contains("__controller")).map(|it| it.0).collect::<Vec<_>>()
    };
    let before = controllers();
    assert_eq!(before.len(), 2, "the runs go on");
    let pool = domain.pool(2, "honest", &[]);
    assert!(within(loop_harness::PATIENCE, || domain.runs().len() == 2));
    assert_eq!(controllers(), before, "nobody was started again");
    go[0].say();
    assert_eq!(domain.hear(), "sys-003", "the new one begins what comes next");
    one_after_the_other(&domain, &go);
    let done = pool.wait().exits(0).says("3 of 3 systems complete");
    // Neither wrote anything while its call waited.
    done.says("sys-001: is at work already (pid ").says("sys-002: is at work already (pid ");
    assert_eq!(domain.built().len(), 3, "each was built once");
    domain.assert_nothing_left();
}

#[test]
fn ctrl_c_pauses_every_run_and_the_same_command_goes_on() {
    let domain = three();
    let go: Vec<_> = ["sys-001", "sys-002", "sys-003"].map(|it| domain.held(it)).into();
    let pool = domain.pool(2, "honest", &["--domain", "shop"]);
    domain.hear();
    domain.hear();
    pool.signal(Signal::INT);
    let done = pool.wait().exits(130).says("pausing 2 runs").says("sys-001  paused").says("sys-002  paused");
    done.says("paused: 0 of 3 systems complete").says("next: loop run --jobs 2 --agent-cmd ");
    domain.sandbox.assert_nothing_runs();
    let pool = domain.pool(2, "honest", &["--domain", "shop"]);
    one_after_the_other(&domain, &go);
    pool.wait().exits(0).says("3 of 3 systems complete");
    domain.assert_nothing_left();
}

#[test]
fn the_queue_may_be_edited_meanwhile() {
    let domain = three();
    let go = domain.held("sys-001");
    let late = domain.held("sys-003");
    let pool = domain.pool(1, "honest", &[]);
    assert_eq!(domain.hear(), "sys-001");
    // By a command: one is held back, one is new. By the file: one comes first.
    domain.sandbox.run(&["queue", "set", "sys-002", "--status", "blocked"]).exits(0);
    domain.sandbox.run(&["queue", "add", "sys-004", "--needs", "sys-003"]).exits(0);
    let file = "domain-memory/shop/system-queue.json";
    let mut queue: Value = serde_json::from_str(&domain.sandbox.read(file)).expect("JSON");
    queue["systems"].as_array_mut().expect("systems").push(system("sys-005", 1, &[]));
    domain.sandbox.write(file, queue.to_string());
    go.say();
    assert_eq!(domain.hear(), "sys-003");
    domain.sandbox.run(&["queue", "set", "sys-005", "--priority", "9"]).exits(0);
    late.say();
    let done = pool.wait().exits(4).says("sys-002  blocked").says("4 of 5 systems complete");
    drop(done);
    assert_eq!(domain.built(), ["sys-001", "sys-003", "sys-004", "sys-005"]);
}

/// An agent that takes the gates from later systems, while the pool could begin them before its call has ended.
#[test]
fn rules_that_are_changed_while_an_agent_works_hold_back_what_has_not_begun() {
    let edits = [
        (
            "sed -i 's/^mode .*/mode = \"supervised\"/' ROOT/.loop/workflow.toml",
            "the workflow file was changed",
        ),
        (
            "sed -i 's/\"id\": *\"sys-003\"/\"autonomy\":{\"mode\":\"autonomous\"},&/' ROOT/domain-memory/shop/system-queue.json",
            "the gates of sys-003 were changed",
        ),
        (
            "echo '{\"autonomy\":{\"defaultMode\":\"autonomous\"}}' > ROOT/domain-memory/shop/config.json",
            "config.json was changed",
        ),
    ];
    for (edit, words) in edits {
        let domain = three();
        let root = domain.sandbox.project.display().to_string();
        let go: Vec<_> = ["sys-001", "sys-002"].map(|it| domain.held(it)).into();
        let edit = edit.replace("ROOT", &root);
        let script = format!("[ $LOOP_PHASE$id = BUILDsys-001 ] && {edit}; honest");
        let pool = domain.pool(2, &script, &[]);
        domain.hear();
        domain.hear();
        // The second one ends, and its place is free, while the call that made the change goes on.
        go[1].say();
        domain.until_complete("sys-002");
        go[0].say();
        let done = pool.wait().exits(3).says(words).says("no system begins until it is accepted");
        done.says("2 of 3 systems complete")
            .says("nothing begins until a person has looked at it")
            .says("loop queue accept");
        assert_eq!(domain.built().len(), 2, "{edit}");
        // Nor does anything begin by another command.
        let sandbox = &domain.sandbox;
        let agent = domain.agent("honest");
        sandbox.run(&["run", "sys-003", "--agent-cmd", &agent]).exits(3).says("loop queue accept");
        sandbox.run(&["init", "--next", "--agent-cmd", &agent]).exits(3).says("loop queue accept");
        sandbox.run(&["queue"]).exits(0).says("nothing begins until a person has looked at it");
        sandbox.run(&["queue", "accept"]).exits(0).says(words);
        sandbox.run(&["queue", "accept"]).exits(0).says("nothing holds back the systems of shop");
        let done = domain.pool(1, "honest", &[]).wait();
        done.says("sys-003: begins");
    }
}

/// What a person accepts while the pool works is what it goes on with, also when the call that saw the change ends later.
#[test]
fn rules_that_a_person_accepts_are_followed_by_the_pool_that_works() {
    let domain = three();
    let sandbox = &domain.sandbox;
    let go: Vec<_> = ["sys-001", "sys-002"].map(|it| domain.held(it)).into();
    let pool = domain.pool(2, "honest", &["--on-question", "wait"]);
    domain.hear();
    domain.hear();
    sandbox.write("domain-memory/shop/config.json", "{\"autonomy\":{\"defaultMode\":\"autonomous\"}}");
    go[1].say();
    assert!(within(loop_harness::PATIENCE, || {
        sandbox.run(&["queue", "list", "--json"]).out.contains("config.json was changed")
    }));
    sandbox.run(&["queue", "accept"]).exits(0).says("accepted: config.json was changed");
    domain.until_complete("sys-003");
    go[0].say();
    pool.wait().exits(0).says("3 of 3 systems complete");
    domain.assert_nothing_left();
}

/// Somebody saves half a file: what is under way goes on, nothing is begun, and nothing of the edit is lost.
#[test]
fn a_queue_that_cannot_be_read_for_a_while_ends_no_pool() {
    let domain = Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 2, &[])]);
    let sandbox = &domain.sandbox;
    let (go, agent) = (domain.held("sys-001"), domain.agent("honest"));
    sandbox.run(&["run", "--jobs", "1", "--detach", "--agent-cmd", &agent]).exits(0);
    assert_eq!(domain.hear(), "sys-001");
    let file = "domain-memory/shop/system-queue.json";
    let mut queue: Value = serde_json::from_str(&sandbox.read(file)).expect("JSON");
    queue["systems"].as_array_mut().expect("systems").push(system("sys-003", 1, &[]));
    let whole = queue.to_string();
    let half = &whole[..whole.len() - 20];
    sandbox.write(file, half);
    go.say();
    let is_said = |words: &str| {
        let logs = sandbox.contents(&sandbox.home.join("pools"));
        logs.iter().any(|(_, text)| String::from_utf8_lossy(text).contains(words))
    };
    assert!(within(loop_harness::PATIENCE, || is_said("no system is begun until that is repaired")));
    domain.run_that_is("sys-001", "completed");
    assert_eq!((domain.built().len(), sandbox.read(file).as_str()), (1, half));
    sandbox.write(file, &whole);
    sandbox.run(&["queue", "list"]).exits(0).says("sys-003");
    domain.until_complete("sys-003");
    domain.until_complete("sys-002");
    assert_eq!(domain.built(), ["sys-001", "sys-003", "sys-002"]);
    assert!(within(loop_harness::PATIENCE, || sandbox.status()["pool"].is_null()));
    domain.assert_nothing_left();
}

#[test]
fn a_queue_has_one_pool() {
    let domain = three();
    let go = domain.held("sys-001");
    let pool = domain.pool(1, "honest", &["--max", "1"]);
    assert_eq!(domain.hear(), "sys-001");
    let pid = pool.pid().as_raw_nonzero().to_string();
    let other = domain.sandbox.run(&["run", "--jobs", "2"]).exits(7);
    other.says("the queue of shop").says(&format!("pid {pid}")).says("next: loop queue list");
    go.say();
    // What all systems may use up together.
    let done = pool.wait().exits(6).says("cap reached: 1 iteration over all systems (--max)");
    done.says("capped: ").says("next: loop run --jobs 1 ");
    domain.sandbox.assert_nothing_runs();
    assert_eq!(domain.built(), ["sys-001"]);
}

#[test]
fn a_budget_is_shared_by_all() {
    let domain = three();
    domain.sandbox.file("user/.config/loop/config.toml", "[limits]\ncall_usd = 0.01\n");
    let done = domain.pool(1, "honest", &["--budget", "0.02"]).wait().exits(6);
    done.says("$0.02 over all systems (--budget)");
    assert!(domain.built().len() < 3, "{:?}", domain.built());
}

/// What a run has spent before counts for nobody: the command that a capped pool proposes brings it further.
#[test]
fn each_pool_has_a_budget_of_its_own() {
    let domain = Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 1, &[])]);
    domain.sandbox.file("user/.config/loop/config.toml", "[limits]\ncall_usd = 0.01\n");
    let mut ends = Vec::new();
    for _call in 0..4 {
        let done = domain.pool(1, "honest", &["--budget", "0.01"]).wait();
        let last = done.err.lines().last().unwrap_or_default().to_owned();
        ends.push((
            done.code,
            last.starts_with("next: loop run --jobs 1 ") && last.contains("--budget 0.01"),
        ));
    }
    assert_eq!(ends, [(6, true), (6, true), (6, true), (0, false)]);
    assert_eq!(domain.built(), ["sys-001", "sys-002"]);
}

/// A system that began on somebody's own branch would lack what it needs, and would be merged there.
#[test]
fn a_pool_begins_nothing_while_the_project_is_on_another_branch() {
    let domain = Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 1, &["sys-001"])]);
    let sandbox = &domain.sandbox;
    let go = domain.held("sys-001");
    let target = sandbox.git(&["branch", "--show-current"]).trim().to_owned();
    let pool = domain.pool(1, "honest", &[]);
    assert_eq!(domain.hear(), "sys-001");
    sandbox.git(&["checkout", "-q", "-b", "mine"]);
    go.say();
    let done = pool.wait().exits(2).says("sys-001  completed").says("1 of 2 systems complete");
    let away = format!("the project is on mine, and this pool builds on {target}");
    let next = format!("next: git switch {target}");
    done.says(&format!("{away}; no system begins until it is back")).says(&away).says(&next);
    assert_eq!(domain.built(), ["sys-001"]);
    assert!(!sandbox.git(&["log", "--format=%s", "mine"]).contains("Merge "));
    sandbox.git(&["checkout", "-q", &target]);
    domain.pool(1, "honest", &[]).wait().exits(0).says("2 of 2 systems complete");
    assert!(sandbox.project.join("sys-001.txt").exists() && sandbox.project.join("sys-002.txt").exists());
    domain.assert_nothing_left();
}

/// A run that found nothing to do continues once somebody told the agent more, as by `loop run`.
#[test]
fn a_system_whose_agent_was_told_more_continues() {
    let domain = Domain::new(&[system("sys-001", 1, &[])]);
    let script =
        "if [ $LOOP_PHASE = BUILD ] && [ ! -e \"$OUT/mended\" ]; then say done BUILD; else honest; fi";
    domain.pool(1, script, &[]).wait().exits(4).says("sys-001  halted: nothing to do");
    domain.pool(1, script, &[]).wait().exits(4);
    std::fs::write(domain.sandbox.note("mended"), "").expect("written");
    domain.sandbox.run(&["guide", "build it"]).exits(0);
    domain.pool(1, script, &[]).wait().exits(0).says("sys-001: continues").says("1 of 1 system complete");
    domain.assert_nothing_left();
}

#[test]
fn programs_get_an_object_a_line_and_one_for_the_end() {
    let mut systems = [system("sys-001", 1, &[]), system("sys-002", 1, &[])];
    systems[0]["autonomy"] = serde_json::json!({ "mode": "supervised" });
    let domain = Domain::new(&systems);
    let done = domain.pool(2, "honest", &["--json"]).wait().exits(3);
    let lines: Vec<Value> = done.out.lines().map(|it| serde_json::from_str(it).expect("an object")).collect();
    let end = lines.last().expect("an end");
    assert_eq!((end["status"].as_str(), end["exit"].as_u64()), (Some("waiting"), Some(3)));
    let of = |id: &str| {
        end["systems"].as_array().expect("systems").iter().find(|it| it["id"] == id).expect("one").clone()
    };
    assert_eq!(of("sys-001")["status"], "waiting");
    assert!(of("sys-001")["next_step"].as_str().is_some_and(|it| it.contains("approve")), "{end}");
    assert_eq!(
        (of("sys-002")["status"].as_str(), of("sys-002")["verified"].as_bool()),
        (Some("completed"), Some(true))
    );
    assert!(lines.iter().any(|it| it["system"] == "sys-002" && it["line"].is_string()));
    // With the answer given, the same command finishes.
    domain.sandbox.run(&["approve", "deploy"]).exits(0);
    domain.pool(2, "honest", &[]).wait().exits(0).says("2 of 2 systems complete");
}

#[test]
fn what_is_about_one_run_is_refused() {
    let domain = three();
    let refused = |words: &[&str], said: &str| drop(domain.sandbox.run(words).exits(2).says(said));
    refused(&["run", "--jobs", "0"], "--jobs");
    refused(&["run", "--jobs", "x"], "--jobs");
    refused(&["run", "sys-001", "--jobs", "2"], "--jobs builds every system of the queue");
    refused(&["run", "--jobs", "2", "--fresh"], "--fresh");
    refused(&["next", "--jobs", "2"], "loop next makes one call");
    refused(&["init", "sys-001", "--jobs", "2"], "loop init opens one run");
    refused(&["run", "--jobs", "2", "--preset", "ralph"], "a run of ralph is not one");
    refused(&["run", "--jobs", "2", "--domain", "none"], "there is no domain");
    domain
        .sandbox
        .run(&["run", "--jobs", "2", "--dry-run"])
        .exits(0)
        .says("next decision: begin sys-001, sys-002");
    assert!(!domain.sandbox.home.exists(), "nothing was written");
    // An agent starts no pool.
    let program = env!("CARGO_BIN_EXE_loop");
    let script = format!("{program} run --jobs 2 > \"$OUT/said\" 2>&1; honest");
    let agent = domain.agent(&script);
    domain.sandbox.run(&["run", "sys-001", "--agent-cmd", &agent]).exits(0);
    let said = domain.sandbox.notes("said").join(" ");
    assert!(said.contains("only a person may use loop"), "{said}");
}

#[test]
fn a_run_that_a_person_stops_stays_stopped_and_the_pool_says_so() {
    let domain = Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 1, &[])]);
    let (first, second) = (domain.held("sys-001"), domain.held("sys-002"));
    let pool = domain.pool(2, "honest", &[]);
    domain.hear();
    domain.hear();
    let run = domain.run_that_is("sys-001", "running");
    domain.sandbox.run(&["stop", "--run", &run]).exits(0);
    first.say();
    domain.run_that_is("sys-001", "stopped");
    second.say();
    let done = pool.wait().exits(5).says("sys-001  stopped").says("sys-002  completed");
    done.says("stopped: 1 of 2 systems complete");
    domain.sandbox.assert_nothing_runs();
}

#[test]
fn time_is_shared_by_all() {
    let domain = three();
    let go = domain.held("sys-001");
    let pool = domain.pool(1, "honest", &["--time", "1s"]);
    assert_eq!(domain.hear(), "sys-001");
    let run = domain.run_that_is("sys-001", "running");
    let status = || domain.sandbox.run(&["status", "--run", &run]).out;
    let is_asked = || status().contains("to stop after this iteration");
    assert!(within(loop_harness::PATIENCE, is_asked), "{:?}", domain.runs());
    go.say();
    pool.wait().exits(6).says("cap reached: 1s since the start (--time)").says("capped: ");
    assert_eq!(domain.built(), ["sys-001"]);
}

/// An agent that tells what it uses.
#[test]
fn tokens_are_shared_by_all() {
    let mut domain = three();
    let script = "id=$(git branch --show-current); id=${id##*/}; cat > /dev/null\n\
        if [ $LOOP_PHASE = BUILD ]; then echo $id > $id.txt; echo \"grep -qx $id $id.txt\" > tests/$id.sh; git add -A; git commit -qm it; fi\n\
        printf '%s\\n' '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"claude-opus-4-8\"}'\n\
        printf '%s\\n' '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\",\"usage\":{\"input_tokens\":600,\"output_tokens\":10}}'\n";
    domain.sandbox.program("bin/claude", &format!("#!/bin/sh\n{script}"));
    domain.sandbox.path_first.push(domain.sandbox.path("bin"));
    // A call of the first system and one of the second, or two of the first: neither alone is over it.
    let words = ["run", "--jobs", "1", "--agent", "claude", "--tokens", "1500"];
    let done = domain.sandbox.run(&words).exits(6).says("1500 tokens over all systems (--tokens)");
    done.says("capped: 1 of 3 systems complete");
}

#[test]
fn a_pool_that_waits_for_people_goes_on_with_their_answer() {
    let mut systems = [system("sys-001", 1, &[]), system("sys-002", 1, &["sys-001"])];
    systems[0]["autonomy"] = serde_json::json!({ "mode": "supervised" });
    let domain = Domain::new(&systems);
    let pool = domain.pool(1, "honest", &["--on-question", "wait"]);
    let asks = domain.run_that_is("sys-001", "waiting");
    assert_eq!(domain.built(), ["sys-001"]);
    domain.sandbox.run(&["approve", "deploy", "--run", &asks, "--by", "ann"]).exits(0);
    pool.wait().exits(0).says("2 of 2 systems complete");
    domain.assert_nothing_left();
}

/// What kept the merge back is looked at again by the next pool, as by `loop run`.
#[test]
fn a_merge_that_waited_for_a_clean_tree_is_made_by_the_next_pool() {
    let domain = Domain::new(&[system("sys-001", 1, &[])]);
    let sandbox = &domain.sandbox;
    let dirty =
        format!("[ $LOOP_PHASE = SHIP ] && echo mine >> {}/test.sh; honest", sandbox.project.display());
    let first = domain.pool(1, &dirty, &[]).wait().exits(3).says("git stash push -- test.sh");
    let told = first.err.lines().filter(|it| it.starts_with("sys-001: ") && it.contains("test.sh")).count();
    assert_eq!(told, 1, "it is told once: {}", first.err);
    domain.pool(1, "honest", &[]).wait().exits(3).says("uncommitted changes in test.sh");
    sandbox.git(&["checkout", "--", "test.sh"]);
    domain.pool(1, "honest", &[]).wait().exits(0).says("1 of 1 system complete");
    domain.assert_nothing_left();
}

/// The account has one call at a time, however many systems are worked on.
#[test]
fn slots_hold_for_the_systems_of_a_pool_too() {
    let domain = Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 1, &[])]);
    domain.sandbox.file("user/.config/loop/config.toml", "[limits]\nslots = 1\n");
    let go = [domain.held("sys-001"), domain.held("sys-002")];
    let pool = domain.pool(2, "honest", &[]);
    let first = domain.hear();
    let in_line = || {
        let limits = domain.sandbox.run(&["limits", "--json"]).out;
        limits.matches("\"waits\"").count()
    };
    assert!(within(loop_harness::PATIENCE, || in_line() == 1), "{:?}", domain.runs());
    assert_eq!(domain.built(), std::slice::from_ref(&first), "the other has not begun its call");
    let (mine, other) = if first == "sys-001" { (0, 1) } else { (1, 0) };
    go[mine].say();
    assert_ne!(domain.hear(), first);
    go[other].say();
    pool.wait().exits(0).says("2 of 2 systems complete");
}

#[test]
fn a_pool_without_a_terminal_is_found_and_paused_by_its_pid() {
    let domain = three();
    let go: Vec<_> = ["sys-001", "sys-002", "sys-003"].map(|it| domain.held(it)).into();
    let agent = domain.agent("honest");
    let words = ["run", "--jobs", "2", "--detach", "--agent-cmd", &agent];
    let started = domain.sandbox.run(&words).exits(0).says("next: loop status").says("messages: ");
    let pid = started.out.lines().find_map(|it| it.strip_prefix("to pause it: kill -INT "));
    let pid: i32 = pid.and_then(|it| it.trim().parse().ok()).expect("a pid");
    domain.hear();
    domain.hear();
    assert_eq!(domain.sandbox.status()["pool"]["pid"], pid);
    // A second one is refused, as it is in front.
    domain.sandbox.run(&words).exits(7).says("the queue of shop");
    let pid = rustix::process::Pid::from_raw(pid).expect("a pid");
    rustix::process::kill_process(pid, Signal::INT).expect("it is there");
    let is_over = || domain.sandbox.status()["pool"].is_null();
    assert!(within(loop_harness::PATIENCE, is_over), "{:?}", domain.runs());
    domain.sandbox.assert_nothing_runs();
    // Everything that it said is in its log; the next one finishes.
    let logs = domain.sandbox.contents(&domain.sandbox.home.join("pools"));
    let said = logs.iter().any(|(_, text)| String::from_utf8_lossy(text).contains("pausing 2 runs"));
    assert!(said, "{:?}", logs.iter().map(|it| &it.0).collect::<Vec<_>>());
    drop(go);
    for id in ["sys-001", "sys-002", "sys-003"] {
        std::fs::remove_file(domain.sandbox.note(&format!("go-{id}"))).expect("a pipe");
    }
    domain.sandbox.run(&words).exits(0);
    domain.until_complete("sys-003");
    assert!(within(loop_harness::PATIENCE, || domain.sandbox.status()["pool"].is_null()));
    domain.assert_nothing_left();
}

/// Where nothing could build a system, nobody has to look for a log to learn it.
#[test]
fn without_an_agent_a_pool_is_refused_before_it_leaves_the_terminal() {
    let domain = three();
    for words in [&["run", "--jobs", "2", "--detach"][..], &["run", "--jobs", "2"]] {
        let mut command = domain.sandbox.command(words);
        command.env("PATH", "/usr/bin:/bin");
        let done = domain.sandbox.start(command).wait().exits(2);
        done.says("no supported agent found").says("next: loop agents").says("add --agent-cmd");
    }
    assert!(domain.runs().is_empty());
}

/// Two systems side by side through the ten stages.
#[test]
fn two_systems_of_the_preset_at_once() {
    let domain = Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 1, &[])]);
    let sandbox = &domain.sandbox;
    let preset = "extends = \"engineering\"\nmode = \"autonomous\"\n[modes.autonomous]\ngates = []\n\
         [checks.tests]\nrun = \"sh test.sh\"\ncounts = \"tap\"\n[skills.deploy]\ntarget = \"none\"\n";
    sandbox.write(".loop/workflow.toml", format!("{preset}{}", crate::project::BRIEF));
    sandbox.commit("the ten stages");
    let work = "work() { [ \"$LOOP_SKILL\" = implement ] && { echo $ID > $ID.txt; echo \"grep -qx $ID $ID.txt\" > tests/$ID.sh; }; true; }";
    let words = crate::project::WORDS;
    let agent =
        sandbox.agent(&format!("ID=$(git branch --show-current); ID=${{ID##*/}}\n{words}\n{work}\nhonest"));
    sandbox.run(&["run", "--jobs", "2", "--agent-cmd", &agent]).exits(0).says("2 of 2 systems complete");
    let log = sandbox.git(&["log", "--first-parent", "--format=%s", "main"]);
    let mut merges: Vec<&str> = log.lines().filter(|it| it.starts_with("Merge ")).collect();
    merges.sort();
    assert_eq!(merges, ["Merge sys-001: sys-001", "Merge sys-002: sys-002"]);
    for id in ["sys-001", "sys-002"] {
        let state = sandbox.read(&format!("domain-memory/shop/systems/{id}/loop-state.json"));
        assert!(state.contains("\"state\": \"COMPLETE\""), "{state}");
        assert!(sandbox.project.join(format!("{id}.txt")).exists());
    }
    domain.assert_nothing_left();
}
