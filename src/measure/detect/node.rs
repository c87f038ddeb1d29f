//! Finds the checks of a package.json: those of its scripts that have one of our names, run by the
//! package manager whose lock file is there.

use super::{DetectedCheck, Root, check, tests};
use loop_core::proof::CountFormat;
use serde_json::Value;

const TYPE_SCRIPTS: [&str; 5] = ["typecheck", "type-check", "types", "check-types", "tsc"];

pub(super) fn find(root: &Root) -> Vec<DetectedCheck> {
    let package: Option<Value> =
        root.text("package.json").and_then(|it| serde_json::from_str(it.trim_start_matches('\u{feff}')).ok());
    let Some(package) = package else { return Vec::new() };
    let script = |name: &str| package["scripts"][name].as_str().filter(|it| !it.trim().is_empty());
    let manager = manager(root, &package);
    let why = |name: &str| format!("package.json, script {name}");
    let mut found = Vec::new();
    if script("build").is_some() {
        found.push(check("build", format!("{manager} run build"), &why("build")));
    }
    // `npm init` writes a test script that only complains.
    if let Some(test) = script("test").filter(|it| !it.contains("no test specified")) {
        // `bun test` is another program than the script of that name.
        let run = if manager == "bun" { "bun run test".to_owned() } else { format!("{manager} test") };
        // This one waits for changes unless it believes that nobody is watching.
        let run = if test.contains("react-scripts test") { format!("CI=true {run}") } else { run };
        found.push(tests(run, counts(test, &package), &why("test")));
    }
    if script("lint").is_some() {
        found.push(check("lint", format!("{manager} run lint"), &why("lint")));
    }
    if let Some(name) = TYPE_SCRIPTS.into_iter().find(|it| script(it).is_some()) {
        found.push(check("types", format!("{manager} run {name}"), &why(name)));
    } else if root.has("tsconfig.json") && depends(&package, "typescript") {
        let run = match manager {
            "pnpm" => "pnpm exec tsc --noEmit",
            "yarn" => "yarn tsc --noEmit",
            "bun" => "bunx tsc --noEmit",
            _ => "npx --no-install tsc --noEmit",
        };
        found.push(check("types", run.to_owned(), "tsconfig.json"));
    }
    found
}

fn manager(root: &Root, package: &Value) -> &'static str {
    let locks = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("package-lock.json", "npm"),
        ("npm-shrinkwrap.json", "npm"),
    ];
    if let Some((_, manager)) = locks.iter().find(|(file, _)| root.has(file)) {
        return manager;
    }
    let named = package["packageManager"].as_str().unwrap_or_default();
    let named = named.split('@').next().unwrap_or_default();
    ["pnpm", "yarn", "bun"].into_iter().find(|it| *it == named).unwrap_or("npm")
}

/// Returns the format of the one runner that the script names, else of the one that is installed,
/// else `auto`, which also serves where there are several.
fn counts(script: &str, package: &Value) -> CountFormat {
    let runners = [
        ("vitest", CountFormat::Vitest),
        ("jest", CountFormat::Jest),
        ("react-scripts test", CountFormat::Jest),
        ("mocha", CountFormat::Mocha),
        ("node --test", CountFormat::Tap),
        ("bats", CountFormat::Tap),
    ];
    let named: Vec<CountFormat> =
        runners.iter().filter(|(it, _)| script.contains(it)).map(|(_, it)| *it).collect();
    let depends = |name: &str| depends(package, name);
    let packages = [CountFormat::Vitest, CountFormat::Jest, CountFormat::Mocha];
    let installed: Vec<CountFormat> = packages.into_iter().filter(|it| depends(it.word())).collect();
    match (named.as_slice(), installed.as_slice()) {
        ([one], _) | ([], [one]) => *one,
        (_, _) => CountFormat::Auto,
    }
}

fn depends(package: &Value, name: &str) -> bool {
    ["devDependencies", "dependencies"].iter().any(|it| !package[*it][name].is_null())
}
