//! What is read after a call comes from everything that the call changed, and from nothing else.

use loop_harness::{COMMIT, Sandbox, program, skipped};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A phase that leaves with a file, and one that leaves with a report in a file.
const DELIVERS: &str = r#"
name = "papers"
input = { kind = "none", about = "" }

[[phase]]
name         = "WRITE"
prompt       = "Write it."
report       = "none"
signal       = "none"
deliverables = ["zz-report.md"]
exit         = "files_changed > 0"
"#;

const VERIFIES: &str = r#"
name = "papers"
input = { kind = "none", about = "" }

[[phase]]
name   = "VERIFY"
prompt = "Verify it."
report = { frontmatter = "papers/*-VERIFICATION.md" }
signal = "none"
exit   = 'verdict == "passed"'
"#;

fn sandbox(workflow: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".loop/workflow.toml", workflow);
    sandbox.commit("a workflow");
    sandbox
}

/// A shell command that writes a verification report.
fn report(name: &str, date: &str, status: &str) -> String {
    format!(
        "mkdir -p papers; printf -- '---\\nverified: {date}\\nstatus: {status}\\n---\\n' > papers/{name}-VERIFICATION.md"
    )
}

#[test]
fn a_deliverable_is_found_among_a_thousand_changed_files() {
    let sandbox = sandbox(DELIVERS);
    let agent = sandbox.agent(&format!(
        "i=0; while [ $i -lt 1000 ]; do echo $i > file-$i; i=$((i+1)); done; echo done > zz-report.md; {COMMIT}"
    ));
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent, "-n", "1"]).exits(0);
    // What people and prompts are shown is cut all the same.
    let named = sandbox.events().iter().map(|it| it.to_string().matches("\"file-").count()).max();
    assert!(named.is_some_and(|it| 0 < it && it <= 200), "{named:?}");
}

#[test]
fn an_unreadable_ignored_folder_hides_no_report() {
    const NAME: &str = "an_unreadable_ignored_folder_hides_no_report";
    let sandbox = sandbox(VERIFIES);
    sandbox.write(".gitignore", "locked/\n");
    sandbox.write("locked/inside", "x");
    sandbox.commit("ignore");
    let agent = sandbox.agent(&report("01", "2026-01-01", "passed"));
    std::fs::set_permissions(sandbox.project.join("locked"), std::fs::Permissions::from_mode(0o000))
        .expect("a mode");
    // Root reads everything, unless it gives that up.
    let without = "-dac_override,-dac_read_search";
    let mut command = Command::new("setpriv");
    sandbox.furnish(&mut command);
    command.args(["--bounding-set", without, "--inh-caps", without, program()]);
    command.args(["run", "--unverified", "--agent-cmd", &agent, "-n", "1"]).current_dir(&sandbox.project);
    let done = sandbox.start(command).wait();
    std::fs::set_permissions(sandbox.project.join("locked"), std::fs::Permissions::from_mode(0o755))
        .expect("a mode");
    if done.err.contains("setpriv") || done.code == 127 {
        return skipped(NAME, &done.err);
    }
    done.exits(0);
}

#[test]
fn a_report_that_is_older_than_the_call_says_nothing_about_it() {
    let sandbox = sandbox(VERIFIES);
    sandbox.write("papers/01-VERIFICATION.md", "---\nverified: 2026-01-01\nstatus: passed\n---\n");
    sandbox.commit("verified long ago");
    let agent = sandbox.agent("echo work > work");
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent, "-n", "1"]).exits(6);
    assert_ne!(sandbox.status()["status"], "completed");
    let told = sandbox.events().iter().any(|it| it.to_string().contains("wrote no file that matches"));
    assert!(told, "nobody says why there is no report");
}

/// The later one lies there as well, but was written by the call before.
#[test]
fn of_several_reports_the_latest_by_its_own_date_counts() {
    let sandbox = sandbox(VERIFIES);
    let (older, newer) =
        (report("02", "2026-01-01T08:00:00Z", "passed"), report("01", "2026-01-02", "gaps_found"));
    // Written last, dated first.
    let agent = sandbox.agent(&format!("{newer}; {older}"));
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent, "-n", "1"]).exits(6);
    let other = sandbox.agent(&report("03", "2026-01-01T09:00:00Z", "passed"));
    sandbox.run(&["run", "--unverified", "--agent-cmd", &other, "--max", "5"]).exits(0);
}

#[test]
fn a_report_in_an_ignored_folder_counts_once_and_makes_nothing_unclean() {
    let sandbox =
        sandbox(&VERIFIES.replace("'verdict == \"passed\"'", "'verdict == \"passed\" && tree_clean'"));
    sandbox.write(".gitignore", "papers/\n");
    sandbox.commit("papers are nobody's business");
    sandbox.write("papers/01-VERIFICATION.md", "---\nverified: 2026-01-01\nstatus: passed\n---\n");
    let idle = sandbox.agent("true");
    sandbox.run(&["run", "--unverified", "--agent-cmd", &idle, "-n", "1"]).exits(6);
    let agent = sandbox.agent(&report("02", "2025-01-02", "passed"));
    sandbox.run(&["run", "--unverified", "--agent-cmd", &agent, "--max", "5"]).exits(0);
}

/// Two controllers: the one that reads the report is not the one that started the call.
#[test]
fn a_report_is_found_after_a_crash_too() {
    let sandbox = sandbox(VERIFIES);
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "{}; echo written > \"$OUT/at\"; read line < \"$OUT/go\"",
        report("01", "2026-01-01", "passed")
    ));
    let running = sandbox.spawn(&["run", "--unverified", "--agent-cmd", &agent]);
    at.hear();
    running.kill();
    go.say();
    sandbox.run(&["run"]).exits(0);
    assert_eq!(sandbox.calls(), [1]);
}
