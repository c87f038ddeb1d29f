//! What a row of the table says about an agent: plain values and the code that they choose.

use crate::agent_table::stream_rules::DescribedStream;
use crate::agent_table::test_wiring::TestWiring;
use crate::agent_table::usage_row::UsageRow;

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
    /// Whether git reads no global configuration in the commands that it runs, so that it has to be told
    /// who commits.
    pub hides_git_config: bool,
    /// How a person opens one of its sessions again.
    pub reopen: Option<&'static str>,
    /// Whether the names of models in presets mean something to it.
    pub knows_preset_models: bool,
    /// Words that name a family of models wherever they stand in a model's name.
    pub family_words: &'static [&'static str],
    pub usage: UsageRow,
    /// How a test points it at a scripted model; nothing where nobody has said it.
    pub test: Option<&'static TestWiring>,
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
