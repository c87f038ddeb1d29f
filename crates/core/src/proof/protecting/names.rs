//! Names by which files say that they are tests, or that they decide what runs and how. A new runner is
//! a row here. Names are compared in lower case, except where only capitals tell a test from a word
//! (`CartTest.java`, `Latest.java`).

const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "__mocks__",
    "__fixtures__",
    "__snapshots__",
    "snapshots",
    "testdata",
    "test-data",
    "test_data",
    "testutil",
    "testutils",
    "test-utils",
    "test_utils",
    "testhelpers",
    "test-helpers",
    "test_helpers",
    "testsupport",
    "test-support",
    "test_support",
    "e2e",
];

const CONTROL_FOLDERS: &[&str] = &[
    ".cargo",
    ".config",
    ".mvn",
    ".github",
    ".circleci",
    ".buildkite",
    ".loop",
    ".husky",
    ".yarn",
    "node_modules",
];

const CONTROL_NAMES: &[&str] = &[
    ".gitattributes",
    "makefile",
    "gnumakefile",
    "bsdmakefile",
    "justfile",
    ".justfile",
    "taskfile.yml",
    "taskfile.yaml",
    "rakefile",
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.toml",
    ".noserc",
    "nose.cfg",
    "nose2.cfg",
    "unittest.cfg",
    "behave.ini",
    ".behaverc",
    "dodo.py",
    "fabfile.py",
    "sconstruct",
    "wscript",
    ".proverc",
    "ctesttestfile.cmake",
    "ctestcustom.cmake",
    "ctestconfig.cmake",
    "cmakepresets.json",
    "cmakeuserpresets.json",
    "magefile.go",
    ".golangci.yml",
    ".golangci.yaml",
    ".golangci.toml",
    "staticcheck.conf",
    "bunfig.toml",
    "node.config.json",
    "lerna.json",
    "jasmine.json",
    ".testcaferc.json",
    "gulpfile.js",
    "gruntfile.js",
    "jakefile",
    "jakefile.js",
    "biome.json",
    "biome.jsonc",
    ".eslintignore",
    ".eslintrc",
    ".prettierrc",
    ".prettierignore",
    "phpunit.dist.xml",
    "codeception.yml",
    "behat.yml",
    "phpstan.neon",
    "phpstan.neon.dist",
    "psalm.xml",
    ".rspec-local",
    ".rubocop.yml",
    "cucumber.yml",
    ".simplecov",
    ".busted",
    ".luacheckrc",
    "build.xml",
    "gradle.properties",
    "maven.config",
    "jvm.config",
    "junit-platform.properties",
    "testng.xml",
    "directory.build.props",
    "directory.build.targets",
    "xunit.runner.json",
    "nuget.config",
    ".bazelrc",
    ".pre-commit-config.yaml",
    "ruff.toml",
    ".ruff.toml",
    "mypy.ini",
    ".mypy.ini",
    ".flake8",
    ".pylintrc",
    "pylintrc",
    "pyrightconfig.json",
    "rustfmt.toml",
    ".rustfmt.toml",
    "deny.toml",
    ".shellcheckrc",
    "mise.toml",
    ".mise.toml",
    "earthfile",
    ".envrc",
    "noxfile.py",
    ".coveragerc",
    "sitecustomize.py",
    "usercustomize.py",
    // A module of the runner's name in the tree would be imported in its place.
    "pytest.py",
    "unittest.py",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "pnpm-workspace.yaml",
    "turbo.json",
    "nx.json",
    ".babelrc",
    ".swcrc",
    "go.work",
    "pip.conf",
    ".nycrc",
    ".c8rc",
    ".taprc",
    ".rspec",
    "phpunit.xml",
    "phpunit.xml.dist",
    "nextest.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "clippy.toml",
    ".clippy.toml",
    ".python-version",
    ".nvmrc",
    ".node-version",
    ".tool-versions",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".travis.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
];

/// Names up to the first dot behind them: `jest.config.ts`, `.mocharc.yml`.
const CONTROL_STEMS: &[&str] = &[
    "jest.config.",
    "jest.setup.",
    "jest-setup.",
    "setupTests.",
    "vitest.config.",
    "vitest.workspace.",
    "vitest.setup.",
    "vite.config.",
    ".mocharc.",
    ".nycrc.",
    ".c8rc.",
    "ava.config.",
    "karma.conf.",
    "playwright.config.",
    "cypress.config.",
    "eslint.config.",
    ".eslintrc.",
    "babel.config.",
    ".babelrc.",
    "jest.preset.",
    "jest-preset.",
    "jest.global",
    "test-setup.",
    "test.setup.",
    "web-test-runner.config.",
    "wdio.conf.",
    "nightwatch.conf.",
    "protractor.conf.",
    "tap.config.",
    "wallaby.",
    ".swcrc.",
    ".prettierrc.",
    ".stylelintrc.",
];

/// What Python's packaging leaves in a tree and reads plugins of pytest from.
const CONTROL_FOLDER_ENDS: &[&str] = &[".egg-info", ".dist-info"];

/// Whether everything in a folder of this name decides what runs.
pub(crate) fn is_control_folder(name: &str) -> bool {
    CONTROL_FOLDERS.contains(&name) || CONTROL_FOLDER_ENDS.iter().any(|it| name.ends_with(it))
}

/// Whether a file holds tests, by its folder or its name alone.
pub fn is_test_path(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_lowercase();
    folder.split('/').any(is_test_folder) || is_test_name(path)
}

pub(crate) fn is_test_folder(name: &str) -> bool {
    let ends = [".tests", ".test", "-tests", "_tests", "-test", "_test"];
    TEST_FOLDERS.contains(&name) || ends.iter().any(|it| name.ends_with(it))
}

pub(crate) fn is_control_name(name: &str) -> bool {
    CONTROL_NAMES.contains(&name)
        || CONTROL_STEMS.iter().any(|it| name.starts_with(&it.to_lowercase()))
        || name.ends_with(".mk")
        || name.ends_with(".mak")
        || name.ends_with(".runsettings")
}

pub(crate) fn is_test_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_lowercase();
    let Some((stem, extension)) = lower.split_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return false;
    };
    let last = extension.rsplit('.').next().unwrap_or(extension);
    if matches!(last, "md" | "txt" | "rst" | "toml" | "json" | "yml" | "yaml") {
        return false;
    }
    if matches!(last, "snap" | "bats" | "feature" | "t") {
        return true;
    }
    let inner =
        extension.split('.').rev().skip(1).any(|it| matches!(it, "test" | "tests" | "spec" | "specs"));
    let by_stem = matches!(stem, "test" | "tests" | "spec")
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", "-test", "-spec"].iter().any(|it| stem.ends_with(it));
    inner || by_stem || is_camel_test(name, last)
}

/// `CartTest.java`, `CartTests.cs`, `CartIT.java`, `TestCart.java`, but not `Latest.java`.
fn is_camel_test(name: &str, extension: &str) -> bool {
    if !matches!(extension, "java" | "kt" | "kts" | "scala" | "groovy" | "cs" | "swift" | "php" | "m" | "mm")
    {
        return false;
    }
    let stem = name.split('.').next().unwrap_or(name);
    let begins = stem.strip_prefix("Test").and_then(|it| it.chars().next()).is_some_and(char::is_uppercase);
    begins || ["Test", "Tests", "TestCase", "Spec", "IT"].iter().any(|it| stem.ends_with(it))
}
