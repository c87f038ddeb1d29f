//! Whether a condition can come true at all, by what is known about its numbers beforehand. Only plain
//! comparisons of one number with another are looked at: a condition that passes may still never hold,
//! one that is named here cannot.

use super::{Comparison, Shape, Term};
use loop_base::value::Value;

/// The smallest and the largest value that a name can have.
pub type Span = (f64, f64);

/// Returns the part that keeps the condition from ever being `wanted`, if there is one.
pub(super) fn impossible<'a>(
    term: &'a Term,
    wanted: bool,
    span: &dyn Fn(&str) -> Option<Span>,
) -> Option<&'a Term> {
    let any = |terms: &'a [Term]| terms.iter().find_map(|it| impossible(it, wanted, span));
    let all =
        |terms: &'a [Term]| terms.iter().all(|it| impossible(it, wanted, span).is_some()).then_some(term);
    match &term.shape {
        Shape::Literal(value) => (*value != Value::Bool(wanted)).then_some(term),
        Shape::Name(_) => None,
        Shape::Not(inner) => impossible(inner, !wanted, span),
        Shape::All(terms) if wanted => any(terms),
        Shape::All(terms) => all(terms),
        Shape::Some(terms) if wanted => all(terms),
        Shape::Some(terms) => any(terms),
        Shape::Compare(left, comparison, right) => {
            let (left, right) = (number(left, span)?, number(right, span)?);
            let comparison = if wanted { *comparison } else { opposite(*comparison) };
            (!can_hold(left, comparison, right)).then_some(term)
        }
    }
}

fn number(term: &Term, span: &dyn Fn(&str) -> Option<Span>) -> Option<Span> {
    match &term.shape {
        Shape::Literal(value) => value.number().map(|it| (it, it)),
        Shape::Name(name) => span(name),
        Shape::Not(_) | Shape::All(_) | Shape::Some(_) | Shape::Compare(..) => None,
    }
}

fn opposite(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal => Comparison::Unequal,
        Comparison::Unequal => Comparison::Equal,
        Comparison::Less => Comparison::AtLeast,
        Comparison::AtMost => Comparison::More,
        Comparison::More => Comparison::AtMost,
        Comparison::AtLeast => Comparison::Less,
    }
}

fn can_hold(left: Span, comparison: Comparison, right: Span) -> bool {
    match comparison {
        Comparison::Equal => left.0 <= right.1 && right.0 <= left.1,
        Comparison::Unequal => left.0 != left.1 || right.0 != right.1 || left.0 != right.0,
        Comparison::Less => left.0 < right.1,
        Comparison::AtMost => left.0 <= right.1,
        Comparison::More => left.1 > right.0,
        Comparison::AtLeast => left.1 >= right.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Condition, Truth};
    use loop_base::value::Value;
    use proptest::prelude::*;

    fn any_condition() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            Just("a".to_owned()),
            Just("b".to_owned()),
            (-2..6_i64).prop_map(|it| it.to_string())
        ];
        let comparison = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
        let leaf =
            (value.clone(), comparison, value).prop_map(|(one, it, other)| format!("{one} {it} {other}"));
        leaf.prop_recursive(3, 12, 2, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} && {other})")),
                (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} || {other})")),
                inner.prop_map(|it| format!("!({it})")),
            ]
        })
    }

    proptest! {
        /// What is called impossible is never true, whatever the values are.
        #[test]
        fn what_can_hold_is_never_called_impossible(text in any_condition()) {
            let condition = Condition::parse(&text).expect("it is one");
            let spans = |name: &str| match name {
                "a" => Some((0.0, 2.0)),
                _ => Some((1.0, 3.0)),
            };
            let truths = (0..=2_i64).flat_map(|a| (1..=3_i64).map(move |b| (a, b))).map(|(a, b)| {
                condition.truth(&|name| Some(Value::Int(if name == "a" { a } else { b })))
            });
            let holds = truths.into_iter().any(|it| it == Truth::True);
            prop_assert!(!holds || condition.impossible(&spans).is_none(), "{text}");
        }
    }
}
