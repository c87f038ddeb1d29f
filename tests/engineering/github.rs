//! Work that lands through a pull request. `gh` is a script that records what it is asked and answers from a bare
//! repository, as the host would.

use crate::project::{BRIEF, Project, SYSTEM};
use loop_harness::Done;
use serde_json::json;

const CHECKS: &str =
    "[checks.tests]\nrun = \"sh test.sh\"\ncounts = \"tap\"\n[skills.deploy]\ntarget = \"none\"\n";

/// A project whose remote is a bare repository beside it.
struct Hosted {
    project: Project,
}

impl Hosted {
    /// `more` is added to a workflow that asks no gate.
    fn new(more: &str) -> Hosted {
        Hosted::with(&format!(
            "extends = \"engineering\"\nmode = \"autonomous\"\n[modes.autonomous]\ngates = []\n{CHECKS}\
             [merge]\nthrough = \"gh\"\nlabels = [\"system\"]\nreviewers = [\"@ann\"]\n{more}"
        ))
    }

    fn with(workflow: &str) -> Hosted {
        let mut project = Project::new();
        let sandbox = &mut project.sandbox;
        let (remote, state) = (sandbox.path("remote.git"), sandbox.path("host"));
        std::fs::create_dir(&state).expect("a folder");
        let script = include_str!("scripted_gh.sh");
        let script = script.replace("STATE", &state.display().to_string());
        sandbox.program("bin/gh", &script.replace("REMOTE", &remote.display().to_string()));
        sandbox.path_first.push(sandbox.path("bin"));
        sandbox.write(".loop/workflow.toml", format!("{workflow}{BRIEF}"));
        sandbox.commit("a workflow");
        sandbox.git(&["clone", "-q", "--bare", ".", &remote.display().to_string()]);
        sandbox.git(&["remote", "add", "origin", &remote.display().to_string()]);
        Hosted { project }
    }

    fn run(&self) -> Done {
        self.project.sandbox.run(&["run"])
    }

    /// What the host was asked, a line each.
    fn asked(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.project.sandbox.path("host/asked")).unwrap_or_default();
        text.lines().map(|it| it.trim_end().to_owned()).collect()
    }

    fn has_asked(&self, words: &str) -> usize {
        self.asked().iter().filter(|it| it.contains(words)).count()
    }

    /// What the remote has.
    fn remote(&self, arguments: &[&str]) -> String {
        let remote = self.project.sandbox.path("remote.git").display().to_string();
        self.project.sandbox.git(&[&["-C", &remote], arguments].concat())
    }

    /// Somebody merges the request on the host.
    fn person_merges(&self) {
        let gh = self.project.sandbox.path("bin/gh");
        let done = self.project.sandbox.furnished(gh, &["person", "merges"]).output().expect("it runs");
        assert!(done.status.success(), "{done:?}");
    }

    /// Somebody else's commit on the remote's main branch.
    fn person_pushes(&self, file: &str, text: &str) {
        let sandbox = &self.project.sandbox;
        let (clone, remote) = (sandbox.path("clone").display().to_string(), sandbox.path("remote.git"));
        if !sandbox.path("clone").exists() {
            sandbox.git(&["clone", "-q", &remote.display().to_string(), &clone]);
        }
        sandbox.git(&["-C", &clone, "pull", "-q"]);
        sandbox.file(&format!("clone/{file}"), text);
        let who = ["-C", &clone, "-c", "user.name=ann", "-c", "user.email=ann@localhost"];
        sandbox.git(&[&who[..], &["commit", "-qam", "somebody else's"]].concat());
        sandbox.git(&["-C", &clone, "push", "-q"]);
    }

    fn reviews(&self, reviews: &[(&str, &str, &str)]) {
        let all: Vec<String> = reviews
            .iter()
            .map(|(login, state, commit)| {
                json!({"author": {"login": login}, "state": state, "body": "as I said", "submittedAt": LATER,
                    "commit": {"oid": commit}})
                .to_string()
            })
            .collect();
        self.project.sandbox.file("host/reviews", all.join(","));
    }
}

/// After everything that the script writes down.
const LATER: &str = "2999-01-01T00:00:00Z";

#[test]
fn a_system_lands_through_a_pull_request_that_is_proven_first() {
    let hosted = Hosted::new("");
    let sandbox = &hosted.project.sandbox;
    hosted.person_pushes("README.md", "somebody else's\n");
    hosted.project.run("honest", &[]).exits(0).says("merged into main");
    let head = sandbox.git(&["rev-parse", "feature/adder"]);
    let asked = hosted.asked();
    let kinds: Vec<String> =
        asked.iter().map(|it| it.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "pr list",
        "pr create",
        "pr list",
        "pr view",
        "label create",
        "pr edit",
        "pr comment",
        "pr merge",
        "pr view",
    ];
    assert_eq!(kinds, expected, "{asked:#?}");
    assert!(asked[1].contains("--head feature/adder --base main --title sys-002: Adder"), "{asked:#?}");
    assert!(asked[1].contains("Closes #7") && asked[1].contains("[x] tests pass"), "{asked:#?}");
    assert!(asked[5].contains("--add-label system --add-reviewer ann"), "{asked:#?}");
    assert_eq!(asked[7], format!("pr merge 7 --merge --match-head-commit {head}"));
    let merge = hosted.remote(&["rev-parse", "main"]);
    assert_eq!(hosted.remote(&["rev-parse", "main^2"]), head);
    // The project's own branch follows.
    assert_eq!(sandbox.git(&["rev-parse", "main"]), merge);
    assert!(
        sandbox.read("lib.sh").contains("$1 + $2") && sandbox.read("README.md").contains("somebody else's")
    );
    assert_eq!(hosted.project.status()["delivered"]["commit"], merge.as_str());
    assert_eq!(hosted.project.system("sys-002")["status"], "complete");
}

#[test]
fn or40_the_run_waits_until_people_have_merged_and_asks_the_host_each_time() {
    let hosted = Hosted::new("by = \"people\"\n");
    hosted
        .project
        .run("honest", &[])
        .exits(3)
        .says("the pull request is not merged: https://github.com/org/shop/pull/7");
    assert_eq!(hosted.project.loop_state()["state"], "SHIP");
    let before = hosted.has_asked("pr view");
    hosted.run().exits(3);
    assert!(before < hosted.has_asked("pr view"), "{:?}", hosted.asked());
    // That it is done is not believed, but looked at.
    hosted.project.sandbox.run(&["answer", "done", "--by", "ann"]).exits(0);
    hosted.run().exits(3).says("not merged yet: https://github.com/org/shop/pull/7");
    let warnings = hosted.project.status()["warnings"].to_string();
    assert!(warnings.contains("ann answered done, but it is not merged"), "{warnings}");
    assert_eq!(hosted.project.loop_state()["state"], "SHIP");
    assert_eq!(hosted.has_asked("pr create"), 1);
    assert_eq!(hosted.has_asked("pr comment"), 1);
    hosted.person_merges();
    hosted.project.sandbox.run(&["answer", "done", "--by", "ann"]).exits(0);
    hosted.run().exits(0).says("merged into main");
    assert_eq!(hosted.has_asked("pr merge"), 0, "nobody merges in their place");
    assert_eq!(hosted.project.loop_state()["state"], "COMPLETE");
}

#[test]
fn a_request_that_a_person_merged_into_a_red_tree_blocks_the_system() {
    let hosted = Hosted::new("by = \"people\"\n");
    hosted.project.run("honest", &[]).exits(3).says("the pull request is not merged");
    hosted.person_pushes("test.sh", "echo 1..1\necho 'not ok 1 - always'\nexit 1\n");
    hosted.person_merges();
    let merge = hosted.remote(&["rev-parse", "--short=12", "main"]);
    let halted = hosted.run().exits(4);
    halted
        .says(&format!("merged by ann as {merge}"))
        .says("loop queue revert sys-002")
        .says("fails on the merged tree");
    assert_eq!(hosted.project.loop_state()["state"], "BLOCKED");
    assert_eq!(hosted.project.system("sys-002")["status"], "blocked");
    // That it is done does not make it green; what undoes it goes to the host.
    hosted.project.sandbox.run(&["answer", "resume"]).exits(0);
    hosted.run().exits(4).says("loop queue revert sys-002");
    hosted.project.sandbox.run(&["queue", "revert", "sys-002"]).exits(4).says("without it, tests failed");
    hosted.person_pushes("test.sh", &hosted.project.sandbox.read("test.sh"));
    hosted.project.sandbox.run(&["queue", "revert", "sys-002"]).exits(0);
    assert!(
        hosted.remote(&["log", "-1", "--format=%s", "main"]).starts_with("Revert \"Merge pull request #7")
    );
    assert_eq!(hosted.project.system("sys-002")["blockedReason"], "reverted");
}

#[test]
fn a_merge_that_would_be_red_or_that_the_host_refuses_is_not_made() {
    let hosted = Hosted::new("");
    hosted.person_pushes("test.sh", "echo 1..1\necho 'not ok 1 - always'\nexit 1\n");
    // It goes back to those who did the work, with what fails and a commit that can be merged here.
    let script = "if [ $LOOP_SKILL = implement ] && grep -q 'fails on the merged tree' \"$OUT/prompt-$LOOP_CALL\"; then \
         printf -- '```json\\n{\"status\":\"failed\",\"error\":{\"class\":\"ambiguous\",\"text\":\"sent back\"}}\\n```\\n'; \
         else honest; fi";
    hosted.project.run(script, &[]).exits(4).says("back to IMPLEMENT").says("sent back");
    assert_eq!(hosted.has_asked("pr merge"), 0);
    let hosted = Hosted::new("");
    hosted.project.sandbox.file("host/protected", "");
    hosted.project.run("honest", &[]).exits(3).says("the base branch policy prohibits the merge");
    std::fs::remove_file(hosted.project.sandbox.path("host/protected")).expect("it was there");
    hosted.run().exits(0).says("merged into main");
    assert_eq!(hosted.has_asked("pr merge"), 2);
}

/// What is merged is what was proven, and commits of somebody else are never pushed away.
#[test]
fn commits_that_somebody_pushed_to_the_branch_are_named_and_not_merged() {
    let hosted = Hosted::new("by = \"people\"\n");
    let sandbox = &hosted.project.sandbox;
    hosted.project.run("honest", &[]).exits(3).says("the pull request is not merged");
    let (clone, remote) = (sandbox.path("clone").display().to_string(), sandbox.path("remote.git"));
    sandbox.git(&["clone", "-q", "-b", "feature/adder", &remote.display().to_string(), &clone]);
    sandbox.file("clone/lib.sh", "add() { echo 3; }\n");
    let who = ["-C", &clone, "-c", "user.name=eve", "-c", "user.email=eve@localhost"];
    sandbox.git(&[&who[..], &["commit", "-qam", "one more"]].concat());
    sandbox.git(&["-C", &clone, "push", "-q"]);
    let theirs = hosted.remote(&["rev-parse", "--short=12", "feature/adder"]);
    let halted = hosted.run().exits(4).says(&format!("https://github.com/org/shop/pull/7 is at {theirs}"));
    halted.says("somebody pushed to feature/adder").says("next: loop resume --state REVIEW");
    assert_eq!(hosted.project.loop_state()["state"], "BLOCKED");
    assert_eq!(hosted.remote(&["rev-parse", "--short=12", "feature/adder"]), theirs);
}

#[test]
fn a_host_that_cannot_be_asked_is_asked_again_and_nothing_is_assumed() {
    let hosted = Hosted::new("");
    hosted.project.sandbox.file("host/down", "");
    hosted.project.run("honest", &[]).exits(3).says("could not resolve host");
    assert_eq!(hosted.project.system("sys-002")["status"], "review");
    std::fs::remove_file(hosted.project.sandbox.path("host/down")).expect("it was there");
    hosted.run().exits(0).says("merged into main");
}

/// Agents use the same account as we do, and have the same rights here.
#[test]
fn a_gate_takes_the_word_of_those_it_lists_and_never_the_agents_own() {
    let gate = "[gates.security]\nlogins = [\"Ann\", \"robot\"]\nreviewers = [\"org/security\"]\n";
    let hosted = Hosted::with(&format!(
        "extends = \"engineering\"\nmode = \"autonomous\"\n[modes.autonomous]\ngates = [\"security\"]\n{CHECKS}\
         [merge]\nthrough = \"gh\"\n{gate}"
    ));
    let sandbox = &hosted.project.sandbox;
    hosted
        .project
        .run("honest", &[])
        .exits(3)
        .says("can also be answered on https://github.com/org/shop/pull/7");
    let asked = hosted.asked();
    assert!(
        asked
            .iter()
            .any(|it| it == "pr edit 7 --add-label needs:security-review --add-reviewer org/security"),
        "{asked:#?}"
    );
    assert!(
        asked.iter().any(|it| it.contains("## Security review requested") && it.contains("changes: ")),
        "{asked:#?}"
    );
    let head = sandbox.git(&["rev-parse", "feature/adder"]);
    let old = sandbox.git(&["rev-parse", "main"]);
    // The agents' account, somebody who is not listed, and a review of another commit.
    hosted.reviews(&[
        ("robot", "APPROVED", &head),
        ("eve", "APPROVED", &head),
        ("ann", "APPROVED", &old),
        ("ann", "COMMENTED", &head),
    ]);
    hosted.run().exits(3);
    assert_eq!(hosted.project.loop_state()["gates"]["security"]["status"], "requested");
    assert_eq!(hosted.has_asked("--add-label needs:security-review"), 1, "it is asked once");
    hosted.reviews(&[("ann", "APPROVED", &head)]);
    hosted.run().exits(0);
    assert_eq!(hosted.project.loop_state()["gates"]["security"]["approvedBy"], "ann on GitHub");
    assert_eq!(hosted.has_asked("--remove-label needs:security-review"), 1, "{:#?}", hosted.asked());
}

/// A weakened test is green by itself; only the target's own tests on the merged tree show it.
#[test]
fn a_merge_through_the_host_is_proven_with_the_tests_of_its_target() {
    let hosted = Hosted::new("by = \"people\"\n");
    let sandbox = &hosted.project.sandbox;
    hosted.project.run("honest", &[]).exits(3);
    // Whoever merges changes code and test together, so that every check passes.
    let (clone, remote) = (sandbox.path("clone").display().to_string(), sandbox.path("remote.git"));
    sandbox.git(&["clone", "-q", &remote.display().to_string(), &clone]);
    let who = ["-C", &clone, "-c", "user.name=ann", "-c", "user.email=ann@localhost"];
    sandbox.git(&[&who[..], &["merge", "-q", "--no-ff", "--no-commit", "origin/feature/adder"]].concat());
    sandbox.file("clone/lib.sh", "add() { echo 7; }\n");
    sandbox.file("clone/test.sh", "echo 1..1\necho 'ok 1 - it loads'\n");
    sandbox.git(&[&who[..], &["commit", "-qam", "merged by hand"]].concat());
    sandbox.git(&["-C", &clone, "push", "-q"]);
    let commit = hosted.remote(&["rev-parse", "main"]);
    for (name, text) in [("merged", commit.as_str()), ("merged-by", "ann"), ("state", "MERGED")] {
        sandbox.file(&format!("host/{name}"), text);
    }
    hosted.run().exits(4).says("merged by ann as").says("it adds").says("loop queue revert sys-002");
    // A repair on the host is seen.
    sandbox.git(&["-C", &clone, "checkout", "-q", "origin/feature/adder", "--", "lib.sh", "test.sh"]);
    sandbox.git(&[&who[..], &["commit", "-qm", "repaired"]].concat());
    sandbox.git(&["-C", &clone, "push", "-q"]);
    sandbox.run(&["answer", "resume"]).exits(0);
    hosted.run().exits(0).says("merged into main");
}

/// A gate that is answered here is no longer asked there.
#[test]
fn the_label_of_a_gate_goes_when_it_is_answered_here() {
    let gate = "[gates.deploy]\nlogins = [\"ann\"]\n";
    let hosted = Hosted::with(&format!(
        "extends = \"engineering\"\nmode = \"autonomous\"\n{CHECKS}[merge]\nthrough = \"gh\"\n{gate}"
    ));
    hosted.project.run("honest", &[]).exits(3).says("Ship it?");
    assert_eq!(hosted.project.sandbox.text("host/labels"), "needs:deploy-review\n");
    hosted.project.sandbox.run(&["reject", "deploy", "not now", "--by", "ann"]).exits(0);
    hosted.run().exits(4).says("not now");
    assert_eq!(hosted.project.sandbox.text("host/labels"), "");
}

#[test]
fn changes_asked_for_on_the_request_go_back_with_their_text() {
    let gate = "[gates.deploy]\nlogins = [\"ann\"]\n";
    let hosted = Hosted::with(&format!(
        "extends = \"engineering\"\nmode = \"autonomous\"\n{CHECKS}[merge]\nthrough = \"gh\"\n{gate}"
    ));
    let sandbox = &hosted.project.sandbox;
    hosted.project.run("honest", &[]).exits(3).says("Ship it?");
    hosted.reviews(&[("ann", "CHANGES_REQUESTED", &sandbox.git(&["rev-parse", "feature/adder"]))]);
    hosted.run().exits(3).says("back to IMPLEMENT");
    let history = hosted.project.loop_state()["failures"]["history"].to_string();
    assert!(history.contains("gate-rejection") && history.contains("as I said"), "{history}");
    // The gate is asked about the new commit, and the old review is not taken for it.
    assert_eq!(hosted.project.loop_state()["gates"]["deploy"]["status"], "requested");
    let comment =
        json!({"author": {"login": "ann"}, "createdAt": LATER, "body": "Deploy approved"}).to_string();
    let before = sandbox.text("host/comments");
    sandbox.file("host/comments", format!("{before},{comment}"));
    hosted.run().exits(0).says("merged into main");
}

#[test]
fn a_program_that_an_agent_puts_in_the_place_of_gh_is_not_asked() {
    let hosted = Hosted::new("");
    let gh = hosted.project.sandbox.path("bin/gh").display().to_string();
    let script = format!(
        "[ \"$LOOP_SKILL\" = deploy ] && {{ cp {gh} {gh}.old; echo '# mine' >> {gh}.old; mv {gh}.old {gh}; }}; honest"
    );
    hosted.project.run(&script, &[]).exits(3).says("has changed since the run began");
    assert!(hosted.asked().is_empty(), "{:?}", hosted.asked());
}

#[test]
fn without_gh_or_a_remote_it_says_so_before_anything_begins() {
    let project = Project::new();
    let text = project.sandbox.read(".loop/workflow.toml");
    project.sandbox.write(".loop/workflow.toml", format!("{text}[merge]\nthrough = \"gh\"\n"));
    project.sandbox.commit("a host");
    project.run("honest", &[]).exits(2).says("the repository has no remote");
    assert_eq!(project.system("sys-002")["status"], "specified", "nothing was claimed");
    assert!(!project.sandbox.project.join(SYSTEM).exists());
}

/// Somebody pushed more to the branch and merged that: what came of it is proven, whoever wrote it.
#[test]
fn a_request_that_was_merged_with_more_than_was_proven_is_proven_as_it_is() {
    for (text, exit, says) in [
        ("add() { echo $(($2 + $1)); }\n", 0, "merged into main"),
        ("add() { echo 0; }\n", 4, "loop queue revert sys-002"),
    ] {
        let hosted = Hosted::new("by = \"people\"\n");
        let sandbox = &hosted.project.sandbox;
        hosted.project.run("honest", &[]).exits(3).says("the pull request is not merged");
        let (clone, remote) = (sandbox.path("clone").display().to_string(), sandbox.path("remote.git"));
        sandbox.git(&["clone", "-q", "-b", "feature/adder", &remote.display().to_string(), &clone]);
        sandbox.file("clone/lib.sh", text);
        let who = ["-C", &clone, "-c", "user.name=eve", "-c", "user.email=eve@localhost"];
        sandbox.git(&[&who[..], &["commit", "-qam", "one more"]].concat());
        sandbox.git(&["-C", &clone, "push", "-q"]);
        hosted.person_merges();
        hosted.run().exits(exit).says(says);
    }
}
