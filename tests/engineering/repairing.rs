//! What becomes of a failure: the one who looks at it repairs it in a commit of its own, which is named where the
//! failure is resolved; one that is left uncommitted is told to the next call and to people.

use crate::project::Project;

/// The first implementation is wrong. `$1` is what debug-assist does beside the repair.
fn failing(repair: &str) -> String {
    format!(
        "work() {{ [ \"$LOOP_SKILL\" = implement ] && echo 'add() {{ echo 1; }}' > lib.sh; true; }}\n\
         if [ \"$LOOP_SKILL\" = debug-assist ]; then echo 'add() {{ echo $(($1 + $2)); }}' > lib.sh; {repair}; \
         say; else honest; fi"
    )
}

#[test]
fn a_repair_is_a_commit_that_the_failure_names() {
    let project = Project::brief();
    project.run(&failing("git commit -qam 'fix(lib): the sum'"), &[]).exits(0);
    let log = project.json("domain-memory/shop/failure-log.json").to_string();
    let commit =
        project.sandbox.git(&["log", "--format=%h", "--abbrev=12", "--grep=fix(lib): the sum", "main"]);
    assert!(log.contains(&format!("debug-assist (commit {})", commit.trim())), "{log}");
}

#[test]
fn a_repair_that_is_not_committed_is_told() {
    let project = Project::brief();
    project.run(&failing("true"), &[]).exits(0);
    let warnings = project.status()["warnings"].to_string();
    assert!(warnings.contains("debug-assist left its repair uncommitted"), "{warnings}");
    let prompts = (1..60).filter(|it| project.sandbox.note(&format!("prompt-{it}")).exists());
    let told = prompts
        .map(|it| project.sandbox.prompt(it))
        .filter(|it| it.contains("commit the repair first, in its own commit"));
    assert_eq!(told.count(), 1, "the call after it is told");
}
