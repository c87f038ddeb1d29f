//! Approvals are for one commit, one tree and one time, and where a gate asks for it, signed by one of
//! its approvers. Keys are made here; nobody's own key is touched.

use loop_harness::{Sandbox, skipped, within};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const AGENT: &str = r#"
echo "$LOOP_ITERATION" >> "$OUT/iterations"
touch built
git add -A; git commit -q --allow-empty -m "$LOOP_ITERATION"
echo '```json'; echo '{"status":"done","summary":"all of it"}'; echo '```'
"#;

fn workflow(gate: &str) -> String {
    format!(
        "name = \"gated\"\n[checks.unit]\nrun = \"test -f built\"\n[[phase]]\nname = \"BUILD\"\n\
         prompt = \"Build it.\"\nreport = \"json\"\nchecks = [\"unit\"]\ngates = [\"review\"]\n\
         breaker = {{ no_progress = 9, same_error = 9 }}\n[gates.review]\nask = \"is it good?\"\n{gate}\n"
    )
}

/// A run that waits at its gate.
fn waiting(sandbox: &Sandbox, gate: &str) {
    sandbox.write(".loop/workflow.toml", workflow(gate));
    sandbox.commit("a workflow");
    let agent = sandbox.agent(AGENT);
    sandbox.run(&["run", "a bridge", "--agent-cmd", &agent]).exits(3);
    assert_eq!(sandbox.status()["question"]["kind"], "gate");
}

/// Makes a key and returns it with its public half.
fn key(sandbox: &Sandbox, name: &str, passphrase: &str) -> (PathBuf, String) {
    let path = sandbox.root().join(name);
    let words = ["-q", "-t", "ed25519", "-C", name, "-N", passphrase, "-f"];
    assert!(Command::new("ssh-keygen").args(words).arg(&path).status().expect("ssh-keygen").success());
    let public = std::fs::read_to_string(path.with_extension("pub")).expect("a public half");
    (path, public)
}

/// A sandbox whose gate asks for Ada's signature, and her key.
fn signed(gate: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let (ada, public) = key(&sandbox, "ada", "");
    let approvers = sandbox.root().join("approvers");
    std::fs::write(&approvers, format!("ada@example.org {public}")).expect("written");
    waiting(&sandbox, &format!("sign = true\napprovers = \"{}\"\n{gate}", approvers.display()));
    (sandbox, ada.display().to_string())
}

#[test]
fn g28_a_question_names_the_commit_and_the_changes() {
    let sandbox = Sandbox::new();
    waiting(&sandbox, "");
    let question = &sandbox.status()["question"];
    let text = question["text"].as_str().expect("a text");
    let head = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert!(text.contains(&format!("commit {}", &head[..16])), "{text}");
    let changes = question["about"]["changes"].as_str().expect("a digest");
    assert!(text.contains(&changes[..16]), "{text}");
    sandbox.run(&["approve", "--by", "Ada"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    sandbox.run(&["log"]).says(&head[..16]);
}

#[test]
fn g28_a_new_commit_voids_what_was_approved_before_it() {
    let sandbox = Sandbox::new();
    waiting(&sandbox, "");
    sandbox.run(&["approve"]).exits(0).says("continue with: loop run");
    sandbox.write("more", "x");
    sandbox.commit("more");
    sandbox.run(&["run"]).exits(3);
    let status = sandbox.status();
    assert_eq!(status["question"]["id"], 2, "it is asked again, about what is there now");
    let head = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(status["question"]["about"]["commit"], *head);
    assert_eq!(sandbox.notes("iterations"), ["1"], "it is measured again, without a call");
    sandbox.run(&["approve"]).exits(0);
    sandbox.run(&["run"]).exits(0);
    sandbox.run(&["log"]).says("is void: the commit was");
}

#[test]
fn g28_a_changed_tree_voids_it_too_and_is_measured_again() {
    let sandbox = Sandbox::new();
    waiting(&sandbox, "");
    std::fs::remove_file(sandbox.project.join("built")).expect("a file");
    sandbox.run(&["approve"]).exits(0).says("the work changed since the gate asked");
    sandbox.run(&["run"]).exits(3);
    assert_eq!(sandbox.notes("iterations"), ["1", "2"], "the check fails on the new tree, so work goes on");
}

#[test]
fn g28_what_is_approved_too_late_is_asked_again() {
    let sandbox = Sandbox::new();
    waiting(&sandbox, "expires = \"1s\"");
    sandbox.run(&["approve"]).exits(0);
    let asked = std::time::Instant::now();
    assert!(within(Duration::from_secs(5), || Duration::from_secs(1) < asked.elapsed()));
    sandbox.run(&["run"]).exits(3);
    assert!(sandbox.status()["question"]["id"].as_u64() >= Some(2), "it is asked again");
    sandbox.run(&["log"]).says("it came too late");
}

#[test]
fn g28_a_signed_gate_is_passed_by_its_approver_and_nobody_else() {
    let (sandbox, ada) = signed("");
    let (eve, _) = key(&sandbox, "eve", "");
    sandbox.run(&["approve"]).exits(2).says("needs a signature");
    sandbox.run(&["answer", "approve"]).exits(2).says("needs a signature");
    sandbox.run(&["approve", "review", "--sign", &eve.display().to_string()]).exits(2).says("no approver");
    sandbox.run(&["run"]).exits(3).says("ssh-keygen -Y sign");
    sandbox.run(&["approve", "review", "--sign", &ada]).exits(0);
    sandbox.run(&["run"]).exits(0);
    sandbox.run(&["log"]).says("signed by ada@example.org");
}

/// Whoever writes into the database passes no gate either: whoever drives the run looks himself.
#[test]
fn g28_an_approval_that_was_put_into_the_database_passes_no_signed_gate() {
    let (sandbox, ada) = signed("");
    let forged = r#"{"answer":{"question":1,"choice":"approve","by":"boss"}}"#;
    let database = rusqlite::Connection::open(sandbox.home.join("loop.db")).expect("a database");
    let row = "insert into command(run, at, body) values(1, 1, ?1)";
    database.execute(row, [forged]).expect("inserted");
    drop(database);
    sandbox.run(&["run"]).exits(3);
    sandbox.run(&["log"]).says("is void: it is not signed");
    assert_eq!(sandbox.status()["question"]["id"], 1, "the question stays open");
    sandbox.run(&["approve", "--sign", &ada]).exits(0);
    sandbox.run(&["run"]).exits(0);
}

/// Who may sign was settled when the run was opened.
#[test]
fn g29_approvers_that_are_added_later_do_not_count() {
    let (sandbox, _) = signed("");
    let (eve, public) = key(&sandbox, "eve", "");
    std::fs::write(sandbox.root().join("approvers"), format!("eve {public}")).expect("written");
    sandbox.run(&["approve", "--sign", &eve.display().to_string()]).exits(2).says("no approver");
    sandbox.write(".loop/workflow.toml", workflow(""));
    sandbox.run(&["run", "--reload"]).exits(2).says("asks for a signature");
}

#[test]
fn g28_a_signature_from_another_machine_passes_and_passes_once() {
    let (sandbox, ada) = signed("");
    let statement = sandbox.status()["question"]["sign"]["statement"].as_str().expect("a text").to_owned();
    let elsewhere = sandbox.root().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    std::fs::write(elsewhere.join("text"), &statement).expect("written");
    let words = ["-Y", "sign", "-q", "-n", "loop-approval", "-f", &ada, "text"];
    let done =
        Command::new("ssh-keygen").args(words).current_dir(&elsewhere).env("HOME", &elsewhere).status();
    assert!(done.expect("ssh-keygen").success());
    let signature = elsewhere.join("text.sig").display().to_string();
    let said = sandbox.run(&["status"]).exits(0).out;
    for line in statement.lines() {
        assert!(said.contains(line), "{line} is not shown:\n{said}");
    }
    sandbox.run(&["approve", "--signature", &signature]).exits(0);
    sandbox.write("more", "x");
    sandbox.commit("more");
    sandbox.run(&["run"]).exits(3);
    sandbox.run(&["approve", "--signature", &signature]).exits(2).says("is not valid");
}

#[test]
fn g28_presence_refuses_keys_that_ask_nobody() {
    let (sandbox, ada) = signed("presence = true");
    sandbox.run(&["approve", "--sign", &ada]).exits(2).says("without asking anybody");
    let statement = sandbox.status()["question"]["sign"]["statement"].as_str().expect("a text").to_owned();
    std::fs::write(sandbox.root().join("text"), statement).expect("written");
    let words = ["-Y", "sign", "-q", "-n", "loop-approval", "-f", &ada, "text"];
    assert!(
        Command::new("ssh-keygen").args(words).current_dir(sandbox.root()).status().expect("it").success()
    );
    let signature = sandbox.root().join("text.sig").display().to_string();
    sandbox.run(&["approve", "--signature", &signature]).exits(2).says("asks for a person");
    // Nor does the word of whoever writes into the database.
    let armored = std::fs::read_to_string(&signature).expect("a signature");
    let claim = serde_json::json!({ "answer": { "question": 1, "choice": "approve", "text": "", "by": "boss",
        "signature": { "armored": armored, "presence": "passphrase" } } });
    let database = rusqlite::Connection::open(sandbox.home.join("loop.db")).expect("a database");
    let row = "insert into command(run, at, body) values(1, 1, ?1)";
    database.execute(row, [claim.to_string()]).expect("inserted");
    drop(database);
    sandbox.run(&["run"]).exits(3);
    sandbox.run(&["log"]).says("asks for a person");
    // That a key file asks for a passphrase is seen only where it lies.
    let words = ["-p", "-q", "-P", "", "-N", "secret", "-f", &ada];
    assert!(Command::new("ssh-keygen").args(words).status().expect("ssh-keygen").success());
    let done = sandbox.run(&["approve", "--sign", &ada]).exits(2);
    assert!(done.err.contains("asks for its passphrase; only the signature of a security key"), "{done:?}");
}

/// A security key in software: what it signs has the flag of a touch in it, or not.
struct SecurityKey<'a> {
    sandbox: &'a Sandbox,
}

const APPLICATION: &[u8] = b"ssh:";

impl SecurityKey<'_> {
    fn openssl(&self, words: &[&str]) -> Vec<u8> {
        let done = Command::new("openssl").args(words).current_dir(self.sandbox.root()).output();
        let done = done.expect("openssl");
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    }

    fn hash(&self, bytes: &[u8]) -> Vec<u8> {
        self.sandbox.file("hashed", bytes);
        self.openssl(&["dgst", "-sha256", "-binary", "hashed"])
    }

    fn base64(&self, bytes: &[u8]) -> String {
        self.sandbox.file("encoded", bytes);
        String::from_utf8(self.openssl(&["base64", "-A", "-in", "encoded"])).expect("text")
    }

    fn public(&self) -> Vec<u8> {
        let key = self.openssl(&["pkey", "-in", "sk.pem", "-pubout", "-outform", "DER"]);
        [string(b"sk-ssh-ed25519@openssh.com"), string(&key[key.len() - 32..]), string(APPLICATION)].concat()
    }

    fn sign(&self, text: &str, flags: u8) -> String {
        let head = [string(b"loop-approval"), string(b""), string(b"sha256")].concat();
        let signed = [b"SSHSIG".to_vec(), head.clone(), string(&self.hash(text.as_bytes()))].concat();
        let after = [vec![flags], 7_u32.to_be_bytes().to_vec()].concat();
        let whole = [self.hash(APPLICATION), after.clone(), self.hash(&signed)].concat();
        self.sandbox.file("whole", whole);
        let made = self.openssl(&["pkeyutl", "-sign", "-rawin", "-inkey", "sk.pem", "-in", "whole"]);
        let made = string(&[string(b"sk-ssh-ed25519@openssh.com"), string(&made), after].concat());
        let blob = [b"SSHSIG".to_vec(), 1_u32.to_be_bytes().to_vec(), string(&self.public()), head, made];
        let text = self.base64(&blob.concat());
        let lines: Vec<&str> =
            text.as_bytes().chunks(70).map(|it| std::str::from_utf8(it).expect("text")).collect();
        format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", lines.join("\n"))
    }
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).expect("short").to_be_bytes()[..], bytes].concat()
}

#[test]
fn g28_presence_takes_a_security_key_that_was_touched() {
    let sandbox = Sandbox::new();
    if Command::new("openssl").arg("version").output().is_err() {
        return skipped("g28_presence_takes_a_security_key", "openssl is missing");
    }
    let key = SecurityKey { sandbox: &sandbox };
    key.openssl(&["genpkey", "-algorithm", "ed25519", "-out", "sk.pem"]);
    let public = key.base64(&key.public());
    // Untouched ones are refused by ssh-keygen itself unless the file of approvers says otherwise.
    let line = format!("ada@example.org sk-ssh-ed25519@openssh.com {public}\n");
    sandbox.file("approvers", line);
    let approvers = sandbox.path("approvers").display().to_string();
    waiting(&sandbox, &format!("sign = true\napprovers = \"{approvers}\"\npresence = true"));
    let statement = sandbox.status()["question"]["sign"]["statement"].as_str().expect("a text").to_owned();
    let signature = sandbox.path("approval.sig").display().to_string();
    sandbox.file("approval.sig", key.sign(&statement, 0));
    sandbox.run(&["approve", "--signature", &signature]).exits(2);
    sandbox.file("approval.sig", key.sign(&statement, 1));
    sandbox.run(&["approve", "--signature", &signature]).exits(0);
    sandbox.run(&["run"]).exits(0);
    sandbox.run(&["log"]).says("signed by ada@example.org");
}
