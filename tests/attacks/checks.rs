//! Checks execute what agents write, and people run them outside of a run: `loop checks`, the look at a
//! finished run, the preflight of `loop ship`. None of it passes a gate, and nothing of it stays.

use crate::scene::{BUILD, BUILT, Scene, users};
use loop_harness::{COMMIT, Done, PROMISE};

/// What a check tries at the gate of another run.
const TRIED: [&str; 4] = ["approve", "answer approve", "reject no", "cancel --yes"];

/// Tries it at once, and leaves a process that tries it later, without any environment and in a session of
/// its own.
fn check(scene: &Scene) -> String {
    let mut script = format!("LOOP='{}'; ROOT='{}'\n", loop_harness::program(), scene.root().display());
    for words in TRIED {
        script += &format!(
            "env -u LOOP_RUN LOOP_HOME=\"$ROOT/home\" \"$LOOP\" -C \"$ROOT/gated\" {words} >> \"$ROOT/said\" 2>&1; \
             echo \"$? {words}\" >> \"$ROOT/codes\"\n"
        );
    }
    script += "(env -i PATH=\"$PATH\" setsid tail -f /dev/null \"$ROOT/stays\" < /dev/null > /dev/null 2>&1 &)\n\
               test -f work\n";
    script
}

#[test]
fn g28_no_check_passes_a_gate_whoever_runs_it() {
    for user in users("g28_no_check_passes_a_gate") {
        let scene = Scene::new(user);
        scene.script("git init -q -b main \"$ROOT/gated\" && mkdir \"$ROOT/gated/.loop\"").exits(0);
        scene.file("gated/.loop/workflow.toml", BUILD);
        scene.file("builds.sh", BUILT);
        scene.file("stays", "");
        scene.give();
        scene.script("cd \"$ROOT/gated\"; git add -A; git commit -q -m 'a workflow'").exits(0);
        let gated = scene.path("gated").display().to_string();
        let builds = format!("sh {}", scene.path("builds.sh").display());
        scene.act(&["-C", &gated, "run", "a bridge", "--agent-cmd", &builds]).exits(3);
        scene.write("check.sh", check(&scene));
        scene.workflow(
            "extends = \"ralph\"\n[checks.tests]\nrun = \"sh check.sh\"\n[finish]\nship = \"offer\"\n",
        );
        let agent = scene.plays(&format!("echo x > work; {COMMIT}; {PROMISE}"));
        let steps: [(&str, &[&str], i32); 5] = [
            ("checks before a run", &["checks"], 4),
            ("a run and its proof", &["run", "build it", "--agent-cmd", &agent], 0),
            ("checks of a run", &["checks"], 0),
            ("a finished run is looked at", &["run", "build it", "--agent-cmd", &agent], 0),
            ("the preflight of ship", &["ship", "--no-pr"], 0),
        ];
        for (name, words, code) in steps {
            let _may_not_exist = std::fs::remove_file(scene.path("codes"));
            let done = scene.act(words);
            assert!(done.code == code || code == 4 && done.code != 0, "{user:?}, {name}: {done:?}");
            let codes: Vec<String> = scene.text("codes").lines().map(str::to_owned).collect();
            let refused = |it: &String| it.starts_with("2 ");
            assert!(TRIED.len() <= codes.len() && codes.iter().all(refused), "{user:?}, {name}: {codes:?}");
            let left = scene.processes();
            assert!(!left.iter().any(|it| it.1.contains("/stays")), "{user:?}, {name}: {left:?}");
            let gate = scene.act(&["-C", &gated, "run"]);
            assert_eq!(gate.code, 3, "{user:?}, {name}: {gate:?}");
        }
    }
}

/// What an agent writes into the repository's configuration for reaching a remote passes no gate either.
#[test]
fn g29_what_the_repository_names_for_a_push_passes_no_gate() {
    for user in users("g29_what_the_repository_names_for_a_push") {
        let scene = Scene::new(user);
        scene.script("git init -q -b main \"$ROOT/gated\" && mkdir \"$ROOT/gated/.loop\"").exits(0);
        scene.file("gated/.loop/workflow.toml", BUILD);
        scene.file("builds.sh", BUILT);
        scene.give();
        scene.script("cd \"$ROOT/gated\"; git add -A; git commit -q -m 'a workflow'").exits(0);
        let gated = scene.path("gated").display().to_string();
        let builds = format!("sh {}", scene.path("builds.sh").display());
        scene.act(&["-C", &gated, "run", "a bridge", "--agent-cmd", &builds]).exits(3);
        scene.workflow(
            "extends = \"ralph\"\n[checks.tests]\nrun = \"test -f work\"\n[finish]\nship = \"offer\"\n",
        );
        scene
            .script("git init -q --bare \"$ROOT/remote.git\"; git remote add origin \"$ROOT/remote.git\"")
            .exits(0);
        scene.program(
            "evil",
            &format!(
                "#!/bin/sh\necho \"$0\" >> '{root}/ran'\nenv -u LOOP_RUN LOOP_HOME='{root}/home' '{}' -C '{gated}' approve >> '{root}/said' 2>&1\n\
                 echo $? >> '{root}/codes'\ncase $1 in */remote.git) exec git-receive-pack \"$@\";; esac\nexit 1\n",
                loop_harness::program(),
                root = scene.root().display()
            ),
        );
        scene.give();
        let agent = scene.plays(&format!(
            "echo x > work; {COMMIT}\n\
             for it in remote.origin.receivepack remote.origin.uploadpack core.sshCommand core.askPass credential.helper \
             gpg.program core.fsmonitor core.gitProxy core.editor core.alternateRefsCommand; do git config $it \"$ROOT/evil\"; done\n\
             git config commit.gpgsign true; mkdir -p .git/hooks; cp \"$ROOT/evil\" .git/hooks/pre-push; cp \"$ROOT/evil\" .git/hooks/reference-transaction\n\
             {PROMISE}"
        ));
        scene.act(&["run", "build it", "--agent-cmd", &agent]).exits(0);
        let names = |done: Done| {
            let done = done.exits(4);
            assert!(
                done.err.contains("names a program that git would start to reach the remote"),
                "{done:?}"
            );
            assert!(!scene.path("ran").exists(), "{user:?}: {}", scene.text("ran"));
        };
        names(scene.act(&["ship", "--no-pr"]));
        let quiet = "git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c commit.gpgsign=false";
        scene
            .script(&format!(
                "sed -i 's#url = .*#url = ssh://localhost/nowhere.git#' .git/config; echo y > more; {quiet} add more; {quiet} commit -q -m more"
            ))
            .exits(0);
        names(scene.act(&["ship", "--no-pr"]));
        assert_eq!(scene.act(&["-C", &gated, "run"]).code, 3, "{user:?}");
    }
}
