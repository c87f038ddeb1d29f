//! How an agent's CLI is pointed at a scripted model instead of its provider, with a folder of its own in
//! place of the person's: what `loop agents test` sets before it starts it. `{url}` stands for where the
//! model listens, `{home}` for the folder.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What a test sets for an agent.
#[derive(Debug, PartialEq, Eq)]
pub struct TestWiring {
    pub env: &'static [(&'static str, &'static str)],
    /// What is set beside that where the plan of a subscription is used up.
    pub plan_env: &'static [(&'static str, &'static str)],
    pub args: &'static [&'static str],
    pub model: Option<&'static str>,
    /// Files below its home.
    pub files: &'static [(&'static str, &'static str)],
}

pub(crate) static CLAUDE: TestWiring = TestWiring {
    env: &[
        ("ANTHROPIC_BASE_URL", "{url}"),
        ("ANTHROPIC_API_KEY", "sk-ant-test"),
        ("ANTHROPIC_AUTH_TOKEN", ""),
        ("CLAUDE_CODE_USE_BEDROCK", ""),
        ("CLAUDE_CODE_USE_VERTEX", ""),
        ("CLAUDE_CODE_OAUTH_TOKEN", ""),
        ("CLAUDE_CONFIG_DIR", "{home}/.claude"),
    ],
    plan_env: &[("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "test")],
    args: &[],
    model: None,
    files: &[],
};

pub(crate) static CODEX: TestWiring = TestWiring {
    env: &[("OPENAI_API_KEY", "sk-test"), ("CODEX_HOME", "{home}/.codex")],
    plan_env: &[],
    args: &[
        "-c",
        "model_provider=scripted",
        "-c",
        "model_providers.scripted={name=\"scripted\",base_url=\"{url}/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\",request_max_retries=1,stream_max_retries=1}",
    ],
    model: Some("gpt-5-codex"),
    files: &[(".codex/config.toml", "")],
};

pub(crate) static GEMINI: TestWiring = TestWiring {
    env: &[
        ("GOOGLE_GEMINI_BASE_URL", "{url}"),
        ("GEMINI_API_KEY", "test"),
        ("GOOGLE_API_KEY", ""),
        ("GOOGLE_GENAI_USE_VERTEXAI", ""),
    ],
    plan_env: &[],
    args: &[],
    // Without one it asks a model which one to ask.
    model: Some("gemini-2.5-pro"),
    files: &[(".gemini/settings.json", r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#)],
};

pub(crate) static OPENCODE: TestWiring = TestWiring {
    env: &[("OPENCODE_CONFIG", "{home}/opencode.json"), ("XDG_DATA_HOME", "{home}/.local/share")],
    plan_env: &[],
    args: &[],
    model: None,
    files: &[(
        "opencode.json",
        r#"{"model":"scripted/fake-model","small_model":"scripted/fake-model","share":"disabled","autoupdate":false,"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"scripted","options":{"baseURL":"{url}/v1","apiKey":"sk-test"},"models":{"fake-model":{"name":"fake-model","tool_call":true,"limit":{"context":200000,"output":8192},"cost":{"input":3,"output":15}}}}}}"#,
    )],
};

/// The section `[test]` of a file that describes an agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WiringFile {
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    args: Vec<String>,
    model: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

impl WiringFile {
    /// A command reads each file once, so what is kept of it does not grow.
    pub(crate) fn kept(self) -> &'static TestWiring {
        let pairs = |all: BTreeMap<String, String>| -> &'static [(&'static str, &'static str)] {
            let all: Vec<_> = all.into_iter().map(|(name, value)| (kept(name), kept(value))).collect();
            Box::leak(all.into_boxed_slice())
        };
        let args: Vec<&'static str> = self.args.into_iter().map(kept).collect();
        Box::leak(Box::new(TestWiring {
            env: pairs(self.env),
            plan_env: &[],
            args: Box::leak(args.into_boxed_slice()),
            model: self.model.map(kept),
            files: pairs(self.files),
        }))
    }
}

fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
