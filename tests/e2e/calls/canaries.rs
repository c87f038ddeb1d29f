//! Thirty secrets, printed by an agent, a check and a person in every form they know, and looked for
//! in everything that is written or shown afterwards.

use loop_harness::{CHECK, Sandbox, WORK, program, within};
use std::time::Duration;

/// Names that users give to secrets, with values of every make: letters, signs that JSON, addresses
/// and shells escape, one that is long, one of several lines.
fn canaries() -> Vec<(String, String)> {
    let names = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GITLAB_TOKEN",
        "NPM_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "DATABASE_PASSWORD",
        "PGPASSWORD",
        "MYSQL_PWD",
        "REDIS_AUTH",
        "SLACK_BOT_TOKEN",
        "STRIPE_SECRET_KEY",
        "SENTRY_AUTH_TOKEN",
        "DOCKER_PASSWORD",
        "SSH_PASSPHRASE",
        "JWT_SECRET",
        "COOKIE_SECRET",
        "SIGNING_KEY",
        "AZURE_OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "HF_TOKEN",
        "VAULT_TOKEN",
        "TWILIO_AUTH_TOKEN",
        "OPENAI_SOMETHING",
        "MAIL_PASS",
    ];
    let value = |index: usize| match index {
        11 => "q\"uo\\te/s+a=nd&m?ore#7".to_owned(),
        12 => "pässwörd-mit-ümläuten".to_owned(),
        16 => format!("sk_live_{}", "9fK2".repeat(30)),
        22 => "first-line-of-a-key-0a1b2c3d\nsecond-line-of-a-key-4e5f6071\n".to_owned(),
        _ => format!("cnry{index:02}-{:08x}-Zq{}", (index + 3) * 0x2F1D_35A7 % 0xFFFF_FFFB, index * 7),
    };
    names.iter().enumerate().map(|(index, name)| ((*name).to_owned(), value(index))).collect()
}

/// Prints each of them: as it is, in base64, in hexadecimal, percent-encoded, in two colours, in two writes.
fn printer(canaries: &[(String, String)]) -> String {
    let each = canaries.iter().map(|(name, _)| {
        format!(
            "printf '%s\\n' \"${name}\"\n\
             printf '%s' \"${name}\" | base64\n\
             printf 'x%s' \"${name}\" | base64 -w0; echo\n\
             printf '%s' \"${name}\" | od -An -v -tx1 | tr -d ' \\n'; echo\n\
             printf '%s' \"${name}\" | od -An -v -tx1 | tr ' ' '%' | tr -d '\\n'; echo\n\
             printf '%s' \"${name}\" | od -An -v -tx1 | tr ' a-f' ':A-F' | tr -d '\\n'; echo\n\
             V=\"${{{name}%????}}\"; W=\"${{{name}#\"$V\"}}\"\n\
             printf '%s\\033[1;31m%s\\033[0m\\n' \"$V\" \"$W\"\n\
             printf '%s' \"$V\"; sync /dev/null 2>/dev/null; printf '%s\\n' \"$W\"\n"
        )
    });
    each.collect()
}

/// The forms that must be nowhere.
fn forms(value: &str) -> Vec<String> {
    let lines: Vec<&str> = value.lines().collect();
    let mut forms: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
    for line in &lines {
        let json = serde_json::to_string(line).expect("JSON");
        forms.push(json[1..json.len() - 1].to_owned());
        forms.push(line.bytes().map(|it| format!("{it:02x}")).collect());
        forms.push(line.bytes().map(|it| format!("%{it:02x}")).collect());
        forms.push(line.bytes().map(|it| format!("{it:02X}")).collect::<Vec<_>>().join(":"));
    }
    forms.push(base64(value.as_bytes()));
    forms
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |it: &[u8]| {
        let number = it.iter().chain(&[0, 0]).take(3).fold(0_usize, |sum, it| sum << 8 | usize::from(*it));
        let letters = [18, 12, 6, 0].map(|shift| char::from(ALPHABET[number >> shift & 63]));
        letters[..it.len() + 1].iter().collect::<String>()
    };
    // What follows a whole group depends on what is encoded after it.
    bytes.chunks_exact(3).map(group).collect()
}

#[track_caller]
fn assert_clean(canaries: &[(String, String)], bytes: &[u8], sink: &str) {
    let text = String::from_utf8_lossy(bytes);
    for (name, value) in canaries {
        for form in forms(value) {
            assert!(!text.contains(&form), "{name} stands in {sink} as {form}");
        }
    }
}

#[test]
fn g36_no_secret_reaches_a_sink() {
    let sandbox = Sandbox::new();
    let canaries = canaries();
    let printer = printer(&canaries);
    let agent = sandbox.agent(&format!(
        "{{\n{printer}}}\n{{\n{printer}}} >&2\n\
         echo '<promise>TASK_COMPLETE</promise>'; [ \"$LOOP_CALL\" -lt 2 ] || exit 3"
    ));
    sandbox.write("check.sh", format!("{printer}\nexit 1\n"));
    sandbox.write(
        ".loop/workflow.toml",
        format!(
            "extends = \"ralph\"\n[notify]\nrun = 'echo \"$LOOP_REASON $LOOP_NEXT_STEP\" >> {:?}'\n",
            sandbox.note("told")
        ),
    );
    sandbox.commit("a check");
    let command = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.envs(canaries.iter().map(|(name, value)| (name, value)));
        command
    };
    let input = format!("write it with {} at hand", canaries[5].1);
    let run = ["run", &input, "--agent-cmd", &agent, "--check", "tests=sh check.sh", "-n", "3", "-v"];
    let mut shown = vec![("run", sandbox.start(command(&run)).wait())];
    let guide = format!("use {} for it", canaries[6].1);
    for arguments in [
        &["guide", &guide][..],
        &["status"],
        &["status", "--json"],
        &["log", "-v"],
        &["log", "--json"],
        &["show"],
        &["show", "1"],
        &["show", "1", "--output"],
        &["show", "2", "--checks"],
        &["why"],
        &["why", "--json"],
        &["runs"],
        &["runs", "--json"],
        &["limits"],
        &["doctor"],
        &["agents", "--json"],
        &["answer"],
        &["check"],
    ] {
        shown.push((arguments[0], sandbox.start(command(arguments)).wait()));
    }
    // Whoever looks later need not know the secrets.
    shown.push(("show without them", sandbox.run(&["show", "1"])));
    let mistake = ["run", "--agent", &canaries[3].1];
    shown.push(("a mistake", sandbox.start(command(&mistake)).wait()));
    for (sink, done) in &shown {
        assert_clean(&canaries, done.out.as_bytes(), sink);
        assert_clean(&canaries, done.err.as_bytes(), sink);
    }
    assert!(shown[7].1.out.contains("[redacted]"), "the agent did print them: {:?}", shown[7].1);
    let mut files = 0;
    for folder in [&sandbox.home, &sandbox.project] {
        for (path, bytes) in sandbox.contents(folder) {
            files += 1;
            assert_clean(&canaries, &bytes, &path.display().to_string());
        }
    }
    assert!(10 < files, "{files}");
    for call in sandbox.calls() {
        assert_clean(&canaries, sandbox.prompt(call).as_bytes(), "a prompt");
    }
    assert!(sandbox.note("told").exists(), "somebody was told");
    assert_clean(&canaries, sandbox.notes("told").join("\n").as_bytes(), "a notification");
}

/// Keys that nobody told us of are known by their shape.
#[test]
fn g36_keys_of_others_are_known_by_their_shape() {
    let sandbox = Sandbox::new();
    let keys = [
        "sk-ant-api03-AbCdEfGhIjKlMnOp",
        "ghp_0123456789abcdefghij0123456789ABCDEF",
        "AKIAIOSFODNN7EXAMPLE",
        "MIIEowIBAAKCAQEAtheKeyItself",
    ];
    let agent = sandbox.agent(&format!(
        "cat <<'END'\nexport K=sk-ant-api03-AbCdEfGhIjKlMnOp\nAuthorization: Bearer ghp_0123456789abcdefghij0123456789ABCDEF\n\
         aws AKIAIOSFODNN7EXAMPLE\n-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAtheKeyItself\n-----END RSA PRIVATE KEY-----\nEND\n\
         {WORK}"
    ));
    sandbox.run(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]).exits(0);
    for (path, bytes) in sandbox.contents(&sandbox.home) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!keys.iter().any(|it| text.contains(it)), "{}: {text}", path.display());
    }
    sandbox.run(&["show", "1", "--output"]).exits(0).says("aws [redacted]");
}

/// The controller and its shim leave no image of their memory, and nobody of the user's may look in.
#[test]
fn g36_memory_is_nobody_elses() {
    let sandbox = Sandbox::new();
    let (at, go) = (sandbox.fifo("at"), sandbox.fifo("go"));
    let agent = sandbox.agent(&format!("echo here > \"$OUT/at\"; read x < \"$OUT/go\"; {WORK}"));
    let running = sandbox.spawn(&["run", "it", "--agent-cmd", &agent, "--check", CHECK]);
    at.hear();
    let ours: Vec<i32> =
        sandbox.processes().into_iter().filter(|it| it.1.starts_with(program())).map(|it| it.0).collect();
    let controller = running.child.id().cast_signed();
    for pid in ours.iter().chain([&controller]) {
        // The baseline is proven beside the call; that prover may be gone by now.
        let Ok(limits) = std::fs::read_to_string(format!("/proc/{pid}/limits")) else { continue };
        let core =
            limits.lines().find(|it| it.starts_with("Max core file size")).unwrap_or_default().to_owned();
        assert!(core.split_whitespace().nth(4) == Some("0"), "{pid}: {core}");
    }
    let owner = std::os::unix::fs::MetadataExt::uid(
        &std::fs::metadata(format!("/proc/{controller}/environ")).expect("it runs"),
    );
    assert_eq!(owner, 0, "a process that may be looked into belongs to its user");
    go.say();
    running.wait().exits(0);
    assert!(within(Duration::from_secs(2), || sandbox.processes().is_empty()));
}
