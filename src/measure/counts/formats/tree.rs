//! Tells the tests of a nested report from the suites around them. Reporters print a suite's result
//! after those of its tests, one level further out, or open it with a brace before them.

/// Deeper levels are not followed.
const DEPTH_LIMIT: usize = 32;

#[derive(Debug, Default)]
pub(super) struct SuitePath {
    /// The name of the suite open at each depth.
    path: Vec<String>,
    /// For each depth: whether there was a result since the last one further out, and whether one
    /// of those failed.
    results: Vec<Option<bool>>,
}

impl SuitePath {
    /// Opens a suite.
    pub(super) fn open(&mut self, depth: usize, name: &str) {
        if depth < DEPTH_LIMIT {
            self.path.resize(depth, String::new());
            self.path.push(name.to_owned());
        }
    }

    /// Forgets the results inside a suite that ended without a result of its own.
    pub(super) fn close(&mut self, depth: usize) {
        self.results.truncate(depth + 1);
    }

    /// Takes a result, and returns its full name if it is a test: a suite is only one where it fails
    /// though none of its tests does.
    pub(super) fn point(&mut self, depth: usize, name: &str, fails: bool) -> Option<String> {
        if depth >= DEPTH_LIMIT {
            return None;
        }
        let inside = self.results.get(depth + 1).copied().flatten();
        let is_test = match inside {
            None => true,
            Some(one_failed) => fails && !one_failed,
        };
        self.results.resize(depth + 1, None);
        let failed_before = self.results[depth] == Some(true);
        self.results[depth] = Some(failed_before || fails);
        let around = self.path.iter().take(depth).map(String::as_str);
        let full = around.filter(|it| !it.is_empty()).chain([name]).collect::<Vec<_>>().join(" > ");
        is_test.then_some(full)
    }
}
