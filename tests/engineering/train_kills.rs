//! SIGKILL at every moment of a landing: before and after each git command of the controller, between which
//! everything is written to the journal. However it was hit, there is one merge, and it is not lost.

use crate::project::Project;
use loop_harness::times;
use std::process::Command;

/// One in so many git commands is hit, before it or after it; the campaign hits each of them on both sides.
const EACH: usize = 9;

/// A git that kills whoever started it at the moment that a file names, if that is a controller.
fn killing_git(project: &Project) -> String {
    let sandbox = &project.sandbox;
    let real =
        String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().expect("sh").stdout)
            .expect("a path");
    let (real, out) = (real.trim().to_owned(), sandbox.path("moments").display().to_string());
    std::fs::create_dir_all(&out).expect("a folder");
    sandbox.program(
        "killing/git",
        &format!(
            "#!/bin/sh\n\
             case $(tr '\\0' ' ' < /proc/$PPID/cmdline) in *__*) exec {real} \"$@\";; esac\n\
             [ -e {out}/at ] || exec {real} \"$@\"\n\
             n=$(($(cat {out}/count 2>/dev/null || echo 0) + 1)); echo $n > {out}/count\n\
             read at side < {out}/at\n\
             [ $n != $at ] && exec {real} \"$@\"\n\
             [ $side = before ] && kill -9 $PPID && exit 1\n\
             {real} \"$@\"; code=$?; kill -9 $PPID; exit $code\n"
        ),
    );
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", sandbox.path("killing").display())
}

/// Everything as it was when the run began to wait for the merge.
fn copied(from: &str, to: &str) {
    let done = Command::new("sh").args(["-c", &format!("rm -rf '{to}' && cp -a '{from}' '{to}'")]).status();
    assert!(done.expect("sh").success());
}

#[test]
fn a_landing_that_is_killed_anywhere_lands_once() {
    let project = Project::brief();
    let sandbox = &project.sandbox;
    let root = sandbox.project.display().to_string();
    let meanwhile = format!(
        "if [ \"$LOOP_SKILL\" = document ]; then git -C {root} commit -q --allow-empty -m meanwhile; fi; \
         if [ \"$LOOP_SKILL\" = git-workflow ] && [ $LOOP_PHASE = SHIP ]; then echo '# mine' >> {root}/lib.sh; fi; honest"
    );
    project.run_with_moves(&meanwhile, &[]).exits(3);
    sandbox.git(&["checkout", "--", "lib.sh"]);
    let before = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let path = killing_git(&project);
    let (home, kept) = (sandbox.home.display().to_string(), sandbox.path("kept").display().to_string());
    std::fs::create_dir_all(&kept).expect("a folder");
    copied(&root, &format!("{kept}/project"));
    copied(&home, &format!("{kept}/home"));
    let resume = |at: Option<String>| {
        let moments = sandbox.path("moments");
        let _none = std::fs::remove_file(moments.join("count"));
        let _none = std::fs::remove_file(moments.join("at"));
        if let Some(at) = at {
            std::fs::write(moments.join("at"), at).expect("written");
        }
        let mut command = sandbox.command(&["resume"]);
        command.env("PATH", &path);
        sandbox.finish(command, "")
    };
    let is_campaign = 1 < times();
    let step = if is_campaign { 1 } else { EACH };
    let both = (1..).step_by(step).flat_map(|at| [(at, "before"), (at, "after")]).enumerate();
    let one_of_them = |number: usize| [1, 2].contains(&(number % 4));
    let mut landings = 0;
    for (_, (at, side)) in both.filter(|(number, _)| is_campaign || one_of_them(*number)) {
        copied(&format!("{kept}/project"), &root);
        copied(&format!("{kept}/home"), &home);
        let first = resume(Some(format!("{at} {side}\n")));
        let was_killed = first.code == 1000 + 9;
        if was_killed {
            resume(None).exits(0);
        } else {
            assert_eq!(first.code, 0, "{}", first.err);
        }
        let merges = sandbox.git(&["rev-list", "--merges", "--first-parent", &format!("{before}..HEAD")]);
        assert_eq!(merges.lines().count(), 1, "killed {side} git command {at}: {merges}");
        assert!(sandbox.read("lib.sh").contains("$1 + $2"), "killed {side} git command {at}");
        assert_eq!(sandbox.git(&["status", "--porcelain", "lib.sh", "test.sh"]), "");
        assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 1);
        landings += usize::from(was_killed);
        if !was_killed {
            break;
        }
    }
    println!("{landings} moments were hit");
    assert!(8 <= landings, "{landings} moments were hit");
}
