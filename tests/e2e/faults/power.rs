//! The power goes while a run works. The home lies on a disk of its own, an image that is mounted; at
//! a random moment its file system stops without writing anything more, and is mounted again. Every
//! event that was shown is in the journal, and no call that was started is started again.
//!
//! It takes root and a loop device, so it runs only where `LOOP_TEST_POWER` is set.

use loop_harness::{Sandbox, skipped, times, within};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const LOSSES: u32 = 10;

/// More than one run needs, and little enough to be made at once.
const DISK_BYTES: u64 = 128 << 20;

const LONG: Duration = Duration::from_secs(60);

/// It never leaves its phase, and nothing holds it before its cap.
const WORKFLOW: &str = r#"
name = "endless"
input = { kind = "none", about = "" }
[[phase]]
name = "ONLY"
prompt = "Do the next thing."
report = "none"
signal = "none"
exit = "commits_made > 0"
breaker = {}
"#;

/// A mounted image, which is gone with this.
struct Disk {
    image: PathBuf,
    at: PathBuf,
}

impl Disk {
    fn make(sandbox: &Sandbox) -> Result<Disk, String> {
        let disk = Disk { image: sandbox.root().join("disk"), at: sandbox.home.clone() };
        fs::create_dir(&disk.at).expect("a folder");
        fs::File::create(&disk.image).and_then(|it| it.set_len(DISK_BYTES)).expect("an image");
        done(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&disk.image))?;
        disk.mount()?;
        Ok(disk)
    }

    fn mount(&self) -> Result<(), String> {
        done(Command::new("mount").args(["-o", "loop"]).arg(&self.image).arg(&self.at))
    }

    fn fails(&self, program: &Path) {
        done(Command::new(program).arg(&self.at)).expect("the file system stops");
    }

    fn unmount(&self) -> bool {
        within(LONG, || done(Command::new("umount").arg(&self.at)).is_ok())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _may_be_unmounted = done(Command::new("umount").arg("--lazy").arg(&self.at));
    }
}

fn done(command: &mut Command) -> Result<(), String> {
    let done = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
    }
}

#[test]
fn g2_what_was_shown_outlives_the_power() {
    const NAME: &str = "g2_what_was_shown_outlives_the_power";
    if std::env::var_os("LOOP_TEST_POWER").is_none() {
        return skipped(NAME, "stops a file system; set LOOP_TEST_POWER, as root, to run it");
    }
    let seed = std::env::var("LOOP_TEST_SEED").ok().and_then(|it| it.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from(std::process::id()) * 0x9e37_79b9 + 1);
    println!("LOOP_TEST_SEED={seed}");
    let mut dice = seed;
    for _ in 0..LOSSES * times() {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let sandbox = Sandbox::new();
        let disk = match Disk::make(&sandbox) {
            Ok(disk) => disk,
            Err(why) => return skipped(NAME, &why),
        };
        let agent = prepare(&sandbox);
        let shown = until_the_power_goes(&sandbox, &disk, &agent, dice, None);
        let missing = missing(&sandbox, &shown);
        assert!(!shown.is_empty() && missing.is_empty(), "seed {seed}: {missing:?} of {shown:?}");
        sandbox.run(&command(&agent)).exits(6);
        let mut calls = sandbox.calls();
        let started = calls.len();
        calls.sort_unstable();
        calls.dedup();
        assert_eq!(calls.len(), started, "seed {seed}: a call was started twice");
        sandbox.run(&["verify"]).exits(0).says("is complete and unchanged");
        assert!(disk.unmount(), "seed {seed}: the disk is held");
    }
    // The same without syncs, to see that this would be seen.
    let sandbox = Sandbox::new();
    let disk = Disk::make(&sandbox).expect("a disk, as before");
    let agent = prepare(&sandbox);
    let careless = sandbox.root().join("careless.so");
    let source = sandbox.root().join("careless.c");
    fs::write(&source, "int fsync(int f) { return 0; }\nint fdatasync(int f) { return 0; }\n")
        .expect("written");
    done(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&careless).arg(&source))
        .expect("a C compiler");
    let shown = until_the_power_goes(&sandbox, &disk, &agent, dice, Some(&careless));
    assert!(!missing(&sandbox, &shown).is_empty(), "seed {seed}: nothing is lost without a sync either");
    assert!(disk.unmount(), "seed {seed}: the disk is held");
}

fn prepare(sandbox: &Sandbox) -> String {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/power.c");
    done(Command::new("cc").arg("-o").arg(sandbox.root().join("power")).arg(source)).expect("a C compiler");
    sandbox.write(".loop/workflow.toml", WORKFLOW);
    sandbox.commit("a workflow");
    sandbox.agent("true")
}

fn command(agent: &str) -> [&str; 7] {
    ["run", "--json", "--unverified", "--agent-cmd", agent, "-n", "40"]
}

/// Runs until a moment that `dice` says, restarts the machine, and returns the events that were shown.
fn until_the_power_goes(
    sandbox: &Sandbox,
    disk: &Disk,
    agent: &str,
    dice: u64,
    preload: Option<&Path>,
) -> Vec<Value> {
    let mut program = sandbox.command(&command(agent));
    program.envs(preload.map(|it| ("LD_PRELOAD", it)));
    let running = sandbox.start(program);
    let calls = usize::try_from(1 + dice % 12).expect("a small number");
    assert!(within(LONG, || calls <= sandbox.calls().len()), "it works");
    let moment = Instant::now() + Duration::from_micros(dice % 20_000);
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
    disk.fails(&sandbox.root().join("power"));
    let shown = running.wait().out;
    assert!(within(LONG, || sandbox.processes().is_empty()), "left: {:?}", sandbox.processes());
    assert!(disk.unmount(), "the disk is held");
    disk.mount().expect("mounted again");
    restart(sandbox);
    let lines = shown.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    lines.filter(|it| !it["kind"].is_null()).map(|it| it["event"].clone()).collect()
}

/// A machine that starts again has another boot than the one that the shims of before knew.
fn restart(sandbox: &Sandbox) {
    let runs = fs::read_dir(sandbox.home.join("runs")).into_iter().flatten().flatten();
    for file in runs.flat_map(|it| fs::read_dir(it.path()).into_iter().flatten().flatten()) {
        if file.file_name().to_string_lossy().starts_with("shim-")
            && let Ok(Value::Object(mut shim)) =
                serde_json::from_slice(&fs::read(file.path()).expect("a file"))
        {
            assert!(shim.insert("boot".to_owned(), "before".into()).is_some(), "a shim knows its boot");
            fs::write(file.path(), serde_json::to_vec(&shim).expect("text")).expect("written");
        }
    }
}

/// The events that were shown and are not in the journal.
fn missing(sandbox: &Sandbox, shown: &[Value]) -> Vec<Value> {
    let journal = sandbox.run(&["log", "--json"]).out;
    let journal = journal.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    let kept: Vec<Value> = journal.map(|it| it["event"].clone()).collect();
    let mut left = kept.iter();
    shown.iter().filter(|event| !left.any(|it| it == *event)).cloned().collect()
}
