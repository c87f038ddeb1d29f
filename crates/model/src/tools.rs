//! Neutral tools of a script (`sh`, `write`, `edit`, `read`) as whichever tool of that kind a request offers,
//! so that one script drives every CLI.

use crate::provider_api::{OfferedTools, ToolUse};
use regex_lite::Regex;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// What the CLIs call a shell.
const SHELLS: [&str; 7] =
    ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell"];

/// Returns the tool of a request that does what the script wants, or why there is none.
pub(crate) fn resolve(
    wanted: &Map<String, Value>,
    offered: &OfferedTools,
    cwd: Option<&str>,
) -> Result<ToolUse, String> {
    if let Some(name) = wanted.get("name").and_then(Value::as_str) {
        return Ok((name.to_owned(), wanted.get("input").cloned().unwrap_or_else(|| json!({}))));
    }
    let Some((kind, argument)) = wanted.iter().next() else { return Err("an empty tool".to_owned()) };
    let text = |name: &str| argument[name].as_str().unwrap_or_default();
    match kind.as_str() {
        "sh" => shell(argument.as_str().unwrap_or_default(), offered),
        "read" => match first(offered, &["Read", "read", "read_file"]) {
            Some(name) => {
                let path = path_argument(offered, name);
                Ok((name.to_owned(), json!({path: absolute(text("path"), cwd)})))
            }
            None => shell(&format!("cat -- '{}'", text("path")), offered),
        },
        "write" => write(text("path"), text("content"), offered, cwd),
        "edit" => edit(text("path"), text("old"), text("new"), offered, cwd),
        other => Err(format!("a script has no tool \"{other}\"")),
    }
}

fn shell(command: &str, offered: &OfferedTools) -> Result<ToolUse, String> {
    let Some(name) = first(offered, &SHELLS) else {
        let names: Vec<&str> = offered.keys().map(String::as_str).collect();
        return Err(format!("no shell is offered: {}", names.join(", ")));
    };
    let mut input = match name {
        "exec_command" => json!({"cmd": command}),
        "shell" => json!({"command": ["bash", "-lc", command]}),
        _ => json!({"command": command}),
    };
    if offered[name].iter().any(|it| it == "description") {
        input["description"] = json!("scripted command");
    }
    Ok((name.to_owned(), input))
}

fn write(path: &str, content: &str, offered: &OfferedTools, cwd: Option<&str>) -> Result<ToolUse, String> {
    if let Some(name) = first(offered, &["Write", "write", "write_file"]) {
        let input = json!({path_argument(offered, name): absolute(path, cwd), "content": content});
        return Ok((name.to_owned(), input));
    }
    if offered.get("create").is_some_and(|it| it.iter().any(|it| it == "file_text")) {
        return Ok(("create".to_owned(), json!({"path": absolute(path, cwd), "file_text": content})));
    }
    let added: String = content.lines().map(|it| format!("+{it}\n")).collect();
    patch(&format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"), offered)
}

fn edit(
    path: &str,
    old: &str,
    new: &str,
    offered: &OfferedTools,
    cwd: Option<&str>,
) -> Result<ToolUse, String> {
    match first(offered, &["Edit", "edit", "replace"]) {
        Some("edit") => {
            let input = json!({"filePath": absolute(path, cwd), "oldString": old, "newString": new});
            Ok(("edit".to_owned(), input))
        }
        Some(name) => {
            let mut input = json!({"file_path": absolute(path, cwd), "old_string": old, "new_string": new});
            if name == "replace" {
                input["instruction"] = json!("scripted edit");
            }
            Ok((name.to_owned(), input))
        }
        None => {
            let lines =
                |sign: char, text: &str| text.lines().map(|it| format!("{sign}{it}\n")).collect::<String>();
            let change = format!("{}{}", lines('-', old), lines('+', new));
            patch(&format!("*** Begin Patch\n*** Update File: {path}\n@@\n{change}*** End Patch\n"), offered)
        }
    }
}

fn patch(text: &str, offered: &OfferedTools) -> Result<ToolUse, String> {
    match offered.get("apply_patch") {
        Some(arguments) if arguments.is_empty() => Ok(("apply_patch".to_owned(), json!(text))),
        Some(_) => Ok(("apply_patch".to_owned(), json!({"input": text}))),
        None => shell(&format!("apply_patch <<'PATCH_EOF'\n{text}PATCH_EOF"), offered),
    }
}

fn first<'a>(offered: &OfferedTools, names: &[&'a str]) -> Option<&'a str> {
    names.iter().find(|it| offered.contains_key(**it)).copied()
}

fn path_argument(offered: &OfferedTools, tool: &str) -> &'static str {
    let names = ["filePath", "file_path", "absolute_path", "path"];
    names.into_iter().find(|name| offered[tool].iter().any(|it| it == name)).unwrap_or("file_path")
}

fn absolute(path: &str, cwd: Option<&str>) -> String {
    match cwd.filter(|_| !path.starts_with('/')) {
        Some(folder) => format!("{}/{path}", folder.trim_end_matches('/')),
        None => path.to_owned(),
    }
}

static FOLDERS: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        r#"[Ww]orking directory: ([^\s\\"<,]+)"#,
        r"<cwd>([^<]+)</cwd>",
        r#"[Ww]orkspace Directories:\*{0,2}(?:\\n|\s)+- ([^\s\\"<,]+)"#,
        r#"working in the following director[^:]*:\s*(?:\\n|\s)*-? ?([^\s\\"<,]+)"#,
    ]
    .map(|it| Regex::new(it).expect("a pattern of ours"))
});

/// Returns the agent's working directory, which every CLI states somewhere in its prompt.
pub(crate) fn stated_folder(request: &str) -> Option<String> {
    FOLDERS.iter().find_map(|it| it.captures(request)).map(|it| it[1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::{resolve, stated_folder};
    use serde_json::{Value, json};

    fn of(tool: Value, offered: &[(&str, &[&str])]) -> Result<(String, Value), String> {
        let offered = offered.iter().map(|(name, arguments)| {
            ((*name).to_owned(), arguments.iter().map(|it| (*it).to_owned()).collect())
        });
        resolve(tool.as_object().expect("an object"), &offered.collect(), Some("/w"))
    }

    #[test]
    fn a_neutral_tool_is_the_one_that_is_offered() {
        let sh = || json!({"sh": "ls"});
        let run = |name: &str, input: Value| Ok((name.to_owned(), input));
        assert_eq!(
            of(sh(), &[("Bash", &["command", "description"])]),
            run("Bash", json!({"command": "ls", "description": "scripted command"}))
        );
        assert_eq!(of(sh(), &[("exec_command", &["cmd"])]), run("exec_command", json!({"cmd": "ls"})));
        assert!(of(sh(), &[("read_file", &[])]).is_err_and(|it| it.contains("read_file")));
        let write = || json!({"write": {"path": "a", "content": "x\n"}});
        assert_eq!(
            of(write(), &[("write", &["filePath", "content"])]),
            run("write", json!({"filePath": "/w/a", "content": "x\n"}))
        );
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
        assert_eq!(of(write(), &[("apply_patch", &[])]), run("apply_patch", json!(patch)));
    }

    #[test]
    fn the_folder_is_found_where_a_prompt_names_it() {
        assert_eq!(stated_folder("…Working directory: /a/b\\nIs git").as_deref(), Some("/a/b"));
        assert_eq!(stated_folder("<cwd>/a b</cwd>").as_deref(), Some("/a b"));
        assert_eq!(stated_folder("nothing"), None);
    }
}
