//! Every command and flag of the contract exists, is explained with examples, and says what would be
//! right when it is mistyped.
//!
//! What each command does is tried elsewhere: `demo` demo.rs, `setup` tests/setup.rs and dialogue.rs,
//! `run` runs.rs, `init` and `next` control.rs and runs.rs, `resume` runs.rs and reload.rs, `status`
//! json.rs, `runs` `log` control.rs and terminal.rs, `show` show.rs, `why` liar.rs, `answer` questions.rs,
//! `approve` `changes` `reject` gates.rs, `guide` `skip` questions.rs, `stop` `pause` `cancel` control.rs,
//! `design` `refine` `hook` tests/ralph, `ship` tests/tdd, `check` `presets` tests/setup.rs, `restore`
//! snapshots.rs, `verify` database.rs, `evidence` records.rs, `limits` `agents` tests/agents.rs.

use loop_harness::{CHECK, PROMISE, Sandbox, WORK};

const COMMANDS: [&str; 46] = [
    "demo",
    "setup",
    "run",
    "init",
    "next",
    "resume",
    "status",
    "runs",
    "log",
    "show",
    "why",
    "answer",
    "approve",
    "changes",
    "reject",
    "guide",
    "skip",
    "stop",
    "pause",
    "cancel",
    "queue",
    "design",
    "refine",
    "ship",
    "check",
    "presets",
    "doctor",
    "completions",
    "restore",
    "limits",
    "agents",
    "evidence",
    "verify",
    "hook",
    "watch",
    "serve",
    "mcp",
    "worker",
    "goal",
    "trial",
    "checks",
    "waive",
    "attach",
    "wait",
    "simulate",
    "man",
];

const LATER: [&str; 6] = ["watch", "serve", "mcp", "worker", "goal", "trial"];

/// Words and flags of the other commands, as the contract names them.
const FLAGS: [(&str, &[&str]); 34] = [
    ("demo", &["[PRESET]"]),
    ("setup", &["[PRESET]", "--full"]),
    ("init", &["[INPUT]", "--next"]),
    ("resume", &["--state", "--reset", "--now"]),
    ("runs", &["--prune", "--dry-run", "--all", "--yes"]),
    ("log", &["-f", "-n", "--since"]),
    ("show", &["[N]", "--prompt", "--output", "--checks", "--diff", "--requirements"]),
    ("checks", &["--check"]),
    ("why", &["[SEQ]"]),
    ("waive", &["<WHAT>", "--reason"]),
    ("approve", &["[GATE]", "--by", "--sign", "--signature"]),
    ("changes", &["--by"]),
    ("reject", &["--by"]),
    ("guide", &["<TEXT>"]),
    ("skip", &["<SKILL>", "--reason"]),
    ("stop", &["--now"]),
    ("cancel", &["--dry-run"]),
    ("queue list", &["--domain"]),
    ("queue add", &["--domain"]),
    ("queue show", &["<ID>"]),
    ("queue set", &["<ID>"]),
    ("queue import", &["<FILE>"]),
    ("queue next", &["--domain"]),
    ("queue accept", &["--domain"]),
    ("queue revert", &["<ID>"]),
    ("design", &["<TEXT>", "--type"]),
    ("ship", &["--dry-run", "--no-pr", "--type"]),
    ("check", &["[FILE]"]),
    ("presets show", &["<NAME>"]),
    ("doctor", &["--fix"]),
    ("restore", &["--dry-run"]),
    ("verify", &["[RECORD]", "--rerun"]),
    ("hook install", &["[CLI]"]),
    ("hook remove", &["[CLI]", "--dry-run"]),
];

const RUN_FLAGS: [&str; 30] = [
    "--preset",
    "--workflow",
    "--agent",
    "--agent-cmd",
    "--model",
    "--max",
    "--check",
    "--unverified",
    "--fresh",
    "--reset",
    "--reload",
    "--on-question",
    "--budget",
    "--tokens",
    "--time",
    "--allow-dirty",
    "--criteria",
    "--promise",
    "--mirror",
    "--notify",
    "--dry-run",
    "--nested",
    "--json",
    "--home",
    "--jobs",
    "--detach",
    "--worktree",
    "--require-proof",
    "--allow-test-change",
    "--domain",
];

#[test]
fn commands_all_of_them_exist() {
    let sandbox = Sandbox::new();
    for command in COMMANDS {
        let help = sandbox.run(&[command, "--help"]).exits(0).out;
        assert!(help.contains(&format!("Usage: loop {command}")), "{command}:\n{help}");
        assert!(
            help.contains("--run <ID>") && help.contains("-C, --dir"),
            "{command} takes what all take:\n{help}"
        );
        let later = LATER.contains(&command);
        assert!(later || command == "hook" || help.contains("\nExamples:\n"), "{command} shows how:\n{help}");
        assert_eq!(help.contains("comes with a later version"), later, "{command}:\n{help}");
    }
}

#[test]
fn commands_have_the_words_and_flags_of_the_contract() {
    let sandbox = Sandbox::new();
    let mut missing = Vec::new();
    for (command, flags) in FLAGS {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = sandbox.run(&words).exits(0).out;
        missing.extend(flags.iter().filter(|it| !help.contains(**it)).map(|it| format!("{command} {it}")));
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn commands_what_comes_later_says_so() {
    let sandbox = Sandbox::new();
    for command in LATER {
        let done = sandbox.run(&[command, "add", "--whatever", "x"]).exits(2);
        assert!(
            done.err.contains(&format!("loop {command} comes with a later version\nnext: ")),
            "{}",
            done.err
        );
    }
    assert!(!sandbox.home.exists(), "nothing was written");
}

#[test]
fn commands_run_has_every_flag_in_both_forms() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["run", "--help"]).exits(0).out;
    for flag in RUN_FLAGS {
        assert!(help.contains(flag), "no {flag} in\n{help}");
    }
    let agent = sandbox.agent(WORK);
    // The agent tells nothing about its cost.
    sandbox.file("user/.config/loop/config.toml", "[limits]\ncall_usd = 0.01\n");
    let joined = [
        "run",
        "one",
        &format!("--agent-cmd={agent}"),
        "--check=tests=test -f work",
        "--max=3",
        "--budget=$5",
    ];
    sandbox.run(&joined).exits(0);
    sandbox.undo();
    let apart = ["run", "two", "--agent-cmd", &agent, "--check", CHECK, "-n", "3", "--budget", "5"];
    sandbox.run(&apart).exits(0);
    assert_eq!(sandbox.status()["budget"]["usd_limit"], 5.0);
}

#[test]
fn commands_a_mistyped_word_is_met_with_the_right_one() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(PROMISE);
    sandbox.run(&["statsu"]).exits(2).says("status");
    sandbox.run(&["run", "it", "--allow-drity"]).exits(2).says("--allow-dirty");
    sandbox.run(&["run", "it", "--preset", "rlaph"]).exits(2).says("did you mean \"ralph\"?");
    sandbox.run(&["presets", "show", "tdt"]).exits(2).says("did you mean \"tdd\"?");
    sandbox.run(&["setup", "engneering"]).exits(2).says("did you mean \"engineering\"?");
    sandbox.run(&["run", "it", "--agent", "cluade"]).exits(2).says("did you mean \"claude\"?");
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", "tests=echo no; exit 1"]).exits(4);
    sandbox.run(&["answer", "rest"]).exits(2).says("did you mean \"reset\"?");
    sandbox.run(&["resume", "--state", "wrok"]).exits(2).says("did you mean \"WORK\"?");
    let id = sandbox.status()["run"].as_str().expect("an id")[..8].to_owned();
    let mistyped: String = id.chars().rev().collect();
    if mistyped != id {
        sandbox
            .run(&["status", "--run", &format!("{}zz", &id[..6])])
            .exits(2)
            .says(&format!("did you mean {id}?"));
    }
}

#[test]
fn commands_alone_it_says_how_to_begin_and_then_where_it_stands() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&[]).exits(0);
    let words: Vec<&str> = done.out.lines().filter_map(|it| it.split_whitespace().nth(1)).collect();
    assert_eq!(words, ["demo", "setup", "run"]);
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_eq!(sandbox.run(&[]).exits(0).out, sandbox.run(&["status"]).exits(0).out);
}

#[test]
fn commands_manual_pages_are_made_of_the_same_words() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&["man", "pages"]).exits(0);
    let written: Vec<&str> = done.out.lines().collect();
    for command in COMMANDS.iter().filter(|it| !LATER.contains(it)) {
        let page = sandbox.project.join(format!("pages/loop-{command}.1"));
        assert!(written.iter().any(|it| it.ends_with(&format!("loop-{command}.1"))), "{written:?}");
        let text = std::fs::read_to_string(page).expect("a page");
        assert!(text.contains(".TH") && text.contains(command), "{text}");
    }
    let main = sandbox.read("pages/loop.1");
    assert!(main.contains("SUBCOMMANDS") && main.contains("loop\\-run"), "{main}");
    assert!(!written.iter().any(|it| it.contains("worker") || it.contains("__agent")), "{written:?}");
}

#[test]
fn commands_every_shell_has_its_completions() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&["completions", shell]).exits(0).out;
        for word in ["resume", "on-question", "doctor"] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
    sandbox.run(&["completions", "csh"]).exits(2).says("bash");
    let script = sandbox.run(&["completions", "bash"]).out;
    std::fs::write(sandbox.note("complete.bash"), script).expect("a file");
    let Ok(done) = std::process::Command::new("bash").arg("-n").arg(sandbox.note("complete.bash")).status()
    else {
        return loop_harness::skipped("commands_every_shell_has_its_completions", "no bash");
    };
    assert!(done.success(), "bash reads it");
}

#[test]
fn commands_doctor_says_what_is_there_and_what_would_stop_a_run() {
    let sandbox = Sandbox::new();
    let told = sandbox.run(&["doctor"]).exits(0).out;
    for what in ["home", "git", "config", "workflow", "agent", "checks", "isolation"] {
        assert!(told.lines().any(|it| it.split_whitespace().nth(1) == Some(what)), "no {what} in\n{told}");
    }
    assert!(told.contains("none: tampering is detected, not prevented"), "{told}");
    assert!(
        told.lines().last().is_some_and(
            |it| it.starts_with("a run cannot start until this is repaired: ") && it.contains("checks")
        ),
        "{told}"
    );
    sandbox.write("Makefile", "test:\n\ttrue\n");
    sandbox
        .write(".loop/workflow.toml", "extends = \"ralph\"\n[agent]\ncli = \"command\"\nargs = [\"true\"]\n");
    sandbox.commit("everything that a run needs");
    let told = sandbox.run(&["doctor"]).exits(0).out;
    assert!(told.ends_with("next: loop run \"what to build\"\n"), "{told}");
    let list: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["doctor", "--json"]).out).expect("JSON");
    assert!(list.as_array().is_some_and(|it| it.iter().all(|it| it["ok"] == true)), "{list}");
}

/// A run of a session is not driven by `loop run`, and nothing says that it is.
#[test]
fn commands_a_run_of_a_session_says_what_goes_on_with_it() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "it", "--preset", "ralph", "--hook", "--check", "tests=true"]).exits(0);
    let next = |sandbox: &Sandbox| sandbox.status()["next_step"].as_str().expect("text").to_owned();
    assert_eq!(next(&sandbox), "loop wait");
    sandbox.run(&["status"]).exits(0).says("next: loop wait");
    sandbox.run(&["guide", "be careful"]).exits(0).says("the session gets it at its next stop");
    sandbox.run(&["pause"]).exits(0);
    assert_eq!(next(&sandbox), "loop resume");
    sandbox.run(&["resume"]).exits(0);
    assert_eq!(next(&sandbox), "loop wait");
}

#[test]
fn a_wrong_value_is_told_what_would_be_right() {
    let sandbox = Sandbox::new();
    let rows = [
        ("--time", "2", "loop: --time 2: write 2m, 90s or 1h30m"),
        ("--time", "soon", "write 2m, 90s or 1h30m"),
        ("--budget", "-1", "write dollars above 0, such as 5 or 2.50"),
        ("--tokens", "-5", "write a whole number from 1, such as 5"),
        ("--max", "0", "write a whole number from 1, such as 5"),
        ("--max", "-3", "write a whole number from 1, such as 5"),
        ("--criteria", "few", "write a whole number from 1, such as 5"),
        ("--on-question", "maybe", "--on-question maybe: write one of ask, wait, exit"),
        ("--preset", "tddd", "did you mean \"tdd\"?"),
        ("--check", "tests", "write NAME=COMMAND, as tests=\"cargo test\""),
        ("--check", "tests=", "write tests=\"cargo test\""),
        ("--allow-test-change", "[", "write one such as tests/old_*.py"),
        ("--model", "", "it must not be empty"),
        ("--promise", " ", "it must not be empty"),
        ("--notify", "", "it must not be empty"),
        ("--agent-cmd", "", "it must not be empty"),
    ];
    for (flag, value, words) in rows {
        sandbox.run(&["run", "build it", flag, value]).exits(2).says(words);
    }
    sandbox
        .run(&["run", "build it", "--require-proof=strong"])
        .exits(2)
        .says("one of red-to-green, new-test");
    assert_eq!(sandbox.status_if_any()["run"], serde_json::Value::Null, "nothing is recorded");
}

#[test]
fn a_command_line_that_cannot_be_read_is_answered_with_what_is_wrong_and_the_help() {
    let sandbox = Sandbox::new();
    let rows: [(&[&str], &str, &str); 12] = [
        (&["statu"], "there is no command \"statu\"; did you mean status?", "loop help"),
        (&["queue", "ad"], "there is no command \"ad\"; did you mean add?", "loop help queue"),
        (&["run", "--frob"], "there is no flag --frob here", "loop help run"),
        (&["checks", "--jobs", "2"], "there is no flag --jobs here", "loop help checks"),
        (&["run", "fix", "it"], "\"it\" is one word too many; put a sentence into quotes", "loop help run"),
        (&["run", "--max"], "--max needs a value", "loop help run"),
        (
            &["queue", "add", "x", "--priority", "high"],
            "--priority high: write a whole number",
            "loop help queue add",
        ),
        (&["skip", "audit"], "missing: --reason <TEXT>", "loop help skip"),
        (
            &["run", "x", "--preset", "tdd", "--workflow", "y"],
            "--preset and --workflow do not go together",
            "loop help run",
        ),
        (&["completions", "zz"], "SHELL zz: write one of bash, elvish, fish", "loop help completions"),
        (&["restore", "x"], "NUMBER x: write a whole number from 1", "loop help restore"),
        (&["simulate", "--seed", "x"], "--seed x: write a whole number, such as 7", "loop help simulate"),
    ];
    for (typed, why, next) in rows {
        let done = sandbox.run(typed).exits(2);
        assert!(done.err.starts_with(&format!("loop: {why}")), "{typed:?}: {}", done.err);
        assert!(done.err.ends_with(&format!("\nnext: {next}\n")), "{typed:?}: {}", done.err);
    }
    let empty = sandbox.run(&["run", "", "--agent-cmd", "true", "--check", "tests=true"]).exits(2);
    empty.says("the input is empty\nnext: loop run \"what to build\" --agent-cmd true --check tests=true\n");
    let done = sandbox.run(&["run", "--max", "x", "--json"]).exits(2);
    let told: serde_json::Value = serde_json::from_str(&done.out).expect("one object");
    assert_eq!((&told["next_step"], &told["exit"]), (&"loop help run".into(), &2.into()), "{told}");
}

#[test]
fn what_people_read_as_a_list_programs_read_as_json() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    let json = |words: &[&str]| -> serde_json::Value {
        let out = sandbox.run(words).exits(0).out;
        serde_json::from_str(&out).unwrap_or_else(|why| panic!("{words:?}: {why}: {out}"))
    };
    let snapshots = json(&["restore", "--json"]);
    assert_eq!(snapshots[0]["number"], 1, "{snapshots}");
    assert!(snapshots[0]["ref"].as_str().is_some_and(|it| it.starts_with("refs/loop/snap/")), "{snapshots}");
    let preview = json(&["restore", "1", "--dry-run", "--json"]);
    assert_eq!(preview["saved_as"], serde_json::Value::Null, "{preview}");
    let verdict = json(&["verify", "--json"]);
    assert_eq!(verdict["whole"], true, "{verdict}");
    assert!(verdict["events"].as_u64().is_some_and(|it| 5 < it), "{verdict}");
    assert_eq!(json(&["answer", "--json"]), serde_json::json!([]));
}
