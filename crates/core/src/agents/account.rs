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
/// program has one of its own, with slots and a line in `loop limits`. A file is told apart by where it leads to from
/// the project; a program of the system and a module are the same in every project. The arguments come without secrets.
pub fn account_of_program(args: &[String], project: &str) -> String {
    let Some(StartedProgram { word, is_file }) = started(args) else { return COMMAND.name.to_owned() };
    let is_text = word.contains(char::is_whitespace);
    // A text is for a shell; the words in it are nobody's name.
    let shown = if is_text { "script" } else { last_part(word) };
    let name: String = shown.chars().filter(|it| is_plain(*it)).take(NAME_MOST).collect();
    if !is_file && !is_text {
        return format!("{}-{name}", COMMAND.name);
    }
    let place = if is_file { Path::new(project).join(word) } else { word.into() };
    let parts = place.components().filter(|it| *it != Component::CurDir);
    let digest = Sha256::digest(parts.collect::<PathBuf>().as_os_str().as_encoded_bytes());
    format!("{}-{name}-{}", COMMAND.name, digits(&digest))
}

/// What a command line starts in the end.
struct StartedProgram<'a> {
    word: &'a str,
    is_file: bool,
}

/// Looks behind the programs that start others, their options and the variables that they set.
fn started(words: &[String]) -> Option<StartedProgram<'_>> {
    let mut at = 0;
    let mut starter = words.first()?;
    while let Some(word) = words.get(at) {
        let name = last_part(word);
        if is_assignment(word) {
            at += 1;
        } else if word == "run" && last_part(starter) == UV.program {
            at = behind_options(words, at + 1, UV.valued);
        } else if let Some(row) = STARTERS.iter().find(|it| it.program == name) {
            starter = word;
            at = behind_options(words, at + 1, row.valued) + row.words;
        } else if SHELLS.contains(&name) || INTERPRETERS.contains(&name) || name == "java" {
            let mut script = behind_options(words, at + 1, VALUED_BY_INTERPRETERS);
            if words.get(script).is_some_and(|it| it == "run") {
                script = behind_options(words, script + 1, VALUED_BY_INTERPRETERS);
            }
            let is_module = words[at..script.min(words.len())].iter().any(|it| it == "-m");
            return Some(match words.get(script) {
                Some(script) if is_module => StartedProgram { word: script, is_file: false },
                Some(script) => {
                    StartedProgram { word: script, is_file: is_path(script) || !script.contains(' ') }
                }
                None => StartedProgram { word, is_file: is_path(word) },
            });
        } else {
            return Some(StartedProgram { word, is_file: is_path(word) || word.ends_with(".py") });
        }
    }
    Some(StartedProgram { word: starter, is_file: false })
}

/// Returns the first place that is no option and no value of one.
fn behind_options(words: &[String], mut at: usize, valued: &[&str]) -> usize {
    while let Some(word) = words.get(at).filter(|it| it.starts_with('-')) {
        at += if valued.contains(&word.as_str()) { 2 } else { 1 };
    }
    at
}

/// A variable that is set for the program behind it.
fn is_assignment(word: &str) -> bool {
    let is_name = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    word.split_once('=').is_some_and(|it| is_name(it.0))
}

/// A package of npm may have a slash too: `@scope/agent`.
fn is_path(word: &str) -> bool {
    word.contains('/') && !word.starts_with('@')
}

/// A program that starts another.
struct Starter {
    program: &'static str,
    /// Options with a value in a word of its own.
    valued: &'static [&'static str],
    /// Words of its own before the other program.
    words: usize,
}

const fn starter(program: &'static str, valued: &'static [&'static str], words: usize) -> Starter {
    Starter { program, valued, words }
}

const STARTERS: [Starter; 17] = [
    starter("env", &["-u", "--unset", "-C", "--chdir"], 0),
    starter("nice", &["-n", "--adjustment"], 0),
    starter("ionice", &["-c", "--class", "-n", "--classdata"], 0),
    starter("nohup", &[], 0),
    starter("setsid", &[], 0),
    starter("exec", &["-a"], 0),
    starter("time", &["-f", "--format", "-o", "--output"], 0),
    starter("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    starter("stdbuf", &["-i", "--input", "-o", "--output", "-e", "--error"], 0),
    starter("taskset", &[], 1),
    starter("flock", &["-w", "--timeout", "-E", "--conflict-exit-code"], 1),
    starter("sudo", &["-u", "--user", "-g", "--group"], 0),
    starter("caffeinate", &["-t", "-w"], 0),
    starter("npx", &["-p", "--package"], 0),
    starter("bunx", &["-p", "--package"], 0),
    starter("uvx", &["--from", "--with", "-p", "--python"], 0),
    UV,
];

/// It starts a program by `uv run`.
const UV: Starter =
    starter("uv", &["--with", "-p", "--python", "--project", "--directory", "--extra", "--group"], 0);

/// Options of shells and interpreters with a value in a word of its own that is not what they run.
const VALUED_BY_INTERPRETERS: &[&str] = &[
    "-W",
    "-X",
    "-O",
    "-o",
    "+O",
    "+o",
    "-r",
    "-I",
    "-cp",
    "-classpath",
    "--require",
    "--import",
    "--rcfile",
    "--init-file",
    "--config",
    "--loader",
];

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
        let rows = [
            ("aider --yes --model x", "command-aider"),
            ("env API_KEY=sk-ant-api03-SECRETSECRETsecret123456 ./agent.sh", "command-agent.sh-"),
            ("timeout 60 ./agent.sh", "command-agent.sh-"),
            ("timeout -k 5 --foreground 60 ./agent.sh", "command-agent.sh-"),
            ("nice -n 10 ./agent.sh", "command-agent.sh-"),
            ("env -i PATH=/usr/bin:/bin nice ./agent.sh -v", "command-agent.sh-"),
            ("python3 -W ignore agent.py", "command-agent.py-"),
            ("uv run --with x agent.py", "command-agent.py-"),
            ("uvx --from aider-chat aider", "command-aider"),
            ("python3 -u -m aider --yes", "command-aider"),
            ("npx -y @scope/agent@1.2", "command-agent1.2"),
            ("java -cp lib agent.jar", "command-agent.jar-"),
            ("python3", "command-python3"),
            ("env", "command-env"),
            ("nice -n", "command-nice"),
        ];
        for (line, expected) in rows {
            let found = of(line, "/a");
            let is_whole = !expected.ends_with('-');
            assert!(found == expected || !is_whole && found.starts_with(expected), "{line}: {found}");
            assert_eq!(found == of(line, "/b"), is_whole, "{line}: {found}");
        }
    }

    #[test]
    fn one_file_is_one_account_however_it_is_started() {
        let of =
            |line: &str| account_of_program(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), "/a");
        for line in
            ["./x.sh --fast", "sh x.sh", "sh x.sh --model x", "bash -e /a/x.sh", "env A=b timeout 5 ././x.sh"]
        {
            assert_eq!(of(line), of("./x.sh"), "{line}");
        }
        assert_ne!(of("python3 agent.py"), of("python3 other.py"));
        assert_ne!(of("python3 a/agent.py"), of("python3 b/agent.py"));
    }

    #[test]
    fn a_text_for_a_shell_is_never_shown() {
        let of = |text: &str| account_of_program(&["sh", "-c", text].map(str::to_owned), "/a");
        let key = of("API_KEY=sk-ant-api03-SECRETSECRETsecret123456 aider --yes");
        assert!(key.starts_with("command-script-") && key.len() == "command-script-".len() + 6, "{key}");
        assert_ne!(of("aider --yes"), of("other --yes"));
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
