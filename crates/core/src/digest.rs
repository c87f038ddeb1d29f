//! The SHA-256 of a text, in hexadecimal.

use sha2::{Digest, Sha256};

pub fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
