//! Signatures by SSH keys, made and checked by the system's own `ssh-keygen -Y`. Who may sign is a text
//! in its format for allowed signers. What the program has to read from files it reads from memory, so
//! that nothing lies on the disk between two looks at it.

use crate::short_commands::exchange::{ExchangeResult, converse};
use crate::short_commands::which;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = "ssh-keygen";

/// Checking takes milliseconds. A security key waits for its touch, and a person for their passphrase.
const CHECK_MOST: Duration = Duration::from_secs(20);
const SIGN_MOST: Duration = Duration::from_secs(300);

/// A signature is about 400 bytes, and 2 KB for the longest RSA key.
const OUTPUT_MOST: usize = 1 << 20;

/// The program itself: one that nobody can have replaced who has this user's rights, where there is one.
fn program() -> PathBuf {
    which::unwritable(PROGRAM).unwrap_or_else(|| PathBuf::from(PROGRAM))
}

/// What stands between a key and its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// It lives in a security key.
    SecurityKey,
    /// A file that asks for a passphrase.
    Encrypted,
    /// A file that does not.
    Open,
    /// Only its public half is here; an agent holds the other, and may use it without asking.
    InAgent,
}

/// Looks what kind of key this file is.
pub fn kind(key: &Path) -> Result<KeyKind, String> {
    let read = loop_base::files::text(key).map_err(|error| format!("{}: {error}", key.display()))?;
    if let Some(word) = read.split_whitespace().next().filter(|it| !it.starts_with("-----")) {
        return Ok(if word.starts_with("sk-") { KeyKind::SecurityKey } else { KeyKind::InAgent });
    }
    let mut command = Command::new(program());
    command.args(["-y", "-P", "", "-f"]).arg(key);
    match run(command, &[], CHECK_MOST)? {
        Ok(public) if public.starts_with(b"sk-") => Ok(KeyKind::SecurityKey),
        Ok(_) => Ok(KeyKind::Open),
        Err(trouble) if trouble.contains("incorrect passphrase") => Ok(KeyKind::Encrypted),
        Err(trouble) => Err(format!("{}: {trouble}", key.display())),
    }
}

/// Signs a text. A key file is used itself, never by an agent that holds it too, so that a passphrase
/// is asked for.
pub fn sign(key: &Path, kind: KeyKind, namespace: &str, text: &str) -> Result<String, String> {
    let mut command = Command::new(program());
    command.args(["-Y", "sign", "-q", "-n", namespace, "-f"]).arg(key);
    match kind {
        KeyKind::Encrypted | KeyKind::Open => _ = command.env_remove("SSH_AUTH_SOCK"),
        KeyKind::SecurityKey | KeyKind::InAgent => (),
    }
    let signed = run(command, text.as_bytes(), SIGN_MOST)??;
    String::from_utf8(signed).map_err(|_| "ssh-keygen wrote no signature".to_owned())
}

/// Returns who signed this text, by the name that the allowed signers give them, or why nobody did.
pub fn verify(signers: &str, namespace: &str, text: &str, armored: &str) -> Result<String, String> {
    let held = |text: &str| memory(text).map_err(|error| format!("no memory for a signature: {error}"));
    let (signers_file, signature_file) = (held(signers)?, held(armored)?);
    let path = |it: &File| format!("/proc/self/fd/{}", it.as_raw_fd());
    let mut command = Command::new(program());
    command.args(["-Y", "find-principals", "-f", &path(&signers_file), "-s", &path(&signature_file)]);
    let found = run(command, &[], CHECK_MOST)?.map_err(|_| "no approver has this key".to_owned())?;
    let found = String::from_utf8_lossy(&found).into_owned();
    let mut trouble = "no approver has this key".to_owned();
    for principal in found.lines().flat_map(|it| it.split(',')).map(str::trim).filter(|it| !it.is_empty()) {
        let (signers_file, signature_file) = (held(signers)?, held(armored)?);
        let mut command = Command::new(program());
        command.args(["-Y", "verify", "-f", &path(&signers_file), "-I", principal, "-n", namespace]);
        command.args(["-s", &path(&signature_file)]);
        match run(command, text.as_bytes(), CHECK_MOST)? {
            Ok(_) => return Ok(principal.to_owned()),
            Err(why) => trouble = format!("the signature is not valid for {principal}: {why}"),
        }
    }
    Err(trouble)
}

/// Returns the fingerprint of the key that signed this text, whoever has it.
pub fn signing_key(namespace: &str, text: &str, armored: &str) -> Result<String, String> {
    let signature = memory(armored).map_err(|error| format!("no memory for a signature: {error}"))?;
    let mut command = Command::new(program());
    let file = format!("/proc/self/fd/{}", signature.as_raw_fd());
    command.args(["-Y", "check-novalidate", "-n", namespace, "-s", &file]);
    let said =
        run(command, text.as_bytes(), CHECK_MOST)?.map_err(|_| "its signature is not valid".to_owned())?;
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(said
        .split_whitespace()
        .find(|it| it.starts_with("SHA256:"))
        .unwrap_or("of an unknown kind")
        .to_owned())
}

/// Whether a signature was made by a security key that somebody touched: the key itself signs that.
pub fn is_touched(armored: &str) -> bool {
    let Some(blob) = decoded(armored) else { return false };
    let Some(mut rest) = blob.strip_prefix(b"SSHSIG").and_then(|it| it.get(4..)) else { return false };
    let mut fields = [&[][..]; 5];
    for field in &mut fields {
        match string(rest) {
            Some((found, after)) => (*field, rest) = (found, after),
            None => return false,
        }
    }
    let Some((kind, after)) = string(fields[4]) else { return false };
    let Some((_, flags)) = string(after) else { return false };
    kind.starts_with(b"sk-") && flags.first().is_some_and(|it| it & 1 == 1)
}

fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

/// Takes the armour off.
fn decoded(armored: &str) -> Option<Vec<u8>> {
    let body = armored.split_once("-----BEGIN SSH SIGNATURE-----")?.1.split_once("-----END")?.0;
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0_u32, 0);
    for letter in body.bytes().filter(|it| !it.is_ascii_whitespace() && *it != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (held, bits) = (held << 6 | u32::from(value), bits + 6);
        if 8 <= bits {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// A file in memory that the program inherits.
fn memory(text: &str) -> io::Result<File> {
    let mut file = File::from(memfd_create("signature", MemfdFlags::empty())?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// The outer error says that it could not be run; the inner one is what it complained about. It stays
/// in our process group: one that asks for a passphrase has to own the terminal.
fn run(mut command: Command, input: &[u8], time_most: Duration) -> Result<Result<Vec<u8>, String>, String> {
    command.env("LC_ALL", "C");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "ssh-keygen is not installed, or not in PATH".to_owned(),
        _ => format!("ssh-keygen cannot be started: {error}"),
    })?;
    match converse(&mut child, input, time_most, OUTPUT_MOST).map_err(|error| error.to_string())? {
        ExchangeResult::All(status, said) if status.success() => Ok(Ok(said.stdout)),
        ExchangeResult::All(status, said) => {
            let words = String::from_utf8_lossy(&said.stderr);
            let last = words.lines().rev().find(|it| !it.trim().is_empty()).map(str::trim);
            Ok(Err(last.map_or_else(|| status.to_string(), str::to_owned)))
        }
        ExchangeResult::TooLate | ExchangeResult::TooMuch => {
            let _may_have_ended = child.kill();
            Err(format!("ssh-keygen gave no answer within {} s", time_most.as_secs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyKind, is_touched, kind, sign, verify};
    use std::path::PathBuf;
    use std::process::Command;

    fn key(folder: &std::path::Path, name: &str, passphrase: &str) -> (PathBuf, String) {
        let path = folder.join(name);
        let words = ["-q", "-t", "ed25519", "-C", "", "-N", passphrase, "-f"];
        let made = Command::new("ssh-keygen").args(words).arg(&path).status();
        assert!(made.expect("ssh-keygen").success());
        let public = std::fs::read_to_string(path.with_extension("pub")).expect("a public half");
        (path, public)
    }

    #[test]
    fn a_signature_holds_for_its_text_its_namespace_and_its_signer() {
        let dir = tempfile::tempdir().expect("a folder");
        let (ada, public) = key(dir.path(), "ada", "");
        let (eve, _) = key(dir.path(), "eve", "");
        let signers = format!("ada@example.org {public}");
        assert_eq!(kind(&ada), Ok(KeyKind::Open));
        let signature = sign(&ada, KeyKind::Open, "loop-approval", "text\n").expect("signed");
        let holds = |text: &str, namespace: &str| verify(&signers, namespace, text, &signature);
        assert_eq!(holds("text\n", "loop-approval"), Ok("ada@example.org".to_owned()));
        assert!(holds("text", "loop-approval").is_err());
        assert!(holds("text\n", "file").is_err());
        let other = sign(&eve, KeyKind::Open, "loop-approval", "text\n").expect("signed");
        assert!(verify(&signers, "loop-approval", "text\n", &other).expect_err("no").contains("no approver"));
        assert!(verify("", "loop-approval", "text\n", &signature).is_err());
        assert!(verify(&signers, "loop-approval", "text\n", "nonsense").is_err());
        assert!(!is_touched(&signature) && !is_touched("nonsense"));
    }

    #[test]
    fn a_key_file_says_whether_it_asks() {
        let dir = tempfile::tempdir().expect("a folder");
        let (asking, _) = key(dir.path(), "asking", "secret");
        assert_eq!(kind(&asking), Ok(KeyKind::Encrypted));
        assert_eq!(kind(&asking.with_extension("pub")), Ok(KeyKind::InAgent));
        assert!(kind(&dir.path().join("missing")).is_err());
        let hardware = dir.path().join("hardware.pub");
        std::fs::write(&hardware, "sk-ssh-ed25519@openssh.com AAAA me\n").expect("written");
        assert_eq!(kind(&hardware), Ok(KeyKind::SecurityKey));
    }
}
