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

/// Names of modules that are node's `assert`, the strict ones first because they contain the others.
const NODE_MODULES: &[&str] = &["node:assert/strict", "assert/strict", "node:assert", "assert"];

/// Returns the bodies of tests that fail, for `unittest`.
pub(super) fn unittest(tests: &str, word: &str) -> Vec<String> {
    used(UNITTEST, tests, word, true)
}

/// Returns the bodies of tests that fail, for pytest.
pub(super) fn pytest(tests: &str, word: &str) -> Vec<String> {
    let mut all = vec![format!("assert \"{word}\" == \"\"")];
    all.extend(used(PYTEST, tests, word, false));
    all
}

/// Returns the bodies of Rust tests that fail.
pub(super) fn rust(tests: &str, word: &str) -> Vec<String> {
    used(RUST, tests, word, true)
}

/// Returns the bodies of tests that fail by node's `assert`, which has the name `assert`.
pub(super) fn node(tests: &str, word: &str, assert: &str) -> Vec<String> {
    used(NODE, tests, word, true).into_iter().map(|it| it.replace("ASSERT", assert)).collect()
}

/// Returns the bodies of tests that fail by a matcher of `expect`, which has the name `expect`.
pub(super) fn expect(tests: &str, word: &str, expect: &str) -> Vec<String> {
    used(EXPECT, tests, word, true).into_iter().map(|it| it.replace("EXPECT", expect)).collect()
}

/// Returns the module by which a text imports node's `assert`.
pub(super) fn node_module(text: &str) -> &'static str {
    let is_imported =
        |it: &&&str| [format!("'{it}'"), format!("\"{it}\"")].iter().any(|it| text.contains(it));
    NODE_MODULES.iter().find(is_imported).copied().unwrap_or("node:assert")
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

    #[test]
    fn the_module_of_the_file_itself_is_taken() {
        assert_eq!(node_module("const a = require('assert');"), "assert");
        assert_eq!(node_module("import a from \"node:assert/strict\";"), "node:assert/strict");
        assert_eq!(node_module(""), "node:assert");
    }
}
