//! The real agent programs, driven by `loop` against a scripted model on the loopback interface: no
//! key, no model, no network but the npm registry. They are large, so this runs only when it is asked
//! for: `LOOP_TEST_AGENTS=1` (or a list like `claude,codex`). The programs are kept in
//! `$LOOP_TEST_CACHE`, else `~/.cache/loopctl-test`.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// The versions that the adapters are known to work with: program, package, version.
const PINNED: [(&str, &str, &str); 4] = [
    ("claude", "@anthropic-ai/claude-code", "2.1.325"),
    ("codex", "@openai/codex", "0.166.0"),
    ("gemini", "@google/gemini-cli", "0.61.0"),
    ("opencode", "opencode-ai", "1.18.33"),
];

/// Whether this agent is to be tested; says so when it is not.
fn is_wanted(cli: &str, test: &str) -> bool {
    let asked = std::env::var("LOOP_TEST_AGENTS").unwrap_or_default();
    let wanted = asked == "1" || asked.split(',').any(|it| it == cli);
    if !wanted {
        eprintln!("skipped: {test} with {cli}; set LOOP_TEST_AGENTS=1 to run it");
    }
    wanted
}

/// Returns the folder with the agent's program, which is installed if it is not there.
fn installed(cli: &str) -> PathBuf {
    let (_, package, version) = PINNED.into_iter().find(|it| it.0 == cli).expect("a pinned version");
    let cache = match std::env::var_os("LOOP_TEST_CACHE") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME").expect("a home")).join(".cache/loopctl-test"),
    };
    let folder = cache.join(format!("{cli}-{version}"));
    if !folder.is_dir() {
        fs::create_dir_all(&cache).expect("a cache");
        // Another test may be installing too: who is first puts it in place.
        let making = tempfile::tempdir_in(&cache).expect("a folder");
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(making.path())
            .arg(format!("{package}@{version}"))
            .output()
            .expect("npm");
        assert!(npm.status.success(), "npm install {package}: {}", String::from_utf8_lossy(&npm.stderr));
        if fs::rename(making.path(), &folder).is_ok() {
            let _moved = making.keep();
        }
    }
    folder.join("node_modules/.bin")
}

/// A repository, a scripted model, and homes for everybody.
struct Lab {
    cli: &'static str,
    folder: tempfile::TempDir,
    server: Child,
    url: String,
    /// Variables beside those that every agent gets.
    env: Vec<(&'static str, String)>,
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _gone = self.server.kill();
        let _reaped = self.server.wait();
    }
}

impl Lab {
    fn new(cli: &'static str, script: &Value) -> Lab {
        let folder = tempfile::Builder::new().tempdir_in("/var/tmp").expect("a folder");
        let path = folder.path();
        for part in ["repo/.loop", "home/.codex", "home/.gemini", "state", "tmp"] {
            fs::create_dir_all(path.join(part)).expect("a folder");
        }
        fs::write(path.join("script.json"), script.to_string()).expect("a script");
        let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
        fs::write(path.join("home/.gemini/settings.json"), settings.to_string()).expect("settings");
        let mut server = Command::new("python3")
            .arg(model().join("fake_model.py"))
            .args(["serve", "--script", "script.json", "--cwd"])
            .arg(path.join("repo"))
            .current_dir(path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut url = String::new();
        BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut url).expect("the address");
        let lab = Lab { cli, folder, server, url: url.trim().to_owned(), env: Vec::new() };
        fs::write(lab.repo().join(".loop/workflow.toml"), lab.workflow()).expect("a workflow");
        for arguments in [
            &["init", "-q"][..],
            &["add", "-A"],
            &["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "begin"],
            &["config", "user.name", "t"],
            &["config", "user.email", "t@example.com"],
        ] {
            assert!(lab.git(arguments).status.success(), "git {arguments:?}");
        }
        lab
    }

    fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    fn git(&self, arguments: &[&str]) -> Output {
        Command::new("git").args(arguments).current_dir(self.repo()).output().expect("git")
    }

    fn workflow(&self) -> String {
        let (cli, url) = (self.cli, &self.url);
        let more = match cli {
            "codex" => format!(
                r#"args = ["-c", "model_provider=fake", "-c", 'model_providers.fake={{name="fake",base_url="{url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}}']
model = "gpt-5-codex""#
            ),
            // Without a model it asks a model which one to ask.
            "gemini" => "model = \"gemini-2.5-pro\"".to_owned(),
            // A variable that only this project knows is not handed on unless the workflow says so.
            "opencode" => format!("env = {{ FAKE_MODEL_URL = \"{url}\", FAKE_API_KEY = \"sk-fake\" }}"),
            _ => String::new(),
        };
        format!("extends = \"ralph\"\n[agent]\ncli = \"{cli}\"\n{more}\n")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let path = self.folder.path();
        let programs = std::env::var_os("PATH").expect("a PATH");
        let programs =
            std::env::join_paths([installed(self.cli)].into_iter().chain(std::env::split_paths(&programs)));
        Command::new(env!("CARGO_BIN_EXE_loop"))
            .args(arguments)
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", programs.expect("a PATH"))
            .env("HOME", path.join("home"))
            .env("CODEX_HOME", path.join("home/.codex"))
            .env("LOOP_HOME", path.join("state"))
            .env("TMPDIR", path.join("tmp"))
            .env("TZ", "America/New_York")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("ANTHROPIC_BASE_URL", &self.url)
            .env("OPENAI_API_KEY", "sk-fake")
            .env("GOOGLE_GEMINI_BASE_URL", &self.url)
            .env("GEMINI_API_KEY", "fake")
            .env("OPENCODE_CONFIG", model().join("opencode.json"))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .expect("loop")
    }

    fn status(&self) -> Value {
        serde_json::from_slice(&self.run(&["status", "--json"]).stdout).expect("a status")
    }
}

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model")
}

const INPUT: [&str; 4] = ["run", "Write made.txt", "--check", "tests=test -f made.txt"];

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs().cast_signed()
}

fn keeps_its_promise(cli: &'static str) {
    if !is_wanted(cli, "a whole run") {
        return;
    }
    let mut lab = Lab::new(
        cli,
        &json!({"turns": [
            {"text": "I will write it.", "tools": [{"write": {"path": "made.txt", "content": "made\n"}}]},
            {"tools": [{"sh": "git add -A && git commit -qm made"}]},
            {"text": "Done.\n\n<promise>TASK_COMPLETE</promise>", "usage": {"input": 500, "output": 20, "cached": 0}},
        ]}),
    );
    lab.env.push(("ANTHROPIC_API_KEY", "sk-ant-fake".to_owned()));
    let output = lab.run(&INPUT);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
    let status = lab.status();
    assert_eq!((&status["status"], &status["calls_total"]), (&json!("completed"), &json!(1)), "{status}");
    assert_eq!(status["budget"]["tokens"], json!(2620), "{status}");
    assert_eq!(fs::read_to_string(lab.repo().join("made.txt")).expect("the work"), "made\n");
    assert_eq!(String::from_utf8_lossy(&lab.git(&["log", "-1", "--format=%s"]).stdout).trim(), "made");
}

#[test]
fn claude_keeps_its_promise() {
    keeps_its_promise("claude");
}

#[test]
fn codex_keeps_its_promise() {
    keeps_its_promise("codex");
}

#[test]
fn gemini_keeps_its_promise() {
    keeps_its_promise("gemini");
}

#[test]
fn opencode_keeps_its_promise() {
    keeps_its_promise("opencode");
}

/// A used-up plan is waited for until the moment that the provider named, and is no iteration.
fn waits_for_its_plan(cli: &'static str, error: impl Fn(i64) -> Value, env: &[(&'static str, &str)]) {
    if !is_wanted(cli, "a used-up plan") {
        return;
    }
    let resets_at = now_s() + 9000;
    let mut lab = Lab::new(cli, &json!({"turns": [{"times": -1, "error": error(resets_at)}]}));
    lab.env.extend(env.iter().map(|(name, value)| (*name, (*value).to_owned())));
    let output = lab.run(&[&["next"], &INPUT[1..]].concat());
    let status = lab.status();
    let until = status["limits"]["waiting_until"]
        .as_str()
        .unwrap_or_else(|| panic!("no wait in {status}\n{output:?}"));
    let until: jiff::Timestamp = until.parse().expect("a moment");
    assert!((until.as_second() - resets_at).abs() <= 60, "{until} is not {resets_at}");
    assert_eq!((&status["iterations_total"], &status["calls_total"]), (&json!(0), &json!(1)), "{status}");
}

#[test]
fn claude_waits_for_its_plan() {
    let error = |resets_at: i64| {
        json!({"status": 429, "message": "This request would exceed your account's rate limit.", "headers": {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "anthropic-ratelimit-unified-reset": resets_at.to_string(),
            "x-should-retry": "false",
        }})
    };
    waits_for_its_plan("claude", error, &[("CLAUDE_CODE_OAUTH_TOKEN", "anything")]);
}

#[test]
fn codex_waits_for_its_plan() {
    let error = |resets_at: i64| {
        json!({"status": 429, "type": "usage_limit_reached", "message": "The usage limit has been reached",
            "extra": {"plan_type": "plus", "resets_at": resets_at, "resets_in_seconds": 9000}})
    };
    waits_for_its_plan("codex", error, &[]);
}

/// A key that is not accepted is said in one sentence, and nothing is waited for.
fn says_that_its_key_is_wrong(cli: &'static str) {
    if !is_wanted(cli, "a wrong key") {
        return;
    }
    let error = json!({"status": 401, "type": "authentication_error", "code": "invalid_api_key", "message": "Incorrect API key provided: sk-fake."});
    let mut lab = Lab::new(cli, &json!({"turns": [{"times": -1, "error": error}]}));
    lab.env.push(("ANTHROPIC_API_KEY", "sk-fake".to_owned()));
    lab.run(&[&["next"], &INPUT[1..]].concat());
    let log = String::from_utf8_lossy(&lab.run(&["log"]).stdout).into_owned();
    assert!(log.contains(&format!("{cli} is not logged in, or its key is not accepted")), "{log}");
    assert!(!log.contains("sk-fake"), "{log}");
    assert_eq!(lab.status()["limits"]["waiting_until"], Value::Null);
}

#[test]
fn claude_says_that_its_key_is_wrong() {
    says_that_its_key_is_wrong("claude");
}

#[test]
fn codex_says_that_its_key_is_wrong() {
    says_that_its_key_is_wrong("codex");
}
