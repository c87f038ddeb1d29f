//! Failing assertions, one for each form that a project's tests use. Code under test can replace any one of
//! them (`TestCase.assertTrue`, a macro called `assert`), so showing that one form still fails says
//! nothing about the others. A runner gets a row here for each form; `WORD` stands for the canary's word.

/// A form of assertion: the name by which tests call it, and statements that fail by it.
type Form = (&'static str, &'static str);

/// Methods of `unittest.TestCase`; the first is tried always.
const UNITTEST: &[Form] = &[
    ("assertEqual", "self.assertEqual(\"WORD\", \"\")"),
    ("assertNotEqual", "self.assertNotEqual(\"WORD\", \"WORD\")"),
    ("assertTrue", "self.assertTrue(\"\")"),
    ("assertFalse", "self.assertFalse(\"WORD\")"),
    ("assertIs", "self.assertIs(\"WORD\", None)"),
    ("assertIsNot", "self.assertIsNot(None, None)"),
    ("assertIsNone", "self.assertIsNone(\"WORD\")"),
    ("assertIsNotNone", "self.assertIsNotNone(None)"),
    ("assertIn", "self.assertIn(\"WORD\", [])"),
    ("assertNotIn", "self.assertNotIn(\"WORD\", [\"WORD\"])"),
    ("assertIsInstance", "self.assertIsInstance(\"WORD\", int)"),
    ("assertNotIsInstance", "self.assertNotIsInstance(\"WORD\", str)"),
    ("assertAlmostEqual", "self.assertAlmostEqual(1, 2)"),
    ("assertNotAlmostEqual", "self.assertNotAlmostEqual(1, 1)"),
    ("assertGreater", "self.assertGreater(1, 2)"),
    ("assertGreaterEqual", "self.assertGreaterEqual(1, 2)"),
    ("assertLess", "self.assertLess(2, 1)"),
    ("assertLessEqual", "self.assertLessEqual(2, 1)"),
    ("assertRegex", "self.assertRegex(\"WORD\", \"^$\")"),
    ("assertNotRegex", "self.assertNotRegex(\"WORD\", \"WORD\")"),
    ("assertCountEqual", "self.assertCountEqual([\"WORD\"], [])"),
    ("assertListEqual", "self.assertListEqual([\"WORD\"], [])"),
    ("assertTupleEqual", "self.assertTupleEqual((\"WORD\",), ())"),
    ("assertSetEqual", "self.assertSetEqual({\"WORD\"}, set())"),
    ("assertDictEqual", "self.assertDictEqual({\"WORD\": 1}, {})"),
    ("assertSequenceEqual", "self.assertSequenceEqual([\"WORD\"], [])"),
    ("assertMultiLineEqual", "self.assertMultiLineEqual(\"WORD\", \"\")"),
    ("assertRaises", "with self.assertRaises(ValueError):\n    pass"),
    ("assertRaisesRegex", "with self.assertRaisesRegex(ValueError, \"WORD\"):\n    pass"),
    ("assertWarns", "with self.assertWarns(UserWarning):\n    pass"),
    ("assertLogs", "with self.assertLogs():\n    pass"),
    ("fail", "self.fail(\"WORD\")"),
];

/// What tests of pytest use beside the statement, which nothing can replace.
const PYTEST: &[Form] = &[
    ("raises", "with __import__(\"pytest\").raises(ValueError):\n    pass"),
    ("warns", "with __import__(\"pytest\").warns(UserWarning):\n    pass"),
    ("approx", "assert 1 == __import__(\"pytest\").approx(2)"),
    ("fail", "__import__(\"pytest\").fail(\"WORD\")"),
];

/// Macros; the first is tried always.
const RUST: &[Form] = &[
    ("assert_eq!", "assert_eq!(\"WORD\", \"\")"),
    ("assert!", "assert!(\"WORD\".is_empty())"),
    ("assert_ne!", "assert_ne!(\"WORD\", \"WORD\")"),
    ("panic!", "panic!(\"WORD\")"),
    ("unreachable!", "unreachable!(\"WORD\")"),
    // A macro of this name that always holds keeps the canary from failing.
    (
        "matches!",
        "if matches!(Some(\"WORD\"), Some(_)) && !matches!(Some(\"WORD\"), None) { panic!(\"WORD\") }",
    ),
];

/// Functions of node's `assert`, which is called `ASSERT`; the first is tried always.
const NODE: &[Form] = &[
    ("strictEqual", "ASSERT.strictEqual('WORD', '')"),
    ("ok", "ASSERT.ok('')"),
    ("assert", "ASSERT('')"),
    ("equal", "ASSERT.equal('WORD', '')"),
    ("deepEqual", "ASSERT.deepEqual(['WORD'], [])"),
    ("deepStrictEqual", "ASSERT.deepStrictEqual(['WORD'], [])"),
    ("notEqual", "ASSERT.notEqual('WORD', 'WORD')"),
    ("notStrictEqual", "ASSERT.notStrictEqual('WORD', 'WORD')"),
    ("notDeepEqual", "ASSERT.notDeepEqual(['WORD'], ['WORD'])"),
    ("notDeepStrictEqual", "ASSERT.notDeepStrictEqual(['WORD'], ['WORD'])"),
    ("throws", "ASSERT.throws(() => {})"),
    ("doesNotThrow", "ASSERT.doesNotThrow(() => { throw new Error('WORD') })"),
    ("rejects", "return ASSERT.rejects(async () => {})"),
    ("doesNotReject", "return ASSERT.doesNotReject(async () => { throw new Error('WORD') })"),
    ("match", "ASSERT.match('WORD', /^$/)"),
    ("doesNotMatch", "ASSERT.doesNotMatch('WORD', /./)"),
    ("ifError", "ASSERT.ifError('WORD')"),
    ("fail", "ASSERT.fail('WORD')"),
];

/// Matchers of jest and vitest, whose function is called `EXPECT`; the first is tried always.
const EXPECT: &[Form] = &[
    ("toBe", "EXPECT('WORD').toBe('')"),
    ("toEqual", "EXPECT(['WORD']).toEqual([])"),
    ("toStrictEqual", "EXPECT(['WORD']).toStrictEqual([])"),
    ("toBeTruthy", "EXPECT('').toBeTruthy()"),
    ("toBeFalsy", "EXPECT('WORD').toBeFalsy()"),
    ("toBeNull", "EXPECT('WORD').toBeNull()"),
    ("toBeUndefined", "EXPECT('WORD').toBeUndefined()"),
    ("toBeDefined", "EXPECT(undefined).toBeDefined()"),
    ("toBeNaN", "EXPECT('WORD').toBeNaN()"),
    ("toContain", "EXPECT([]).toContain('WORD')"),
    ("toContainEqual", "EXPECT([]).toContainEqual('WORD')"),
    ("toHaveLength", "EXPECT('WORD').toHaveLength(0)"),
    ("toMatch", "EXPECT('WORD').toMatch(/^$/)"),
    ("toMatchObject", "EXPECT({}).toMatchObject({ a: 'WORD' })"),
    ("toHaveProperty", "EXPECT({}).toHaveProperty('WORD')"),
    ("toBeInstanceOf", "EXPECT('WORD').toBeInstanceOf(Date)"),
    ("toThrow", "EXPECT(() => {}).toThrow()"),
    ("toThrowError", "EXPECT(() => {}).toThrow()"),
    ("toBeGreaterThan", "EXPECT(1).toBeGreaterThan(2)"),
    ("toBeGreaterThanOrEqual", "EXPECT(1).toBeGreaterThanOrEqual(2)"),
    ("toBeLessThan", "EXPECT(2).toBeLessThan(1)"),
    ("toBeLessThanOrEqual", "EXPECT(2).toBeLessThanOrEqual(1)"),
    ("toBeCloseTo", "EXPECT(1).toBeCloseTo(2)"),
];

/// Python's own functions that stand inside assertions, each with a condition that holds unless it was replaced.
/// A canary fails where it holds.
const PYTHON_FUNCTIONS: &[Form] = &[
    ("all", "all(['WORD']) and not all([''])"),
    ("any", "any(['WORD']) and not any([''])"),
    ("sorted", "sorted(['WORD', '']) == ['', 'WORD']"),
    ("len", "len(['WORD'] * 3) == 3"),
    ("abs", "abs(-7) == 7"),
    ("round", "round(1.6) == 2"),
    ("sum", "sum([1, 2, 4]) == 7"),
    ("min", "min([3, 1, 2]) == 1"),
    ("max", "max([1, 3, 2]) == 3"),
    ("set", "set(['WORD']) == {'WORD'}"),
    ("list", "list(('WORD',)) == ['WORD']"),
    ("tuple", "tuple(['WORD']) == ('WORD',)"),
    ("dict", "dict([('WORD', 1)]) == {'WORD': 1}"),
    ("str", "str(12) == '12'"),
    ("repr", "repr('WORD') == \"'WORD'\""),
    ("int", "int('12') == 12"),
    ("float", "float('0.5') == 0.5"),
    ("bool", "bool('WORD') and not bool('')"),
    ("isinstance", "isinstance('WORD', str) and not isinstance('WORD', int)"),
    ("issubclass", "issubclass(bool, int) and not issubclass(str, int)"),
    ("hasattr", "hasattr('WORD', 'upper') and not hasattr('WORD', 'WORD')"),
    ("callable", "callable(''.upper) and not callable('WORD')"),
    ("range", "[*range(3)] == [0, 1, 2]"),
    ("zip", "[*zip([1], ['WORD'])] == [(1, 'WORD')]"),
    ("enumerate", "[*enumerate(['WORD'])] == [(0, 'WORD')]"),
    ("reversed", "[*reversed([1, 'WORD'])] == ['WORD', 1]"),
    ("filter", "[*filter(None, ['', 'WORD'])] == ['WORD']"),
];

/// The same for methods and functions of JavaScript.
const SCRIPT_FUNCTIONS: &[Form] = &[
    ("every", "[1].every(() => true) && ![1].every(() => false)"),
    ("some", "[1].some(() => true) && ![1].some(() => false)"),
    ("includes", "['WORD'].includes('WORD') && !['WORD'].includes('')"),
    ("filter", "['', 'WORD'].filter((it) => it)[0] === 'WORD'"),
    ("find", "['', 'WORD'].find((it) => it) === 'WORD'"),
    ("indexOf", "['', 'WORD'].indexOf('WORD') === 1 && [''].indexOf('WORD') === -1"),
    ("map", "[1, 2].map((it) => it * 2)[1] === 4"),
    ("reduce", "[1, 2, 4].reduce((sum, it) => sum + it, 0) === 7"),
    ("sort", "['WORD', ''].sort()[1] === 'WORD'"),
    ("join", "['WORD', 1].join('-') === 'WORD-1'"),
    ("slice", "[1, 2, 3].slice(1)[0] === 2"),
    ("startsWith", "'WORD'.startsWith('WORD') && !'WORD'.startsWith(' ')"),
    ("endsWith", "'WORD'.endsWith('WORD') && !'WORD'.endsWith(' ')"),
    ("test", "/^WORD$/.test('WORD') && !/^$/.test('WORD')"),
    ("toFixed", "(1.25).toFixed(1).length === 3 && (2).toFixed(1) === '2.0'"),
    ("stringify", "JSON.stringify(['WORD']) === '[\"WORD\"]'"),
    ("keys", "Object.keys({ WORD: 1 })[0] === 'WORD'"),
    ("isArray", "Array.isArray([]) && !Array.isArray('WORD')"),
    ("isInteger", "Number.isInteger(1) && !Number.isInteger(1.5)"),
    ("isFinite", "Number.isFinite(1) && !Number.isFinite(NaN)"),
    ("isNaN", "Number.isNaN(NaN) && !Number.isNaN(1)"),
    ("is", "Object.is(1, 1) && !Object.is(1, 2)"),
    ("abs", "Math.abs(-7) === 7"),
    ("round", "Math.round(1.6) === 2"),
    ("max", "Math.max(1, 3, 2) === 3"),
    ("min", "Math.min(3, 1, 2) === 1"),
];

/// Names of modules that are node's `assert`, the strict ones first because they contain the others.
const NODE_MODULES: &[&str] = &["node:assert/strict", "assert/strict", "node:assert", "assert"];

/// Returns the bodies of tests that fail, for `unittest`.
pub(super) fn unittest(tests: &str, word: &str) -> Vec<String> {
    let mut all = used(UNITTEST, tests, word, true);
    all.extend(python_functions(tests, word));
    all
}

/// Returns the bodies of tests that fail, for pytest.
pub(super) fn pytest(tests: &str, word: &str) -> Vec<String> {
    let mut all = vec![format!("assert \"{word}\" == \"\"")];
    all.extend(used(PYTEST, tests, word, false));
    all.extend(python_functions(tests, word));
    all
}

/// Returns the bodies of Rust tests that fail.
pub(super) fn rust(tests: &str, word: &str) -> Vec<String> {
    used(RUST, tests, word, true)
}

/// Returns the bodies of tests that fail by node's `assert`, which has the name `assert`.
pub(super) fn node(tests: &str, word: &str, assert: &str) -> Vec<String> {
    let mut all: Vec<String> =
        used(NODE, tests, word, true).into_iter().map(|it| it.replace("ASSERT", assert)).collect();
    all.extend(script_functions(tests, word));
    all
}

/// Returns the bodies of tests that fail by a matcher of `expect`, which has the name `expect`.
pub(super) fn expect(tests: &str, word: &str, expect: &str) -> Vec<String> {
    let mut all: Vec<String> =
        used(EXPECT, tests, word, true).into_iter().map(|it| it.replace("EXPECT", expect)).collect();
    all.extend(script_functions(tests, word));
    all
}

/// Returns the module by which a text imports node's `assert`.
pub(super) fn node_module(text: &str) -> &'static str {
    let is_imported =
        |it: &&&str| [format!("'{it}'"), format!("\"{it}\"")].iter().any(|it| text.contains(it));
    NODE_MODULES.iter().find(is_imported).copied().unwrap_or("node:assert")
}

/// Without those that the tests define or import themselves: theirs may do something else.
fn python_functions(tests: &str, word: &str) -> Vec<String> {
    let is_own = |name: &str| {
        tests.lines().any(|line| {
            let is_defined = ["def NAME(", "class NAME(", "class NAME:", "NAME ="]
                .iter()
                .any(|it| line.starts_with(&it.replace("NAME", name)));
            let is_imported = line.contains("import ")
                && line.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| it == name);
            is_defined || is_imported
        })
    };
    let forms: Vec<Form> = PYTHON_FUNCTIONS.iter().filter(|it| !is_own(it.0)).copied().collect();
    let conditions = used(&forms, tests, word, false).into_iter();
    conditions.map(|it| format!("if {it}:\n    raise AssertionError('{word}')")).collect()
}

fn script_functions(tests: &str, word: &str) -> Vec<String> {
    let conditions = used(SCRIPT_FUNCTIONS, tests, word, false).into_iter();
    conditions.map(|it| format!("if ({it}) throw new Error('{word}')")).collect()
}

fn used(forms: &[Form], tests: &str, word: &str, always_first: bool) -> Vec<String> {
    let is_wanted = |(at, form): &(usize, &Form)| always_first && *at == 0 || is_called(tests, form.0);
    let wanted = forms.iter().enumerate().filter(is_wanted);
    wanted.map(|(_, (_, fails))| fails.replace("WORD", word)).collect()
}

/// Tells whether a text calls something of this name, as a function, a method or a macro.
fn is_called(text: &str, name: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].trim_start().chars().next();
        !before.is_some_and(is_part) && after.is_some_and(|it| "([{".contains(it))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_that_tests_use_is_tried() {
        let text = "self.assertTrue(add(1) == 2)\nwith self.assertRaises(TypeError):\n    add()\n";
        let bodies = unittest(text, "kq7x2");
        assert_eq!(
            bodies,
            [
                "self.assertEqual(\"kq7x2\", \"\")",
                "self.assertTrue(\"\")",
                "with self.assertRaises(ValueError):\n    pass"
            ]
        );
        assert_eq!(pytest("with pytest.raises(ValueError):", "kq7x2").len(), 2);
        assert_eq!(rust("assert!(true); debug_assert_ne!(1, 2);", "kq7x2").len(), 2);
        assert_eq!(
            node("assert.ok(x); assert(y); b.matches(z)", "kq7x2", "check"),
            ["check.strictEqual('kq7x2', '')", "check.ok('')", "check('')"]
        );
        assert_eq!(expect("expect(a).toBeNull(); expect(b).toBe(1)", "kq7x2", "want").len(), 2);
    }

    /// What the product replaces for everything must not make an assertion hold.
    #[test]
    fn functions_of_the_language_inside_assertions_are_tried() {
        let tests = "self.assertTrue(all(x))\nfrom a import sorted\nsorted(x)\n";
        let all = "if all(['kq7x2']) and not all(['']):\n    raise AssertionError('kq7x2')";
        assert_eq!(unittest(tests, "kq7x2")[2..], [all]);
        assert_eq!(pytest(tests, "kq7x2")[1..], [all]);
        let every = "if ([1].every(() => true) && ![1].every(() => false)) throw new Error('kq7x2')";
        assert_eq!(node("ok = [1].every(f)", "kq7x2", "assert")[1..], [every]);
        assert_eq!(expect("ok = [1].every(f)", "kq7x2", "expect")[1..], [every]);
        assert!(rust("assert!(matches!(a, b))", "kq7x2")[2].contains("!matches!("));
    }

    #[test]
    fn the_module_of_the_file_itself_is_taken() {
        assert_eq!(node_module("const a = require('assert');"), "assert");
        assert_eq!(node_module("import a from \"node:assert/strict\";"), "node:assert/strict");
        assert_eq!(node_module(""), "node:assert");
    }
}
