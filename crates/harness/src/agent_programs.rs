//! The agents' real programs: pinned, from npm, kept in `$LOOP_TEST_CACHE`, else in
//! `~/.cache/loopctl-test`. They are large, so they are had only when `LOOP_TEST_AGENTS` asks for them:
//! with `1`, or with a list like `claude,codex`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The versions that the adapters are known to work with: program, package, version.
const PINNED: [(&str, &str, &str); 7] = [
    ("claude", "@anthropic-ai/claude-code", "2.1.325"),
    ("codex", "@openai/codex", "0.166.0"),
    ("gemini", "@google/gemini-cli", "0.61.0"),
    ("opencode", "opencode-ai", "1.18.33"),
    ("copilot", "@github/copilot", "1.0.102"),
    ("qwen", "@qwen-code/qwen-code", "0.15.10"),
    ("pi", "@mariozechner/pi-coding-agent", "0.73.1"),
];

/// Whether this agent is to be tested; says so when it is not.
pub fn is_wanted(cli: &str, test: &str) -> bool {
    let asked = std::env::var("LOOP_TEST_AGENTS").unwrap_or_default();
    let wanted = asked == "1" || asked.split(',').any(|it| it == cli);
    if !wanted {
        eprintln!("SKIPPED {test} with {cli}: set LOOP_TEST_AGENTS=1 to run it");
        return false;
    }
    // A machine without npm or without a network cannot have the programs; the one that builds can.
    match install(cli) {
        Ok(_) => true,
        Err(why) if std::env::var_os("CI").is_some() => panic!("{test} with {cli}: {why}"),
        Err(why) => {
            eprintln!("SKIPPED {test} with {cli}: {why}");
            false
        }
    }
}

/// Returns the folder with the agent's program.
pub fn installed(cli: &str) -> PathBuf {
    install(cli).expect("it was there when the test began")
}

/// Installs the agent's program if it is not there, and returns its folder, or why that cannot be.
fn install(cli: &str) -> Result<PathBuf, String> {
    let (_, package, version) = PINNED.into_iter().find(|it| it.0 == cli).expect("a pinned version");
    let cache = match std::env::var_os("LOOP_TEST_CACHE") {
        Some(folder) => PathBuf::from(folder),
        None => {
            PathBuf::from(std::env::var_os("HOME").ok_or("there is no HOME")?).join(".cache/loopctl-test")
        }
    };
    let folder = cache.join(format!("{cli}-{version}"));
    if !folder.is_dir() {
        fs::create_dir_all(&cache).map_err(|it| format!("{}: {it}", cache.display()))?;
        // Another test may be installing too: who is first puts it in place.
        let making = tempfile::tempdir_in(&cache).expect("a folder");
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(making.path())
            .arg(format!("{package}@{version}"))
            .output()
            .map_err(|it| format!("npm: {it}"))?;
        if !npm.status.success() {
            let words = String::from_utf8_lossy(&npm.stderr).into_owned();
            return Err(format!(
                "npm install {package}@{version}: {}",
                words.lines().next().unwrap_or_default()
            ));
        }
        if fs::rename(making.path(), &folder).is_ok() {
            let _moved = making.keep();
        }
    }
    Ok(folder.join("node_modules/.bin"))
}
