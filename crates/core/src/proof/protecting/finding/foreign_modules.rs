//! Python modules that the baseline's tests import and its tree does not have: they come from the
//! interpreter or from a package. A file of such a name that the run adds where Python looks first is
//! imported in the place of the real one, so the overlay takes it away like an added test. A module that
//! Python did not find at the baseline either was tested before it was written: it is the work itself.

use crate::proof::trees::{Contents, Side};
use std::collections::BTreeSet;

/// Test files that are read for imports; a larger project has more tests and no more imports.
const FILES_LIMIT: usize = 300;

/// What unittest and pytest import themselves. Python looks for them in the folder that it was started
/// in first, so a file of such a name takes part in every test run.
const OF_RUNNERS: &[&str] = &[
    "abc",
    "argparse",
    "ast",
    "asyncio",
    "atexit",
    "attr",
    "bdb",
    "code",
    "codecs",
    "collections",
    "colorama",
    "concurrent",
    "contextlib",
    "contextvars",
    "copy",
    "coverage",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "doctest",
    "enum",
    "errno",
    "exceptiongroup",
    "faulthandler",
    "fnmatch",
    "functools",
    "gc",
    "getpass",
    "glob",
    "heapq",
    "importlib",
    "iniconfig",
    "inspect",
    "io",
    "itertools",
    "json",
    "linecache",
    "locale",
    "logging",
    "math",
    "numbers",
    "operator",
    "os",
    "packaging",
    "pathlib",
    "pdb",
    "pkgutil",
    "platform",
    "pluggy",
    "pprint",
    "py",
    "pygments",
    "pytest",
    "queue",
    "random",
    "re",
    "reprlib",
    "runpy",
    "selectors",
    "shlex",
    "shutil",
    "signal",
    "site",
    "socket",
    "stat",
    "string",
    "struct",
    "subprocess",
    "sysconfig",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "token",
    "tokenize",
    "tomli",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unittest",
    "uuid",
    "warnings",
    "weakref",
    "xdist",
    "xml",
    "zipfile",
    "zipimport",
    "zlib",
    "_pytest",
    "_colorize",
];

/// Top-level names, and the folders that Python may look for them in.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForeignModules {
    names: BTreeSet<String>,
    roots: BTreeSet<String>,
}

impl ForeignModules {
    /// Reads the imports of the baseline's Python tests, `tests` of all its `files`.
    pub(crate) fn read(files: &[String], tests: &[&String], contents: &Contents<'_>) -> ForeignModules {
        let mut found = ForeignModules::default();
        let python = |it: &&&String| it.ends_with(".py");
        for path in tests.iter().filter(python).take(FILES_LIMIT) {
            let text = contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok());
            found.names.extend(text.iter().flat_map(|it| imports(it)));
            let mut folder = path.as_str();
            while let Some((above, _)) = folder.rsplit_once('/') {
                folder = above;
                found.roots.insert(folder.to_owned());
            }
        }
        let with_source = |it: &String| ["src", "lib"].map(|name| format!("{it}/{name}"));
        let more: Vec<String> = found.roots.iter().flat_map(with_source).collect();
        found.roots.extend(more);
        found.roots.extend(["", "src", "lib"].map(str::to_owned));
        if !found.names.is_empty() {
            found.names.extend(OF_RUNNERS.iter().map(|it| (*it).to_owned()));
        }
        let own: BTreeSet<&str> = files
            .iter()
            .flat_map(|it| it.split('/'))
            .map(|it| it.strip_suffix(".py").unwrap_or(it))
            .collect();
        found.names.retain(|it| !own.contains(it.as_str()));
        found
    }

    /// Forgets the modules that were missing when the checks ran on the baseline, by what they printed.
    pub(crate) fn forget_missing(&mut self, printed: &str) {
        self.names.retain(|it| {
            let quoted = printed.contains(&format!("No module named '{it}'"));
            !quoted && !printed.contains(&format!("No module named '{it}."))
        });
    }

    /// Tells whether a path of the final tree stands in the place of such a module.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        if !path.ends_with(".py") {
            return false;
        }
        let mut ends = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
        ends.any(|at| {
            let folder = path[..at].trim_end_matches('/');
            let first = path[at..].split('/').next().unwrap_or_default();
            let name = first.strip_suffix(".py").unwrap_or(first);
            self.names.contains(name) && self.roots.contains(folder)
        })
    }
}

/// The top-level names of `import a.b, c` and `from a.b import x`.
fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim_start) {
        let names = match (line.strip_prefix("import "), line.strip_prefix("from ")) {
            (Some(names), _) => names,
            (None, Some(rest)) => rest.split(" import").next().unwrap_or_default(),
            (None, None) => continue,
        };
        for name in names.split(',') {
            let name = name.trim().split([' ', '.']).next().unwrap_or_default();
            if !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_') {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_comes_from_elsewhere() {
        let files: Vec<String> = ["api/test_prices.py", "api/shop/prices.py"].map(str::to_owned).into();
        let text =
            "import unittest, os.path as p\nfrom assertpy import assert_that\nfrom shop.prices import x\n";
        let contents = |_: Side, path: &str| (path == "api/test_prices.py").then(|| text.as_bytes().to_vec());
        let found = ForeignModules::read(&files, &[&files[0]], &contents);
        for path in [
            "assertpy.py",
            "api/assertpy/__init__.py",
            "src/os.py",
            "api/src/unittest/mock.py",
            "signal.py",
            "pluggy/__init__.py",
        ] {
            assert!(found.is_at(path), "{path}");
        }
        for path in ["shop/prices.py", "api/shop/os.py", "assertpy.md", "lib/shop/assertpy.py"] {
            assert!(!found.is_at(path), "{path}");
        }
        let mut found = found;
        found.forget_missing("ModuleNotFoundError: No module named 'assertpy'");
        assert!(!found.is_at("assertpy.py") && found.is_at("src/os.py"));
    }
}
