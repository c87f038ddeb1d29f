//! Whether what a call started has ended is proven, or called unproven.

use crate::scene::{Scene, User, users};
use loop_harness::{COMMIT, PROMISE, skipped};
use std::process::Command;

const WORKFLOW: &str = "name = \"alone\"\n[checks.tests]\nrun = \"test -f work\"\n[agent]\nnamespace = true\n[[phase]]\n\
     name = \"WORK\"\nprompt = \"Do it.\"\nreport = \"none\"\nsignal = \"none\"\nchecks = [\"tests\"]\n\
     exit = \"checks_failing == 0\"\n";

/// What the run says where the first call has killed its keepers.
fn after_both_were_killed(user: User) -> serde_json::Value {
    let scene = Scene::new(user);
    let agent = scene.plays(&format!(
        "if [ \"$LOOP_CALL\" = 1 ]; then shim=$PPID; controller=$(ps -o ppid= -p $shim); kill -9 $controller $shim; exit 0; fi\n\
         echo x > work; {COMMIT}; {PROMISE}"
    ));
    let words = ["run", "build it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    scene.act(&words).exits(1009);
    scene.act(&words).exits(0);
    scene.stands()
}

#[test]
fn g10_where_nobody_can_tell_what_is_left_the_run_is_not_verified() {
    let users = users("g10_where_nobody_can_tell");
    let user = *users.last().expect("somebody");
    let status = after_both_were_killed(user);
    assert_eq!((&status["status"], &status["verified"]), (&"completed".into(), &false.into()), "{status}");
    assert!(status["warnings"].to_string().contains("ruled out"), "{status}");
    // In a control group nothing hides, where the machine gives one.
    if user == User::Ordinary {
        let status = after_both_were_killed(User::Self_);
        let is_unproven = status["warnings"].to_string().contains("ruled out");
        assert_eq!(status["verified"], !is_unproven, "{status}");
    }
}

#[test]
fn g09_with_a_namespace_a_call_has_processes_of_its_own_and_nothing_outlives_it() {
    const NAME: &str = "g09_with_a_namespace";
    for user in users(NAME) {
        let scene = Scene::new(user);
        scene.workflow(WORKFLOW);
        // It is the first process of its own table, and leaves one that hides in every way it can.
        let agent = scene.plays(&format!(
            "echo \"$$ $(ls /proc | grep -c '^[0-9]')\" > \"$OUT/seen\"; readlink /proc/self/ns/pid > \"$OUT/namespace\"\n\
             env -i PATH=\"$PATH\" setsid sh -c 'exec tail -f /dev/null {}' < /dev/null > /dev/null 2>&1 &\n\
             echo x > work; {COMMIT}",
            scene.path("hides").display()
        ));
        scene.file("hides", "");
        scene.give();
        let run = scene.act(&["run", "build it", "--agent-cmd", &agent]).exits(0);
        let log = scene.act(&["log"]).exits(0).out;
        if log.contains("PID namespaces are not available") {
            skipped(NAME, &format!("{user:?}: the kernel grants none"));
            continue;
        }
        // Only in a user namespace do programs that change the user fail.
        let warns = log.contains("programs that change the user (sudo, su");
        let is_root = user == User::Self_ && rustix::process::geteuid().is_root();
        assert_eq!(warns, !is_root, "{user:?}: {log}");
        let seen = scene.notes("seen");
        let (pid, count) = seen[0].split_once(' ').expect("two numbers");
        assert_eq!(pid, "1", "{user:?}: {seen:?} {run:?}");
        assert!(count.parse::<u32>().is_ok_and(|it| it < 10), "{user:?}: {seen:?}");
        let outside = std::fs::read_link("/proc/self/ns/pid").expect("a link");
        assert_ne!(scene.notes("namespace"), [outside.display().to_string()]);
        scene.assert_nothing_runs();
        assert_eq!(scene.stands()["verified"], true);
    }
}

/// From inside of a namespace nobody outside can be seen, so descent says nothing.
#[test]
fn g28_a_call_in_a_namespace_is_known_without_its_environment() {
    const NAME: &str = "g28_a_call_in_a_namespace";
    let tried = ["stop", "pause", "guide hello", "cancel --yes", "answer go", "approve"];
    for user in users(NAME) {
        let scene = Scene::new(user);
        scene.workflow(WORKFLOW);
        let tries: Vec<String> = tried
            .iter()
            .map(|it| format!("\"$LOOP\" {it} >> \"$OUT/said\" 2>&1; echo \"$? {it}\" >> \"$OUT/codes\"\n"))
            .collect();
        scene.file("tries", format!("{}echo x > work; {COMMIT}", tries.concat()));
        let agent = scene.plays(
            "exec env -i PATH=\"$PATH\" HOME=\"$HOME\" LOOP=\"$LOOP\" OUT=\"$OUT\" LOOP_CALL=1 LOOP_HOME=\"$ROOT/home\" \
             setsid sh \"$ROOT/tries\"",
        );
        scene.act(&["run", "build it", "--agent-cmd", &agent]).exits(0);
        if scene.act(&["log"]).exits(0).out.contains("PID namespaces are not available") {
            skipped(NAME, &format!("{user:?}: the kernel grants none"));
            continue;
        }
        let expected: Vec<String> = tried.iter().map(|it| format!("2 {it}")).collect();
        assert_eq!(scene.notes("codes"), expected, "{user:?}: {:?}", scene.notes("said"));
        assert!(scene.remembers().contains("refused inside an agent call: loop stop"));
    }
}

/// Where the kernel refuses, the run says so and works without one.
#[test]
fn g09_a_refused_namespace_is_said() {
    const NAME: &str = "g09_a_refused_namespace_is_said";
    let scene = Scene::new(User::Self_);
    scene.workflow(WORKFLOW);
    scene.program(
        "bin/unshare",
        "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n",
    );
    let agent = scene.plays(&format!("echo x > work; {COMMIT}"));
    let mut command: Command =
        scene.any(loop_harness::program(), &["run", "build it", "--agent-cmd", &agent]);
    let path = std::env::var("PATH").expect("a path");
    command.env("PATH", format!("{}:{path}", scene.path("bin").display()));
    let done = scene.start(command).wait().exits(0);
    let said = format!("{}{}", done.err, scene.act(&["log"]).exits(0).out);
    assert!(said.contains("PID namespaces are not available here"), "{NAME}: {said}");
}

/// Where `/proc` shows a user only their own processes, a call is known all the same. The mount is in namespaces of
/// its own, so the machine's stays as it is.
#[test]
fn g28_where_processes_are_hidden_a_call_is_still_known() {
    const NAME: &str = "g28_where_processes_are_hidden";
    if !users(NAME).contains(&User::Ordinary) {
        return skipped(NAME, "needs root, to mount and to become somebody else");
    }
    let scene = Scene::new(User::Ordinary);
    let tried =
        ["stop", "pause", "guide hello", "cancel --yes", "answer go", "approve", "runs --prune --yes"];
    let one = |before: &str, it: &str| {
        format!(
            "{before} \"$LOOP\" --home \"$ROOT/home\" {it} >> \"$OUT/said\" 2>&1; echo \"$? {it}\" >> \"$OUT/codes\"\n"
        )
    };
    let plain: String = tried.iter().map(|it| one("", it)).collect();
    let bare: String = tried.iter().map(|it| one("env -i PATH=\"$PATH\" setsid -w", it)).collect();
    let agent = scene.plays(&format!(
        "ls /proc | grep -c '^1$' > \"$OUT/first\"\n{plain}{bare}echo x > work; {COMMIT}; {PROMISE}"
    ));
    let script = format!(
        "mount -t proc -o hidepid=2 proc /proc || exit 77\nexec setpriv --reuid 65534 --regid 65534 --clear-groups '{}' run 'build it' \
         --agent-cmd \"{agent}\" --check 'tests=test -f work'",
        loop_harness::program()
    );
    let done = scene.start(scene.furnished("unshare", &["-mpf", "sh", "-c", &script])).wait();
    if done.code == 77 || done.err.contains("unshare failed") {
        return skipped(NAME, "such a mount is not granted here");
    }
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(scene.notes("first"), ["0"], "the first process is not hidden");
    let expected: Vec<String> = tried.iter().chain(&tried).map(|it| format!("2 {it}")).collect();
    assert_eq!(scene.notes("codes"), expected, "{:?}", scene.notes("said"));
    assert!(scene.act(&["log"]).exits(0).out.contains("refused inside an agent call: loop approve"));
}
