//! What others land while a system is built: the same lines, lines that do not go together with it, and lines
//! that the system would take away. The system gets it back as work, with what collided.

use crate::project::Project;

/// Somebody else lands something once, when the system is documented.
fn landing_meanwhile(project: &Project, change: &str, agent: &str) -> String {
    let root = project.sandbox.project.display();
    let out = project.sandbox.note("landed").display().to_string();
    format!(
        "if [ \"$LOOP_SKILL\" = document ] && [ ! -e {out} ]; then touch {out}; (cd {root} && {change}); fi\n{agent}"
    )
}

/// The merges of the target's own line, the newest first.
fn subjects(project: &Project) -> Vec<String> {
    let log = project.sandbox.git(&["log", "--format=%s", "--first-parent"]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn a_conflict_goes_back_with_its_files_and_the_repaired_work_lands() {
    let project = Project::brief();
    let change = "sed -i s/0/00/ lib.sh && git commit -qam 'Merge sys-009: Zeros'";
    let merges = "if [ \"$LOOP_SKILL\" = implement ] && ! git merge-base --is-ancestor main HEAD; then \
                  git merge -q main || { git checkout -q --theirs lib.sh; git add -A; git commit -qm merge; }; fi; honest";
    let script = landing_meanwhile(&project, change, merges);
    project.run_with_moves(&script, &["--max", "200"]).exits(0);
    let steps = project.steps();
    assert!(steps.contains("changes the same lines: lib.sh"), "{steps}");
    assert!(steps.contains("back to IMPLEMENT"), "{steps}");
    assert_eq!(subjects(&project)[..2], ["Merge sys-002: Adder", "Merge sys-009: Zeros"]);
    assert!(project.sandbox.read("lib.sh").contains("$1 + $2"));
    // The prompt says what collided, and how to merge.
    let told = project
        .sandbox
        .calls()
        .into_iter()
        .map(|call| project.sandbox.prompt(call))
        .find(|it| it.contains("the same lines"));
    let told = told.expect("the agent is told");
    assert!(told.contains("git merge main"), "{told}");
}

#[test]
fn two_that_are_green_alone_and_red_together_do_not_land_together() {
    let project = Project::brief();
    let change = "sed -i '2a[ \"$(add 2 -1)\" = 0 ] && echo \"ok 3 - no less\" || { echo \"not ok 3 - no less\"; exit 1; }' test.sh && \
                  git commit -qam 'Merge sys-009: No less'";
    let repairs = "work() { [ \"$LOOP_SKILL\" = implement ] || return 0; \
                   git merge -q main 2>/dev/null; \
                   if [ -e \"$OUT/landed\" ]; then echo 'add() { [ $2 = -1 ] && echo 0 || echo $(($1 + $2)); }' > lib.sh; \
                   else echo 'add() { echo $(($1 + $2)); }' > lib.sh; fi; }; honest";
    let script = landing_meanwhile(&project, change, repairs);
    project.run_with_moves(&script, &["--max", "200"]).exits(0);
    let steps = project.steps();
    assert!(steps.contains("the check \"tests\" fails on the merged tree: no less"), "{steps}");
    assert_eq!(subjects(&project)[..2], ["Merge sys-002: Adder", "Merge sys-009: No less"]);
    let answer = project.sandbox.project.clone();
    let tests = std::process::Command::new("sh").arg("test.sh").current_dir(answer).output().expect("sh");
    assert!(tests.status.success(), "the target is green");
}

/// `git merge -s ours` merges cleanly, and every check of the branch is green.
#[test]
fn lines_of_another_are_not_taken_away() {
    let project = Project::brief();
    let change =
        "mkdir -p other && seq 3 > other/b.txt && git add other && git commit -qm 'Merge sys-009: Numbers'";
    let takes = "if [ \"$LOOP_SKILL\" = code-review ] && [ ! -e \"$OUT/taken\" ]; then touch \"$OUT/taken\"; git merge -q -s ours main; fi; \
                 if [ \"$LOOP_SKILL\" = implement ] && [ -e \"$OUT/taken\" ]; then git checkout -q main -- other; fi; honest";
    let script = landing_meanwhile(&project, change, takes);
    project.run_with_moves(&script, &["--max", "200"]).exits(0);
    let steps = project.steps();
    assert!(steps.contains("other/b.txt: 3 lines of \"Merge sys-009: Numbers\""), "{steps}");
    assert_eq!(project.sandbox.read("other/b.txt"), "1\n2\n3\n");
    assert_eq!(subjects(&project)[0], "Merge sys-002: Adder");
}

/// So does a file that was there when the work began, which a system that it needs may have brought.
#[test]
fn a_merge_does_not_take_away_what_was_there_before_the_work_began() {
    let project = Project::brief();
    project.sandbox.write("b.txt", "1\n2\n3\n");
    project.sandbox.commit("Merge sys-001: Numbers");
    let change = "echo x > c.txt && git add c.txt && git commit -qm 'Merge sys-009: More'";
    let takes = "if [ \"$LOOP_SKILL\" = code-review ] && [ ! -e \"$OUT/taken\" ]; then touch \"$OUT/taken\"; \
                 git merge -q --no-commit --no-ff main; git rm -qf b.txt; git commit -qm 'merge main'; fi; \
                 if [ \"$LOOP_SKILL\" = implement ] && [ -e \"$OUT/taken\" ]; then git checkout -q main -- b.txt; fi; honest";
    let script = landing_meanwhile(&project, change, takes);
    project.run_with_moves(&script, &["--max", "200"]).exits(0);
    let steps = project.steps();
    assert!(steps.contains("b.txt: 3 lines of \"Merge sys-001: Numbers\""), "{steps}");
    assert_eq!(project.sandbox.read("b.txt"), "1\n2\n3\n");
    assert_eq!(subjects(&project)[0], "Merge sys-002: Adder");
}

/// What somebody renames is still what the work has changed; a file that became a program stays one.
#[test]
fn a_file_that_others_renamed_is_merged_and_its_mode_is_not_taken_away() {
    let project = Project::brief();
    project.sandbox.write("long.txt", (1..30).map(|it| format!("line {it}\n")).collect::<String>());
    project.sandbox.write("tool", "echo hi\n");
    project.sandbox.commit("more files");
    let change = "git mv long.txt renamed.txt && chmod +x tool && git commit -qam 'Merge sys-009: Names'";
    let takes = "if [ \"$LOOP_SKILL\" = implement ] && [ ! -e \"$OUT/began\" ]; then touch \"$OUT/began\"; sed -i 's/^line 7$/seven/' long.txt; fi; \
                 if [ \"$LOOP_SKILL\" = code-review ] && [ ! -e \"$OUT/taken\" ]; then touch \"$OUT/taken\"; git merge -q main; \
                 chmod -x tool; git commit -qa --amend --no-edit; fi; \
                 if [ \"$LOOP_SKILL\" = implement ] && [ -e \"$OUT/taken\" ]; then chmod +x tool; fi; honest";
    let script = landing_meanwhile(&project, change, takes);
    project.run_with_moves(&script, &["--max", "200"]).exits(0);
    let steps = project.steps();
    assert!(steps.contains("tool: its mode 100755 of \"Merge sys-009: Names\""), "{steps}");
    assert!(!steps.contains("renamed.txt:"), "nothing of it was taken away: {steps}");
    assert!(project.sandbox.read("renamed.txt").contains("\nseven\n"));
    assert_eq!(project.sandbox.git(&["ls-files", "-s", "tool"]).split(' ').next(), Some("100755"));
}

/// A deletion that is part of the merge itself is nobody's decision.
#[test]
fn a_file_of_another_that_a_merge_deletes_is_refused_until_it_is_blocked() {
    let project = Project::brief();
    let change = "seq 3 > b.txt && git add b.txt && git commit -qm 'Merge sys-009: Numbers'";
    let takes = "if [ \"$LOOP_SKILL\" = code-review ] && ! git merge-base --is-ancestor main HEAD; then \
                 git merge -q --no-commit --no-ff main; git rm -qf b.txt; git commit -qm 'merge main'; fi; honest";
    let script = landing_meanwhile(&project, change, takes);
    project
        .run_with_moves(&script, &["--max", "200"])
        .exits(4)
        .says("sent back 3 times")
        .says("b.txt: 3 lines of");
    assert_eq!(subjects(&project)[0], "Merge sys-009: Numbers");
    assert_eq!(project.system("sys-002")["status"], "blocked");
    assert_eq!(project.sandbox.read("b.txt"), "1\n2\n3\n");
}

/// What a commit of the work's own removes was meant.
#[test]
fn a_commit_of_its_own_may_remove_what_others_added() {
    let project = Project::brief();
    let change = "printf 'old\\n' > b.txt && git add b.txt && git commit -qm 'Merge sys-009: Old'";
    let takes = "if [ \"$LOOP_SKILL\" = code-review ]; then git merge -q main; git rm -q b.txt; git commit -qm 'b goes'; fi; honest";
    let script = landing_meanwhile(&project, change, takes);
    project.run_with_moves(&script, &[]).exits(0);
    assert!(!project.sandbox.project.join("b.txt").exists());
}

/// The second parent of the merge is the commit that was proven, and nothing is proven twice.
#[test]
fn the_proof_of_the_branch_stands_where_the_target_has_not_moved() {
    let project = Project::brief();
    project.run("honest", &[]).exits(0);
    let steps = project.steps();
    assert!(
        steps.contains("the merged tree is proven: it is identical to the tree that was proven"),
        "{steps}"
    );
    let proven = project.status()["proof"]["commit"].as_str().expect("a commit").to_owned();
    assert_eq!(project.sandbox.git(&["rev-parse", "HEAD^2"]).trim(), proven);
    for step in ["merged with main", "moves main from", "merged into main as"] {
        assert!(steps.contains(step), "{step}: {steps}");
    }
}

/// An agent has the rights of its user, so it can commit to the target itself. A person has to know.
#[test]
fn a_target_that_moved_while_an_agent_worked_is_asked_about() {
    let project = Project::brief();
    let change = "echo backdoor > b.txt && git add b.txt && git commit -qm 'nothing to see'";
    let script = landing_meanwhile(&project, change, "honest");
    let done = project.run(&script, &[]).exits(3);
    assert!(done.err.contains("nothing to see"), "{}", done.err);
    let status = project.status();
    assert_eq!(status["question"]["kind"], "landing");
    assert!(status["warnings"].to_string().contains("no run of this home did it"), "{status}");
    project.sandbox.run(&["resume"]).exits(3).says("nothing to see");
    assert_eq!(subjects(&project)[0], "nothing to see");
    project.sandbox.run(&["answer", "abort"]).exits(0);
    project.sandbox.run(&["run", "sys-002"]).exits(4).says("aborted by user");
    assert_eq!(subjects(&project)[0], "nothing to see");
}
