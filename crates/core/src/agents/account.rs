//! Whose plan a call uses up, and how one can tell that an agent is logged in: by variables and files
//! that its program reads, without asking anybody. A key is never named, only told apart from others
//! by a few digits of its hash.

use super::Cli;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Returns the value of a variable as the agent's process sees it.
pub(crate) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where the login of an agent may be found, the first that is there counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    Variable(&'static str),
    File(PathBuf),
}

/// Returns the name of the account that the agent would use: the agent's own where it is logged in as
/// usual, else with a few digits that tell one key or folder from another.
pub fn account(cli: Cli, variable: Variable<'_>) -> String {
    let name = cli.name();
    let set = |it: &&str| variable(it).filter(|value| !value.is_empty());
    let told = keys(cli).iter().find_map(set).or_else(|| folder_variable(cli).and_then(|it| set(&it)));
    match told {
        Some(value) => {
            let digest = Sha256::digest(value.as_bytes());
            format!("{name}-{}", digest.iter().take(3).map(|it| format!("{it:02x}")).collect::<String>())
        }
        None => name.to_owned(),
    }
}

/// Returns the places in which an agent looks for its login, in its own order.
pub fn logins(cli: Cli, variable: Variable<'_>) -> Vec<Login> {
    let home = variable("HOME").map(PathBuf::from).unwrap_or_default();
    let own = folder_variable(cli).and_then(variable).map(PathBuf::from);
    let files = match cli {
        Cli::Claude => vec![own.unwrap_or_else(|| home.join(".claude")).join(".credentials.json")],
        Cli::Codex => vec![own.unwrap_or_else(|| home.join(".codex")).join("auth.json")],
        Cli::Gemini => vec![home.join(".gemini/oauth_creds.json")],
        Cli::Opencode => {
            let data = variable("XDG_DATA_HOME").map(PathBuf::from);
            vec![data.unwrap_or_else(|| home.join(".local/share")).join("opencode/auth.json")]
        }
        Cli::Command => Vec::new(),
    };
    let set = keys(cli).iter().filter(|it| variable(it).is_some_and(|it| !it.is_empty()));
    set.map(|it| Login::Variable(it)).chain(files.into_iter().map(Login::File)).collect()
}

/// Variables that hold a key, or say that another service knows who we are; the first one wins.
fn keys(cli: Cli) -> &'static [&'static str] {
    match cli {
        Cli::Claude => &[
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        Cli::Codex => &["CODEX_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"],
        Cli::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
        Cli::Opencode => &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"],
        Cli::Command => &[],
    }
}

/// The variable that moves an agent's folder, and with it its login.
fn folder_variable(cli: Cli) -> Option<&'static str> {
    match cli {
        Cli::Claude => Some("CLAUDE_CONFIG_DIR"),
        Cli::Codex => Some("CODEX_HOME"),
        Cli::Gemini | Cli::Opencode | Cli::Command => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, Login, account, logins};

    fn with<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned())
    }

    #[test]
    fn accounts_are_told_apart_and_keys_are_not_told() {
        let plain = account(Cli::Claude, &with(&[("HOME", "/home/me"), ("OPENAI_API_KEY", "x")]));
        let one = account(Cli::Claude, &with(&[("ANTHROPIC_API_KEY", "sk-ant-one")]));
        let other = account(Cli::Claude, &with(&[("ANTHROPIC_API_KEY", "sk-ant-other")]));
        let folder = account(Cli::Claude, &with(&[("CLAUDE_CONFIG_DIR", "/work-account")]));
        assert_eq!(plain, "claude");
        assert!(one != other && one != folder && one.len() == "claude-".len() + 6, "{one} {other} {folder}");
        assert_eq!(one, account(Cli::Claude, &with(&[("ANTHROPIC_API_KEY", "sk-ant-one"), ("TZ", "UTC")])));
    }

    #[test]
    fn a_login_is_a_variable_or_a_file() {
        let set = [("HOME", "/home/me"), ("OPENAI_API_KEY", "sk-x"), ("CODEX_HOME", "/c")];
        assert_eq!(
            logins(Cli::Codex, &with(&set)),
            [Login::Variable("OPENAI_API_KEY"), Login::File("/c/auth.json".into())]
        );
        assert_eq!(
            logins(Cli::Claude, &with(&set)),
            [Login::File("/home/me/.claude/.credentials.json".into())]
        );
    }
}
