//! Which of the user's variables an agent gets: what a program needs to run at all, what the tools of
//! a project commonly need, and the agent's own settings and keys. Everything else stays with us; a
//! secret that is never handed over cannot be printed. `[agent] env` adds what a project needs more.

use crate::agent_table::{AgentEnvironment, AgentRow};

/// Returns whether the agent is given this variable of the user's environment.
pub fn keeps(row: &AgentRow, name: &str) -> bool {
    let (names, prefixes) = match &row.environment {
        AgentEnvironment::Everything => return true,
        AgentEnvironment::Own { names, prefixes } => (names, prefixes),
    };
    let is_listed = COMMON.contains(&name)
        || TOOLS.contains(&name)
        || names.contains(&name)
        || COMMON_PREFIXES.iter().chain(*prefixes).any(|it| name.starts_with(it));
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

#[cfg(test)]
mod tests {
    use super::keeps;
    use crate::agent_table::AgentTable;

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
        let row = |name| AgentTable::default().named(name).expect("known");
        let kept = |name| names.into_iter().filter(|it| keeps(row(name), it)).collect::<Vec<_>>().join(" ");
        let common = "PATH LC_ALL https_proxy CARGO_HOME";
        assert_eq!(kept("claude"), format!("{common} ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN"));
        assert_eq!(kept("codex"), format!("{common} OPENAI_API_KEY CODEX_HOME"));
        assert_eq!(kept("gemini"), format!("{common} GEMINI_API_KEY"));
        assert_eq!(kept("opencode"), format!("{common} ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY"));
        assert_eq!(kept("command"), names.join(" "));
    }
}
