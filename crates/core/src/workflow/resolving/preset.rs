//! The four workflows that are built in, as the files that a user would write. `loop setup --full`
//! copies them out; everything else reads them through the same door as a user's own.

use crate::workflow::grammar::problem::Sources;
use crate::workflow::model::Fact;
use crate::workflow::syntax::file::{WorkflowFile, read_file};

/// Which built-in workflow it is, for code that treats one of them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    Tdd,
    Engineering,
    Plan,
    Ralph,
}

impl BuiltIn {
    /// Returns its row of the table.
    pub fn preset(self) -> &'static Preset {
        ALL.iter().find(|it| it.built_in == self).expect("every built-in workflow has a row")
    }

    pub fn name(self) -> &'static str {
        self.preset().name
    }
}

/// A built-in workflow and its prompts.
#[derive(Debug)]
pub struct Preset {
    pub built_in: BuiltIn,
    pub name: &'static str,
    /// `workflow.toml`
    pub text: &'static str,
    /// Path beside `workflow.toml`, and text.
    pub prompts: &'static [(&'static str, &'static str)],
}

/// Returns the preset of this name, in any case of letters.
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|it| it.name.eq_ignore_ascii_case(name.trim()))
}

/// Returns the names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|it| it.name)
}

/// Returns a fact that every workflow may use without defining it. The preset that lives by them is
/// where they are written down.
pub(crate) fn standard_fact(name: &str) -> Option<Fact> {
    let head = format!("[facts.{name}]");
    let preset = ALL.iter().find(|it| it.text.lines().any(|line| line.starts_with(&head)))?;
    let mut sources = Sources::default();
    let file: WorkflowFile = read_file(preset.text, 0, &mut sources);
    let fact = file.facts?.value.0.remove(name)?.value;
    let path = fact.path.map(|it| Fact::Path(it.value.0.into_iter().map(|it| it.value).collect()));
    path.or(fact.diff.map(|it| Fact::Diff(it.value)))
}

macro_rules! preset {
    ($built_in:ident $name:literal: $($prompt:literal)*) => {
        Preset {
            built_in: BuiltIn::$built_in,
            name: $name,
            text: include_str!(concat!("../../../../../presets/", $name, "/workflow.toml")),
            prompts: &[$((
                concat!("prompts/", $prompt),
                include_str!(concat!("../../../../../presets/", $name, "/prompts/", $prompt)),
            )),*],
        }
    };
}

pub static ALL: [Preset; 4] = [
    preset!(Tdd "tdd": "red.md" "green.md" "refactor.md" "document.md" "qa.md"),
    preset!(Engineering "engineering": "stage.md" "diagnose.md"),
    preset!(Plan "plan": "iteration.md" "verify.md" "gaps.md"),
    preset!(Ralph "ralph": "work.md"),
];
