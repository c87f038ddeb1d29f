//! What the rules of `ralph` come to, where no other file tells. Which test tells which rule (all
//! below `tests/`; a story is a file of `stories/`):
//!
//! | rule | told by |
//! |---|---|
//! | no design | `ralph/lock.rs` rt01 |
//! | the newest design, or the one that is named | `ralph/lock.rs` rt02 |
//! | the lock, and the state file's fields | `ralph/lock.rs` rt03, `e2e/trees/mirror.rs` |
//! | the limit as it is typed | `ralph/lock.rs` rt04, `e2e/proving/liar.rs` rt04 |
//! | the promise of each type | `ralph/lock.rs` rt05 |
//! | a second loop | `ralph/hook.rs` rt06 |
//! | a locked design is not refined; its edits warn or halt | `ralph/design.rs` rt07, `ralph/lock.rs`, stories rt09 |
//! | a promise that holds, and the report | `e2e/proving/liar.rs` rt10, here; story rt10 |
//! | a promise that does not | `e2e/proving/liar.rs` rt11, `ralph/hook.rs` rt11; story rt11 |
//! | a clean tree, untracked and staged files | `e2e/proving/liar.rs` rt13; story rt13 |
//! | air in a promise, and where one counts | `e2e/proving/liar.rs` rt16, `src/report/promise.rs` |
//! | criteria | `ralph/lock.rs` rt18, `e2e/proving/liar.rs` rt18; story rt18 |
//! | stuck: the same error, no progress | `e2e/proving/liar.rs` rt19, `ralph/hook.rs` rt19, here; stories rt19 |
//! | the limit, and a promise in the last turn | stories rt20, `e2e/proving/liar.rs`, here |
//! | cancel | `ralph/hook.rs` rt21, `e2e/people/control.rs` |
//! | status | `ralph/design.rs` rt22 |
//! | the hook: prompt, promise, nothing to do | `ralph/hook.rs` rt23, rt24, rt26 |
//! | the prompt's length and words | here rt27, `ralph/lock.rs` rt27 |
//! | validation lines of the design | `e2e/proving/liar.rs` rt29, `src/input.rs` |
//! | no checks | `e2e/proving/liar.rs` rt30, here |
//! | a process for each call | `e2e/proving/liar.rs` rt32 |
//! | what another controller left | `ralph/import.rs` |

use super::session::{CHECK, DESIGN, PROMISE, Sandbox};
use serde_json::json;

const NAME: &str = "DESIGN-20260101-000000.md";

#[test]
fn rt20_a_session_has_25_turns_and_a_promise_in_the_last_one_counts() {
    for keeps in [false, true] {
        let sandbox = Sandbox::new();
        sandbox.begin(CHECK);
        for turn in 1..25 {
            sandbox.write("work.txt", "x".repeat(turn));
            assert!(sandbox.stop("one", 1 < turn, "working").is_some(), "turn {turn}");
        }
        sandbox.fulfil();
        let last = if keeps { PROMISE } else { "still working" };
        assert_eq!(sandbox.stop("one", true, last), None);
        let status = sandbox.status();
        let expected = if keeps { "completed" } else { "capped" };
        assert_eq!((&status["status"], &status["iterations_total"]), (&json!(expected), &json!(25)));
        assert_eq!(sandbox.stop("one", false, PROMISE), None, "there is no turn 26");
        assert_eq!(sandbox.status()["iterations_total"], 25);
    }
}

#[test]
fn rt19_the_same_failure_of_three_promises_is_stuck_and_says_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    for turn in 1..=3 {
        sandbox.write("work.txt", "x".repeat(turn));
        assert_eq!(sandbox.stop("one", 1 < turn, PROMISE).is_some(), turn < 3, "turn {turn}");
    }
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&json!("halted"), &json!(3)));
    assert!(status["next_step"].as_str().is_some_and(|it| it.contains("loop answer")), "{status}");
    let said = sandbox.run(&["resume"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.out.contains("is halted: WORK: "), "{said:?}");
}

#[test]
fn rt27_first_prompts_have_50_to_80_lines_whatever_the_design() {
    let long: String = (0..300).map(|it| format!("- Requirement number {it} of many\n")).collect();
    let designs = [
        "# Short\n".to_owned(),
        DESIGN.to_owned(),
        DESIGN.replace("Feature", "Security").replace("- The greeting is unmistakable\n", &long),
        format!("{DESIGN}\n## Validation Checks\n\n```bash\n./scripts/test.sh\nmake check\n```\n"),
    ];
    let mut prompts = Vec::new();
    for design in &designs {
        for by in [&["--hook"][..], &["--agent-cmd", "true"]] {
            let sandbox = Sandbox::new();
            sandbox.write(NAME, design);
            let words = ["init", NAME, "--preset", "ralph", "--check", "tests=false"];
            let done = sandbox.run(&[&words[..], by].concat());
            assert_eq!(done.code, 0, "{done:?}");
            prompts.push(sandbox.state_file()["prompt"].as_str().expect("a prompt").to_owned());
        }
    }
    for prompt in prompts {
        let lines = prompt.lines().count();
        assert!((50..=80).contains(&lines), "{lines} lines:\n{prompt}");
        assert!(prompt.contains(NAME) && prompt.contains("<promise>"), "{prompt}");
        for copied in ["Requirement number", "unmistakable", "make check"] {
            assert!(!prompt.contains(copied), "{prompt}");
        }
    }
}

#[test]
fn rt10_the_report_of_a_session_says_only_what_was_measured() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    sandbox.fulfil();
    assert_eq!(sandbox.stop("one", false, PROMISE), None);
    let report = sandbox.run(&["show"]).out;
    for line in ["iterations: 1", "tests passed", "hello.txt"] {
        assert!(report.contains(line), "{line}\n{report}");
    }
    // Nothing counted tests, measured coverage, or ran a build.
    for unknown in ["overage", "tests added", "build passed", "lint"] {
        assert!(!report.contains(unknown), "{unknown}\n{report}");
    }
}

#[test]
fn rt30_a_session_needs_a_check_too_or_the_word_that_none_is_wanted() {
    let sandbox = Sandbox::new();
    sandbox.write(NAME, DESIGN);
    sandbox.commit("a design");
    let done = sandbox.run(&["init", "--preset", "ralph", "--hook"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("nothing could prove that the work is done"), "{done:?}");
    assert!(!sandbox.read(NAME).contains("LOCKED"), "nothing was begun");
    assert_eq!(sandbox.run(&["init", "--preset", "ralph", "--hook", "--unverified"]).code, 0);
    sandbox.fulfil();
    assert_eq!(sandbox.stop("one", false, PROMISE), None);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["verified"]), (&json!("completed"), &json!(false)));
}

#[test]
fn the_next_step_of_a_session_is_never_to_drive_it() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    let next = || sandbox.status()["next_step"].as_str().expect("a text").to_owned();
    assert_eq!(next(), "loop wait");
    sandbox.write("a.txt", "1");
    assert!(sandbox.stop("one", false, "working").is_some());
    assert_eq!(next(), "loop wait");
    let said = sandbox.run(&["pause"]);
    assert_eq!(said.out, "the run is paused; the session may stop; continue with: loop resume\n");
    assert_eq!(next(), "loop resume");
    assert_eq!(sandbox.run(&["resume"]).code, 0);
    sandbox.run(&["cancel", "--yes"]);
    let again = next();
    assert!(again.starts_with("loop init --hook DESIGN-") && again.contains(" --check \"tests="), "{again}");
}

#[test]
fn what_the_agent_says_of_a_stop_is_recorded() {
    let sandbox = Sandbox::new();
    sandbox.begin(CHECK);
    for (turn, active) in [(1, false), (2, true), (3, true), (4, false)] {
        sandbox.write("a.txt", "x".repeat(turn));
        assert!(sandbox.stop("one", active, "working").is_some());
    }
    let log = sandbox.run(&["log", "--json"]).out;
    let events = log.lines().map(|it| serde_json::from_str::<serde_json::Value>(it).expect("JSON"));
    let joined: Vec<String> =
        events.map(|it| it.to_string()).filter(|it| it.contains("\"joined\"")).collect();
    let stops: Vec<bool> = joined.iter().skip(1).map(|it| it.contains("\"active\":true")).collect();
    assert_eq!(stops, [false, true, true, false], "{joined:?}");
}
