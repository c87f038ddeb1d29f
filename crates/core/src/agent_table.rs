//! The agents: one row for each CLI that this program can call. A row is a plain value that says where
//! the program comes from, how one logs in, which variables it is given, how it is started and how its
//! stream is read; everything else about agents is derived from it. The code that a row chooses by its
//! [`Start`] and [`Stream`] is in `agents/`.
//!
//! A row needs nothing but its fields, so one that is read from a file stands beside these; see
//! `agent_file`.

use crate::agent_file;
use crate::agents::DescribedStream;
use serde::Deserialize;
use std::sync::{LazyLock, PoisonError, RwLock};

/// What is known about an agent's CLI.
#[derive(Debug)]
pub struct AgentRow {
    /// What workflows call it.
    pub name: &'static str,
    pub program: &'static str,
    /// How to get the program.
    pub install: &'static str,
    /// Nothing where we know of no account.
    pub login: Option<LoginRow>,
    pub environment: AgentEnvironment,
    pub start: Start,
    pub stream: Stream,
    /// Where the real program lies in `node_modules` when npm put a script before it, with
    /// `{system}`, `{arch}`, `{cpu}` and `{target}` for the platform.
    pub natives: &'static [&'static str],
    /// What it says on standard error when it refuses to start, and what to do then.
    pub refusals: &'static [(&'static str, &'static str)],
    /// Whether it waits for its provider without a byte on either stream, for as long as that takes.
    pub waits_in_silence: bool,
    /// How a person opens one of its sessions again.
    pub reopen: Option<&'static str>,
    /// Whether the names of models in presets mean something to it.
    pub knows_preset_models: bool,
    pub usage: UsageRow,
}

/// How an agent tells what a call used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageRow {
    pub cached: CachedInput,
    pub scope: UsageScope,
    pub told: UsageTold,
    /// Whether it names dollars and not only tokens.
    pub reports_cost: bool,
    /// The flag that gives it a cap on dollars which it keeps itself.
    pub usd_flag: Option<&'static str>,
    /// The flag that gives it a cap on turns which it keeps itself.
    pub turns_flag: Option<&'static str>,
}

/// Whether an agent counts cached tokens as input too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedInput {
    Within,
    Beside,
}

/// What one of its counts is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageScope {
    /// What came since the last count: they are added up.
    Sum,
    /// The whole call: the last one counts.
    Last,
    /// The whole conversation: the largest one counts. We continue no conversation, so it begins at 0.
    Cumulative,
}

/// When it can be known what a call has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageTold {
    /// On its output, while it works.
    WhileWorking,
    /// In the record that it keeps of the session, while it works.
    InItsRecord,
    AtTheEnd,
    Never,
}

/// How an agent is logged in.
#[derive(Debug)]
pub struct LoginRow {
    /// How to log in, for people.
    pub words: &'static str,
    /// Variables that hold a key, or say that another service knows who we are; the first one wins.
    pub keys: &'static [&'static str],
    /// The variable that moves the folder below, and whether each folder is an account of its own.
    pub moved_by: Option<(&'static str, Folder)>,
    /// The folder below the user's home, and the file in it that is there after a login.
    pub folder: &'static str,
    pub file: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    Account,
    Shared,
}

/// Which of the user's variables an agent gets beside those that every program needs.
#[derive(Debug)]
pub enum AgentEnvironment {
    /// The user's own program is trusted with what the user's shell would give it.
    Everything,
    /// Its settings, and the keys of its provider.
    Own { names: &'static [&'static str], prefixes: &'static [&'static str] },
}

/// How the command line is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// The arguments of the workflow are the whole of it.
    Arguments,
    /// A file says it.
    Described(&'static DescribedStart),
}

/// The command line of an agent that a file describes.
#[derive(Debug, PartialEq, Eq)]
pub struct DescribedStart {
    pub args: Vec<String>,
    /// What names a model, with `{model}` in its place.
    pub model: Vec<String>,
    /// What each kind of permission adds; nothing where the program cannot be held to it.
    pub all: Option<Vec<String>>,
    pub edit: Option<Vec<String>>,
    pub agent: Option<Vec<String>>,
    pub env: Vec<(String, String)>,
}

/// What the lines on its standard output mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// Text, the end of which is the final message.
    Text,
    /// A file says what its events mean.
    Described(&'static DescribedStream),
}

/// The agents whose streams are read by code of their own, and any program.
static BUILT_IN: [&AgentRow; 5] = [&CLAUDE, &CODEX, &GEMINI, &OPENCODE, &COMMAND];

/// The agents that files of ours describe.
static SHIPPED: LazyLock<Vec<&'static AgentRow>> = LazyLock::new(|| {
    let files = [
        ("copilot", include_str!("agents/shipped/copilot.toml")),
        ("qwen", include_str!("agents/shipped/qwen.toml")),
        ("pi", include_str!("agents/shipped/pi.toml")),
    ];
    files.map(|(name, text)| agent_file::read(name, text).expect("a file of ours")).to_vec()
});

/// The agents that files of the user describe. A process reads them once, before it looks at a workflow.
static ADDED: RwLock<Vec<&'static AgentRow>> = RwLock::new(Vec::new());

impl AgentRow {
    /// Returns the agent of this name.
    pub fn named(name: &str) -> Option<&'static AgentRow> {
        AgentRow::all().find(|it| it.name == name)
    }

    /// Returns every agent, in the order in which they are looked for when nobody named one.
    pub fn all() -> impl Iterator<Item = &'static AgentRow> {
        let added = ADDED.read().unwrap_or_else(PoisonError::into_inner).clone();
        BUILT_IN.into_iter().chain(SHIPPED.iter().copied()).chain(added)
    }

    /// Adds an agent that a file of the user describes. A name that is taken is a mistake.
    pub fn add(name: &str, text: &str) -> Result<(), String> {
        if AgentRow::named(name).is_some() {
            return Err(format!("there is an agent called \"{name}\" already; choose another name"));
        }
        let row = agent_file::read(name, text)?;
        ADDED.write().unwrap_or_else(PoisonError::into_inner).push(row);
        Ok(())
    }

    /// Returns the agents that can be found by their program's name.
    pub fn detected() -> impl Iterator<Item = &'static AgentRow> {
        AgentRow::all().filter(|it| !it.is_any_program())
    }

    /// Returns the names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        AgentRow::all().map(|it| it.name)
    }

    /// Whether the workflow names the program.
    pub fn is_any_program(&self) -> bool {
        self.start == Start::Arguments
    }
}

static CLAUDE: AgentRow = AgentRow {
    name: "claude",
    program: "claude",
    install: "install it with: npm install -g @anthropic-ai/claude-code",
    login: Some(LoginRow {
        words: "run \"claude\" once and log in, or set ANTHROPIC_API_KEY",
        keys: &[
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        moved_by: Some(("CLAUDE_CONFIG_DIR", Folder::Account)),
        folder: ".claude",
        file: ".credentials.json",
    }),
    environment: AgentEnvironment::Own {
        names: &[
            "CLAUDE_CONFIG_DIR",
            "BASH_DEFAULT_TIMEOUT_MS",
            "BASH_MAX_TIMEOUT_MS",
            "BASH_MAX_OUTPUT_LENGTH",
            "MAX_THINKING_TOKENS",
            "MAX_MCP_OUTPUT_TOKENS",
            "MCP_TIMEOUT",
            "MCP_TOOL_TIMEOUT",
            "DISABLE_TELEMETRY",
            "DISABLE_AUTOUPDATER",
            "DISABLE_PROMPT_CACHING",
            "IS_SANDBOX",
            // Bedrock and Vertex: which account, never its general keys.
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
            "AWS_CONFIG_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
            "AWS_BEARER_TOKEN_BEDROCK",
            "CLOUD_ML_REGION",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_CLOUD_PROJECT",
        ],
        prefixes: &["ANTHROPIC_", "CLAUDE_CODE_", "VERTEX_REGION_"],
    },
    start: Start::Claude,
    stream: Stream::Claude,
    // Its installer puts the real program over the stub, unless install scripts are forbidden.
    natives: &[
        "@anthropic-ai/claude-code-{system}-{arch}/claude",
        "@anthropic-ai/claude-code-{system}-{arch}-musl/claude",
    ],
    refusals: &[(
        "cannot be used with root/sudo privileges",
        "claude does not skip permissions for root; set IS_SANDBOX=1 in [agent] env if this is a sandbox",
    )],
    waits_in_silence: false,
    reopen: Some("claude --resume {session}"),
    knows_preset_models: true,
    usage: UsageRow {
        cached: CachedInput::Beside,
        scope: UsageScope::Last,
        told: UsageTold::WhileWorking,
        reports_cost: true,
        usd_flag: Some("--max-budget-usd"),
        turns_flag: Some("--max-turns"),
    },
};

static CODEX: AgentRow = AgentRow {
    name: "codex",
    program: "codex",
    install: "install it with: npm install -g @openai/codex",
    login: Some(LoginRow {
        words: "run \"codex login\", or set OPENAI_API_KEY",
        keys: &["CODEX_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"],
        moved_by: Some(("CODEX_HOME", Folder::Account)),
        folder: ".codex",
        file: "auth.json",
    }),
    environment: AgentEnvironment::Own { names: &[], prefixes: &["OPENAI_", "AZURE_OPENAI_", "CODEX_"] },
    start: Start::Codex,
    stream: Stream::Codex,
    natives: &["@openai/codex-{system}-{arch}/vendor/{cpu}-{target}/bin/codex"],
    refusals: &[(
        "Not inside a trusted directory",
        "codex does not trust this folder; add --skip-git-repo-check to [agent] args",
    )],
    waits_in_silence: false,
    reopen: Some("codex resume {session}"),
    knows_preset_models: false,
    usage: UsageRow {
        cached: CachedInput::Within,
        scope: UsageScope::Cumulative,
        told: UsageTold::InItsRecord,
        reports_cost: false,
        usd_flag: None,
        turns_flag: None,
    },
};

static GEMINI: AgentRow = AgentRow {
    name: "gemini",
    program: "gemini",
    install: "install it with: npm install -g @google/gemini-cli",
    login: Some(LoginRow {
        words: "run \"gemini\" once and log in, or set GEMINI_API_KEY",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
        moved_by: None,
        folder: ".gemini",
        file: "oauth_creds.json",
    }),
    environment: AgentEnvironment::Own { names: &[], prefixes: &["GEMINI_", "GOOGLE_"] },
    start: Start::Gemini,
    stream: Stream::Gemini,
    // It is a script through and through.
    natives: &[],
    refusals: &[(
        "is not running in a trusted directory",
        "gemini does not trust this folder; add --skip-trust to [agent] args",
    )],
    waits_in_silence: false,
    reopen: Some("gemini --resume {session}"),
    knows_preset_models: false,
    usage: UsageRow {
        cached: CachedInput::Within,
        scope: UsageScope::Last,
        told: UsageTold::AtTheEnd,
        reports_cost: false,
        usd_flag: None,
        turns_flag: None,
    },
};

static OPENCODE: AgentRow = AgentRow {
    name: "opencode",
    program: "opencode",
    install: "install it with: npm install -g opencode-ai",
    login: Some(LoginRow {
        words: "run \"opencode auth login\", or set the key of its provider",
        keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"],
        moved_by: Some(("XDG_DATA_HOME", Folder::Shared)),
        folder: ".local/share",
        file: "opencode/auth.json",
    }),
    environment: AgentEnvironment::Own {
        names: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENROUTER_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "GROQ_API_KEY",
            "MISTRAL_API_KEY",
            "DEEPSEEK_API_KEY",
            "XAI_API_KEY",
            "CEREBRAS_API_KEY",
            "TOGETHER_API_KEY",
            "FIREWORKS_API_KEY",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_BEARER_TOKEN_BEDROCK",
        ],
        prefixes: &["OPENCODE_"],
    },
    start: Start::Opencode,
    stream: Stream::Opencode,
    // Its installer chooses among programs for older and newer processors.
    natives: &[],
    refusals: &[],
    waits_in_silence: true,
    reopen: Some("opencode --session {session}"),
    knows_preset_models: false,
    usage: UsageRow {
        cached: CachedInput::Beside,
        scope: UsageScope::Sum,
        told: UsageTold::WhileWorking,
        reports_cost: true,
        usd_flag: None,
        turns_flag: None,
    },
};

/// Any program.
pub static COMMAND: AgentRow = AgentRow {
    name: "command",
    program: "command",
    install: "give it with --agent-cmd \"PROGRAM ARGS\"",
    login: None,
    environment: AgentEnvironment::Everything,
    start: Start::Arguments,
    stream: Stream::Text,
    natives: &[],
    refusals: &[],
    waits_in_silence: false,
    reopen: None,
    // It may be a wrapper around anything, and is told what was asked for.
    knows_preset_models: true,
    usage: UsageRow {
        cached: CachedInput::Beside,
        scope: UsageScope::Last,
        told: UsageTold::Never,
        reports_cost: false,
        usd_flag: None,
        turns_flag: None,
    },
};
