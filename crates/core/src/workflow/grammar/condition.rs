//! The condition language of workflows: a strict subset of CEL with comparisons, `&& || !`,
//! parentheses, names, numbers, texts and booleans. Every condition means the same here and in CEL;
//! what CEL allows beyond that is a mistake with words that say what to write instead.
//!
//! Values are three-valued: a name that nobody supplies, and two values of different types, make a term
//! unknown, and unknown travels by the rules of Kleene. There is no arithmetic, no call and no field:
//! a number that has to be computed is supplied by a check.
//!
//! `parse.rs` turns text into terms; `judge.rs` evaluates, explains and checks them; `missing.rs` says
//! what they lack; `possible.rs` finds those that can never hold.

mod judge;
mod missing;
mod parse;
mod possible;

use loop_base::value::{Value, ValueKind};
pub use missing::{Missing, MissingBound, Must};
pub use possible::Span;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;

/// A parsed condition. Two are equal when they were written alike.
#[derive(Clone, Debug)]
pub struct Condition {
    source: String,
    root: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    True,
    False,
    Unknown,
}

/// What is wrong with a condition, and where in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub at: Range<usize>,
    pub says: String,
}

impl Condition {
    pub fn parse(source: &str) -> Result<Condition, Mistake> {
        Ok(Condition { source: source.to_owned(), root: parse::parse(source)? })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns each use of a name, in the order of the text.
    pub fn names(&self) -> Vec<(&str, Range<usize>)> {
        let mut names = Vec::new();
        self.root.each_name(&mut |name, at| names.push((name, at)));
        names
    }

    /// Returns whether the condition holds with the values that `lookup` knows.
    pub fn truth(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Truth {
        judge::truth(&self.root, lookup)
    }

    /// Returns whether the condition holds where nobody has to bring what is `waived`: a part that is unknown for want
    /// of it keeps nothing from being true.
    pub(crate) fn truth_without(
        &self,
        lookup: &dyn Fn(&str) -> Option<Value>,
        waived: &dyn Fn(&str) -> bool,
    ) -> Truth {
        judge::truth_without(&self.root, lookup, waived, Truth::True)
    }

    /// Returns the terms that keep the condition from being true, each with the values that did it,
    /// such as `tests_failing == 0: tests_failing is 2` or `has_adr: unknown`.
    pub fn explain(&self, lookup: &dyn Fn(&str) -> Option<Value>) -> Vec<String> {
        judge::explain(&self.root, &self.source, lookup)
    }

    /// Returns what keeps the condition from being true, as data.
    pub fn missing<'a>(&'a self, lookup: &dyn Fn(&str) -> Option<Value>) -> Vec<Missing<'a>> {
        missing::missing(&self.root, lookup)
    }

    /// Returns every name that `kind_of` does not know and every comparison of unlike kinds.
    pub fn check(&self, kind_of: &dyn Fn(&str) -> Option<ValueKind>) -> Vec<Mistake> {
        judge::check(&self.root, kind_of)
    }

    /// Returns each text that a name is compared with, and where it stands.
    pub(crate) fn texts_of(&self, name: &str) -> Vec<(&str, Range<usize>)> {
        let mut texts = Vec::new();
        self.root.each_text(name, &mut |text, at| texts.push((text, at)));
        texts
    }

    /// Returns the part that keeps the condition from ever being true, by the numbers that names can have.
    pub fn impossible(&self, span: &dyn Fn(&str) -> Option<Span>) -> Option<Range<usize>> {
        possible::impossible(&self.root, true, span).map(|it| it.at.clone())
    }
}

impl PartialEq for Condition {
    fn eq(&self, other: &Condition) -> bool {
        self.source == other.source
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Condition, D::Error> {
        let source = String::deserialize(deserializer)?;
        Condition::parse(&source).map_err(|it| serde::de::Error::custom(it.says))
    }
}

/// A part of a condition and where it stands.
#[derive(Clone, Debug)]
struct Term {
    at: Range<usize>,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Literal(Value),
    Name(String),
    Not(Box<Term>),
    /// Two or more.
    All(Vec<Term>),
    /// Two or more.
    Some(Vec<Term>),
    Compare(Box<Term>, Comparison, Box<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Term {
    fn each_name<'a>(&'a self, visit: &mut dyn FnMut(&'a str, Range<usize>)) {
        match &self.shape {
            Shape::Literal(_) => {}
            Shape::Name(name) => visit(name, self.at.clone()),
            Shape::Not(inner) => inner.each_name(visit),
            Shape::All(terms) | Shape::Some(terms) => terms.iter().for_each(|it| it.each_name(visit)),
            Shape::Compare(left, _, right) => {
                left.each_name(visit);
                right.each_name(visit);
            }
        }
    }
}

impl Term {
    fn each_text<'a>(&'a self, name: &str, visit: &mut dyn FnMut(&'a str, Range<usize>)) {
        match &self.shape {
            Shape::Literal(_) | Shape::Name(_) => {}
            Shape::Not(inner) => inner.each_text(name, visit),
            Shape::All(terms) | Shape::Some(terms) => terms.iter().for_each(|it| it.each_text(name, visit)),
            Shape::Compare(left, _, right) => {
                for (one, other) in [(left, right), (right, left)] {
                    if let (Shape::Name(it), Shape::Literal(Value::Text(text))) = (&one.shape, &other.shape)
                        && it == name
                    {
                        visit(text, other.at.clone());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
