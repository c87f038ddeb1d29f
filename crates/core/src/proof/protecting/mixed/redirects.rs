//! Where dependencies come from. A test asserts with a library, and whoever replaces that library
//! (a patch in Cargo.toml, `file:` in package.json, `replace` in go.mod, a path in requirements.txt)
//! changes what the test says without touching it. So the overlay brings back the source of every
//! dependency that the baseline had, and the digests by which lock files know it. What the baseline
//! did not have comes as the run left it: no original test can use it.

use crate::proof::protecting::class::Mixed;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Keys of a dependency in Cargo.toml that say where it comes from.
const SOURCE_KEYS: &[&str] =
    &["path", "git", "branch", "tag", "rev", "registry", "registry-index", "package", "workspace"];

const CARGO_TABLES: &[&str] =
    &["dependencies", "dev-dependencies", "dev_dependencies", "build-dependencies", "build_dependencies"];

pub(crate) const PACKAGE_TABLES: &[&str] =
    &["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Brings the sources of a manifest's dependencies back.
pub(crate) fn cargo(rest: &mut Table, base: &Table) {
    for key in ["patch", "replace"] {
        match base.get(key) {
            Some(value) => drop(rest.insert(key.to_owned(), value.clone())),
            None => drop(rest.remove(key)),
        }
    }
    let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut copy = base.clone();
    each_cargo_table(&mut copy, &mut |table| {
        for (name, value) in table.iter() {
            known.entry(name.clone()).or_default().push(value.clone());
        }
    });
    each_cargo_table(rest, &mut |table| {
        for (name, value) in table.iter_mut() {
            let Some(before) = known.get(name) else { continue };
            if !before.iter().any(|it| cargo_source(it) == cargo_source(value)) {
                *value = before[0].clone();
            }
        }
    });
}

fn each_cargo_table(manifest: &mut Table, act: &mut dyn FnMut(&mut Table)) {
    let mut tables = |of: &mut Table| {
        for name in CARGO_TABLES {
            if let Some(table) = of.get_mut(*name).and_then(Value::as_table_mut) {
                act(table);
            }
        }
    };
    tables(manifest);
    for section in ["workspace", "target"] {
        let Some(section) = manifest.get_mut(section).and_then(Value::as_table_mut) else { continue };
        tables(section);
        for inner in section.iter_mut().filter_map(|(_, it)| it.as_table_mut()) {
            tables(inner);
        }
    }
}

fn cargo_source(value: &Value) -> BTreeMap<&str, &Value> {
    let table = value.as_table().into_iter().flatten();
    table.filter(|(key, _)| SOURCE_KEYS.contains(&key.as_str())).map(|(key, it)| (key.as_str(), it)).collect()
}

/// A version of Cargo.lock in which no package has another source or digest than it had.
pub(crate) fn cargo_lock(rest: &mut Table, base: &Table) {
    let packages = base.get("package").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |it: &Value, key: &str| it.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = |it: &Value| (text(it, "name"), text(it, "version"));
    for package in rest.get_mut("package").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(before) = packages.iter().find(|it| id(it) == id(package)) else { continue };
        let Some(package) = package.as_table_mut() else { continue };
        for key in ["source", "checksum"] {
            match before.get(key) {
                Some(value) => drop(package.insert(key.to_owned(), value.clone())),
                None => drop(package.remove(key)),
            }
        }
    }
}

/// What package.json says about one dependency: a range of versions, or a place.
pub(crate) fn is_place(specifier: &str) -> bool {
    let specifier = specifier.trim_matches('"');
    specifier.contains(['/', ':']) || specifier.starts_with('.')
}

/// Tells whether package-lock.json gives a package that the baseline had another text.
pub(crate) fn npm_lock_differs(rest: &str, base: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let (Some(now), Some(before)) = (read(rest), read(base)) else { return lines_lead_elsewhere(rest, base) };
    let packages = before["packages"].as_object().into_iter().flatten().filter(|(key, _)| !key.is_empty());
    packages.into_iter().any(|(key, then)| {
        let found = &now["packages"][key];
        let is_local = |it: &serde_json::Value| {
            it["link"] == true || it["resolved"].as_str().is_some_and(|it| it.starts_with("file:"))
        };
        let same_version = !found.is_null() && found["version"] == then["version"];
        same_version && found["integrity"] != then["integrity"] || is_local(found) && !is_local(then)
    })
}

/// yarn.lock and pnpm-lock.yaml: a line that names a place on this machine, which none did.
fn lines_lead_elsewhere(rest: &str, base: &str) -> bool {
    let before: BTreeSet<&str> = base.lines().map(str::trim).collect();
    let names_place = |it: &str| ["file:", "link:", "portal:"].iter().any(|place| it.contains(place));
    rest.lines().map(str::trim).any(|it| names_place(it) && !before.contains(it))
}

/// go.mod with the replacements of the baseline for every module that it had.
pub(crate) fn go_mod(rest: &str, base: &str) -> String {
    let (now, then) = (go_directives(rest), go_directives(base));
    let required: BTreeSet<&str> = then.iter().filter_map(|it| it.module()).collect();
    let is_known =
        |it: &GoDirective<'_>| it.is_replacement() && it.module().is_some_and(|it| required.contains(it));
    let of = |all: &[GoDirective<'_>]| -> BTreeSet<String> {
        all.iter().filter(|it| is_known(it)).map(|it| it.words.join(" ")).collect()
    };
    if of(&now) == of(&then) {
        return rest.to_owned();
    }
    let dropped: BTreeSet<usize> = now.iter().filter(|it| is_known(it)).map(|it| it.line).collect();
    let kept = rest.lines().enumerate().filter(|(at, _)| !dropped.contains(at)).map(|(_, it)| it);
    let back = then.iter().filter(|it| is_known(it)).map(|it| format!("replace {}", it.words.join(" ")));
    let mut text: String = kept.map(|it| format!("{it}\n")).collect();
    back.for_each(|it| text.push_str(&format!("{it}\n")));
    text
}

/// A `require` or `replace` of go.mod, without its first word.
struct GoDirective<'a> {
    line: usize,
    words: Vec<&'a str>,
}

impl<'a> GoDirective<'a> {
    fn module(&self) -> Option<&'a str> {
        self.words.first().copied()
    }

    fn is_replacement(&self) -> bool {
        self.words.contains(&"=>")
    }
}

fn go_directives(text: &str) -> Vec<GoDirective<'_>> {
    let mut found = Vec::new();
    let mut block = None;
    for (line, whole) in text.lines().enumerate() {
        let plain = whole.split("//").next().unwrap_or(whole);
        let mut words: Vec<&str> = plain.split_whitespace().map(|it| it.trim_matches('"')).collect();
        match (words.as_slice(), block) {
            ([")"], _) => block = None,
            ([verb, "("], _) => block = Some(*verb),
            ([verb @ ("require" | "replace"), ..], None) => {
                let _the_verb = *verb;
                words.remove(0);
                found.push(GoDirective { line, words });
            }
            ([_, ..], Some("require" | "replace")) => found.push(GoDirective { line, words }),
            (_, _) => {}
        }
    }
    found
}

/// go.sum in which no module has another digest than it had.
pub(crate) fn go_sum(rest: &str, base: &str) -> String {
    let key = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    let before: BTreeMap<(String, String), &str> =
        base.lines().filter_map(|it| Some((key(it)?, it))).collect();
    let mut text = String::new();
    for line in rest.lines() {
        let line = key(line).and_then(|it| before.get(&it)).copied().unwrap_or(line);
        text.push_str(&format!("{line}\n"));
    }
    if text.lines().eq(rest.lines()) { rest.to_owned() } else { text }
}

/// requirements.txt with the places and options of the baseline, and its own line for every name that
/// comes from a place now.
pub(crate) fn requirements(rest: &str, base: &str) -> String {
    let name = |line: &str| requirement_name(line);
    let then: Vec<&str> = base.lines().filter(|it| !is_blank(it)).collect();
    let is_at_place = |line: &&str| name(line).is_none();
    let (places, before): (Vec<&str>, BTreeMap<String, &str>) = (
        then.iter().copied().filter(|it| is_at_place(it)).collect(),
        then.iter().filter_map(|it| Some((name(it)?, *it))).collect(),
    );
    let now: Vec<&str> = rest.lines().filter(|it| !is_blank(it)).collect();
    let names_now: BTreeSet<String> = now.iter().filter_map(|it| name(it)).collect();
    let added: Vec<&str> = now.iter().copied().filter(|it| is_at_place(it) && !places.contains(it)).collect();
    let is_gone = |it: &&String| !names_now.contains(*it);
    // A path may hide any name; with none gone from the list, it is a dependency of its own.
    if added.is_empty() || !before.keys().any(|it| is_gone(&it)) && added.iter().all(|it| !is_option(it)) {
        return rest.to_owned();
    }
    let kept = now.iter().copied().filter(|it| !added.contains(it));
    let back = before.iter().filter(|(it, _)| is_gone(it)).map(|(_, line)| *line);
    kept.chain(back).map(|it| format!("{it}\n")).collect()
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

fn is_option(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("--") || line.starts_with("-i") || line.starts_with("-f")
}

/// The name of a requirement that comes from an index; nothing for a path, an address or an option.
fn requirement_name(line: &str) -> Option<String> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    let is_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let name: String = line.chars().take_while(|it| is_name(*it)).collect();
    let after = line[name.len()..].trim_start();
    let after = after.strip_prefix('[').and_then(|it| it.split_once(']')).map_or(after, |(_, it)| it.trim());
    let starts_well = name.starts_with(|it: char| it.is_ascii_alphanumeric());
    let is_elsewhere = after.starts_with(['@', '/', ':']) || name.ends_with(".whl") || name.ends_with(".gz");
    (starts_well && !is_elsewhere).then(|| name.to_lowercase().replace(['_', '.'], "-"))
}

/// pyproject.toml: the places of uv and poetry, and names that come from an address now.
pub(crate) fn pyproject(rest: &mut Table, base: &Table) {
    take_tool_sources(rest, base);
    let lists = |of: &Table| -> Vec<String> {
        let project = of.get("project").and_then(Value::as_table);
        let own = project.and_then(|it| it.get("dependencies")).and_then(Value::as_array);
        let optional = project.and_then(|it| it.get("optional-dependencies")).and_then(Value::as_table);
        let groups = of.get("dependency-groups").and_then(Value::as_table);
        let more = optional.into_iter().chain(groups).flat_map(|it| it.values()).filter_map(Value::as_array);
        own.into_iter().chain(more).flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let before: BTreeMap<String, String> =
        lists(base).into_iter().filter_map(|it| Some((requirement_name(&it)?, it))).collect();
    let restore = |list: &mut Vec<Value>| {
        for entry in list {
            let Some((name, _)) = entry.as_str().and_then(|it| it.split_once('@')) else { continue };
            if let Some(line) = requirement_name(name.trim()).and_then(|it| before.get(&it)) {
                *entry = line.clone().into();
            }
        }
    };
    if let Some(project) = rest.get_mut("project").and_then(Value::as_table_mut) {
        project.get_mut("dependencies").and_then(Value::as_array_mut).into_iter().for_each(restore);
        let optional = project.get_mut("optional-dependencies").and_then(Value::as_table_mut);
        optional
            .into_iter()
            .flat_map(|it| it.iter_mut())
            .filter_map(|(_, it)| it.as_array_mut())
            .for_each(restore);
    }
    let groups = rest.get_mut("dependency-groups").and_then(Value::as_table_mut);
    groups.into_iter().flat_map(|it| it.iter_mut()).filter_map(|(_, it)| it.as_array_mut()).for_each(restore);
}

fn take_tool_sources(rest: &mut Table, base: &Table) {
    const KEYS: &[(&str, &[&str])] = &[
        ("uv", &["sources", "index", "index-url", "extra-index-url", "find-links", "override-dependencies"]),
        ("poetry", &["source"]),
        ("pdm", &["source", "overrides", "resolution"]),
    ];
    let Some(tools) = rest.get_mut("tool").and_then(Value::as_table_mut) else { return };
    for (tool, keys) in KEYS {
        let theirs = base.get("tool").and_then(|it| it.get(*tool));
        let Some(ours) = tools.get_mut(*tool).and_then(Value::as_table_mut) else { continue };
        for key in *keys {
            match theirs.and_then(|it| it.get(*key)) {
                Some(value) => drop(ours.insert((*key).to_owned(), value.clone())),
                None => drop(ours.remove(*key)),
            }
        }
        for table in ["dependencies", "dev-dependencies"] {
            let theirs = theirs.and_then(|it| it.get(table)).and_then(Value::as_table);
            let Some(ours) = ours.get_mut(table).and_then(Value::as_table_mut) else { continue };
            for (name, value) in ours.iter_mut() {
                let before = theirs.and_then(|it| it.get(name));
                let place = |it: &Value| ["path", "git", "url"].iter().any(|key| it.get(*key).is_some());
                if let Some(before) = before.filter(|it| place(value) && !place(it)) {
                    *value = before.clone();
                }
            }
        }
    }
}

/// tsconfig.json: the baseline's, where the two disagree about which file a name means.
pub(crate) fn ts_config(rest: &str, base: &str) -> String {
    let of = |text: &str| ["\"paths\"", "\"baseUrl\""].map(|key| setting_text(text, key));
    if of(rest) == of(base) { rest.to_owned() } else { base.to_owned() }
}

/// The text of a setting up to the end of its value, without spaces.
fn setting_text(text: &str, key: &str) -> Option<String> {
    let value = &text[text.find(key)? + key.len()..];
    let end = match value.trim_start_matches([':', ' ', '\n', '\t', '\r']).starts_with('{') {
        true => {
            let mut depth = 0;
            value.char_indices().find_map(|(at, it)| {
                depth += match it {
                    '{' => 1,
                    '}' => -1,
                    _ => 0,
                };
                (it == '}' && depth == 0).then_some(at + 1)
            })
        }
        false => value.find([',', '\n', '}']),
    };
    Some(value[..end.unwrap_or(value.len())].split_whitespace().collect())
}

/// The manifest that a lock file belongs to: where its dependencies come from somewhere else now, the
/// lock is the baseline's as a whole.
pub(crate) fn manifest_of(lock: Mixed) -> Option<Mixed> {
    match lock {
        Mixed::CargoLock => Some(Mixed::CargoToml),
        Mixed::NodeLock => Some(Mixed::PackageJson),
        Mixed::GoSum => Some(Mixed::GoMod),
        Mixed::PackageJson
        | Mixed::Pyproject
        | Mixed::CargoToml
        | Mixed::SetupCfg
        | Mixed::RustSource
        | Mixed::GoMod
        | Mixed::Requirements
        | Mixed::TsConfig
        | Mixed::CMake
        | Mixed::Meson
        | Mixed::Gradle
        | Mixed::Pom => None,
    }
}
