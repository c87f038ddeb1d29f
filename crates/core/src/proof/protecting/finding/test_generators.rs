//! Build scripts of Rust that write nothing but tests: where only tests take something from `OUT_DIR`, what
//! `build.rs` puts there is a part of what they say, and so is the data that it reads.

use crate::proof::protecting::mixed::rust_tests;
use crate::proof::protecting::names::is_test_path;
use crate::proof::trees::{Contents, Side};

/// The folder that Cargo gives to a build script, by which its output is included.
const OUTPUT: &str = "OUT_DIR";

/// Sources of one package that are read; more of them are a larger project than one that generates its tests.
const FILES_LIMIT: usize = 300;

/// Returns the build scripts of the baseline whose output only tests use.
pub(crate) fn of_tests(base_files: &[String], contents: &Contents<'_>) -> Vec<String> {
    let text = |path: &str| contents(Side::Base, path).and_then(|it| String::from_utf8(it).ok());
    let scripts = base_files.iter().filter(|it| *it == "build.rs" || it.ends_with("/build.rs"));
    let writes_tests_only = |script: &&String| {
        let folder = script.strip_suffix("build.rs").unwrap_or_default();
        let sources = base_files.iter().filter(|it| it.starts_with(folder) && it.ends_with(".rs"));
        let users = sources.filter(|it| it != script).take(FILES_LIMIT).filter_map(|it| {
            let text = text(it).filter(|it| it.contains(OUTPUT))?;
            let all = text.matches(OUTPUT).count();
            let tests: String = rust_tests::test_texts(&text).unwrap_or_default().concat();
            Some(is_test_path(it) || tests.matches(OUTPUT).count() == all)
        });
        let users: Vec<bool> = users.collect();
        !users.is_empty() && users.into_iter().all(|it| it)
    };
    scripts.filter(writes_tests_only).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_script_is_the_tests_where_only_they_include_its_output() {
        let include = "include!(concat!(env!(\"OUT_DIR\"), \"/x.rs\"));\n";
        let in_tests = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n    {include}}}\n");
        let files = [
            ("a/build.rs", "OUT_DIR"),
            ("a/src/lib.rs", in_tests.as_str()),
            ("b/build.rs", "OUT_DIR"),
            ("b/src/lib.rs", include),
            ("b/tests/all.rs", include),
            ("c/build.rs", "OUT_DIR"),
            ("c/tests/all.rs", include),
            ("d/build.rs", "rerun-if-changed"),
            ("d/src/lib.rs", "fn d() {}\n"),
        ];
        let names = files.map(|(it, _)| it.to_owned());
        let contents = |_: Side, path: &str| {
            files.iter().find(|(it, _)| *it == path).map(|(_, it)| it.as_bytes().to_vec())
        };
        assert_eq!(of_tests(&names, &contents), ["a/build.rs", "c/build.rs"]);
    }
}
