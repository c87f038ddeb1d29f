//! The agents whose streams are read by code of their own, and any program.

use crate::agent_table::row::{AgentEnvironment, AgentRow, Folder, LoginRow, Start, Stream};
use crate::agent_table::test_wiring;
use crate::agent_table::usage_row::{CachedInput, UsageRow, UsageScope, UsageTold};

pub(super) static BUILT_IN: [&AgentRow; 5] = [&CLAUDE, &CODEX, &GEMINI, &OPENCODE, &COMMAND];

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
    hides_git_config: false,
    reopen: Some("claude --resume {session}"),
    knows_preset_models: true,
    family_words: &["opus", "sonnet", "haiku", "fable"],
    usage: UsageRow {
        cached: CachedInput::Beside,
        scope: UsageScope::Last,
        told: UsageTold::WhileWorking,
        reports_cost: true,
        usd_flag: Some("--max-budget-usd"),
        turns_flag: Some("--max-turns"),
    },
    test: Some(&test_wiring::CLAUDE),
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
    hides_git_config: false,
    reopen: Some("codex resume {session}"),
    knows_preset_models: false,
    family_words: &[],
    usage: UsageRow {
        cached: CachedInput::Within,
        scope: UsageScope::Cumulative,
        told: UsageTold::InItsRecord,
        reports_cost: false,
        usd_flag: None,
        turns_flag: None,
    },
    test: Some(&test_wiring::CODEX),
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
    // Its shell runs with GIT_CONFIG_GLOBAL=/dev/null.
    hides_git_config: true,
    reopen: Some("gemini --resume {session}"),
    knows_preset_models: false,
    family_words: &[],
    usage: UsageRow {
        cached: CachedInput::Within,
        scope: UsageScope::Last,
        told: UsageTold::AtTheEnd,
        reports_cost: false,
        usd_flag: None,
        turns_flag: None,
    },
    test: Some(&test_wiring::GEMINI),
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
    hides_git_config: false,
    reopen: Some("opencode --session {session}"),
    knows_preset_models: false,
    family_words: &[],
    usage: UsageRow {
        cached: CachedInput::Beside,
        scope: UsageScope::Sum,
        told: UsageTold::WhileWorking,
        reports_cost: true,
        usd_flag: None,
        turns_flag: None,
    },
    test: Some(&test_wiring::OPENCODE),
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
    hides_git_config: false,
    reopen: None,
    // It may be a wrapper around anything, and is told what was asked for.
    knows_preset_models: true,
    family_words: &[],
    usage: UsageRow {
        cached: CachedInput::Beside,
        scope: UsageScope::Last,
        told: UsageTold::Never,
        reports_cost: false,
        usd_flag: None,
        turns_flag: None,
    },
    test: None,
};
