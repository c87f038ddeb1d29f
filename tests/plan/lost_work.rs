//! Work that was there and is not: commits of done tasks that a later call takes away, tests that showed a requirement,
//! and the goal of the phase.

use super::project::{HONEST, Project};
use serde_json::json;

/// Agents reset branches. A task whose work went with its commit is done once more, and people are told.
#[test]
fn tasks_whose_commits_an_agent_takes_away_are_done_again() {
    let project = Project::new();
    project.config(r#"{"loop": {"validation_commands": ["true"]}}"#);
    let script = format!("[ \"$LOOP_CALL\" = 3 ] && git reset -q --hard HEAD~2\n{HONEST}");
    let done = project.run(&script, &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 10, "seven tasks, two of them again, and the verifier");
    assert!(done.err.contains("6 items to do (2 open again)"), "{}", done.err);
    let files = project.sandbox.git(&["ls-tree", "--name-only", "HEAD"]);
    for file in ["03-01_1.txt", "03-01_2.txt", "03-01_3.txt", "03-03_2.txt"] {
        assert!(files.contains(file), "{file}: {files}");
    }
    let warnings = project.status()["warnings"].to_string();
    for task in ["03-01/1", "03-01/2"] {
        let says = format!("{task} is open again: its commit ");
        assert_eq!(warnings.matches(&says).count(), 1, "{says}: {warnings}");
    }
}

/// The next call on the task that took them away is told how to bring them back; nothing is done twice then.
#[test]
fn a_call_is_told_of_work_that_is_gone() {
    let project = Project::new();
    let script = format!(
        "case $LOOP_PHASE-$LOOP_CALL in\n\
         EXECUTE-1) honest; git rev-parse HEAD > \"$OUT/first\";;\n\
         EXECUTE-2) git reset -q --hard HEAD~1; do_task; say TASK_COMPLETE;;\n\
         EXECUTE-3) git cherry-pick \"$(cat \"$OUT/first\")\" > /dev/null; say TASK_COMPLETE;;\n\
         *) {HONEST};; esac"
    );
    project.run(&script, &[]).exits(0);
    let first = project.sandbox.notes("first").remove(0);
    let says =
        format!("the work of 03-01/1, which was done, is gone: git cherry-pick {first} brings it back");
    let prompt = project.sandbox.prompt(3);
    assert!(prompt.contains(&says), "{prompt}");
    assert_eq!(project.sandbox.calls().len(), 9, "one of them to bring it back");
    assert!(!project.status()["warnings"].to_string().contains("open again"));
}

/// A row is shown by tests that pass, not by tests that passed once.
#[test]
fn a_requirement_whose_tests_are_gone_is_open_again() {
    let project = Project::new();
    let script = "case $LOOP_PHASE in EXECUTE) [ $LOOP_CALL = 4 ] && { sed -i 's/login works/nothing/' test.sh; git add test.sh; }; honest;;\n\
        VERIFY) report passed 'truths:\n  - {id: SC-1, status: verified}\n  - {id: AUTH-02, status: verified}\n  - {id: SC-2, status: verified}';; esac";
    project.run(script, &[]).exits(4).says("nothing shows that AUTH-01 is met");
    assert_eq!(
        (&project.row("AUTH-01")["standing"], &project.row("SC-1")["standing"]),
        (&json!("open"), &json!("claimed"))
    );
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("AUTH-01 is open again: the tests that showed it are gone"), "{warnings}");
}

/// Work on another branch counts, and people are told where it is.
#[test]
fn a_branch_that_an_agent_changes_is_told() {
    let project = Project::new();
    let began = project.sandbox.git(&["branch", "--show-current"]);
    let script = format!("[ \"$LOOP_CALL\" = 2 ] && git checkout -q -b side\n{HONEST}");
    project.run(&script, &["--max", "3"]).exits(6);
    let says = format!("HEAD is on the branch side, and was on {} when the run began", began.trim());
    let warnings = project.status()["warnings"].to_string();
    assert_eq!(warnings.matches(&says).count(), 1, "{warnings}");
    let back = format!("[ \"$LOOP_CALL\" = 4 ] && git checkout -q -B {}\n{HONEST}", began.trim());
    project.run(&back, &["--max", "4"]).exits(6);
    let warnings = project.status()["warnings"].to_string();
    assert!(!warnings.contains("HEAD is on"), "{warnings}");
}

/// What the verifier itself takes away is seen by no other call.
#[test]
fn work_that_the_verifier_takes_away_is_brought_back() {
    let project = Project::new();
    project.config(r#"{"loop": {"validation_commands": ["true"]}}"#);
    let script = format!("[ \"$LOOP_CALL\" = 8 ] && git reset -q --hard HEAD~2\n{HONEST}");
    project.run(&script, &[]).exits(0);
    let why = "the report does not count, because its call changed committed work: 03-03_1.txt, 03-03_2.txt";
    assert!(project.sandbox.prompt(9).contains(why), "{}", project.sandbox.prompt(9));
    let asked = project.sandbox.prompt(10);
    for task in ["03-03/1", "03-03/2"] {
        let says = format!("the work of {task}, which was done, is gone; bring it back: git cherry-pick ");
        assert!(asked.contains(&says), "{asked}");
    }
    let files = project.sandbox.git(&["ls-tree", "--name-only", "HEAD"]);
    assert!(files.contains("03-03_1.txt") && files.contains("03-03_2.txt"), "{files}");
    let calls = project.sandbox.calls().len();
    assert_eq!(calls, 13, "seven tasks, two verifiers, one to bring it back, two tasks again, the verifier");
}

/// A report is about the work that it found, also where the verifier takes it away in the open.
#[test]
fn a_verifier_that_changes_committed_work_is_asked_again() {
    let project = Project::new();
    project.config(r#"{"loop": {"validation_commands": ["true"]}}"#);
    let script = "case $LOOP_PHASE in EXECUTE) honest;; VERIFY) git rm -q 03-03_2.txt; git commit -qm 'chore: tidy'; report passed 'score: 1';; esac";
    let done = project.run(&format!("[ \"$LOOP_CALL\" -gt 8 ] && git() {{ :; }}\n{script}"), &[]).exits(0);
    assert_eq!(project.sandbox.calls().len(), 9, "{}", done.err);
    let halted = Project::new();
    halted.config(r#"{"loop": {"validation_commands": ["true"]}}"#);
    let again = script.replace("git rm -q 03-03_2.txt", "git rm -q 03-03_$((LOOP_CALL - 7)).txt");
    halted.run(&again, &[]).exits(4).says("its call changed committed work: 03-03_2.txt");
}

/// What a call broke and repaired shows nothing new.
#[test]
fn a_test_that_a_call_broke_and_repaired_shows_no_requirement() {
    let project = Project::new();
    project.sandbox.write("03-01_1.txt", "there already\n");
    project.sandbox.commit("the test passes before the run");
    let script = "case $LOOP_PHASE-$LOOP_CALL in\n\
        EXECUTE-1) touch broken; git add broken; git commit -qm 'feat: break'; say TASK_COMPLETE;;\n\
        EXECUTE-2) git rm -q broken; do_task; say TASK_COMPLETE;;\n\
        EXECUTE-*) honest;; VERIFY-*) report gaps_found 'gaps: []';; esac";
    project.run(script, &["--max", "3"]).exits(6);
    assert_eq!(project.row("AUTH-01")["standing"], json!("open"), "{}", project.row("AUTH-01"));
}

/// What is verified is the goal with which the run began.
#[test]
fn a_goal_that_an_agent_changes_is_told_and_stays() {
    let project = Project::new();
    let script = format!(
        "[ \"$LOOP_CALL\" = 2 ] && sed -i 's/### Phase 3: Accounts/### Phase 3: Less/; s/: People have accounts/: nothing/' .planning/ROADMAP.md\n{HONEST}"
    );
    project.run(&script, &[]).exits(0);
    let asked = project.sandbox.prompt(8);
    assert!(asked.contains("### What was asked for\n\nGoal: People have accounts\n"), "{asked}");
    let warnings = project.status()["warnings"].to_string();
    let says = "the goal of the phase was changed in the roadmap since the run began; it is verified against: People have accounts";
    assert_eq!(warnings.matches(says).count(), 1, "{warnings}");
}

/// Settings that an agent writes are those of the next run, so people see them before.
#[test]
fn a_configuration_that_an_agent_changes_is_told() {
    let project = Project::new();
    let script = format!(
        "[ \"$LOOP_CALL\" = 2 ] && echo '{{\"autonomous\": true}}' > .planning/config.json\n{HONEST}"
    );
    project.run(&script, &[]).exits(0);
    let warnings = project.status()["warnings"].to_string();
    let says = ".planning/config.json was changed since the run began; this run goes by what it said then";
    assert_eq!(warnings.matches(says).count(), 1, "{warnings}");
}
