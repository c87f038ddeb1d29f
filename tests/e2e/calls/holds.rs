//! A provider's plan limit holds every run of that account on this machine, no other, and until the
//! moment that was named: through a killed controller and through a clock that jumps. The agent is a
//! program called `claude` that speaks the stream of the real one.

use loop_harness::{CHECK, Done, Running, Sandbox, skipped, within};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two projects, one home, and a plan that is used up for the first call.
struct Machine {
    sandbox: Sandbox,
    other: PathBuf,
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs()
}

impl Machine {
    fn new(resets_at: u64) -> Machine {
        let sandbox = Sandbox::new();
        let bin = sandbox.root().join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        let calls = sandbox.note("calls");
        let script = format!(
            r#"#!/bin/sh
cat > /dev/null
echo "$ANTHROPIC_API_KEY $PWD" >> '{calls}'
printf '%s\n' '{{"type":"system","subtype":"init","session_id":"s","model":"m"}}'
if [ "$(wc -l < '{calls}')" -eq 1 ]; then
    printf '%s\n' '{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{resets_at},"rateLimitType":"five_hour"}}}}'
    printf '%s\n' '{{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You have hit it"}}'
    exit 1
fi
touch work; git add work; git -c user.name=a -c user.email=a@localhost commit -q -m work
printf '%s\n' '{{"type":"result","subtype":"success","is_error":false,"result":"Done.\n\n<promise>TASK_COMPLETE</promise>","total_cost_usd":0.1}}'
"#,
            calls = calls.display()
        );
        std::fs::write(bin.join("claude"), script).expect("a script");
        std::fs::set_permissions(bin.join("claude"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let other = sandbox.root().join("other");
        let mut git = Command::new("git");
        sandbox.furnish(&mut git);
        git.args(["clone", "-q", "."]).arg(&other).current_dir(&sandbox.project);
        assert!(git.status().expect("git").success());
        Machine { sandbox, other }
    }

    fn command(&self, project: &Path, key: &str, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        let path = std::env::var_os("PATH").expect("a path");
        let all = [self.sandbox.root().join("bin")].into_iter().chain(std::env::split_paths(&path));
        command.current_dir(project).env("PATH", std::env::join_paths(all).expect("a path"));
        command.env("ANTHROPIC_API_KEY", key);
        command
    }

    fn run(&self, project: &Path, key: &str) -> Running {
        let arguments = ["run", "it", "--agent", "claude", "--check", CHECK];
        self.sandbox.start(self.command(project, key, &arguments))
    }

    fn ask(&self, project: &Path, arguments: &[&str]) -> Done {
        self.sandbox.start(self.command(project, "key-of-account-one", arguments)).wait()
    }

    fn status(&self, project: &Path) -> serde_json::Value {
        serde_json::from_str(&self.ask(project, &["status", "--json"]).out).unwrap_or_default()
    }

    fn waits(&self, project: &Path) -> bool {
        within(Duration::from_secs(30), || self.status(project)["limits"]["waiting_until"].is_string())
    }
}

#[test]
fn g31_a_hold_binds_every_run_of_its_account_and_no_other() {
    let resets_at = now_s() + 20;
    let machine = Machine::new(resets_at);
    let here = machine.sandbox.project.clone();
    let first = machine.run(&here, "key-of-account-one");
    assert!(machine.waits(&here), "{}", machine.status(&here));
    // Another run of the same account does not even ask.
    let second = machine.run(&machine.other, "key-of-account-one");
    assert!(machine.waits(&machine.other), "{}", machine.status(&machine.other));
    assert_eq!(machine.status(&machine.other)["calls_total"], 0);
    let limits = machine.ask(&here, &["limits"]);
    assert!(limits.out.contains("claude-") && limits.out.contains("s left)"), "{limits:?}");
    // The controller of the first is killed and comes back: it waits on, for the same moment.
    let until = machine.status(&here)["limits"]["waiting_until"].clone();
    first.kill();
    let first = machine.run(&here, "key-of-account-one");
    assert_eq!(machine.status(&here)["limits"]["waiting_until"], until);
    assert_eq!(machine.sandbox.notes("calls").len(), 1);
    first.wait().exits(0);
    second.wait().exits(0);
    let (ended, status) = (now_s(), machine.status(&here));
    assert!(resets_at <= ended, "{ended} is before {resets_at}");
    assert_eq!((&status["calls_total"], &status["iterations_total"]), (&2.into(), &1.into()));
}

#[test]
fn g31_another_account_is_not_held_and_a_person_can_clear_a_hold() {
    let machine = Machine::new(now_s() + 7200);
    let here = machine.sandbox.project.clone();
    let first = machine.run(&here, "key-of-account-one");
    assert!(machine.waits(&here), "{}", machine.status(&here));
    machine.run(&machine.other, "key-of-account-two").wait().exits(0);
    assert_eq!(machine.status(&machine.other)["status"], "completed");
    assert_eq!(machine.status(&here)["calls_total"], 1);
    let cleared = machine.ask(&here, &["limits", "--clear", "claude"]);
    assert!(cleared.out.contains("cleared"), "{cleared:?}");
    first.wait().exits(0);
    assert!(machine.ask(&here, &["limits"]).out.contains("no provider limits"));
}

/// Programs of the user have nothing in common: what one is refused holds no other, and is listed by its name.
#[test]
fn g31_a_program_that_is_refused_holds_no_other_program() {
    let machine = Machine::new(0);
    let here = machine.sandbox.project.clone();
    let program = |name: &str, body: &str| {
        let path = machine.sandbox.root().join("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\ncat > /dev/null\n{body}\n")).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        path.display().to_string()
    };
    let refused = program("refused.sh", "echo LOOP_LIMIT until=2199-01-01T00:00:00Z; exit 75");
    let served = program(
        "served.sh",
        "touch work; git add work; git -c user.name=a -c user.email=a@localhost commit -q -m work
        echo '<promise>TASK_COMPLETE</promise>'",
    );
    let run = |project: &Path, program: &str| {
        let arguments = ["run", "it", "--agent-cmd", program, "--check", CHECK];
        machine.sandbox.start(machine.command(project, "", &arguments))
    };
    let first = run(&here, &refused);
    assert!(machine.waits(&here), "{}", machine.status(&here));
    let limits = machine.ask(&here, &["limits"]);
    assert!(limits.out.contains("command-refused.sh-"), "{limits:?}");
    run(&machine.other, &served).wait().exits(0);
    assert_eq!(machine.status(&here)["calls_total"], 1);
    machine.ask(&here, &["cancel"]);
    first.wait();
}

/// One program in two projects is one account; a name with a mistake in it clears nothing, and the name of one
/// program ends no wait of another.
#[test]
fn g31_a_hold_binds_every_run_of_a_program_and_is_cleared_by_its_name() {
    let machine = Machine::new(0);
    let here = machine.sandbox.project.clone();
    let calls = machine.sandbox.note("program-calls");
    let program = |name: &str| {
        let path = machine.sandbox.root().join("bin").join(name);
        let body = format!(
            "echo {name} >> '{}'; echo LOOP_LIMIT until=2199-01-01T00:00:00Z; exit 75",
            calls.display()
        );
        std::fs::write(&path, format!("#!/bin/sh\ncat > /dev/null\n{body}\n")).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        path.display().to_string()
    };
    let (one, other) = (program("one.sh"), program("other.sh"));
    let next = |project: &Path, input: &str, program: &str| {
        machine.ask(project, &["next", input, "--agent-cmd", program, "--check", CHECK])
    };
    next(&here, "it", &one).exits(5);
    assert_eq!(machine.sandbox.notes("program-calls"), ["one.sh"]);
    next(
        &machine.other,
        "it",
        &format!("env KEY=sk-ant-api03-SECRETSECRETsecret123456 timeout 60 sh {one} -v"),
    )
    .exits(5);
    assert!(machine.status(&machine.other)["limits"]["waiting_until"].is_string());
    assert_eq!(machine.sandbox.notes("program-calls"), ["one.sh"], "the second does not even ask");
    let limits = machine.ask(&here, &["limits"]).out;
    assert!(limits.contains("command-one.sh-") && !limits.contains("SECRET"), "{limits}");
    machine.ask(&machine.other, &["cancel"]).exits(0);
    next(&machine.other, "that", &other).exits(5);
    let typo = machine.ask(&here, &["limits", "--clear", "command-typo"]).exits(2);
    assert!(typo.err.contains("no account is called \"command-typo\"; in use: command-o"), "{typo:?}");
    let holds: Vec<serde_json::Value> =
        serde_json::from_str(&machine.ask(&here, &["limits", "--json"]).out).expect("a list");
    let mut names = holds.iter().filter_map(|it| it["agent"].as_str());
    let name = names.find(|it| it.starts_with("command-one.sh-")).expect("an account");
    let cleared = machine.ask(&here, &["limits", "--clear", name]).exits(0);
    assert!(cleared.out.contains("cleared; 1 unfinished run will ask again"), "{cleared:?}");
    let rest = machine.ask(&here, &["limits"]).out;
    assert!(rest.contains("command-other.sh-") && !rest.contains("command-one.sh-"), "{rest}");
}

/// Two hours pass at once, as after a laptop slept: the run is back within half a minute.
#[test]
fn g31_a_wait_ends_on_time_when_the_clock_jumps() {
    let machine = Machine::new(now_s() + 7200);
    let root = machine.sandbox.root();
    let (source, library, offset) = (root.join("jump.c"), root.join("jump.so"), root.join("offset"));
    let code = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    int done = syscall(SYS_clock_gettime, id, at);
    if (id == CLOCK_REALTIME && done == 0) {
        long more = 0;
        FILE *file = fopen(OFFSET, "r");
        if (file) { if (fscanf(file, "%ld", &more) == 1) at->tv_sec += more; fclose(file); }
    }
    return done;
}
"#;
    std::fs::write(&source, code.replace("OFFSET", &format!("{:?}", offset.display().to_string())))
        .expect("a file");
    let compiler = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    if !compiler.is_ok_and(|it| it.success()) {
        return skipped("g31_a_wait_ends_on_time_when_the_clock_jumps", "there is no C compiler");
    }
    let here = machine.sandbox.project.clone();
    let arguments = ["run", "it", "--agent", "claude", "--check", CHECK];
    let mut command = machine.command(&here, "key-of-account-one", &arguments);
    command.env("LD_PRELOAD", &library);
    let mut running = machine.sandbox.start(command);
    assert!(machine.waits(&here), "{}", machine.status(&here));
    assert!(!running.ends_within(Duration::from_millis(200)), "it waits");
    std::fs::write(&offset, "7201").expect("a file");
    running.wait().exits(0);
    assert_eq!(machine.status(&here)["status"], "completed");
}
