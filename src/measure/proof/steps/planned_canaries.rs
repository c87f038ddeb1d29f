//! Which canaries a checkout gets, and the word that names them.

use crate::measure::proof::pure::{Canary, Side, canaries};
use crate::measure::proof::steps::overlay::Trees;
use std::path::Path;

/// A word that stands in no project, and by which code could not tell that it is being looked at.
pub(crate) fn random_word() -> String {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    let first = digits.bytes().next().map_or('q', |it| char::from(b'g' + it % 16));
    format!("{first}{}", &digits[1..14])
}

/// The canaries of a checkout but those in the commands of the checks.
pub(crate) struct PlannedCanaries {
    pub(crate) all: Vec<Canary>,
    /// None of the baseline's files that carry tests is in the checkout: these are in files that the run
    /// added, and are reported under other names than on the baseline.
    pub(crate) are_elsewhere: bool,
}

pub(crate) fn planned_canaries(trees: &Trees, checkout: &Path, word: &str) -> PlannedCanaries {
    let mut all = canaries(&trees.carriers(checkout, Side::Base), word).canaries;
    let mut are_elsewhere = false;
    if all.is_empty() {
        all = canaries(&trees.carriers(checkout, Side::Final), word).canaries;
        are_elsewhere = !all.is_empty();
    }
    all.extend(trees.shell_canaries(checkout, word));
    PlannedCanaries { all, are_elsewhere }
}
