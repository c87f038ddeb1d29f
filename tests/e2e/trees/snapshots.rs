//! Work that nobody has committed: whatever an agent does to it, it can be brought back.

use loop_harness::{CHECK, PROMISE, Sandbox, WORK};

#[test]
fn g18_uncommitted_work_survives_an_agent_that_deletes_it() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "a project\nand a line that is not committed\n");
    sandbox.write("notes/draft with spaces.txt", "never committed\n");
    sandbox.write("staged.txt", "only staged\n");
    sandbox.git(&["add", "staged.txt"]);
    let agent = sandbox.agent(&format!("git reset -q --hard; git clean -qfdx; echo x > work; {PROMISE}"));
    let command = ["run", "it", "--agent-cmd", &agent, "--check", "tests=test -f work"];
    let done = sandbox.run(&command).exits(2);
    for name in ["README.md", "staged.txt", "notes/"] {
        assert!(done.err.contains(name), "{}", done.err);
    }
    assert!(done.err.contains("--allow-dirty"), "{}", done.err);
    assert!(sandbox.calls().is_empty());

    sandbox.run(&[&command[..], &["--allow-dirty", "-n", "1"]].concat());
    assert!(!sandbox.project.join("notes").exists());
    let refs = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/loop/snap"]);
    assert!(!refs.trim().is_empty());
    let list = sandbox.run(&["restore"]).exits(0);
    assert!(list.out.lines().any(|it| it.trim_start().starts_with("1 ")), "{}", list.out);
    sandbox.write("work", "later work\n");
    let shown = sandbox.run(&["restore", "1", "--dry-run"]).exits(0).says("3 files would be restored");
    assert_eq!(shown.out, "README.md\nnotes/draft with spaces.txt\nstaged.txt\n");
    assert!(!sandbox.project.join("notes").exists(), "a dry run writes nothing");
    sandbox.run(&["restore", "1"]).exits(0).says("README.md");
    assert_eq!(sandbox.read("README.md"), "a project\nand a line that is not committed\n");
    assert_eq!(sandbox.read("notes/draft with spaces.txt"), "never committed\n");
    assert_eq!(sandbox.read("staged.txt"), "only staged\n");
    assert_eq!(sandbox.read("work"), "later work\n", "what is not in the snapshot stays");
    sandbox.run(&["restore", "999"]).exits(2).says("loop restore");
}

/// What an iteration left uncommitted is kept before the next one may destroy it.
#[test]
fn g18_every_iteration_is_kept_before_the_next_begins() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("git clean -qfd; echo \"draft $LOOP_CALL\" > draft; {PROMISE}"));
    sandbox
        .run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=cat draft; exit 1", "-n", "3"])
        .exits(6);
    let refs = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/loop/snap"]);
    let kept: Vec<String> = refs
        .lines()
        .filter_map(|it| {
            let mut command = std::process::Command::new("git");
            sandbox.furnish(&mut command);
            let shown = command
                .args(["show", &format!("{it}:draft")])
                .current_dir(&sandbox.project)
                .output()
                .expect("git");
            shown.status.success().then(|| String::from_utf8_lossy(&shown.stdout).trim().to_owned())
        })
        .collect();
    assert!(kept.contains(&"draft 1".to_owned()) && kept.contains(&"draft 2".to_owned()), "{kept:?}");
}

/// Index, stash, hooks, configuration and branches belong to the user.
#[test]
fn g20_the_repository_is_otherwise_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("ignored.log", "x");
    sandbox.write(".gitignore", "*.log\n");
    sandbox.commit("ignore logs");
    sandbox.write("stashed", "x");
    sandbox.git(&["stash", "-q", "-u"]);
    let hook = "#!/bin/sh\ntouch \"$OUT/hook-ran\"\n";
    for name in ["post-checkout", "pre-commit", "reference-transaction", "post-index-change"] {
        let path = sandbox.project.join(".git/hooks").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, hook).expect("a hook");
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let _ = std::fs::remove_file(sandbox.note("hook-ran"));
    let looked = || {
        let read = |name: &str| std::fs::read(sandbox.project.join(".git").join(name)).unwrap_or_default();
        (
            read("config"),
            read("index"),
            read("HEAD"),
            read("refs/heads/main"),
            read("refs/stash"),
            read("logs/refs/stash"),
        )
    };
    let quiet = WORK.replace("git ", "git -c core.hooksPath=/dev/null ");
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("{quiet}; echo here > \"$OUT/at\"; read x < \"$OUT/go\""));
    let (config, _, head, _, stash, _) = looked();
    let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
    at.hear();
    // The agent has made a commit of its own; from here on everything is compared.
    let before = looked();
    assert!((&config, &head, &stash) == (&before.0, &before.2, &before.4), "the opening changed something");
    go.say();
    running.wait().exits(0);
    assert!(looked() == before, "something of the repository has changed");
    assert!(!sandbox.note("hook-ran").exists(), "a hook of the repository was run by us");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert_eq!(sandbox.read("ignored.log"), "x");
}
