//! What terms are worth: evaluation by the rules of Kleene, the explanation of what is missing, and
//! the check of kinds before anything runs. All three walk the same tree and change nothing.

use super::{Comparison, Mistake, Shape, Term, Truth};
use loop_base::value::{Value, ValueKind};
use std::cmp::Ordering;

pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

pub(super) fn truth(term: &Term, lookup: Lookup) -> Truth {
    match value(term, lookup) {
        Some(Value::Bool(true)) => Truth::True,
        Some(Value::Bool(false)) => Truth::False,
        Some(Value::Int(_) | Value::Number(_) | Value::Text(_)) | None => Truth::Unknown,
    }
}

/// As [`truth`], where each part that is unknown because it names something `waived` is what helps the condition to be
/// `wanted`.
pub(super) fn truth_without(
    term: &Term,
    lookup: Lookup,
    waived: &dyn Fn(&str) -> bool,
    wanted: Truth,
) -> Truth {
    let all = |terms: &[Term], decisive: Truth| {
        decided(terms.iter().map(|it| truth_without(it, lookup, waived, wanted)), decisive)
    };
    match &term.shape {
        Shape::Not(inner) => opposite(truth_without(inner, lookup, waived, opposite(wanted))),
        Shape::All(terms) => all(terms, Truth::False),
        Shape::Some(terms) => all(terms, Truth::True),
        Shape::Literal(_) | Shape::Name(_) | Shape::Compare(..) => {
            let mut is_waived = false;
            term.each_name(&mut |name, _| is_waived |= waived(name));
            match truth(term, lookup) {
                Truth::Unknown if is_waived => wanted,
                it => it,
            }
        }
    }
}

/// Returns the value of a term; `None` is unknown.
fn value(term: &Term, lookup: Lookup) -> Option<Value> {
    match &term.shape {
        Shape::Literal(value) => Some(value.clone()),
        Shape::Name(name) => lookup(name),
        Shape::Not(inner) => known(opposite(truth(inner, lookup))),
        Shape::All(terms) => known(strongest(terms, Truth::False, lookup)),
        Shape::Some(terms) => known(strongest(terms, Truth::True, lookup)),
        Shape::Compare(left, comparison, right) => {
            compare(&value(left, lookup)?, *comparison, &value(right, lookup)?).map(Value::Bool)
        }
    }
}

fn known(truth: Truth) -> Option<Value> {
    match truth {
        Truth::True => Some(Value::Bool(true)),
        Truth::False => Some(Value::Bool(false)),
        Truth::Unknown => None,
    }
}

fn opposite(truth: Truth) -> Truth {
    match truth {
        Truth::True => Truth::False,
        Truth::False => Truth::True,
        Truth::Unknown => Truth::Unknown,
    }
}

/// One term that is `decisive` decides; else one unknown term makes all unknown.
fn strongest(terms: &[Term], decisive: Truth, lookup: Lookup) -> Truth {
    decided(terms.iter().map(|it| truth(it, lookup)), decisive)
}

fn decided(terms: impl Iterator<Item = Truth>, decisive: Truth) -> Truth {
    let mut result = opposite(decisive);
    for term in terms {
        match term {
            it if it == decisive => return decisive,
            Truth::Unknown => result = Truth::Unknown,
            Truth::True | Truth::False => {}
        }
    }
    result
}

/// Returns `None` for values of different types, and for the order of booleans, which nobody means.
fn compare(left: &Value, comparison: Comparison, right: &Value) -> Option<bool> {
    let ordering = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => {
            return match comparison {
                Comparison::Equal => Some(left == right),
                Comparison::Unequal => Some(left != right),
                Comparison::Less | Comparison::AtMost | Comparison::More | Comparison::AtLeast => None,
            };
        }
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (left, right) => left.number()?.partial_cmp(&right.number()?)?,
    };
    Some(match comparison {
        Comparison::Equal => ordering == Ordering::Equal,
        Comparison::Unequal => ordering != Ordering::Equal,
        Comparison::Less => ordering == Ordering::Less,
        Comparison::AtMost => ordering != Ordering::Greater,
        Comparison::More => ordering == Ordering::Greater,
        Comparison::AtLeast => ordering != Ordering::Less,
    })
}

pub(super) fn explain(term: &Term, source: &str, lookup: Lookup) -> Vec<String> {
    let mut terms = Vec::new();
    blame(term, Truth::True, source, lookup, &mut terms);
    terms
}

/// Collects what keeps `term` from being `wanted`. Of a conjunction only the failing parts matter; of
/// a disjunction every part failed, and any of them would do.
fn blame(term: &Term, wanted: Truth, source: &str, lookup: Lookup, blamed: &mut Vec<String>) {
    if truth(term, lookup) == wanted {
        return;
    }
    match &term.shape {
        Shape::Not(inner) => blame(inner, opposite(wanted), source, lookup, blamed),
        Shape::All(terms) | Shape::Some(terms) => {
            terms.iter().for_each(|it| blame(it, wanted, source, lookup, blamed));
        }
        Shape::Literal(_) | Shape::Name(_) | Shape::Compare(..) => {
            let line = describe(term, wanted, source, lookup);
            if !blamed.contains(&line) {
                blamed.push(line);
            }
        }
    }
}

fn describe(term: &Term, wanted: Truth, source: &str, lookup: Lookup) -> String {
    let text = without_parentheses(&source[term.at.clone()]);
    let value_of = |name: &str| lookup(name).map_or("unknown".to_owned(), |it| it.to_string());
    let shown = match (&term.shape, wanted) {
        (_, Truth::True | Truth::Unknown) => text.to_owned(),
        (Shape::Compare(..), Truth::False) => format!("!({text})"),
        (_, Truth::False) => format!("!{text}"),
    };
    if let (Shape::Name(name), Truth::True) = (&term.shape, wanted) {
        return format!("{shown}: {}", value_of(name));
    }
    let mut values: Vec<String> = Vec::new();
    term.each_name(&mut |name, _| {
        let value = format!("{name} is {}", value_of(name));
        if !values.contains(&value) {
            values.push(value);
        }
    });
    match (values.is_empty(), clash(term, lookup)) {
        (true, _) => format!("{shown}: never so"),
        (false, false) => format!("{shown}: {}", values.join(", ")),
        (false, true) => format!("{shown}: {}: values of different types", values.join(", ")),
    }
}

/// Whether both sides are known and still give no answer.
fn clash(term: &Term, lookup: Lookup) -> bool {
    match &term.shape {
        Shape::Compare(left, _, right) => {
            value(left, lookup).is_some() && value(right, lookup).is_some() && value(term, lookup).is_none()
        }
        Shape::Literal(_) | Shape::Name(_) | Shape::Not(_) | Shape::All(_) | Shape::Some(_) => false,
    }
}

/// The range of a term in parentheses includes them, which only clutters an explanation.
fn without_parentheses(text: &str) -> &str {
    match text.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        Some(inner) if closes_last(text) => without_parentheses(inner.trim()),
        Some(_) | None => text,
    }
}

/// Whether the first parenthesis is closed by the last character. Texts with a parenthesis inside only
/// make this answer no.
fn closes_last(text: &str) -> bool {
    let mut open = 0_i32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

pub(super) fn check(term: &Term, kind_of: &dyn Fn(&str) -> Option<ValueKind>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    want_bool(term, "a condition", kind_of, &mut mistakes);
    mistakes
}

fn want_bool(
    term: &Term,
    place: &str,
    kind_of: &dyn Fn(&str) -> Option<ValueKind>,
    mistakes: &mut Vec<Mistake>,
) {
    match kind(term, kind_of, mistakes) {
        ValueKind::Bool | ValueKind::Any => {}
        found @ (ValueKind::Number | ValueKind::Text) => mistakes.push(Mistake {
            at: term.at.clone(),
            says: format!("{place} is true or false, and this is {found}; compare it with something"),
        }),
    }
}

/// Returns the kind of a term; one with a mistake inside counts as any, so that it is told only once.
fn kind(term: &Term, kind_of: &dyn Fn(&str) -> Option<ValueKind>, mistakes: &mut Vec<Mistake>) -> ValueKind {
    match &term.shape {
        Shape::Literal(Value::Bool(_)) => ValueKind::Bool,
        Shape::Literal(Value::Int(_) | Value::Number(_)) => ValueKind::Number,
        Shape::Literal(Value::Text(_)) => ValueKind::Text,
        Shape::Name(name) => kind_of(name).unwrap_or_else(|| {
            mistakes.push(Mistake { at: term.at.clone(), says: format!("nothing supplies `{name}`") });
            ValueKind::Any
        }),
        Shape::Not(inner) => {
            want_bool(inner, "what follows !", kind_of, mistakes);
            ValueKind::Bool
        }
        Shape::All(terms) | Shape::Some(terms) => {
            let place =
                if matches!(term.shape, Shape::All(_)) { "each side of &&" } else { "each side of ||" };
            terms.iter().for_each(|it| want_bool(it, place, kind_of, mistakes));
            ValueKind::Bool
        }
        Shape::Compare(left, comparison, right) => {
            let (left, right) = (kind(left, kind_of, mistakes), kind(right, kind_of, mistakes));
            if let Some(says) = unlike(left, *comparison, right) {
                mistakes.push(Mistake { at: term.at.clone(), says });
            }
            ValueKind::Bool
        }
    }
}

fn unlike(left: ValueKind, comparison: Comparison, right: ValueKind) -> Option<String> {
    let ordered = !matches!(comparison, Comparison::Equal | Comparison::Unequal);
    match (left, right) {
        (ValueKind::Bool, _) | (_, ValueKind::Bool) if ordered => {
            Some("booleans have no order; compare them with == or !=".to_owned())
        }
        (ValueKind::Any, _) | (_, ValueKind::Any) => None,
        (left, right) if left == right => None,
        (left, right) => Some(format!("{left} is compared with {right}, which is never known")),
    }
}
