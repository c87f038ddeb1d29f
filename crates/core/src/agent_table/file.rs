//! An agent as a file describes it: where its program comes from, how it is started, and how its stream is
//! read, either like another agent's (`dialect`) or by the rules of `[stream]`. A command reads each file
//! once, and what it says is kept until the process ends.

use crate::agent_table::row::{AgentEnvironment, AgentRow, DescribedStart, Folder, LoginRow, Start, Stream};
use crate::agent_table::stream_rules::DescribedStream;
use crate::agent_table::test_wiring::WiringFile;
use crate::agent_table::usage_row::{CachedInput, UsageRow, UsageScope, UsageTold};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentDescription {
    /// Without it, the name of the file.
    program: Option<String>,
    install: Option<String>,
    login: Option<String>,
    #[serde(default)]
    keys: Vec<String>,
    folder: Option<String>,
    file: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    model: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    prefixes: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    reopen: Option<String>,
    #[serde(default)]
    waits_in_silence: bool,
    #[serde(default)]
    hides_git_config: bool,
    permissions: DescribedPermissions,
    dialect: Option<Dialect>,
    stream: Option<DescribedStream>,
    test: Option<WiringFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedPermissions {
    all: Option<Vec<String>>,
    edit: Option<Vec<String>>,
    agent: Option<Vec<String>>,
}

/// Streams that more than one program writes.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Dialect {
    Claude,
}

/// Reads the description of an agent of this name.
pub(crate) fn read(name: &str, text: &str) -> Result<&'static AgentRow, String> {
    let file: AgentDescription = toml::from_str(text).map_err(|it| it.to_string().trim_end().to_owned())?;
    let stream = match (file.dialect, file.stream) {
        (Some(Dialect::Claude), None) => Stream::Claude,
        (None, Some(stream)) => Stream::Described(Box::leak(Box::new(stream))),
        (Some(_), Some(_)) => {
            return Err("dialect and [stream] both say how the output is read; keep one".to_owned());
        }
        (None, None) => {
            return Err("how is its stream read? write dialect = \"claude\", or [stream]".to_owned());
        }
    };
    let DescribedPermissions { all, edit, agent } = file.permissions;
    let start = DescribedStart {
        args: file.args,
        model: file.model,
        all,
        edit,
        agent,
        env: file.env.into_iter().collect(),
    };
    let name = kept(name);
    let program = file.program.map_or(name, |it| kept(&it));
    let login = LoginRow {
        words: file.login.as_deref().map_or("see to its key", kept),
        keys: kept_list(file.keys),
        moved_by: None::<(&'static str, Folder)>,
        folder: file.folder.as_deref().map_or(".config", kept),
        file: file.file.as_deref().map_or("none", kept),
    };
    Ok(Box::leak(Box::new(AgentRow {
        name,
        program,
        install: file.install.as_deref().map_or("install it first", kept),
        login: Some(login),
        environment: AgentEnvironment::Own {
            names: kept_list(file.names),
            prefixes: kept_list(file.prefixes),
        },
        start: Start::Described(Box::leak(Box::new(start))),
        stream,
        natives: &[],
        refusals: &[],
        waits_in_silence: file.waits_in_silence,
        hides_git_config: file.hides_git_config,
        reopen: file.reopen.as_deref().map(kept),
        knows_preset_models: false,
        family_words: &[],
        usage: usage(stream),
        test: file.test.map(WiringFile::kept),
    })))
}

/// How the stream tells what a call used up.
fn usage(stream: Stream) -> UsageRow {
    let rule = match stream {
        Stream::Described(stream) => stream.usage.as_ref(),
        Stream::Claude | Stream::Codex | Stream::Gemini | Stream::Opencode | Stream::Text => None,
    };
    let told = match (rule.map(|it| it.counts), stream) {
        (Some(UsageScope::Sum | UsageScope::Cumulative), _) | (None, Stream::Claude) => {
            UsageTold::WhileWorking
        }
        (Some(UsageScope::Last), _) => UsageTold::AtTheEnd,
        (None, _) => UsageTold::Never,
    };
    UsageRow {
        cached: match rule.is_some_and(|it| it.input_includes_cached) {
            true => CachedInput::Within,
            false => CachedInput::Beside,
        },
        scope: rule.map_or(UsageScope::Last, |it| it.counts),
        told,
        reports_cost: rule.is_some_and(|it| it.usd.is_some()),
        usd_flag: None,
        turns_flag: None,
    }
}

/// A file is read once, so what is kept of it does not grow.
fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn kept_list(texts: Vec<String>) -> &'static [&'static str] {
    let texts: Vec<&'static str> = texts.iter().map(|it| kept(it)).collect();
    Box::leak(texts.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_file_that_says_too_little_or_too_much_is_refused() {
        let says = |text: &str| read("mine", text).map(|it| it.program).expect_err("a mistake");
        assert!(says("[permissions]\nall = []\n").contains("how is its stream read?"));
        assert!(says("dialect = \"claude\"\n").contains("permissions"));
        assert!(says("dialect = \"french\"\n[permissions]\n").contains("claude"));
        assert!(says("dialect = \"claude\"\ncolour = 1\n[permissions]\n").contains("colour"));
        let row = read("mine", "dialect = \"claude\"\n[permissions]\nall = []\n").expect("enough");
        assert_eq!((row.name, row.program), ("mine", "mine"));
    }
}
