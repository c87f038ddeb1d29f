//! What a person sees of an agent's work: while it happens, and afterwards. The agents are a shell script
//! and a program called `claude` that speaks the stream of the real one.

use loop_harness::{CHECK, COMMIT, PROMISE, Sandbox, Terminal, within};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

/// A `claude` that says what it is told to say; the line `WAIT` waits for the pipe `go`.
fn claude(sandbox: &Sandbox, lines: &[&str]) {
    let bin = sandbox.root().join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let mut script = "#!/bin/sh\ncat > /dev/null\n".to_owned();
    for line in lines {
        script += &match *line {
            "WAIT" => format!("echo here > '{0}/at'; read x < '{0}/go'\n", sandbox.note("").display()),
            "WORK" => format!("touch work; {COMMIT}\n"),
            line => format!("cat <<'END'\n{line}\nEND\n"),
        };
    }
    fs::write(bin.join("claude"), script).expect("a script");
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn command(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = sandbox.command(arguments);
    let path = std::env::var_os("PATH").expect("a path");
    let all = [sandbox.root().join("bin")].into_iter().chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).expect("a path"));
    command.env("ANTHROPIC_API_KEY", "sk-ant-api03-secret-of-the-user-0123456789");
    command
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"5e55-10","model":"claude-sonnet-5"}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.\n\n<promise>TASK_COMPLETE</promise>","usage":{"input_tokens":1200,"output_tokens":34}}"#;

fn says(text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{}","content":[{{"type":"text","text":"{text}"}}],"usage":{{"input_tokens":600}}}}}}"#,
        text.len()
    )
}

fn uses(tool: &str, input: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","name":"{tool}","input":{input}}}]}}}}"#
    )
}

fn answers(text: &str, failed: bool) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":"{text}","is_error":{failed}}}]}}}}"#
    )
}

/// Wider than the terminals that it is shown in.
const LONG: &str = "First come the notes and the design, then the parser with its tests, and last of all the \
    documents, because what they promise is only known when the parser stands and its tests have passed";

#[test]
fn what_an_agent_does_is_seen_while_it_happens_and_afterwards() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let place = sandbox.project.display().to_string();
    let write = uses("Write", &format!(r#"{{"file_path":"{place}/src/made.txt"}}"#));
    let key = format!("cat {place}/notes; echo sk-ant-api03-secret-of-the-user-0123456789");
    let key = uses("Bash", &format!(r#"{{"command":"{key}"}}"#));
    let lines = [
        INIT,
        &says("I will write it. \\u001b[31mred\\u001b[0m"),
        &says(LONG),
        &write,
        &answers("created", false),
        &key,
        &answers("one\\ntwo\\nexit 3", true),
        "WAIT",
        "WORK",
        &says("Done.\\n\\n<promise>TASK_COMPLETE</promise>"),
        RESULT,
    ];
    claude(&sandbox, &lines);
    let run = sandbox.start(command(&sandbox, &["run", "it", "--agent", "claude", "-v", "--check", CHECK]));
    at.hear();
    let mut follow = command(&sandbox, &["log", "-f"]);
    follow.stdout(fs::File::create(sandbox.note("followed")).expect("a file"));
    let mut follow = follow.spawn().expect("loop");
    let followed = || fs::read_to_string(sandbox.note("followed")).unwrap_or_default();
    assert!(within(Duration::from_secs(20), || followed().contains("! exit 3")), "{}", followed());
    let status = sandbox.run(&["status"]).exits(0).out;
    let told = ["> Write src/made.txt", "> Bash cat notes", " tokens so far: thinking"];
    assert!(told.iter().all(|it| status.contains(it)), "{status}");
    let live = sandbox.status()["call"].clone();
    assert_eq!(live["usage"]["tokens"]["input"], 1200, "{live}");
    go.say();
    let said = run.wait().exits(0).err;
    assert!(follow.wait().expect("it ends with the run").success());
    let shown = sandbox.run(&["show", "1"]).exits(0).out;
    for (name, text) in [("run -v", &said), ("log -f", &followed()), ("show", &shown)] {
        for line in
            ["model claude-sonnet-5", "I will write it. ", "> Write src/made.txt", "! exit 3", "Done."]
        {
            assert!(text.contains(line), "{name} has no {line:?}: {text}");
        }
        assert!(!text.contains('\u{1b}') && !text.contains("secret-of-the-user"), "{name}: {text}");
        assert!(!text.contains(&format!("{place}/src")), "{name}: {text}");
    }
    assert!(!followed().contains("| created"), "results only with -v: {}", followed());
    assert!(said.contains("| created") && shown.contains("| created"), "{said}\n{shown}");
    assert!(shown.contains(&format!("open this session: cd {place} && claude --resume 5e55-10")), "{shown}");
    assert!(shown.contains("(1234 in all)"), "{shown}");
    for (rows, columns) in [(24, 80), (40, 120)] {
        let mut terminal = Terminal::start(&command(&sandbox, &["show", "1"]), rows, columns);
        terminal.exits(0);
        let screen = String::from_utf8_lossy(&terminal.raw).replace('\r', "");
        let is_command = |it: &&str| it.contains("open this session: ");
        let widest = screen.lines().filter(|it| !is_command(it)).map(|it| it.chars().count()).max();
        assert!(widest <= Some(columns.into()), "{columns}: {screen}");
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(LONG) && words.contains(&format!("open this session: cd {place}")),
            "{screen}"
        );
    }
    let json: Value =
        serde_json::from_str(&sandbox.run(&["show", "1", "--json"]).exits(0).out).expect("JSON");
    assert_eq!((&json["model"], &json["session"]), (&"claude-sonnet-5".into(), &"5e55-10".into()));
    assert_eq!(json["narrative"][1]["model"], "claude-sonnet-5", "{json}");
    let ended = sandbox.events().into_iter().find(|it| it["kind"] == "ended").expect("a call");
    assert_eq!(
        ended["event"]["Ended"]["session"].as_str().or(ended["event"]["ended"]["session"].as_str()),
        Some("5e55-10"),
        "{ended}"
    );
    let raw = sandbox.run(&["show", "1", "--output"]).exits(0).out;
    assert!(
        raw.contains("\"tool_use\"") && !shown.contains("\"tool_use\""),
        "raw only behind --output: {raw}"
    );
}

#[test]
fn of_a_command_its_lines_are_told() {
    let sandbox = Sandbox::new();
    let agent = sandbox.agent(&format!("echo 'looking around'; touch work; {COMMIT}; {PROMISE}"));
    let done = sandbox.run(&["run", "it", "-v", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert!(done.err.contains("  looking around"), "{}", done.err);
    let shown = sandbox.run(&["show", "1"]).exits(0).out;
    assert!(shown.contains("  looking around") && shown.contains("more: loop show 1 --prompt"), "{shown}");
    let quiet = Sandbox::new();
    let agent = quiet.agent(&format!("echo 'looking around'; touch work; {COMMIT}; {PROMISE}"));
    let done = quiet.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert!(!done.err.contains("looking around"), "only with -v: {}", done.err);
}
