//! The record of a completed run, looked at on another machine: in a fresh clone, with a home and a user
//! of its own, and nothing else. Whatever is changed in it is refused.

use loop_harness::{CHECK, PROMISE, Sandbox, WORK, program};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A completed run and its record.
fn completed(sandbox: &Sandbox) -> String {
    let agent = sandbox.agent(&format!("{WORK}{PROMISE}"));
    sandbox.run(&["run", "build it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    assert_eq!(sandbox.status()["verified"], true);
    let run = sandbox.status()["run"].as_str().expect("an id").to_owned();
    let record = sandbox.home.join("runs").join(run).join("record.json");
    std::fs::read_to_string(record).expect("a record is written at completion")
}

/// Another machine: a clone of the repository, and nothing of ours.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn clone_of(sandbox: &Sandbox, name: &str) -> Elsewhere {
        let place = sandbox.root().join(name);
        let source = format!("file://{}", sandbox.project.display());
        let words = ["clone", "-q", &source, &place.display().to_string()];
        assert!(Command::new("git").args(words).status().expect("git").success());
        Elsewhere(place)
    }

    fn verify(&self, record: &str, words: &[&str]) -> Output {
        let file = self.0.with_extension("record.json");
        std::fs::write(&file, record).expect("written");
        let home = self.0.with_extension("home");
        std::fs::create_dir_all(&home).expect("a folder");
        let mut command = Command::new(program());
        command.env_clear().env("PATH", std::env::var_os("PATH").expect("a path"));
        command.env("HOME", &home).env("TMPDIR", &home).current_dir(&self.0);
        command.arg("verify").arg(&file).args(words).output().expect("the program")
    }

    fn holds(&self, record: &str, words: &[&str]) {
        let done = self.verify(record, words);
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
        assert!(said.contains("the record is valid"), "{said}");
    }

    fn refuses(&self, record: &str, words: &[&str], what: &str) {
        let done = self.verify(record, words);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(8), "{what}: {said}");
        assert!(said.contains("is not valid"), "{what}: {said}");
    }
}

#[test]
fn g27_a_record_holds_in_a_fresh_clone_and_its_checks_pass_again() {
    let sandbox = Sandbox::new();
    let record = completed(&sandbox);
    let value: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(value["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(value["predicate"]["verified"], true);
    let head = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(value["subject"][1]["digest"]["gitCommit"], *head);
    let elsewhere = Elsewhere::clone_of(&sandbox, "clone");
    elsewhere.holds(&record, &[]);
    elsewhere.holds(&record, &["--rerun"]);
    assert!(!elsewhere.0.with_extension("home").join(".local").exists(), "no home is made for a look");
    sandbox.run(&["evidence"]).exits(0).says("record.json");
    assert_eq!(sandbox.run(&["evidence", "--json"]).exits(0).out, record);
}

#[test]
fn g27_a_record_is_refused_after_any_byte_was_changed() {
    let sandbox = Sandbox::new();
    let record = completed(&sandbox);
    let elsewhere = Elsewhere::clone_of(&sandbox, "clone");
    let step = (record.len() / 60).max(1);
    for at in (0..record.len()).step_by(step).chain([record.len() - 1]) {
        let mut bytes = record.clone().into_bytes();
        bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
        elsewhere.refuses(&String::from_utf8_lossy(&bytes), &[], &format!("byte {at}"));
    }
    elsewhere.refuses(&record.replace("\"verified\": true", "\"verified\":  true"), &[], "a space");
    elsewhere.refuses(&record[..record.len() / 2], &[], "half of it");
    elsewhere.refuses("{}", &[], "nothing of it");
}

#[test]
fn g27_a_record_is_refused_where_the_tree_or_the_journal_is_another() {
    let sandbox = Sandbox::new();
    let record = completed(&sandbox);
    let other = Sandbox::new();
    Elsewhere::clone_of(&other, "clone").refuses(&record, &[], "another repository");
    let file = sandbox.root().join("kept.json");
    std::fs::write(&file, &record).expect("written");
    let file = file.display().to_string();
    sandbox.run(&["verify", &file]).exits(0).says("the journal in this home says the same");
    let database = Connection::open(sandbox.home.join("loop.db")).expect("a database");
    database.execute("update event set body = replace(body, 'build it', 'built it')", []).expect("an edit");
    drop(database);
    sandbox.run(&["verify", &file]).exits(8).says("is not valid");
}

#[test]
fn g27_a_signed_record_holds_for_its_signer_only() {
    let sandbox = Sandbox::new();
    let key = |name: &str| {
        let path = sandbox.root().join(name);
        let words = ["-q", "-t", "ed25519", "-C", "", "-N", "", "-f"];
        assert!(Command::new("ssh-keygen").args(words).arg(&path).status().expect("ssh-keygen").success());
        let public = std::fs::read_to_string(path.with_extension("pub")).expect("a public half");
        let signers = path.with_extension("signers");
        std::fs::write(&signers, format!("{name}@example.org {public}")).expect("written");
        (path, signers)
    };
    let ((ada, of_ada), (_, of_eve)) = (key("ada"), key("eve"));
    let workflow = format!(
        "name = \"signed\"\n[checks.tests]\nrun = \"test -f work\"\n[proof]\nsign_key = \"{}\"\n[[phase]]\n\
         name = \"WORK\"\nprompt = \"Do it.\"\nreport = \"none\"\nsignal = \"none\"\nchecks = [\"tests\"]\n\
         exit = \"checks_failing == 0\"\n",
        ada.display()
    );
    sandbox.write(".loop/workflow.toml", workflow);
    sandbox.commit("a workflow");
    let agent = sandbox.agent(WORK);
    sandbox.run(&["run", "build it", "--agent-cmd", &agent]).exits(0);
    let record = sandbox.run(&["evidence", "--json"]).exits(0).out;
    let elsewhere = Elsewhere::clone_of(&sandbox, "clone");
    let signers = |it: &Path| it.display().to_string();
    elsewhere.holds(&record, &[]);
    elsewhere.holds(&record, &["--signers", &signers(&of_ada)]);
    elsewhere.refuses(&record, &["--signers", &signers(&of_eve)], "another signer");
    // Whatever part of the signature or of what it is over was changed.
    let begins = record.find("BEGIN SSH SIGNATURE").expect("a signature");
    for at in [begins + 60, begins + 120, begins + 200] {
        let mut bytes = record.clone().into_bytes();
        bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        elsewhere.refuses(
            &changed,
            &["--signers", &signers(&of_ada)],
            &format!("byte {at} of the signature"),
        );
    }
    // Without its signature it reads as one that was never signed.
    let mut value: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    value["predicate"]["integrity"].as_object_mut().expect("an object").remove("signature");
    let stripped = format!("{}\n", serde_json::to_string_pretty(&value).expect("JSON"));
    elsewhere.refuses(&stripped, &["--signers", &signers(&of_ada)], "no signature");
}
