//! Programs that a `CMakeLists.txt` declares as tests, with their sources: `add_executable(t verify.c)` and
//! `add_test(NAME all COMMAND t)`.

use std::collections::BTreeSet;

/// Calls whose words are names of test programs.
const DECLARE_TESTS: [&str; 3] = ["add_test", "gtest_discover_tests", "catch_discover_tests"];

/// The sources of test programs, as paths below the top of the tree; `path` is where this file lies.
pub(crate) fn sources(path: &str, text: &str) -> BTreeSet<String> {
    let folder = path.rsplit_once('/').map_or("", |it| it.0);
    let lines: Vec<&str> = text.lines().map(|it| it.split('#').next().unwrap_or_default()).collect();
    let text = lines.join("\n");
    let tests: BTreeSet<&str> = DECLARE_TESTS.iter().flat_map(|it| calls(&text, it)).flatten().collect();
    let is_test = |words: &Vec<&str>| words.first().is_some_and(|it| tests.contains(it));
    let programs = calls(&text, "add_executable").into_iter().filter(is_test);
    let below = |it: &str| if folder.is_empty() { it.to_owned() } else { format!("{folder}/{it}") };
    programs.flatten().map(|it| below(it.trim_start_matches("./"))).collect()
}

/// The words of each call of a function.
fn calls<'a>(text: &'a str, function: &str) -> Vec<Vec<&'a str>> {
    let begins = text.match_indices(function).map(|(at, it)| text[at + it.len()..].trim_start());
    let inside = begins.filter_map(|it| it.strip_prefix('(')?.split(')').next());
    inside
        .map(|it| it.split(|it: char| it.is_whitespace() || it == '"').filter(|it| !it.is_empty()).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sources_of_tests_are_named() {
        let text = "add_executable(shop main.c price.c)\nadd_executable (quick\n  verify.c # all\n  price.c)\nadd_test(NAME all COMMAND quick)\n";
        assert_eq!(
            sources("sub/CMakeLists.txt", text),
            ["sub/price.c", "sub/quick", "sub/verify.c"].map(String::from).into()
        );
        assert_eq!(sources("CMakeLists.txt", "add_executable(shop main.c)\n"), BTreeSet::new());
    }
}
