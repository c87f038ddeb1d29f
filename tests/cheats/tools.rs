//! What the machine brings: the real programs behind the shims of version managers, so that a project
//! with a HOME of its own finds them, and caches that are filled once and copied for each project.
//! They lie in the test's own folder below `target/`.

use crate::data::Tool;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// Returns why a tool cannot be had here, or nothing.
pub(crate) fn missing(tool: Tool) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<Tool, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().expect("no panic while looking");
    known.entry(tool).or_insert_with(|| find(tool).err()).clone()
}

fn find(tool: Tool) -> Result<(), String> {
    match tool {
        Tool::Cargo => says("cargo", &["--version"]).map(drop),
        Tool::Python => says("python3", &["--version"]).map(drop),
        Tool::Pytest => environment(),
        Tool::Node => says("node", &["--version"]).map(drop),
        Tool::Npm => says("npm", &["--version"]).map(drop),
        Tool::Go => go_cache(),
        Tool::Make => says("make", &["--version"]).map(drop),
    }
}

fn says(program: &str, arguments: &[&str]) -> Result<String, String> {
    let done = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let done = done.map_err(|why| format!("{program}: {why}"))?;
    let said = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    if done.status.success() { Ok(said) } else { Err(format!("{program} {arguments:?} fails")) }
}

/// The folders of the toolchains themselves, then the system's.
pub(crate) fn path() -> &'static [PathBuf] {
    static PATH: OnceLock<Vec<PathBuf>> = OnceLock::new();
    PATH.get_or_init(|| {
        let real = "import os, sys; print(os.path.dirname(os.path.realpath(sys.executable)))";
        let rust = says("rustc", &["--print", "sysroot"]).map(|it| Path::new(&it).join("bin"));
        let go = says("go", &["env", "GOROOT"]).map(|it| Path::new(&it).join("bin"));
        let python = says("python3", &["-c", real]).map(PathBuf::from);
        let node = says("node", &["-p", "require('path').dirname(process.execPath)"]).map(PathBuf::from);
        let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
        let mut found: Vec<PathBuf> = [rust, go, python, node].into_iter().flatten().collect();
        found.extend(system);
        found
    })
}

/// Where a cache of this name lies.
pub(crate) fn cache(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cheats").join(name)
}

/// A virtual environment with pytest in it, without pip.
fn environment() -> Result<(), String> {
    fill("venv", |folder| {
        let text = folder.to_str().expect("a plain path");
        says("python3", &["-m", "venv", "--without-pip", text])?;
        let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let site = says(&format!("{text}/bin/python"), &["-c", ask])?;
        says("python3", &["-m", "pip", "install", "-q", "--no-compile", "--target", &site, "pytest"])
            .map(drop)
    })
}

/// A cache with the compiled standard library, which takes ten seconds.
fn go_cache() -> Result<(), String> {
    says("go", &["version"])?;
    fill("go-build", |folder| {
        std::fs::create_dir_all(folder).map_err(|it| it.to_string())?;
        let project = tempfile::tempdir().map_err(|it| it.to_string())?;
        let write = |name: &str, text: &str| std::fs::write(project.path().join(name), text);
        let test = "package warm\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestWarm(t *testing.T) { _ = os.Args }\n";
        write("go.mod", "module example.org/warm\n\ngo 1.21\n").map_err(|it| it.to_string())?;
        write("warm_test.go", test).map_err(|it| it.to_string())?;
        let mut command = Command::new("go");
        command.args(["test", "./..."]).current_dir(project.path()).env("GOCACHE", folder).env("GOFLAGS", "");
        let done = command.output().map_err(|it| it.to_string())?;
        done.status.success().then_some(()).ok_or_else(|| "go test fails".to_owned())
    })
}

/// Fills a cache once; what was begun and not finished does not count.
fn fill(name: &str, make: impl Fn(&Path) -> Result<(), String>) -> Result<(), String> {
    let place = cache(name);
    let done = cache(&format!("{name}.done"));
    if done.exists() {
        return Ok(());
    }
    let _may_be_absent = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(place.parent().expect("a parent")).map_err(|it| it.to_string())?;
    make(&place)?;
    std::fs::write(done, "").map_err(|it| it.to_string())
}
