//! How each agent is started, whole command lines.

use crate::agent_table::AgentTable;
use crate::agents::{Invocation, InvocationContext, invocation};
use crate::workflow::model::{Agent, Permissions};
use std::path::PathBuf;

fn agent(cli: &str, permissions: Permissions, args: &[&str], env: &[(&str, &str)]) -> Agent {
    Agent {
        permissions,
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        args: args.iter().map(|it| (*it).to_owned()).collect(),
        ..Agent::new(cli.to_owned().into())
    }
}

/// A machine on which these programs are installed, by name or by path.
fn on<'a>(programs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<PathBuf> + 'a {
    move |name| programs.iter().find(|(it, _)| *it == name).map(|(_, path)| PathBuf::from(path))
}

fn shown(started: Result<Invocation, String>) -> String {
    match started {
        Err(why) => format!("refused: {why}"),
        Ok(it) => {
            let env: Vec<String> = it.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{} {}", env.join(" "), it.argv.join(" ")).trim().to_owned()
        }
    }
}

#[test]
fn every_agent_is_started_with_the_permissions_it_was_given() {
    let names: Vec<&str> = AgentTable::default().detected().map(|it| it.name).collect();
    let programs: Vec<(&str, &str)> = names.iter().map(|it| (*it, *it)).collect();
    let find = on(&programs);
    let user = InvocationContext {
        model: None,
        usd: None,
        turns: None,
        root: false,
        find: &find,
        version: &|_| Some("2.1.325 (Claude Code)".to_owned()),
    };
    let root = InvocationContext {
        model: Some("big"),
        usd: Some(1.5),
        turns: Some(40),
        root: true,
        find: &find,
        version: &|_| Some("2.1.325 (Claude Code)".to_owned()),
    };
    let mut out = String::new();
    for cli in names {
        for permissions in [Permissions::All, Permissions::Edit, Permissions::Agent] {
            let agent = agent(cli, permissions, &[], &[]);
            out.push_str(&format!("{permissions:?}: {}\n", shown(invocation(&agent, &user))));
        }
        let agent = agent(
            cli,
            Permissions::All,
            &["--extra", "two words"],
            &[("TZ", "UTC"), ("CLAUDE_CODE_MAX_RETRIES", "9")],
        );
        out.push_str(&format!("root: {}\n\n", shown(invocation(&agent, &root))));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn the_program_behind_a_script_is_started_itself() {
    let script = "/usr/lib/node_modules/@openai/codex/bin/codex.js";
    let native = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        "/usr/lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
    } else {
        return;
    };
    let agent = agent("codex", Permissions::All, &[], &[]);
    let program = |programs: &[(&str, &str)]| {
        let find = on(programs);
        invocation(
            &agent,
            &InvocationContext {
                model: None,
                usd: None,
                turns: None,
                root: false,
                find: &find,
                version: &|_| Some("2.1.325 (Claude Code)".to_owned()),
            },
        )
        .map(|it| it.argv[0].clone())
    };
    assert_eq!(program(&[("codex", script), (native, native)]), Ok(native.to_owned()));
    assert_eq!(program(&[("codex", script)]), Ok(script.to_owned()));
    assert_eq!(
        program(&[]),
        Err("no program \"codex\" in PATH; install it with: npm install -g @openai/codex".to_owned())
    );
}
