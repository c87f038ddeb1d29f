//! Mixed files: the protected part of one version with the rest of the other. JSON is spliced by the
//! raw text of its top-level keys, because the order of conditional exports has a meaning; TOML is
//! merged by value; a setup.cfg by sections. A file that cannot be read is refused. Of manifests and
//! lock files, where dependencies come from is protected too.

use crate::proof::protecting::class::Mixed;
use crate::proof::protecting::mixed::build_scripts;
use crate::proof::protecting::mixed::redirects;
use crate::proof::protecting::mixed::rust_tests;
use crate::proof::protecting::names::is_test_path;
use crate::proof::trees::Direction;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use toml::{Table, Value};

/// Keys of package.json that say what runs and how.
const PACKAGE_KEYS: &[&str] = &[
    "scripts",
    "jest",
    "mocha",
    "vitest",
    "ava",
    "c8",
    "nyc",
    "tap",
    "jasmine",
    "babel",
    "eslintConfig",
    "prettier",
    "overrides",
    "resolutions",
    "pnpm",
    "config",
    "packageManager",
    "wireit",
    "nx",
    "xo",
    "standard",
    "stylelint",
    "mocha-webpack",
    "jest-junit",
];

/// What the final tests may need on the baseline's code, beside the protected part.
const PACKAGE_TEST_NEEDS: &[&str] = &["devDependencies"];
const CARGO_TEST_NEEDS: &[&str] = &["dev-dependencies", "dev_dependencies"];

/// Sections of pyproject's `[tool]` that describe the package and not how it is checked.
const PACKAGING_TOOLS: &[&str] = &[
    "poetry",
    "setuptools",
    "setuptools_scm",
    "setuptools-scm",
    "hatch",
    "pdm",
    "uv",
    "flit",
    "maturin",
    "scikit-build",
    "pixi",
    "rye",
    "cibuildwheel",
];

/// Sections of setup.cfg that describe the package.
const PACKAGING_SECTIONS: &[&str] =
    &["metadata", "options", "egg_info", "bdist_wheel", "sdist", "build_ext", "files"];

/// Returns `rest` with the protected part of `protected`; nothing if one of them cannot be read. A
/// version that does not exist is given as empty text.
pub(crate) fn merged(kind: Mixed, rest: &str, protected: &str, direction: Direction) -> Option<String> {
    if rest == protected {
        return Some(rest.to_owned());
    }
    match kind {
        Mixed::PackageJson => package_json(rest, protected, direction),
        Mixed::Pyproject => toml_file(rest, protected, |rest, protected| {
            pyproject(rest, protected);
            if direction == Direction::BaseTestsOverFinal {
                redirects::pyproject(rest, protected);
            }
        }),
        Mixed::CargoToml => toml_file(rest, protected, |rest, protected| cargo(rest, protected, direction)),
        Mixed::SetupCfg => Some(setup_cfg(rest, protected)),
        Mixed::RustSource => rust_tests::with_tests_of(rest, protected),
        Mixed::CargoLock
        | Mixed::NodeLock
        | Mixed::GoMod
        | Mixed::GoSum
        | Mixed::Requirements
        | Mixed::TsConfig
        | Mixed::CMake
        | Mixed::Meson
        | Mixed::Gradle
        | Mixed::Pom => match direction {
            Direction::BaseTestsOverFinal if !protected.is_empty() => sources(kind, rest, protected),
            // The old code comes with its own dependencies.
            Direction::BaseTestsOverFinal | Direction::FinalTestsOverBase => Some(rest.to_owned()),
        },
    }
}

/// Tells whether the overlay brings anything of the baseline's version back.
pub fn brings_back(kind: Mixed, base: &str, now: &str) -> bool {
    merged(kind, now, base, Direction::BaseTestsOverFinal).is_none_or(|it| it != now)
}

/// Tells whether a manifest takes a dependency of the baseline from somewhere else.
pub(crate) fn is_redirected(kind: Mixed, base: &str, now: &str) -> bool {
    match kind {
        Mixed::CargoToml => {
            let (Ok(before), Ok(after)) = (base.parse::<Table>(), now.parse::<Table>()) else { return true };
            let mut restored = after.clone();
            redirects::cargo(&mut restored, &before);
            restored != after
        }
        Mixed::PackageJson => match (pairs(base), pairs(now)) {
            (Some(before), Some(after)) => package_sources(&after, &before) != after,
            (None, _) | (_, None) => true,
        },
        Mixed::GoMod => redirects::go_mod(now, base) != now,
        Mixed::Pyproject
        | Mixed::SetupCfg
        | Mixed::RustSource
        | Mixed::CargoLock
        | Mixed::NodeLock
        | Mixed::GoSum
        | Mixed::Requirements
        | Mixed::TsConfig
        | Mixed::CMake
        | Mixed::Meson
        | Mixed::Gradle
        | Mixed::Pom => false,
    }
}

/// The files that say nothing but where dependencies come from.
fn sources(kind: Mixed, rest: &str, base: &str) -> Option<String> {
    match kind {
        Mixed::CargoLock => toml_file(rest, base, redirects::cargo_lock),
        Mixed::NodeLock if redirects::npm_lock_differs(rest, base) => Some(base.to_owned()),
        Mixed::GoMod => Some(redirects::go_mod(rest, base)),
        Mixed::GoSum => Some(redirects::go_sum(rest, base)),
        Mixed::Requirements => Some(redirects::requirements(rest, base)),
        Mixed::TsConfig => Some(redirects::ts_config(rest, base)),
        Mixed::CMake | Mixed::Meson | Mixed::Gradle | Mixed::Pom => {
            Some(build_scripts::merged(kind, rest, base))
        }
        Mixed::NodeLock
        | Mixed::PackageJson
        | Mixed::Pyproject
        | Mixed::CargoToml
        | Mixed::SetupCfg
        | Mixed::RustSource => Some(rest.to_owned()),
    }
}

/// The pairs of package.json with the baseline's specifier for every dependency of it that comes from a
/// place now.
fn package_sources(rest: &[(String, String)], base: &[(String, String)]) -> Vec<(String, String)> {
    let is_table = |key: &str| redirects::PACKAGE_TABLES.contains(&key);
    let before: Vec<(String, String)> =
        base.iter().filter(|(key, _)| is_table(key)).filter_map(|(_, it)| pairs(it)).flatten().collect();
    let restored = |name: &str, now: &str| {
        let mut known = before.iter().filter(|(it, _)| it == name).map(|(_, it)| it);
        let is_moved = redirects::is_place(now) && known.clone().all(|it| it != now);
        known.next().filter(|_| is_moved).cloned()
    };
    let table = |text: &str| {
        let inner = pairs(text)?;
        let changed = inner.iter().any(|(name, now)| restored(name, now).is_some());
        let line = |(name, now): &(String, String)| {
            let value = restored(name, now).unwrap_or_else(|| now.clone());
            format!("{}: {value}", serde_json::Value::String(name.clone()))
        };
        changed.then(|| format!("{{ {} }}", inner.iter().map(line).collect::<Vec<_>>().join(", ")))
    };
    let pair = |(key, value): &(String, String)| {
        let value = is_table(key).then(|| table(value)).flatten().unwrap_or_else(|| value.clone());
        (key.clone(), value)
    };
    rest.iter().map(pair).collect()
}

/// The pairs with the baseline's meaning of every name in `imports` that stood for something else than a
/// file of the product: `#assert` for `node:assert`, or a file of the tests.
fn package_imports(rest: Vec<(String, String)>, base: &[(String, String)]) -> Vec<(String, String)> {
    let imports =
        |of: &[(String, String)]| of.iter().find(|(key, _)| key == "imports").and_then(|(_, it)| pairs(it));
    let Some(before) = imports(base) else { return rest };
    let is_product = |value: &str| {
        let files = value.split('"').filter(|it| it.starts_with("./"));
        files.clone().next().is_some()
            && !files.into_iter().any(|it| is_test_path(it.trim_start_matches("./")))
    };
    let mut now = imports(&rest).unwrap_or_default();
    let known = now.clone();
    for (name, value) in before.iter().filter(|(_, value)| !is_product(value)) {
        now.retain(|(it, _)| it != name);
        now.push((name.clone(), value.clone()));
    }
    let sorted = |of: &[(String, String)]| of.iter().cloned().collect::<std::collections::BTreeMap<_, _>>();
    if sorted(&now) == sorted(&known) {
        return rest;
    }
    let lines: Vec<String> = now
        .iter()
        .map(|(name, value)| format!("{}: {value}", serde_json::Value::String(name.clone())))
        .collect();
    let kept = rest.into_iter().filter(|(key, _)| key != "imports");
    kept.chain([("imports".to_owned(), format!("{{ {} }}", lines.join(", ")))]).collect()
}

fn package_json(rest: &str, protected: &str, direction: Direction) -> Option<String> {
    let (own_pairs, protected_pairs) = (pairs(rest)?, pairs(protected)?);
    let (needed, rest_pairs) = match direction {
        Direction::BaseTestsOverFinal => {
            let sources = package_sources(&own_pairs, &protected_pairs);
            (&[][..], package_imports(sources, &protected_pairs))
        }
        Direction::FinalTestsOverBase => (PACKAGE_TEST_NEEDS, own_pairs.clone()),
    };
    let is_protected = |key: &str| PACKAGE_KEYS.contains(&key) || needed.contains(&key);
    let relevant = |of: &[(String, String)]| {
        of.iter().filter(|(key, _)| is_protected(key)).cloned().collect::<Vec<(String, String)>>()
    };
    if rest_pairs == own_pairs && relevant(&rest_pairs) == relevant(&protected_pairs) {
        return Some(rest.to_owned());
    }
    let kept = rest_pairs.iter().filter(|(key, _)| !is_protected(key)).cloned();
    let parts: Vec<String> = kept
        .chain(relevant(&protected_pairs))
        .map(|(key, value)| format!("  {}: {value}", serde_json::Value::String(key)))
        .collect();
    Some(format!("{{\n{}\n}}\n", parts.join(",\n")))
}

/// The keys of an object in their order, with the text of their values.
struct PartPairs(Vec<(String, String)>);

impl<'de> Deserialize<'de> for PartPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PartPairs, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = PartPairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PartPairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    pairs.push((key, value.get().to_owned()));
                }
                Ok(PartPairs(pairs))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    serde_json::from_str::<PartPairs>(text).ok().map(|it| it.0)
}

fn toml_file(rest: &str, protected: &str, merge: impl Fn(&mut Table, &Table)) -> Option<String> {
    let (before, from): (Table, Table) = (rest.parse().ok()?, protected.parse().ok()?);
    let mut table = before.clone();
    merge(&mut table, &from);
    match table == before {
        true => Some(rest.to_owned()),
        false => toml::to_string(&table).ok(),
    }
}

fn pyproject(rest: &mut Table, protected: &Table) {
    take_plugins(rest, protected);
    let from = protected.get("tool").and_then(Value::as_table).cloned().unwrap_or_default();
    if !rest.contains_key("tool") && from.is_empty() {
        return;
    }
    let Some(tool) = rest.entry("tool").or_insert_with(|| Table::new().into()).as_table_mut() else { return };
    let is_packaging = |key: &str| PACKAGING_TOOLS.contains(&key);
    tool.retain(|key, _| is_packaging(key));
    let theirs = from.iter().filter(|(key, _)| !is_packaging(key));
    tool.extend(theirs.map(|(key, value)| (key.clone(), value.clone())));
    // hatch keeps its test environments beside its packaging.
    if let Some(hatch) = tool.get_mut("hatch").and_then(Value::as_table_mut) {
        take_keys(hatch, from.get("hatch").and_then(Value::as_table), &["envs"]);
    }
    if tool.is_empty() {
        rest.remove("tool");
    }
}

/// A package may declare plugins of pytest, which are loaded as soon as it is installed.
fn take_plugins(rest: &mut Table, protected: &Table) {
    let points =
        |of: &Table| of.get("project").and_then(|it| it.get("entry-points")?.get("pytest11")).cloned();
    let then = points(protected);
    if points(rest) == then {
        return;
    }
    let Some(project) = rest.get_mut("project").and_then(Value::as_table_mut) else { return };
    let entry = project.entry("entry-points").or_insert_with(|| Table::new().into());
    let Some(entry) = entry.as_table_mut() else { return };
    match then {
        Some(value) => drop(entry.insert("pytest11".to_owned(), value)),
        None => drop(entry.remove("pytest11")),
    }
}

fn cargo(rest: &mut Table, protected: &Table, direction: Direction) {
    take_keys(rest, Some(protected), &["profile", "test", "bench", "lints"]);
    take_in(rest, protected, "package", &["autotests", "autobenches", "build"]);
    take_in(rest, protected, "lib", &["test", "harness", "doctest", "bench"]);
    match direction {
        // A manifest that the baseline did not have has nothing to bring back.
        Direction::BaseTestsOverFinal if protected.is_empty() => {}
        Direction::BaseTestsOverFinal => redirects::cargo(rest, protected),
        Direction::FinalTestsOverBase => take_keys(rest, Some(protected), CARGO_TEST_NEEDS),
    }
    let bins = protected.get("bin").and_then(Value::as_array).cloned().unwrap_or_default();
    let name = |it: &Value| it.get("name").and_then(Value::as_str).map(str::to_owned);
    for bin in rest.get_mut("bin").and_then(Value::as_array_mut).into_iter().flatten() {
        let theirs = bins.iter().find(|it| name(it) == name(bin)).and_then(Value::as_table).cloned();
        if let Some(bin) = bin.as_table_mut() {
            take_keys(bin, theirs.as_ref(), &["test", "harness", "doctest"]);
        }
    }
}

fn take_in(rest: &mut Table, protected: &Table, section: &str, keys: &[&str]) {
    let theirs = protected.get(section).and_then(Value::as_table);
    let has_any = theirs.is_some_and(|it| keys.iter().any(|key| it.contains_key(*key)));
    if has_any && !rest.contains_key(section) {
        rest.insert(section.to_owned(), Table::new().into());
    }
    if let Some(ours) = rest.get_mut(section).and_then(Value::as_table_mut) {
        take_keys(ours, theirs, keys);
    }
}

fn take_keys(rest: &mut Table, protected: Option<&Table>, keys: &[&str]) {
    for key in keys {
        match protected.and_then(|it| it.get(*key)) {
            Some(value) => drop(rest.insert((*key).to_owned(), value.clone())),
            None => drop(rest.remove(*key)),
        }
    }
}

fn setup_cfg(rest: &str, protected: &str) -> String {
    let is_packaging = |title: &str| {
        let first = title.split(['.', ':']).next().unwrap_or(title).trim();
        title.is_empty() || PACKAGING_SECTIONS.contains(&first)
    };
    let (ours, theirs) = (sections(rest), sections(protected));
    let checks = |of: &[(String, String)]| {
        of.iter().filter(|(title, _)| !is_packaging(title)).cloned().collect::<Vec<(String, String)>>()
    };
    if checks(&ours) == checks(&theirs) {
        return rest.to_owned();
    }
    let mut text = String::new();
    for (_, body) in ours.iter().filter(|(title, _)| is_packaging(title)).chain(&checks(&theirs)) {
        text.push_str(body);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// Splits at the lines `[title]`; what stands before the first has an empty title.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut sections = vec![(String::new(), String::new())];
    for line in text.split_inclusive('\n') {
        let title = line.trim_end().strip_prefix('[').and_then(|it| it.split_once(']')).map(|(it, _)| it);
        if let Some(title) = title {
            sections.push((title.trim().to_lowercase(), String::new()));
        }
        if let Some((_, body)) = sections.last_mut() {
            body.push_str(line);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const E: Direction = Direction::BaseTestsOverFinal;
    const F: Direction = Direction::FinalTestsOverBase;

    #[test]
    fn keeps_the_scripts_of_a_package() {
        let base = r#"{"name":"a","scripts":{"test":"node --test"},"dependencies":{}}"#;
        let changed = r#"{"exports":{"import":"./a.mjs","default":"./a.js"},"scripts":{"test":"true"},"name":"b","jest":{"bail":1},"scripts":{"test":"exit 0"}}"#;
        let expected = "{\n  \"exports\": {\"import\":\"./a.mjs\",\"default\":\"./a.js\"},\n  \"name\": \"b\",\n  \"scripts\": {\"test\":\"node --test\"}\n}\n";
        assert_eq!(merged(Mixed::PackageJson, changed, base, E).as_deref(), Some(expected));
        let only_version = base.replace("\"a\"", "\"c\"");
        assert_eq!(merged(Mixed::PackageJson, &only_version, base, E), Some(only_version));
        assert_eq!(merged(Mixed::PackageJson, "{not json", base, E), None);
    }

    #[test]
    fn keeps_what_a_name_of_the_tests_stands_for() {
        let base =
            r##"{"imports":{"#assert":"node:assert","#shop":"./src/shop.js","#same":"./test/same.js"}}"##;
        let honest = r##"{"imports":{"#assert":"node:assert","#same":"./test/same.js","#shop":"./src/shop/index.js"}}"##;
        assert_eq!(merged(Mixed::PackageJson, honest, base, E).as_deref(), Some(honest));
        let bent =
            honest.replace("node:assert", "./src/assert.js").replace("./test/same.js", "./src/same.js");
        let merged = merged(Mixed::PackageJson, &bent, base, E).expect("merged");
        assert!(merged.contains("node:assert") && merged.contains("./test/same.js"), "{merged}");
        assert!(merged.contains("./src/shop/index.js"), "{merged}");
    }

    #[test]
    fn a_package_brings_no_plugin_of_the_runner() {
        let bent = "[project]\nname = \"a\"\n[project.entry-points.pytest11]\nx = \"shop.plugin\"\n[project.entry-points.other]\ny = \"z\"\n";
        let merged = merged(Mixed::Pyproject, bent, "[project]\nname = \"a\"\n", E).expect("merged");
        assert!(!merged.contains("pytest11") && merged.contains("other"), "{merged}");
    }

    #[test]
    fn an_added_file_brings_no_protected_part() {
        let added = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-k nothing\"\n";
        let expected = "[project]\nname = \"a\"\n";
        assert_eq!(merged(Mixed::Pyproject, added, "", E).as_deref(), Some(expected));
        assert_eq!(merged(Mixed::PackageJson, "{\"scripts\":{}}", "", E).as_deref(), Some("{\n\n}\n"));
    }

    #[test]
    fn keeps_the_tools_of_a_pyproject_and_leaves_packaging() {
        let base = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n[tool.poetry]\nx = 1\n";
        let changed = "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"-k x\"\n[tool.coverage.run]\nomit = [\"*\"]\n[tool.poetry]\nx = 2\n";
        let table: Table = merged(Mixed::Pyproject, changed, base, E).expect("merged").parse().expect("TOML");
        let expected: Table = "[project]\nname = \"b\"\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n[tool.poetry]\nx = 2\n"
            .parse()
            .expect("TOML");
        assert_eq!(table, expected);
    }

    #[test]
    fn keeps_the_test_keys_of_a_manifest() {
        let base = "[package]\nname = \"a\"\n[dependencies]\n[dev-dependencies]\nx = \"1\"\n[[test]]\nname = \"e2e\"\n";
        let changed = "[package]\nname = \"a\"\nautotests = false\n[lib]\ntest = false\npath = \"src/l.rs\"\n[dependencies]\nserde = \"1\"\n[dev-dependencies]\ny = \"1\"\n[profile.test]\ndebug-assertions = false\n[[bin]]\nname = \"b\"\nharness = false\n";
        let read = |text: &str| text.parse::<Table>().expect("TOML");
        let in_overlay = merged(Mixed::CargoToml, changed, base, E).expect("merged");
        let expected = "[package]\nname = \"a\"\n[lib]\npath = \"src/l.rs\"\n[dependencies]\nserde = \"1\"\n[dev-dependencies]\ny = \"1\"\n[[test]]\nname = \"e2e\"\n[[bin]]\nname = \"b\"\n";
        assert_eq!(read(&in_overlay), read(expected));
        // On the old code, the final tests may need what they were written with.
        let on_old_code = merged(Mixed::CargoToml, base, changed, F).expect("merged");
        assert_eq!(read(&on_old_code)["dev-dependencies"], read("y = \"1\"").into());
    }

    #[test]
    fn keeps_the_check_sections_of_a_setup_cfg() {
        let base = "[metadata]\nname = a\n[tool:pytest]\ntestpaths = tests\n";
        let changed = "[metadata]\nname = b\n[tool:pytest]\naddopts = -k x\n[flake8]\nignore = E\n";
        let expected = "[metadata]\nname = b\n[tool:pytest]\ntestpaths = tests\n";
        assert_eq!(merged(Mixed::SetupCfg, changed, base, E).as_deref(), Some(expected));
    }

    proptest! {
        #[test]
        fn never_panics_and_takes_the_protected_part_once(
            rest in "(\\[tool.pytest\\]\n|\\[project\\]\n|\\[\\[test\\]\\]\n|\\[lib\\]\n|a = 1\n|test = false\n|name = \"x\"\n|\\{\"scripts\":|\\{\\}|,|\"a\":1|\\}|[ -~]{0,4}){0,8}",
            protected in "(\\[tool.pytest\\]\n|\\[flake8\\]\n|\\[\\[test\\]\\]\n|b = 1\n|name = \"y\"\n|\\{\"jest\":|\\{\\}|\\}|[ -~]{0,4}){0,8}",
        ) {
            for kind in [Mixed::PackageJson, Mixed::Pyproject, Mixed::CargoToml, Mixed::SetupCfg, Mixed::RustSource] {
                prop_assert_eq!(merged(kind, &rest, &rest, E), Some(rest.clone()));
                if let Some(once) = merged(kind, &rest, &protected, E)
                    && kind != Mixed::RustSource
                {
                    let twice = merged(kind, &once, &protected, E);
                    prop_assert_eq!(twice.as_deref(), Some(once.as_str()));
                }
            }
        }
    }
}
