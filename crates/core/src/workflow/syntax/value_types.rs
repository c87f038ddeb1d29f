//! The types of single values: texts, numbers, lengths of time, conditions, and lists and tables of them.

use super::typed::{At, Typed, as_table, merge_key, read_at, unexpected};
use crate::workflow::grammar::condition::Condition;
use crate::workflow::grammar::problem::{Place, Sources};
use crate::workflow::model::Millis;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toml::de::DeValue;

impl Typed for String {
    const SHAPE: &'static str = "a text";

    fn schema() -> Value {
        json!({ "type": "string" })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<String> {
        match value.as_str() {
            Some(text) => Some(text.to_owned()),
            None => unexpected(value, place, sources),
        }
    }
}

impl Typed for bool {
    const SHAPE: &'static str = "true or false";

    fn schema() -> Value {
        json!({ "type": "boolean" })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<bool> {
        value.as_bool().or_else(|| unexpected(value, place, sources))
    }
}

impl Typed for u32 {
    const SHAPE: &'static str = "a whole number of at least 1";

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<u32> {
        let number: u64 = read_count::<u32>(value, place, sources)?;
        u32::try_from(number).ok().or_else(|| {
            sources.refuse(place, format!("{number} is too large; the largest is {}", u32::MAX));
            None
        })
    }
}

impl Typed for u64 {
    const SHAPE: &'static str = "a whole number of at least 1";

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1 })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<u64> {
        read_count::<u64>(value, place, sources)
    }
}

/// Every number of the language is a limit or a weight, and none of them means anything at zero.
fn read_count<T: Typed>(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<u64> {
    let Some(integer) = value.as_integer() else {
        return unexpected::<T>(value, place, sources).and(None);
    };
    match i64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(number @ 1..) => u64::try_from(number).ok(),
        Ok(number) => {
            sources.refuse_with(
                place,
                format!("{number} is not possible here"),
                "write at least 1, or leave the key out",
            );
            None
        }
        Err(_) => {
            sources.refuse(place, "this number is too large");
            None
        }
    }
}

/// An amount of money.
impl Typed for f64 {
    const SHAPE: &'static str = "a number above 0";

    fn schema() -> Value {
        json!({ "type": "number", "exclusiveMinimum": 0 })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<f64> {
        let number = match value {
            DeValue::Integer(it) => i64::from_str_radix(it.as_str(), it.radix()).ok().map(|it| it as f64),
            DeValue::Float(it) => it.as_str().parse().ok(),
            DeValue::String(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => return unexpected(value, place, sources),
        };
        number.filter(|it| it.is_finite() && *it > 0.0).or_else(|| {
            sources.refuse(place, "expected a number above 0");
            None
        })
    }
}

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length(pub Millis);

/// The longest length of time, a year: beyond that somebody meant another unit.
const LENGTH_LIMIT: Millis = 366 * 24 * 3_600_000;

impl Typed for Length {
    const SHAPE: &'static str = "a length of time, such as \"90s\", \"45m\", \"2h\", \"1d\" or \"500ms\"";

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^ *[0-9]+ *(ms|s|m|h|d) *$" })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Length> {
        let Some(text) = value.as_str() else { return unexpected(value, place, sources) };
        match Length::parse(text) {
            Ok(length) => Some(length),
            Err(says) => {
                sources.refuse_with(place, says, "write it as \"90s\", \"45m\", \"2h\", \"1d\" or \"500ms\"");
                None
            }
        }
    }
}

impl Length {
    pub(crate) fn parse(text: &str) -> Result<Length, String> {
        let wrong = || format!("\"{text}\" is not a length of time");
        let mut rest = text.trim();
        let mut sum: Option<Millis> = Some(0);
        while !rest.is_empty() {
            let digits = rest.find(|it: char| !it.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, after) = rest.split_at(digits);
            let after = after.trim_start();
            let letters = after.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(after.len());
            let (unit, after) = after.split_at(letters);
            let millis: Millis = match unit {
                "ms" => 1,
                "s" => 1_000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 24 * 3_600_000,
                _ => return Err(wrong()),
            };
            // More digits than a number holds are more than a year too.
            if number.is_empty() {
                return Err(wrong());
            }
            let part = number.parse::<Millis>().ok().and_then(|it| it.checked_mul(millis));
            sum = sum.zip(part).and_then(|(sum, part)| sum.checked_add(part));
            rest = after.trim_start();
        }
        match sum {
            Some(0) if text.trim().is_empty() => Err(wrong()),
            Some(0) => Err("a length of time is not 0".to_owned()),
            Some(length) if length <= LENGTH_LIMIT => Ok(Length(length)),
            Some(_) | None => Err(format!("\"{text}\" is more than a year")),
        }
    }
}

impl Typed for Condition {
    const SHAPE: &'static str = "a condition";

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Condition> {
        let Some(text) = value.as_str() else { return unexpected(value, place, sources) };
        match Condition::parse(text) {
            Ok(condition) => Some(condition),
            Err(mistake) => {
                let place = sources.inside(place, text, &mistake.at);
                sources.refuse(&place, mistake.says);
                None
            }
        }
    }
}

impl<T: Typed> Typed for Vec<At<T>> {
    const SHAPE: &'static str = "a list";

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Self> {
        if value.is_table() {
            let says = "expected a list, found a table";
            sources.refuse_with(place, says, "write it with two brackets at each side, as [[phase]]");
            return None;
        }
        let Some(list) = value.as_array() else { return unexpected(value, place, sources) };
        Some(list.iter().filter_map(|it| read_at(it, place.source, sources)).collect())
    }
}

/// A table whose keys are names that the user chose.
#[derive(Clone, Debug)]
pub(crate) struct Named<T>(pub BTreeMap<String, At<T>>);

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(BTreeMap::new())
    }
}

impl<T: Typed> Typed for Named<T> {
    const SHAPE: &'static str = "a table of names";

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Self> {
        let table = as_table(value, place, sources)?;
        let mut named = Named::default();
        for (key, value) in table {
            let place = Place { source: place.source, span: key.span() };
            if let Some(it) = read_at::<T>(value, place.source, sources) {
                sources.stands_for(&it.place, &place);
                named.0.insert(key.get_ref().to_string(), At { value: it.value, place });
            }
        }
        Some(named)
    }

    fn merge(&mut self, later: Self) {
        for (name, value) in later.0 {
            let mut slot = self.0.remove(&name);
            merge_key(&mut slot, Some(value));
            self.0.extend(slot.map(|it| (name, it)));
        }
    }
}

/// One text, or a list of them.
#[derive(Clone, Debug)]
pub(crate) struct Texts(pub Vec<At<String>>);

impl Typed for Texts {
    const SHAPE: &'static str = "a text, or a list of texts";

    fn schema() -> Value {
        json!({ "type": ["string", "array"], "items": { "type": "string" } })
    }

    fn read(value: &DeValue<'_>, place: &Place, sources: &mut Sources) -> Option<Self> {
        match value {
            DeValue::String(text) => Some(Texts(vec![At { value: text.to_string(), place: place.clone() }])),
            DeValue::Array(_) => Vec::read(value, place, sources).map(Texts),
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => unexpected(value, place, sources),
        }
    }
}
