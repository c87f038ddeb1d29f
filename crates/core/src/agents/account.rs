//! Whose plan a call uses up, and how one can tell that an agent is logged in: by variables and files
//! that its program reads, without asking anybody. A key is never named, only told apart from others
//! by a few digits of its hash.

use crate::agent_table::{AgentRow, COMMAND, Folder};
use loop_base::programs::{INTERPRETERS, SHELLS};
use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

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
        Some(value) => format!("{}-{}", row.name, digits(&Sha256::digest(value.as_bytes()))),
        None => row.name.to_owned(),
    }
}

/// Returns the name of the account of a program that the user gave as the agent: nobody knows who serves it, so each
/// program has one of its own, with slots and a line in `loop limits`. A path is told apart by where it leads to from
/// the project, and a program that runs others by its whole line.
pub fn account_of_program(args: &[String], project: &str) -> String {
    let Some(program) = args.first() else { return COMMAND.name.to_owned() };
    let word = last_part(program);
    let runs_others = [&SHELLS[..], &INTERPRETERS, &STARTERS].iter().any(|it| it.contains(&word));
    let script = args[1..].iter().find(|it| !it.starts_with('-') && !it.contains(char::is_whitespace));
    let shown = if runs_others { script.unwrap_or(program) } else { program };
    let name: String = last_part(shown).chars().filter(|it| is_plain(*it)).take(NAME_MOST).collect();
    let words = if runs_others { args } else { &args[..1] };
    if !runs_others && !program.contains('/') {
        return format!("{}-{name}", COMMAND.name);
    }
    let mut digest = Sha256::new();
    for word in words {
        let place = if word.contains('/') { Path::new(project).join(word) } else { word.into() };
        let parts = place.components().filter(|it| *it != Component::CurDir);
        digest.update(parts.collect::<PathBuf>().as_os_str().as_encoded_bytes());
        digest.update([0]);
    }
    format!("{}-{name}-{}", COMMAND.name, digits(&digest.finalize()))
}

/// Programs that start others, as shells and interpreters do.
const STARTERS: [&str; 8] = ["env", "nice", "nohup", "timeout", "java", "npx", "uvx", "uv"];

/// A name is for people, and has to fit on a line beside a time and a reason.
const NAME_MOST: usize = 40;

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._+".contains(character)
}

/// A few digits of a hash: enough to tell two apart, and nothing that could be read back.
fn digits(digest: &[u8]) -> String {
    digest.iter().take(3).map(|it| format!("{it:02x}")).collect()
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
    use super::{AgentRow, Login, account, account_of_program, logins};
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
    fn programs_are_accounts_of_their_own() {
        let of = |line: &str, project: &str| {
            account_of_program(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), project)
        };
        assert_eq!(of("aider --yes --model x", "/a"), "command-aider");
        let (here, there) = (of("./agent.sh", "/a"), of("./agent.sh", "/b"));
        assert!(here.starts_with("command-agent.sh-") && here != there, "{here} {there}");
        assert_eq!(
            (here.as_str(), here.as_str()),
            (&*of("/a/agent.sh -v", "/b"), &*of("././agent.sh", "/a"))
        );
        let script = of("python3 -u tools/agent.py", "/a");
        assert!(script.starts_with("command-agent.py-"), "{script}");
        assert_ne!(script, of("python3 -u tools/agent.py --fast", "/a"));
        assert_ne!(of("python3 agent.py", "/a"), of("python3 other.py", "/a"));
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
