use super::{DetectedCheck, Root, detect, detect_with};
use loop_core::proof::CountFormat;

type Files = &'static [(&'static str, &'static str)];
type Checks = &'static [(&'static str, &'static str, Option<&'static str>, &'static str)];

/// What a project holds, and the checks that it gets: name, command, format of the counts, why.
const PROJECTS: &[(&str, Files, Checks)] = &[
    ("nothing", &[], &[]),
    ("documents", &[("README.md", "# a"), ("src/a.py", "x = 1")], &[]),
    (
        "rust",
        &[("Cargo.toml", "[package]\nname = \"a\"")],
        &[
            ("build", "cargo build", None, "Cargo.toml"),
            ("tests", "cargo test --no-fail-fast", Some("cargo"), "Cargo.toml"),
            ("lint", "cargo clippy --all-targets -- -D warnings", None, "Cargo.toml"),
        ],
    ),
    (
        "rust workspace",
        &[("Cargo.toml", "[workspace]\nmembers = []")],
        &[
            ("build", "cargo build --workspace", None, "Cargo.toml"),
            ("tests", "cargo test --workspace --no-fail-fast", Some("cargo"), "Cargo.toml"),
            ("lint", "cargo clippy --workspace --all-targets -- -D warnings", None, "Cargo.toml"),
        ],
    ),
    ("damaged rust", &[("Cargo.toml", "[package")], &[]),
    (
        "npm",
        &[
            (
                "package.json",
                r#"{"scripts": {"build": "tsc", "test": "jest", "lint": "eslint .", "typecheck": "tsc --noEmit"}}"#,
            ),
            ("package-lock.json", "{}"),
        ],
        &[
            ("build", "npm run build", None, "package.json, script build"),
            ("tests", "npm test", Some("jest"), "package.json, script test"),
            ("lint", "npm run lint", None, "package.json, script lint"),
            ("types", "npm run typecheck", None, "package.json, script typecheck"),
        ],
    ),
    (
        "npm init",
        &[("package.json", r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#)],
        &[],
    ),
    (
        "pnpm, vitest by its dependency",
        &[
            ("package.json", r#"{"scripts": {"test": "./test.sh"}, "devDependencies": {"vitest": "^4"}}"#),
            ("pnpm-lock.yaml", ""),
        ],
        &[("tests", "pnpm test", Some("vitest"), "package.json, script test")],
    ),
    (
        "yarn, mocha",
        &[("package.json", r#"{"scripts": {"test": "nyc mocha"}}"#), ("yarn.lock", "")],
        &[("tests", "yarn test", Some("mocha"), "package.json, script test")],
    ),
    (
        "bun, node's runner",
        &[("package.json", r#"{"scripts": {"test": "node --test"}}"#), ("bun.lockb", "")],
        &[("tests", "bun run test", Some("tap"), "package.json, script test")],
    ),
    (
        "named package manager, two runners",
        &[("package.json", r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "jest && mocha"}}"#)],
        &[("tests", "pnpm test", Some("auto"), "package.json, script test")],
    ),
    (
        "a script that waits",
        &[("package.json", r#"{"scripts": {"test": "react-scripts test"}}"#)],
        &[("tests", "CI=true npm test", Some("jest"), "package.json, script test")],
    ),
    ("damaged package.json", &[("package.json", r#"{"scripts": {"test": "jest""#)], &[]),
    ("other package.json", &[("package.json", r#"{"scripts": ["test"], "devDependencies": 3}"#)], &[]),
    ("no object", &[("package.json", "[1, 2]")], &[]),
    (
        "pytest, ruff and mypy in pyproject.toml",
        &[(
            "pyproject.toml",
            "[tool.pytest.ini_options]\n[tool.ruff]\nline-length = 100\n[tool.mypy]\nfiles = [\"src\"]",
        )],
        &[
            ("tests", "python3 -m pytest", Some("pytest"), "pyproject.toml, tool.pytest"),
            ("lint", "ruff check .", None, "pyproject.toml, tool.ruff"),
            ("types", "mypy", None, "pyproject.toml, tool.mypy"),
        ],
    ),
    (
        "uv",
        &[
            ("pyproject.toml", "[dependency-groups]\ndev = [\"pytest>=8\"]\n[tool.ruff]"),
            ("uv.lock", ""),
            ("mypy.ini", "[mypy]\nstrict = true"),
        ],
        &[
            ("tests", "uv run python -m pytest", Some("pytest"), "pyproject.toml, which names pytest"),
            ("lint", "uv run ruff check .", None, "pyproject.toml, tool.ruff"),
            ("types", "uv run mypy .", None, "mypy.ini"),
        ],
    ),
    (
        "requirements and an environment",
        &[
            ("requirements-dev.txt", "requests\npytest==8.0\n"),
            (".venv/bin/python", ""),
            (".venv/bin/flake8", ""),
            (".flake8", "[flake8]\n"),
        ],
        &[
            (
                "tests",
                ".venv/bin/python -m pytest",
                Some("pytest"),
                "requirements-dev.txt, which names pytest",
            ),
            ("lint", ".venv/bin/flake8", None, ".flake8"),
        ],
    ),
    (
        "pytest style",
        &[("tests/test_a.py", "def test_a():\n    assert True\n")],
        &[("tests", "python3 -m pytest", Some("pytest"), "tests/test_a.py")],
    ),
    (
        "unittest style",
        &[("tests/test_a.py", "import unittest\nclass A(unittest.TestCase): pass\n")],
        &[("tests", "python3 -m unittest discover -s tests -v", Some("unittest"), "tests/test_a.py")],
    ),
    (
        "unittest package",
        &[("tests/__init__.py", ""), ("tests/test_a.py", "from unittest import TestCase\n")],
        &[("tests", "python3 -m unittest discover -v", Some("unittest"), "tests/test_a.py")],
    ),
    (
        "unittest by the end of the name",
        &[("calc_test.py", "import unittest\n")],
        &[("tests", "python3 -m unittest discover -p '*_test.py' -v", Some("unittest"), "calc_test.py")],
    ),
    (
        "types by tsconfig.json",
        &[
            ("package.json", r#"{"scripts": {"lint": "eslint ."}, "devDependencies": {"typescript": "5"}}"#),
            ("tsconfig.json", "{}"),
        ],
        &[
            ("lint", "npm run lint", None, "package.json, script lint"),
            ("types", "npx --no-install tsc --noEmit", None, "tsconfig.json"),
        ],
    ),
    (
        "django",
        &[("manage.py", "from django.core.management import execute_from_command_line"), ("poetry.lock", "")],
        &[
            ("build", "poetry run python manage.py check", None, "manage.py"),
            ("tests", "poetry run python manage.py test", Some("unittest"), "manage.py"),
        ],
    ),
    ("damaged pyproject.toml", &[("pyproject.toml", "[tool.pytest\npytest")], &[]),
    (
        "go",
        &[("go.mod", "module example.com/a\n\ngo 1.22\n"), ("Makefile", "build:\n\tgo build\n")],
        &[
            ("build", "go build ./...", None, "go.mod"),
            ("tests", "go test -v ./...", Some("go"), "go.mod"),
            ("lint", "go vet ./...", None, "go.mod"),
        ],
    ),
    (
        "make",
        &[(
            "Makefile",
            "CC := gcc\nbuild ::= x\n.PHONY: lint\nall: build\nbuild test: a.o\n\t$(CC) lint: x\n# types: none\n",
        )],
        &[
            ("build", "make build", None, "Makefile, target build"),
            ("tests", "make test", Some("auto"), "Makefile, target test"),
        ],
    ),
    (
        "make check",
        &[("makefile", "check:\n\t./run\nlint: check\n")],
        &[
            ("tests", "make check", Some("auto"), "makefile, target check"),
            ("lint", "make lint", None, "makefile, target lint"),
        ],
    ),
    (
        "two languages",
        &[
            ("go.mod", "module a\n"),
            ("package.json", r#"{"scripts": {"test": "jest", "types": "tsc"}}"#),
            ("Makefile", "lint:\n"),
        ],
        &[
            ("build", "go build ./...", None, "go.mod"),
            ("tests", "go test -v ./...", Some("go"), "go.mod"),
            ("lint", "go vet ./...", None, "go.mod"),
            ("types", "npm run types", None, "package.json, script types"),
        ],
    ),
    ("below the root", &[("packages/a/package.json", r#"{"scripts": {"test": "jest"}}"#)], &[]),
];

#[test]
fn finds_what_a_project_configures() {
    for (case, files, expected) in PROJECTS {
        let root = project(files);
        let expected: Vec<DetectedCheck> = expected
            .iter()
            .map(|(name, run, counts, why)| DetectedCheck {
                name,
                run: (*run).to_owned(),
                counts: counts.map(|it| CountFormat::named(it).expect("a format")),
                why: (*why).to_owned(),
            })
            .collect();
        let found = detect_with(&Root { dir: root.path().to_owned() }, |_| true);
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn offers_clippy_only_where_it_is_installed() {
    let root = project(&[("Cargo.toml", "[package]\nname = \"a\"")]);
    let found = detect_with(&Root { dir: root.path().to_owned() }, |_| false);
    assert_eq!(found.iter().map(|it| it.name).collect::<Vec<_>>(), ["build", "tests"]);
}

#[test]
fn passes_over_what_cannot_be_read() {
    let root = project(&[("package.json/inside", "a folder, not a file")]);
    let large = format!("[package]\nname = \"a\"\n# {}", "x".repeat(1024 * 1024));
    std::fs::write(root.path().join("Cargo.toml"), large).expect("written");
    std::fs::write(root.path().join("go.mod"), b"\xff\xfe\x00module").expect("written");
    let pipe = std::process::Command::new("mkfifo").arg(root.path().join("Makefile")).status();
    assert!(pipe.expect("mkfifo").success());
    assert_eq!(detect(root.path()), []);
    assert_eq!(detect(&root.path().join("missing")), []);
}

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }
    root
}
