//! Build scripts that say what is built and what is tested in one language: CMakeLists.txt, meson.build,
//! build.gradle, pom.xml. What the run adds to a build stays. Where it changes how tests run, or takes a
//! test away, the overlay uses the baseline's script as a whole: what then does not build is a question.

use crate::proof::protecting::class::Mixed;

/// Returns the script that the overlay uses.
pub(crate) fn merged(kind: Mixed, rest: &str, base: &str) -> String {
    let [now, then] = [rest, base].map(|it| test_settings(kind, it));
    // A test of its own is nothing that the baseline's tests could suffer from.
    let is_more = |it: &String| then.contains(it) || declares_test(kind, it);
    let is_kept = then.iter().all(|it| now.contains(it)) && now.iter().all(is_more);
    if is_kept { rest.to_owned() } else { base.to_owned() }
}

/// Statements that decide which tests run and how, without spaces.
fn test_settings(kind: Mixed, text: &str) -> Vec<String> {
    let found = match kind {
        Mixed::CMake => calls(text, &CMAKE),
        Mixed::Meson => calls(text, &MESON),
        Mixed::Gradle => [blocks(text), lines_with(text, &GRADLE)].concat(),
        Mixed::Pom => [plugins(text), lines_with(text, &POM)].concat(),
        Mixed::PackageJson
        | Mixed::Pyproject
        | Mixed::CargoToml
        | Mixed::SetupCfg
        | Mixed::RustSource
        | Mixed::CargoLock
        | Mixed::NodeLock
        | Mixed::GoMod
        | Mixed::GoSum
        | Mixed::Requirements
        | Mixed::TsConfig => Vec::new(),
    };
    found.into_iter().map(|it| it.split_whitespace().collect()).collect()
}

fn declares_test(kind: Mixed, statement: &str) -> bool {
    let starts = |words: &[&str]| words.iter().any(|it| statement.to_lowercase().starts_with(it));
    match kind {
        Mixed::CMake => {
            let builds = starts(&["include(", "add_custom_", "set_property("]);
            starts(&["add_test(", "gtest_discover_tests(", "catch_discover_tests("])
                || builds && !statement.to_lowercase().contains("test")
        }
        Mixed::Meson => starts(&["test(", "benchmark("]),
        Mixed::Gradle
        | Mixed::Pom
        | Mixed::PackageJson
        | Mixed::Pyproject
        | Mixed::CargoToml
        | Mixed::SetupCfg
        | Mixed::RustSource
        | Mixed::CargoLock
        | Mixed::NodeLock
        | Mixed::GoMod
        | Mixed::GoSum
        | Mixed::Requirements
        | Mixed::TsConfig => false,
    }
}

const CMAKE: [&str; 12] = [
    "add_test",
    "enable_testing",
    "set_tests_properties",
    "set_property",
    "gtest_discover_tests",
    "gtest_add_tests",
    "catch_discover_tests",
    "doctest_discover_tests",
    "add_custom_target",
    "add_custom_command",
    "include",
    "cmake_language",
];

const MESON: [&str; 5] = ["test", "benchmark", "add_test_setup", "run_target", "add_project_arguments"];

const GRADLE: [&str; 7] = [
    "ignoreFailures",
    "onlyIf",
    "enabled",
    "excludeTestsMatching",
    "includeTestsMatching",
    "--tests",
    "gradle.taskGraph",
];

const POM: [&str; 6] =
    ["skipTests", "maven.test", "skipITs", "testFailureIgnore", "<testSourceDirectory", "<argLine"];

/// Calls of these functions, from the name to its closing bracket.
fn calls(text: &str, names: &[&str]) -> Vec<String> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '.';
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    for name in names {
        for (at, _) in lower.match_indices(name) {
            let is_start = !lower[..at].chars().next_back().is_some_and(is_part);
            let rest = &text[at..];
            let opens = lower[at + name.len()..].trim_start().starts_with('(');
            let in_comment = lower[..at].rsplit('\n').next().is_some_and(|it| it.contains('#'));
            if is_start && opens && !in_comment {
                found.extend(balanced(rest, '(', ')').map(str::to_owned));
            }
        }
    }
    found
}

/// `test { … }`, `tasks.test { … }`, `tasks.withType<Test> { … }`, `tasks.named("test") { … }`.
fn blocks(text: &str) -> Vec<String> {
    let heads = [
        "test {",
        "test{",
        "tasks.test",
        "withType<Test>",
        "withType(Test)",
        "named(\"test\"",
        "named('test'",
    ];
    let mut found = Vec::new();
    for head in heads {
        found.extend(
            text.match_indices(head).filter_map(|(at, _)| balanced(&text[at..], '{', '}')).map(str::to_owned),
        );
    }
    found
}

/// The plugins that run tests.
fn plugins(text: &str) -> Vec<String> {
    let parts = text.split("<plugin>").skip(1).map(|it| it.split("</plugin>").next().unwrap_or(it));
    parts.filter(|it| it.contains("surefire") || it.contains("failsafe")).map(str::to_owned).collect()
}

fn lines_with(text: &str, words: &[&str]) -> Vec<String> {
    text.lines().filter(|line| words.iter().any(|it| line.contains(it))).map(str::to_owned).collect()
}

/// The text up to the bracket that closes the first one.
fn balanced(text: &str, open: char, close: char) -> Option<&str> {
    let mut depth = 0;
    let end = text.char_indices().find_map(|(at, it)| {
        depth += i32::from(it == open) - i32::from(it == close);
        (it == close && depth <= 0).then_some(at + it.len_utf8())
    })?;
    Some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_may_grow_and_its_tests_may_not_change() {
        let base = "add_library(shop a.c)\nenable_testing()\nadd_test(NAME total COMMAND total)\n";
        let grown = "add_library(shop a.c b.c)\nenable_testing()\nadd_test(NAME total COMMAND total)\nadd_test(NAME tax COMMAND tax)\n";
        assert_eq!(merged(Mixed::CMake, grown, base), grown);
        for bent in [
            "add_library(shop a.c)\nenable_testing()\nadd_test(NAME total COMMAND true)\n",
            "add_library(shop a.c)\nenable_testing()\n",
            "add_library(shop a.c)\nenable_testing()\nadd_test(NAME total COMMAND total)\nset_tests_properties(total PROPERTIES WILL_FAIL TRUE)\n",
        ] {
            assert_eq!(merged(Mixed::CMake, bent, base), base, "{bent}");
        }
    }

    #[test]
    fn knows_how_gradle_maven_and_meson_run_tests() {
        let gradle = "dependencies { implementation 'a:b:1' }\ntest { useJUnitPlatform() }\n";
        let grown = gradle.replace("'a:b:1'", "'a:b:2'");
        assert_eq!(merged(Mixed::Gradle, &grown, gradle), grown);
        let bent = gradle.replace("useJUnitPlatform()", "useJUnitPlatform { excludeTags 'slow' }");
        assert_eq!(merged(Mixed::Gradle, &bent, gradle), gradle);
        let pom = "<properties></properties><plugin>surefire</plugin>";
        let bent = "<properties>\n<skipTests>true</skipTests>\n</properties><plugin>surefire</plugin>";
        assert_eq!(merged(Mixed::Pom, bent, pom), pom);
        let meson = "test('total', exe)\n";
        let bent = "test('total', exe, should_fail: true)\n";
        assert_eq!(merged(Mixed::Meson, bent, meson), meson);
        let grown = "test('total', exe)\ntest('tax', tax)\n";
        assert_eq!(merged(Mixed::Meson, grown, meson), grown);
    }
}
