use super::{Comparison, Condition, Mistake, Shape, Term, Truth};
use loop_base::value::{Value, ValueKind};
use proptest::prelude::*;

fn known(name: &str) -> Option<Value> {
    Some(match name {
        "two" => Value::Int(2),
        "half" => Value::Number(0.5),
        "yes" => Value::Bool(true),
        "no" => Value::Bool(false),
        "verdict" => Value::Text("REJECT".to_owned()),
        _ => return None,
    })
}

fn truth(source: &str) -> Truth {
    Condition::parse(source).expect(source).truth(&known)
}

#[test]
fn compares_values_of_like_kinds() {
    for source in [
        "two == 2",
        "two == 2.0",
        "two != 3",
        "half < 1",
        "two >= 2",
        "two <= 2",
        "two > half",
        "-1 < two",
        "yes",
        "!no",
        "yes == !no",
        "yes != no",
        "verdict == 'REJECT'",
        r#"verdict != "APPROVE""#,
        "verdict < 'S'",
        "(two == 2)",
        "yes && (no || two > 1)",
        "(two == 2) == yes",
        "true",
        "!false",
        "no || no || yes",
        "no && no || yes",
        "yes || no && no",
    ] {
        assert_eq!(truth(source), Truth::True, "{source}");
    }
    for source in ["two == 3", "no", "!yes", "no && yes", "verdict == ''", "false", "!(yes || no)"] {
        assert_eq!(truth(source), Truth::False, "{source}");
    }
}

#[test]
fn unknown_travels_as_kleene_says() {
    for source in
        ["gone", "!gone", "gone == 2", "gone && yes", "gone || no", "gone == gone", "(gone && yes) == yes"]
    {
        assert_eq!(truth(source), Truth::Unknown, "{source}");
    }
    assert_eq!(truth("gone && no"), Truth::False);
    assert_eq!(truth("no && gone"), Truth::False);
    assert_eq!(truth("gone || yes"), Truth::True);
    assert_eq!(truth("!(gone && no)"), Truth::True);
}

#[test]
fn unlike_kinds_are_unknown() {
    for source in
        ["two == 'x'", "yes == 1", "verdict != 2", "two", "verdict", "!two", "yes < no", "two && yes"]
    {
        assert_eq!(truth(source), Truth::Unknown, "{source}");
    }
    assert_eq!(truth("two && no"), Truth::False);
}

#[test]
fn explains_what_keeps_it_from_being_true() {
    let explain = |source: &str| Condition::parse(source).expect(source).explain(&known);
    assert_eq!(
        explain("yes && two == 0 && has_adr && (no || verdict == 'APPROVE')"),
        [
            "two == 0: two is 2",
            "has_adr: unknown",
            "no: false",
            "verdict == 'APPROVE': verdict is \"REJECT\""
        ]
    );
    assert_eq!(explain("two == gone"), ["two == gone: two is 2, gone is unknown"]);
    assert_eq!(explain("!yes && !(two == 2)"), ["!yes: yes is true", "!(two == 2): two is 2"]);
    assert_eq!(explain("!(yes && two > 1)"), ["!yes: yes is true", "!(two > 1): two is 2"]);
    assert_eq!(explain("!(no || yes)"), ["!yes: yes is true"]);
    assert_eq!(explain("verdict == 1"), ["verdict == 1: verdict is \"REJECT\": values of different types"]);
    assert_eq!(explain("two > 5 || two > 5"), ["two > 5: two is 2"]);
    assert_eq!(explain("(two > 5) && (yes)"), ["two > 5: two is 2"]);
    assert_eq!(explain("false"), ["false: never so"]);
    assert_eq!(explain("yes"), Vec::<String>::new());
}

#[test]
fn refuses_with_words_that_help() {
    let said = |source: &str| {
        let Mistake { at, says } = Condition::parse(source).expect_err(source);
        format!("{source:?} {}..{}: {says}", at.start, at.end)
    };
    let all: Vec<String> = [
        "",
        "  ",
        "a = 1",
        "a === 1",
        "a & b",
        "a | b",
        "a and b",
        "not a",
        "a or b",
        "a < b < c",
        "a == b == c",
        "(a < b < c)",
        "a + 1 == 2",
        "a - 1 == 2",
        "a-1 == 2",
        "size(a) == 2",
        "a && size(b)",
        "(size(b))",
        "a[0]",
        "a.b",
        "a in b",
        "a == null",
        "a ? b : c",
        "a <> b",
        "a => b",
        "a =< b",
        "a == \"x",
        "a == 'x\\n'",
        "a == 1e9",
        "a == 0x1f",
        "a == 1.",
        "a == .5",
        "a == 1.2.3",
        "a == 3u",
        "a == 99999999999999999999",
        "(a",
        "a)",
        "a b",
        "a &&",
        "&& a",
        "a == ",
        "== 2",
        "a !b",
        "loop == 1",
        "a == “x”",
        "a == b'x'",
        "a == ''''",
        "a # b",
        "a == 'é' é",
        "!",
        "()",
        "a 2",
    ]
    .iter()
    .map(|it| said(it))
    .collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn limits_length_and_depth() {
    let deep = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    assert!(Condition::parse(&deep(32)).is_ok());
    assert_eq!(Condition::parse(&deep(33)).expect_err("too deep").says, "nested deeper than 32 levels");
    assert!(Condition::parse(&format!("{}a", "!".repeat(33))).is_err());
    let long = |terms: usize| vec!["a"; terms].join("||");
    assert!(Condition::parse(&long(667)).is_ok());
    assert_eq!(
        Condition::parse(&long(668)).expect_err("too long").says,
        "a condition has at most 2000 bytes"
    );
}

#[test]
fn checks_names_and_kinds() {
    let kind_of = |name: &str| {
        Some(match name {
            "tests_failing" => ValueKind::Number,
            "has_adr" => ValueKind::Bool,
            "verdict" => ValueKind::Text,
            "claimed" => ValueKind::Any,
            _ => return None,
        })
    };
    let check = |source: &str| -> Vec<String> {
        let mistakes = Condition::parse(source).expect(source).check(&kind_of);
        mistakes.into_iter().map(|it| format!("{}: {}", &source[it.at], it.says)).collect()
    };
    for source in
        ["tests_failing == 0 && has_adr", "verdict == 'x' || !claimed", "claimed > 2", "claimed == 'x'"]
    {
        assert_eq!(check(source), Vec::<String>::new(), "{source}");
    }
    assert_eq!(
        check("tests_failing && hsa_adr && verdict == 3 && has_adr < true && !verdict && claimed < true"),
        [
            "tests_failing: each side of && is true or false, and this is a number; compare it with something",
            "hsa_adr: nothing supplies `hsa_adr`",
            "verdict == 3: a text is compared with a number, which is never known",
            "has_adr < true: booleans have no order; compare them with == or !=",
            "verdict: what follows ! is true or false, and this is a text; compare it with something",
            "claimed < true: booleans have no order; compare them with == or !=",
        ]
    );
    assert_eq!(
        check("3"),
        ["3: a condition is true or false, and this is a number; compare it with something"]
    );
    assert_eq!(check("(gone == 3) == true"), ["gone: nothing supplies `gone`"]);
}

#[test]
fn names_and_serialises() {
    let condition = Condition::parse("a > 1 && !(b || a == 'a')").expect("parses");
    assert_eq!(condition.names(), [("a", 0..1), ("b", 11..12), ("a", 16..17)]);
    let json = serde_json::to_string(&condition).expect("serialises");
    assert_eq!(json, r#""a > 1 && !(b || a == 'a')""#);
    assert_eq!(serde_json::from_str::<Condition>(&json).expect("parses"), condition);
    let refused = serde_json::from_str::<Condition>(r#""a = 1""#).expect_err("refused");
    assert_eq!(refused.to_string(), "write == to compare");
}

/// Names whose first letter says their kind.
const NAMES: &[(&str, ValueKind)] = &[
    ("b1", ValueKind::Bool),
    ("b2", ValueKind::Bool),
    ("n1", ValueKind::Number),
    ("n2", ValueKind::Number),
    ("t1", ValueKind::Text),
    ("t2", ValueKind::Text),
];

fn term(shape: Shape) -> Term {
    Term { at: 0..0, shape }
}

fn any_leaf(kind: ValueKind) -> BoxedStrategy<Term> {
    let names: Vec<&str> = NAMES.iter().filter(|it| it.1 == kind).map(|it| it.0).collect();
    let name = proptest::sample::select(names).prop_map(|it| term(Shape::Name(it.to_owned())));
    prop_oneof![name, any_value(kind).prop_map(|it| term(Shape::Literal(it)))].boxed()
}

fn any_value(kind: ValueKind) -> BoxedStrategy<Value> {
    match kind {
        ValueKind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        ValueKind::Number => prop_oneof![
            (-3_i64..4).prop_map(Value::Int),
            any::<i64>().prop_map(Value::Int),
            (-3_i32..4).prop_map(|it| Value::Number(f64::from(it) + 0.5)),
        ]
        .boxed(),
        ValueKind::Text => "[ab ()é&]{0,2}".prop_map(Value::Text).boxed(),
        ValueKind::Any => unreachable!("no literal has any kind"),
    }
}

fn any_condition() -> BoxedStrategy<Term> {
    let comparison = |kind: ValueKind, operators: &'static [Comparison]| {
        (any_leaf(kind), proptest::sample::select(operators), any_leaf(kind)).prop_map(
            |(left, operator, right)| term(Shape::Compare(Box::new(left), operator, Box::new(right))),
        )
    };
    let leaf = prop_oneof![
        any_leaf(ValueKind::Bool),
        comparison(ValueKind::Bool, &[Comparison::Equal, Comparison::Unequal]),
        comparison(ValueKind::Number, &ALL_COMPARISONS),
        comparison(ValueKind::Text, &ALL_COMPARISONS),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|it| term(Shape::Not(Box::new(it)))),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(|it| term(Shape::All(it))),
            proptest::collection::vec(inner.clone(), 2..4).prop_map(|it| term(Shape::Some(it))),
            (inner.clone(), inner).prop_map(|(left, right)| {
                term(Shape::Compare(Box::new(left), Comparison::Equal, Box::new(right)))
            }),
        ]
    })
    .boxed()
}

const ALL_COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::Unequal,
    Comparison::Less,
    Comparison::AtMost,
    Comparison::More,
    Comparison::AtLeast,
];

fn print(term: &Term) -> String {
    let joined = |terms: &[Term], by: &str| terms.iter().map(print_inner).collect::<Vec<_>>().join(by);
    match &term.shape {
        Shape::Literal(Value::Text(it)) => format!("'{it}'"),
        Shape::Literal(it) => it.to_string(),
        Shape::Name(it) => it.clone(),
        Shape::Not(inner) => format!("!{}", print_inner(inner)),
        Shape::All(terms) => joined(terms, " && "),
        Shape::Some(terms) => joined(terms, " || "),
        Shape::Compare(left, comparison, right) => {
            let sign = match comparison {
                Comparison::Equal => "==",
                Comparison::Unequal => "!=",
                Comparison::Less => "<",
                Comparison::AtMost => "<=",
                Comparison::More => ">",
                Comparison::AtLeast => ">=",
            };
            format!("{} {sign} {}", print_inner(left), print_inner(right))
        }
    }
}

fn print_inner(term: &Term) -> String {
    match term.shape {
        Shape::Literal(_) | Shape::Name(_) => print(term),
        Shape::Not(_) | Shape::All(_) | Shape::Some(_) | Shape::Compare(..) => format!("({})", print(term)),
    }
}

fn any_values() -> BoxedStrategy<Vec<Value>> {
    NAMES.iter().map(|it| any_value(it.1)).collect::<Vec<_>>().boxed()
}

fn value_in(values: &[Value], name: &str) -> Option<Value> {
    NAMES.iter().position(|it| it.0 == name).map(|it| values[it].clone())
}

fn cel_says(source: &str, values: &[Value]) -> cel::Value {
    let program = cel::Program::compile(source).expect("what we accept is CEL");
    let mut context = cel::Context::default();
    for ((name, _), value) in NAMES.iter().zip(values) {
        let value = match value {
            Value::Bool(it) => cel::Value::Bool(*it),
            Value::Int(it) => cel::Value::Int(*it),
            Value::Number(it) => cel::Value::Float(*it),
            Value::Text(it) => cel::Value::from(it.as_str()),
        };
        context.add_variable_from_value(*name, value);
    }
    program.execute(&context).expect("like kinds always compare")
}

proptest! {
    #[test]
    fn means_the_same_as_cel(condition in any_condition(), values in any_values()) {
        let source = print(&condition);
        let ours = Condition::parse(&source).expect(&source).truth(&|it| value_in(&values, it));
        prop_assert_eq!(cel::Value::Bool(ours == Truth::True), cel_says(&source, &values), "{}", source);
        prop_assert_ne!(ours, Truth::Unknown);
    }

    #[test]
    fn printed_and_parsed_is_the_same(condition in any_condition()) {
        let source = print(&condition);
        let parsed = Condition::parse(&source).expect(&source);
        prop_assert_eq!(print(&parsed.root), source);
    }

    #[test]
    fn is_explained_exactly_when_it_does_not_hold(condition in any_condition(), values in any_values(), gone in 0..6_usize) {
        let condition = Condition::parse(&print(&condition)).expect("printed conditions parse");
        let lookup = |name: &str| value_in(&values, name).filter(|_| name != NAMES[gone].0);
        prop_assert_eq!(condition.explain(&lookup).is_empty(), condition.truth(&lookup) == Truth::True);
    }

    #[test]
    fn a_value_that_comes_later_never_turns_an_answer(condition in any_condition(), values in any_values(), gone in 0..6_usize) {
        let condition = Condition::parse(&print(&condition)).expect("printed conditions parse");
        let before = condition.truth(&|name| value_in(&values, name).filter(|_| name != NAMES[gone].0));
        let after = condition.truth(&|name| value_in(&values, name));
        prop_assert!(before == Truth::Unknown || before == after);
    }

    #[test]
    fn never_panics(source in any::<String>()) {
        use_everything(&source);
    }

    #[test]
    fn never_panics_on_what_looks_like_a_condition(source in "([a-c0-9 ()!'\"=<>&|.é-]|true|&&|==|<=|a1){0,40}") {
        use_everything(&source);
    }
}

fn use_everything(source: &str) {
    match Condition::parse(source) {
        Ok(condition) => {
            condition.truth(&known);
            condition.explain(&known);
            condition.check(&|_| Some(ValueKind::Any));
            assert!(cel::Program::compile(source).is_ok(), "what we accept is CEL: {source}");
        }
        Err(Mistake { at, .. }) => assert!(source.get(at).is_some(), "a mistake has a place in {source:?}"),
    }
}
