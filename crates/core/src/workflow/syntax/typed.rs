//! From TOML values to typed ones, without stopping at the first mistake. Serde gives up where
//! something is wrong; people want to see everything that is wrong at once. So a section is declared
//! once, with [`section!`], and gets from that its struct, its reading, its merging and the texts of
//! the reference.
//!
//! Every value remembers where it was written, so that a mistake which shows only later still points
//! at the right line. What a value means is not decided here.

use crate::workflow::grammar::problem::{Place, Sources, nearest, suggest};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub value: T,
    pub place: Place,
}

/// A type that can be read from a workflow file.
pub(crate) trait Typed: Sized {
    /// What is expected, for messages and the reference.
    const SHAPE: &'static str;

    /// Returns `None` after a problem was reported.
    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Self>;

    /// The same for editors, as JSON Schema.
    fn schema() -> Value;

    /// What stands in a later layer wins; tables do so key by key.
    fn merge(&mut self, later: Self) {
        *self = later;
    }
}

/// A table whose keys are known.
pub(crate) trait Section {
    const TITLE: &'static str;
    const ABOUT: &'static [&'static str];
    const KEYS: &'static [Key];
}

/// A word of the language.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub shape: &'static str,
    /// The lines of its description.
    pub about: &'static [&'static str],
}

/// Declares a section: a struct whose fields are the keys, all of them optional.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $name:ident $title:literal {
            $( $(#[doc = $doc:literal])+ $key:ident: $type:ty, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name {
            $( $(#[doc = $doc])+ pub $key: Option<At<$type>>, )+
        }

        impl Section for $name {
            const TITLE: &'static str = $title;
            const ABOUT: &'static [&'static str] = &[$($about),+];
            const KEYS: &'static [Key] = &[
                $( Key { name: stringify!($key), shape: <$type as Typed>::SHAPE, about: &[$($doc),+] } ),+
            ];
        }

        impl Typed for $name {
            const SHAPE: &'static str = "a table";

            fn schema() -> serde_json::Value {
                let keys = [$( (stringify!($key), <$type as Typed>::schema()) ),+];
                crate::workflow::syntax::typed::table_schema::<$name>(keys)
            }

            fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Self> {
                let table = crate::workflow::syntax::typed::known_table::<$name>(value, place, sources)?;
                Some($name {
                    $( $key: crate::workflow::syntax::typed::key(table, stringify!($key), place, sources), )+
                })
            }

            fn merge(&mut self, later: Self) {
                $( crate::workflow::syntax::typed::merge_key(&mut self.$key, later.$key); )+
            }
        }
    };
}
pub(crate) use section;

/// Declares the words that stand for the values of an enum.
macro_rules! words {
    ($type:ty: $first:literal => $first_value:expr $(, $word:literal => $value:expr)+ $(,)?) => {
        impl Typed for $type {
            const SHAPE: &'static str = concat!("\"", $first, "\"" $(, " or \"", $word, "\"")+);

            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$first $(, $word)+] })
            }

            fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Self> {
                let word = String::read(value, place, sources)?;
                match word.as_str() {
                    $first => return Some($first_value),
                    $( $word => return Some($value), )+
                    other => {
                        let next = crate::workflow::grammar::problem::suggest(other, [$first $(, $word)+]);
                        sources.report(Some(place), format!("\"{other}\" is not known here"), next);
                    }
                }
                None
            }
        }
    };
}
pub(crate) use words;

/// Returns the schema of a section whose keys have these.
pub(crate) fn table_schema<T: Section>(keys: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut properties = serde_json::Map::new();
    for ((name, mut schema), key) in keys.into_iter().zip(T::KEYS) {
        schema["description"] = format!("{} Write {}.", sentence(key.about), key.shape).into();
        properties.insert(name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "description": sentence(T::ABOUT),
        "properties": properties,
        "additionalProperties": false,
    })
}

/// Joins the lines of a description.
pub(crate) fn sentence(lines: &[&str]) -> String {
    lines.iter().map(|it| it.trim()).collect::<Vec<_>>().join(" ")
}

pub(crate) fn known_table<'a, 'i, T: Section>(
    value: &'a DeValue<'i>,
    place: &Place,
    sources: &mut Sources,
) -> Option<&'a DeTable<'i>> {
    let Some(table) = value.as_table() else {
        let next = match T::TITLE.starts_with('[') {
            true => format!("write {} with its keys below", T::TITLE),
            false => format!("write {} = {{ KEY = VALUE }}", T::TITLE),
        };
        sources.refuse_with(place, format!("expected a table, found {}", describe(value)), next);
        return None;
    };
    for (key, _) in table {
        let name = key.get_ref().as_ref();
        if !T::KEYS.iter().any(|it| it.name == name) {
            let next = sources
                .belongs(name, T::TITLE)
                .filter(|_| nearest(name, T::KEYS.iter().map(|it| it.name)).is_none())
                .or_else(|| suggest(name, T::KEYS.iter().map(|it| it.name)));
            let place = Place { source: place.source, span: key.span() };
            sources.report(Some(&place), format!("{} has no key \"{name}\"", T::TITLE), next);
        }
    }
    Some(table)
}

pub(crate) fn key<T: Typed>(
    table: &DeTable<'_>,
    name: &str,
    place: &Place,
    sources: &mut Sources,
) -> Option<At<T>> {
    let value = table.get(name)?;
    let read = read_at(value, place.source, sources);
    if read.is_none() {
        sources.leave_out(place, name);
    }
    read
}

pub(crate) fn merge_key<T: Typed>(earlier: &mut Option<At<T>>, later: Option<At<T>>) {
    match (earlier.as_mut(), later) {
        (_, None) => {}
        (None, later @ Some(_)) => *earlier = later,
        (Some(earlier), Some(later)) => {
            earlier.value.merge(later.value);
            earlier.place = later.place;
        }
    }
}

pub(super) fn read_at<T: Typed>(
    value: &Spanned<DeValue<'_>>,
    source: usize,
    sources: &mut Sources,
) -> Option<At<T>> {
    let place = Place { source, span: value.span() };
    T::read(value.get_ref(), &place, sources).map(|value| At { value, place })
}

/// Reports that something else stands where `T` is expected.
pub(crate) fn unexpected<T: Typed>(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<T> {
    sources.refuse(place, format!("expected {}, found {}", T::SHAPE, describe(value)));
    None
}

pub(super) fn describe(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

pub(super) fn as_table<'a, 'i>(
    value: &'a DeValue<'i>,
    place: &Place,
    sources: &mut Sources,
) -> Option<&'a DeTable<'i>> {
    let table = value.as_table();
    if table.is_none() {
        sources.refuse(place, format!("expected a table, found {}", describe(value)));
    }
    table
}
