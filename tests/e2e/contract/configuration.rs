//! Later wins: preset, user configuration, project file, environment, flags.
//!
//! | level | wins over | here |
//! |---|---|---|
//! | preset | nothing | `each_level_wins_over_the_one_before` |
//! | `$XDG_CONFIG_HOME/loop/config.toml` | preset | the same, and `the_users_own_file_holds_three_sections` |
//! | `.loop/workflow.toml` | user | the same, `a_preset_by_flag_keeps_the_files_settings` |
//! | environment | file | `the_environment_wins_over_the_file_and_loses_to_flags` |
//! | flags | everything | both |
//!
//! Merging key by key, phases by name and lists as a whole are units of `src/workflow`.

use loop_harness::{CHECK, Done, Sandbox, WORK};

const FILE: &str = ".loop/workflow.toml";

fn config(sandbox: &Sandbox, text: &str) {
    let folder = sandbox.root().join("user/.config/loop");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), text).expect("a file");
}

fn run(sandbox: &Sandbox, input: &str, more: &[&str], variables: &[(&str, &str)]) -> Done {
    sandbox.undo();
    let agent = sandbox.agent(WORK);
    let words = [&["run", input, "--agent-cmd", &agent, "--check", CHECK][..], more].concat();
    let mut command = sandbox.command(&words);
    command.envs(variables.iter().copied());
    sandbox.start(command).wait()
}

fn usd(sandbox: &Sandbox) -> serde_json::Value {
    sandbox.status()["budget"]["usd_limit"].clone()
}

#[test]
fn each_level_wins_over_the_one_before() {
    let sandbox = Sandbox::new();
    run(&sandbox, "one", &[], &[]).exits(0);
    assert!(usd(&sandbox).is_null(), "the preset has none");
    config(
        &sandbox,
        "[limits]\nusd = 2\ncall_usd = 0.01\n[agent]\nmodel = \"of-the-user\"\n[notify]\nrun = \"echo user >> $OUT/rings\"\n",
    );
    run(&sandbox, "two", &[], &[]).exits(0).says("of-the-user");
    assert_eq!(usd(&sandbox), 2.0);
    assert_eq!(sandbox.notes("rings"), ["user"]);
    sandbox.write(
        FILE,
        "extends = \"ralph\"\n[limits]\nusd = 3\n[notify]\nrun = \"echo project >> $OUT/rings\"\n",
    );
    sandbox.commit("a workflow");
    run(&sandbox, "three", &[], &[]).exits(0).says("of-the-user");
    assert_eq!(usd(&sandbox), 3.0);
    run(&sandbox, "four", &["--budget", "4", "--model=flag", "--notify", "echo flag >> $OUT/rings"], &[])
        .exits(0)
        .says("flag");
    assert_eq!(usd(&sandbox), 4.0);
    assert_eq!(sandbox.notes("rings"), ["user", "project", "flag"]);
}

#[test]
fn the_users_own_file_holds_three_sections() {
    let sandbox = Sandbox::new();
    config(&sandbox, "[checks.tests]\nrun = \"true\"\n");
    run(&sandbox, "it", &[], &[]).exits(2).says("config.toml").says("checks");
    config(&sandbox, "[limits]\nusd = \"many\"\n");
    run(&sandbox, "it", &[], &[]).exits(2).says("config.toml");
    sandbox.run(&["doctor"]).exits(0).says("a run cannot start until this is repaired");
    let elsewhere = sandbox.root().join("tmp/config");
    std::fs::create_dir_all(elsewhere.join("loop")).expect("a folder");
    std::fs::write(elsewhere.join("loop/config.toml"), "[limits]\nusd = 7\ncall_usd = 0.01\n")
        .expect("a file");
    run(&sandbox, "it", &[], &[("XDG_CONFIG_HOME", elsewhere.to_str().expect("plain"))]).exits(0);
    assert_eq!(usd(&sandbox), 7.0);
}

#[test]
fn the_environment_wins_over_the_file_and_loses_to_flags() {
    let sandbox = Sandbox::new();
    sandbox.write(
        FILE,
        "extends = \"ralph\"\n[limits]\nwindow = { calls = 5, every = \"60m\", then = \"pause\" }\n",
    );
    sandbox.commit("a workflow");
    let limit = || sandbox.status()["limits"]["calls_limit"].clone();
    run(&sandbox, "one", &[], &[]).exits(0);
    assert_eq!(limit(), 5);
    run(&sandbox, "two", &[], &[("BP_RATE_LIMIT_HOURLY", "9")]).exits(0);
    assert_eq!(limit(), 9);
    run(&sandbox, "three", &[], &[("BP_RATE_LIMIT_HOURLY", "none")]).exits(2).says("BP_RATE_LIMIT_HOURLY");
    let other = sandbox.root().join("other-home");
    run(&sandbox, "three", &["--home", other.to_str().expect("plain")], &[]).exits(0);
    assert!(other.join("loop.db").exists(), "--home wins over LOOP_HOME");
}

#[test]
fn a_preset_by_flag_keeps_the_files_settings() {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, "extends = \"tdd\"\n[limits]\nusd = 6\ncall_usd = 0.01\n");
    sandbox.commit("a workflow");
    run(&sandbox, "it", &["--preset", "RALPH"], &[]).exits(0);
    assert_eq!((usd(&sandbox), &sandbox.status()["workflow"]), (6.0.into(), &"ralph".into()));
    run(&sandbox, "it", &["--preset", "ralph", "--workflow", FILE], &[]).exits(2).says("--workflow");
}

/// With neither a file nor a flag the input decides, and what was chosen is said.
#[test]
fn the_input_decides() {
    let sandbox = Sandbox::new();
    sandbox.write("prp.md", "# PRP\n\n## Success Criteria\n\n- [ ] one\n");
    sandbox.write(".planning/STATE.md", "x\n");
    sandbox.commit("inputs");
    for (input, preset) in [
        ("a sentence", "ralph"),
        ("prp.md", "tdd"),
        ("sys-012", "engineering"),
        ("2", "plan"),
        ("2.1", "plan"),
    ] {
        let done = sandbox.run(&["run", input, "--dry-run"]);
        assert!(
            done.err.contains(&format!("workflow: {preset}, because of the input")),
            "{input}: {}",
            done.err
        );
    }
}
