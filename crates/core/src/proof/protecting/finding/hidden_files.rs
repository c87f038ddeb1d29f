//! Files that an added file hides: Python imports the package `asserts/` and not `asserts.py` beside it, and
//! Node reads `lib/asserts` and not `lib/asserts.js`. What hides a helper of the tests stands in its place.

const JAVA_SCRIPT: [&str; 9] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json"];

/// What a folder is imported by.
const ENTRIES: [&str; 2] = ["index", "package"];

/// Returns the paths that a loader would have read if this one were not there; most of them never were.
pub fn hidden_by(path: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    if name == "__init__.py" || extension == "so" || extension.ends_with(".so") {
        let module = if stem == "__init__" { folder.to_owned() } else { joined(folder, stem) };
        return if module.is_empty() { Vec::new() } else { vec![format!("{module}.py")] };
    }
    let is_script = JAVA_SCRIPT.contains(&extension);
    if name.starts_with('.') || !is_script && !extension.is_empty() {
        return Vec::new();
    }
    let own = joined(folder, stem);
    let mut hidden: Vec<String> = script_paths(&own).collect();
    if is_script && ENTRIES.contains(&stem) && !folder.is_empty() {
        hidden.extend(script_paths(folder));
    }
    hidden.retain(|it| it != path);
    hidden
}

/// A module of JavaScript in every language, and as a folder.
fn script_paths(module: &str) -> impl Iterator<Item = String> {
    let files = JAVA_SCRIPT.iter().map(move |it| format!("{module}.{it}"));
    let entries = JAVA_SCRIPT.iter().map(move |it| format!("{module}/index.{it}"));
    files.chain(entries).collect::<Vec<String>>().into_iter()
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_loaders_prefer() {
        let hides = |path: &str, other: &str| hidden_by(path).iter().any(|it| it == other);
        for (path, other) in [
            ("asserts/__init__.py", "asserts.py"),
            ("lib/asserts/__init__.py", "lib/asserts.py"),
            ("asserts.cpython-312-x86_64-linux-gnu.so", "asserts.py"),
            ("lib/asserts", "lib/asserts.js"),
            ("lib/asserts.js", "lib/asserts.json"),
            ("lib/asserts.mjs", "lib/asserts/index.ts"),
            ("lib/asserts/index.js", "lib/asserts.js"),
            ("lib/asserts/package.json", "lib/asserts.js"),
        ] {
            assert!(hides(path, other), "{path} hides {other}");
        }
        for (path, other) in [
            ("__init__.py", ".py"),
            ("asserts/same.py", "asserts.py"),
            ("lib/asserts.d.ts", "lib/asserts.ts"),
            ("lib/asserts.js", "lib/asserts.js"),
            (".babelrc", ".babelrc.js"),
            ("index.js", "asserts.js"),
        ] {
            assert!(!hides(path, other), "{path} does not hide {other}");
        }
    }
}
