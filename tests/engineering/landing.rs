//! How work comes to the branch that the project is on, and what keeps it back.

use crate::project::Project;

/// What the last stages write is in no commit, so it is not counted as merged, and a test that is gone is told where
/// people look at the proof.
#[test]
fn the_end_counts_what_was_merged_and_the_handoff_names_a_test_that_is_gone() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let script = "if [ \"$LOOP_SKILL\" = code-verification ]; then sed -i 's/1\\.\\.2/1..1/; /it loads/d; s/ok 2/ok 1/' test.sh; fi; \
                  if [ \"$LOOP_SKILL\" = deploy ]; then echo x > beside.sh; fi; honest";
    let begun = sandbox.git(&["rev-parse", "HEAD"]);
    let done = project.run(script, &[]);
    let names = sandbox.git(&["diff", "--name-only", begun.trim(), "main"]);
    let done = done.exits(0).says(&format!("changed: {} files", names.lines().count()));
    assert!(!done.err.contains("beside.sh, ") && !done.out.contains("beside.sh, "), "{done:?}");
    let sessions = std::fs::read_dir(sandbox.project.join("domain-memory/shop/sessions")).expect("a folder");
    let handoff = sessions.flatten().next().expect("a handoff").path();
    let handoff = std::fs::read_to_string(handoff).expect("text");
    assert!(handoff.contains("test it loads is gone; its original text still passes"), "{handoff}");
}

/// The branch moved while the system was built, and nothing is in the way.
#[test]
fn a_branch_that_moved_is_merged_once_the_merged_tree_is_green() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let root = sandbox.project.display().to_string();
    let script = format!(
        "if [ \"$LOOP_SKILL\" = document ]; then git -C {root} commit -q --allow-empty -m meanwhile; fi; honest"
    );
    project.run_with_moves(&script, &[]).exits(0);
    let subjects = sandbox.git(&["log", "--format=%s", "--first-parent", "-3"]);
    assert!(subjects.starts_with("Merge sys-002: Adder\nmeanwhile\n"), "{subjects}");
    let steps = project.steps();
    assert!(
        steps.contains("the merged tree is proven: the clean checkout: tests passed (2 of 2)"),
        "{steps}"
    );
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
}

/// What others pushed makes the merged tree red: it stays where it was.
#[test]
fn a_merged_tree_that_is_red_is_not_merged() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let root = sandbox.project.display().to_string();
    let breaks = "printf 'echo 1..1\\necho \"not ok 1 - always\"\\nexit 1\\n' > test.sh";
    let script = format!(
        "if [ \"$LOOP_SKILL\" = document ]; then (cd {root} && {breaks} && git commit -qm breaks test.sh); fi; honest"
    );
    project
        .run_with_moves(&script, &["--max", "200"])
        .exits(4)
        .says("sent back 3 times")
        .says("fails on the merged tree");
    assert_eq!(sandbox.git(&["log", "--format=%s", "-1"]).trim(), "breaks");
    assert_eq!(sandbox.read("lib.sh"), "add() { echo 0; }\n");
    assert_eq!(project.system("sys-002")["status"], "blocked");
    // The person repairs the branch, and the same run merges.
    sandbox.git(&["revert", "--no-edit", "HEAD"]);
    sandbox.run(&["resume"]).exits(0);
    assert!(sandbox.read("lib.sh").contains("$1 + $2"));
}

/// A person says that nothing is in the way any more, while nobody works on the run.
#[test]
fn a_waiting_merge_is_tried_again_by_an_answer() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let root = sandbox.project.display().to_string();
    let script = format!("if [ \"$LOOP_SKILL\" = deploy ]; then echo '# mine' > {root}/lib.sh; fi; honest");
    project.run(&script, &[]).exits(3).says("uncommitted changes in lib.sh");
    sandbox.run(&["answer", "retry"]).exits(0);
    sandbox.run(&["run"]).exits(3).says("uncommitted changes in lib.sh");
    sandbox.git(&["checkout", "-q", "--", "lib.sh"]);
    sandbox.run(&["answer", "retry"]).exits(0);
    sandbox.run(&["run"]).exits(0).says("merged into main");
}

#[test]
fn a_waiting_merge_that_is_aborted_is_over() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let root = sandbox.project.display().to_string();
    let script = format!("if [ \"$LOOP_SKILL\" = deploy ]; then echo '# mine' > {root}/lib.sh; fi; honest");
    project.run(&script, &[]).exits(3).says("uncommitted changes in lib.sh");
    let calls = sandbox.calls();
    sandbox.run(&["answer", "abort"]).exits(0);
    sandbox.run(&["run"]).exits(4).says("aborted by user");
    assert_eq!(sandbox.calls(), calls);
}

/// A person's local changes are never pulled away.
#[test]
fn local_changes_in_the_way_keep_the_merge_back() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    sandbox.write(".gitignore", "local.cfg\n");
    sandbox.commit("what is not for git");
    sandbox.write("local.cfg", "mine\n");
    let root = sandbox.project.display().to_string();
    let script = format!(
        "if [ \"$LOOP_SKILL\" = deploy ]; then echo '# mine' > {root}/lib.sh; fi\n\
         if [ \"$LOOP_SKILL\" = implement ]; then echo theirs > local.cfg; git add -f local.cfg; fi; honest"
    );
    project.run(&script, &[]).exits(3).says("uncommitted changes in lib.sh");
    assert_eq!(sandbox.read("lib.sh"), "# mine\n");
    assert_eq!(project.status()["question"]["kind"], "landing");
    sandbox.run(&["resume"]).exits(3).says("uncommitted changes in lib.sh");
    // The proposed command leaves our own files where they are, so what is put away can be taken back.
    sandbox.git(&["stash", "push", "-q", "--", "lib.sh"]);
    // What git ignores is in no commit either.
    sandbox.run(&["resume"]).exits(3).says("the merge would touch: local.cfg; commit or move them");
    assert_eq!(sandbox.read("local.cfg"), "mine\n");
    std::fs::remove_file(sandbox.project.join("local.cfg")).expect("removed");
    // In a rebase nothing is checked out, and its end moves the branch.
    let edit = ["-c", "sequence.editor=sed -i 1s/pick/edit/"];
    sandbox.git(&[&edit[..], &["rebase", "-q", "--autostash", "-i", "HEAD~1"]].concat());
    sandbox.run(&["resume"]).exits(3).says("is in the middle of a rebase of");
    sandbox.git(&["rebase", "--abort"]);
    sandbox.run(&["resume"]).exits(0);
    assert!(sandbox.read("lib.sh").contains("$1 + $2"));
}

#[test]
fn a_branch_that_nobody_has_checked_out_moves_by_itself() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let root = sandbox.project.display().to_string();
    let target = sandbox.git(&["branch", "--show-current"]).trim().to_owned();
    let script =
        format!("if [ \"$LOOP_SKILL\" = deploy ]; then git -C {root} checkout -q -b mine; fi; honest");
    project.run(&script, &[]).exits(0);
    assert_eq!(sandbox.read("lib.sh"), "add() { echo 0; }\n", "the person's tree stays as it is");
    assert!(sandbox.git(&["show", &format!("{target}:lib.sh")]).contains("$1 + $2"));
}

#[test]
fn a_merged_branch_is_deleted_only_if_asked_for() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let text = sandbox.read(".loop/workflow.toml");
    let rows = [("the sums", "TEST", "tests"), ("review", "REVIEW", "review")].map(|(name, phase, shows)| {
        format!("[[complete]]\nname = \"{name}\"\nphase = \"{phase}\"\nshows = \"{shows}\"\n")
    });
    let rows = rows.concat();
    sandbox.write(".loop/workflow.toml", format!("{text}[workspace]\ndelete_branch = true\n{rows}"));
    sandbox.commit("a branch less");
    project.run("honest", &[]).exits(0);
    assert_eq!(sandbox.git(&["branch", "--list", "feature/*"]), "");
    let handoff = sandbox.project.join("domain-memory/shop/sessions");
    let name = std::fs::read_dir(handoff).expect("a folder").next().expect("a handoff").expect("an entry");
    let text = std::fs::read_to_string(name.path()).expect("a handoff");
    let review = "- [x] review: the verdict is APPROVE, claimed by the agent (REVIEW was passed";
    assert!(text.contains(review), "{text}");
    let sums = "- [x] the sums: 2 of 2 tests pass (TEST was passed";
    assert!(text.contains("- [x] every capability: 1 done") && text.contains(sums), "{text}");
    assert!(!text.contains("] documents:"), "rows of one's own replace the preset's: {text}");
}
