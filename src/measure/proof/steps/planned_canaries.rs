//! Which canaries a checkout gets, and the word that names them.

use crate::measure::proof::pure::{Canary, canaries};
use crate::measure::proof::steps::overlay::Trees;
use std::path::Path;

/// A word that stands in no project, and by which code could not tell that it is being looked at.
pub(crate) fn random_word() -> String {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    let first = digits.bytes().next().map_or('q', |it| char::from(b'g' + it % 16));
    format!("{first}{}", &digits[1..14])
}

/// All canaries of a checkout but those in the commands of the checks.
pub(crate) fn planned_canaries(trees: &Trees, checkout: &Path, word: &str) -> Vec<Canary> {
    let mut all = canaries(&trees.carriers(checkout), word).canaries;
    all.extend(trees.shell_canaries(checkout, word));
    all
}
