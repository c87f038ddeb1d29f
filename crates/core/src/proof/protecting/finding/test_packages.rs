//! Packages of the tree that only tests use: a crate that Cargo.toml names under `dev-dependencies`
//! alone, or a package that package.json names under `devDependencies` alone, by a path. What such a
//! package says is part of what the tests say, so it is protected like them.

use crate::proof::trees::{Contents, Side};
use std::collections::BTreeSet;

/// Manifests that are read; a monorepo has one in every package.
const MANIFESTS_LIMIT: usize = 200;

/// The folders of the packages that only tests use, each with a slash at its end.
pub(crate) fn folders(files: &[String], contents: &Contents<'_>) -> Vec<String> {
    let (mut tests, mut product) = (BTreeSet::new(), BTreeSet::new());
    let is_manifest = |it: &&String| matches!(it.rsplit('/').next(), Some("Cargo.toml" | "package.json"));
    for path in files.iter().filter(is_manifest).take(MANIFESTS_LIMIT) {
        let Some(text) = contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok()) else {
            continue;
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (for_tests, for_product) = match path.ends_with("Cargo.toml") {
            true => cargo_paths(&text),
            false => package_paths(&text),
        };
        tests.extend(for_tests.iter().filter_map(|it| joined(folder, it)));
        product.extend(for_product.iter().filter_map(|it| joined(folder, it)));
    }
    tests.difference(&product).map(|it| format!("{it}/")).collect()
}

/// Paths of dependencies for tests, and of the others.
fn cargo_paths(text: &str) -> (Vec<String>, Vec<String>) {
    let Ok(manifest) = text.parse::<toml::Table>() else { return Default::default() };
    let path =
        |(_, it): (&String, &toml::Value)| it.get("path").and_then(|it| it.as_str()).map(str::to_owned);
    let of = |names: &[&str]| -> Vec<String> {
        let tables = names.iter().filter_map(|it| manifest.get(*it)?.as_table());
        tables.flat_map(|it| it.iter().filter_map(path)).collect()
    };
    (
        of(&["dev-dependencies", "dev_dependencies"]),
        // What a workspace names may be used by any of its members.
        of(&["dependencies", "build-dependencies"])
            .into_iter()
            .chain(
                manifest
                    .get("workspace")
                    .and_then(|it| it.get("dependencies")?.as_table())
                    .into_iter()
                    .flat_map(|it| it.iter().filter_map(path)),
            )
            .collect(),
    )
}

fn package_paths(text: &str) -> (Vec<String>, Vec<String>) {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else { return Default::default() };
    let of = |name: &str| -> Vec<String> {
        let table = manifest[name].as_object().into_iter().flatten();
        let path = |it: &serde_json::Value| {
            let text = it.as_str()?;
            text.strip_prefix("file:").or_else(|| text.strip_prefix("link:")).map(str::to_owned)
        };
        table.filter_map(|(_, it)| path(it)).collect()
    };
    (of("devDependencies"), of("dependencies"))
}

/// A path below the top of the tree, without `.` and `..`; nothing for one that leads out of it.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    (!parts.is_empty() && !path.starts_with('/')).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_those_that_no_product_uses() {
        let files: Vec<String> = ["Cargo.toml", "a/Cargo.toml", "web/package.json"].map(str::to_owned).into();
        let contents = |_: Side, path: &str| {
            let text = match path {
                "Cargo.toml" => {
                    "[dependencies]\nb = { path = \"b\" }\n[dev-dependencies]\nb = { path = \"b\" }\nc = { path = \"c\" }\n"
                }
                "a/Cargo.toml" => {
                    "[dev-dependencies]\nd = { path = \"../tools/d/\" }\nout = { path = \"../../x\" }\n"
                }
                "web/package.json" => "{\"devDependencies\":{\"e\":\"file:./e\",\"f\":\"^1\"}}",
                _ => return None,
            };
            Some(text.as_bytes().to_vec())
        };
        assert_eq!(folders(&files, &contents), ["c/", "tools/d/", "web/e/"]);
    }
}
