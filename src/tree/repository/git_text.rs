//! What git prints and what it takes, as text: object ids, parts of ref names, paths in listings.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Says whether a text may become a part of a ref's name. Git allows far more; what we name
/// ourselves needs no more than this, and nothing in it can be an option, a range or a path.
pub(crate) fn valid_ref_part(text: &str) -> bool {
    let allowed = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (1..=64).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(allowed)
}

/// Says whether a text is a full object id, of either kind that git knows.
pub(crate) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
}

/// Reads the single line that a command printed.
pub(crate) fn single_line(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim_end().to_owned()
}

/// Turns bytes that git printed into a path.
pub(crate) fn bytes_to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Splits what git printed with `-z` into its paths.
pub(crate) fn listed_paths(output: &[u8]) -> impl Iterator<Item = PathBuf> {
    output.split(|it| *it == 0).filter(|it| !it.is_empty()).map(bytes_to_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_part_is_strict() {
        let long = "a".repeat(64);
        for good in ["a", "0", "1f3e-9", "run-1", long.as_str()] {
            assert!(valid_ref_part(good), "{good}");
        }
        let longer = "a".repeat(65);
        for bad in [
            "",
            "-x",
            "--upload-pack=x",
            "A",
            "a.b",
            "a/b",
            "..",
            "main;touch x",
            "a\n",
            "ü",
            longer.as_str(),
        ] {
            assert!(!valid_ref_part(bad), "{bad:?}");
        }
    }
}
