//! `[finish]`: what a workflow may have done at the end of a run. It happens only where the workflow
//! says so, once, however often the controller is killed, and what stands in its way takes nothing
//! from a run that is completed.

use loop_harness::{Done, Scripted, until_there};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A project with a remote, stand-ins for `gh` and `git` that keep what they are told, and a workflow
/// with this section at its end.
fn project(finish: &str) -> Scripted {
    let sandbox = Scripted::with_lines();
    let remote = sandbox.path("remote.git").display().to_string();
    sandbox.git(&["init", "-q", "--bare", &remote]);
    sandbox.git(&["remote", "add", "origin", &remote]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    let root = sandbox.root().display().to_string();
    sandbox.program(
        "bin/gh",
        &"#!/bin/sh\necho \"$1 $2\" >> ROOT/gh\ncase \"$2\" in list) cat ROOT/open 2>/dev/null; true;; \
          create) echo https://example.org/pull/7 > ROOT/open; . ROOT/pause; hold gh after; cat ROOT/open;; esac\n"
            .replace("ROOT", &root),
    );
    // Holds the program at the point that the file `at` names until it is told that whoever started it
    // is dead.
    sandbox.pipe("dead");
    sandbox.file(
        "pause",
        "hold() { if [ \"$(cat ROOT/at 2>/dev/null)\" = \"$1 $2\" ]; then rm ROOT/at; touch ROOT/here; \
          read it < ROOT/dead; exit 1; fi; }\n"
            .replace("ROOT", &root),
    );
    let git = sandbox.furnished("sh", &["-c", "command -v git"]).output().expect("sh");
    let git = String::from_utf8_lossy(&git.stdout).trim().to_owned();
    // The agent's own git is none of ours.
    let script = "#!/bin/sh\nif [ -n \"$LOOP_CALL\" ]; then exec GIT \"$@\"; fi\n. ROOT/pause\nfor it in \"$@\"; do case \"$it\" in switch|commit|push) word=$it; break;; \
        esac; done\nif [ -z \"$word\" ]; then exec GIT \"$@\"; fi\nhold $word before\nGIT \"$@\"\ncode=$?\n\
        echo $word >> ROOT/acts\nhold $word after\nexit $code\n";
    sandbox.program("bin/git", &script.replace("ROOT", &root).replace("GIT", &git));
    sandbox.file("project/.loop/workflow.toml", format!("extends = \"tdd\"\n[finish]\n{finish}\n"));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "workflow"]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    sandbox.step(
        "QA",
        "echo late > late.txt\nreport true <<E\nQA_METRICS:\n  BLOCKING_ISSUES: 0\nVERDICT: APPROVE\nE\n",
    );
    sandbox
}

/// `loop run` of the project's own workflow, with the stand-ins in front.
fn driving(sandbox: &Scripted) -> Command {
    let (agent, check) = (sandbox.path("agent"), sandbox.path("check"));
    let mut command = sandbox.command(&["run", "docs/PRPs/2026-01-13-greetings.md", "--agent-cmd"]);
    command.arg(agent).arg("--check").arg(format!("tests={}", check.display()));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", sandbox.path("bin").display()));
    command
}

fn drive(sandbox: &Scripted) -> Done {
    Done::of(driving(sandbox).output().expect("started"))
}

fn status(sandbox: &Scripted) -> Value {
    serde_json::from_str(&sandbox.run(&["status", "--json"]).exits(0).out).expect("JSON")
}

/// How often something left the house, and what is there.
fn effects(sandbox: &Scripted) -> (usize, String, String) {
    let gh = std::fs::read_to_string(sandbox.path("gh")).unwrap_or_default();
    let created = gh.lines().filter(|it| *it == "pr create").count();
    let commits = sandbox.git(&["log", "--format=%s", "--grep=^feat: greetings", "--all"]);
    (created, commits, sandbox.git(&["ls-remote", "origin", "refs/heads/feature/*"]))
}

#[test]
fn bp96_nothing_is_pushed_unless_the_workflow_says_so() {
    for finish in ["", "ship = \"offer\"", "ship = \"off\""] {
        let sandbox = project(finish);
        let done = drive(&sandbox).exits(0);
        assert_eq!(effects(&sandbox), (0, String::new(), String::new()), "{finish}: {}", done.err);
        assert!(!sandbox.path("acts").exists());
        let offers = finish != "ship = \"off\"";
        assert_eq!(status(&sandbox)["next_step"].as_str().is_some_and(|it| it.contains("loop ship")), offers);
    }
}

const SHORT: &str = "name = \"short\"\ninput = { kind = \"file\" }\n[agent]\nreport = \"prp-status\"\n\
    [checks.tests]\n[[phase]]\nname = \"WORK\"\nprompt = \"do it\"\nchecks = [\"tests\"]\n\
    exit = \"tests_passing >= 1 && tests_failing == 0\"\n[finish]\nship = \"auto\"\n\
    [mirror]\nformat = \"prp-session\"\n";

#[test]
fn g06_what_is_handed_in_at_the_end_is_handed_in_once() {
    let points =
        ["", "switch before", "switch after", "commit before", "commit after", "push after", "gh after"];
    for point in points {
        let sandbox = project("ship = \"auto\"");
        // One phase is enough for its end.
        sandbox.file("project/.loop/workflow.toml", SHORT);
        sandbox.git(&["commit", "-qam", "short"]);
        sandbox.step("WORK", "echo a > tests/cases.txt; echo a > done.txt; report true </dev/null\n");
        if !point.is_empty() {
            sandbox.file("at", point);
            let mut child =
                driving(&sandbox).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
            until_there(&sandbox.path("here"), &mut child);
            child.kill().expect("killed");
            child.wait().expect("ended");
            std::fs::write(sandbox.path("dead"), "dead\n").expect("written");
            assert_eq!(status(&sandbox)["status"], "running", "{point}");
        }
        let done = drive(&sandbox).exits(0);
        let head = sandbox.git(&["rev-parse", "refs/heads/feature/greetings"]);
        assert_eq!(
            effects(&sandbox),
            (1, "feat: greetings".to_owned(), format!("{head}\trefs/heads/feature/greetings")),
            "{point}: {}",
            done.err
        );
        assert_eq!(sandbox.phase_calls(), ["WORK 1 none"], "{point}");
        let result = sandbox.session_json("ship-result.json");
        assert_eq!(
            ["success", "pr_url"].map(|it| result[it].clone()),
            [json!(true), json!("https://example.org/pull/7")]
        );
        let shown = sandbox.run(&["show"]).exits(0).out;
        assert!(shown.contains(&format!("shipped: feature/greetings at {}", &head[..7])), "{shown}");
        // Once more changes nothing.
        drive(&sandbox).exits(0);
        assert_eq!(effects(&sandbox).0, 1, "{point}");
    }
}

#[test]
fn what_stands_in_the_way_takes_nothing_from_a_completed_run() {
    let sandbox = project("ship = \"auto\"");
    sandbox.git(&["branch", "feature/greetings"]);
    let done = drive(&sandbox).exits(0);
    assert!(done.err.contains("not shipped: the branch feature/greetings exists already"), "{}", done.err);
    assert_eq!(effects(&sandbox).0, 0);
    let state = status(&sandbox);
    assert_eq!(state["status"], "completed");
    assert!(state["warnings"][0].as_str().is_some_and(|it| it.contains("next: loop ship")), "{state:#}");
    assert_eq!(state["next_step"], "loop ship, or loop ship --dry-run");
    assert_eq!(sandbox.session_json("loop-state.json")["status"], "completed");
    assert_eq!(sandbox.git(&["symbolic-ref", "--short", "HEAD"]), "main");

    // A person mends it and does it by hand.
    sandbox.git(&["branch", "-D", "feature/greetings"]);
    let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let shipped = Done::of(sandbox.command(&["ship"]).env("PATH", path).output().expect("started")).exits(0);
    assert!(shipped.out.contains("https://example.org/pull/7"), "{}", shipped.out);
    assert_eq!(effects(&sandbox).0, 1);
    assert_eq!(status(&sandbox)["next_step"], "loop show");
}

#[test]
fn a_review_that_a_person_skipped_is_never_handed_in() {
    let sandbox = project("ship = \"auto\"");
    sandbox.step("QA", "report false </dev/null\n");
    drive(&sandbox).exits(4);
    sandbox.run(&["answer", "skip"]).exits(0);
    let done = drive(&sandbox).exits(0);
    assert!(
        done.err.contains("not shipped, because the run is not verified: not proven: a person skipped QA"),
        "{}",
        done.err
    );
    assert_eq!(effects(&sandbox), (0, String::new(), String::new()));
    assert_eq!(status(&sandbox)["next_step"], "loop show");
}

#[test]
fn documents_are_committed_where_the_workflow_says_so() {
    let documents = |sandbox: &Scripted| {
        let script = sandbox.text("steps/DOCUMENT").replace("commit docs\n", "");
        sandbox.step("DOCUMENT", &script);
    };
    let sandbox = project("ship = \"off\"\ncommit_docs = true");
    documents(&sandbox);
    drive(&sandbox).exits(0);
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%B"]),
        "docs: greetings\n\nPRP: docs/PRPs/2026-01-13-greetings.md"
    );
    assert_eq!(
        sandbox.git(&["show", "--name-only", "--format=", "HEAD"]),
        "docs/adr/0001-one-file.md\ndocs/overview.md\ndocs/parts.md\ndocs/usage.md"
    );
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? late.txt");

    let sandbox = project("ship = \"off\"");
    documents(&sandbox);
    drive(&sandbox).exits(0);
    assert!(!sandbox.path("acts").exists());
}
