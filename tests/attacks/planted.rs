//! What an agent puts into the folder of its own run: pipes and folders in place of our files, the proof of a
//! later call, settings that git obeys. None of it stops the run for good, starts a call again, or starts a
//! program outside of the calls.

use crate::scene::{BUILD, BUILT, Scene, users};

/// Without its report the first call is not the last.
const FIRST: &str = "if [ \"$LOOP_CALL\" = 1 ]; then folder=$(echo \"$ROOT\"/home/runs/*)";

/// Nothing of this is what stands there otherwise, and whoever opened the pipes would wait for ever.
const IN_THE_WAY: &str = "for it in prompts.jsonl unstarted check-1-unit.log calls.log; do rm -f \"$folder/$it\"; mkfifo \"$folder/$it\"; done\n\
     for it in tests-last.json before-call.json; do rm -f \"$folder/$it\"; mkdir -p \"$folder/$it/below\"; done";

#[test]
fn g35_pipes_and_folders_in_place_of_our_files_stop_nobody() {
    for user in users("g35_pipes_and_folders_in_place_of_our_files") {
        let scene = Scene::new(user);
        scene.workflow(BUILD);
        let agent = scene.plays(&format!("{FIRST}; {IN_THE_WAY}; exit 0; fi\n{BUILT}"));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
        scene.gate_is_open("pipes and folders were in the way");
        assert_eq!(scene.calls(), [1, 2], "{user:?}");
    }
}

/// The same in place of the folder that the run looks at its working tree with: it is named, and made again.
#[test]
fn g35_a_view_that_was_replaced_is_made_again() {
    for user in users("g35_a_view_that_was_replaced") {
        for put in ["mkfifo \"$folder/git\"", "mkdir \"$folder/git\"", "ln -s \"$ROOT/tmp\" \"$folder/git\""]
        {
            let scene = Scene::new(user);
            scene.workflow(BUILD);
            let agent = scene.plays(&format!("{FIRST}; rm -rf \"$folder/git\"; {put}; fi\n{BUILT}"));
            let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(8);
            assert!(done.err.contains("/git/config was changed"), "{user:?}, {put}: {done:?}");
            assert_eq!(done.err.lines().last(), Some("next: loop run"), "{user:?}, {put}: {done:?}");
            scene.act(&["run"]).exits(3);
            scene.gate_is_open(put);
            assert_eq!(scene.calls(), [1], "{user:?}, {put}");
        }
    }
}

/// The first call lets the proof of the second one appear under a name of its own.
#[test]
fn g10_the_proof_that_a_call_was_not_started_is_not_handed_to_an_earlier_one() {
    for user in users("g10_the_proof_that_a_call_was_not_started") {
        let scene = Scene::new(user);
        scene.workflow(BUILD);
        let agent = scene.plays(&format!(
            "folder=$(echo \"$ROOT\"/home/runs/*); own=$OUT/own\n\
             if [ \"$LOOP_CALL\" = 1 ]; then touch \"$own\"; ln \"$own\" \"$folder/unstarted\"; exit 0; fi\n\
             if [ \"$LOOP_CALL\" = 2 ]; then shim=$PPID; kill -9 $(awk '/^PPid/ {{ print $2 }}' /proc/$shim/status) $shim\n\
             cp \"$own\" \"$own.2\"; (cd \"$folder\" && rm -f call-2* calls.log shim-* && cat \"$own.2\" > unstarted); fi\n{BUILT}"
        ));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]);
        assert_eq!(scene.notes("own"), Vec::<String>::new(), "{user:?}: an agent has read it");
        scene.act(&["run"]).exits(3);
        let calls = scene.calls();
        assert_eq!(calls.iter().filter(|it| **it == 2).count(), 1, "{user:?}: {calls:?}");
        assert!(!scene.act(&["log"]).exits(0).out.contains("was never started"), "{user:?}");
    }
}

/// What a proof found is kept in the home and not found again; an agent that makes it better is not believed.
#[test]
fn g21_a_result_of_the_proof_that_an_agent_changed_is_found_again() {
    const FREE: &str = "gates = [\"review\"]\n";
    const FORGES: &str = "sed -i 's/\"exit\":\"OLD\"/\"exit\":\"NEW\"/g' $(grep -l '\"step\":\"STEP\"' \"$ROOT\"/home/proof/*/results/*.json)";
    let forges = |step: &str, old: &str, new: &str| {
        FORGES.replace("STEP", step).replace("OLD", old).replace("NEW", new)
    };
    for user in users("g21_a_result_of_the_proof") {
        // In place an ignored file makes the check pass, and in a clean checkout it does not.
        let scene = Scene::new(user);
        scene.write(".gitignore", "built\n");
        scene.workflow(&BUILD.replace(FREE, ""));
        let agent = scene.plays(&format!(
            "if [ \"$LOOP_CALL\" = 2 ]; then {}; fi\necho work > work; {BUILT}",
            forges("clean", "red", "green")
        ));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
        assert_eq!(scene.stands()["question"]["kind"], "proof", "{user:?}: {}", scene.stands());
        assert_eq!(scene.calls(), [1, 2], "{user:?}");

        // The check passed before the run; said to have failed then, it would prove any work.
        let scene = Scene::new(user);
        scene.write("built", "");
        scene.workflow(&BUILD.replace(FREE, ""));
        let agent = scene.plays(&format!(
            "until grep -q baseline \"$ROOT\"/home/proof/*/results/*.json 2> /dev/null; do :; done\n{}\necho work > work; {BUILT}",
            forges("baseline", "green", "red")
        ));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(0);
        let status = scene.stands();
        assert_eq!(
            (&status["verified"], &status["proof"]["level"]),
            (&false.into(), &"unchanged-green".into()),
            "{user:?}: {status}"
        );
    }
}

/// A filter in the settings of the run's own view would be started by git, outside of every call.
#[test]
fn g28_settings_of_the_view_start_no_program_that_could_pass_a_gate() {
    for user in users("g28_settings_of_the_view_start_no_program") {
        for settings in ["$folder/git/config", "$OUT/common/config"] {
            let scene = Scene::new(user);
            scene.workflow(BUILD);
            scene.file("filter", "#!/bin/sh\necho started >> \"$OUT/filter\"\ncat\n");
            let agent = scene.plays(&format!(
                "folder=$(echo \"$ROOT\"/home/runs/*); mkdir -p \"$OUT/common\"\n\
                 [ \"{settings}\" = \"$folder/git/config\" ] || {{ cp -r \"$folder/git/.\" \"$OUT/common\"; echo \"$OUT/common\" > \"$folder/git/commondir\"; }}\n\
                 printf '[filter \"own\"]\\n\\tclean = env OUT=%s sh %s\\n[core]\\n\\tfsmonitor = %s\\n' \"$OUT\" \"$ROOT/filter\" \"$ROOT/filter\" >> \"{settings}\"\n\
                 echo '* filter=own' > .gitattributes; {BUILT}"
            ));
            let done = scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(8);
            assert!(done.err.contains("/git/config was changed"), "{user:?}, {settings}: {done:?}");
            assert_eq!(done.err.lines().last(), Some("next: loop run"), "{user:?}, {settings}: {done:?}");
            scene.act(&["run"]).exits(3);
            scene.gate_is_open(settings);
            assert!(!scene.note("filter").exists(), "{user:?}, {settings}: {:?}", scene.notes("filter"));
        }
    }
}

/// What the repository names for reaching its remote runs when the work is shipped, and whatever else git is
/// led to start while a run is driven; neither is a person.
#[test]
fn g28_a_program_that_git_starts_for_us_passes_no_gate() {
    const TRIED: [&str; 3] = ["approve", "answer approve", "cancel --yes"];
    for user in users("g28_a_program_that_git_starts") {
        let scene = Scene::new(user);
        scene.script("git init -q -b main \"$ROOT/gated\" && mkdir \"$ROOT/gated/.loop\"").exits(0);
        scene.file("gated/.loop/workflow.toml", BUILD);
        scene.file("builds.sh", BUILT);
        let (root, program) = (scene.root().display(), loop_harness::program());
        let tries = format!(
            "for it in '{}'; do env -i PATH=/usr/bin:/bin LOOP_HOME=\"{root}/home\" setsid -w \"{program}\" -C \"{root}/gated\" $it; \
             echo \"$? $it\"; done >> \"{root}/out/tried\" 2>&1\n",
            TRIED.join("' '")
        );
        scene.file("reach", format!("{tries}exit 1\n"));
        let git = format!(
            "#!/bin/sh\n[ -n \"$LOOP_RUN\" ] || [ ! -e \"{root}/out/worked\" ] || {{ rm \"{root}/out/worked\"; {tries}}}\nPATH=${{PATH#*:}}\nexec git \"$@\"\n"
        );
        scene.file("bin/git", git);
        scene.give();
        scene
            .script(
                "chmod +x \"$ROOT/bin/git\"; cd \"$ROOT/gated\"; git add -A; git commit -q -m 'a workflow'",
            )
            .exits(0);
        let gated = scene.path("gated").display().to_string();
        let builds = format!("sh {}", scene.path("builds.sh").display());
        scene.act(&["-C", &gated, "run", "a bridge", "--agent-cmd", &builds]).exits(3);
        let refused = |words: &str| {
            let said = scene.notes("tried");
            let codes = TRIED.map(|it| format!("2 {it}"));
            assert!(codes.iter().all(|it| said.contains(it)), "{user:?}: {said:?}");
            assert!(said.iter().any(|it| it.contains(words)), "{user:?}, {words}: {said:?}");
            let gate = scene.act(&["-C", &gated, "status", "--json"]).exits(0).out;
            assert!(gate.contains("\"waiting\"") && gate.contains("\"gate\""), "{user:?}: {gate}");
        };
        scene.workflow(&format!(
            "{}[finish]\nship = \"offer\"\n",
            BUILD.replace("gates = [\"review\"]\n", "")
        ));
        // The person named the script; what is in it could be anybody's.
        scene.script("git config core.sshCommand \"sh $ROOT/reach\"").exits(0);
        let agent = scene.plays(&format!("touch \"$OUT/worked\"; {BUILT}"));
        scene
            .script(&format!("PATH=\"$ROOT/bin:$PATH\" \"$LOOP\" run 'another bridge' --agent-cmd '{agent}'"))
            .exits(0);
        refused("this was started by whoever drives run");
        std::fs::remove_file(scene.note("tried")).expect("a note");
        scene.script("git remote add origin ssh://example.org/it").exits(0);
        scene.act(&["ship", "--no-pr"]).exits(1);
        refused("this is inside an agent call of run");
    }
}

/// Git starts filters for whoever looks at files, in submodules too, and what they leave running belongs to no call.
/// None is started, neither at the end of a run nor by a look at it.
#[test]
fn g29_a_filter_that_an_agent_sets_up_is_never_started() {
    const DONE: &str = "echo '<promise>TASK_COMPLETE</promise>'";
    for user in users("g29_a_filter_that_an_agent_sets_up") {
        let scene = Scene::new(user);
        scene.file("filter", "echo started >> \"$OUT/filter\"; cat\n");
        let sets_up = "own() { git -C \"$1\" config filter.own.clean \"env OUT=$OUT sh $ROOT/filter\"; \
             git -C \"$1\" config filter.own.process \"env OUT=$OUT sh $ROOT/filter\"; }\n\
             echo '* filter=own' > .git/info/attributes\n\
             git init -q sub; (cd sub; echo 1 > f; echo '* filter=own' > .gitattributes; git add -A; git commit -q -m s)\n\
             touch built; git add -A; git commit -q -m built; own .; own sub; touch built sub/f sub/.gitattributes";
        for (input, more, exit) in [("a bridge", "", 0), ("a tower", "echo 2 > sub/f", 4)] {
            let agent =
                scene.plays(&format!("[ -e built ] || {{ {sets_up}; }}; {more}\ntouch built\n{DONE}"));
            let check = ["--check", "unit=test -f built", "-n", "4"];
            scene.act(&[&["run", input, "--agent-cmd", &agent], &check[..]].concat()).exits(exit);
            for look in
                [&["status", "--json"][..], &["show"], &["show", "1", "--diff"], &["restore"], &["checks"]]
            {
                scene.act(look);
            }
            assert_eq!(scene.notes("filter"), Vec::<String>::new(), "{user:?}: {input}");
        }
    }
}
