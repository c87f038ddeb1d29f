//! Names of Go that a package declares anew. `const true = 1 == 2` or a `len` of the package's own changes what
//! the assertions of its tests mean, in files that stay as they are.

/// Names that stand in assertions and that no product has a use for; `min`, `copy` or `close` are different.
const PREDECLARED: &[&str] = &[
    "true", "false", "nil", "iota", "len", "cap", "append", "make", "panic", "recover", "string", "int",
    "int64", "uint", "float64", "bool", "byte", "rune", "error",
];

/// Returns a predeclared name that the final text of a Go file declares for its package and the original did not.
pub(in crate::proof) fn redeclared(base: &str, now: &str) -> Option<&'static str> {
    let before = declared(base);
    declared(now).into_iter().find(|it| !before.contains(it))
}

/// Declarations of a package stand at the beginning of a line, or in a group that does.
fn declared(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut in_group = false;
    // How deep a line of a group is in a value or a type of the group.
    let mut depth = 0_i32;
    for line in text.lines() {
        if line.starts_with(')') {
            in_group = false;
        }
        let is_inside = in_group && 0 < depth;
        if in_group {
            let step = |it: char| i32::from("([{".contains(it)) - i32::from(")]}".contains(it));
            depth = line.chars().map(step).fold(depth, |sum, it| sum + it).max(0);
        }
        let keyword = ["const", "var", "type", "func"]
            .into_iter()
            .find_map(|it| line.strip_prefix(it).filter(|rest| rest.starts_with([' ', '\t', '('])));
        let names = match keyword.map(str::trim) {
            // What is in the group may begin on the same line.
            Some(rest) if rest.starts_with('(') && !line.starts_with("func") => {
                in_group = !rest.contains(')');
                depth = 0;
                rest.trim_start_matches('(')
            }
            Some(rest) => rest,
            None if in_group && !is_inside => line.trim(),
            None => continue,
        };
        let names = names.split(['=', '(']).next().unwrap_or(names).split(',');
        let words = names.filter_map(|it| it.split_whitespace().next());
        found.extend(words.filter_map(|it| PREDECLARED.iter().find(|name| **name == it).copied()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_may_not_give_a_name_of_the_language_another_meaning() {
        for (text, name) in [
            ("const true = 1 == 2\n", "true"),
            ("const (\n\ta = 1\n\tb, false = 2, 3\n)\n", "false"),
            ("func len(p []int) int {\n\treturn 2\n}\n", "len"),
            ("type error = string\n", "error"),
            ("var (nil = 3)\n", "nil"),
        ] {
            assert_eq!(redeclared("package a\n", text), Some(name), "{text}");
            assert_eq!(redeclared(text, text), None);
        }
        for text in [
            "func (a list) len() int {\n\tlen := 1\n\treturn len\n}\n",
            "func f(true bool) {\n\tconst nil = 1\n}\n",
            "var lens = len(a)\n",
            "type (\n\tPriceError struct {\n\t\terror\n\t}\n)\n",
            "var (\n\tstops = []*int{\n\t\tnil,\n\t}\n)\n",
            "const (\n\ta = true\n)\n\nfunc max(a, b int) int {\n\treturn a\n}\n",
        ] {
            assert_eq!(redeclared("package a\n", text), None, "{text}");
        }
    }
}
