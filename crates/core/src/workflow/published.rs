//! What is published about the language and must not drift from it: the schema, the reference, and
//! every example in the documents. `LOOP_REGENERATE=1` writes what is generated.

use super::file::{reference, schema_text};
use super::model::Protocol;
use super::syntax::typed::sentence;
use super::template;
use super::{names, preset};
use crate::agent_table::AgentTable;
use crate::facts::{Claim, FactName, Supplier};
use crate::report::{Expected, read};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn generated(path: &str, text: &str) {
    if std::env::var_os("LOOP_REGENERATE").is_some() {
        std::fs::write(root().join(path), text).expect("it can be written");
    }
    assert!(
        document(path) == text,
        "{path} is behind; LOOP_REGENERATE=1 cargo test --workspace --lib published writes it"
    );
}

#[test]
fn the_schema_is_the_language() {
    generated("schema/workflow.json", &schema_text());
    let schema: Value = serde_json::from_str(&schema_text()).expect("it is JSON");
    well_formed(&schema, "#");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn the_reference_is_the_language() {
    let mut text = "# Workflow files\n\n\
        A workflow is a TOML file: `.loop/workflow.toml` in the project, or any file that `--workflow` names. This \
        page is generated from the definitions that the parser uses.\n\n\
        Later wins: preset, then `$XDG_CONFIG_HOME/loop/config.toml` (`[agent]`, `[limits]` and `[notify]` only), then \
        the project's file, then the environment, then flags. Tables merge key by key, phases by `name`, lists are \
        replaced as a whole. `loop check` reports every mistake at once, and the most agent calls that the workflow \
        can make.\n\n\
        An editor that knows JSON Schema can help while you write: `loop check --schema > workflow.schema.json`, and \
        as the first line of the file `#:schema ./workflow.schema.json`.\n"
        .to_owned();
    let cli = reference().into_iter().flat_map(|it| it.2).find(|it| it.name == "cli").expect("a key");
    for agent in AgentTable::default().names() {
        assert!(cli.about.join(" ").contains(&format!("`{agent}`")), "the reference does not name {agent}");
    }
    for (title, about, keys) in reference() {
        let _ = write!(text, "\n## {}\n\n{}\n\n", heading(title), sentence(about));
        text.push_str("| key | value | meaning |\n|---|---|---|\n");
        for key in keys {
            let _ =
                writeln!(text, "| `{}` | {} | {} |", key.name, cell(key.shape), cell(&sentence(key.about)));
        }
    }
    text.push_str("\n## Prompts\n\nA prompt is a template (Jinja): `{{ name }}`, `{% if name %} … {% endif %}`, \
        `{% for check in checks %} … {% endfor %}`. Any other name is a mistake.\n\n| name | means |\n|---|---|\n");
    for (name, about) in template::NAMES {
        let _ = writeln!(text, "| `{name}` | {} |", cell(about));
    }
    generated("docs/reference/workflow.md", &text);
}

fn heading(title: &str) -> String {
    if title.starts_with('[') || !title.contains(' ') { format!("`{title}`") } else { capital(title) }
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The keywords of draft 2020-12 that are used here, each with what must stand behind it.
fn well_formed(schema: &Value, at: &str) {
    let keys = schema.as_object().unwrap_or_else(|| panic!("{at} is not an object"));
    let types = ["string", "boolean", "integer", "number", "array", "object"];
    for (key, value) in keys {
        let here = format!("{at}/{key}");
        let right = match key.as_str() {
            "$schema" | "title" | "description" => value.is_string(),
            "type" => match value {
                Value::String(it) => types.contains(&it.as_str()),
                Value::Array(list) => list.iter().all(|it| it.as_str().is_some_and(|it| types.contains(&it))),
                _ => false,
            },
            "enum" => value.as_array().is_some_and(|it| !it.is_empty()),
            "pattern" => value.as_str().is_some_and(|it| regex_lite::Regex::new(it).is_ok()),
            "minimum" | "maximum" | "exclusiveMinimum" => value.is_number(),
            "minLength" => value.is_u64(),
            "properties" => {
                value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .for_each(|(name, it)| well_formed(it, &format!("{here}/{name}")));
                value.is_object()
            }
            "items" => {
                well_formed(value, &here);
                true
            }
            "additionalProperties" if value.is_boolean() => true,
            "additionalProperties" => {
                well_formed(value, &here);
                true
            }
            "anyOf" => {
                value.as_array().into_iter().flatten().for_each(|it| well_formed(it, &here));
                value.as_array().is_some_and(|it| !it.is_empty())
            }
            other => panic!("{here}: \"{other}\" is no keyword that is used here"),
        };
        assert!(right, "{here}: {value}");
    }
}

/// Returns where a value breaks the schema.
fn violation(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let broken = |why: &str| Some(format!("{at}: {why}: {value}"));
    let is = |name: &str| match name {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    match &schema["type"] {
        Value::String(name) if !is(name) => return broken(name),
        Value::Array(names) if !names.iter().filter_map(Value::as_str).any(is) => {
            return broken("none of the types");
        }
        _ => (),
    }
    if schema["enum"].as_array().is_some_and(|it| !it.contains(value)) {
        return broken("not one of the words");
    }
    if let Some(choices) = schema["anyOf"].as_array()
        && choices.iter().all(|it| violation(it, value, at).is_some())
    {
        return broken("none of the shapes");
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str())
        && !regex_lite::Regex::new(pattern).expect("it was looked at").is_match(text)
    {
        return broken("not like the pattern");
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        return broken("too small");
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        let found = violation(&schema["items"], item, &format!("{at}[{index}]"));
        if found.is_some() {
            return found;
        }
    }
    for (key, item) in value.as_object().into_iter().flatten() {
        let known = &schema["properties"][key];
        let other = &schema["additionalProperties"];
        let found = match (known.is_null(), other) {
            (false, _) => violation(known, item, &format!("{at}.{key}")),
            (true, Value::Bool(false)) => broken(&format!("no key {key}")),
            (true, other) => violation(other, item, &format!("{at}.{key}")),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn as_json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("it is TOML");
    serde_json::to_value(table).expect("TOML without dates is JSON")
}

#[test]
fn the_schema_takes_what_the_parser_takes() {
    let schema: Value = serde_json::from_str(&schema_text()).expect("it is JSON");
    for preset in &preset::ALL {
        assert_eq!(violation(&schema, &as_json(preset.text), preset.name), None);
    }
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        assert_eq!(violation(&schema, &as_json(&text), &path.display().to_string()), None);
    }
    let refused = [
        "nmae = \"x\"",
        "[limits]\niterations = 0",
        "[limits]\ntime = \"5\"",
        "[[phase]]\nreport = \"jsno\"",
        "[[phase]]\ngates = [3]",
        "phase = \"x\"",
        "[items]\nfrom = \"quue:x\"",
        "[agent]\nenv = { A = 1 }",
    ];
    for text in refused {
        assert!(violation(&schema, &as_json(text), "").is_some(), "{text}");
    }
}

/// The workflow files below `examples/`.
fn examples() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("examples")).expect("there are examples");
    let files: Vec<PathBuf> =
        folders.flatten().map(|it| it.path().join("workflow.toml")).filter(|it| it.exists()).collect();
    assert!(!files.is_empty(), "no example was found");
    files
}

/// Returns the blocks of a document whose fence is followed by `word`, with the rest of that line.
fn blocks(text: &str, word: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let fence: String = line.chars().take_while(|it| *it == '`').collect();
        if fence.len() < 3 {
            continue;
        }
        let info = line[fence.len()..].to_owned();
        let body: Vec<&str> = lines.by_ref().take_while(|it| *it != fence).collect();
        if let Some(rest) = info.strip_prefix(word) {
            found.push((rest.trim().to_owned(), body.join("\n") + "\n"));
        }
    }
    found
}

#[test]
fn the_examples_of_reports_are_read_as_they_say() {
    let text = document("docs/reference/reports.md");
    let mut protocols = std::collections::BTreeSet::new();
    for (info, example) in blocks(&text, "report ") {
        let (name, says) = info.split_once(' ').unwrap_or((&info, ""));
        let protocol = match name {
            "prp-status" => Protocol::PrpStatus,
            "exit-signal" => Protocol::ExitSignal,
            "promise" => Protocol::Promise,
            "json" => Protocol::Json,
            "frontmatter" => Protocol::Frontmatter("*.md".to_owned()),
            other => panic!("\"{other}\" is not a protocol"),
        };
        protocols.insert(name.to_owned());
        let report = read(
            &protocol,
            Expected { phase: "GREEN", promise: "FEATURE_COMPLETE", prompt: "", ..Expected::default() },
            &example,
        );
        let shown = match (&report.signal, &report.stuck, report.found) {
            (Some(signal), _, _) => format!("signal {signal}"),
            (None, Some(_), _) => "stuck".to_owned(),
            (None, None, true) => "no signal".to_owned(),
            (None, None, false) => "no report".to_owned(),
        };
        assert_eq!(shown, says, "{name}: {report:?}\n{example}");
    }
    assert_eq!(protocols.len(), 5, "every protocol has an example: {protocols:?}");
}

#[test]
fn the_examples_of_conditions_are_what_they_say() {
    let text = document("docs/reference/conditions.md");
    for (_, lines) in blocks(&text, "conditions") {
        for line in lines.lines() {
            assert!(super::condition::Condition::parse(line).is_ok(), "{line}");
        }
    }
    for (_, lines) in blocks(&text, "mistakes") {
        for line in lines.lines() {
            assert!(super::condition::Condition::parse(line).is_err(), "{line} is a condition");
        }
    }
    let all = names::in_phase([], [], &[], &Protocol::PrpStatus, true);
    let missing: Vec<&String> = all.keys().filter(|it| !text.contains(&format!("`{it}`"))).collect();
    assert!(missing.is_empty(), "conditions.md does not name {missing:?}");
}

/// The table of facts in the reference is the table that the program goes by.
#[test]
fn the_reference_lists_every_fact() {
    let text = document("docs/reference/conditions.md");
    let (head, rest) = text.split_once(ENGINE_NAMES).expect("the heading is there");
    let (_, tail) = rest.split_once("\n## ").expect("another section follows");
    let mut table = "| name | type | from | meaning |\n|---|---|---|---|\n".to_owned();
    for row in FactName::ALL.iter().map(|it| it.row()).filter(|it| it.supplier != Supplier::WorldUnnamed) {
        let claimed = if row.claim == Claim::Unverified { " ¹" } else { "" };
        let (name, kind, from) = (row.name, row.kind, row.supplier);
        let _ = writeln!(table, "| `{name}` | {kind} | {from}{claimed} | {} |", cell(row.about));
    }
    let note = "¹ Where no check counts tests, a run that was opened with `--unverified` takes them from the report.\n";
    generated("docs/reference/conditions.md", &format!("{head}{ENGINE_NAMES}{table}\n{note}\n## {tail}"));
}

const ENGINE_NAMES: &str = "## Names that the engine supplies\n\n";

/// Links between documents lead somewhere.
#[test]
fn links_lead_somewhere() {
    for folder in ["docs/reference", "docs/guide"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("it is there").flatten() {
            let text = std::fs::read_to_string(entry.path()).expect("a document is text");
            for link in text.split("](").skip(1).filter_map(|it| it.split_once(')')).map(|it| it.0) {
                let file = link.split('#').next().unwrap_or_default();
                let target = entry.path().parent().unwrap_or(Path::new("")).join(file);
                let outside = link.starts_with("http");
                assert!(outside || file.is_empty() || target.exists(), "{}: {link}", entry.path().display());
            }
        }
    }
}
