//! Hints are followed in every test by the harness. Here a hint that does not work is caught, and the
//! hints of situations that no other test brings about are printed.

use loop_harness::hints::hints;
use loop_harness::{CHECK, PROMISE, Sandbox, Terminal, WORK};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_hint_that_does_not_work_is_caught() {
    if !loop_harness::hints::can_follow() {
        return loop_harness::skipped("hints", "this machine has no namespaces");
    }
    let sandbox = Sandbox::new();
    for (hint, works) in [
        ("loop frobnicate", false),
        ("loop status --no-such-flag", false),
        ("loop status, or loop demo", false),
        ("loop run --check", false),
        ("loopp status", false),
        ("loop status", true),
        ("git log --oneline", true),
    ] {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let status = sandbox.command(&["status"]);
            loop_harness::hints::follow(sandbox.root(), &status, 0, &format!("next: {hint}\n"));
        }));
        assert_eq!(caught.is_ok(), works, "{hint}");
    }
}

#[test]
fn hints_are_found_wherever_they_stand() {
    let out = "{\"next_step\": \"loop answer reset\"}\n";
    let err = "loop: no check\nnext: loop run it --check tests=\"npm test\"\n  or: loop run it --unverified\n\
               saved; continue with: loop run\nthe next: thing\n";
    let expected = [
        "loop run it --check tests=\"npm test\"",
        "loop run it --unverified",
        "loop run",
        "loop answer reset",
    ];
    assert_eq!(hints(out, err), expected);
}

/// Two runs that wait for something: no hint may leave open which one it means.
#[test]
fn with_two_unfinished_runs_every_hint_names_its_run() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    for (input, place) in [("first", "."), ("second", "--worktree")] {
        let mut words = vec!["run", input, "--agent-cmd", &agent, "--check", "tests=test -f work", "-n", "1"];
        words.extend((place != ".").then_some(place));
        let done = sandbox.run(&words).exits(6);
        assert!(hints(&done.out, &done.err)[0].starts_with("loop run --max 11"), "{}", done.err);
    }
    for line in sandbox.run(&["runs", "--json"]).exits(0).out.lines() {
        let Ok(row) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let Some(id) = row["run"].as_str() else { continue };
        let status = sandbox.run(&["status", "--run", id]).exits(0);
        let hint = &hints(&status.out, &status.err)[0];
        assert!(hint.ends_with(&format!("--run {}", &id[..8])), "{hint}");
    }
}

/// What can be put right without a decision is put right, and said.
#[test]
fn doctor_repairs_what_needs_no_decision() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    // What an earlier run left is copied when the next one is opened, into a folder of ours.
    sandbox.run(&["init", "before", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    sandbox.run(&["cancel"]).exits(0);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    sandbox.run(&["hook", "install"]).exits(0);
    sandbox.run(&["doctor"]).exits(0).says("ok       home");
    let settings = sandbox.read(".claude/settings.json");
    sandbox.write(".claude/settings.json", settings.replace(loop_harness::program(), "/gone/loop"));
    let database = sandbox.home.join("loop.db");
    let mode =
        || std::os::unix::fs::PermissionsExt::mode(&database.metadata().expect("a file").permissions());
    std::fs::set_permissions(&database, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("a mode");
    std::fs::remove_dir_all(sandbox.project.join(".git")).expect("a repository");
    let found = sandbox.run(&["doctor"]).exits(0);
    for problem in ["problem  home", "problem  git", "calls /gone/loop, which is not there"] {
        assert!(found.out.contains(problem), "{}", found.out);
    }
    assert!(hints(&found.out, "").contains(&"loop doctor --fix".to_owned()), "{}", found.out);
    assert_eq!(mode() & 0o777, 0o644, "looking changes nothing");
    let fixed = sandbox.run(&["doctor", "--fix"]).exits(0);
    assert_eq!(fixed.err.matches("fixed: ").count(), 2, "{}", fixed.err);
    assert_eq!(mode() & 0o777, 0o600);
    assert_eq!(sandbox.read(".claude/settings.json"), settings);
    assert!(!fixed.out.contains("problem  home"), "{}", fixed.out);
    // Where nobody can be asked, a repository is proposed and not made.
    let init = format!("git init {}", sandbox.project.display());
    assert!(!sandbox.project.join(".git").exists());
    assert!(hints(&fixed.out, "").contains(&init), "{}", fixed.out);
    let mut terminal = Terminal::start(&sandbox.command(&["doctor", "--fix"]), 24, 100);
    terminal.until("make a git repository in").types("yes\r").exits(0);
    assert!(sandbox.project.join(".git/HEAD").is_file());
}

/// A workflow of one's own need not say what its input is, and its checks are found in it.
#[test]
fn a_workflow_of_ones_own_says_what_it_needs() {
    let sandbox = Sandbox::new();
    let workflow = "name = \"own\"\n[checks.tests]\nrun = \"test -s work.txt\"\n[[phase]]\nname = \"BUILD\"\n\
                    prompt = \"Build {{ input }}.\"\nreport = \"none\"\nsignal = \"none\"\nchecks = [\"tests\"]\n";
    sandbox.write(".loop/workflow.toml", workflow);
    sandbox.commit("a workflow");
    let done = sandbox.run(&["run", "--agent-cmd", "true"]).exits(2);
    assert_eq!(
        done.err,
        "loop: own needs an input: what to build, in a sentence\nnext: loop run \"what to build\" --agent-cmd true\n"
    );
    sandbox.run(&["doctor"]).exits(0).says("ok       checks      tests: test -s work.txt (workflow)\n");
}

/// Situations whose hints no other test prints; the harness pastes each of them.
#[test]
fn hints_of_rare_situations_work() {
    let sandbox = Sandbox::new();
    let proposes = |words: &[&str], code: i32, hint: &str| {
        let done = sandbox.run(words).exits(code);
        assert!(
            hints(&done.out, &done.err).iter().any(|it| it == hint),
            "{words:?}: {}{}",
            done.out,
            done.err
        );
    };
    proposes(&["check"], 2, "loop setup");
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    // A hint is pasted only where nothing is at work, and the run's shim may need a moment to end.
    sandbox.assert_nothing_runs();
    proposes(&["why", "999"], 2, "loop log");
    proposes(&["runs", "--prune", "--all"], 2, "loop runs --prune --yes --all");
    // No agent is installed in a sandbox.
    proposes(&["setup", "ralph"], 0, "loop doctor");
    proposes(&["setup", "ralph"], 2, "loop check");
}

#[test]
fn the_next_system_is_opened_by_the_command_that_is_proposed() {
    let sandbox = Sandbox::new();
    sandbox.run(&["queue", "add", "Sums"]).exits(0);
    sandbox.commit("a queue");
    let done = sandbox.run(&["init", "--next", "it"]).exits(2);
    assert_eq!(hints(&done.out, &done.err), ["loop init --next"]);
}

/// Somebody else's repository, as git calls it.
#[test]
fn a_repository_that_git_does_not_trust_is_trusted_by_the_command_that_is_proposed() {
    let sandbox = Sandbox::new();
    let somebody = Some(1);
    if [".git", "."]
        .iter()
        .any(|it| std::os::unix::fs::chown(sandbox.project.join(it), somebody, None).is_err())
    {
        return loop_harness::skipped("hints", "only root can give a repository away");
    }
    let done = sandbox.run(&["run", "it", "--agent-cmd", "true", "--check", CHECK]).exits(2);
    let project = sandbox.project.display();
    assert_eq!(hints(&done.out, &done.err), [format!("git config --global --add safe.directory {project}")]);
}

/// A provider that refuses calls is a problem that doctor names with the account.
#[test]
fn a_hold_is_cleared_by_the_command_that_doctor_proposes() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo LOOP_LIMIT until=2099-01-01T00:00:00Z; exit 75");
    sandbox.run(&["next", "it", "--agent-cmd", &agent, "--check", CHECK]);
    let done = sandbox.run(&["doctor"]).exits(0).says("refuses calls until 2099");
    let clears = |it: &String| it.starts_with("loop limits --clear ");
    assert!(hints(&done.out, "").iter().any(clears), "{}", done.out);
}

/// Who names a folder and a home is somewhere else; the harness fails a hint that does not name them
/// again, and pastes it from there.
#[test]
fn hints_name_the_folder_and_the_home_that_were_named() {
    let sandbox = Sandbox::new();
    let (project, home) = (sandbox.project.display().to_string(), sandbox.root().join("other-home"));
    let home = home.display().to_string();
    let agent = sandbox.agent(WORK);
    let proposes = |words: &[&str], code: i32, hint: &str| {
        let mut command = sandbox.command(&["-C", &project, "--home", &home]);
        command.args(words).current_dir(sandbox.root());
        let done = sandbox.start(command).wait().exits(code);
        let expected = format!("loop -C {project} --home {home} {hint}");
        let found = hints(&done.out, &done.err);
        assert!(found.iter().any(|it| it.starts_with(&expected)), "{words:?}: {found:?}");
    };
    for words in [["status"], ["log"], ["why"], ["restore"]] {
        proposes(&words, 0, "run \"what to build\"");
    }
    proposes(&["queue", "list"], 2, "queue add");
    proposes(&["queue", "add", "Sums"], 0, "run sys-001");
    proposes(&["queue"], 0, "run sys-001");
    proposes(&["queue", "next"], 0, "run sys-001");
    proposes(&["design", "sum numbers"], 0, "run DESIGN-");
    proposes(&["hook", "install"], 0, "init --preset ralph --hook");
    sandbox.commit("a queue and a design");
    let words = ["--preset", "ralph", "--agent-cmd", &agent, "--check", CHECK];
    proposes(&[&["init", "it"], &words[..]].concat(), 0, "run");
    proposes(&["run", "--agent-cmd", &agent], 0, "show");
    proposes(&["why", "999"], 2, "log");
    proposes(&["restore", "999"], 2, "restore");
    proposes(&["show", "99"], 2, "show 1");
    proposes(&["setup", "ralph"], 0, "doctor");
}

/// What the queue proposes where a system cannot be begun.
#[test]
fn hints_of_the_queue_work() {
    let sandbox = Sandbox::new();
    let proposes = |words: &[&str], code: i32, hint: &str| {
        let done = sandbox.run(words).exits(code);
        let found = hints(&done.out, &done.err);
        assert!(found.iter().any(|it| it.starts_with(hint)), "{words:?}: {found:?}");
    };
    let agent = sandbox.agent(WORK);
    let run =
        |id: &'static str| ["run", id, "--preset", "engineering", "--agent-cmd", &agent, "--check", CHECK];
    proposes(
        &["run", "--jobs", "2", "--preset", "engineering", "--domain", "shop"],
        2,
        "loop queue add \"NAME OF A SYSTEM\" --domain shop",
    );
    sandbox.run(&["queue", "add", "Sums", "--domain", "shop", "--status", "discovered"]).exits(0);
    proposes(&["queue", "add", "Idea", "--status", "discovered"], 0, "loop queue");
    proposes(&run("sys-001"), 2, "loop queue set sys-001 --status specified");
    sandbox.run(&["queue", "set", "sys-001", "--status", "specified"]).exits(0);
    sandbox.run(&["queue", "add", "Totals", "--needs", "sys-001"]).exits(0);
    proposes(&run("sys-003"), 2, "loop queue list");
    let file = "domain-memory/shop/system-queue.json";
    sandbox.write(file, sandbox.read(file).replacen("\"specified\"", "\"in-progress\"", 1));
    proposes(&run("sys-001"), 2, "loop queue list");
    std::fs::create_dir_all(sandbox.project.join("domain-memory/bank")).expect("a folder");
    std::fs::copy(sandbox.project.join(file), sandbox.project.join("domain-memory/bank/system-queue.json"))
        .expect("a queue");
    proposes(&["queue"], 2, "loop queue list --domain ");
}
