//! Which files belong to the tests and to what runs them.

use super::*;

const FILE: u32 = 0o100644;

fn rules(protect: &[&str], commands: &[&str], files: &[&str]) -> ProtectedFiles {
    let own = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let contents = |_: Side, path: &str| match path {
        "Makefile" => Some(b"test:\n\tpython3 tools/all.py calc.py\n".to_vec()),
        _ => None,
    };
    ProtectedFiles::new(&own(protect), &own(commands), &own(files), &[], &contents).expect("good globs")
}

fn class(path: &str) -> Class {
    rules(&[], &[], &[]).classify(path, FILE, &|_, _| None)
}

#[test]
fn knows_tests_by_folder_and_name() {
    let tests = [
        "tests/test_calc.py",
        "pkg/a/Tests/helper.py",
        "src/__tests__/a.js",
        "a/testdata/x.bin",
        "test_calc.py",
        "calc_test.go",
        "src/a.test.ts",
        "src/a.spec.tsx",
        "src/main/CartTest.java",
        "CartIT.java",
        "ui/__snapshots__/a.js.snap",
        "tests.py",
        "x.bats",
        "Shop.Tests/Cart.cs",
        "src/test/java/Helper.java",
        "tests/data.json",
    ];
    for path in tests {
        assert_eq!(class(path), Class::Test, "{path}");
    }
    for path in ["latest.py", "src/Latest.java", "contest.js", "src/testing.rs.txt", "attest_x.py", "test.md"]
    {
        assert_eq!(class(path), Class::Ordinary, "{path}");
    }
}

#[test]
fn knows_control_files() {
    let control = [
        "Makefile",
        "a/GNUmakefile",
        "rules.mk",
        "tests/conftest.py",
        "conftest.py",
        "pytest.ini",
        "packages/a/jest.config.ts",
        ".mocharc.yml",
        ".npmrc",
        ".cargo/config.toml",
        "rust-toolchain.toml",
        ".github/workflows/ci.yml",
        ".loop/workflow.toml",
        "pytest.toml",
        ".pytest.toml",
        "shop.egg-info/entry_points.txt",
        "lib/shop-1.0.dist-info/entry_points.txt",
        ".proverc",
        "build/CTestTestfile.cmake",
        ".config/nextest.toml",
        "bunfig.toml",
        "Directory.Build.props",
        ".mvn/maven.config",
    ];
    for path in control {
        assert_eq!(class(path), Class::Control, "{path}");
    }
}

#[test]
fn knows_mixed_files_in_every_folder() {
    assert_eq!(class("packages/a/package.json"), Class::Mixed(Mixed::PackageJson));
    assert_eq!(class("pyproject.toml"), Class::Mixed(Mixed::Pyproject));
    assert_eq!(class("crates/a/Cargo.toml"), Class::Mixed(Mixed::CargoToml));
    assert_eq!(class("src/lib.rs"), Class::Mixed(Mixed::RustSource));
    assert_eq!(class("tests/a.rs"), Class::Test);
}

#[test]
fn protects_scripts_that_checks_name_and_not_the_source() {
    let files = ["check.sh", "scripts/all.py", "tools/all.py", "calc.py", "Makefile", "app/run.py"];
    let rules = rules(&["*.golden"], &["./check.sh && python3 scripts/all.py calc.py"], &files);
    let class = |path| rules.classify(path, FILE, &|_, _| None);
    assert_eq!(class("check.sh"), Class::Control);
    assert_eq!(class("scripts/all.py"), Class::Control);
    assert_eq!(class("tools/all.py"), Class::Control);
    assert_eq!(class("calc.py"), Class::Ordinary);
    assert_eq!(class("app/run.py"), Class::Ordinary);
    assert_eq!(class("deep/er/x.golden"), Class::Test);
}

#[test]
fn a_link_in_the_place_of_a_test_folder_is_a_test() {
    let rules = rules(&[], &[], &[]);
    assert_eq!(rules.classify("pkg/tests", 0o120000, &|_, _| None), Class::Test);
    assert_eq!(rules.classify("pkg/tests", FILE, &|_, _| None), Class::Ordinary);
}

#[test]
fn follows_test_modules_out_of_line() {
    let contents = |_: Side, path: &str| {
        let text = match path {
            "src/lib.rs" => {
                "mod shop;\n#[cfg(test)]\nmod checks;\n#[cfg(test)]\n#[path = \"odd.rs\"]\nmod strange;\n"
            }
            "src/checks.rs" => "mod inner;\n",
            "src/shop.rs" => "#[cfg(all(test, unix))] mod basket;\nmod till;\n",
            _ => return None,
        };
        Some(text.as_bytes().to_vec())
    };
    let rules = rules(&[], &[], &[]);
    for path in ["src/checks.rs", "src/checks/inner.rs", "src/odd.rs", "src/shop/basket.rs"] {
        assert_eq!(rules.classify(path, FILE, &contents), Class::Test, "{path}");
    }
    for path in ["src/shop.rs", "src/shop/till.rs", "src/lib.rs"] {
        assert_eq!(rules.classify(path, FILE, &contents), Class::Mixed(Mixed::RustSource), "{path}");
    }
}

#[test]
fn packages_that_the_run_put_beside_a_go_module_stand_in_the_place_of_others() {
    let rules = rules(&[], &[], &[]);
    let added = |side: Side, path: &str| (side == Side::Final && path == "vendor/modules.txt").then(Vec::new);
    let kept = |_: Side, path: &str| (path == "vendor/modules.txt").then(Vec::new);
    let package = "vendor/example.org/same/same.go";
    assert_eq!(rules.classify(package, FILE, &added), Class::Control);
    assert_eq!(rules.classify("api/vendor/same.go", FILE, &added), Class::Ordinary);
    assert_eq!(rules.classify(package, FILE, &kept), Class::Ordinary);
}

#[test]
fn what_hides_a_helper_of_the_tests_stands_in_its_place() {
    let files = ["asserts.py", "plain.py", "shop.py", "tests/test_shop.py", "test_top.py"].map(str::to_owned);
    let contents = |side: Side, path: &str| match (side, path) {
        (Side::Base, "asserts.py") => Some(b"def same(a, b):\n    assert a == b\n".to_vec()),
        (Side::Base, "shop.py" | "test_top.py") | (_, "plain.py") => Some(b"x = 1\n".to_vec()),
        (Side::Base, "tests/test_shop.py") => Some(b"from asserts import same\nimport shop\n".to_vec()),
        _ => None,
    };
    let hidden = ["asserts.py", "shop.py"].map(str::to_owned);
    let rules = ProtectedFiles::new(&[], &[], &files, &hidden, &contents).expect("no globs");
    let class = |path| rules.classify(path, FILE, &contents);
    assert_eq!(class("asserts/__init__.py"), Class::Test);
    assert_eq!(class("test_top/__init__.py"), Class::Test);
    assert_eq!(class("plain/__init__.py"), Class::Test, "the module is there still");
    assert_eq!(class("shop/__init__.py"), Class::Ordinary, "the module became a package");
}
