//! Work that lands on a remote: the merge is pushed once it is proven, the branch here follows, and a remote that has
//! moved meanwhile is merged with anew. The remote is a bare repository with hooks of its own.

use crate::domain::{Domain, system};
use loop_harness::Done;
use std::process::Command;

/// Moves the branch that is pushed to, as often as a file says, so that git refuses the push.
const MOVES: &str = r#"#!/bin/sh
[ "$1" = refs/heads/main ] || exit 0
n=$(cat COUNT 2>/dev/null || echo 0)
[ "$n" -gt 0 ] || exit 0
echo $((n - 1)) > COUNT
who="-c user.name=ann -c user.email=ann@localhost"
new=$(git $who commit-tree -p "$2" -m "meanwhile $n" "$2^{tree}")
git update-ref refs/heads/main "$new" "$2"
"#;

struct Pushed {
    domain: Domain,
}

impl Pushed {
    fn new() -> Pushed {
        let domain = Domain::new(&[system("sys-001", 1, &[]), system("sys-002", 1, &["sys-001"])]);
        let sandbox = &domain.sandbox;
        let remote = sandbox.path("remote.git").display().to_string();
        sandbox.git(&["clone", "-q", "--bare", ".", &remote]);
        sandbox.git(&["remote", "add", "origin", &remote]);
        sandbox.git(&["fetch", "-q", "origin"]);
        let count = sandbox.path("moves").display().to_string();
        sandbox.program("remote.git/hooks/update", &MOVES.replace("COUNT", &count));
        Pushed { domain }
    }

    fn run(&self, script: &str) -> Done {
        let agent = self.domain.agent(script);
        self.domain.sandbox.run(&["run", "sys-001", "--agent-cmd", &agent])
    }

    /// The remote moves at each of the next so many pushes.
    fn moves(&self, times: u32) {
        self.domain.sandbox.file("moves", times.to_string());
    }

    fn remote(&self, arguments: &[&str]) -> String {
        let remote = self.domain.sandbox.path("remote.git").display().to_string();
        self.domain.sandbox.git(&[&["-C", &remote], arguments].concat())
    }

    /// Somebody else's commit on the remote.
    fn person_pushes(&self, file: &str, text: &str) {
        let sandbox = &self.domain.sandbox;
        let clone = sandbox.path("clone").display().to_string();
        if !sandbox.path("clone").exists() {
            sandbox.git(&["clone", "-q", &sandbox.path("remote.git").display().to_string(), &clone]);
        }
        sandbox.file(&format!("clone/{file}"), text);
        let who = ["-C", &clone, "-c", "user.name=ann", "-c", "user.email=ann@localhost"];
        sandbox.git(&["-C", &clone, "add", "-A"]);
        sandbox.git(&[&who[..], &["commit", "-qm", "somebody else's"]].concat());
        sandbox.git(&["-C", &clone, "push", "-q"]);
    }

    /// The main line of the remote, the newest first.
    fn subjects(&self) -> Vec<String> {
        let log = self.remote(&["log", "--format=%s", "--first-parent", "main"]);
        log.lines().map(str::to_owned).collect()
    }

    /// The work is there once, and the branch here has what the remote has.
    #[track_caller]
    fn assert_landed(&self) {
        let sandbox = &self.domain.sandbox;
        let merges = self.subjects().iter().filter(|it| it.starts_with("Merge sys-001")).count();
        assert_eq!(merges, 1, "{:?}", self.subjects());
        assert_eq!(sandbox.git(&["rev-parse", "main"]), self.remote(&["rev-parse", "main"]));
        assert_eq!(sandbox.read("sys-001.txt"), "sys-001\n");
        assert_eq!(self.domain.system("sys-001")["status"], "complete");
    }
}

#[test]
fn a_merge_is_made_with_the_remotes_tip_proven_and_pushed() {
    let pushed = Pushed::new();
    pushed.person_pushes("b.txt", "somebody else's\n");
    pushed.run("honest").exits(0).says("merged into main");
    pushed.assert_landed();
    assert_eq!(pushed.subjects()[..2], ["Merge sys-001: sys-001", "somebody else's"]);
    let steps = pushed.domain.sandbox.run(&["log"]).exits(0).out;
    assert!(
        steps.contains("the merged tree is proven: the clean checkout: tests passed (2 of 2)"),
        "{steps}"
    );
    // What is taken out again is taken out there, too.
    pushed.domain.sandbox.run(&["queue", "revert", "sys-001"]).exits(0).says("sys-002 (specified)");
    assert_eq!(pushed.subjects()[0], "Revert \"Merge sys-001: sys-001\"");
    assert_eq!(
        pushed.domain.sandbox.git(&["rev-parse", "main"]),
        pushed.remote(&["rev-parse", "main"]),
        "the branch here follows"
    );
}

#[test]
fn a_push_that_is_refused_starts_over_with_the_new_tip() {
    let pushed = Pushed::new();
    pushed.moves(2);
    pushed.run("honest").exits(0).says("the merge starts over: origin refused the push");
    pushed.assert_landed();
    assert_eq!(pushed.subjects()[..3], ["Merge sys-001: sys-001", "meanwhile 1", "meanwhile 2"]);
}

#[test]
fn the_third_refusal_is_a_question_with_what_was_said_each_time() {
    let pushed = Pushed::new();
    let sandbox = &pushed.domain.sandbox;
    pushed.moves(3);
    let asked = pushed.run("honest").exits(3).says("the remote refused it 3 times");
    for (number, last) in [(1, "meanwhile 3"), (2, "meanwhile 2"), (3, "meanwhile 1")] {
        let words = format!("{number}. origin refused the push: ");
        let told = asked.err.lines().any(|it| it.contains(&words) && it.contains(&format!("(ann: {last})")));
        assert!(told, "no {words} {last} in {}", asked.err);
    }
    assert_eq!(sandbox.status()["question"]["kind"], "landing");
    assert_eq!(pushed.subjects()[0], "meanwhile 1");
    // A pool says in its one line what was said first.
    let agent = pushed.domain.agent("honest");
    let pool = sandbox.run(&["run", "--jobs", "1", "--agent-cmd", &agent]).exits(3);
    pool.says("the remote refused it 3 times: 1. origin refused the push: ");
    // Without an answer nothing is tried again.
    sandbox.run(&["resume"]).exits(3);
    assert_eq!(pushed.subjects()[0], "meanwhile 1");
    sandbox.run(&["answer", "retry"]).exits(0);
    sandbox.run(&["run", "sys-001"]).exits(0).says("merged into main");
    pushed.assert_landed();
}

/// What somebody pushed does not go together with the work: it goes back, with a commit that can be merged here.
#[test]
fn what_the_remote_has_got_meanwhile_may_send_the_work_back() {
    let pushed = Pushed::new();
    pushed.person_pushes("sys-001.txt", "not yours\n");
    let script = "if [ $LOOP_PHASE = BUILD ] && [ -e \"$OUT/built\" ]; then \
         at=$(sed -n 's/.*: git merge \\([0-9a-f]*\\);.*/\\1/p' \"$OUT/prompt-$LOOP_CALL\" | head -1); \
         git merge -q -X theirs --no-edit $at; echo $at > \"$OUT/at\"; fi; honest";
    pushed.run(script).exits(0).says("changes the same lines");
    let at = pushed.domain.sandbox.notes("at").pop().expect("a commit was named");
    assert!(pushed.remote(&["rev-parse", "main^1"]).starts_with(&at), "{at}");
    pushed.assert_landed();
}

#[test]
fn nothing_is_pushed_while_something_is_in_the_way_here() {
    let pushed = Pushed::new();
    let sandbox = &pushed.domain.sandbox;
    let before = pushed.remote(&["rev-parse", "main"]);
    // Commits that the remote does not have are somebody's own to push.
    sandbox.write("mine.txt", "mine\n");
    sandbox.commit("my own");
    let asked = pushed.run("honest").exits(3).says("main has 1 commit that origin does not have");
    asked.says("git push origin main").says("my own");
    assert_eq!(pushed.remote(&["rev-parse", "main"]), before);
    sandbox.git(&["push", "-q", "origin", "main"]);
    // Neither is work pushed that the tree here could not follow.
    sandbox.write("test.sh", format!("{}# mine\n", sandbox.read("test.sh")));
    sandbox.run(&["run", "sys-001"]).exits(3).says("uncommitted changes in test.sh");
    assert_eq!(pushed.subjects()[0], "my own");
    sandbox.git(&["checkout", "--", "test.sh"]);
    // And a remote that is away is asked again.
    std::fs::rename(sandbox.path("remote.git"), sandbox.path("away.git")).expect("renamed");
    sandbox.run(&["run", "sys-001"]).exits(3).says("main could not be fetched from origin");
    std::fs::rename(sandbox.path("away.git"), sandbox.path("remote.git")).expect("renamed");
    sandbox.run(&["run", "sys-001"]).exits(0).says("merged into main");
    pushed.assert_landed();
}

/// SIGKILL right before the push, and between the push and the journal.
#[test]
fn a_push_that_is_killed_lands_once() {
    for side in ["before", "after"] {
        let pushed = Pushed::new();
        let sandbox = &pushed.domain.sandbox;
        let found = Command::new("sh").args(["-c", "command -v git"]).output().expect("sh");
        let real = String::from_utf8(found.stdout).expect("a path").trim().to_owned();
        let once = sandbox.path("once").display().to_string();
        sandbox.program(
            "killing/git",
            &format!(
                "#!/bin/sh\ncase \" $* \" in *\" push \"*) ;; *) exec {real} \"$@\";; esac\n\
                 [ -e {once} ] && exec {real} \"$@\"\n: > {once}\n\
                 [ {side} = after ] && {real} \"$@\"\nkill -9 $PPID\n"
            ),
        );
        let agent = pushed.domain.agent("honest");
        let mut command = sandbox.command(&["run", "sys-001", "--agent-cmd", &agent]);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", sandbox.path("killing").display()));
        assert_eq!(sandbox.finish(command, "").code, 1000 + 9, "killed {side} the push");
        let is_there = pushed.subjects()[0].starts_with("Merge sys-001");
        assert_eq!(is_there, side == "after");
        sandbox.run(&["run", "sys-001"]).exits(0).says("merged into main");
        pushed.assert_landed();
    }
}

/// A merge that somebody makes by hand is proven like one of ours.
#[test]
fn a_merge_by_hand_that_fails_blocks_the_system_and_can_be_undone() {
    let pushed = Pushed::new();
    let sandbox = &pushed.domain.sandbox;
    sandbox.write("mine.txt", "mine\n");
    sandbox.commit("my own");
    pushed.run("honest").exits(3);
    sandbox.git(&["merge", "-q", "--no-ff", "--no-commit", "feature/sys-001"]);
    sandbox.write("sys-001.txt", "spoilt\n");
    sandbox.git(&["add", "sys-001.txt"]);
    sandbox.git(&["commit", "-qm", "merged by hand"]);
    sandbox.git(&["push", "-q", "origin", "main"]);
    let merge = sandbox.git(&["rev-parse", "--short=12", "main"]);
    let halted = sandbox.run(&["run", "sys-001"]).exits(4);
    halted
        .says(&format!("it was merged by somebody as {merge}, and that fails"))
        .says("tests/sys-001.sh")
        .says("loop queue revert sys-001");
    assert_eq!(pushed.domain.system("sys-001")["status"], "blocked");
    sandbox.run(&["queue", "revert", "sys-001"]).exits(0);
    assert!(pushed.subjects()[0].starts_with("Revert "), "{:?}", pushed.subjects());
    assert_eq!(pushed.domain.system("sys-001")["blockedReason"], "reverted");
    let agent = pushed.domain.agent("honest");
    sandbox.run(&["run", "sys-001", "--fresh", "--agent-cmd", &agent]).exits(0);
    assert_eq!(sandbox.git(&["rev-parse", "main"]), pushed.remote(&["rev-parse", "main"]));
    assert_eq!(pushed.domain.system("sys-001")["status"], "complete");
}
