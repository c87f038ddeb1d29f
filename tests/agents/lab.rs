//! A repository, a scripted model and a home for one agent's real program, and what is needed to
//! watch it from outside.

use loop_harness::agent_programs::installed;
use loop_harness::{Sandbox, processes, within};
use loop_model::{ModelServer, Options, Script};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A repository, a scripted model, and homes for everybody.
pub(crate) struct Lab {
    pub(crate) cli: &'static str,
    sandbox: Sandbox,
    server: ModelServer,
    url: String,
    /// Variables beside those that every agent gets.
    pub(crate) env: Vec<(&'static str, String)>,
}

impl Lab {
    pub(crate) fn new(cli: &'static str, script: &Value) -> Lab {
        let sandbox = Sandbox::empty_in("/var/tmp".as_ref());
        fs::create_dir(sandbox.path("user/.codex")).expect("a folder");
        let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
        sandbox.file("user/.gemini/settings.json", settings.to_string());
        let options = Options {
            log: Some(sandbox.path("requests.jsonl")),
            cwd: Some(sandbox.project.to_string_lossy().into_owned()),
        };
        let server = ModelServer::start(read(script), &options).expect("a server");
        let url = server.url().to_owned();
        let lab = Lab { cli, sandbox, server, url, env: Vec::new() };
        lab.sandbox.file("user/.pi/agent/models.json", lab.models_of_pi());
        lab.sandbox.write(".loop/workflow.toml", lab.workflow());
        for arguments in [
            &["init", "-q"][..],
            &["config", "user.name", "t"],
            &["config", "user.email", "t@example.com"],
            &["add", "-A"],
            &["commit", "-qm", "begin"],
        ] {
            lab.git(arguments);
        }
        lab
    }

    pub(crate) fn repo(&self) -> &Path {
        &self.sandbox.project
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.sandbox.write(name, text);
    }

    /// The models that were asked to work, request by request; what has no tools is no work.
    pub(crate) fn models(&self) -> Vec<String> {
        let log = fs::read_to_string(self.sandbox.path("requests.jsonl")).expect("the log");
        let requests = log.lines().map(|it| serde_json::from_str::<Value>(it).expect("JSON"));
        let asked = requests.filter(|it| it["turn"].is_number());
        asked.map(|it| it["model"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.sandbox.git(arguments)
    }

    fn workflow(&self) -> String {
        let (cli, url) = (self.cli, &self.url);
        let more = match cli {
            "codex" => format!(
                r#"args = ["-c", "model_provider=fake", "-c", 'model_providers.fake={{name="fake",base_url="{url}/v1",env_key="OPENAI_API_KEY",wire_api="responses",request_max_retries=1,stream_max_retries=1}}']
model = "gpt-5-codex""#
            ),
            // Without a model it asks a model which one to ask.
            "gemini" => "model = \"gemini-2.5-pro\"".to_owned(),
            // A variable that only this project knows is not handed on unless the workflow says so.
            "opencode" => format!("env = {{ FAKE_MODEL_URL = \"{url}\", FAKE_API_KEY = \"sk-fake\" }}"),
            // Its provider is a file of its own, which names the variable with the key.
            "pi" => {
                "args = [\"--provider\", \"fake\", \"--model\", \"fake-model\"]\npass_env = [\"FAKE_API_KEY\"]".to_owned()
            }
            "qwen" => "args = [\"--auth-type\", \"openai\"]".to_owned(),
            _ => String::new(),
        };
        format!("extends = \"ralph\"\n[agent]\ncli = \"{cli}\"\n{more}\n")
    }

    fn models_of_pi(&self) -> String {
        let cost = json!({"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0});
        let model = json!({"id": "fake-model", "name": "Fake", "reasoning": false, "input": ["text"], "cost": cost,
            "contextWindow": 100_000, "maxTokens": 4000});
        let provider = json!({"baseUrl": format!("{}/v1", self.url), "apiKey": "FAKE_API_KEY",
            "api": "openai-completions", "models": [model]});
        json!({"providers": {"fake": provider}}).to_string()
    }

    /// Adds lines to the workflow, in a commit of their own.
    pub(crate) fn configure(&self, more: &str) {
        self.sandbox.write(".loop/workflow.toml", format!("{}{more}\n", self.workflow()));
        self.git(&["commit", "-qam", "more"]);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(arguments);
        let programs = std::env::var_os("PATH").expect("a PATH");
        let programs =
            std::env::join_paths([installed(self.cli)].into_iter().chain(std::env::split_paths(&programs)));
        command
            .env("PATH", programs.expect("a PATH"))
            .env("CODEX_HOME", self.sandbox.path("user/.codex"))
            .env("TZ", "America/New_York")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("ANTHROPIC_BASE_URL", &self.url)
            .env("OPENAI_API_KEY", "sk-fake")
            .env("GOOGLE_GEMINI_BASE_URL", &self.url)
            .env("GEMINI_API_KEY", "fake")
            .env("FAKE_API_KEY", "sk-fake")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.url))
            .env("OPENAI_MODEL", "fake-model")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", self.url))
            .env("COPILOT_PROVIDER_API_KEY", "sk-fake")
            .env("COPILOT_MODEL", "fake-model")
            .env("COPILOT_OFFLINE", "true")
            .env("OPENCODE_CONFIG", model().join("opencode.json"))
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("loop")
    }

    /// Starts a command whose words go to a file.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let said = fs::File::create(self.sandbox.path("said")).expect("a file");
        let again = said.try_clone().expect("the same file");
        self.command(arguments).stdout(said).stderr(again).spawn().expect("loop")
    }

    /// What the command that was started has said.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.sandbox.path("said")).unwrap_or_default()
    }

    /// One agent call, and what the log says afterwards.
    pub(crate) fn next(&self) -> String {
        let output = self.run(&[&["next"], &INPUT[1..]].concat());
        let log = String::from_utf8_lossy(&self.run(&["log"]).stdout).into_owned();
        format!("{log}\n{}", String::from_utf8_lossy(&output.stderr))
    }

    /// Has the model answer by another script from now on.
    pub(crate) fn play(&self, script: &Value) {
        self.server.play(read(script));
    }

    /// The model goes away, and nobody listens at its address.
    pub(crate) fn close(&self) {
        self.server.close();
    }

    /// Live processes that know this lab, other than us.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let mut living = processes::alive_below(self.sandbox.root());
        living.retain(|it| it.0 != std::process::id().cast_signed());
        living
    }

    #[track_caller]
    pub(crate) fn assert_nothing_runs(&self) {
        let gone = within(Duration::from_secs(10), || self.processes().is_empty());
        assert!(gone, "left running: {:?}", self.processes());
    }

    pub(crate) fn status(&self) -> Value {
        serde_json::from_slice(&self.run(&["status", "--json"]).stdout).expect("a status")
    }
}

pub(crate) fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model")
}

/// A script of a test.
pub(crate) fn read(script: &Value) -> Script {
    Script::read(&script.to_string()).expect("a script")
}

pub(crate) const INPUT: [&str; 4] = ["run", "Write made.txt", "--check", "tests=test -f made.txt"];

pub(crate) fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs().cast_signed()
}

/// A model that does the work and promises that it is done.
pub(crate) fn honest() -> Value {
    json!({"turns": [
        {"text": "I will write it.", "tools": [{"write": {"path": "made.txt", "content": "made\n"}}]},
        {"tools": [{"sh": "git add -A && git commit -qm made"}]},
        {"text": "Done.\n\n<promise>TASK_COMPLETE</promise>", "usage": {"input": 500, "output": 20, "cached": 0}},
    ]})
}
