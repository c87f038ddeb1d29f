//! Values of a workflow file that may be written in more than one way: a report protocol, a signal, a
//! model, a source of items, a gate at a phase. Each turns into one meaning here, so that nobody else
//! asks how it was typed.

use super::typed::{At, Key, Section, Typed, section, unexpected};
use super::value_types::Texts;
use crate::workflow::grammar::condition::Condition;
use crate::workflow::grammar::problem::{Place, Sources, suggest};
use crate::workflow::model::{ItemSource, Protocol, Signal};
use serde_json::{Value, json};
use toml::de::DeValue;

/// The words for protocols that need nothing further.
const PROTOCOLS: [&str; 5] = ["prp-status", "exit-signal", "promise", "json", "none"];

/// The kinds of sources that stand before the colon.
const ITEM_SOURCES: [&str; 4] = ["queue", "plans", "json", "command"];

impl Typed for Protocol {
    const SHAPE: &'static str = "the name of a report protocol, or { frontmatter = \"GLOB\" }";

    fn schema() -> Value {
        json!({ "anyOf": [{ "enum": PROTOCOLS }, FrontmatterFile::schema()] })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Protocol> {
        match value {
            DeValue::String(word) => match word.as_ref() {
                "prp-status" => Some(Protocol::PrpStatus),
                "exit-signal" => Some(Protocol::ExitSignal),
                "promise" => Some(Protocol::Promise),
                "json" => Some(Protocol::Json),
                "none" => Some(Protocol::None),
                "frontmatter" => {
                    sources.refuse_with(
                        place,
                        "the frontmatter of which file?",
                        "write { frontmatter = \"GLOB\" }",
                    );
                    None
                }
                other => {
                    let says = format!("\"{other}\" is not a report protocol");
                    sources.report(Some(place), says, suggest(other, PROTOCOLS));
                    None
                }
            },
            DeValue::Table(_) => {
                let table = FrontmatterFile::read(value, place, sources)?;
                match table.frontmatter {
                    Some(glob) => Some(Protocol::Frontmatter(glob.value)),
                    None => {
                        let next = "write { frontmatter = \"GLOB\" }";
                        sources.lacks(place, &["frontmatter"], "the frontmatter of which file?", next);
                        None
                    }
                }
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => unexpected(value, place, sources),
        }
    }
}

impl Typed for Signal {
    const SHAPE: &'static str = "a word, a list of words, \"own\" or \"none\"";

    fn schema() -> Value {
        Texts::schema()
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Signal> {
        let words = Texts::read(value, place, sources)?.0;
        match words.as_slice() {
            [] => {
                sources.refuse_with(place, "no word at all", "write \"none\", or leave the key out");
                None
            }
            [At { value, .. }] if value == "none" => Some(Signal::None),
            [At { value, .. }] if value == "own" => Some(Signal::Own),
            words => match words.iter().find(|it| it.value.trim().is_empty() || it.value == "none") {
                Some(odd) => {
                    sources.refuse(&odd.place, format!("\"{}\" is not a word of a report", odd.value));
                    None
                }
                None => Some(Signal::Words(words.iter().map(|it| it.value.clone().into()).collect())),
            },
        }
    }
}

/// Which model a phase asks for.
#[derive(Clone, Debug)]
pub(crate) enum ModelFile {
    Named(String),
    Differing(Box<DifferingFile>),
}

impl Typed for ModelFile {
    const SHAPE: &'static str = "a model's name, or a table";

    fn schema() -> Value {
        json!({ "anyOf": [String::schema(), DifferingFile::schema()] })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<ModelFile> {
        match value {
            DeValue::String(name) => Some(ModelFile::Named(name.to_string())),
            DeValue::Table(_) => {
                DifferingFile::read(value, place, sources).map(|it| ModelFile::Differing(Box::new(it)))
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => unexpected(value, place, sources),
        }
    }
}

impl Typed for ItemSource {
    const SHAPE: &'static str = "a list of names, or a text such as \"queue:FIELD\"";

    fn schema() -> Value {
        let source = format!("^({}):", ITEM_SOURCES.join("|"));
        json!({
            "anyOf": [{ "type": "string", "pattern": source }, { "type": "array", "items": { "type": "string" } }],
        })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<ItemSource> {
        let Some(text) = value.as_str() else {
            if !value.is_array() {
                return unexpected(value, place, sources);
            }
            let names = Texts::read(value, place, sources)?.0;
            return Some(ItemSource::List(names.into_iter().map(|it| it.value).collect()));
        };
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let rest = rest.trim();
        match kind.trim() {
            "queue" if !rest.is_empty() => Some(ItemSource::Queue(rest.to_owned())),
            "plans" if !rest.is_empty() => Some(ItemSource::Plans(rest.to_owned())),
            "command" if !rest.is_empty() => Some(ItemSource::Command(rest.to_owned())),
            "json" if !rest.is_empty() => read_json(rest, place, sources),
            known if ITEM_SOURCES.contains(&known) => {
                sources.refuse(place, format!("nothing follows \"{known}:\""));
                None
            }
            other => {
                let says = format!("\"{other}\" is not a source of items");
                let next = "write a list, or queue:FIELD, plans:FOLDER, json:FILE#/POINTER, command:COMMAND";
                sources.report(
                    Some(place),
                    says,
                    crate::workflow::grammar::problem::nearest(other, ITEM_SOURCES)
                        .map(|it| format!("did you mean \"{it}:\"?"))
                        .or(Some(next.to_owned())),
                );
                None
            }
        }
    }
}

fn read_json(rest: &str, place: &Place, sources: &mut Sources) -> Option<ItemSource> {
    match rest.split_once('#') {
        Some((file, pointer)) if !file.is_empty() && (pointer.is_empty() || pointer.starts_with('/')) => {
            Some(ItemSource::Json { file: file.to_owned(), pointer: pointer.to_owned() })
        }
        Some(_) | None => {
            sources.refuse_with(
                place,
                "a JSON source names a file and a pointer",
                "write json:FILE#/POINTER",
            );
            None
        }
    }
}

/// A gate at a phase: its name alone, or with a condition of its own.
#[derive(Clone, Debug)]
pub(crate) struct GateEntry(pub GateUseFile);

impl Typed for GateEntry {
    const SHAPE: &'static str = "a gate's name, or { name = \"NAME\", when = \"CONDITION\" }";

    fn schema() -> Value {
        json!({ "anyOf": [String::schema(), GateUseFile::schema()] })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<GateEntry> {
        match value {
            DeValue::String(name) => {
                let name = Some(At { value: name.to_string(), place: place.clone() });
                Some(GateEntry(GateUseFile { name, when: None }))
            }
            DeValue::Table(_) => GateUseFile::read(value, place, sources).map(GateEntry),
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => unexpected(value, place, sources),
        }
    }
}

section! {
    /// A model that differs from the one of another phase.
    DifferingFile "model" {
        /// Candidates; the first that differs is taken.
        of: Vec<At<String>>,
        /// The phase to differ from.
        other_than: String,
        /// What to assume if that phase's model is unknown. By default the first candidate.
        unknown: String,
        /// Whether a person is asked where the model would be the same one, or one of the two is not known.
        required: bool,
    }
}

section! {
    /// A report in the front matter of a file; its `status` becomes `verdict`.
    FrontmatterFile "report" {
        /// The newest file that matches this glob.
        frontmatter: String,
    }
}

section! {
    /// A gate at the end of a phase.
    GateUseFile "a gate" {
        /// One of `[gates]`.
        name: String,
        /// The condition for asking. Unknown counts as true. A fact about the change that becomes true after this
        /// phase is asked about where the proof is taken.
        when: Condition,
    }
}
