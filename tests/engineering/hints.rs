//! What a person reads when a system stops, and whether the command that is offered works.

use crate::project::{BRIEF, Project, SYSTEM};
use loop_harness::{Done, Sandbox};

/// Everything that a command printed.
fn said(done: &Done) -> String {
    format!("{done:?}")
}

#[test]
fn the_demo_runs_to_its_end() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["demo", "engineering"]).exits(0);
    done.says("completed").says("The first review gave no verdict");
}

#[test]
fn a_run_that_continues_says_nothing_about_files_that_nobody_changed() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let agent = project.agent("honest");
    sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    // The progress of a system that has a run belongs to the run; the hint shows it.
    sandbox
        .run(&["queue", "set", "sys-002", "--status", "blocked"])
        .exits(2)
        .says("next: loop status --run ");
    let text = said(&sandbox.run(&["run", "-n", "1"]).exits(6));
    assert!(!text.contains("has changed"), "{text}");
    // What somebody does change is told, and nothing else.
    let file = sandbox.read(".loop/workflow.toml");
    sandbox.write(".loop/workflow.toml", format!("{file}[limits]\niterations = 40\n"));
    sandbox.run(&["run", "-n", "1"]).exits(6).says("the workflow file has changed: limits.iterations\n");
}

#[test]
fn a_branch_that_moved_after_the_review_is_reviewed_again() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let once = sandbox.root().join("once");
    let moves = "echo '# more' >> lib.sh; git commit -qam sneaky";
    let script = format!(
        "if [ \"$LOOP_SKILL\" = deploy ] && [ ! -e {0} ]; then : > {0}; {moves}; fi; honest",
        once.display()
    );
    let halted = project.run(&script, &[]).exits(4);
    halted.says("was changed after the review").says("next: loop resume --state REVIEW");
    sandbox.run(&["status"]).exits(0).says("To resume: loop resume --state REVIEW");
    sandbox.run(&["resume", "--state", "REVIEW"]).exits(0).says("merged into");
    assert!(sandbox.read("lib.sh").contains("# more"));
}

#[test]
fn what_a_system_left_is_no_dirt_for_the_next_run() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    project.run("honest", &[]).exits(0);
    assert!(sandbox.git(&["status", "--porcelain"]).contains("domain-memory/"));
    let agent = sandbox.agent("echo x > other.txt; git add other.txt; git commit -qm other; sed -n 's/.*\\(<promise>.*<\\/promise>\\).*/\\1/p' \"$LOOP_PROMPT_FILE\" | tail -1");
    let other = ["run", "write other.txt", "--preset", "ralph", "--agent-cmd", &agent, "-n", "1"];
    let text = said(&sandbox.run(&other));
    assert!(!text.contains("the tree has uncommitted changes"), "{text}");
    assert_eq!(sandbox.read("other.txt"), "x\n", "{text}");
    // A person's own file there is dirt like any other.
    sandbox.run(&["cancel", "--yes"]);
    sandbox.write("domain-memory/shop/dream-state.md", "mine\n");
    let again = ["run", "write more", "--preset", "ralph", "--agent-cmd", &agent, "-n", "1"];
    sandbox.run(&again).exits(2).says("uncommitted changes: domain-memory/shop/dream-state.md");
}

#[test]
fn a_gate_says_why_it_is_asked() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let mode = |mode: &str| {
        let checks =
            "[checks.tests]\nrun = \"sh test.sh\"\ncounts = \"tap\"\n[skills.deploy]\ntarget = \"none\"\n";
        format!("extends = \"engineering\"\nmode = \"{mode}\"\n{checks}{BRIEF}")
    };
    sandbox.write(".loop/workflow.toml", mode("hybrid"));
    sandbox.commit("a mode");
    let asked = project.run("honest", &[]).exits(3);
    let text = said(&asked.says("asked because the mode hybrid always asks the gate security"));
    assert!(!text.contains("the changes touch"), "{text}");
    // In a mode that does not list the gate, what the change touches asks for it.
    sandbox.run(&["cancel", "--yes"]).exits(0);
    sandbox.write(".loop/workflow.toml", format!("{}[modes.hybrid]\ngates = []\n", mode("hybrid")));
    sandbox.commit("another mode");
    let script = "[ \"$LOOP_SKILL\" = implement ] && echo 'password=1' > login.sh; honest";
    let asked = project.run(script, &[]).exits(3);
    asked.says("asked because the changes touch authentication, permissions or secrets");
}

#[test]
fn a_halt_names_the_deliverable_that_is_missing() {
    let project = Project::new();
    let halted = project.run("echo I did nothing", &[]).exits(4);
    let text = said(&halted.says(&format!("the same failure 3 times: missing: {SYSTEM}/SYSTEM.md")));
    assert!(!text.contains("no report"), "{text}");
}

#[test]
fn a_domain_that_is_not_there_is_refused_with_those_that_are() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    let agent = project.agent("honest");
    sandbox.run(&["init", "sys-002", "--agent-cmd", &agent]).exits(0);
    for typed in [vec!["run", "--domain", "nix"], vec!["run", "sys-002", "--domain", "nix"]] {
        sandbox.run(&typed).exits(2).says("there is no domain \"nix\"").says("shop");
    }
    assert!(sandbox.calls().is_empty(), "nothing was called");
    sandbox.run(&["run", "--domain", "shop", "-n", "1"]).exits(6);
}

#[test]
fn a_check_without_a_command_is_asked_for_with_a_proposal() {
    let project = Project::new();
    let sandbox = &project.sandbox;
    sandbox.write(
        ".loop/workflow.toml",
        format!("extends = \"engineering\"\nmode = \"autonomous\"\n[modes.autonomous]\ngates = []\n[skills.deploy]\ntarget = \"none\"\n{BRIEF}"),
    );
    sandbox.write("setup.py", "");
    sandbox.commit("no command");
    let asked = project.run("honest", &[]).exits(3);
    let text = said(
        &asked
            .says("TEST is done except for the check \"tests\"")
            .says("next: loop answer \"python3 -m unittest -v\""),
    );
    assert!(!text.contains("TEST passed"), "{text}");
    sandbox.run(&["answer", "sh test.sh"]).exits(0);
    sandbox.run(&["run"]).exits(0).says("merged into");
}

#[test]
fn a_blockage_is_told_once_and_short() {
    let project = Project::new();
    let script = "if [ \"$LOOP_SKILL\" = security-audit ]; then write SECURITY-AUDIT.md x; save; say ''; else honest; fi";
    let halted = project.run(script, &[]).exits(4);
    let text = said(&halted.says("security-audit did not report critical_findings; and 1 more"));
    assert!(!text.contains("perf"), "its skill has not run: {text}");
    let status = said(&project.sandbox.run(&["status"]).exits(0));
    let told = status.matches("did not report critical_findings").count();
    assert_eq!(told, 1, "{status}");
    let queue = said(&project.sandbox.run(&["queue"]).exits(0));
    assert!(queue.contains("critical_findings; and 1 more"), "{queue}");
}
