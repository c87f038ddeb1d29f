//! The defences of a proof, and whether this build has them. Every build has all of them, except those
//! that the tests make to show what each is for: with one switched off, a cheat that it catches
//! completes as verified. No release can be built without one.

/// One of the things that a proof looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defence {
    /// The final tree runs in a clean checkout, not in place.
    Clean,
    /// The tests of the opening run with the final code.
    Overlay,
    /// A new test counts only if it fails on the code of the opening.
    OldCode,
    /// A test that must fail has to be reported.
    Canary,
    /// A test that ran at the opening must not be skipped or gone.
    Ratchet,
}

#[cfg(all(
    not(debug_assertions),
    any(
        feature = "without-clean",
        feature = "without-overlay",
        feature = "without-old-code",
        feature = "without-canary",
        feature = "without-ratchet"
    )
))]
compile_error!("a defence of the proof is switched off: that is for tests only");

impl Defence {
    pub fn is_on(self) -> bool {
        match self {
            Defence::Clean => cfg!(not(feature = "without-clean")),
            Defence::Overlay => cfg!(not(feature = "without-overlay")),
            Defence::OldCode => cfg!(not(feature = "without-old-code")),
            Defence::Canary => cfg!(not(feature = "without-canary")),
            Defence::Ratchet => cfg!(not(feature = "without-ratchet")),
        }
    }
}
