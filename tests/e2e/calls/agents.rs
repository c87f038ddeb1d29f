//! Agents that are not there, cannot be run, say nothing, say too much, or never end.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, WORK};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

#[test]
fn en07_an_agent_that_is_not_there_is_named_and_costs_nothing() {
    let sandbox = Sandbox::new();
    let plain = sandbox.root().join("plain.txt");
    std::fs::write(&plain, "not a program").expect("a file");
    let folder = sandbox.root().join("io");
    for program in [
        "no-such-program",
        "/no/such/program",
        plain.to_str().expect("plain"),
        folder.to_str().expect("plain"),
        "''",
    ] {
        let done = sandbox.run(&["run", "it", "--agent-cmd", program, "--check", "tests=true"]).exits(2);
        let says_what_helps = ["next: ", "help: "].iter().any(|it| done.err.contains(it));
        assert!(says_what_helps, "{program}: {}", done.err);
        assert_eq!(sandbox.status(), serde_json::json!({ "run": null }), "{program}");
    }
    sandbox.run(&["run", "it", "--agent-cmd", "", "--check", "tests=true"]).exits(2);
    sandbox.run(&["run", "it", "--agent-cmd", "'open", "--check", "tests=true"]).exits(2).says("quote");
    sandbox.run(&["run", "it", "--agent", "nobody", "--check", "tests=true"]).exits(2);
    sandbox.run(&["run", "it", "--check", "tests=true"]).exits(2);
}

#[test]
fn en07_an_agent_that_goes_away_is_an_event() {
    let sandbox = Sandbox::new();
    let program = sandbox.root().join("agent");
    std::fs::write(&program, "#!/bin/sh\nrm -f \"$0\"\ndate +%N > work; git add -A; git commit -qm x\n")
        .expect("a file");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let program = program.to_str().expect("plain");
    sandbox.run(&["run", "it", "--agent-cmd", program, "--check", "tests=true"]).exits(4);
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["question"]["kind"]), (&"halted".into(), &"agent".into()));
    // Nothing was worked, so there is nothing that a breaker could count.
    assert_eq!((&status["breaker"]["same_error"], &status["iterations_total"]), (&0.into(), &1.into()));
    sandbox.run(&["log"]).says("could not be started");
}

/// The kernel cannot run it although it is executable.
#[test]
fn en07_garbage_that_is_executable_is_an_event() {
    let sandbox = Sandbox::new();
    let program = sandbox.root().join("garbage");
    std::fs::write(&program, [0u8, 159, 146, 150, 255, 254, 10, 7]).expect("a file");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let done =
        sandbox.run(&["run", "it", "--agent-cmd", program.to_str().expect("plain"), "--check", "tests=true"]);
    assert!(matches!(done.code, 2 | 4), "{done:?}");
    sandbox.assert_nothing_runs();
}

#[test]
fn g33_any_bytes_are_survived() {
    for script in [
        "head -c 1000000 /dev/urandom",
        "head -c 1000000 /dev/zero",
        "printf '\\377\\376\\000<promise>TASK_COMPLETE</promise\\000>\\n'",
        "i=0; while [ $i -lt 20000 ]; do echo '{{{{[[[['; i=$((i+1)); done",
        "exit 7",
        "kill -SEGV $$",
        "exec <&- >&- 2>&-",
        "",
    ] {
        let sandbox = Sandbox::new();
        // The work is done and would be proven; only a promise is missing.
        let agent = sandbox.agent(&format!("touch work; {COMMIT}; {script}"));
        let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
        assert_eq!(done.code, 4, "{script}: {done:?}");
        assert_eq!(sandbox.status()["status"], "halted", "{script}");
        sandbox.run(&["show", "1"]).exits(0);
        sandbox.assert_nothing_runs();
    }
}

/// An agent that reads none of its prompt must not hang or harm us.
#[test]
fn g33_a_prompt_that_nobody_reads_harms_nothing() {
    let sandbox = Sandbox::new();
    let design: String = (0..20_000).map(|it| format!("line {it} of a long design\n")).collect();
    sandbox.write("DESIGN-1.md", format!("# Long\n\n{design}"));
    sandbox.commit("a design");
    let script = sandbox.note("deaf.sh");
    std::fs::write(&script, format!("exec <&-\n{WORK}\n")).expect("a script");
    let agent = format!("sh '{}'", script.display());
    sandbox.run(&["run", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
}

#[test]
fn en06_fifty_megabytes_and_the_promise_is_still_found() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!(
        "yes 0123456789012345678901234567890123456789 | head -c 50000000; head -c 5000000 /dev/zero; echo\n\
         {WORK}; echo here > \"$OUT/at\"; read x < \"$OUT/go\""
    ));
    let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
    at.hear();
    for (pid, line) in sandbox.processes().into_iter().filter(|(_, line)| line.contains("/loop ")) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        let most = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).expect("a peak");
        let kilobytes: u64 = most.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(kilobytes < 64 << 10, "{line} took {kilobytes} kB");
    }
    go.say();
    running.wait().exits(0);
    let bytes = sandbox.contents(&sandbox.home).iter().map(|(_, it)| it.len()).sum::<usize>();
    assert!(bytes < 70_000_000, "{bytes} bytes were kept");
}

#[test]
fn en05_a_hanging_agent_is_ended() {
    let sandbox = Sandbox::new();
    let workflow = "extends = \"ralph\"\n[agent]\nidle_timeout = \"1s\"\nfirst_timeout = \"1s\"\n";
    std::fs::write(sandbox.note("flow.toml"), workflow).expect("a file");
    let flow = sandbox.note("flow.toml");
    let flow = flow.to_str().expect("plain");
    let agent = sandbox.agent("[ \"$LOOP_CALL\" = 1 ] || echo something; setsid sleep 1000 & sleep 1000");
    let began = Instant::now();
    sandbox.run(&["run", "it", "--workflow", flow, "--agent-cmd", &agent, "--check", "tests=true"]).exits(4);
    assert!(began.elapsed() < Duration::from_secs(20), "it took {:?}", began.elapsed());
    sandbox.run(&["log"]).says("no first output within 1s").says("no output for 1s");
    let status = sandbox.status();
    assert_eq!((&status["status"], &status["iterations_total"]), (&"halted".into(), &2.into()));
    sandbox.assert_nothing_runs();
}

#[test]
fn en05_a_hanging_check_is_ended() {
    let sandbox = Sandbox::new();
    let workflow =
        "extends = \"ralph\"\n[checks.tests]\nrun = \"sleep 1000 & sleep 1000\"\ntimeout = \"1s\"\n";
    std::fs::write(sandbox.note("flow.toml"), workflow).expect("a file");
    let flow = sandbox.note("flow.toml");
    let agent = sandbox.agent(PROMISE);
    sandbox
        .run(&["run", "it", "--workflow", flow.to_str().expect("plain"), "--agent-cmd", &agent, "-n", "1"])
        .exits(6);
    sandbox.run(&["log"]).says("timed out after 1s");
    sandbox.assert_nothing_runs();
}

/// Somebody starts it from a folder below: the program is found where they are.
#[test]
fn en07_a_relative_program_is_found_from_where_the_user_is() {
    let sandbox = Sandbox::new();
    sandbox.write("below/agent.sh", format!("#!/bin/sh\n{WORK}\n"));
    let path = sandbox.project.join("below/agent.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    sandbox.commit("an agent");
    let mut command = sandbox.command(&["run", "it", "--agent-cmd", "./agent.sh", "--check", CHECK]);
    command.current_dir(sandbox.project.join("below"));
    sandbox.start(command).wait().exits(0);
    sandbox.undo();
    sandbox.run(&["run", "that", "-C", "below", "--agent-cmd", "./agent.sh", "--check", CHECK]).exits(0);
}

/// Its row is found again by every controller: by one that follows a dead one, and by one without a terminal.
#[test]
fn an_agent_of_the_users_own_file_outlives_its_controller() {
    let mut sandbox = Sandbox::new();
    sandbox.path_first.push(sandbox.path("bin"));
    let file = "user/.config/loop/agents/mine.toml";
    let description = "program = \"mycli\"\nargs = []\nnames = [\"OUT\"]\ndialect = \"claude\"\n\
                       [permissions]\nall = []\n";
    sandbox.file(file, description);
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"<promise>TASK_COMPLETE</promise>"}"#;
    sandbox.program(
        "bin/mycli",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 1.0; exit; }}\n\
             [ -e \"$OUT/at\" ] && {{ echo > \"$OUT/at\"; read x < \"$OUT/go\"; }}\n\
             touch work; git add work; git commit -q -m work -- work\nprintf '%s\\n' '{result}'\n"
        ),
    );
    let may = sandbox.run(&["agents"]).exits(0).out;
    assert!(may.contains("permissions = \"all\": runs and edits without asking\n"), "{may}");
    assert!(may.contains("permissions = \"edit\": refused: mine cannot be limited"), "{may}");
    assert_eq!(may.matches("--agent-cmd").count(), 1, "{may}");
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let run = ["run", "it", "--agent", "mine", "--check", CHECK];
    let running = sandbox.spawn(&run);
    at.hear();
    running.kill();
    std::fs::remove_file(sandbox.path(file)).expect("it is there");
    sandbox.run(&["run"]).exits(2).says("the file that describes the agent \"mine\" is missing");
    sandbox.file(file, description);
    go.say();
    sandbox.run(&["run"]).exits(0);
    sandbox.undo();
    for name in ["at", "go"] {
        std::fs::remove_file(sandbox.note(name)).expect("it is there");
    }
    sandbox.run(&["run", "once more", "--agent", "mine", "--check", CHECK, "--detach"]).exits(0);
    sandbox.run(&["attach"]).exits(0);
    assert_eq!(sandbox.status()["status"], "completed");
}

/// Gemini's shell runs commands without the global configuration of git, where most people keep who they are.
#[test]
fn an_agent_that_hides_the_configuration_of_git_commits_in_the_name_of_its_user() {
    let mut sandbox = Sandbox::new();
    for key in ["user.name", "user.email"] {
        sandbox.git(&["config", "--unset", key]);
    }
    std::fs::write(sandbox.user.join(".gitconfig"), "[user]\nname = Ada\nemail = ada@example.com\n")
        .expect("a file");
    let bin = sandbox.root().join("first");
    std::fs::create_dir(&bin).expect("a folder");
    let script = r#"#!/bin/sh
case $1 in --version) echo 0.61.0; exit 0;; esac
cat > /dev/null
export GIT_CONFIG_GLOBAL=/dev/null
touch work; git add -A; git commit -qm work
printf '%s\n' '{"type":"init","session_id":"s","model":"m"}'
printf '%s\n' '{"type":"message","role":"assistant","content":"Done.\n\n<promise>TASK_COMPLETE</promise>","delta":true}'
printf '%s\n' '{"type":"result","status":"success"}'
"#;
    std::fs::write(bin.join("gemini"), script).expect("a script");
    std::fs::set_permissions(bin.join("gemini"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    sandbox.path_first.push(bin);
    sandbox.run(&["run", "it", "--agent", "gemini", "--check", CHECK]).exits(0);
    let log = sandbox.git(&["log", "--format=%an %ae %cn %ce"]);
    assert!(log.contains("Ada ada@example.com Ada ada@example.com"), "{log}");
}
