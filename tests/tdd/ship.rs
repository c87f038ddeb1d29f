//! `loop ship` after a completed run: what it hands in, and everything that stops it before anything
//! is changed.

use loop_harness::Scripted;
use serde_json::{Value, json};

/// A completed run in a repository with a remote, and a stand-in for `gh` that keeps what it is told.
fn completed() -> Scripted {
    let sandbox = Scripted::with_lines();
    let remote = sandbox.path("remote.git").display().to_string();
    sandbox.git(&["init", "-q", "--bare", &remote]);
    sandbox.git(&["remote", "add", "origin", &remote]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.program(
        "bin/gh",
        &"#!/bin/sh\necho \"$@\" >> ROOT/gh\ncase \"$2\" in list) cat ROOT/open 2>/dev/null; true;; \
          create) echo https://example.org/pull/7 | tee ROOT/open;; esac\n"
            .replace("ROOT", &sandbox.root().to_string_lossy()),
    );
    sandbox.step(
        "QA",
        "echo late > late.txt\nreport true <<E\nQA_METRICS:\n  BLOCKING_ISSUES: 0\nVERDICT: APPROVE\nE\n",
    );
    sandbox.drive_lines(&[]).exits(0);
    sandbox
}

fn ship(sandbox: &Scripted, more: &[&str]) -> loop_harness::Done {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = sandbox.command(&[&["ship"], more].concat());
    command.env("PATH", format!("{}:{path}", sandbox.path("bin").display()));
    loop_harness::Done::of(command.output().expect("started"))
}

/// Everything that a dry run or a refusal must leave as it is.
fn repository(sandbox: &Scripted) -> [String; 3] {
    [
        sandbox.git(&["for-each-ref"]),
        sandbox.git(&["status", "--porcelain=v2", "--branch"]),
        std::fs::read_to_string(sandbox.path("gh")).unwrap_or_default(),
    ]
}

#[test]
fn bp93_a_completed_run_becomes_a_branch_a_commit_and_one_request() {
    let sandbox = completed();
    let done = ship(&sandbox, &[]).exits(0);
    assert!(done.out.contains("https://example.org/pull/7"), "{}", done.out);
    assert_eq!(sandbox.git(&["symbolic-ref", "--short", "HEAD"]), "feature/greetings");
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%B"]),
        "feat: greetings\n\nPeople are greeted by name.\n\n- 2 of 2 tests pass\n\
         - RED, GREEN, REFACTOR, DOCUMENT, QA in 5 iterations\n\nPRP: docs/PRPs/2026-01-13-greetings.md"
    );
    assert_eq!(sandbox.git(&["show", "--name-only", "--format="]), "late.txt");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    assert_eq!(
        sandbox.git(&["ls-remote", "origin", "refs/heads/feature/greetings"]),
        format!("{head}\trefs/heads/feature/greetings")
    );
    let mut result = sandbox.session_json("ship-result.json");
    assert!(result["shipped_at"].as_str().is_some_and(|it| it.ends_with('Z')));
    drop(result.as_object_mut().expect("an object").remove("shipped_at"));
    let expected = json!({
        "success": true, "branch_created": "feature/greetings", "commit_sha": head,
        "pr_url": "https://example.org/pull/7", "errors": [], "warnings": [],
    });
    assert_eq!(result, expected);
    let config = json!({
        "prp_file": "docs/PRPs/2026-01-13-greetings.md", "feature_name": "greetings",
        "branch_name": "feature/greetings", "commit_type": "feat", "auto_detected": true,
    });
    assert_eq!(sandbox.session_json("ship-config.json"), config);
    let preflight = sandbox.session_json("preflight-result.json");
    let told = ["tests_passed", "lint_passed", "has_changes", "is_clean", "current_branch"]
        .map(|it| preflight[it].clone());
    assert_eq!(told, [json!(true), json!(true), json!(true), json!(true), json!("main")]);
    assert_eq!(preflight["not_run"], json!(["lint", "build"]), "neither has a command here");
    assert_eq!(sandbox.session("current-prp.txt"), "docs/PRPs/2026-01-13-greetings.md\n");

    // A second time there is nothing to commit, and the request that is open stays the only one.
    ship(&sandbox, &[]).exits(0);
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(sandbox.text("gh").lines().filter(|it| it.starts_with("pr create")).count(), 1);
}

/// What the journal says of handing in: its intent and its results.
fn handed_in(sandbox: &Scripted) -> Vec<String> {
    let events = sandbox.events();
    let closed = events.iter().position(|it| it["kind"] == "closed").expect("a completed run");
    let later = events[closed..].iter().map(|it| it["kind"].as_str().unwrap_or_default().to_owned());
    later.filter(|it| matches!(it.as_str(), "began" | "finished")).collect()
}

#[test]
fn whoever_ships_owns_the_run_and_a_killed_ship_continues() {
    let sandbox = completed();
    let (begun, _go) = (sandbox.fifo("begun"), sandbox.fifo("go"));
    let root = sandbox.root().to_string_lossy().into_owned();
    let held = "#!/bin/sh\necho \"$@\" >> ROOT/gh\n[ \"$2\" = create ] || exit 0\necho here > BEGUN\nread it < GO\nexit 1\n";
    let quick = sandbox.text("bin/gh");
    let note = |name: &str| sandbox.note(name).to_string_lossy().into_owned();
    sandbox.program(
        "bin/gh",
        &held.replace("ROOT", &root).replace("BEGUN", &note("begun")).replace("GO", &note("go")),
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = sandbox.command(&["ship"]);
    command.env("PATH", format!("{}:{path}", sandbox.path("bin").display()));
    let first = sandbox.start(command);
    begun.hear();
    assert_eq!(handed_in(&sandbox), ["began"], "the intent is in the journal before anything is done");
    let second = ship(&sandbox, &[]).exits(7);
    assert!(second.err.contains("in use"), "{}", second.err);
    first.kill();

    assert_eq!(sandbox.status()["next_step"], "loop ship");
    sandbox.program("bin/gh", &quick);
    ship(&sandbox, &[]).exits(0);
    assert_eq!(handed_in(&sandbox), ["began", "began", "finished"]);
    assert_eq!(sandbox.status()["status"], "completed");
    sandbox.run(&["verify"]).exits(0);

    // What fails in the middle is a fact, too.
    sandbox.git(&["remote", "set-url", "origin", "/nowhere"]);
    ship(&sandbox, &[]).exits(1);
    assert_eq!(handed_in(&sandbox), ["began", "began", "finished", "began", "finished"]);
    let log = sandbox.run(&["log"]).exits(0).out;
    assert!(log.contains("not shipped: "), "{log}");
}

#[test]
fn bp94_a_dry_run_and_a_refusal_change_nothing() {
    let sandbox = completed();
    let before = repository(&sandbox);
    let dry = ship(&sandbox, &["--dry-run"]).exits(0);
    assert!(dry.out.contains("feature/greetings") && dry.out.contains("late.txt"), "{}", dry.out);
    assert_eq!(repository(&sandbox), before);
    assert!(!sandbox.path("user/.bp-sessions/project/ship-result.json").exists());

    sandbox.file("project/tests/cases.txt", "bad\n");
    let before = repository(&sandbox);
    let refused = ship(&sandbox, &[]).exits(4);
    assert!(refused.err.contains("tests fails"), "{}", refused.err);
    assert_eq!(repository(&sandbox), before);
    let result: Value = sandbox.session_json("ship-result.json");
    assert_eq!(["success", "branch_created"].map(|it| result[it].clone()), [json!(false), json!(null)]);
    assert_eq!(result["errors"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_not_finished_reviewed_or_changed_is_not_shipped() {
    let sandbox = Scripted::with_lines();
    sandbox.drive_lines(&["--max", "1"]).exits(6);
    let refused = ship(&sandbox, &[]).exits(4);
    assert!(refused.err.contains("is capped, not completed"), "{}", refused.err);
    let step = sandbox.status()["next_step"].as_str().expect("a step").to_owned();
    assert!(refused.err.ends_with(&format!("next: {step}\n")) && step != "loop ship", "{}", refused.err);

    let sandbox = Scripted::with_lines();
    sandbox.step("QA", "report false </dev/null\n");
    sandbox.drive_lines(&[]).exits(4);
    sandbox.run(&["answer", "skip"]).exits(0);
    sandbox.drive_lines(&[]).exits(0);
    let refused = ship(&sandbox, &[]).exits(4);
    assert!(refused.err.contains("the review was skipped"), "{}", refused.err);

    // Nothing of the run is left.
    let sandbox = completed();
    sandbox.git(&["switch", "-q", "-c", "elsewhere", "origin/main"]);
    std::fs::remove_file(sandbox.path("project/late.txt")).expect("removed");
    let refused = ship(&sandbox, &[]).exits(4);
    assert!(refused.err.contains("there is nothing to ship"), "{}", refused.err);
}

#[test]
fn what_was_uncommitted_before_stays_uncommitted_and_hooks_do_not_run() {
    let sandbox = Scripted::with_lines();
    sandbox.file("project/mine.txt", "mine\n");
    sandbox.program("project/.git/hooks/pre-commit", "#!/bin/sh\ntouch ../hooked\nexit 1\n");
    for phase in ["RED", "GREEN"] {
        let script =
            sandbox.text(&format!("steps/{phase}")).replace("commit red; ", "").replace("commit green; ", "");
        sandbox.step(phase, &script);
    }
    let documents = sandbox.text("steps/DOCUMENT").replace("commit docs\n", "");
    sandbox.step("DOCUMENT", &documents);
    sandbox.drive_lines(&["--allow-dirty"]).exits(0);
    let done = ship(&sandbox, &["--type", "chore", "--no-pr"]).exits(0);
    assert!(done.err.contains("mine.txt was uncommitted before the run began"), "{}", done.err);
    assert!(done.err.contains("there is no remote"), "{}", done.err);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? mine.txt");
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]), "chore: greetings");
    assert!(!sandbox.path("hooked").exists());
}
