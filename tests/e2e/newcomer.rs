//! What a newcomer meets in the first ten minutes: a project without a check, an agent whose promise is
//! in the wrong place, files that checks leave behind, and a run that is over.

use loop_harness::hints::hints;
use loop_harness::{PROMISE, Sandbox};

#[test]
fn without_a_check_the_command_of_the_stack_is_proposed() {
    let rows: [(&[(&str, &str)], &str); 4] = [
        (&[("package.json", "{}")], "node --test"),
        (&[("calc.py", "x = 1\n")], "python3 -m unittest -v"),
        (&[("api/go.mod", "module api\n"), ("web/index.html", "")], "(cd api && go test -v ./...)"),
        (&[("notes.txt", "")], "./test.sh"),
    ];
    for (files, command) in rows {
        let sandbox = Sandbox::new();
        for (name, text) in files {
            sandbox.write(name, text);
        }
        sandbox.commit("a project");
        let agent = sandbox.agent(PROMISE);
        let hint = format!("next: loop run it --agent-cmd \"{agent}\" --check tests=\"{command}\"\n");
        sandbox.run(&["run", "it", "--agent-cmd", &agent]).exits(2).says(&hint);
        sandbox.run(&["checks"]).exits(2).says(&format!("next: loop checks --check tests=\"{command}\"\n"));
        sandbox.run(&["doctor"]).says(&format!("loop checks --check tests=\"{command}\""));
    }
}

#[test]
fn a_promise_inside_a_line_is_seen_and_the_reason_says_why_it_does_not_count() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(
        "echo work > work; git add -A; git commit -qm work; echo 'All done: <promise>TASK_COMPLETE</promise>.'",
    );
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "2"];
    let why =
        "the agent's promise does not count: it is inside a line of text, but must be alone on its own line";
    sandbox
        .run(&words)
        .exits(6)
        .says("call 1 finished in")
        .says("the agent's promise does not count\n")
        .says(why);
    assert!(sandbox.prompt(2).contains(why), "{}", sandbox.prompt(2));
    sandbox.run(&["why"]).exits(0).says(why);
}

#[test]
fn a_completed_run_names_what_its_checks_left_uncommitted() {
    for (ignored, state) in
        [("", "uncommitted: left.txt (left by the checks)"), ("left.txt\n", "git status clean")]
    {
        let sandbox = Sandbox::new();
        sandbox.write(".gitignore", ignored);
        sandbox.commit("what git ignores");
        let agent = sandbox.agent(&format!("echo work > work; git add work; git commit -qm work; {PROMISE}"));
        let check = "tests=touch left.txt; test -f work";
        let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", check]).exits(0);
        assert!(done.err.contains(&format!(".md, {state}\n")), "{}", done.err);
    }
}

#[test]
fn guidance_for_a_run_that_is_over_says_so_and_how_to_start_another() {
    let sandbox = Sandbox::new();
    sandbox.run(&["guide", "look again"]).exits(2).says("no run in this project").says("next: loop run ");
    let agent = sandbox.agent(&format!("echo work > work; git add work; git commit -qm work; {PROMISE}"));
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    sandbox.run(&words).exits(0);
    let over = "the run is completed: there is no next prompt for this guidance";
    for (said, exit, why) in
        [(&["guide", "look again"], 2, over), (&["resume", "--reset"], 0, "already done")]
    {
        let done = sandbox.run(said).exits(exit).says(why);
        let hint = hints(&done.out, &done.err).remove(0);
        assert!(hint.starts_with("loop run it ") && hint.ends_with(" --fresh"), "{hint}");
    }
}

#[test]
fn guidance_for_a_halted_run_names_the_command_that_continues_it() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    let words = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    sandbox.run(&words).exits(4).says("next: loop answer reset\n");
    sandbox.run(&["guide", "write the file work"]).exits(0).says("saved; continue with: loop answer reset\n");
    sandbox.run(&["answer", "reset"]).exits(0).says("saved; continue with: loop run\n");
    let calls = u32::try_from(sandbox.calls().len()).expect("a few");
    sandbox.run(&["run"]).exits(4);
    assert!(sandbox.prompt(calls + 1).contains("write the file work"));
}
