//! What a condition still lacks, as data: the terms that keep it from being true, each with the name
//! and the bound that it asks for. Whoever knows what a name means turns them into words; here nothing
//! is worded.

use super::judge::{Lookup, truth};
use super::{Comparison, Shape, Term, Truth};
use loop_base::value::Value;

/// A part of a condition that is not as it should be.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing<'a> {
    /// A name that has to be true, or false.
    Is { name: &'a str, wanted: bool },
    /// A name that has to compare like this with a value.
    Compares { name: &'a str, must: Must, bound: MissingBound<'a> },
    /// One of these would be enough; each is what has to come together for it.
    OneOf(Vec<Vec<Missing<'a>>>),
    /// Nothing can make it true.
    Never,
}

/// How a value has to relate to its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Must {
    Equal,
    Differ,
    BeLess,
    BeAtMost,
    BeMore,
    BeAtLeast,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MissingBound<'a> {
    Value(&'a Value),
    Name(&'a str),
}

pub(super) fn missing<'a>(term: &'a Term, lookup: Lookup) -> Vec<Missing<'a>> {
    let mut found = Vec::new();
    collect(term, true, lookup, &mut found);
    found
}

/// Of a conjunction only the failing parts matter; of a disjunction every part failed, and any of them
/// would do.
fn collect<'a>(term: &'a Term, wanted: bool, lookup: Lookup, found: &mut Vec<Missing<'a>>) {
    let is = truth(term, lookup);
    if (wanted && is == Truth::True) || (!wanted && is == Truth::False) {
        return;
    }
    match (&term.shape, wanted) {
        (Shape::Not(inner), _) => collect(inner, !wanted, lookup, found),
        (Shape::All(terms), true) | (Shape::Some(terms), false) => {
            terms.iter().for_each(|it| collect(it, wanted, lookup, found));
        }
        (Shape::Some(terms), true) | (Shape::All(terms), false) => {
            let alternative = |it: &'a Term| {
                let mut parts = Vec::new();
                collect(it, wanted, lookup, &mut parts);
                parts
            };
            found.push(Missing::OneOf(terms.iter().map(alternative).collect()));
        }
        (Shape::Name(name), _) => found.push(Missing::Is { name, wanted }),
        (Shape::Literal(_), _) => found.push(Missing::Never),
        (Shape::Compare(left, comparison, right), _) => {
            found.push(compared(left, must(*comparison, wanted), right));
        }
    }
}

fn compared<'a>(left: &'a Term, must: Must, right: &'a Term) -> Missing<'a> {
    match (&left.shape, &right.shape) {
        (Shape::Name(name), Shape::Literal(value)) => {
            Missing::Compares { name, must, bound: MissingBound::Value(value) }
        }
        (Shape::Literal(value), Shape::Name(name)) => {
            Missing::Compares { name, must: turned(must), bound: MissingBound::Value(value) }
        }
        (Shape::Name(name), Shape::Name(other)) => {
            Missing::Compares { name, must, bound: MissingBound::Name(other) }
        }
        (Shape::Literal(_), Shape::Literal(_))
        | (Shape::Not(_) | Shape::All(_) | Shape::Some(_) | Shape::Compare(..), _)
        | (_, Shape::Not(_) | Shape::All(_) | Shape::Some(_) | Shape::Compare(..)) => Missing::Never,
    }
}

fn must(comparison: Comparison, wanted: bool) -> Must {
    match (comparison, wanted) {
        (Comparison::Equal, true) | (Comparison::Unequal, false) => Must::Equal,
        (Comparison::Unequal, true) | (Comparison::Equal, false) => Must::Differ,
        (Comparison::Less, true) | (Comparison::AtLeast, false) => Must::BeLess,
        (Comparison::AtMost, true) | (Comparison::More, false) => Must::BeAtMost,
        (Comparison::More, true) | (Comparison::AtMost, false) => Must::BeMore,
        (Comparison::AtLeast, true) | (Comparison::Less, false) => Must::BeAtLeast,
    }
}

/// The same with its sides exchanged.
fn turned(must: Must) -> Must {
    match must {
        Must::Equal => Must::Equal,
        Must::Differ => Must::Differ,
        Must::BeLess => Must::BeMore,
        Must::BeAtMost => Must::BeAtLeast,
        Must::BeMore => Must::BeLess,
        Must::BeAtLeast => Must::BeAtMost,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Condition;
    use super::{Missing, MissingBound, Must};
    use loop_base::value::Value;

    #[test]
    fn what_is_missing_is_told_from_the_side_of_the_name() {
        let known = |name: &str| (name == "two").then_some(Value::Int(2));
        let condition = Condition::parse("two > 1 && 5 <= two && !(two == 2) && (gone || two > 9)");
        let condition = condition.expect("a condition");
        let (five, two, nine) = (Value::Int(5), Value::Int(2), Value::Int(9));
        let compares =
            |must, bound| Missing::Compares { name: "two", must, bound: MissingBound::Value(bound) };
        assert_eq!(
            condition.missing(&known),
            [
                compares(Must::BeAtLeast, &five),
                compares(Must::Differ, &two),
                Missing::OneOf(vec![
                    vec![Missing::Is { name: "gone", wanted: true }],
                    vec![compares(Must::BeMore, &nine)]
                ]),
            ]
        );
    }
}
