//! Which variables hold secrets, and what the keys of well-known providers look like.

/// Shorter values are words; a secret that short protects nothing.
const LEAST: usize = 8;

/// A value of lower-case letters alone is a word up to here: `postgres`, `changeme`.
const LEAST_WORD: usize = 12;

/// Parts of a name that say that its value is a secret.
const TELLING: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PWD",
    "PAT",
    "CREDENTIAL",
    "CREDENTIALS",
    "APIKEY",
    "COOKIE",
    "AUTH",
    "BEARER",
    "PRIVATE",
    "DSN",
    "CERT",
    "SIGNATURE",
    "WEBHOOK",
    "JWT",
    "HEADERS",
    "PASS",
];

/// Everything of these providers is taken for a secret, but for what is known to be a setting.
const FAMILIES: &[&str] = &["ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "OPENROUTER_"];

/// Last parts of names whose values are settings, whatever stands before.
const SETTINGS: &[&str] = &[
    "URL",
    "URI",
    "HOST",
    "ENDPOINT",
    "MODEL",
    "REGION",
    "VERSION",
    "PATH",
    "FILE",
    "DIR",
    "HOME",
    "SOCK",
    "TIMEOUT",
    "MS",
    "LOG",
    "ID",
    "NAME",
    "USER",
    "PROJECT",
    "TYPE",
    "MODE",
    "BETAS",
    "ORGANIZATION",
];

/// Returns the secrets in a variable: its value, or the password in an address.
pub(super) fn secrets(name: &str, value: &[u8]) -> Vec<Vec<u8>> {
    let value = value.trim_ascii();
    let mut found = Vec::new();
    if is_telling(name) && !is_place(value) && is_long(value) {
        found.push(value.to_vec());
    }
    found.extend(password_in(value).filter(|it| is_long(it)).map(<[u8]>::to_vec));
    found
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // The working directories are no passwords.
    if matches!(name.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    let last = name.rsplit('_').next().unwrap_or_default();
    let tells = |part: &str| TELLING.iter().any(|it| part == *it || part.strip_suffix('S') == Some(it));
    let is_glued = ["APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"].iter().any(|it| name.ends_with(it));
    !SETTINGS.contains(&last)
        && (name.split('_').any(tells) || is_glued || FAMILIES.iter().any(|it| name.starts_with(it)))
}

/// A path or an address says where a secret is, not what it is.
fn is_place(value: &[u8]) -> bool {
    value.starts_with(b"/") || value.starts_with(b"~/") || scheme(value).is_some()
}

fn is_long(value: &[u8]) -> bool {
    let is_word = value.iter().all(u8::is_ascii_lowercase);
    let is_number = value.iter().all(u8::is_ascii_digit);
    let least = if is_word || is_number { LEAST_WORD } else { LEAST };
    least <= value.len()
}

fn scheme(value: &[u8]) -> Option<usize> {
    let at = value.windows(3).take(20).position(|it| it == b"://")?;
    value[..at].iter().all(|it| it.is_ascii_alphanumeric() || *it == b'+').then_some(at + 3)
}

/// `postgres://user:this@host/`
fn password_in(value: &[u8]) -> Option<&[u8]> {
    let rest = &value[scheme(value)?..];
    let place = &rest[..rest.iter().position(|it| *it == b'/').unwrap_or(rest.len())];
    let login = &place[..place.iter().rposition(|it| *it == b'@')?];
    Some(&login[login.iter().position(|it| *it == b':')? + 1..])
}

/// Whether a byte may stand in a key.
pub(super) type IsKeyByte = fn(u8) -> bool;

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn bearer(byte: u8) -> bool {
    word(byte) || matches!(byte, b'.' | b'/' | b'+' | b'=' | b'~')
}

/// How a key begins, what it is made of, how much of that must follow, and whether a letter or digit
/// before it means that it is the end of another word, as in `task-`.
pub(super) const KEYS: &[(&str, IsKeyByte, usize, bool)] = &[
    ("sk-ant-", word, 12, true),
    ("sk-", word, 20, true),
    ("sk_live_", word, 16, true),
    ("rk_live_", word, 16, true),
    ("sk_test_", word, 16, true),
    ("whsec_", word, 16, true),
    ("ghp_", word, 20, true),
    ("gho_", word, 20, true),
    ("ghu_", word, 20, true),
    ("ghs_", word, 20, true),
    ("ghr_", word, 20, true),
    ("github_pat_", word, 20, true),
    ("glpat-", word, 16, true),
    ("xoxb-", word, 16, true),
    ("xoxp-", word, 16, true),
    ("AKIA", capital, 16, true),
    ("ASIA", capital, 16, true),
    ("AIza", word, 30, true),
    ("npm_", word, 30, true),
    ("Bearer ", bearer, 16, false),
    ("bearer ", bearer, 16, false),
    ("Authorization: Basic ", bearer, 8, false),
];

pub(super) const PEM: &[&str] = &[
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----",
    "-----BEGIN DSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
];

#[cfg(test)]
mod tests {
    use super::secrets;

    #[test]
    fn names_tell_and_settings_stay() {
        let is_secret = |name: &str, value: &str| !secrets(name, value.as_bytes()).is_empty();
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_CUSTOM_HEADERS",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "OPENAI_API_KEY",
            "OPENAI_ANYTHING",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "DB_PASSWORD",
            "npm_config__authToken",
            "MYSECRET",
            "SLACK_WEBHOOK",
        ] {
            assert!(is_secret(name, "k7Qp-32xZ"), "{name}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("PWD", "/home/me/project"),
            ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
            ("ANTHROPIC_BASE_URL", "https://api.example.com"),
            ("ANTHROPIC_MODEL", "claude-sonnet-4-5"),
            ("OPENAI_API_KEY_FILE", "key-file-name.txt"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/key.json"),
            ("DB_PASSWORD", "postgres"),
            ("SIGNING_KEY", "short"),
            ("KEYBOARD_LAYOUT", "en-us-international"),
            ("MONKEY_BUSINESS", "a-long-value-here"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
        assert_eq!(secrets("DATABASE_URL", b"postgres://me:p4ss-w0rd@host/db"), [b"p4ss-w0rd".to_vec()]);
    }
}
