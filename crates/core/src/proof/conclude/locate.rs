//! Finds the file of a test: by the path in its name, where the runner gives one, else among the
//! protected files that changed, by the test's own name in their text. A finding without a file is
//! hard to decide, and a wrong file is worse, so a name that fits nowhere has none.

/// A protected file that differs between baseline and final tree, with its text where it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectedChange {
    pub path: String,
    pub base: Option<String>,
    pub finally: Option<String>,
    /// The final tree does not have it.
    pub is_deleted: bool,
    /// It decides what runs and how.
    pub is_control: bool,
}

/// Returns the file of a test.
pub(crate) fn file_of(test: &str, changed: &[ProtectedChange]) -> Option<String> {
    let path = path_in(test);
    let last = own_name(test);
    let named = |text: &Option<String>| text.as_deref().is_some_and(|it| contains_word(it, last));
    // The file of a Rust unit test is the root of its crate, where only some of them stand.
    let stands_in = |it: &ProtectedChange| !is_crate_root(&it.path) || named(&it.base) || named(&it.finally);
    if let Some(path) = path
        && changed.iter().any(|it| it.path == path && stands_in(it))
    {
        return Some(path.to_owned());
    }
    if let Some(found) = changed.iter().find(|it| is_module_of(&it.path, test)) {
        return Some(found.path.clone());
    }
    let found =
        changed.iter().find(|it| named(&it.base)).or_else(|| changed.iter().find(|it| named(&it.finally)));
    found.map(|it| it.path.clone()).or_else(|| path.filter(|it| !is_crate_root(it)).map(str::to_owned))
}

fn is_crate_root(path: &str) -> bool {
    path.starts_with("src/")
}

/// Tells whether a test stands in the final text of a changed file and in no text of the baseline.
pub(crate) fn is_added(test: &str, changed: &[ProtectedChange]) -> bool {
    let last = own_name(test);
    let named = |text: &Option<String>| text.as_deref().is_some_and(|it| contains_word(it, last));
    changed.iter().any(|it| named(&it.finally)) && !changed.iter().any(|it| named(&it.base))
}

/// Reads the path at the start of `tests/a.py::test`, `tests/a.rs a::test`, `a.test.js > title`.
fn path_in(test: &str) -> Option<&str> {
    let end = ["::", " > ", " "].iter().filter_map(|it| test.find(it)).min()?;
    let path = &test[..end];
    let (_, extension) = path.rsplit_once('.')?;
    let known =
        ["py", "rs", "js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx", "go", "rb", "java", "bats"];
    known.contains(&extension).then_some(path)
}

/// `tests.test_calc.TestCalc.test_add` is in `tests/test_calc.py`, also where the runner started in
/// a folder above.
fn is_module_of(path: &str, test: &str) -> bool {
    let Some(stem) = path.strip_suffix(".py") else { return false };
    let module = stem.replace('/', ".");
    let starts = |module: &str| test.strip_prefix(module).is_some_and(|it| it.starts_with('.'));
    starts(&module) || module.match_indices('.').any(|(at, _)| starts(&module[at + 1..]))
}

/// Returns the last part of a name, without parameters: `test_param[1]`, `pkg.TestSub/one`.
fn own_name(test: &str) -> &str {
    let test = test.split(['[', '(']).next().unwrap_or(test).trim();
    let last = test.rsplit(" > ").next().unwrap_or(test);
    if last.len() < test.len() {
        return last;
    }
    let last = last.rsplit("::").next().unwrap_or(last);
    let tail = last.rsplit('.').next().unwrap_or(last);
    tail.split('/').next().unwrap_or(tail)
}

fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back().is_some_and(is_part);
            let after = text[at + word.len()..].chars().next().is_some_and(is_part);
            !before && !after
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_file_of_each_runner() {
        let change = |path: &str, base: &str| ProtectedChange {
            path: path.to_owned(),
            base: Some(base.to_owned()),
            finally: None,
            is_control: false,
            is_deleted: false,
        };
        let changed = [
            change("tests/test_calc.py", "class TestCalc"),
            change("calc_test.go", "func TestSub(t *testing.T)"),
            change("test/a.test.js", "test('adds up', "),
            change("src/lib.rs", "pub mod shop;"),
            change("src/shop/basket.rs", "fn totals() {"),
        ];
        let cases = [
            ("tests/test_calc.py::TestCalc::test_add", Some("tests/test_calc.py")),
            ("tests.test_calc.TestCalc.test_add", Some("tests/test_calc.py")),
            ("test_calc.TestCalc.test_add", Some("tests/test_calc.py")),
            ("example.com/calc.TestSub/one", Some("calc_test.go")),
            ("math > adds up", Some("test/a.test.js")),
            ("src/lib.rs shop::basket::tests::totals", Some("src/shop/basket.rs")),
            ("src/lib.rs shop::till::tests::total", None),
            ("tests/other.rs other::works", Some("tests/other.rs")),
            ("nothing known", None),
        ];
        for (test, file) in cases {
            assert_eq!(file_of(test, &changed).as_deref(), file, "{test}");
        }
    }
}
