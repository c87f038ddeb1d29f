//! Lines of the Test Anything Protocol, as bats, prove, tape, node and vitest write it.

use super::count;
use crate::proof::results::ids::TestOutcome;

/// A result: `ok 1 - title`, `not ok 2 - title # TODO reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapPoint<'a> {
    pub number: u32,
    /// What stands behind the number, empty where nothing does.
    pub title: &'a str,
    /// `# SKIP` and `# TODO` count as skipped, whatever came of them.
    pub outcome: TestOutcome,
    /// Vitest writes the line of a suite before its tests and opens a brace.
    pub opens: bool,
}

/// Reads `1..5`, and `1..0 # SKIP reason`.
pub fn plan(text: &str) -> Option<u32> {
    let plan = text.strip_prefix("1..")?;
    count(plan.split_once(" #").map_or(plan, |(plan, _)| plan).trim())
}

/// Reads the title of a suite or of a test with subtests, which stands before them.
pub fn subtest(text: &str) -> Option<&str> {
    text.strip_prefix("# Subtest: ")
}

/// Reads a result. One without a number is not read, though TAP allows it, because anything that begins with "ok"
/// would be one.
pub fn point(text: &str) -> Option<TapPoint<'_>> {
    let (is_ok, rest) = match text.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok ")?),
    };
    let rest = rest.trim();
    let (number, title) = rest.split_once(' ').unwrap_or((rest, ""));
    let number = count(number)?;
    let title = title.trim_start();
    let title = title.strip_prefix("- ").unwrap_or(title);
    let (title, opens) = title.strip_suffix(" {").map_or((title, false), |title| (title, true));
    let (before, directive) = match title.rsplit_once(" # ") {
        Some(parts) => parts,
        None => title.strip_prefix("# ").map_or((title, ""), |directive| ("", directive)),
    };
    let word = directive.get(..4).unwrap_or(directive);
    let is_excused = word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo");
    let is_directive = is_excused || directive.starts_with("time=");
    let outcome = match (is_excused, is_ok) {
        (true, _) => TestOutcome::Skipped,
        (false, true) => TestOutcome::Passed,
        (false, false) => TestOutcome::Failed,
    };
    Some(TapPoint { number, title: if is_directive { before } else { title }.trim(), outcome, opens })
}

#[cfg(test)]
mod tests {
    use super::{TapPoint, plan, point};
    use crate::proof::results::ids::TestOutcome::{Failed, Passed, Skipped};

    #[test]
    fn a_result_is_read_with_its_directive() {
        let read = |text: &'static str| point(text).map(|it| (it.number, it.title, it.outcome));
        assert_eq!(read("ok 1 - adds"), Some((1, "adds", Passed)));
        assert_eq!(read("not ok 2 subtracts"), Some((2, "subtracts", Failed)));
        assert_eq!(read("not ok 3 - divides # TODO later"), Some((3, "divides", Skipped)));
        assert_eq!(read("ok 4 # skip no network"), Some((4, "", Skipped)));
        assert_eq!(read("ok 5 - waits # time=12ms"), Some((5, "waits", Passed)));
        // What stands behind a number sign is a part of the title, if it is no directive.
        assert_eq!(read("ok 6 - issue # 12"), Some((6, "issue # 12", Passed)));
        assert_eq!([read("ok"), read("ok then"), read("okay 1"), read("not 1")], [None; 4]);
        let suite = TapPoint { number: 1, title: "math.test.js", outcome: Passed, opens: true };
        assert_eq!(point("ok 1 - math.test.js # time=3ms {"), Some(suite));
    }

    #[test]
    fn a_plan_is_a_number() {
        assert_eq!([plan("1..5"), plan("1..0 # SKIP no database")], [Some(5), Some(0)]);
        assert_eq!([plan("1..x"), plan("1..3 apples"), plan(" 1..3")], [None; 3]);
    }
}
