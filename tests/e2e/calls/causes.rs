//! Why a call did not work, and what a person can do about it: each cause is told by its name, waited for
//! where waiting helps, and asked about where another try would not mend it. The agent is a program called
//! `claude` that speaks the stream of the real one, or a shell script.

use loop_harness::{CHECK, COMMIT, Done, PROMISE, Sandbox, within};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"claude-opus-5-5"}"#;

/// A `claude` that fails with this result until the file `well` is there; then it works.
fn claude(sandbox: &Sandbox, failure: &str) {
    let bin = sandbox.root().join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let (args, well, seen) = (sandbox.note("args"), sandbox.note("well"), sandbox.note("seen"));
    let script = format!(
        r#"#!/bin/sh
case $1 in --version) echo '2.1.325 (Claude Code)'; exit 0;; esac
cat > /dev/null
echo "$*" >> '{args}'
echo "${{HANDED_ON-none}}" >> '{seen}'
echo '{INIT}'
if [ ! -e '{well}' ]; then
    echo 'the last words on standard error' >&2
    cat <<'END'
{failure}
END
    exit 1
fi
touch work; {COMMIT}
cat <<'END'
{{"type":"result","subtype":"success","is_error":false,"result":"Done.\n\n<promise>TASK_COMPLETE</promise>","permission_denials":[{{"tool_name":"WebFetch"}}]}}
END
"#,
        args = args.display(),
        well = well.display(),
        seen = seen.display()
    );
    fs::write(bin.join("claude"), script).expect("a script");
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    let path = std::env::var_os("PATH").expect("a path");
    let all = [sandbox.root().join("bin")].into_iter().chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).expect("a path"));
    command.env("ANTHROPIC_API_KEY", "sk-ant-api03-key").env("HANDED_ON", "by name");
    command
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Done {
    sandbox.start(command(sandbox, arguments)).wait()
}

fn result(kind: &str, status: &str, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","error":"{kind}","message":{{"model":"<synthetic>","content":[{{"type":"text","text":"{text}"}}]}}}}
{{"type":"result","subtype":"success","is_error":true,"api_error_status":{status},"result":"{text}"}}"#
    )
}

const CLAUDE: [&str; 6] = ["run", "it", "--agent", "claude", "--check", CHECK];

#[test]
fn an_unknown_model_is_asked_about_at_once_and_another_is_taken() {
    let sandbox = Sandbox::new();
    claude(&sandbox, &result("model_not_found", "404", "There's an issue with the selected model (nope)."));
    let done = run(&sandbox, &[&CLAUDE[..], &["--model", "nope"]].concat()).exits(4);
    assert!(done.err.contains("claude cannot use this model"), "{}", done.err);
    assert!(done.err.contains("model NAME") && done.err.contains("retry"), "{}", done.err);
    assert!(done.err.contains("the last words on standard error"), "{}", done.err);
    let status = sandbox.status();
    assert_eq!(
        (&status["question"]["kind"], &status["calls_total"]),
        (&"agent".into(), &1.into()),
        "{status}"
    );
    assert_eq!(status["iterations_total"], 0, "{status}");
    run(&sandbox, &["answer", "model"]).exits(2).says("needs the name");
    run(&sandbox, &["answer", "model", "sonnet"]).exits(0);
    fs::write(sandbox.note("well"), "").expect("a file");
    run(&sandbox, &["run"]).exits(0);
    let args = sandbox.notes("args");
    assert!(args[0].contains("--model nope") && args[1].contains("--model sonnet"), "{args:?}");
    let log = sandbox.run(&["log"]).exits(0).out;
    assert!(log.contains("the agent is called again, with the model sonnet"), "{log}");
}

/// Whoever demands another model for the review is asked where nobody knows which one did the work, before the
/// call; the name that is given then is the one that is asked.
#[test]
fn a_review_that_needs_another_model_is_asked_about() {
    let sandbox = Sandbox::new();
    let said = r#"{"type":"result","subtype":"success","is_error":false,"result":"```json\n{\"status\":\"done\"}\n```"}"#;
    let args = sandbox.note("args");
    let begin = format!("#!/bin/sh\ncat > /dev/null\necho \"$*\" >> '{}'\n", args.display());
    sandbox.program("bin/claude", &format!("{begin}cat <<'END'\n{said}\nEND\n"));
    sandbox.write(
        ".loop/workflow.toml",
        "name = \"two\"\n[agent]\ncli = \"claude\"\n[[phase]]\nname = \"BUILD\"\nprompt = \"Build.\"\n\
         [[phase]]\nname = \"REVIEW\"\nprompt = \"Review.\"\n\
         model = { of = [\"opus\", \"sonnet\"], other_than = \"BUILD\", required = true }\n",
    );
    sandbox.commit("a workflow");
    run(&sandbox, &["check"]).exits(0).says("it ends or asks a person");
    let done = run(&sandbox, &["run", "it", "--unverified"]).exits(4);
    let why = "REVIEW must use another model than BUILD: the model that BUILD ran with is unknown";
    assert!(done.err.contains(why) && done.err.contains("model NAME"), "{}", done.err);
    assert_eq!(sandbox.notes("args").len(), 1, "nobody reviewed");
    run(&sandbox, &["answer", "model", "haiku"]).exits(0);
    run(&sandbox, &["run"]).exits(0);
    let args = sandbox.notes("args");
    assert!(args.len() == 2 && args[1].ends_with("--model haiku"), "{args:?}");
    // Asked for another model, it names the same one: that is seen only afterwards.
    sandbox.program("bin/claude", &format!("{begin}cat <<'END'\n{INIT}\n{said}\nEND\n"));
    let done = run(&sandbox, &["run", "it again", "--unverified"]).exits(0);
    assert!(done.err.contains("begins with sonnet; BUILD ran with claude-opus-5-5"), "{}", done.err);
    let both = "REVIEW was to ask another model than BUILD, and claude-opus-5-5 answered in both";
    assert!(done.err.contains(both), "{}", done.err);
}

#[test]
fn what_cannot_be_mended_by_another_try_is_asked_about() {
    for (kind, status, text, says) in [
        ("authentication_failed", "401", "Invalid API key · Fix external API key", "its key is not accepted"),
        ("billing_error", "400", "Credit balance is too low", "no credit left"),
        ("invalid_request", "400", "Prompt is too long · 250000 tokens", "the prompt is too long"),
        (
            "invalid_request",
            "400",
            "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy",
            "the model refused the task",
        ),
    ] {
        let sandbox = Sandbox::new();
        claude(&sandbox, &result(kind, status, text));
        let done = run(&sandbox, &CLAUDE).exits(4);
        assert!(done.err.contains(says), "{kind}: {}", done.err);
        assert_eq!(sandbox.status()["question"]["kind"], "agent", "{kind}");
        assert_eq!(sandbox.status()["next_step"], "loop answer retry");
        fs::write(sandbox.note("well"), "").expect("a file");
        run(&sandbox, &["resume"]).exits(0);
    }
}

#[test]
fn bp78_an_overloaded_provider_is_asked_again_in_seconds() {
    let sandbox = Sandbox::new();
    claude(&sandbox, &result("server_error", "529", "API Error: 529 Overloaded."));
    let running = sandbox.start(command(&sandbox, &CLAUDE));
    assert!(
        within(Duration::from_secs(30), || sandbox.status_if_any()["limits"]["waiting_until"].is_string())
    );
    let limits = run(&sandbox, &["limits"]).exits(0).out;
    assert!(
        limits.contains("waiting until") && limits.contains("cannot serve calls at the moment"),
        "{limits}"
    );
    fs::write(sandbox.note("well"), "").expect("a file");
    running.wait().exits(0);
    let status = sandbox.status();
    assert_eq!(status["iterations_total"], 1, "{status}");
    assert_eq!(status["models"]["WORK"], "claude-opus-5-5", "{status}");
    let warnings = status["warnings"].to_string();
    assert!(warnings.contains("the agent was refused WebFetch"), "{warnings}");
}

#[test]
fn a_command_reports_a_limit_and_a_person_ends_the_wait() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "if [ ! -e \"$OUT/well\" ]; then echo 'LOOP_LIMIT until=2199-01-01T00:00:00Z'; exit 75; fi; touch work; {COMMIT}; {PROMISE}"
    ));
    let line = ["next", "it", "--agent-cmd", &agent, "--check", CHECK];
    // Another call is not what helps.
    sandbox.run(&line).exits(5).says("next: loop limits --clear");
    let status = sandbox.status();
    assert_eq!(status["limits"]["waiting_until"], "2199-01-01T00:00:00Z", "as it was told: {status}");
    assert_eq!((&status["iterations_total"], &status["calls_total"]), (&0.into(), &1.into()));
    let limits = sandbox.run(&["limits"]).exits(0).out;
    assert!(
        limits.contains("2199-01-01T00:00:00Z") && limits.contains("next: loop limits --clear"),
        "{limits}"
    );
    assert!(limits.contains("this project: nothing spent"), "{limits}");
    // Nobody drives it: it is told, and nothing says any more that it waits.
    sandbox.run(&["limits", "--clear"]).exits(0).says("1 unfinished run will ask again");
    sandbox.run(&["limits"]).exits(0).says("no provider limits");
    sandbox.run(&["status"]).exits(0).says("the wait was cleared").says("next: loop run");
    fs::write(sandbox.note("well"), "").expect("a file");
    sandbox.run(&["resume", "--now"]).exits(0);
    assert_eq!(sandbox.calls(), [1, 2]);
}

#[test]
fn limits_clear_ends_every_wait() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!(
        "if [ ! -e \"$OUT/well\" ]; then echo 'LOOP_LIMIT until=2199-01-01T00:00:00Z'; exit 75; fi; touch work; {COMMIT}; {PROMISE}"
    ));
    let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
    assert!(
        within(Duration::from_secs(30), || sandbox.status_if_any()["limits"]["waiting_until"].is_string())
    );
    fs::write(sandbox.note("well"), "").expect("a file");
    sandbox.run(&["limits", "--clear"]).exits(0).says("1 unfinished run will ask again");
    running.wait().exits(0);
}

#[test]
fn the_last_words_of_a_command_stand_in_the_question() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent("echo 'cannot open the ledger' >&2; exit 3");
    let done = sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(4);
    assert!(done.err.contains("cannot open the ledger"), "{}", done.err);
    let capped = Sandbox::new();
    let agent = capped.agent("echo 'cannot open the ledger' >&2; exit 3");
    let done = capped.run(&["run", "it", "--max", "1", "--agent-cmd", &agent, "--check", CHECK]).exits(6);
    assert!(done.err.contains("cannot open the ledger"), "{}", done.err);
}

#[test]
fn an_agent_that_is_gone_is_refused_when_its_run_continues() {
    let sandbox = Sandbox::new();
    claude(&sandbox, &result("server_error", "529", "API Error: 529 Overloaded."));
    run(&sandbox, &[&["next"], &CLAUDE[1..]].concat());
    fs::remove_file(sandbox.root().join("bin/claude")).expect("it is there");
    let mut gone = sandbox.command(&["run"]);
    gone.env("PATH", "/usr/bin:/bin");
    let done = sandbox.start(gone).wait().exits(2);
    assert!(done.err.contains("no program \"claude\" in PATH"), "{}", done.err);
}

#[test]
fn permissions_are_said_and_variables_are_handed_on_by_name() {
    let sandbox = Sandbox::new();
    claude(&sandbox, &result("unknown", "null", "Missing environment variable: `HANDED_ON`."));
    sandbox.write(".loop/workflow.toml", "extends = \"ralph\"\n[agent]\npermissions = \"edit\"\n");
    sandbox.commit("workflow");
    let done = run(&sandbox, &CLAUDE);
    assert!(
        done.err.contains("WORK is done when everything is committed, and with permissions = \"edit\""),
        "{}",
        done.err
    );
    assert!(done.err.contains("HANDED_ON is set here but not passed on"), "{}", done.err);
    assert!(done.err.contains("then loop answer retry and loop run --reload"), "{}", done.err);
    let args = sandbox.notes("args");
    assert!(args[0].contains("acceptEdits --permission-prompts none"), "{args:?}");
    sandbox.write(
        ".loop/workflow.toml",
        "extends = \"ralph\"\n[agent]\npermissions = \"all\"\npass_env = [\"HANDED_ON\"]\n",
    );
    sandbox.commit("workflow");
    fs::write(sandbox.note("well"), "").expect("a file");
    run(&sandbox, &["answer", "retry"]).exits(0);
    run(&sandbox, &["run", "--reload"]).exits(0);
    let seen = sandbox.notes("seen");
    assert_eq!(
        (seen.first().map(String::as_str), seen.last().map(String::as_str)),
        (Some("none"), Some("by name"))
    );
}

/// The example in the help of `loop next` ends where another call is not what helps, and not before.
#[test]
fn the_documented_loop_around_next_neither_stops_early_nor_spins() {
    let line = r#"while "$LOOP" next --json | tail -n 1 | grep -q '"next_step":"loop next'; do :; done"#;
    for (script, calls, status) in [
        (format!("date +%N >> work; {COMMIT}; [ \"$LOOP_CALL\" -lt 3 ] || {{ {PROMISE}; }}"), 3, "completed"),
        ("echo 'LOOP_LIMIT until=2199-01-01T00:00:00Z'; exit 75".to_owned(), 1, "running"),
    ] {
        let sandbox = Sandbox::new();
        let agent = sandbox.agent(&script);
        sandbox.run(&["init", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
        let mut shell = Command::new("sh");
        sandbox.furnish(&mut shell);
        shell.args(["-c", line]).env("LOOP", loop_harness::program()).current_dir(&sandbox.project);
        assert!(shell.status().expect("a shell").success());
        let found = sandbox.status();
        assert_eq!((&found["calls_total"], &found["status"]), (&calls.into(), &status.into()), "{found}");
    }
}
