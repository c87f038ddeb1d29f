//! What a metric is worth: the one value type that conditions compare, reports bring and checks
//! measure. Lists count as their length, so there is no list here.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A metric's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Number(f64),
    Text(String),
}

impl Value {
    /// Returns the value as a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(it) => Some(*it as f64),
            Value::Number(it) => Some(*it),
            Value::Bool(_) | Value::Text(_) => None,
        }
    }

    /// Reads a value as a report writes it: `true`, `-3`, `2.5`, or any other text.
    pub fn read(text: &str) -> Value {
        let text = text.trim();
        match text {
            _ if text.eq_ignore_ascii_case("true") => Value::Bool(true),
            _ if text.eq_ignore_ascii_case("false") => Value::Bool(false),
            _ => Value::read_number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
        }
    }

    /// Only plain decimal notation is a number: `nan`, `inf` and `1e9` are text, so that no report
    /// can bring a value that compares oddly.
    fn read_number(text: &str) -> Option<Value> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let starts_well = digits.starts_with(|it: char| it.is_ascii_digit());
        if !starts_well || !digits.chars().all(|it| it.is_ascii_digit() || it == '.') {
            return None;
        }
        let whole = text.parse().ok().map(Value::Int);
        whole.or_else(|| text.parse().ok().filter(|it: &f64| it.is_finite()).map(Value::Number))
    }
}

/// What kind of value a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Bool,
    Number,
    Text,
    /// Known only when it comes, as what a report claims.
    Any,
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ValueKind::Bool => "a boolean",
            ValueKind::Number => "a number",
            ValueKind::Text => "a text",
            ValueKind::Any => "a value",
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(it) => write!(f, "{it}"),
            Value::Int(it) => write!(f, "{it}"),
            Value::Number(it) => write!(f, "{it}"),
            Value::Text(it) => write!(f, "\"{it}\""),
        }
    }
}

impl From<bool> for Value {
    fn from(it: bool) -> Value {
        Value::Bool(it)
    }
}

impl From<i64> for Value {
    fn from(it: i64) -> Value {
        Value::Int(it)
    }
}

impl From<u32> for Value {
    fn from(it: u32) -> Value {
        Value::Int(i64::from(it))
    }
}

impl From<usize> for Value {
    fn from(it: usize) -> Value {
        Value::Int(i64::try_from(it).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Value {
    fn from(it: &str) -> Value {
        Value::Text(it.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn reads_what_reports_write() {
        assert_eq!(Value::read(" 12 "), Value::Int(12));
        assert_eq!(Value::read("-3"), Value::Int(-3));
        assert_eq!(Value::read("8.5"), Value::Number(8.5));
        assert_eq!(Value::read("TRUE"), Value::Bool(true));
        for text in ["nan", "inf", "1e9", "1.2.3", "-", "", "APPROVE"] {
            assert_eq!(Value::read(text), Value::Text(text.to_owned()), "{text}");
        }
        assert_eq!(Value::read("99999999999999999999"), Value::Number(1e20));
    }
}
