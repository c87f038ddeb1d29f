//! Which of the user's variables an agent gets: what a program needs to run at all, what the tools of
//! a project commonly need, and the agent's own settings and keys. Everything else stays with us; a
//! secret that is never handed over cannot be printed. `[agent] env` adds what a project needs more.

use super::Cli;

/// Returns whether the agent is given this variable of the user's environment.
pub fn keeps(cli: Cli, name: &str) -> bool {
    // The user's own program is trusted with what the user's shell would give it.
    if cli == Cli::Command {
        return true;
    }
    let (names, prefixes) = own(cli);
    let is_listed = COMMON.contains(&name)
        || TOOLS.contains(&name)
        || names.contains(&name)
        || COMMON_PREFIXES.iter().chain(prefixes).any(|it| name.starts_with(it));
    is_listed && !MARKS.contains(&name)
}

const COMMON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TZDIR",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "HOSTNAME",
    "CI",
    "NO_COLOR",
    "LD_LIBRARY_PATH",
    "NIX_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    // Where a desktop keeps the keys that an agent was logged in with.
    "DBUS_SESSION_BUS_ADDRESS",
];

/// Who commits, and how a remote is reached, belongs to whoever started the run.
const COMMON_PREFIXES: &[&str] = &["LC_", "XDG_", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSH"];

/// Where compilers and package managers live; none of them holds a secret.
const TOOLS: &[&str] = &[
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "BUN_INSTALL",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CC",
    "CONDA_PREFIX",
    "CXX",
    "DENO_DIR",
    "DOTNET_ROOT",
    "GEM_HOME",
    "GOBIN",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "MAVEN_HOME",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NVM_BIN",
    "NVM_DIR",
    "PKG_CONFIG_PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYTHONPATH",
    "RBENV_ROOT",
    "RUSTFLAGS",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
    "UV_CACHE_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Signs of a session that we ourselves may be running in; an agent that sees them refuses to start
/// or talks to the wrong one.
const MARKS: &[&str] = &[
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
    "GEMINI_CLI",
    "OPENCODE_CALLER",
    "OPENCODE_SERVER",
];

/// Names and prefixes of an agent's own variables: its settings, and the keys of its provider.
fn own(cli: Cli) -> (&'static [&'static str], &'static [&'static str]) {
    match cli {
        Cli::Claude => (
            &[
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
            &["ANTHROPIC_", "CLAUDE_CODE_", "VERTEX_REGION_"],
        ),
        Cli::Codex => (&[], &["OPENAI_", "AZURE_OPENAI_", "CODEX_"]),
        Cli::Gemini => (&[], &["GEMINI_", "GOOGLE_"]),
        Cli::Opencode => (
            &[
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
            &["OPENCODE_"],
        ),
        Cli::Command => (&[], &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, keeps};

    #[test]
    fn an_agent_gets_its_own_keys_and_no_others() {
        let names = [
            "PATH",
            "LC_ALL",
            "https_proxy",
            "CARGO_HOME",
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDECODE",
            "OPENAI_API_KEY",
            "CODEX_HOME",
            "CODEX_THREAD_ID",
            "GEMINI_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
        ];
        let kept = |cli| names.into_iter().filter(|it| keeps(cli, it)).collect::<Vec<_>>().join(" ");
        let common = "PATH LC_ALL https_proxy CARGO_HOME";
        assert_eq!(kept(Cli::Claude), format!("{common} ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN"));
        assert_eq!(kept(Cli::Codex), format!("{common} OPENAI_API_KEY CODEX_HOME"));
        assert_eq!(kept(Cli::Gemini), format!("{common} GEMINI_API_KEY"));
        assert_eq!(kept(Cli::Opencode), format!("{common} ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY"));
        assert_eq!(kept(Cli::Command), names.join(" "));
    }
}
