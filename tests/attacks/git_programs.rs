//! Programs that git would start because a configuration names them: in the repository, in the person's own files, in
//! what either includes. An agent that runs as the person may write all of these. None of what it names is started by
//! a git of ours, what the person had before goes on working, and a change is named.

use crate::scene::{Scene, users};
use loop_harness::program;

const DONE: &str = "echo '<promise>TASK_COMPLETE</promise>'";

/// A phase that ends without a commit, so that `loop ship` makes one.
const UNCOMMITTED: &str = "name = \"handed\"\n[checks.unit]\nrun = \"test -f made\"\n[[phase]]\nname = \"BUILD\"\n\
     prompt = \"Build it.\"\nreport = \"json\"\nchecks = [\"unit\"]\n[finish]\nship = \"offer\"\n";

const REPORTED: &str = "echo '```json'; echo '{\"status\":\"done\"}'; echo '```'";

/// Every class of setting that names a program. `evil NAME` leaves a note and does what is asked of a filter.
const SETTINGS: &str = "[core]\n\tfsmonitor = evil fsmonitor\n\thooksPath = HOOKS\n\tpager = evil pager\n\teditor = evil editor\n\
     \talternateRefsCommand = evil alternates\n\tsshCommand = evil ssh\n\taskPass = evil askpass\n[diff]\n\texternal = evil external\n\
     [diff \"a=b\"]\n\tcommand = evil diff\n\ttextconv = evil textconv\n[filter \"a=b\"]\n\tclean = evil clean\n\tsmudge = evil smudge\n\
     \trequired\n[filter \"own\"]\n\tprocess = evil process\n[merge \"a=b\"]\n\tdriver = evil merge\n[merge]\n\tdefault = a=b\n\
     [gpg]\n\tprogram = evil gpg\n[log]\n\tshowSignature\n[push]\n\tgpgSign = if-asked\n\trecurseSubmodules = on-demand\n\
     [credential]\n\thelper = !evil credential\n[sequence]\n\teditor = evil sequence\n[commit]\n\tgpgSign\n[trailer \"x\"]\n\tcmd = evil trailer\n\
     [hook \"x\"]\n\tevent = post-index-change\n\tcommand = evil hook\n";

/// Where an agent may put them, as the end of a shell command that is given the settings.
const PLACES: [(&str, &str); 6] = [
    ("the repository", ">> .git/config"),
    ("an include", "> .git/more; git config include.path more"),
    ("a condition", "> \"$HOME/more\"; git config --global includeIf.gitdir:/.path \"$HOME/more\""),
    ("a worktree's own", "> .git/config.worktree; git config extensions.worktreeConfig true"),
    ("the person", ">> \"$HOME/.gitconfig\""),
    ("the person's other file", "> \"$HOME/.config/git/config\""),
];

fn scene_with_remote(user: crate::scene::User) -> Scene {
    let scene = Scene::new(user);
    scene.program("bin/evil", "#!/bin/sh\necho \"$1\" >> ROOT/out/evil; cat\n");
    let text = scene.text("bin/evil").replace("ROOT", &scene.root().display().to_string());
    scene.program("bin/evil", &text);
    let names = ["pre-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-push"];
    for name in names {
        scene.program(
            &format!("hooks/{name}"),
            &format!("#!/bin/sh\n{}/bin/evil {name}\n", scene.root().display()),
        );
    }
    scene.give();
    scene
        .script(
            "mkdir -p \"$HOME/.config/git\" && git init -q --bare \"$ROOT/remote.git\" && git remote add origin \"$ROOT/remote.git\" && \
             git init -q sub && (cd sub; echo 1 > f; git add f; git commit -q -m s) && git add sub && git commit -q -m sub && \
             git push -q origin main",
        )
        .exits(0);
    scene
}

fn settings(scene: &Scene) -> String {
    let root = scene.root().display().to_string();
    SETTINGS.replace("evil", &format!("{root}/bin/evil")).replace("HOOKS", &format!("{root}/hooks"))
}

#[test]
fn g29_nothing_that_an_agent_names_in_a_configuration_of_git_is_started() {
    let users = users("g29_nothing_that_an_agent_names");
    // Every place for one of them, and the most likely one for each.
    for (index, (place, end)) in PLACES.into_iter().enumerate() {
        let all = place == "the person";
        for user in
            users.iter().copied().enumerate().filter(|it| all || it.0 == index % users.len()).map(|it| it.1)
        {
            let scene = scene_with_remote(user);
            scene.file("settings", settings(&scene));
            // The last git of the call comes before the settings.
            let agent = scene.plays(&format!(
                "[ -e built ] && {{ touch built sub/f; {DONE}; exit; }}; touch built; git add built; git commit -q -m built\n\
                 for it in '* filter=a=b diff=a=b merge=a=b' 'f filter=own'; do echo \"$it\" >> .git/info/attributes; \
                 echo \"$it\" >> \"$HOME/.config/git/attributes\"; done\n\
                 cp .git/info/attributes sub/.git/info/attributes; cat \"$ROOT/settings\" >> sub/.git/config\n\
                 cat \"$ROOT/settings\" {end}\ntouch built sub/f README.md\n{DONE}"
            ));
            let run = ["run", "a bridge", "--agent-cmd", &agent, "--check", "unit=test -f built", "-n", "4"];
            let done = scene.act(&run).exits(0);
            assert!(done.err.contains("git's configuration names programs"), "{user:?}, {place}: {done:?}");
            for look in [
                &["status"][..],
                &["show"],
                &["show", "1", "--diff"],
                &["restore"],
                &["restore", "1"],
                &["checks"],
                &["verify"],
                &["evidence"],
                &["runs"],
                &["doctor"],
                &["ship", "--no-pr"],
                &run,
            ] {
                scene.act(look);
                assert_eq!(scene.notes("evil"), [""; 0], "{user:?}, {place}: {look:?}");
            }
            // The settings are such that git starts what they name.
            scene.script("touch README.md; git status; git log -p -1; git push -q origin main:other; true");
            assert!(3 < scene.notes("evil").len(), "{user:?}, {place}: {:?}", scene.notes("evil"));
        }
    }
}

/// A filter that the person had keeps being used, in a worktree and for what is handed in. Once somebody changed it, it
/// is not started, and what it would store is not handed in without it.
#[test]
fn g29_a_filter_that_the_person_had_is_used_until_somebody_changes_it() {
    for user in users("g29_a_filter_that_the_person_had") {
        for changes in [false, true] {
            let scene = Scene::new(user);
            scene
                .script(
                    "git config --global filter.store.clean 'sed s/plain/stored/'; git config --global filter.store.smudge 'sed s/stored/plain/'; \
                     git config --global filter.store.required true; echo '*.dat filter=store' > .gitattributes; echo plain > a.dat; \
                     git add -A; git commit -q -m 'a filter'; git cat-file blob HEAD:a.dat | grep -q stored",
                )
                .exits(0);
            scene.workflow(UNCOMMITTED);
            let change = if changes {
                "git config --global filter.store.clean \"env OUT=$OUT sh -c 'echo x >> $OUT/evil; cat'\"\n"
            } else {
                ""
            };
            let agent = scene.plays(&format!(
                "grep -q plain a.dat || echo 'no plain text' >> \"$OUT/wrong\"; touch made; echo plain > b.dat\n{change}{REPORTED}"
            ));
            // By its bytes, which is how a run looks at it, the first file is not what was committed.
            scene.act(&["run", "a bridge", "--agent-cmd", &agent, "--allow-dirty"]).exits(0);
            let done = scene.act(&["ship", "--no-pr"]);
            let stored = scene.script("git cat-file blob HEAD:b.dat");
            if changes {
                assert_eq!(done.code, 4, "{user:?}: {done:?}");
                assert!(done.err.contains("b.dat goes through the filter store"), "{user:?}: {done:?}");
                assert_ne!(stored.code, 0, "{user:?}: {stored:?}");
                let warned = scene.stands()["warnings"].to_string();
                assert!(warned.contains("filter.store.clean in"), "{user:?}: {warned}");
            } else {
                assert_eq!((done.code, stored.out.as_str()), (0, "stored\n"), "{user:?}: {done:?}");
                let agent = scene.plays(&format!(
                    "grep -q plain a.dat || echo 'no plain text' >> \"$OUT/wrong\"; git rm -q made; git commit -q -m c\n{REPORTED}"
                ));
                let check = "unit=! test -f made";
                scene
                    .act(&[
                        "run",
                        "a tower",
                        "--agent-cmd",
                        &agent,
                        "--check",
                        check,
                        "--worktree",
                        "--allow-dirty",
                    ])
                    .exits(0);
            }
            assert_eq!(scene.notes("wrong"), [""; 0], "{user:?}");
            assert_eq!(scene.notes("evil"), [""; 0], "{user:?}");
        }
    }
}

/// What git encrypts is not handed in as plain text because the filter is one of the repository's own.
#[test]
fn g29_a_file_of_a_filter_that_is_not_started_is_not_handed_in() {
    for user in users("g29_a_file_of_a_filter_that_is_not_started") {
        let scene = Scene::new(user);
        scene
            .script("git config filter.crypt.clean 'tr a-z n-za-m'; echo '*.key filter=crypt' > .gitattributes; git add -A; git commit -q -m crypt")
            .exits(0);
        scene.workflow(UNCOMMITTED);
        let agent =
            scene.plays(&format!("touch made; echo secret > a.key; touch -d 2020-01-01 a.key\n{REPORTED}"));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(0);
        let done = scene.act(&["ship", "--no-pr"]).exits(4);
        assert!(done.err.contains("a.key goes through the filter crypt"), "{user:?}: {done:?}");
        scene.script("git add a.key; git commit -q -m key").exits(0);
        scene.act(&["ship", "--no-pr"]).exits(0);
        let stored = scene.script("git cat-file blob HEAD:a.key");
        assert_eq!(stored.out, "frperg\n", "{user:?}");
    }
}

/// A filter that only the configuration of the run's own worktree names is not started when that is removed.
#[test]
fn g29_a_filter_of_the_worktree_is_not_started_when_it_is_removed() {
    const CLEANED: &str = "extends = \"ralph\"\n[workspace]\nat = \"worktree\"\ncleanup = true\n[checks.tests]\n\
         run = \"test -f built\"\n";
    for user in users("g29_a_filter_of_the_worktree") {
        for names in [
            "git config extensions.worktreeConfig true; git config --worktree",
            "git config --global 'includeIf.gitdir:**/worktrees/**.path' \"$HOME/more\"; git config -f \"$HOME/more\"",
        ] {
            let scene = Scene::new(user);
            scene.workflow(CLEANED);
            let agent = scene.plays(&format!(
                "touch built; git add -A; git commit -q -m built\n\
                 {names} filter.evil.clean \"env OUT=$OUT sh -c 'echo x >> $OUT/evil; cat'\"\n\
                 common=$(git rev-parse --git-common-dir); mkdir -p \"$common/info\"\n\
                 echo '* filter=evil' >> \"$common/info/attributes\"; touch -d 2020-01-01 README.md built\n\
                 pwd > \"$OUT/place\"; {DONE}"
            ));
            scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(0);
            let place = &scene.notes("place")[0];
            assert!(!std::path::Path::new(place).exists(), "{user:?}, {names}: {place}");
            assert_eq!(scene.notes("evil"), [""; 0], "{user:?}, {names}");
        }
    }
}

/// A filter that a configuration names only for the branch that is handed in is asked for on that branch.
#[test]
fn g29_a_filter_of_the_branch_that_is_handed_in_is_no_secret() {
    for user in users("g29_a_filter_of_the_branch") {
        let scene = Scene::new(user);
        scene
            .script(
                "git config 'includeIf.onbranch:feature/**.path' \"$ROOT/more\"; git config -f \"$ROOT/more\" filter.crypt.clean 'tr a-z n-za-m'; \
                 echo '*.key filter=crypt' > .gitattributes; git add -A; git commit -q -m crypt",
            )
            .exits(0);
        scene.workflow(UNCOMMITTED);
        let agent =
            scene.plays(&format!("touch made; echo secret > a.key; touch -d 2020-01-01 a.key\n{REPORTED}"));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(0);
        let done = scene.act(&["ship", "--no-pr"]).exits(1);
        assert!(done.err.contains("a.key goes through the filter crypt"), "{user:?}: {done:?}");
        assert_ne!(scene.script("git cat-file blob HEAD:a.key").code, 0, "{user:?}");
        scene.script("git add a.key; git commit -q -m key").exits(0);
        scene.act(&["ship", "--no-pr"]).exits(0);
        assert_eq!(scene.script("git cat-file blob HEAD:a.key").out, "frperg\n", "{user:?}");
    }
}

/// What an agent names to reach a remote is not started by what we push.
#[test]
fn g29_a_program_for_the_remote_that_the_run_did_not_begin_with_is_refused() {
    for user in users("g29_a_program_for_the_remote") {
        let scene = Scene::new(user);
        scene
            .script("git remote add origin ssh://127.0.0.1/nowhere; git config core.sshCommand false")
            .exits(0);
        scene.workflow(UNCOMMITTED);
        let evil = "git config core.sshCommand \"sh -c 'echo x >> $OUT/evil; exit 1'\"";
        let agent = scene.plays(&format!("touch made; {evil}\n{REPORTED}"));
        scene.act(&["run", "a bridge", "--agent-cmd", &agent]).exits(0);
        let done = scene.act(&["ship", "--no-pr"]).exits(4);
        assert!(done.err.contains("core.sshcommand in "), "{user:?}: {done:?}");
        assert!(
            done.err.contains("names a program that git would start to reach the remote"),
            "{user:?}: {done:?}"
        );
        assert_eq!(scene.notes("evil"), [""; 0], "{user:?}");
        // What was there before is the person's.
        scene.script("git config core.sshCommand false").exits(0);
        let done = scene.act(&["ship", "--no-pr"]).exits(1);
        assert!(done.err.contains("Could not read from remote repository"), "{user:?}: {done:?}");
    }
}

/// A filter of the person's own, and a file that it stores otherwise than it lies there.
const UPPER: &str = "git config --global filter.up.clean 'tr a-z A-Z'; git config --global filter.up.smudge 'tr A-Z a-z'; \
     echo '*.u filter=up' > .gitattributes; echo words > b.u; git add -A; git commit -q -m 'a filter'; \
     git cat-file blob HEAD:b.u | grep -q WORDS";

/// Git believes no time of a file that it has not read since.
const TOUCHED: &str = "touch -d 2001-01-01 b.u";

/// By its bytes such a file is never what was committed. Whether it is, its filter says, if the person had it.
#[test]
fn g29_a_file_that_a_filter_stores_is_uncommitted_only_if_its_filter_says_so() {
    for user in users("g29_a_file_that_a_filter_stores") {
        let scene = Scene::new(user);
        scene.script(&format!("{UPPER} && {TOUCHED}")).exits(0);
        // No run was opened, so nobody has said that the filter is the person's.
        let doctor = scene.act(&["doctor"]);
        let may_be =
            "files that may be uncommitted: b.u (stored through the filter up, which loop does not start)";
        assert!(doctor.out.contains(may_be), "{user:?}: {doctor:?}");
        let agent = scene.plays(&format!(
            "echo more >> b.u; touch built; git add -A; git commit -q -m built; {TOUCHED}\n{DONE}"
        ));
        let run = ["run", "a bridge", "--agent-cmd", &agent, "--check", "unit=test -f built"];
        scene.act(&run).exits(0);
        assert_eq!(scene.calls(), [1], "{user:?}");
        let doctor = scene.act(&["doctor"]);
        assert!(!doctor.out.contains("uncommitted"), "{user:?}: {doctor:?}");
        // What is not committed is named, and so is a program bit.
        for change in
            ["echo other >> b.u", "chmod +x b.u", "echo other >> b.u; git add b.u; echo words > b.u"]
        {
            scene.script(change).exits(0);
            let done = scene.act(&["run", "a tower", "--agent-cmd", &agent, "--check", "unit=true"]).exits(2);
            assert!(done.err.contains("uncommitted changes: b.u"), "{user:?}, {change}: {done:?}");
            scene.script("git reset -q --hard").exits(0);
        }
        let agent = scene.plays(&format!("echo other > b.u\n{DONE}"));
        let done =
            scene.act(&["run", "a tower", "--agent-cmd", &agent, "--check", "unit=test -f b.u"]).exits(4);
        assert!(done.err.contains("uncommitted: b.u"), "{user:?}: {done:?}");
    }
}

#[test]
fn g29_a_filter_that_an_agent_changed_is_not_asked_whether_a_file_is_committed() {
    let changes = [
        "git config --global filter.up.clean \"sh -c 'echo x >> $OUT/evil; tr a-z A-Z'\"",
        "git config filter.up.clean \"sh -c 'echo x >> $OUT/evil; tr a-z A-Z'\"",
    ];
    for user in users("g29_a_filter_that_an_agent_changed") {
        for change in changes {
            let scene = Scene::new(user);
            scene.script(UPPER).exits(0);
            let agent = scene.plays(&format!(
                "[ -e built ] || {{ touch built; git add built; git commit -q -m built; {change}; {TOUCHED}; }}\n{DONE}"
            ));
            let run = ["run", "a bridge", "--agent-cmd", &agent, "--check", "unit=test -f built"];
            let done = scene.act(&run).exits(4);
            let may_be = "may be uncommitted: b.u (stored through the filter up, which loop does not start)";
            assert!(done.err.contains(may_be), "{user:?}, {change}: {done:?}");
            // It proposes a command of git, and nobody pastes that here.
            let doctor = scene.any(program(), &["doctor"]).output().expect("the program");
            let doctor = String::from_utf8_lossy(&doctor.stdout);
            assert!(doctor.contains("files that may be uncommitted: b.u"), "{user:?}: {doctor}");
            assert_eq!(scene.notes("evil"), [""; 0], "{user:?}, {change}");
            // It is one that git starts.
            scene.script("git status").exits(0);
            assert!(!scene.notes("evil").is_empty(), "{user:?}, {change}");
        }
    }
}
