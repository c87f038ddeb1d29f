//! The one sentence at the end of every run.

use crate::record::Proof;

/// Returns the sentence that says what was proven.
pub fn closing_sentence(proof: &Proof) -> String {
    todo!()
}

/// Returns why a run is not proven, without the words "not proven".
pub fn not_proven_reason(proof: &Proof) -> Option<String> {
    todo!()
}
