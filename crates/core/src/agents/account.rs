//! Whose plan a call uses up, and how one can tell that an agent is logged in: by variables and files
//! that its program reads, without asking anybody. A key is never named, only told apart from others
//! by a few digits of its hash.

use crate::agent_table::{AgentRow, Folder};
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
pub fn account(row: &AgentRow, variable: Variable<'_>) -> String {
    let set = |it: &&str| variable(it).filter(|value| !value.is_empty());
    let told = row.login.as_ref().and_then(|login| {
        let folder = login.moved_by.filter(|it| it.1 == Folder::Account);
        login.keys.iter().find_map(set).or_else(|| folder.and_then(|it| set(&it.0)))
    });
    match told {
        Some(value) => {
            let digest = Sha256::digest(value.as_bytes());
            format!(
                "{}-{}",
                row.name,
                digest.iter().take(3).map(|it| format!("{it:02x}")).collect::<String>()
            )
        }
        None => row.name.to_owned(),
    }
}

/// Returns the places in which an agent looks for its login, in its own order.
pub fn logins(row: &AgentRow, variable: Variable<'_>) -> Vec<Login> {
    let Some(login) = &row.login else { return Vec::new() };
    let home = variable("HOME").map(PathBuf::from).unwrap_or_default();
    let own = login.moved_by.and_then(|it| variable(it.0)).map(PathBuf::from);
    let file = own.unwrap_or_else(|| home.join(login.folder)).join(login.file);
    let set = login.keys.iter().filter(|it| variable(it).is_some_and(|it| !it.is_empty()));
    set.map(|it| Login::Variable(it)).chain([Login::File(file)]).collect()
}

#[cfg(test)]
mod tests {
    use super::{AgentRow, Login, account, logins};
    use crate::agent_table::AgentTable;

    fn row(name: &str) -> &'static AgentRow {
        AgentTable::default().named(name).expect("known")
    }

    fn with<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned())
    }

    #[test]
    fn accounts_are_told_apart_and_keys_are_not_told() {
        let plain = account(row("claude"), &with(&[("HOME", "/home/me"), ("OPENAI_API_KEY", "x")]));
        let one = account(row("claude"), &with(&[("ANTHROPIC_API_KEY", "sk-ant-one")]));
        let other = account(row("claude"), &with(&[("ANTHROPIC_API_KEY", "sk-ant-other")]));
        let folder = account(row("claude"), &with(&[("CLAUDE_CONFIG_DIR", "/work-account")]));
        assert_eq!(plain, "claude");
        assert!(one != other && one != folder && one.len() == "claude-".len() + 6, "{one} {other} {folder}");
        assert_eq!(one, account(row("claude"), &with(&[("ANTHROPIC_API_KEY", "sk-ant-one"), ("TZ", "UTC")])));
    }

    #[test]
    fn a_login_is_a_variable_or_a_file() {
        let set = [("HOME", "/home/me"), ("OPENAI_API_KEY", "sk-x"), ("CODEX_HOME", "/c")];
        assert_eq!(
            logins(row("codex"), &with(&set)),
            [Login::Variable("OPENAI_API_KEY"), Login::File("/c/auth.json".into())]
        );
        assert_eq!(
            logins(row("claude"), &with(&set)),
            [Login::File("/home/me/.claude/.credentials.json".into())]
        );
    }
}
