//! Who uses a file decides whose it is.

use super::*;

fn found(files: &[(&str, &str)], commands: &[&str]) -> Vec<String> {
    let paths: Vec<String> = files.iter().map(|(it, _)| (*it).to_owned()).collect();
    let commands: Vec<String> = commands.iter().map(|it| (*it).to_owned()).collect();
    let contents =
        |_: Side, path: &str| files.iter().find(|(it, _)| *it == path).map(|(_, it)| it.as_bytes().to_vec());
    let is_test = |it: &str| it.starts_with("tests/");
    let is_script = |it: &str| it == "check.sh" || it == "Makefile";
    let usage = SearchedTree {
        changed: paths.iter().filter(|it| !is_test(it) && !is_script(it)).collect(),
        base_files: &paths,
        commands: &commands,
        is_test: &is_test,
        is_script: &is_script,
        is_protected: &|_| false,
    };
    find(&usage, &contents).into_iter().collect()
}

#[test]
fn data_that_only_tests_name_is_theirs() {
    let files = [
        (
            "tests/test_a.py",
            "json.load(open('data/expected.json')); read('data/rates.json'); open('golden')\n",
        ),
        ("shop/prices.py", "open('data/rates.json')\n"),
        (
            "tests/test_b.py",
            "read(os.path.join('wanted', name + '.md')); open('assets/tax.json'); open('assets/x.png')\n",
        ),
        ("shop/logo.py", "show('assets/logo.png')\n"),
        ("wanted/tax.md", ""),
        ("assets/tax.json", ""),
        ("data/expected.json", "[]"),
        ("data/rates.json", "[]"),
        ("golden", "x"),
        ("notes.txt", "x"),
        ("README.md", "expected.json"),
    ];
    assert_eq!(found(&files, &[]), ["data/expected.json", "golden", "wanted/tax.md"]);
}

#[test]
fn data_that_a_check_compares_with_is_its_own() {
    let files = [
        ("check.sh", "./prog < in.txt | diff - out.txt\nfor it in cases/*; do sh prog.sh \"$it\"; done\n"),
        ("Makefile", "words.h: words.txt\n\tcat words.txt > words.h\ntest:\n\tdiff out.txt got.txt\n"),
        ("in.txt", ""),
        ("out.txt", ""),
        ("words.txt", ""),
        ("cases/one", ""),
        ("prog.sh", "cat \"$1\"\n"),
    ];
    assert_eq!(found(&files, &["sh check.sh"]), ["cases/one", "in.txt", "out.txt"]);
}

#[test]
fn a_helper_of_tests_is_no_product_file() {
    let rows = "from qa.compare import close\nfrom shop.prices import total\nopen('rows.json')\n";
    let mut files = vec![
        ("tests/test_a.py", "from qa.rows import holds\nfrom limits.rules import fits\nimport shop.prices\n"),
        ("shop/prices.py", "\"\"\"Tested with data/rates.json.\"\"\"\n"),
        ("shop/valid.py", "def valid(it):\n    assert it\n"),
        ("qa/rows.py", rows),
        ("qa/compare.py", "def close(a, b):\n    return a == b\n"),
        ("qa/rows.json", "[]"),
        ("limits/rules.py", "def fits(it):\n    assert it\n"),
        ("tools/convert.py", "def convert(it):\n    assert it\n    return it\n"),
        (
            "tests/test_b.py",
            "from tools.convert import convert\nfrom shop import prices, valid\nopen('data/rates.json')\n",
        ),
        ("data/rates.json", "[]"),
    ];
    let of_tests = ["data/rates.json", "limits/rules.py", "qa/compare.py", "qa/rows.json", "qa/rows.py"];
    assert_eq!(found(&files, &[]), of_tests);
    files.push((
        "shop/basket.py",
        "from qa.compare import close\nfrom limits.rules import fits\nopen('rates.json')\n",
    ));
    assert_eq!(found(&files, &[]), ["qa/rows.json", "qa/rows.py"]);
    files.push(("shop/table.py", "from qa import rows\n"));
    assert_eq!(found(&files, &[]), [""; 0]);
    // A judge is used beside what it judges.
    let alone = [("tests/test_q.py", "from qa.score import score\n"), ("qa/score.py", "def score(): pass\n")];
    assert_eq!(found(&alone, &[]), [""; 0]);
}

#[test]
fn tests_among_the_code_of_rust_use_data_for_themselves() {
    let tests = "#[cfg(test)]\nmod tests {\n    const A: &str = include_str!(\"../data/cases.txt\");\n}\n";
    let own = format!("//! In data/cases.txt.\n{tests}");
    let both = format!("const B: &str = include_str!(\"../data/cases.txt\");\n{tests}");
    let files = |text| [("src/lib.rs", text), ("data/cases.txt", "1"), ("README.md", "```\n```\n")];
    assert_eq!(found(&files(own.as_str()), &[]), ["data/cases.txt"]);
    assert_eq!(found(&files(both.as_str()), &[]), [""; 0]);
    let documented = "#![doc = include_str!(\"../README.md\")]\n";
    assert_eq!(found(&files(documented), &[]), ["README.md"]);
    let packed = [("Cargo.toml", "[package]\nreadme = \"README.md\"\n")];
    assert_eq!(found(&[&files(documented)[..], &packed[..]].concat(), &[]), ["README.md"]);
}

#[test]
fn documents_whose_examples_are_run_are_tests() {
    let examples = "Usage:\n\n    >>> f()\n    0\n";
    let files = [
        ("docs/usage.md", examples),
        ("docs/prose.md", "words"),
        ("README.rst", examples),
        ("setup.py", "open('README.rst').read()\n"),
    ];
    assert_eq!(found(&files, &["python3 -m pytest --doctest-glob=*.md"]), ["docs/usage.md"]);
    assert_eq!(found(&files, &["python3 -m doctest README.rst"]), ["README.rst"]);
    assert_eq!(found(&files, &["python3 -m unittest"]), [""; 0]);
    let suite = [("tests/test_a.py", "doctest.DocFileSuite(\"../README.rst\")\n")];
    assert_eq!(found(&[&files[..], &suite[..]].concat(), &[]), ["README.rst"]);
}

#[test]
fn source_has_to_say_that_it_serves_tests() {
    let files = [
        (
            "tests/test_a.py",
            "from shop.prices import total\nfrom helpers.money import same\nfrom near import x\n",
        ),
        ("tests/test_b.py", "import shop.basket\nimport pricing.rules\nimport cases, table, shop.samples\n"),
        ("shop/prices.py", "def total(it):\n    assert it\n"),
        ("shop/samples.py", "SAMPLES = []\n"),
        ("shop/basket.py", "from shop import mocks, samples\n"),
        ("shop/mocks.py", ""),
        ("helpers/money.py", ""),
        ("near.py", "import unittest\n"),
        ("pricing/rules.py", "def check(it):\n    return it\n"),
        ("cases.py", "CASES = [(1, 2), (3, 4)]\n"),
        ("table.py", "def table():\n    return []\n"),
    ];
    assert_eq!(found(&files, &[]), ["cases.py", "helpers/money.py", "near.py"]);
    let files = [
        ("check.sh", "node run.js\nrequire('./cases/total')\n"),
        ("tests/a_test.go", "import \"example.com/shop/internal/same\"\n"),
        ("cases/total.js", ""),
        ("internal/same/same.go", "func Same(t testing.TB) {}\n"),
    ];
    assert_eq!(found(&files, &[]), ["cases/total.js", "internal/same/same.go"]);
}
