//! Finds the checks of a Python project: pytest where it is configured, required or visibly used,
//! Django's tests, or unittest; ruff or flake8, and mypy or pyright, where they are configured.
//! Tools run in the project's own environment, as far as a lock file or a folder shows which.

use super::{DetectedCheck, Root, check, tests};
use loop_core::proof::CountFormat;

/// More entries of a folder of tests are not looked at: a few tell the style of all.
const NAMES_LIMIT: usize = 1000;

/// More test files are not opened.
const TEST_FILES_LIMIT: usize = 20;

pub(super) fn find(root: &Root) -> Vec<DetectedCheck> {
    let project = root.toml("pyproject.toml").unwrap_or_default();
    let tool = |name: &str| project.get("tool").and_then(|it| it.get(name)).is_some();
    let mut found = Vec::new();
    if is_django(root) {
        found.push(check("build", format!("{} manage.py check", interpreter(root)), "manage.py"));
    }
    found.extend(find_tests(root, tool("pytest")));
    found.extend(find_lint(root, tool("ruff")));
    found.extend(find_types(root, &project));
    found
}

fn find_tests(root: &Root, in_project: bool) -> Option<DetectedCheck> {
    let pytest = |why: &str| tests(python(root, "pytest"), CountFormat::Pytest, why);
    if in_project {
        return Some(pytest("pyproject.toml, tool.pytest"));
    }
    let configured = ["pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"];
    if let Some(file) = configured.iter().find(|it| root.has(it)) {
        return Some(pytest(file));
    }
    for (file, section) in [("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")] {
        if has_section(root, file, section) {
            return Some(pytest(&format!("{file}, {section}")));
        }
    }
    if let Some(file) = requires_pytest(root) {
        return Some(pytest(&format!("{file}, which names pytest")));
    }
    if is_django(root) {
        return Some(tests(
            format!("{} manage.py test", interpreter(root)),
            CountFormat::Unittest,
            "manage.py",
        ));
    }
    by_style(root)
}

fn is_django(root: &Root) -> bool {
    root.text("manage.py").is_some_and(|it| it.contains("django"))
}

fn requires_pytest(root: &Root) -> Option<String> {
    if root.toml("pyproject.toml").is_some() && root.text("pyproject.toml")?.contains("pytest") {
        return Some("pyproject.toml".to_owned());
    }
    let is_list = |it: &String| {
        it == "Pipfile" || (it.ends_with(".txt") && it.contains("requirements")) || it == "setup.py"
    };
    let lists = root.names(".", NAMES_LIMIT).into_iter().filter(is_list);
    let names =
        |text: String| text.lines().any(|it| it.trim_start_matches([' ', '"', '\'']).starts_with("pytest"));
    let mut lists = lists.take(TEST_FILES_LIMIT);
    lists.find(|it| root.text(it).is_some_and(names))
}

/// Looks at test files: functions at the left margin are pytest's, classes may be unittest's.
fn by_style(root: &Root) -> Option<DetectedCheck> {
    let mut opened = 0;
    let mut unittest = None;
    for folder in ["tests", "test", "."] {
        let files = root.names(folder, NAMES_LIMIT).into_iter();
        for file in
            files.filter(|it| it.ends_with(".py") && (it.starts_with("test") || it.ends_with("_test.py")))
        {
            let is_found = file.starts_with("test");
            let path = if folder == "." { file } else { format!("{folder}/{file}") };
            opened += 1;
            if opened > TEST_FILES_LIMIT {
                break;
            }
            let Some(text) = root.text(&path) else { continue };
            if text.lines().any(|it| it.starts_with("def test_") || it.starts_with("import pytest")) {
                return Some(tests(python(root, "pytest"), CountFormat::Pytest, &path));
            }
            if text.contains("unittest") && unittest.is_none() {
                // Unittest looks for names that begin with test.
                let pattern = if is_found { "" } else { " -p '*_test.py'" };
                unittest = Some((folder, path, pattern));
            }
        }
    }
    let (folder, path, pattern) = unittest?;
    // A folder that is no package is only found by its name.
    let is_package = folder == "." || root.has(&format!("{folder}/__init__.py"));
    let place = if is_package { String::new() } else { format!(" -s {folder}") };
    // Only so does it name the tests that pass.
    Some(tests(python(root, &format!("unittest discover{place}{pattern} -v")), CountFormat::Unittest, &path))
}

fn find_lint(root: &Root, ruff_in_project: bool) -> Option<DetectedCheck> {
    let ruff = ["ruff.toml", ".ruff.toml"].into_iter().find(|it| root.has(it));
    let ruff = ruff.or(ruff_in_project.then_some("pyproject.toml, tool.ruff"));
    if let Some(why) = ruff {
        return Some(check("lint", installed(root, "ruff", " check ."), why));
    }
    let files = [".flake8", "setup.cfg", "tox.ini"];
    let file = files.into_iter().find(|it| has_section(root, it, "[flake8]"))?;
    Some(check("lint", installed(root, "flake8", ""), file))
}

fn find_types(root: &Root, project: &toml::Table) -> Option<DetectedCheck> {
    let tool = |name: &str| project.get("tool").and_then(|it| it.get(name));
    if let Some(mypy) = tool("mypy") {
        let says_what = ["files", "packages", "modules"].iter().any(|it| mypy.get(it).is_some());
        return Some(check("types", mypy_command(root, says_what), "pyproject.toml, tool.mypy"));
    }
    let files = ["mypy.ini", ".mypy.ini", "setup.cfg"];
    if let Some(file) = files.into_iter().find(|it| has_section(root, it, "[mypy]")) {
        let says_what =
            |text: String| text.lines().any(|it| it.starts_with("files") || it.starts_with("packages"));
        let says_what = root.text(file).is_some_and(says_what);
        return Some(check("types", mypy_command(root, says_what), file));
    }
    let pyright = root.has("pyrightconfig.json").then_some("pyrightconfig.json");
    let why = pyright.or(tool("pyright").map(|_| "pyproject.toml, tool.pyright"))?;
    Some(check("types", installed(root, "pyright", ""), why))
}

fn mypy_command(root: &Root, says_what: bool) -> String {
    // A path on the command line would replace the ones in the configuration.
    installed(root, "mypy", if says_what { "" } else { " ." })
}

fn has_section(root: &Root, file: &str, section: &str) -> bool {
    root.text(file).is_some_and(|it| it.lines().any(|line| line.trim_end() == section))
}

/// Returns the command that runs a program in the environment that a lock file stands for.
fn launcher(root: &Root) -> Option<&'static str> {
    let locks = [
        ("uv.lock", "uv run"),
        ("poetry.lock", "poetry run"),
        ("pdm.lock", "pdm run"),
        ("Pipfile.lock", "pipenv run"),
    ];
    locks.into_iter().find(|(file, _)| root.has(file)).map(|(_, command)| command)
}

fn environment(root: &Root) -> Option<&'static str> {
    [".venv/bin", "venv/bin"].into_iter().find(|it| root.has(&format!("{it}/python")))
}

fn interpreter(root: &Root) -> String {
    match (launcher(root), environment(root)) {
        (Some(launcher), _) => format!("{launcher} python"),
        (None, Some(folder)) => format!("{folder}/python"),
        (None, None) => "python3".to_owned(),
    }
}

/// Runs a module, which also puts the root on the path of imports.
fn python(root: &Root, module: &str) -> String {
    format!("{} -m {module}", interpreter(root))
}

/// Runs a tool that need not be a module of the project's environment.
fn installed(root: &Root, tool: &str, arguments: &str) -> String {
    if let Some(launcher) = launcher(root) {
        return format!("{launcher} {tool}{arguments}");
    }
    let own = environment(root).map(|it| format!("{it}/{tool}")).filter(|it| root.has(it));
    format!("{}{arguments}", own.unwrap_or_else(|| tool.to_owned()))
}
